"""`evaluate`: runs × qrels to an `Evaluation`. The rules about queries are applied here, and only here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluation.measures import (
    Floats,
    Grades,
    Integers,
    judged_of_retrieved,
    key_of,
    measure_keys,
    measure_named,
    rank_labels,
    share,
)
from evaluation.measures.intervals import (
    BOOTSTRAP_SAMPLES,
    LARGEST_RESAMPLED,
    LEVEL,
    IntervalSettings,
    interval_settings,
    mean_intervals,
)
from evaluation.measures.significance import plain
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.coverage import (
    Unjudged,
    recall_bounds,
    unjudged_by_union,
    unjudged_in_one,
    unjudged_in_pool,
)
from evaluation.scoring.duplicates import CountedGroups, order_of_sources
from evaluation.scoring.engines import work_runs
from evaluation.scoring.figures import Figure, MeasuredHow
from evaluation.scoring.inputs import (
    DEFAULT_CUTOFFS,
    RunWithoutQueries,
    collapsed_sources,
    completed_by,
    counting_negatives,
    cutoffs_array,
    only_queries,
    read_labels,
)
from evaluation.scoring.results import Evaluation, RunEvaluation
from evaluation.scoring.scorer import Scorer, Worked
from evaluation.scoring.scoring import ScoredRun, join_parts, label_pairs
from evaluation.scoring.spans import is_of_spans, span_request
from evaluation.scoring.strangers import (
    notes_on_first_lines,
    notes_on_negatives,
    notes_on_strangers,
    refuse_strange_pool,
    refuse_strangers,
)
from evaluation.scoring.strata import Stratum, rows_by_tag
from evaluation.scoring.wording import AS_GIVEN, UNION, usual_cutoff
from pooling.chunks.given import Records
from pooling.formats.parts import PlainRows, in_threads
from pooling.heavy import Booleans, np, pl
from pooling.inputs.given import Keys, Runs, RunSource, Source
from pooling.inputs.reading import lasting, named_runs, pool_frame, qrels_frame
from pooling.ranking.chunks import Chunks

if TYPE_CHECKING:
    from pooling.interface.results import Progress

# Beside every number whose labels were declared complete.
COMPLETE = "unlisted documents count as not relevant, as declared by the person who ran this evaluation"

_COLUMNS_AT_ONCE = 4
DEFAULT_MEASURES = ("recall", "precision", "f1", "success", "judged")

Rows = slice | Integers


def evaluate(
    qrels: Source,
    runs: Runs,
    k: int | Iterable[int] = DEFAULT_CUTOFFS,
    measures: Sequence[str] | str = DEFAULT_MEASURES,
    conventions: Conventions | None = None,
    *,
    bootstrap_samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    confidence: float = LEVEL,
    pool: Source | None = None,
    queries: Collection[str] | None = None,
    strata: Mapping[str, Collection[str]] | None = None,
    thresholds: Mapping[str, float] | None = None,
    minimum_queries: int | None = None,
    chunks: Chunks | None = None,
    duplicates: Source | None = None,
    count: str | None = None,
    complete: bool | Collection[str] = False,
    engine: str = "local",
    progress: Progress | None = None,
    id_key: str | Callable[[Any], Any] | None = None,
    collapse: str | None = None,
    query_ids: Iterable[Any] | None = None,
    document_ids: Sequence[Any] | Mapping[Any, Any] | None = None,
    spans: Records | None = None,
    chunk_map: Records | None = None,
) -> Evaluation:
    """Measure runs against qrels at every cutoff.

    - `qrels`: a path, `{query: {document: relevance}}`, `{query: {document, ...}}`, or a frame with the
      columns query_id, document_id, relevance, under any name that files may use for them.
    - `runs`: a list of paths; by name a path, a frame with query_id, document_id, score,
      `{query: {document: score}}`, `{query: [document, ...]}`, or a function that returns one of these when
      its turn comes; or one run by itself. `pooling.inputs.reading` lists all that is taken as it comes.
    - `k`, `measures`: `recall` is measured at each `k`, `recall@10` at its own cutoff, and `map`, `mrr`,
      `rprecision`, `bpref` and `infap` over the whole run. `judged` is always there.
    - `conventions`: what can change a number; see `Conventions`.
    - `bootstrap_samples`, `seed`, `confidence`: of the intervals.
    - `pool`: a frame or file (query_id, document_id) of the pool that the labels come from. The bounds of
      recall at k cover it, the first k of all the runs, and the pairs with a negative relevance. With its
      other columns `answer` and `estimates` rest on its audit, and `k`, where not named, ends at its depth.
    - `queries`: only these query ids.
    - `strata`: `{tag: query ids}`, in `Evaluation.strata` each as if its queries were all there are.
    - `thresholds`: such as `{"recall@10": 0.4}`, what each run's mean should reach, measured whether named or
      not; see `Evaluation.below`.
    - `minimum_queries`: with fewer in the means, `Evaluation.warnings` says so.
    - `chunks`: the runs hold chunks, and each document counts where its best chunk stands.
    - `duplicates`: groups of near-identical documents, as `find_duplicates` writes them: a path, a dict
      `{document: group}` or a frame. `count`: what counts of them, `documents`, `groups` (where left out) or
      `deduplicated`; see `evaluation.scoring.duplicates`.
    - `complete`: the qrels name all that is relevant to their queries, or to these: others are not relevant.
    - `engine`: with `spark`, Apache Spark scores the files of runs, with equal results; runs of chunks are
      scored here.
    - `progress`: called with the share of the work that is done, once every run is read.
    - `id_key`, `collapse`, `query_ids`, `document_ids`: what runs in memory do not say themselves; see
      `pooling.inputs.given.Keys`.
    - `spans`, `chunk_map`: excerpts that answer, and where chunks begin and end, for the measures
      `span_recall` and `span_precision` of runs of chunks; see `evaluation.evaluate_spans`.

    Means are over the queries that `conventions` count. Judged@k is over the same queries: its `mean` divides
    by k, its `mean_of_retrieved` by min(k, documents retrieved), without the queries that retrieved nothing.
    The intervals cover the choice of queries, the bounds the missing labels.
    Raises ValueError (FormatError for files) for input that has no one meaning.

    >>> result = evaluate({"q1": {"a": 1, "b": 1}}, {"bm25": {"q1": {"a": 2.0, "x": 1.0}}}, k=2)
    >>> result.figure("bm25", "recall", 2)["mean"]
    0.5
    >>> for part in result.convention_line("bm25", "recall", 2).split(" · "):
    ...     print(part)
    Recall@2 0.500 (too few queries for an interval)
    1 of 1 query
    missing = 0
    rel ≥ 1
    ties: score, then id ↓
    judged@2 50.0 %

    Frames in place of the dicts, and labels predicted per instance (an instance is a query):

    >>> import pandas as pd
    >>> true = pd.DataFrame({"query_id": ["i1", "i1"], "document_id": ["cat", "sofa"], "relevance": [1, 1]})
    >>> predicted = pd.DataFrame({"query_id": ["i1"] * 2, "document_id": ["cat", "dog"], "score": [0.9, 0.6]})
    >>> print(evaluate(true, {"model": predicted}, k=1).curve().loc[0, "mean"])
    0.5
    """
    conventions = conventions or Conventions()
    measures = [measures] if isinstance(measures, str) else list(measures)
    at_each = cutoffs_array(k).tolist()
    wanted = span_request(measures, at_each, spans, chunk_map)
    measures = [one for one in measures if not is_of_spans(one)]
    thresholds = dict(thresholds or {})
    named_keys = measure_keys([*measures, *thresholds], at_each)
    cutoffs = cutoffs_array([at for _, at in named_keys if at is not None] or at_each[-1:])
    names = tuple(dict.fromkeys([*(name for name, _ in named_keys), "judged"]))
    keys = tuple(dict.fromkeys([*named_keys, *(("judged", at) for at in cutoffs.tolist())]))
    keys_of_runs = Keys(id_key, collapse, query_ids, document_ids)
    sources = named_runs(runs, keys_of_runs)
    pool, groups = lasting(pool), CountedGroups.of(duplicates, count)
    notes: list[str] = []
    retrieved = sources
    if chunks is not None:
        sources = collapsed_sources(sources, chunks, conventions, notes=notes, cutoffs=cutoffs.tolist())
    if conventions.drop_query_document:
        with_rank = conventions.ties == "rank"
        sources = {name: RunWithoutQueries(name, one, with_rank, notes) for name, one in sources.items()}
    by_group = groups if groups is not None and groups.is_by_group else None
    if by_group is not None:
        by_group.refuse(pool, measures)
        sources = by_group.runs(sources, conventions, notes, int(cutoffs[-1]))
    pooled = pool_frame(pool)
    closed: set[str] = set()
    if complete or by_group is not None:
        listed = only_queries(qrels_frame(qrels, notes), queries)
        listed = listed if by_group is None else by_group.labels(listed, notes)
        closed = set(listed["query_id"]) if complete is True else set(complete or ())
        read: PlainRows | pl.DataFrame = completed_by(listed, sources, pooled, closed) if closed else listed
    else:
        read = read_labels(qrels, queries, notes)
    if conventions.negative == "judged":
        read = counting_negatives(read)
    labels = label_pairs(read, conventions.min_relevance)
    if not labels.query_count:
        raise ValueError("No query of the qrels is left to score; check the qrels, and the queries chosen.")
    refuse_strange_pool(pooled, labels, queries=queries)
    notes += notes_on_negatives(labels)
    how = None if groups is None else groups.to_dict()
    order, later = order_of_sources(conventions, how), None if by_group is None else by_group.later
    keyed = len(sources) > 1 or pooled is not None or later is not None
    scorer = Scorer(labels, cutoffs, order, queries, keyed, later)
    recalled = [at for name, at in named_keys if name == "recall" and at is not None]
    places = usual_cutoff(recalled) if recalled else 0
    progress = progress or (lambda share, detail: None)
    scored_runs = _score_all(scorer, sources, _UnjudgedCount(pooled, places, progress), notes, engine=engine)
    strangers: dict[str, None] = {}
    for name, scored_run, *_ in scored_runs:
        strangers |= dict.fromkeys(notes_on_strangers(name, sources[name], scored_run, labels))
    notes += [*strangers, *(() if by_group is None else by_group.notes())]
    in_mean = labels.has_relevant | (conventions.zero_relevant == "zero")
    is_whole = labels.query_ids.is_in(sorted(closed)).to_numpy() if closed else None
    grades = Grades(labels.query, labels.relevance, labels.relevant, labels.query_count, is_whole)
    tagged = rows_by_tag(strata, labels.query_ids) if strata else {}  # without tags no column of ids is made
    scope = _Scope(keys, cutoffs, conventions, grades, in_mean, (slice(None), *tagged.values()))
    evaluated = []
    for place, (name, scored, unjudged, top) in enumerate(scored_runs):
        progress(0.2 + 0.3 * place / len(scored_runs), f"Working out the values of “{name}”.")
        run, columns = _evaluated(name, scored, unjudged, scope)
        evaluated.append((replace(run, unjudged=top), columns))
    interval = interval_settings(labels.query_count, bootstrap_samples, seed, confidence)
    settings: MeasuredHow = {"interval": interval, "pool": AS_GIVEN if pool is not None else UNION}
    measured = None if wanted is None else wanted.measured(retrieved, conventions, queries, interval)
    notes += () if measured is None else measured.notes
    if chunks is not None:
        settings["chunks"] = chunks.to_dict()
    elif collapse is not None:
        settings["chunks"] = {"score": "max", "words": keys_of_runs.words}
    if how is not None:
        settings["duplicates"] = how
    if complete is True:
        settings["complete"] = COMPLETE
    many = len(scope.groups)

    def figures(group: int) -> dict[str, dict[str, Figure]]:
        def of_figures(share: float) -> None:
            progress(0.5 + 0.5 * (group + share) / many, "Working out intervals.")

        of_figures(0.0)
        return _figures(evaluated, scope, group, interval, progress=of_figures)

    of_all, *of_tags = map(figures, range(many))
    with_figures = {run.name: replace(run, figures=of_all[run.name]) for run, _ in evaluated}
    parts = (conventions, cutoffs, names, keys, labels, in_mean, with_figures, settings, tuple(notes))
    return Evaluation(
        *parts,
        strangers=tuple(strangers),
        sources=sources,
        pool=pool,
        qrels=qrels,
        strata={
            tag: Stratum(rows, figures) for (tag, rows), figures in zip(tagged.items(), of_tags, strict=True)
        },
        thresholds=thresholds,
        minimum_queries=minimum_queries,
        spans=measured,
    )


@dataclass(frozen=True)
class _Scope:
    """Queries and figures of the means: the figures asked for, and the queries that count, in all and by
    group.

    groups: the rows of the queries of each; the first has all of them.
    """

    keys: Sequence[tuple[str, int | None]]
    cutoffs: Integers
    conventions: Conventions
    grades: Grades
    in_mean: Booleans
    groups: tuple[Rows, ...]


class _UnjudgedCount(NamedTuple):
    """Documents without a label over all runs: with a pool's, and listed for each run's first `places`."""

    pool: pl.DataFrame | None
    places: int
    progress: Progress


def _score_all(
    scorer: Scorer, sources: Mapping[str, RunSource], count: _UnjudgedCount, notes: list[str], *, engine: str
) -> list[tuple[str, ScoredRun, Unjudged, pl.DataFrame | None]]:
    """Score one run after the other, so that only one is in memory, then count what no label covers, and keep
    which documents these are in the first places."""
    worked = work_runs(sources, scorer, notes, engine)
    scored = {
        name: join_parts([done.part for done in parts], scorer.labels, scorer.cutoffs)
        for name, parts in worked.items()
    }
    for name, run in scored.items():
        refuse_strangers(name, sources[name], run, scorer.labels, queries=scorer.queries)
        notes += [note for note in notes_on_first_lines(name, sources[name]) if note not in notes]
    unjudged = _unjudged(scorer, count, scored, worked)
    return [(name, scored[name], unjudged[name], _first(worked[name], count.places)) for name in sources]


def _first(parts: Sequence[Worked], places: int) -> pl.DataFrame | None:
    """Documents without a label in the first places of a run, where its pairs were kept."""
    frames = [done.keys for done in parts if done.keys is not None]
    if not places or not frames:
        return None
    return pl.concat([frame.filter(pl.col("position") <= places) for frame in frames])


def _unjudged(
    scorer: Scorer,
    count: _UnjudgedCount,
    scored: Mapping[str, ScoredRun],
    worked: Mapping[str, Sequence[Worked]],
) -> dict[str, Unjudged]:
    """Per run the documents without a label: in its own first K, and in the rest of the pool at K."""
    if not scorer.keyed:
        return {name: unjudged_in_one(scorer.labels, run) for name, run in scored.items()}

    def of_counting(share: float) -> None:
        count.progress(0.2 * share, "Counting documents without a label.")

    keys = {name: [done.keys for done in parts if done.keys is not None] for name, parts in worked.items()}
    pooled = None if count.pool is None else unjudged_in_pool(count.pool, scorer.labels)
    return unjudged_by_union(
        scorer.labels, scored, keys, pool=pooled, counts_keys=scorer.later is not None, progress=of_counting
    )


def _evaluated(
    name: str, scored: ScoredRun, unjudged: Unjudged, scope: _Scope
) -> tuple[RunEvaluation, list[dict[str, Floats]]]:
    """The run's values by query and, per group of queries, its figures next to mean and interval."""
    counts, keys = scored.counts, scope.keys
    if any(measure_named(measure).by_rank for measure, _ in keys):
        counts = replace(counts, ranked=rank_labels(scope.grades, scored.position))
    kept = scope.in_mean & ~scored.missing if scope.conventions.missing == "skip" else scope.in_mean

    def counted(values: Floats) -> Floats:
        filled = np.fmax(values, 0.0)  # NaN, which is 0/0, counts 0 where the query counts at all
        filled[~kept] = np.nan
        return filled

    at_cutoffs = dict.fromkeys(measure for measure, k in keys if k is not None)

    def of_queries(measure: str) -> Floats:
        return counted(measure_named(measure).function(counts))

    def of_whole_run(measure: str) -> Floats:
        return counted(measure_named(measure).function(end))[:, 0]

    at_end, end = [measure for measure, k in keys if k is None], counts.whole_run()
    values = dict(zip(at_cutoffs, in_threads(of_queries, at_cutoffs), strict=True))
    whole = dict(zip(at_end, in_threads(of_whole_run, at_end), strict=True))
    lower, upper = recall_bounds(counts, unjudged)
    columns = {"lower": counted(lower), "upper": counted(upper)}
    columns["mean_of_retrieved"] = np.where(kept[:, None], judged_of_retrieved(counts), np.nan)
    if scored.ties is not None:
        relevant = np.maximum(counts.relevant[:, None], 1)
        for side in ("least", "expected", "most"):
            columns[side] = counted(getattr(scored.ties, side) / relevant)

    def extras(rows: Rows) -> dict[str, Floats]:
        hits, relevant = counts.hits[rows][kept[rows]], counts.relevant[rows][kept[rows]]
        means = {extra: _means(column[rows]) for extra, column in columns.items()}
        return {**means, "micro": share(hits.sum(axis=0), relevant.sum())}

    bounds = columns["lower"], columns["upper"]
    made = RunEvaluation(name, scored, kept, values, {}, whole, bounds=bounds)
    return made, [extras(rows) for rows in scope.groups]


def _means(values: Floats) -> Floats:
    """(C,) mean of each column over the rows that count; NaN without one."""
    sums = values.sum(axis=0)
    if not np.isnan(sums).any():
        return share(sums, np.full(len(sums), len(values)))
    return share(np.nansum(values, axis=0), np.count_nonzero(~np.isnan(values), axis=0))


def _figures(
    evaluated: Sequence[tuple[RunEvaluation, Sequence[dict[str, Floats]]]],
    scope: _Scope,
    group: int,
    interval: IntervalSettings,
    *,
    progress: Callable[[float], None],
) -> dict[str, dict[str, Figure]]:
    """Run -> key -> its figure over the queries of the group of that number; progress: the share done."""
    rows, keys = scope.groups[group], scope.keys
    column: dict[int | None, int] = {k: index for index, k in enumerate(scope.cutoffs.tolist())}
    columns = [
        run.whole[measure][rows] if k is None else run.values[measure][rows, column[k]]
        for run, _ in evaluated
        for measure, k in keys
    ]
    table = _means_and_limits(columns, interval, progress).reshape(len(evaluated), len(keys), 3)
    result = {}
    for (run, extras), numbers in zip(evaluated, table, strict=True):
        queries = int(run.scored[rows].sum())
        result[run.name] = {
            key_of(measure, k): _figure(measure, row, extras[group], column.get(k, -1), queries=queries)
            for (measure, k), row in zip(keys, numbers, strict=True)
        }
    return result


def _means_and_limits(
    columns: Sequence[Floats], interval: IntervalSettings, progress: Callable[[float], None]
) -> Floats:
    """(M, 3) mean, low and high of each of M columns, (Q,) values each."""
    samples, seed, level = interval["samples"], interval["seed"], interval["level"]

    def work(some: Sequence[Floats], progress: Callable[[float], None] = lambda share: None) -> Floats:
        values = np.stack(some).T
        low, high = mean_intervals(values, samples=samples, seed=seed, level=level, progress=progress)
        return np.stack([_means(values), low, high], axis=-1)

    if len(columns[0]) <= LARGEST_RESAMPLED:
        return work(columns, progress)  # every column in the same resamples of the queries
    blocks = (columns[at : at + _COLUMNS_AT_ONCE] for at in range(0, len(columns), _COLUMNS_AT_ONCE))
    return np.concatenate(list(in_threads(work, blocks)))


def _figure(
    measure: str, numbers: Floats, extras: Mapping[str, Floats], column: int, *, queries: int
) -> Figure:
    mean, low, high = (plain(number) for number in numbers)
    if measure == "judged" and mean == 1 and low is not None:
        low = high = 1.0  # what is judged is there to see
    figure: Figure = {"mean": mean, "low": low, "high": high, "queries": queries}
    if measure == "recall":
        figure["micro"] = plain(extras["micro"][column])
        figure["bounds"] = [plain(extras["lower"][column]), plain(extras["upper"][column])]
        if "least" in extras and extras["least"][column] < extras["most"][column]:
            least, expected, most = (plain(extras[side][column]) for side in ("least", "expected", "most"))
            figure["ties"] = {"min": least, "expected": expected, "max": most}
    if measure == "judged":
        figure["mean_of_retrieved"] = plain(extras["mean_of_retrieved"][column])
    return figure
