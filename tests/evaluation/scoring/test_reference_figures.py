"""Every recall and precision figure of the reference collections, to four decimals."""

import gzip
import json
from typing import Any

import pytest

from evaluation import Conventions, Evaluation, evaluate
from evaluation.scoring.conventions import Missing
from pooling.formats import name_of, read_qrels, read_run
from tests.testdata import DATA, needs_data

pytestmark = needs_data

COLLECTIONS = ("adi", "cranfield", "covid-r3", "dl19")
CUTOFFS = (5, 10, 20, 50, 100, 1000)
OURS = {"P": "precision", "recall": "recall", "success": "success", "ndcg_cut": "ndcg"}
WHOLE_RUN = {"map": "map", "recip_rank": "mrr"}
HALF_OF_THE_LAST_DIGIT = 0.00005


def our_key(name: str) -> tuple[str, int | None] | None:
    """`recall_10` -> ("recall", 10), `map` -> ("map", None); None for what is not among these measures."""
    if name in WHOLE_RUN:
        return WHOLE_RUN[name], None
    measure, _, k = name.rpartition("_")
    return (OURS[measure], int(k)) if measure in OURS and k.isdigit() else None


def levels_of(expected: dict[str, Any]) -> list[int]:
    """The values of `rel>=N` for which the figures were made."""
    named = {key for run in expected["runs"].values() for key in run if key.startswith("rel>=")}
    return sorted(int(key.removeprefix("rel>=")) for key in named)


@pytest.fixture(scope="module", params=COLLECTIONS)
def collection(request: pytest.FixtureRequest) -> dict[str, Any]:
    folder = DATA / request.param
    runs = {name_of(path): read_run(path).frame for path in sorted((folder / "runs").iterdir())}
    expected = json.loads((folder / "expected.json").read_text())
    per_topic = folder / "expected.per-topic.json.gz"
    return {
        "qrels": read_qrels(folder / "qrels.txt").frame,
        "runs": runs,
        "expected": expected,
        "per_query": json.loads(gzip.decompress(per_topic.read_bytes())) if per_topic.exists() else {},
        "evaluated": {},
    }


def evaluated(collection: dict[str, Any], level: int, missing: Missing) -> Evaluation:
    """Computed once for all tests of a collection."""
    done: dict[tuple[int, str], Evaluation] = collection["evaluated"]
    if (level, missing) in done:
        return done[level, missing]
    conventions = Conventions.preset("trec_eval-9", min_relevance=level, missing=missing)
    measures = (*OURS.values(), *WHOLE_RUN.values())
    done[level, missing] = evaluate(
        collection["qrels"], collection["runs"], CUTOFFS, measures, conventions, bootstrap_samples=1
    )
    return done[level, missing]


@pytest.mark.parametrize(("figure", "missing"), [("mean", "skip"), ("mean_all", "zero")])
def test_the_means_are_those_of_trec_eval(collection: dict[str, Any], figure: str, missing: Missing) -> None:
    compared = 0
    for level in levels_of(collection["expected"]):
        result = evaluated(collection, level, missing)
        for run, levels in collection["expected"]["runs"].items():
            # `mean_all` is given where it differs from `mean`.
            figures = levels[f"rel>={level}"]
            for name, value in (figures.get(figure) or figures["mean"]).items():
                if key := our_key(name):
                    assert result.figure(run, *key)["mean"] == pytest.approx(
                        value, abs=HALF_OF_THE_LAST_DIGIT
                    ), (run, name)
                    compared += 1
    assert compared >= 9 * len(collection["runs"])


def test_the_values_of_each_query_are_those_of_trec_eval(collection: dict[str, Any]) -> None:
    for level in levels_of(collection["expected"]) if collection["per_query"] else ():
        table = evaluated(collection, level, "skip").per_query_frame().drop_nulls("value")
        ours = {row[:4]: row[4] for row in table.iter_rows()}
        expected = {
            (run, query, *key): value
            for run, levels in collection["per_query"].items()
            for query, figures in levels[f"rel>={level}"].items()
            for name, value in figures.items()
            if (key := our_key(name))
        }
        assert expected
        assert {key: ours[key] for key in expected} == pytest.approx(expected, abs=HALF_OF_THE_LAST_DIGIT)
