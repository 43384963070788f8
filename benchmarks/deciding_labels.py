"""How many labels it takes to decide which of two runs has the higher recall, on the runs of dl19.

Every run's first START documents are judged, as a pool would have it; relevant is a label of 2 or more, and
what NIST did not judge is not. Then, for each two runs, documents that only one of them has in its first K
are judged in the order of `evaluation.comparisons.deciding`, chosen anew after every ten labels, until the
sign is decided; and by whole sets, chosen anew after each. Beside it: judging the rest of both first K.

    python benchmarks/deciding_labels.py [FOLDER]
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from evaluation.comparisons.deciding import Standing, deciding_set, expected_share
from pooling.formats import read_qrels, read_run
from pooling.ranking.ranking import order_run

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "dl19"
PAIR = ["query_id", "document_id"]
CASES = ((5, 10), (5, 20), (10, 20), (10, 50))
RELEVANT = 2


def tops_of(folder: Path, depth: int) -> dict[str, pl.DataFrame]:
    """query_id, document_id, rank of each run's first documents."""
    return {
        path.stem: order_run(read_run(path).frame, depth=depth).select(
            *PAIR, pl.col("position").cast(pl.Int64).alias("rank")
        )
        for path in sorted((folder / "runs").glob("*.run"))
    }


def standing(pairs: pl.DataFrame, known: pl.DataFrame) -> Standing:
    """How two runs stand: `pairs` has PAIR, mine, other (whether it is in the run's first K), rank and
    is_relevant, `known` the pairs with a label."""
    marked = pairs.join(known.with_columns(known=True), on=PAIR, how="left").with_columns(
        pl.col("known").fill_null(False)
    )
    is_found = pl.col("known") & pl.col("is_relevant")
    is_alone = pl.col("mine") != pl.col("other")
    table = (
        marked.group_by("query_id")
        .agg(
            relevant=is_found.sum().cast(pl.Float64),
            ahead=(is_found & pl.col("mine")).sum().cast(pl.Float64)
            - (is_found & pl.col("other")).sum().cast(pl.Float64),
            further=(~pl.col("known") & ~is_alone).sum().cast(pl.Float64),
        )
        .filter(pl.col("relevant") > 0)
        .sort("query_id")
        .with_row_index("query")
    )
    alone = marked.filter(~pl.col("known") & is_alone).join(table, on="query_id")
    return Standing(
        table["query_id"].to_list(),
        table["ahead"].to_numpy(),
        table["relevant"].to_numpy(),
        table["further"].to_numpy(),
        alone.select("query", "document_id", pl.col("mine").alias("is_first"), "rank").sort(
            "query", "rank", "document_id"
        ),
    )


def labels_until_decided(pairs: pl.DataFrame, known: pl.DataFrame, at_once: int) -> tuple[int, int, int]:
    """(labels given, rounds, the sign in the end or 0), with at most so many labels between two looks."""
    judged = pairs.join(known, on=PAIR)
    hits = float(judged.filter("is_relevant")["both"].sum())
    given = own = rounds = 0
    while True:
        now = standing(pairs, known)
        share = expected_share(hits, float(judged["both"].sum()), own, given)
        chosen = deciding_set(now, share).head(at_once)
        if chosen.is_empty():
            return given, rounds, now.decided
        ids = pl.Series("query_id", now.query_ids).gather(chosen["query"])
        asked = chosen.select("document_id").with_columns(ids).select(PAIR)
        own += int(asked.join(pairs, on=PAIR)["is_relevant"].sum())
        given, rounds = given + asked.height, rounds + 1
        known = pl.concat([known, asked])


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    qrels = read_qrels(folder / "qrels.txt").frame
    relevant = qrels.filter(pl.col("relevance") >= RELEVANT).select(*PAIR, is_relevant=pl.lit(True))
    print(
        "judged to  K  pairs  decided  by tens  by sets  sets  the rest  tens/rest  sets/rest  fewer (tens)"
    )
    for start, k in CASES:
        tops = tops_of(folder, k)
        pool = pl.concat([top.filter(pl.col("rank") <= start).select(PAIR) for top in tops.values()]).unique()
        rows = []
        for one, other in combinations(tops, 2):
            mine, others = (
                tops[name].select(*PAIR, pl.col("rank").alias(word))
                for name, word in ((one, "a"), (other, "b"))
            )
            both = pl.concat([mine.select(PAIR), others.select(PAIR), pool]).unique(maintain_order=True)
            pairs = (
                both.join(mine, on=PAIR, how="left")
                .join(others, on=PAIR, how="left")
                .join(relevant, on=PAIR, how="left")
                .with_columns(
                    pl.col("is_relevant").fill_null(False),
                    mine=pl.col("a").is_not_null(),
                    other=pl.col("b").is_not_null(),
                    rank=pl.min_horizontal("a", "b"),
                )
                .with_columns(both=pl.col("mine").cast(pl.Int64) + pl.col("other").cast(pl.Int64))
                .sort(PAIR)
            )
            rest = pairs.filter(pl.col("both") > 0).join(pool, on=PAIR, how="anti").height
            by_tens, _, _ = labels_until_decided(pairs, pool, 10)
            rows.append((by_tens, *labels_until_decided(pairs, pool, 1_000_000), rest))
        tens, given, rounds, signs, rests = (np.array(column) for column in zip(*rows, strict=True))
        print(
            f"{start:9} {k:2} {len(rows):6} {np.count_nonzero(signs):8} {tens.mean():8.0f} "
            f"{given.mean():8.0f} {rounds.mean():5.1f} {rests.mean():9.0f} "
            f"{tens.mean() / rests.mean():10.2f} {given.mean() / rests.mean():10.2f} "
            f"{np.mean(tens < rests):13.0%}"
        )


if __name__ == "__main__":
    main()
