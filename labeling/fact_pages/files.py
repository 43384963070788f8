from __future__ import annotations

from typing import Final

from labeling.facts.labels import support_labels
from labeling.facts.releasing import FACT_FORMATS, JSON_LINES
from pooling.formats.errors import FormatError
from pooling.formats.facts.writing import diversity_lines, facts_lines, nuggets_lines, supports_lines
from pooling.interface.downloads import Download
from pooling.interface.problems import InputError
from pooling.models import Collection


def _diversity(collection: Collection) -> bytes:
    labels = support_labels(collection)
    try:
        return diversity_lines(labels.facts, labels.supports)
    except FormatError as error:
        raise InputError(str(error), field="format") from error


def _nuggets(collection: Collection) -> bytes:
    queries = dict(collection.queries.values_list("external_id", "text"))
    return nuggets_lines(support_labels(collection).facts, queries)


#: By what addresses call them. Facts are the confirmed ones, supports the labels of judged pairs.
FACT_FILES: Final[dict[str, Download[[Collection]]]] = {
    "facts": Download(".facts.jsonl", JSON_LINES, lambda one: facts_lines(support_labels(one).facts)),
    "supports": Download(
        ".supports.jsonl", JSON_LINES, lambda one: supports_lines(support_labels(one).supports)
    ),
    "diversity": Download(".diversity.txt", "text/plain; charset=utf-8", _diversity),
    "nuggets": Download(".nuggets.jsonl", JSON_LINES, _nuggets),
}
FACT_TITLES: Final = {
    **{name: one.title for name, one in FACT_FORMATS.items()},
    "nuggets": "Nuggets (nuggetizer)",
}
