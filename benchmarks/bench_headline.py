"""The number on the first screen beside the truth: campaigns on collections whose relevant documents are all
known.

    python -m benchmarks.bench_headline [--draws 200] [--set cranfield adi dl19] [--way static adaptive]

Ten judgments a query go to the top of the runs, and 5, 10 or 20 more to an audit that reaches far below
(`ranking/frame.py`). A campaign judges them all by the qrels and reads the headline, Recall@10 of each
run: its bias, the width of its interval, and how often that holds the truth of the reach. Limit: .93 of all
intervals of a cell, less two standard errors of the simulation. The intervals cover which queries were asked
as well, which the same queries again do not show, so most cells lie above.

Last come the errors against the truth of the whole collection, |value − truth| ÷ truth, of the headline and
of the raw mean over the relevant documents found: the aim is a fifth. Exit code 1 when the limit is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import polars as pl

from evaluation.estimates.from_audit import Places, recall_estimates
from evaluation.estimates.sample import PAIR, AuditSample, audit_sample
from labeling.adaptive.next_documents import Course, Entry, History, Planner
from pooling.formats import name_of, read_qrels, read_run
from pooling.formats.records import iterate_documents, read_queries
from pooling.merging.choice import Choice
from pooling.merging.merging import chosen_in_frame, ordered_pairs, pairs_beyond
from pooling.ranking.frame import frame_keys
from pooling.texts.text_ranking import text_ranking
from tests.testdata import DATA

#: Set -> reach: the collection itself where it is no larger.
REACH = {"cranfield": 300, "adi": 300, "dl19": 300}
TOP, DRAWN, K, DEPTH = 10, (5, 10, 20), 10, 10
LEAST = 0.93


@dataclass(frozen=True)
class Ground:
    """A set with all that does not change from campaign to campaign.

    ordered, beyond: the pool and the rest of its frame. relevant: the pairs that are. places: of the runs in
    the frame. reach, whole: mean recall of each run over what the frame holds, and over the collection.
    """

    choice: Choice
    ordered: pl.DataFrame
    beyond: pl.DataFrame
    relevant: pl.DataFrame
    places: Places
    reach: dict[str, float]
    whole: dict[str, float]

    @property
    def queries(self) -> int:
        return self.ordered["query_id"].n_unique()


def ground(name: str) -> Ground:
    folder = DATA / name
    qrels = read_qrels(folder / "qrels.txt").frame.filter(pl.col("relevance") > 0).select(PAIR)
    asked = qrels.select("query_id").unique()
    runs = {
        name_of(path): read_run(path).frame.join(asked, on="query_id", how="semi")
        for path in sorted((folder / "runs").iterdir())
    }
    choice = Choice(DEPTH, reach=REACH[name], audit_share=0.5)
    queries = {one.id: one.text for one in read_queries(folder / "queries.jsonl")}
    texts = [(one.id, f"{one.title} {one.text}") for one in iterate_documents(folder / "corpus.jsonl")]
    wanted = {query: queries[query] for query in asked["query_id"]}
    return ground_of(runs, qrels, choice, text_ranking(wanted, texts, REACH[name]))


def ground_of(
    runs: dict[str, pl.DataFrame], qrels: pl.DataFrame, choice: Choice, text: pl.DataFrame | None = None
) -> Ground:
    """qrels: query_id, document_id of all that is relevant."""
    ordered = ordered_pairs(runs, choice)
    beyond = pairs_beyond(runs, ordered, choice, text)
    ranks = pl.concat([ordered.select(PAIR), beyond.select(PAIR)])
    for at, run in enumerate(runs.values()):
        place = pl.col("score").rank("ordinal", descending=True).over("query_id").cast(pl.UInt32)
        ranks = ranks.join(run.select(*PAIR, place.alias(f"rank_{at}")), on=PAIR, how="left")
    places = Places(ranks, tuple(runs))
    held = qrels.join(ranks, on=PAIR, how="semi")
    reach, whole = ({run: mean_recall(places.top(run, K), of) for run in runs} for of in (held, qrels))
    return Ground(choice, ordered, beyond, held, places, reach, whole)


def mean_recall(top: pl.DataFrame, relevant: pl.DataFrame) -> float:
    """Over the queries with a relevant document."""
    hit = relevant.join(top.with_columns(hit=1), on=PAIR, how="left").with_columns(pl.col("hit").fill_null(0))
    mean = hit.group_by("query_id").agg(pl.col("hit").mean())["hit"].mean()
    return float(mean) if isinstance(mean, float) else 0.0


def static(base: Ground, drawn: int, seed: int) -> AuditSample:
    """Judged in the order of the pool."""
    budget = base.queries * (TOP + drawn)
    choice = replace(base.choice, budget=budget, audit_share=drawn / (TOP + drawn), seed=seed)
    pool = chosen_in_frame(base.ordered, base.beyond, choice)
    keys: list[bytes] = []
    for (query,), rows in pool.group_by("query_id", maintain_order=True):
        keys += frame_keys(str(query), rows["document_id"], seed)
    chosen = pool.filter(pl.col("inclusion_probability").is_not_null())
    rank = pl.Series(keys, dtype=pl.Binary).rank("ordinal").cast(pl.Int64)
    return sample_of(base, pool.with_columns(audit_rank=rank), chosen)


def adaptive(base: Ground, drawn: int, seed: int) -> AuditSample:
    """Judged as an adaptive queue goes, in batches of ten, each told the labels of what it reached."""
    truth = dict.fromkeys(base.relevant.iter_rows(), True)
    parts = []
    beyond = base.beyond.partition_by("query_id", as_dict=True)
    for (query,), pool in base.ordered.partition_by("query_id", as_dict=True).items():
        rest = beyond.get((query,), base.beyond.clear())
        names = [*pool["document_id"], *rest["document_id"]]
        finds = [
            [list(pair) for pair in zip(*row, strict=True)] for row in pool.select("runs", "ranks").rows()
        ]
        scores = pool["rrf"].to_list()
        entries = [
            Entry(
                at,
                one,
                scores[at] if at < len(finds) else 0.0,
                finds[at] if at < len(finds) else [],
                at >= len(finds),
            )
            for at, one in enumerate(names)
        ]
        share = drawn / (TOP + drawn)
        course = Course(query, "learned", len(base.places.runs), DEPTH, seed, seed, share, len(names))
        reached: list[int] = []
        audit: list[int] = []
        labels: dict[int, bool] = {}
        spent, planner = 0, Planner(course, entries)
        while spent < TOP + drawn:
            state = History(reached=reached, audit=audit, spent=spent, free=[], labels=labels)
            planner = Planner(course, entries) if spent else planner
            planner.tell(state)
            batches = planner.batches(state, TOP + drawn, 10)
            if not batches:
                break
            reached += batches[0].reached
            audit += batches[0].joined
            spent += len(batches[0].handed)
            labels |= {at: truth.get((query, names[at]), False) for at in batches[0].handed}
        place = {at: number for number, at in enumerate(audit)}
        parts.append(
            pl.DataFrame(
                {
                    "query_id": query,
                    "document_id": names,
                    "in_audit": [at in place for at in range(len(names))],
                    "inclusion_probability": [
                        1.0 if at in set(reached) else 0.5 if at in place else None
                        for at in range(len(names))
                    ],
                    "frame_size": len(names),
                    "is_beyond": [at >= len(finds) for at in range(len(names))],
                    "audit_rank": [place.get(at, len(names) + at) for at in range(len(names))],
                },
                schema_overrides={"inclusion_probability": pl.Float64},
            )
        )
    pool = pl.concat(parts)
    chosen = pool.filter(pl.col("inclusion_probability").is_not_null())
    is_row = pl.col("inclusion_probability").is_not_null() | ~pl.col("is_beyond")
    return sample_of(base, pool.filter(is_row), chosen)


def sample_of(base: Ground, pool: pl.DataFrame, judged: pl.DataFrame) -> AuditSample:
    labels = judged.select(PAIR).join(base.relevant.with_columns(relevant=True), on=PAIR, how="left")
    design = pool.with_columns(draw=pl.lit(1), known=pl.lit(False), cannot_judge=pl.lit(False))
    return audit_sample(
        design.with_columns(pl.col("frame_size").cast(pl.Int64)),
        labels.with_columns(pl.col("relevant").fill_null(False)),
    )


WAYS: dict[str, Callable[[Ground, int, int], AuditSample]] = {"static": static, "adaptive": adaptive}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--set", nargs="+", choices=REACH, default=list(REACH))
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args(arguments)
    head = "{:10} {:9} {:>6} {:>7} {:>7} {:>8} {:>6} {:>6} {:>6} {:>6}"
    print(head.format("set", "way", "judged", "shown", "bias", "coverage", "width", "error", "raw", "ratio"))
    kept = True
    for name in options.set:
        base = ground(name)
        for way in options.way:
            for drawn in DRAWN:
                kept &= cell(base, (name, way, drawn), options.draws)
    return 0 if kept else 1


def cell(base: Ground, of: tuple[str, str, int], draws: int) -> bool:
    """Print a line; whether the limit is kept."""
    name, way, drawn = of
    offs, held, widths, errors, raw_errors, shown = [], [], [], [], [], 0
    for seed in range(1, draws + 1):
        audit = WAYS[way](base, drawn, seed)
        found = recall_estimates(audit, base.places, [K])
        known = audit.sample.filter("relevant")
        for run, estimates in found.items():
            headline = estimates[f"recall@{K}"]["headline"]
            raw_errors.append(abs(mean_recall(base.places.top(run, K), known) / base.whole[run] - 1))
            value, low, high = headline["value"], headline["low"], headline["high"]
            if value is None or low is None or high is None:
                continue
            shown += 1
            offs.append(value - base.reach[run])
            held.append(low <= base.reach[run] <= high)
            widths.append(high - low)
            errors.append(abs(value / base.whole[run] - 1))
    coverage = float(np.mean(held))
    figures = (
        shown / len(raw_errors),
        np.mean(offs),
        coverage,
        np.mean(widths),
        np.mean(errors),
        np.mean(raw_errors),
    )
    words = [f"{figure:.3f}" for figure in (*figures, figures[4] / figures[5])]
    print(
        "{:10} {:9} {:>6} {:>7} {:>7} {:>8} {:>6} {:>6} {:>6} {:>6}".format(name, way, f"10+{drawn}", *words),
        flush=True,
    )
    # The runs of a campaign share its draw, so that each campaign counts once.
    return coverage >= LEAST - 2 * np.sqrt(LEAST * (1 - LEAST) / draws)


if __name__ == "__main__":
    sys.exit(main())
