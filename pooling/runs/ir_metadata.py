"""The ir_metadata of a run: YAML in comments at its head, or in an `ir-metadata.yml` in its folder.

How a run was made: platform, implementation, resources, method. The format: https://www.ir-metadata.org
"""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pooling.formats.bytes.nesting import NestedTooDeeplyError, refuse_deeper
from pooling.formats.errors import FormatError
from pooling.formats.registry import name_of
from pooling.formats.runs import comment_sentence
from pooling.formats.sources import Source
from pooling.models import Run

START, END = "ir_metadata.start", "ir_metadata.end"
NEIGHBOURS = ("ir-metadata.yml", "ir-metadata.yaml")
#: Bytes of YAML, and values in it: an alias can make much of little, so there may be none.
MOST_BYTES, MOST_VALUES = 2**20, 20_000
REMEDY = "Correct it, or remove it from the file."


class Metadata(NamedTuple):
    """Metadata in plain values, and the number of comment lines they took. note: why there are none."""

    values: dict[str, object]
    lines: int = 0
    note: str = ""


def metadata_of(path: Path, *, file_name: str | None = None) -> Metadata | None:
    """The metadata of a run file; None without any. FormatError for YAML at its head that cannot be read.

    The file in a run's folder counts where the run has no header and lies on somebody's disk; an upload has
    no neighbours. What is wrong in that file stops no run: it is a note.
    """
    source = Source(path, file_name or path.name)
    if (head := _head(source)) is not None:
        return Metadata(_read(source, head[0], "\n".join(head[1])), len(head[1]) + 2)
    neighbour = _neighbour(path) if file_name is None else None
    if neighbour is None:
        return None
    near = Source(neighbour, neighbour.name, MOST_BYTES)
    try:
        return Metadata(_read(near, 1, "\n".join(line for _, line in near.text_lines())))
    except FormatError as error:
        return Metadata({}, note=f"{error} The run was imported without it.")


def _neighbour(path: Path) -> Path | None:
    """The file with a run's metadata: one with its name, the one of the folder, or the only one there."""
    ends = tuple(f"-{name}" for name in NEIGHBOURS)
    others = sorted(one for one in path.parent.iterdir() if one.name.endswith(ends))
    own = [one for one in others if one.name.startswith(f"{name_of(path)}-")]
    of_folder = [one for name in NEIGHBOURS if (one := path.parent / name).is_file()]
    return next(iter(own or of_folder or (others if len(others) == 1 else [])), None)


def keep_metadata(run: Run, metadata: Metadata) -> None:
    """Store the metadata with what the preflight found; that its lines were skipped is no news then."""
    skipped = comment_sentence(metadata.lines) if metadata.lines else ""
    notes = [note for note in run.preflight["notes"] if note != skipped]
    run.preflight["notes"] = [*notes, metadata.note] if metadata.note else notes
    if metadata.values:
        run.preflight["ir_metadata"] = metadata.values


def _head(source: Source) -> tuple[int, list[str]] | None:
    """The number of the line where the YAML begins, and its lines; comments of other kinds may come first."""
    lines: list[str] | None = None
    size, first = 0, 0
    for number, line in source.lines():
        if not line.startswith(b"#"):
            break
        text = source.decoded(number, line)[1:]
        text = text[1:] if text.startswith(" ") else text
        if lines is None:
            if text.strip() == START:
                lines, first = [], number
            continue
        if text.strip() == END:
            return first + 1, lines
        size += len(line)
        if size > MOST_BYTES:
            problem = f"more than {MOST_BYTES:,} bytes of ir_metadata"
            raise source.error(number, problem, "Shorten it.")
        lines.append(text)
    if lines is not None:
        raise source.error(first, "ir_metadata begins here and does not end", f"Add the line # {END}.")
    return None


def _read(source: Source, first: int, text: str) -> dict[str, object]:
    """The YAML as plain values; numbers that JSON does not have, and times, are text."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Plain values only, and no aliases."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.composer.ComposerError(None, None, "an alias", None)
            return super().compose_node(parent, index)

    # A tag says of what class a value is somewhere else; the value is read all the same.
    Loader.add_multi_constructor("", _untagged)
    try:
        value = yaml.load(text, Loader)  # noqa: S506  a safe loader
        refuse_deeper(value)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        line = None if mark is None else first + mark.line
        raise source.error(line, f"the ir_metadata cannot be read ({problem})", REMEDY) from None
    except (RecursionError, NestedTooDeeplyError):
        raise source.error(first, "the ir_metadata are nested too deeply", REMEDY) from None
    except ValueError as error:
        raise source.error(first, f"the ir_metadata cannot be read ({error})", REMEDY) from None
    if not isinstance(value, dict):
        raise source.error(first, "the ir_metadata are no mapping", REMEDY)
    budget = [MOST_VALUES]
    plain = {str(name): _plain(inner, budget) for name, inner in value.items()}
    if budget[0] < 0:
        raise source.error(first, f"more than {MOST_VALUES:,} values of ir_metadata", "Shorten it.")
    return plain


def _untagged(loader: Any, tag: str, node: Any) -> object:
    """A value with a tag that nobody here knows."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


def _plain(value: Any, budget: list[int]) -> object:
    budget[0] -= 1
    if isinstance(value, dict):
        return {str(name): _plain(inner, budget) for name, inner in value.items()}
    if isinstance(value, list | set | tuple):
        return [_plain(inner, budget) for inner in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bool | None) or (isinstance(value, int) and abs(value) < 2**53):
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    return str(value).replace("\0", "")


def facts_of(values: object, path: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Names and values one below the other: `method.retrieval.name` and the like."""
    if isinstance(values, dict):
        return [fact for name, inner in values.items() for fact in facts_of(inner, (*path, str(name)))]
    if isinstance(values, list) and any(isinstance(one, dict | list) for one in values):
        numbered = enumerate(values, start=1)
        return [fact for number, inner in numbered for fact in facts_of(inner, (*path, str(number)))]
    words = ", ".join(map(str, values)) if isinstance(values, list) else "" if values is None else str(values)
    return [(".".join(path), words)]
