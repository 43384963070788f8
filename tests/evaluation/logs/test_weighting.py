"""Means of drawn queries, taken back to their log: by hand, on a real log, and over many draws."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluation import evaluate, k_reaching, tradeoff_table
from evaluation.logs.applying import weighted, weighted_notes
from evaluation.logs.design import Target, sample_of
from evaluation.measures.hajek import Design, effective_size, ratio_means, weighted_means
from evaluation.measures.student import student_limit
from evaluation.rendering.formats import render
from pooling.formats.records import QueryRecord
from pooling.logs.drawing import allocated, inclusion_probabilities, sequential_poisson, strata_by_traffic
from tests.testdata import DATA, needs_data

TODAY = date(2026, 11, 20)


def drawn(query: str, size: float, pi: float, stratum: str = "all", **more: Any) -> QueryRecord:
    sampling = {"stratum": stratum, "size": size, "pi": pi, "window": "2026-10", **more}
    return QueryRecord(query, query, {"sampling": sampling})


SAMPLE = [drawn("q1", 10, 1.0), drawn("q2", 2, 0.5), drawn("q3", 1, 0.25)]
LABELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1}, "other": {"a": 1}}
RUN = {"run": {"q1": ["a"], "q2": ["a", "x"], "q3": ["x", "y"], "other": ["a"]}}


def test_means_go_back_to_traffic_or_to_queries() -> None:
    result = evaluate(LABELS, RUN, k=2)
    assert result.figure("run", "recall", 2)["mean"] == pytest.approx(2.5 / 4)
    traffic = weighted(result, sample_of(SAMPLE), "traffic", today=TODAY)
    # Weights size ÷ pi: 10, 4, 4; recalls 1, .5, 0.
    assert traffic.figure("run", "recall", 2)["mean"] == pytest.approx(12 / 18)
    assert traffic.figure("run", "recall", 2)["micro"] == pytest.approx((10 + 4) / (10 + 8 + 4))
    assert traffic.figure("run", "recall", 2)["queries"] == 3
    queries = weighted(result, sample_of(SAMPLE), "queries", today=TODAY)
    assert queries.figure("run", "recall", 2)["mean"] == pytest.approx((1 + 2 * 0.5) / (1 + 2 + 4))
    line = traffic.convention_line("run", "recall", 2)
    assert "weights: traffic 2026-10, Hájek" in line
    assert "3 of 4 queries (1 outside the draw) · missing = 0" in line
    how = traffic.settings["weights"]
    assert (how["strangers"], how["age_days"]) == (1, 20)
    assert how["effective"] == pytest.approx(18**2 / (100 + 16 + 16))


@pytest.mark.parametrize("target", ["traffic", "queries"])
def test_the_choice_of_k_is_that_of_the_log(target: Target) -> None:
    result = evaluate(LABELS, RUN, k=(1, 2), measures=("recall", "precision", "f1"))
    found = weighted(result, sample_of(SAMPLE), target, today=TODAY)
    for row in tradeoff_table(found).to_dict("records"):
        for measure in ("recall", "precision", "f1"):
            assert row[measure] == pytest.approx(found.figure("run", measure, row["k"])["mean"])
    # Of the traffic 10 of 18 have all at the first place; each query once: 2 of 4 and a half.
    assert k_reaching(result, "run", 0.6) == 1
    assert k_reaching(found, "run", 0.6) == (1 if target == "traffic" else None)
    assert k_reaching(found, "run", 0.67) is None


def test_bounds_are_weighted_too() -> None:
    labels = {"q1": {"a": 1}, "q2": {"a": 1}}
    result = evaluate(labels, {"run": {"q1": ["a", "x"], "q2": ["y", "z"]}}, k=2)
    found = weighted(result, sample_of(SAMPLE[:2]), "traffic", today=TODAY).figure("run", "recall", 2)
    # q1: recall 1 whatever x is; q2: 0, or both of y and z and a: 2/3.
    assert found["bounds"] == pytest.approx([10 / 14, (10 + 4 * 2 / 3) / 14])


def test_dropped_and_unlabelled_queries_are_spoken_for_by_their_stratum() -> None:
    queries = [
        drawn("q1", 4, 0.5),
        drawn("q2", 4, 0.5),
        drawn("q9", 4, 0.5),
        drawn("q8", 4, 0.5, dropped="personal"),
    ]
    result = evaluate(LABELS, RUN, k=2)
    found = weighted(result, sample_of([*queries, drawn("q3", 8, 1.0, "top")]), "traffic", today=TODAY)
    # q1 and q2 speak for four: 16 each; q3 for itself.
    assert found.figure("run", "recall", 2)["mean"] == pytest.approx((16 + 8) / 40)
    how = found.settings["weights"]
    assert (how["dropped"], how["unlabelled"]) == (1, 1)
    assert "1 drawn query was dropped and 1 has no label" in " ".join(weighted_notes(how))


def test_queries_without_a_label_or_left_out_of_the_log_are_not_spoken_for() -> None:
    queries = [drawn(f"q{n}", 4, 0.5, share_of_log=0.75) for n in (1, 2, 8, 9)]
    queries[3] = drawn("q9", 4, 0.5, share_of_log=0.75, dropped="personal")
    found = weighted(evaluate(LABELS, RUN, k=2), sample_of(queries), "traffic", today=TODAY)
    assert found.settings["weights"]["speaks_for"] == pytest.approx(0.75 * 2 / 4)
    assert "speak for 38 % of it." in " ".join(weighted_notes(found.settings["weights"]))


def test_of_distinct_queries_no_more_is_claimed_than_the_table_holds() -> None:
    queries = [drawn(f"q{n}", 4, 0.5, share_of_log=0.25) for n in (1, 2)]
    found = weighted(evaluate(LABELS, RUN, k=2), sample_of(queries), "queries", today=TODAY)
    first, *_ = weighted_notes(found.settings["weights"])
    assert first.startswith("Weighted to the distinct queries of the log's table (")
    assert first.endswith("speak for 100 % of them, and for none that the table left out.")


def test_an_old_log_does_not_speak_for_the_traffic() -> None:
    old = weighted(evaluate(LABELS, RUN, k=2), sample_of(SAMPLE), "traffic", today=date(2027, 3, 1))
    assert "weights: as asked in 2026-10, 121 days ago" in old.convention_line("run", "recall", 2)
    assert "The log ended 121 days ago" in " ".join(weighted_notes(old.settings["weights"]))


def test_a_census_has_no_variance_and_a_lone_query_joins_its_neighbour() -> None:
    whole = Design(np.ones(4), np.ones(4), np.zeros(4, dtype=np.int64))
    values = np.array([[0.0], [1.0], [1.0], [0.0]])
    assert weighted_means(values, whole).error.tolist() == [0.0]
    lone = Design(np.ones(4), np.full(4, 0.5), np.array([0, 0, 0, 1]))
    together = Design(np.ones(4), np.full(4, 0.5), np.zeros(4, dtype=np.int64))
    assert weighted_means(values, lone).error == pytest.approx(weighted_means(values, together).error)
    assert effective_size(np.ones(7)) == 7


def test_equal_probabilities_give_the_variance_of_simple_random_sampling() -> None:
    rng = np.random.default_rng(1)
    values = rng.random((30, 1))
    design = Design(np.ones(30), np.full(30, 0.1), np.zeros(30, dtype=np.int64))
    found = weighted_means(values, design)
    assert found.error[0] ** 2 == pytest.approx((1 - 0.1) * values.var(ddof=1) / 30)
    ratio = ratio_means(
        values, np.full((30, 1), 2.0), Design(np.ones(30), np.full(30, 0.1), np.zeros(30, dtype=np.int64))
    )
    assert ratio.mean[0] == pytest.approx(values.mean() / 2)
    assert ratio.error[0] == pytest.approx(found.error[0] / 2)


LOG = np.floor(3_000 / np.arange(1, 3_001)) + 1


def drawn_from(
    log: np.ndarray, n: int, seed: int, draws: int, target: Target
) -> Iterator[tuple[np.ndarray, Design]]:
    """Rows and design of one draw of the log after the other."""
    names, rng = np.array(strata_by_traffic(log.tolist())), np.random.default_rng(seed)
    strata = [np.flatnonzero(names == name) for name in ("head", "torso", "tail")]
    many = list(allocated({str(at): log[rows] for at, rows in enumerate(strata)}, n).values())
    chances = [inclusion_probabilities(log[rows], size) for rows, size in zip(strata, many, strict=True)]
    for _ in range(draws):
        chosen = [
            sequential_poisson(rng.random(len(chance)), chance, size)
            for chance, size in zip(chances, many, strict=True)
        ]
        row = np.concatenate([rows[some] for rows, some in zip(strata, chosen, strict=True)])
        chance = np.concatenate([one[some] for one, some in zip(chances, chosen, strict=True)])
        importance = log[row] if target == "traffic" else np.ones(len(row))
        yield row, Design(importance, chance, np.repeat(np.arange(3), [len(some) for some in chosen]))


@pytest.mark.parametrize("target", ["traffic", "queries"])
@pytest.mark.parametrize(("share", "n"), [(0.97, 20), (0.85, 20), (0.95, 50)])
def test_few_queries_that_weigh_much_do_not_promise_too_much(share: float, n: int, target: Target) -> None:
    """Most queries find all, and the rare ones, which weigh most, are few in a draw."""
    values = (np.random.default_rng(3).random(len(LOG)) < share).astype(np.float64)
    truth = np.average(values, weights=LOG if target == "traffic" else None)
    held = []
    for rows, design in drawn_from(LOG, n, 4, 150, target):
        low, high = weighted_means(values[rows][:, None], design).limits(0.95)
        held.append(low[0] <= truth <= high[0])
    assert np.mean(held) >= 0.92


def sampled(*weights: float, stratum: Sequence[int] = ()) -> Design:
    numbers = np.array(stratum or [0] * len(weights), dtype=np.int64)
    return Design(np.array(weights), np.full(len(weights), 1e-6), numbers)


def test_all_or_nothing_in_every_drawn_query_is_worth_as_many_as_their_weights() -> None:
    design = sampled(*[1.0] * 12, *[5.0] * 4)
    unlike = 1 - 0.025 ** (1 / effective_size(design.weights))
    limits = weighted_means(np.repeat([[1.0, 0.0]], 16, axis=0), design).limits(0.95)
    assert np.allclose(limits, [[1 - unlike, 0], [1, unlike]])
    assert unlike == pytest.approx(1 - 0.025 ** (112 / 32**2))
    few = weighted_means(np.ones((9, 1)), sampled(*[1.0] * 9)).limits(0.95)
    assert np.isnan(few).all()


@pytest.mark.parametrize(
    ("weights", "values", "freedom", "variance"),
    [
        # Heavy ones are alike, light ones vary: s² of 12 ones and 8 zeros.
        ([10.0] * 4 + [1.0] * 16, [1.0] * 12 + [0.0] * 8, 6, 20 / 19 * 0.6 * 0.4),
        # One heavier still, and what varies weighs 10 of 46 in the middle.
        ([20.0] + [5.0] * 4 + [1.0] * 6, [1, 0, 0, 1, 1] + [1] * 6, 3, 11 / 10 * (10 / 46) * (36 / 46)),
    ],
)
def test_heavy_queries_are_taken_to_vary_as_all_do(
    weights: list[float], values: list[float], freedom: int, variance: float
) -> None:
    design = sampled(*weights)
    expected = student_limit(0.95, freedom) * np.sqrt(variance / effective_size(design.weights))
    found = weighted_means(np.array(values, dtype=np.float64)[:, None], design)
    assert found.reach(0.95)[0] == pytest.approx(expected, rel=1e-5)
    assert found.error[0] < np.sqrt(variance / effective_size(design.weights))


def test_a_stratum_that_is_all_alike_widens_the_side_on_which_others_could_lie() -> None:
    design = sampled(*[1.0] * 20, stratum=[0] * 15 + [1] * 5)
    varied = np.tile([0.4, 0.6, 0.5], 5)
    columns = np.stack([np.append(varied, np.full(5, value)) for value in (0.5, 1.0, 0.0)], axis=1)
    found = weighted_means(columns, design)
    low, high = found.limits(0.95)
    reach, unlike = found.reach(0.95), 0.25 * (1 - 0.025 ** (1 / 5))
    assert (found.mean - low)[1] >= np.hypot(reach[1], unlike) > (high - found.mean)[1]
    assert (high - found.mean)[2] >= np.hypot(reach[2], unlike) > (found.mean - low)[2]
    assert (high - low)[0] < unlike


def test_the_p_value_is_the_level_outside_of_the_interval_that_ends_at_0() -> None:
    design = sampled(*[1.0] * 20, stratum=[0] * 10 + [1] * 10)
    varied = np.tile([0.4, -0.1, 0.1, 0.0, 0.2], 2)
    columns = [np.append(varied, np.full(10, value)) for value in (0.0, 0.15, 1.0)]
    found = weighted_means(np.stack([*columns, np.zeros(20), np.ones(20)], axis=1), design)
    p_values = found.p_values()
    for column in (0, 2):
        low, _ = found.limits(1 - p_values[column], -1.0)
        assert low[column] == pytest.approx(0, abs=1e-6)
    assert p_values[3] == 1
    # Each stratum reaches √½ of the way to 0: 2 · ½ (1 - (p/2)^(1/10)) = √½.
    assert p_values[4] == pytest.approx(2 * (1 - np.sqrt(0.5)) ** 10)


@needs_data
def test_the_reference_estimates_of_a_real_log() -> None:
    expected, log = reference()
    chance = inclusion_probabilities(log["frequency"], 100)
    members = sequential_poisson(log["prn"], chance, 100)
    for name, importance in (("traffic", log["frequency"]), ("per_query", np.ones(len(chance)))):
        design = Design(importance[members], chance[members], np.zeros(100, dtype=np.int64))
        found = weighted_means(log["recall"][members][:, None], design)
        assert found.mean[0] == pytest.approx(expected[f"hajek_{name}"], abs=1e-6)
        assert found.error[0] == pytest.approx(expected[f"se_{name}"], abs=1e-6)


def reference() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    folder = DATA / "living/sampling"
    with (folder / "chorus_queries.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    log = {name: np.array([float(row[name]) for row in rows]) for name in ("frequency", "recall", "prn")}
    return json.loads((folder / "expected.json").read_text()), log


@needs_data
@pytest.mark.parametrize("n", [100, 200])
def test_intervals_hold_the_truth_over_many_draws(n: int) -> None:
    expected, log = reference()
    truths: dict[Target, float] = {
        "traffic": expected["truth_traffic"],
        "queries": expected["truth_per_query"],
    }
    for target, truth in truths.items():
        means, held = [], []
        for rows, design in drawn_from(log["frequency"], n, 20, 800, target):
            found = weighted_means(log["recall"][rows][:, None], design)
            low, high = found.limits(0.95)
            means.append(found.mean[0])
            held.append(low[0] <= truth <= high[0])
        assert abs(np.mean(means) - truth) <= 3 * np.std(means) / np.sqrt(len(means)), target
        assert np.mean(held) >= 0.93, target


@pytest.fixture
def files(tmp_path: Path) -> Path:
    lines = [json.dumps({"_id": one.id, "text": one.text, "metadata": one.metadata}) for one in SAMPLE]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines))
    (tmp_path / "plain.jsonl").write_text('{"_id": "q1", "text": "a"}\n')
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {one} 1\n" for query, held in LABELS.items() for one in held)
    )
    (tmp_path / "one.run").write_text(
        "".join(
            f"{q} Q0 {d} {i} {9 - i} t\n" for q, held in RUN["run"].items() for i, d in enumerate(held, 1)
        )
    )
    return tmp_path


def ran(folder: Path, *options: str) -> tuple[str, str]:
    output, errors = io.StringIO(), io.StringIO()
    named = [str(folder / one) if one.endswith((".jsonl", ".txt", ".run")) else one for one in options]
    call_command("evaluate", *named, stdout=output, stderr=errors)
    return output.getvalue(), errors.getvalue()


def test_the_command_weighs_and_says_so(files: Path) -> None:
    asked = ("--queries", "queries.jsonl", "--weights", "traffic", "--k", "2", "--format", "json")
    told, notes = ran(files, "qrels.txt", "one.run", *asked)
    result = json.loads(told)
    assert result["runs"]["one"]["recall@2"]["mean"] == pytest.approx(12 / 18)
    assert result["conventions"]["weights"]["target"] == "traffic"
    assert "1 labelled query is outside the draw" in notes


def test_the_table_says_how_intervals_of_a_draw_are_made(tmp_path: Path) -> None:
    queries = [drawn(f"q{at}", 4, 0.5) for at in range(12)]
    result = evaluate({query.id: {"a": 1} for query in queries}, {"run": {q.id: ["a"] for q in queries}}, k=1)
    found = weighted(result, sample_of(queries), "traffic", today=TODAY)
    how = "Student’s t, with the variance of the draw (with Clopper and Pearson’s for strata in which every"
    assert f"[low, high]: 95 % interval, {how} query has 0 or every one 1)." in render(found, "table")
    few = weighted(evaluate(LABELS, RUN, k=2), sample_of(SAMPLE), "traffic", today=TODAY)
    assert "interval, not shown for fewer than 10 queries." in render(few, "table")


@pytest.mark.parametrize("target", ["traffic", "queries"])
def test_a_tag_alone_has_the_figures_that_it_has_among_all(files: Path, target: str) -> None:
    ids = [f"q{number:02}" for number in range(36)]
    draws = [drawn(query, 5 + at, 0.25 * (1 + at % 3), f"s{at % 3}") for at, query in enumerate(ids)]
    records = [
        {"_id": one.id, "text": one.text, "metadata": {**one.metadata, "tags": ["ab"[at % 5 > 2]]}}
        for at, one in enumerate(draws)
    ]
    (files / "queries.jsonl").write_text("\n".join(map(json.dumps, records)))
    (files / "qrels.txt").write_text("".join(f"{query} 0 {one} 1\n" for query in ids for one in "abc"))
    found = [(query, "abc"[place]) for at, query in enumerate(ids) for place in range(at % 4)]
    (files / "one.run").write_text("".join(f"{query} Q0 {one} 0 1 t\n" for query, one in found))
    asked = ("--queries", "queries.jsonl", "--weights", target, "--k", "2", "--format", "json")
    among = json.loads(ran(files, "qrels.txt", "one.run", *asked, "--by-tag", "a", "b")[0])["strata"]
    for tag in "ab":
        told, notes = ran(files, "qrels.txt", "one.run", *asked, "--tag", tag)
        figure = json.loads(told)["runs"]["one"]["recall@2"]
        assert figure["low"] is not None
        whole = among[tag]["runs"]["one"]["recall@2"]
        for name in ("mean", "low", "high", "micro", "queries"):
            assert figure[name] == pytest.approx(whole[name]), name
        assert "no label" not in notes
        assert "outside the draw" not in notes


def test_the_ceiling_of_a_ranker_is_weighted_too(files: Path) -> None:
    asked = ("--queries", "queries.jsonl", "--weights", "traffic", "--k", "2", "--stage1", "one.run")
    told = json.loads(ran(files, "qrels.txt", "one.run", *asked, "--format", "json")[0])
    assert told["ceilings"]["one"]["10"]["recall"]["found"] == told["runs"]["one"]["recall@2"]["mean"]
    assert "weighted as the other means" in ran(files, "qrels.txt", "one.run", *asked)[0].replace("\n", " ")


WRONG = {
    "--weights needs the drawn queries": ("--weights", "traffic"),
    "--by is not weighted": ("--weights", "traffic", "--queries", "queries.jsonl", "--by", "tag"),
    "has no metadata.sampling": ("--weights", "queries", "--queries", "plain.jsonl"),
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_options_are_one_sentence(files: Path, told: str) -> None:
    with pytest.raises(CommandError, match=told):
        ran(files, "qrels.txt", "one.run", *WRONG[told])


@pytest.mark.parametrize(
    ("sample", "told"),
    [
        ([drawn("q1", 10, 1.5)], "above 1"),
        ([drawn("q1", 0, 1.0)], "size in metadata.sampling is not a number above 0"),
        ([drawn("q1", 1, 1.0, dropped="nonsense")], "No query of the draw is left"),
    ],
)
def test_draws_that_are_none_are_told(sample: list[QueryRecord], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        sample_of(sample)


def test_a_draw_without_labels_is_told() -> None:
    with pytest.raises(ValueError, match="No query of the draw has a label"):
        weighted(evaluate(LABELS, RUN, k=2), sample_of([drawn("q9", 1, 1.0)]), "traffic", today=TODAY)
