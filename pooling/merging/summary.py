"""A pool told in figures, for its page, the HTTP interface and the command: by run, by query, by depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from pooling.formats.wording import counted, plural
from pooling.heavy import np, pl
from pooling.merging.diagnostics import overlap, size_by_depth, unique_finds
from pooling.merging.families import dry_depth, families, lone_relevant
from pooling.merging.merging import within_depth, without_reserve
from pooling.merging.stored_diagnosis import Diagnosis, LabelFinds, Sizes, Thin
from pooling.ranking.shared_ids import runs_apart

#: Rank-biased overlap looks at the first ranks above all; below this one it has nothing left to say.
FAMILY_DEPTH = 50
#: A query with fewer pairs than this share of the median is thin.
THIN = 0.5
#: Thin queries that are listed, the thinnest first.
LISTED = 50


def diagnose(runs: Mapping[str, pl.DataFrame], pooled: pl.DataFrame, depth: int) -> Diagnosis:
    """A pool before anything is judged, in plain values fit for JSON.

    `pooled` is the frame of `pooling.merging.merging.build_pool` with its finders; runs: name -> frame of
    query_id, document_id, score, perhaps rank, down to the depth of the pool. Runs overlap to `depth`. What a
    reach draws from beyond it counts in `sizes` and `audit` alone: the others tell what the runs bring.
    """
    of_runs = within_depth(pooled)
    contributed = of_runs["runs"].explode().value_counts()
    by_index = dict(zip(contributed["runs"].to_list(), contributed["count"].to_list(), strict=True))
    alone = unique_finds(of_runs)
    alone += [0] * (len(runs) - len(alone))
    groups = families(runs, depth=min(depth, FAMILY_DEPTH))
    return {
        "runs": list(runs),
        "size_by_depth": [row["pairs"] for row in size_by_depth(runs)],
        "overlap": overlap(runs, depth),
        "contributed": {name: by_index.get(index, 0) for index, name in enumerate(runs)},
        "unique_finds": dict(zip(runs, alone, strict=True)),
        "families": [group for group in groups if len(group) > 1],
        "sizes": sizes_of(without_reserve(pooled)),
        "thin": thin_among(of_runs.group_by("query_id").len()),
        "audit": int(pooled["in_audit"].sum()),
    }


def sizes_of(pooled: pl.DataFrame) -> Sizes:
    """Numbers of pairs by query of a frame of pairs; it needs query_id."""
    return binned(pooled.group_by("query_id").len()["len"])


def binned(sizes: pl.Series) -> Sizes:
    """From the number of pairs of each query; at least one query."""
    counts = sizes.to_numpy()
    least, most = int(counts.min()), int(counts.max())
    width = (most - least) // 10 + 1
    starts = range(least, most + 1, width)
    bins = [
        [low, min(low + width - 1, most), int(sizes.is_between(low, low + width - 1).sum())] for low in starts
    ]
    median, mean = float(np.median(counts)), float(counts.mean())
    return {"least": least, "median": median, "mean": mean, "most": most, "bins": bins}


def thin_among(sizes: pl.DataFrame) -> Thin:
    """sizes: query_id and len."""
    sizes = sizes.sort("len", "query_id")
    below = ceil(THIN * float(sizes["len"].median() or 0))  # type: ignore[arg-type]
    thin = sizes.filter(pl.col("len") < below)
    return {"below": below, "count": thin.height, "queries": [list(row) for row in thin.head(LISTED).rows()]}


def without_pair(chosen: int, queries: int) -> str:
    """A sentence on the queries that a budget of fewer pairs leaves without one; "" where each has a pair."""
    without = queries - chosen
    if without <= 0:
        return ""
    return (
        f"The budget has fewer pairs than there are queries: {without:,} of {counted(queries, 'query')} "
        f"{plural(without, 'gets', 'get')} none, and no estimate is about {plural(without, 'it', 'them')}."
    )


def notes_on(queries: Mapping[str, pl.Series], budget: object) -> list[str]:
    """Sentences on runs that have no query in common with the others, and on a budget too small for the
    queries. queries: run -> its query ids, each once; budget: None, pairs in all, or of each query."""
    notes = [*runs_apart(queries)]
    if isinstance(budget, int):
        notes.append(without_pair(budget, pl.concat(queries.values()).n_unique()))
    return [note for note in notes if note]


def diagnose_labels(pooled: pl.DataFrame, qrels: pl.DataFrame, runs: Sequence[str]) -> LabelFinds:
    """A pool's labels so far, as JSON. pooled: also run_count, best_rank, and runs where there is one."""
    dried = dry_depth(pooled, qrels)
    return {
        "labelled": sum(dried.labelled),
        "relevant": sum(dried.relevant),
        "relevant_alone": lone_relevant(pooled, qrels, runs),
        "dry_depth": dried.depth,
        "by_rank": {"pairs": dried.pairs, "labelled": dried.labelled, "relevant": dried.relevant},
    }


def as_text(diagnosis: Diagnosis, labels: LabelFinds | None = None) -> str:
    sizes, thin, alone = diagnosis["sizes"], diagnosis["thin"], diagnosis["unique_finds"]
    family = {name: number for number, group in enumerate(diagnosis["families"], 1) for name in group}
    width = max(map(len, diagnosis["runs"]))
    relevant = labels["relevant_alone"] if labels else {}
    lines = [
        f"{'run'.ljust(width)}  {'pairs':>9}  {'alone':>9}{'  relevant alone' if labels else ''}  family"
    ]
    for name in diagnosis["runs"]:
        mark = f"  {relevant[name]:>14,}" if labels else ""
        lines.append(
            f"{name.ljust(width)}  {diagnosis['contributed'][name]:>9,}  {alone[name]:>9,}{mark}  "
            f"{family.get(name, '–')}"
        )
    lines.append(
        f"Pairs per query: least {sizes['least']:,}, median {sizes['median']:g}, most {sizes['most']:,}."
    )
    if thin["count"]:
        listed = ", ".join(f"{query_id} ({pairs:,})" for query_id, pairs in thin["queries"][:10])
        below = f"fewer than {counted(ceil(thin['below']), 'pair')} to the depth"
        lines.append(f"Thin queries ({below}): {thin['count']:,}; {listed}.")
    usual_depths = sorted(
        {depth for depth in (1, 5, 10, 20, 50, 100, 200, 500) if depth < len(diagnosis["size_by_depth"])}
    )
    depths = [*usual_depths, len(diagnosis["size_by_depth"])]
    grown = ", ".join(f"{diagnosis['size_by_depth'][depth - 1]:,} at {depth}" for depth in depths)
    lines.append(f"Pairs by depth: {grown}.")
    if labels:
        dry = labels["dry_depth"]
        ends = "finds have not dried up" if dry is None else f"finds dry up at rank {dry:,}"
        lines.append(
            f"{counted(labels['labelled'], 'pair')} {plural(labels['labelled'], 'has', 'have')} a label, "
            f"{labels['relevant']:,} {plural(labels['relevant'], 'is', 'are')} relevant; {ends}."
        )
    return "\n".join(line.rstrip() for line in lines) + "\n"
