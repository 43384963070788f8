"""Gold questions: pairs with their answers, from CSV, TSV or JSON lines."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.names import DOCUMENT, QUERY, plain_name
from pooling.formats.records import records_source
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.formats.tables import number_text

ANSWER = ("answer", "gold", "verdict", "relevance", "label")
REASON = ("reason", "explanation", "why")
PRACTICE = ("practice",)

ANSWERS = {
    "relevant": "relevant",
    "1": "relevant",
    "not_relevant": "not_relevant",
    "not relevant": "not_relevant",
    "0": "not_relevant",
}
FLAGS = {"": False, "0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}


@dataclass(frozen=True)
class GoldRecord:
    """A pair with its answer (`relevant` or `not_relevant`), and the line on which it stands."""

    query: str
    document: str
    answer: str
    reason: str
    practice: bool
    line: int


def read_gold(
    source: Path | str, *, file_name: str | None = None, max_bytes: int | None = None
) -> list[GoldRecord]:
    """Gold questions in file order; columns `query_id`, `document_id`, `answer`, `reason` and `practice`.

    The last two may be absent. FormatError for an answer that is none, and for a pair that comes twice.
    """
    file, records = records_source(source, file_name, max_bytes)
    lines: dict[tuple[str, str], int] = {}
    questions = []
    for line, record in records:
        gold = _record(file, line, {plain_name(name): value for name, value in record.items()})
        first = lines.setdefault((gold.query, gold.document), line)
        if first != line:
            pair = f"query {excerpt(gold.query)}, document {excerpt(gold.document)}"
            problem = f"{pair} appears again (first on line {first})"
            raise file.error(line, problem, "Give every pair once.")
        questions.append(gold)
    if not questions:
        raise file.empty()
    return questions


def _record(file: Source, line: int, record: dict[str, Any]) -> GoldRecord:
    query, document = _column(file, line, record, QUERY), _column(file, line, record, DOCUMENT)
    answer = ANSWERS.get(number_text(record[_column(file, line, record, ANSWER)]).lower())
    if answer is None:
        given = excerpt(record[_column(file, line, record, ANSWER)])
        raise file.error(line, f"{given} is not a valid answer", "Write relevant or not_relevant, or 1 or 0.")
    practice = FLAGS.get(_optional(record, PRACTICE).lower())
    if practice is None:
        given = excerpt(_optional(record, PRACTICE))
        raise file.error(line, f"practice is {given}", "Write 1 for a practice question and 0 for others.")
    return GoldRecord(
        checked_id(file, line, "query", record[query]),
        checked_id(file, line, "document", record[document]),
        answer,
        _optional(record, REASON),
        practice,
        line,
    )


def _column(file: Source, line: int, record: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        if record.get(name) is not None:
            return name
    columns = excerpt(", ".join(record), 80)
    raise file.error(
        line, f"no {names[0]} among {columns}", "Name the columns query_id, document_id, answer."
    )


def _optional(record: dict[str, Any], names: tuple[str, ...]) -> str:
    value = next((record[name] for name in names if record.get(name) is not None), "")
    return str(int(value)) if isinstance(value, bool) else number_text(value)
