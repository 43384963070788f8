"""One judgment as a file tells it, and what values of other tools mean as verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.names import DOCUMENT, QUERY, plain_name
from pooling.formats.sources import Source

RELEVANT, NOT_RELEVANT, CANNOT_JUDGE, LEAVE_OUT = "relevant", "not_relevant", "cannot_judge", "leave_out"
VERDICTS = (RELEVANT, NOT_RELEVANT, CANNOT_JUDGE)
#: What values mean unless a map says otherwise. What a grade above 1 means has to be chosen.
USUAL_VALUES: Mapping[str, str] = {
    **dict.fromkeys(("relevant", "1", "yes", "true"), RELEVANT),
    **dict.fromkeys(("not relevant", "irrelevant", "non relevant", "0", "no", "false"), NOT_RELEVANT),
    **dict.fromkeys(("cannot judge", "can't judge", "can’t judge"), CANNOT_JUDGE),
}
#: The name of people whom a file does not name.
UNNAMED = "unnamed"
QUERY_TEXTS = ("query_text", "query", "text", "question", "user_query", "search", "search_query")


class JudgmentRecord(NamedTuple):
    """An event of somebody on a pair.

    line: where it stands. query: an id, or a text where `by_text`; with both, an id that the collection has
    counts. value: as the file has it, or "" for an event that is no verdict. time: in ISO format. saw: a
    proposal had been shown. own: all columns, of a file of ours. remark: on the file, for people. passed:
    what it is where it is no judgment that is read, such as “drafts”; then it has a line alone.
    """

    line: int
    query: str
    document: str
    annotator: str
    value: str
    by_text: bool = False
    note: str = ""
    reason: str = ""
    time: str = ""
    active_ms: int | None = None
    saw: bool = False
    title: str = ""
    text: str | None = None
    own: Mapping[str, Any] | None = None
    remark: str = ""
    passed: str = ""


def passed_over(line: int, what: str) -> JudgmentRecord:
    """Something in a file that is not a judgment and is not read; `what` is a noun in the plural."""
    return JudgmentRecord(line, "", "", "", "", passed=what)


def sentence_on_passed(passed: Mapping[str, int]) -> str:
    """`Passed over: drafts (3), cancelled annotations (1).`"""
    counts = sorted(passed.items(), key=lambda one: (-one[1], one[0]))
    return f"Passed over: {', '.join(f'{what} ({count:,})' for what, count in counts)}."


@dataclass(frozen=True)
class Names:
    """Names of a file that are not the usual ones: fields of a task, and the question asked."""

    query: str = ""
    document: str = ""
    question: str = ""


@dataclass(frozen=True)
class JudgmentFormat:
    """A format of judgments. read: its records; whether they carry a map of values is `has_values`."""

    name: str
    title: str
    read: Callable[[Source, Names], Iterator[JudgmentRecord]]
    has_values: bool = True


def read_map(pairs: Sequence[str]) -> dict[str, str]:
    """`1=relevant` and the like as a map from values, in plain form, to verdicts.

    >>> read_map(["1=relevant", "Off topic=not_relevant"])
    {'1': 'relevant', 'off topic': 'not_relevant'}
    """
    verdicts: dict[str, str] = {}
    for pair in pairs:
        value, sign, verdict = pair.rpartition("=")
        verdict = verdict.strip().lower()
        if not sign or not value.strip() or verdict not in (*VERDICTS, LEAVE_OUT):
            raise ValueError(
                f"“{pair}” is not VALUE=VERDICT; a verdict is {', '.join(VERDICTS)} or {LEAVE_OUT}"
            )
        plain = plain_value(value)
        if verdicts.setdefault(plain, verdict) != verdict:
            raise ValueError(f"the value “{value.strip()}” is mapped to two verdicts")
    return verdicts


def plain_value(value: object) -> str:
    """A value as it is compared: `1.0` is `1`, and neither case nor _ nor - matter in words.

    >>> plain_value(1.0), plain_value("Not_Relevant"), plain_value(True), plain_value("-1")
    ('1', 'not relevant', 'true', '-1')
    """
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return " ".join(text.lower().replace("_", " ").replace("-", " ").split())
    return str(int(number)) if number.is_integer() else repr(number)


def verdict_of(record: JudgmentRecord, values: Mapping[str, str], place: str) -> str:
    """The verdict that a record's value means; FormatError names value and line where the map has it not."""
    try:
        return values[plain_value(record.value)]
    except KeyError:
        problem = f"the value {excerpt(record.value)} of query {excerpt(record.query)} is in no map"
        example = f"{plain_value(record.value)}={RELEVANT}"
        remedy = f"Say what it means under “What values mean” (--map), such as {example}."
        raise FormatError(place, record.line, problem, remedy) from None


def field_of(record: Mapping[str, Any], chosen_name: str, usual: Sequence[str]) -> Any:
    """The value under the name asked for, or else under the first usual one; None without it."""
    if chosen_name:
        return record.get(chosen_name)
    plain = {plain_name(name): name for name in reversed(list(record))}
    name = next((plain[one] for one in usual if one in plain and record[plain[one]] is not None), None)
    return None if name is None else record[name]


def pair_of(source: Source, line: int, fields: Mapping[str, Any], names: Names) -> tuple[str, bool, str]:
    ids = [name for name in QUERY if name.endswith("id")]
    query, by_text = field_of(fields, names.query, ids), bool(names.query)
    if query is None and not names.query:
        query, by_text = field_of(fields, "", QUERY_TEXTS), True
    document = field_of(
        fields, names.document, [name for name in DOCUMENT if name not in ("document", "doc")]
    )
    if document is None and not names.document:
        document = field_of(fields, "", ("document", "doc"))
    for what, value, option in (
        ("query", query, "--query-field"),
        ("document", document, "--document-field"),
    ):
        if value is None or value == "":
            named = excerpt(", ".join(fields), 80)
            raise source.error(
                line, f"no {what} id among the fields {named}", f"Name its field with {option}."
            )
    return as_text(source, line, "query", query), by_text, as_text(source, line, "document", document)


def as_text(source: Source, line: int, what: str, value: Any) -> str:
    """An id or a text as a string; whole numbers are written out."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise source.error(line, f"the {what} {excerpt(value)} is not text", "Write it as a string.")


def refuse_another(source: Source, line: int, first: str, question: str) -> None:
    """FormatError where records answer different questions: their answers must not be taken for one kind."""
    if question != first:
        problem = f"{excerpt(question)} is answered here, and {excerpt(first)} before"
        raise source.error(line, problem, "Choose one with --question.")


def object_of(source: Source, line: int, value: Any, what: str) -> Mapping[str, Any]:
    """A JSON object; FormatError for anything else."""
    if not isinstance(value, dict):
        raise source.error(line, f"{what} is not a JSON object", "Export the file again.")
    return value


def utc_text(source: Source, line: int, value: str) -> str:
    """A time in ISO format as UTC text that both databases read; a time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    except (ValueError, OverflowError):
        raise source.error(
            line, f"the time {excerpt(value)} is not an ISO time", "Write 2026-01-31T12:00:00Z."
        ) from None
