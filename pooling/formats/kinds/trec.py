"""TREC text: runs and qrels (`formats.trec` and `parts`), topics and documents, and `<topic>` of XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.registry import Format, Record, Target
from pooling.formats.sources import OutputBudget, Source
from pooling.formats.writing import delimited, refuse
from pooling.heavy import pl

BLANK = r"[ \t\n\r\x00]|^$"
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)((?:\s[^<>]*)?)>")
_NUMBER = re.compile(r"""\s(?:number|num|id)\s*=\s*["']([^"']*)""")
#: A field -> the name that it has as of a record; others keep theirs, in lower case.
_OF_TOPIC = {
    "num": "_id", "number": "_id", "title": "text", "query": "text",
    "desc": "description", "narr": "narrative",
}  # fmt: skip
_OF_DOCUMENT = {"docno": "_id", "headline": "title", "hl": "title", "p": "text"}
ELEMENTS = {"top": _OF_TOPIC, "topic": _OF_TOPIC, "doc": _OF_DOCUMENT}
#: What a field of a topic begins with.
_LABEL = re.compile(r"^(?:number|domain|topic|description|narrative|summary) ?:", re.IGNORECASE)


def run_text(frame: pl.DataFrame, target: Target) -> str:
    refuse_blanks(target, frame)
    if re.search(BLANK, target.tag):
        problem = f"the tag {excerpt(target.tag)} is empty or contains a space"
        raise FormatError(target.path, None, problem, "Give a tag without spaces.")
    q0, tag = pl.lit("Q0"), pl.lit(target.tag).alias("tag")
    return delimited(frame.select("query_id", q0, "document_id", "rank", "score", tag), " ")


def qrels_text(frame: pl.DataFrame, target: Target) -> str:
    refuse_blanks(target, frame)
    return delimited(frame.select("query_id", pl.lit("0"), "document_id", "relevance"), " ")


def refuse_blanks(target: Target, frame: pl.DataFrame) -> None:
    """TREC files cannot hold blanks or line ends in an id, nor a query id that begins like a comment."""
    refuse(target.path, frame, BLANK, "a space, a tab, a line end or a NUL")
    if frame["query_id"].str.contains(r"^(#|\x{FEFF})").any():
        problem = "a query id begins with #, which TREC tools skip"
        raise FormatError(target.path, None, problem, "Write JSON lines.")


def trec_texts(file: Source) -> Iterator[Record]:
    """Each topic or document at the line where it begins; FormatError for one that does not end."""
    budget = OutputBudget(file)
    fields: dict[str, list[str]] | None = None
    began, name, names = 0, "", _OF_TOPIC
    for line, text in file.text_lines():
        budget.take(len(text), 0)
        place = 0
        for tag in _TAG.finditer(text):
            is_end, element, before = bool(tag[1]), tag[2].lower(), text[place : tag.start()]
            place = tag.end()
            if fields is not None:
                fields.setdefault(name, []).append(before)
            if element not in ELEMENTS:
                if is_end and names.get(element, element) == name:
                    name = ""
                elif not is_end and not (name and before.strip()):
                    # Anything else is markup within a field.
                    name = names.get(element, element)
                continue
            if is_end == (fields is None):
                problem = f"</{element}> ends nothing" if is_end else f"<{element}> before the last one ends"
                raise file.error(line, problem, f"Put each one between <{element}> and </{element}>.")
            if fields is not None:
                yield began, _record(fields, names)
            number = _NUMBER.search(tag[3])
            fields = None if is_end else {"_id": [number[1]] if number else []}
            began, name, names = line, "", ELEMENTS[element]
        if fields is not None:
            fields.setdefault(name, []).append(text[place:])
    if fields is not None:
        raise file.error(began, "what begins here does not end", "Close it with </top>, </topic> or </DOC>.")


def _record(fields: dict[str, list[str]], names: dict[str, str]) -> dict[str, str]:
    if names is _OF_DOCUMENT:
        fields["text"] = [*fields.pop("", []), *fields.get("text", [])]
        record = {name: unescape("\n".join(lines).strip()) for name, lines in fields.items()}
    else:
        whole = {name: " ".join(" ".join(lines).split()) for name, lines in fields.items() if name}
        record = {name: unescape(_LABEL.sub("", text, count=1).strip()) for name, text in whole.items()}
        record["text"] = record.get("text") or record.get("question") or record.get("description", "")
    return {name: text for name, text in record.items() if text}


FORMATS = (
    Format(
        name="trec",
        title="TREC qrels",
        suffix=".qrels",
        suffixes=(".run", ".txt", ".trec", ".res"),
        writers={"run": run_text, "qrels": qrels_text},
    ),
    Format(name="trec-texts", title="TREC topics and documents", suffix=".trec", records=trec_texts),
)
