"""Means of drawn queries, taken back to their log: by hand, on a real log, and over many draws."""

from __future__ import annotations

import csv
import io
import json
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
    assert "speak for 38% of it." in " ".join(weighted_notes(found.settings["weights"]))


def test_of_distinct_queries_no_more_is_claimed_than_the_table_holds() -> None:
    queries = [drawn(f"q{n}", 4, 0.5, share_of_log=0.25) for n in (1, 2)]
    found = weighted(evaluate(LABELS, RUN, k=2), sample_of(queries), "queries", today=TODAY)
    first, *_ = weighted_notes(found.settings["weights"])
    assert first.startswith("Weighted to the distinct queries of the log's table (")
    assert first.endswith("speak for 100% of them, and for none that the table left out.")


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
    sizes, draws = log["frequency"], 800
    names = np.array(strata_by_traffic(sizes.tolist()))
    strata = {name: np.flatnonzero(names == name) for name in ("head", "torso", "tail")}
    shares = allocated({name: sizes[rows] for name, rows in strata.items()}, n)
    chances = {name: inclusion_probabilities(sizes[rows], shares[name]) for name, rows in strata.items()}
    truths = {"traffic": expected["truth_traffic"], "queries": expected["truth_per_query"]}
    rng, held = np.random.default_rng(20), {name: np.zeros((draws, 2)) for name in truths}
    for at in range(draws):
        numbers, rows, chance, stratum = rng.random(len(sizes)), [], [], []
        for number, (name, members) in enumerate(strata.items()):
            chosen = sequential_poisson(numbers[members], chances[name], shares[name])
            rows.append(members[chosen])
            chance.append(chances[name][chosen])
            stratum.append(np.full(len(chosen), number))
        row = np.concatenate(rows)
        for name, importance in (("traffic", sizes[row]), ("queries", np.ones(len(row)))):
            design = Design(importance, np.concatenate(chance), np.concatenate(stratum))
            found = weighted_means(log["recall"][row][:, None], design)
            low, high = found.limits(0.95)
            held[name][at] = found.mean[0], low[0] <= truths[name] <= high[0]
    for name, truth in truths.items():
        means, covered = held[name].T
        assert abs(means.mean() - truth) <= 3 * means.std() / np.sqrt(draws), name
        assert covered.mean() >= 0.93, name


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
