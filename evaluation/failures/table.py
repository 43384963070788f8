"""An evaluation by groups of its queries, and that as a table: what `evaluate --by` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.failures.breakdown import THRESHOLD, Breakdown, GroupFigures, Values, WeightedMean, break_down
from evaluation.failures.query_groups import RELEVANT, RUN, group_queries
from evaluation.measures import key_of, split_name
from evaluation.measures.intervals import Resampling
from evaluation.rendering.cells import Cells, Part
from evaluation.scoring.results import Evaluation, decimal, interval, percent, share_in_words
from pooling.formats import read_queries
from pooling.formats.query_facts import represented_weight
from pooling.heavy import np


def breakdown_of_result(
    evaluation: Evaluation, *, by: str, queries: Path | None, measure: str | None, threshold: float | None
) -> Breakdown:
    """`broken_down` by what stands in the file of the queries."""
    if queries is None and by not in (RELEVANT, RUN):
        raise ValueError(f"--by {by} needs the metadata of the queries; name their file with --queries FILE.")
    metadata: dict[str, Mapping[str, Any]] = {}
    if queries is not None:
        metadata = {query.id: query.metadata for query in read_queries(queries)}
    threshold = THRESHOLD if threshold is None else threshold
    return broken_down(evaluation, by, metadata, measure=measure, threshold=threshold)


def broken_down(
    evaluation: Evaluation,
    by: str,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    measure: str | None = None,
    threshold: float = THRESHOLD,
) -> Breakdown:
    """An evaluation by `tag`, `relevant`, `weight`, `run` or a key of the metadata (query id -> metadata).

    measure: such as `recall@10`; the first one, at K = 10 where it is, without. ValueError for one that was
    not evaluated, and for what no query says anything of.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"The threshold is {threshold:g}; name a share from 0 to 1.")
    name, k = evaluation.example_key() if measure is None else split_name(measure)
    if (name, k) not in evaluation.keys:
        keys = ", ".join(key_of(*key) for key in evaluation.keys)
        raise ValueError(f"{measure} was not evaluated; choose one of {keys}.")
    ids = evaluation.labels.query_ids.to_list()
    facts = metadata or {}
    relevant = dict(zip(ids, evaluation.labels.relevant_count.tolist(), strict=True))
    column = None if k is None else evaluation.cutoffs.tolist().index(k)
    columns = [
        run.whole[name] if column is None else run.values[name][:, column] for run in evaluation.runs.values()
    ]
    weights = [represented_weight(facts.get(query, {})) for query in ids]
    values = Values(
        name,
        k,
        tuple(ids),
        tuple(evaluation.runs),
        np.stack(columns, axis=1),
        np.array([np.nan if weight is None else weight for weight in weights]),
    )
    made = evaluation.settings["interval"]
    resampling = Resampling(made["samples"], made["seed"], made["level"])
    return break_down(values, group_queries(by, ids, facts, relevant), resampling, threshold=threshold)


def breakdown_part(breakdown: Breakdown) -> Part:
    """A breakdown for `evaluation.rendering.formats.render`."""
    return Part("breakdown", breakdown_cells(breakdown), breakdown.to_dict(), breakdown.rows())


def breakdown_cells(breakdown: Breakdown) -> Cells:
    """One row per group and run: n, mean with its interval, percentiles, shares, and the weighted mean."""
    header = ["group", "run", "n", "mean", "p10", "p25", "median", "p75", "p90", "at 0"]
    header += [f"≥ {breakdown.threshold:g}", *(["weighted"] if breakdown.is_weighted else [])]
    rows = tuple(
        (one.group.label(breakdown.grouping.by), run, *_cells(figures, weighted=breakdown.is_weighted))
        for one in breakdown.groups
        for run, figures in one.runs.items()
    )
    measured = key_of(breakdown.measure, breakdown.k)
    return Cells(tuple(header), rows, tuple(_notes(breakdown)), f"{measured} by {breakdown.grouping.title}")


def _cells(figures: GroupFigures, *, weighted: bool) -> list[str]:
    weighted_mean = figures.weighted
    cells = [
        str(figures.n),
        decimal(figures.mean) + interval({"low": figures.low, "high": figures.high}),
        *(decimal(value) for value in figures.percentiles.values()),
        percent(figures.share_zero),
        percent(figures.share_reaching),
    ]
    if weighted:
        cells.append("–" if weighted_mean is None else _weighted_cell(weighted_mean))
    return cells


def _weighted_cell(weighted: WeightedMean) -> str:
    return decimal(weighted.mean) + interval({"low": weighted.low, "high": weighted.high})


def _notes(breakdown: Breakdown) -> list[str]:
    level = share_in_words(breakdown.interval["level"])
    notes = [
        f"n: queries that count. [low, high]: {level} interval over the queries of the group; below 10 of "
        "them there is none, and below 5 no percentile."
    ]
    if breakdown.grouping.overlapping:
        notes.append("Groups overlap: a query with several tags counts in each.")
    if breakdown.is_weighted:
        notes.append(
            "mean: every query counts once. weighted: every query counts as often as it is asked. "
            "The two answer different questions."
        )
    if breakdown.without_weight:
        names = ", ".join(breakdown.without_weight[:10])
        more = len(breakdown.without_weight) - 10
        rest = f" and {more} more" if more > 0 else ""
        notes.append(f"Without a weight, and so in no weighted mean: {names}{rest}.")
    return notes
