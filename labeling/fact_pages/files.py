from __future__ import annotations

from typing import Final

from labeling.facts.labels import SupportLabels, support_labels
from labeling.facts.releasing import FACT_FORMATS, JSON_LINES
from pooling.formats.errors import FormatError
from pooling.formats.facts.writing import diversity_lines, facts_lines, nuggets_lines, supports_lines
from pooling.interface.downloads import Download
from pooling.interface.problems import InputError
from pooling.models import Collection


def _labels(collection: Collection, *, supports: bool = False) -> SupportLabels:
    """`InputError` where the file would be empty."""
    labels = support_labels(collection)
    if not labels.facts:
        problem = f"“{collection.slug}” has no confirmed facts, so the file would be empty. Confirm some."
        raise InputError(problem, field="format")
    if supports and labels.supports.is_empty():
        problem = f"Nobody said in “{collection.slug}” which documents support its facts, so the file would"
        raise InputError(f"{problem} be empty. Judge facts first.", field="format")
    return labels


def _diversity(collection: Collection) -> bytes:
    labels = _labels(collection, supports=True)
    try:
        return diversity_lines(labels.facts, labels.supports)
    except FormatError as error:
        raise InputError(str(error), field="format") from error


def _nuggets(collection: Collection) -> bytes:
    queries = dict(collection.queries.values_list("external_id", "text"))
    return nuggets_lines(_labels(collection).facts, queries)


#: By what addresses call them. Facts are the confirmed ones, supports the labels of judged pairs.
FACT_FILES: Final[dict[str, Download[[Collection]]]] = {
    "facts": Download(".facts.jsonl", JSON_LINES, lambda one: facts_lines(_labels(one).facts)),
    "supports": Download(
        ".supports.jsonl", JSON_LINES, lambda one: supports_lines(_labels(one, supports=True).supports)
    ),
    "diversity": Download(".diversity.txt", "text/plain; charset=utf-8", _diversity),
    "nuggets": Download(".nuggets.jsonl", JSON_LINES, _nuggets),
}
FACT_TITLES: Final = {
    **{name: one.title for name, one in FACT_FORMATS.items()},
    "nuggets": "Nuggets (nuggetizer)",
}
