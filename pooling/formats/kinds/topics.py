"""Topics of TREC: `<top>` in SGML, whose fields need no end, and `<topic>` in XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from pooling.formats.registry import Format, Record
from pooling.formats.sources import OutputBudget, Source

TOPICS = ("top", "topic")
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)((?:\s[^<>]*)?)>")
_NUMBER = re.compile(r"""\s(?:number|num|id)\s*=\s*["']([^"']*)""")
#: A field -> the name that it has as of a record; others keep theirs, in lower case.
NAMES = {"num": "_id", "number": "_id", "title": "text", "query": "text", "desc": "description"}
NAMES["narr"] = "narrative"
#: What a field of SGML begins with.
_LABEL = re.compile(r"\s*(?:number|topic|description|narrative|summary)\s*:", re.IGNORECASE)


def topics(file: Source) -> Iterator[Record]:
    """Each topic at the line where it begins; FormatError for one that does not end."""
    budget = OutputBudget(file)
    topic: dict[str, list[str]] | None = None
    began, name = 0, ""
    for line, text in file.text_lines():
        budget.take(len(text), 0)
        place = 0
        for tag in _TAG.finditer(text):
            is_end, element, before = bool(tag[1]), tag[2].lower(), text[place : tag.start()]
            place = tag.end()
            if topic is not None:
                topic.setdefault(name, []).append(before)
            if element not in TOPICS:
                if is_end and NAMES.get(element, element) == name:
                    name = ""
                elif not is_end and not (name and before.strip()):
                    # Anything else is markup within a field.
                    name = NAMES.get(element, element)
                continue
            if is_end == (topic is None):
                problem = f"a topic ends that did not begin, </{element}>" if is_end else "a topic in a topic"
                raise file.error(line, problem, "Put each topic between <top> and </top>.")
            if topic is not None:
                yield began, _record(topic)
            number = _NUMBER.search(tag[3])
            topic = None if is_end else {"_id": [number[1]] if number else []}
            began, name = line, ""
        if topic is not None:
            topic.setdefault(name, []).append(text[place:])
    if topic is not None:
        raise file.error(began, "the topic does not end", "Close it with </top>.")


def _record(topic: dict[str, list[str]]) -> dict[str, str]:
    whole = {name: " ".join(" ".join(lines).split()) for name, lines in topic.items() if name}
    record = {name: unescape(_LABEL.sub("", text, count=1).strip()) for name, text in whole.items()}
    if not record.get("text"):
        record["text"] = record.get("question") or record.get("description", "")
    return {name: text for name, text in record.items() if text}


FORMATS = (Format(name="topics", title="TREC topics", suffix=".topics", records=topics),)
