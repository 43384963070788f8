"""Means of a report taken back to the log that its queries were drawn from, as `evaluate --weights` does."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime

from evaluation.logs.applying import counted_once, weighted
from evaluation.logs.design import Sample, sample_of
from evaluation.report_store.options import UNWEIGHTED
from evaluation.scoring.results import Evaluation
from pooling.formats.records import QueryRecord
from pooling.interface.problems import InputError
from pooling.models import Collection, Query

WEIGHTS = {
    "traffic": "as often as people ask it: the traffic of the log",
    "queries": "once for each distinct query of the log that it stands for",
    UNWEIGHTED: "once, whatever it stands for",
}
NO_DRAW = (
    "No query of this collection was drawn from a log, so there are no weights: import what "
    f"draw_queries writes, or choose {UNWEIGHTED}."
)
#: A reason that an admin's deletion is, as `metadata.sampling.dropped` has one.
DELETED = "deleted"


def checked_weights(collection: Collection, name: str | None) -> str | None:
    """The choice, None for the usual one; `InputError` for another word, and where no query was drawn."""
    if not name:
        return None
    if name not in WEIGHTS:
        raise InputError(f"Weights are {', '.join(WEIGHTS)}, not “{name}”.", field="weights")
    if name != UNWEIGHTED and not has_draw(collection):
        raise InputError(NO_DRAW, field="weights")
    return name


def has_draw(collection: Collection) -> bool:
    """Queries of the collection carry the probability with which they were drawn."""
    return collection.queries.filter(metadata__has_key="sampling").exists()


def taken_back(evaluation: Evaluation, collection: Collection, choice: str | None) -> Evaluation:
    """The evaluation with the weights chosen; without a choice, to the traffic of the log that ended last
    where every scored query was drawn, at least half of them from that log. What is not weighted says so,
    where any query was drawn."""
    today = datetime.now(UTC).date()
    try:
        draws = _draws(collection)
        if not draws:
            if choice in (None, UNWEIGHTED):
                return evaluation
            # What others keep under the name `sampling` is no draw.
            raise InputError(NO_DRAW, field="weights")
        sample = max(draws, key=lambda one: one.ended() or date.min)
        # A few kept from an earlier draw are outside the newest one, and no reason to count each query once.
        scored = set(evaluation.labels.query_ids.filter(evaluation.in_mean).to_list())
        sampled = set().union(*(one.queries for one in draws))
        has_weights = scored <= sampled and 0 < len(scored) <= 2 * len(scored & sample.queries.keys())
        target = choice or ("traffic" if has_weights else UNWEIGHTED)
        if target == UNWEIGHTED:
            return counted_once(evaluation, sample, today=today)
        return weighted(evaluation, sample, "queries" if target == "queries" else "traffic", today=today)
    except ValueError as error:
        raise InputError(str(error), field="weights") from error


def _draws(collection: Collection) -> list[Sample]:
    draws: dict[tuple[str, str], list[QueryRecord]] = defaultdict(list)
    rows = Query.everything.filter(collection=collection, metadata__has_key="sampling").order_by("pk")
    for query, text, metadata, deleted in rows.values_list("external_id", "text", "metadata", "deleted_at"):
        sampling = metadata["sampling"]
        if isinstance(sampling, dict):
            if deleted:
                metadata = {**metadata, "sampling": {"dropped": DELETED, **sampling}}
            draws[str(sampling.get("window") or ""), str(sampling.get("draw") or "")].append(
                QueryRecord(query, text, metadata)
            )
    return [sample_of(records) for records in draws.values()]
