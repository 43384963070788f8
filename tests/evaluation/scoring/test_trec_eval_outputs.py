"""trec_eval's own stored outputs, line by line for the measures we have."""
# ruff: noqa: E501 -- one case a line

from pathlib import Path

import numpy as np
import pytest

from evaluation import Conventions, Evaluation, evaluate
from tests.testdata import DATA, needs_data

pytestmark = needs_data

FOLDER = DATA / "trec_eval"
CUTOFFS = (1, 5, 10, 15, 20, 30, 100, 200, 500, 1000, 100_000)
MEASURES = {
    "P": "precision",
    "recall": "recall",
    "success": "success",
    "map_cut": "map",
    "ndcg_cut": "ndcg",
}
WHOLE_RUN = {"map": "map", "Rprec": "rprecision", "bpref": "bpref", "recip_rank": "mrr", "infAP": "infap"}


def stored(name: str) -> dict[tuple[str, str], float]:
    """(measure, query or `all`) -> value, from one of trec_eval's outputs."""
    lines = (line.split() for line in (FOLDER / name).read_text().splitlines())
    numbers = [(fields[0], fields[1], fields[2]) for fields in lines if len(fields) == 3]
    return {(measure, query): float(value) for measure, query, value in numbers if is_number(value)}


def readable(run: str, folder: Path) -> Path:
    """The run; `results.trunc` without the words after the tag, which trec_eval passes over and we refuse."""
    if run != "results.trunc":
        return FOLDER / run
    lines = ((FOLDER / run).read_text()).splitlines()
    (folder / run).write_text("".join(" ".join(line.split()[:6]) + "\n" for line in lines))
    return folder / run


def is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdigit()


def ours(result: Evaluation, deepest: int) -> dict[tuple[str, str], float]:
    """The same keys from an evaluation of one run."""
    (run,) = result.runs.values()
    counts, queries = run.counted.counts, result.labels.query_ids.to_list()
    figures = {
        (f"{theirs}_{k}", "all"): run.figures[f"{measure}@{k}"]["mean"]
        for theirs, measure in MEASURES.items()
        for k in CUTOFFS
        if k <= deepest
    }
    # A missing query counts as nothing judged here and as nothing unjudged there.
    unjudged = {
        (f"unj_{k}", "all"): 1 - run.figures[f"judged@{k}"]["mean"] for k in (5, 10, 20) if k <= deepest
    }
    figures |= {
        (f"{theirs}_{k}", query): run.values[measure][row, column]
        for theirs, measure in MEASURES.items()
        for column, k in enumerate(CUTOFFS)
        for row, query in enumerate(queries)
        if k <= deepest and run.scored[row]
    }
    figures |= {} if run.counted.missing.any() else unjudged
    # -M cuts the run itself, and nDCG over the whole run is nDCG at a K that no run or qrels reaches.
    whole = {
        theirs: (run.whole[measure], run.figures[measure]["mean"]) for theirs, measure in WHOLE_RUN.items()
    }
    deep = run.values["ndcg"][:, -1], run.figures[f"ndcg@{CUTOFFS[-1]}"]["mean"]
    for theirs, (values, mean) in {**whole, "ndcg": deep}.items() if deepest >= CUTOFFS[-1] else ():
        figures[theirs, "all"] = mean
        figures |= {(theirs, query): values[row] for row, query in enumerate(queries) if run.scored[row]}
    figures["num_q", "all"] = int(run.scored.sum())
    figures["num_rel", "all"] = int(counts.relevant[run.scored].sum())
    if deepest >= 1000:
        figures["num_ret", "all"] = int(counts.depth[run.scored].sum())
        figures["num_rel_ret", "all"] = int(counts.hits[run.scored, -1].sum())
    return figures


@pytest.mark.parametrize(
    ("output", "qrels", "run", "conventions", "deepest", "at_least"),
    [
        ("out.test", "qrels.test", "results.test", Conventions.preset("trec_eval"), 100_000, 17),
        ("out.test", "qrels.test.with-comments", "results.test", Conventions.preset("trec_eval"), 100_000, 17),
        ("out.comment.test", "qrels.comment.test", "results.comment.test.gz", Conventions.preset("trec_eval"), 100_000, 17),
        ("out.test.a", "qrels.test", "results.test", Conventions.preset("trec_eval"), 100_000, 52),
        ("out.test.aq", "qrels.test", "results.test", Conventions.preset("trec_eval"), 100_000, 187),
        ("out.test.aqc", "qrels.test", "results.trunc", Conventions.preset("trec_eval-c"), 100_000, 184),
        # -M100 cuts the run at 100, so that only cutoffs up to there can be compared.
        ("out.test.aqcM", "qrels.test", "results.trunc", Conventions.preset("trec_eval-c"), 100, 110),
        ("out.test.aql", "qrels.rel_level", "results.test", Conventions.preset("trec_eval", min_relevance=2), 100_000, 187),
    ],
)  # fmt: skip
def test_a_stored_output_is_reproduced_to_its_last_digit(
    output: str, qrels: str, run: str, conventions: Conventions, deepest: int, at_least: int, tmp_path: Path
) -> None:
    expected = stored(output)
    names = [*WHOLE_RUN.values(), *(f"{name}@{k}" for name in MEASURES.values() for k in CUTOFFS)]
    result = evaluate(FOLDER / qrels, [readable(run, tmp_path)], CUTOFFS, names, conventions)

    computed = ours(result, deepest)
    shared = computed.keys() & expected.keys()

    assert len(shared) >= at_least
    for key in shared:
        assert computed[key] == pytest.approx(expected[key], abs=0.0000501), key


def test_every_figure_of_ours_is_a_number(tmp_path: Path) -> None:
    result = evaluate(FOLDER / "qrels.test", [FOLDER / "results.test"], CUTOFFS)

    assert np.isfinite([figure["mean"] for figure in result.runs["results.test"].figures.values()]).all()
