"""The evaluation file: all that an evaluation depends on apart from qrels and runs, as TOML and as one value.

k = [5, 10]
measures = ["recall", "ndcg@10"]
minimum_queries = 50

[conventions]
missing = "zero"

[thresholds]
"recall@10" = 0.4
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from evaluation.measures import MEASURES, key_of, split_name
from evaluation.scoring.conventions import CHOICES, PRESETS, Conventions
from pooling.formats.errors import FormatError
from pooling.formats.errors import excerpt as quoted
from pooling.formats.sources import require_file
from pooling.options import LARGEST_SEED, Option, options_of, setting

LARGEST_FILE = 1 << 20
#: A difference in mean recall that is too small to matter.
MARGIN = 0.01
LARGEST_MARGIN = 0.5
MOST_TAGS = 100


class SettingError(ValueError):
    """A setting that cannot be: `key` as in the file (`conventions.ties`), what is wrong and what to do."""

    def __init__(self, key: str, problem: str, remedy: str) -> None:
        self.key, self.problem, self.remedy = key, problem, remedy
        super().__init__(f"{problem}. {remedy}")


@dataclass(frozen=True)
class Settings:
    """Settings of an evaluation; None, or an empty mapping of conventions, where the file has none.

    k, measures, confidence, minimum_queries, thresholds: as in `evaluation.evaluate`; samples, seed: of the
    bootstrap. tags: the queries with each of them are reported separately. margin: a difference in mean
    recall within ± this does not matter. conventions: a preset's name under
    `preset`, and values that win over it, under the names of `Conventions`.

    >>> Settings(k=(10,), seed=7).over(Settings(k=(5,), confidence=0.9)).arguments()
    {'k': (10,), 'confidence': 0.9, 'seed': 7}
    """

    k: tuple[int, ...] | None = setting(
        None, "K", "One or more ranks to cut at, for instance 1 5 10 100.", tuple
    )
    measures: tuple[str, ...] | None = setting(
        None,
        "Measures",
        "Recall and Judged are always part of a report: a recall is read with its coverage.",
        tuple,
    )
    confidence: float | None = setting(
        None,
        "Confidence",
        "The level of the intervals, as a share: 0.95 is 95 %.",
        float,
        about="Level of the intervals.",
        empty="0.95",
        initial=0.95,
        metavar="SHARE",
        minimum=0.5,
        maximum=0.999,
    )
    tags: tuple[str, ...] | None = setting(
        None,
        "Tags to tell apart",
        "The queries with each of these tags are measured on their own as well.",
        tuple,
    )
    minimum_queries: int | None = setting(
        None,
        "Minimum of queries",
        "With fewer, the report warns and says how many it takes.",
        int,
        about="Warn when a mean rests on fewer queries.",
        minimum=1,
        limit=1_000_000_000,
    )
    samples: int | None = setting(
        None,
        "Samples",
        "Samples of the bootstrap over queries.",
        int,
        empty="10,000",
        initial=10_000,
        minimum=1,
        limit=100_000,
    )
    seed: int | None = setting(
        None, "Seed", "Seed of the bootstrap.", int, empty="0", initial=0, minimum=0, limit=LARGEST_SEED
    )
    margin: float | None = setting(
        None,
        "Margin",
        "Two runs whose mean recall differs by no more than this do not differ in a way that matters.",
        float,
        about="A difference in mean recall that is too small to matter.",
        empty=f"{MARGIN:g}",
        initial=MARGIN,
        metavar="DIFFERENCE",
        minimum=0.0,
        maximum=LARGEST_MARGIN,
    )
    conventions: Mapping[str, Any] = field(default_factory=dict)
    thresholds: Mapping[str, float] | None = setting(
        None,
        "Thresholds",
        "The mean that every run should reach, one to a line, for instance recall@10 = 0.4.",
        tuple,
    )

    def over(self, other: Settings) -> Settings:
        """These where they say something, else `other`; a preset of these wins over its conventions there."""
        given = {name: value for name, value in _plain(self).items() if name != "conventions"}
        theirs = dict(other.conventions)
        if "preset" in self.conventions:
            about = {"preset", *PRESETS[self.conventions["preset"]]}
            theirs = {name: value for name, value in theirs.items() if name not in about}
        return replace(other, **given, conventions={**theirs, **self.conventions})

    def chosen_conventions(self) -> Conventions:
        values = dict(self.conventions)
        preset = values.pop("preset", None)
        return Conventions.preset(preset, **values) if preset else Conventions(**values)

    def arguments(self) -> dict[str, Any]:
        """Arguments of `evaluation.evaluate`, without tags, which need the queries, and the margin."""
        values = _plain(self)
        for name in ("tags", "margin"):
            values.pop(name, None)
        if "samples" in values:
            values["bootstrap_samples"] = values.pop("samples")
        if values.pop("conventions", None):
            values["conventions"] = self.chosen_conventions()
        return values

    def to_toml(self) -> str:
        """The evaluation file that says the same.

        >>> print(Settings(k=(5, 10), conventions={"ties": "file"}).to_toml(), end="")
        k = [5, 10]
        <BLANKLINE>
        [conventions]
        ties = "file"
        """
        values = _plain(self)
        tables = {name: values.pop(name) for name in ("conventions", "thresholds") if values.get(name)}
        parts = [_toml_lines(values)]
        parts += [f"[{name}]\n{_toml_lines(table)}" for name, table in tables.items()]
        return "\n".join(part for part in parts if part)


def _plain(settings: Settings) -> dict[str, Any]:
    values = {name: value for name, value in asdict(settings).items() if value is not None}
    return values if values["conventions"] else {n: v for n, v in values.items() if n != "conventions"}


def read_settings(path: str | Path) -> Settings:
    """The settings of an evaluation file; FormatError names file, line, key and remedy.

    In a notebook: `evaluate(qrels, runs, **read_settings("evaluation.toml").arguments())`.
    """
    path = Path(path)
    require_file(path)
    with path.open("rb") as file:
        return parse_settings(file.read(LARGEST_FILE + 1), path.name)


def parse_settings(content: bytes, name: str) -> Settings:
    """From the bytes of a file called `name`."""
    if len(content) > LARGEST_FILE:
        raise FormatError(name, None, "the file is larger than 1 MB", "An evaluation file is a few lines.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FormatError(name, line, "not UTF-8", "Save the file as UTF-8.") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(name, text, error) from None
    except RecursionError:
        remedy = "Write each setting on a separate line."
        raise FormatError(name, None, "nested too deeply", remedy) from None
    try:
        return settings_from(values)
    except SettingError as error:
        key = error.key.partition(".")[2] or error.key
        problem = error.problem if key in error.problem else f"{key}: {error.problem}"
        raise FormatError(name, _line_of(text, error.key), problem, error.remedy) from None


def settings_from(values: Mapping[str, Any]) -> Settings:
    """Checked settings from plain values, as an evaluation file or a request holds them.

    None counts as not said. SettingError for an unknown key, a wrong type or a value out of range.
    """
    checked: dict[str, Any] = {}
    for key, value in values.items():
        _refuse_unknown(key, _CHECKS, "")
        if value is not None:
            checked[key] = _CHECKS[key](value)
    return Settings(**checked)


def _refuse_unknown(key: str, names: Mapping[str, Any], table: str) -> None:
    if key in names:
        return
    close = get_close_matches(key.replace("-", "_").lower(), names, n=1, cutoff=0.65)
    there = f"the keys{' there' if table else ''} are {', '.join(names)}"
    remedy = f"Write {close[0]}; {there}." if close else f"{there[0].upper()}{there[1:]}."
    where = f" in [{table}]" if table else ""
    raise SettingError(
        f"{table}.{key}" if table else key, f"{_in_words(key)} is not a setting{where}", remedy
    )


def _in_words(value: object) -> str:
    """A value as a message shows it: text in quotes, and not too long."""
    return quoted(value) if isinstance(value, str) else quoted(value)[1:-1]


def _whole_number(key: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        span = f"of {least} or more" if most >= 2**31 - 1 else f"from {least:,} to {most:,}"
        raise SettingError(
            key, f"{key.rpartition('.')[2]} is {_in_words(value)}", f"Write a whole number {span}."
        )
    return value


def _number_within(one: Option) -> Callable[[object], int]:
    """The check of a whole number by the bounds of its option."""
    least, most = int(one.minimum or 0), int(one.limit if one.maximum is None else one.maximum)
    return lambda value: _whole_number(one.name, value, least, most)


def _list(key: str, value: object, example: str) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise SettingError(
            key,
            f"{key} is {_in_words(value)}, which is not a list with at least one value",
            f"Write for instance {example}.",
        )
    return list(value)


def _k(value: object) -> tuple[int, ...]:
    cutoffs = _list("k", value, "k = [5, 10, 100]")
    return tuple(_whole_number("k", at, 1, 1_000_000) for at in cutoffs)


def _measures(value: object) -> tuple[str, ...]:
    return tuple(
        _measure("measures", name) for name in _list("measures", value, 'measures = ["recall", "map"]')
    )


def _measure(key: str, name: object) -> str:
    if not isinstance(name, str):
        raise SettingError(
            key, f"{_in_words(name)} is not a measure", 'Write its name in quotes, as in "recall@10".'
        )
    try:
        return key_of(*split_name(name))
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        raise SettingError(key, problem, f"{remedy[:1].upper()}{remedy[1:]}") from None


def _confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.5 <= value <= 0.999:
        raise SettingError(
            "confidence",
            f"confidence is {_in_words(value)}",
            "Write a share from 0.5 to 0.999, such as 0.95.",
        )
    return float(value)


def _tags(value: object) -> tuple[str, ...]:
    tags = _list("tags", value, 'tags = ["short", "long"]')
    for tag in tags:
        if not isinstance(tag, str) or not tag:
            raise SettingError("tags", f"{_in_words(tag)} is not a tag", "Write tags as text in quotes.")
    if len(set(tags)) > MOST_TAGS:
        raise SettingError("tags", f"{len(set(tags))} tags are named", f"Name at most {MOST_TAGS}.")
    return tuple(dict.fromkeys(tags))


def _margin(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_MARGIN:
        raise SettingError(
            "margin",
            f"margin is {_in_words(value)}",
            f"Write a number from 0 to {LARGEST_MARGIN:g}, such as 0.01.",
        )
    return float(value)


def _table(key: str, value: object, example: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SettingError(key, f"{key} is {_in_words(value)}, which is not a table", f"Write {example}.")
    return value


def _conventions(value: object) -> Mapping[str, Any]:
    table = _table("conventions", value, '[conventions] and below it for instance missing = "zero"')
    choices_of: dict[str, Any] = {"preset": tuple(PRESETS), "min_relevance": None, **CHOICES}
    choices_of["drop_query_document"] = (False, True)
    checked: dict[str, Any] = {}
    for name, choice in table.items():
        key = f"conventions.{name}"
        _refuse_unknown(name, choices_of, "conventions")
        if choice is None:
            continue
        words = choices_of[name]
        if words is None:
            checked[name] = _whole_number(key, choice, 1, 2**31 - 1)
        elif not isinstance(choice, str | bool) or choice not in words:
            choices = ", ".join(map(str, words)).lower()
            raise SettingError(key, f"{name} is {_in_words(choice)}", f"Choose one of {choices}.")
        else:
            checked[name] = choice
    return checked


def _thresholds(value: object) -> Mapping[str, float]:
    table = _table("thresholds", value, '[thresholds] and below it for instance "recall@10" = 0.4')
    checked = {}
    for name, least in table.items():
        key = f"thresholds.{name}"
        if isinstance(least, Mapping):
            raise SettingError(key, f"{_in_words(name)} is a table", 'Write for instance "recall@10" = 0.4.')
        checked[threshold_key(name, key)] = _share(key, name, least)
    return checked


def threshold_key(name: str, key: str = "thresholds") -> str:
    """The key of a figure that a threshold is on: it has one value, so a measure at K names its K."""
    figure = _measure(key, name)
    measure, k = split_name(figure)
    if k is None and not MEASURES[measure].whole:
        raise SettingError(key, f"{_in_words(name)} names no K", f"Write for instance {measure}@10.")
    return figure


def _share(key: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SettingError(
            key, f"the threshold of {name} is {_in_words(value)}", "Write a number from 0 to 1."
        )
    return float(value)


SETTINGS = options_of(Settings)
_CHECKS: dict[str, Callable[[object], Any]] = {
    "k": _k,
    "measures": _measures,
    "confidence": _confidence,
    "tags": _tags,
    "minimum_queries": _number_within(SETTINGS["minimum_queries"]),
    "samples": _number_within(SETTINGS["samples"]),
    "seed": _number_within(SETTINGS["seed"]),
    "margin": _margin,
    "conventions": _conventions,
    "thresholds": _thresholds,
}


def _not_toml(name: str, text: str, error: tomllib.TOMLDecodeError) -> FormatError:
    match = re.fullmatch(r"(.*?) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL)
    problem = match[1] if match else str(error)
    line = int(match[2]) if match and match[2] else max(1, len(text.rstrip().split("\n")))
    remedy = "Write one setting a line, such as k = [5, 10], and text in quotes."
    return FormatError(name, line, f"not TOML: {problem[:1].lower()}{problem[1:]}", remedy)


def _line_of(text: str, key: str) -> int | None:
    """The line on which a key is set, where that can be told without a parser."""
    table, _, name = key.partition(".") if key.startswith(("conventions.", "thresholds.")) else ("", "", key)
    current = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            current = header[1]
            if not table and current == name:
                return number
        elif written := re.match(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\s*=""", line):
            full = next(part for part in written.groups() if part is not None)
            if (current, full) == (table, name) or (not current and full == key):
                return number
            if not current and table and full == table:
                return number
    return None


def _toml_lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{_toml_key(key)} = {_toml_value(value)}\n" for key, value in values.items())


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    # A string of JSON is one of TOML as well, save for the delete character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
