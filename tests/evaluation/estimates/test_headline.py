"""What is read first, by what it rests on: from files, on a small collection whose truth is known."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import call_command

import soundings
from evaluation.comparisons.answer import Answer
from evaluation.comparisons.wording import recall_in_words

QUERIES, DOCUMENTS, DEPTH = 24, 80, 5


class Campaign:
    """Two runs that rank well at the top, over queries with twelve relevant documents each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        random = Random(7)
        self.relevant: dict[str, set[str]] = {}
        ranked: dict[str, list[tuple[str, str, int]]] = {"one": [], "two": []}
        for number in range(QUERIES):
            query = f"q{number:02}"
            documents = [f"d{place:02}" for place in range(DOCUMENTS)]
            self.relevant[query] = set(random.sample(documents, 12))
            for rows in ranked.values():
                order = sorted(
                    documents,
                    key=lambda one: random.random() - (0.5 if one in self.relevant[query] else 0.0),
                )
                rows += [(query, document, rank) for rank, document in enumerate(order, 1)]
        for run, rows in ranked.items():
            text = "".join(f"{q} Q0 {d} {rank} {-rank} {run}\n" for q, d, rank in rows)
            (folder / f"{run}.run").write_text(text)
        self.top = {run: {(q, d) for q, d, rank in rows if rank <= DEPTH} for run, rows in ranked.items()}

    def pool(self, *options: str) -> list[dict[str, str]]:
        file = self.folder / "pool.tsv"
        call_command("pool", *self.runs, "--depth", str(DEPTH), *options, "--output", str(file))
        header, *lines = file.read_text().splitlines()
        return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]

    @property
    def runs(self) -> list[str]:
        return [str(self.folder / f"{name}.run") for name in ("one", "two")]

    def judge(self, rows: list[dict[str, str]]) -> None:
        """Label what the pool chose of these rows."""
        chosen = [row for row in rows if row["inclusion_probability"]]
        lines = [
            f"{row['query_id']} 0 {row['document_id']} "
            f"{int(row['document_id'] in self.relevant[row['query_id']])}\n"
            for row in chosen
        ]
        (self.folder / "qrels.txt").write_text("".join(lines))

    def evaluated(self, *options: str, form: str = "json") -> Any:
        out = StringIO()
        arguments = [str(self.folder / "qrels.txt"), *self.runs, "--format", form, *options]
        call_command("evaluate", *arguments, stdout=out, stderr=StringIO())
        return json.loads(out.getvalue()) if form == "json" else out.getvalue()

    def with_pool(self, *options: str, form: str = "json") -> Any:
        return self.evaluated("--pool", str(self.folder / "pool.tsv"), *options, form=form)

    def truth(self, run: str) -> float:
        """Mean recall at the depth over all relevant documents of the collection."""
        shares = [
            sum((query, one) in self.top[run] for one in relevant) / len(relevant)
            for query, relevant in self.relevant.items()
        ]
        return sum(shares) / len(shares)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign(tmp_path)


REACH = ("--reach", "80", "--audit-share", "0.5", "--budget", str(QUERIES * 20), "--seed", "1")


def test_an_answered_audit_over_the_collection_tells_the_truth_first(campaign: Campaign) -> None:
    rows = campaign.pool(*REACH)
    campaign.judge(rows)

    result = campaign.with_pool("--k", str(DEPTH))
    answer = result["answer"]

    assert {row["frame_size"] for row in rows} == {str(DOCUMENTS)}
    assert answer["basis"] == "estimate"
    truth = campaign.truth(answer["run"])
    assert answer["low"] <= truth <= answer["high"]
    raw = answer["found"]["recall"]
    assert raw > 1.3 * truth, "what was found so far says much more"
    assert abs(answer["recall"] - truth) < abs(raw - truth) / 3
    assert answer["found"]["relevant"] == sum(
        row["document_id"] in campaign.relevant[row["query_id"]]
        for row in rows
        if row["inclusion_probability"]
    )
    assert answer["frame"]["size"] == QUERIES * DOCUMENTS
    assert set(answer["frame"]) == {"reach", "runs", "text", "size"}
    estimate = result["runs"][answer["run"]][f"recall@{DEPTH}"]["estimate"]
    assert estimate["value"] == answer["recall"]
    assert estimate["covers"] == "queries and labels"
    assert estimate["average"] == answer["average"] == "macro"


def test_an_estimate_of_some_queries_alone_says_of_how_many(campaign: Campaign) -> None:
    rows = campaign.pool(*REACH)
    campaign.judge([row for row in rows if row["query_id"] < "q15"])

    estimate = campaign.with_pool("--k", str(DEPTH))["runs"]["one"][f"recall@{DEPTH}"]["estimate"]
    assert estimate["queries"] == [15, QUERIES]
    assert f"estimated, 15 of {QUERIES} queries" in campaign.with_pool(form="table")
    campaign.judge(rows)
    assert "estimated, " not in campaign.with_pool(form="table")


def test_the_words_say_what_a_number_is_of(campaign: Campaign) -> None:
    campaign.judge(campaign.pool(*REACH))

    estimated, found = campaign.with_pool(form="table"), campaign.evaluated(form="table")

    assert "of what the first 80 places of " in estimated.splitlines()[1]
    assert "relevant documents found so far" in estimated.splitlines()[1]
    assert "relevant documents found so far" in found.splitlines()[1]
    assert "[" not in found.splitlines()[1].partition(";")[0], "no interval that covers queries alone"


def test_an_estimate_says_that_it_takes_every_verdict_for_right(campaign: Campaign) -> None:
    campaign.judge(campaign.pool(*REACH))
    words = campaign.with_pool(form="table").splitlines()[1]

    assert re.search(r"Recall@5 of \w+: 0\.\d+ \[.+\] of .+ hold, if every verdict is right; 0\.", words)
    assert campaign.with_pool()["answer"]["with_mistakes"] is None, "no figure of it was right in simulations"
    campaign.judge(campaign.pool())
    assert "every verdict" not in campaign.with_pool(form="table"), "nothing was drawn"


def test_a_pool_that_is_judged_whole_and_has_no_audit_says_what_was_found(campaign: Campaign) -> None:
    rows = campaign.pool()
    campaign.judge(rows)

    answer = campaign.with_pool("--k", "1", str(DEPTH), "20")["answer"]

    assert answer["basis"] == "labels"
    assert answer["low"] is None
    assert answer["high"] is None
    assert answer["frame"] is None
    assert answer["k"] == DEPTH, "the deepest K at which everything was judged"


def test_an_order_that_is_still_judged_leaves_a_span(campaign: Campaign) -> None:
    rows = campaign.pool(*REACH)
    waiting = [row for row in rows if row["inclusion_probability"] == "1.0" and row["in_audit"] == "0"][::9]
    campaign.judge([row for row in rows if row not in waiting])

    answer = campaign.with_pool("--k", str(DEPTH))["answer"]

    assert answer["basis"] == "span"
    assert answer["recall"] is None
    assert answer["low"] < campaign.truth(answer["run"]) < answer["high"]


def test_a_span_says_of_how_many_queries_and_of_which_average_it_is(campaign: Campaign) -> None:
    rows = campaign.pool(*REACH)
    reached = [row for row in rows if row["inclusion_probability"] == "1.0" and row["in_audit"] == "0"]
    left = [row for row in rows if row["in_audit"] == "1" and row["query_id"] > "q02"]
    campaign.judge([row for row in rows if row not in (*reached[::9], *left)])

    found = campaign.with_pool("--k", str(DEPTH))["answer"]

    assert (found["basis"], found["average"], found["frame"]["queries"]) == ("span", "micro", [3, QUERIES])
    assert re.search(
        r"between [\d.]+ and [\d.]+ \(over all relevant documents at once\) of what .+, in 3 queries of 24 "
        r"whose audit is answered; this covers queries, labels and the documents that still wait for one \(",
        recall_in_words(Answer.from_dict(found)),
    )


def test_labels_that_are_declared_complete_have_their_interval(campaign: Campaign) -> None:
    campaign.judge(campaign.pool())

    answer = campaign.evaluated("--k", str(DEPTH), "--complete")["answer"]

    assert answer["basis"] == "complete"
    assert answer["low"] < answer["recall"] < answer["high"]


def test_complete_labels_leave_nothing_to_estimate(campaign: Campaign) -> None:
    campaign.judge(campaign.pool("--audit-share", "0.3", "--budget", str(QUERIES * 6)))

    estimates = campaign.with_pool("--k", str(DEPTH), "--complete")["estimates"]

    assert (estimates["status"], estimates["relevant"], estimates["runs"]) == ("complete", None, {})
    assert (estimates["missing"], estimates["floor"], estimates["leave_one_out"]) == ([], None, {})
    assert estimates["sentence"].startswith("The labels are complete: no relevant document is missing")


def test_a_frame_that_ends_above_k_says_nothing_at_k(campaign: Campaign) -> None:
    rows = campaign.pool("--audit-share", "0.3", "--budget", str(QUERIES * 6))
    campaign.judge(rows)

    result = campaign.with_pool("--k", str(DEPTH), "20")

    assert result["answer"]["k"] == DEPTH
    assert result["runs"]["one"][f"recall@{DEPTH}"]["estimate"] is not None
    assert result["runs"]["one"]["recall@20"]["estimate"] is None


def test_the_usual_cutoffs_end_at_the_depth_of_the_pool(campaign: Campaign) -> None:
    campaign.judge(campaign.pool(*REACH))

    assert campaign.with_pool()["conventions"]["k"] == [1, 3, 5]


def test_python_takes_the_cutoffs_and_the_queries_of_a_pool_as_the_command_does(campaign: Campaign) -> None:
    campaign.judge(campaign.pool(*REACH))
    folder, chosen = campaign.folder, [f"q{number:02}" for number in range(12)]
    tagged = (json.dumps({"_id": one, "text": one, "metadata": {"tags": ["t"]}}) for one in chosen)
    (folder / "queries.jsonl").write_text("\n".join(tagged) + "\n")

    def result(**options: Any) -> Any:
        pool = str(folder / "pool.tsv")
        return soundings.evaluate(str(folder / "qrels.txt"), campaign.runs, pool=pool, **options).to_dict()

    assert result() == campaign.with_pool()
    some = campaign.with_pool("--queries", str(folder / "queries.jsonl"), "--tag", "t")
    assert some["estimates"]["queries"]["estimated"] == len(chosen)
    assert result(queries=chosen) == some


def test_files_of_several_pools_count_together(campaign: Campaign) -> None:
    """A first pool, judged whole, and one that reaches deeper: what the first chose is known."""
    folder = campaign.folder
    shallow = campaign.pool()
    (folder / "pool.tsv").rename(folder / "first.tsv")
    rows = campaign.pool(*REACH)
    campaign.judge([*rows, *(row for row in shallow if row not in rows)])
    alone = campaign.with_pool("--k", str(DEPTH))
    both = campaign.with_pool("--pool", str(folder / "first.tsv"), "--k", str(DEPTH))

    certain = {(row["query_id"], row["document_id"]) for row in rows if row["inclusion_probability"] == "1.0"}
    certain |= {(row["query_id"], row["document_id"]) for row in shallow}
    assert both["estimates"]["pool"]["name"] == "pool.tsv", "the first has no audit"
    assert both["estimates"]["sample"]["certain"] == len(certain)
    assert both["estimates"]["sample"]["certain"] >= alone["estimates"]["sample"]["certain"]
    assert both["answer"]["low"] <= campaign.truth(both["answer"]["run"]) <= both["answer"]["high"]


def test_labels_from_elsewhere_within_a_frame_are_counted_and_not_used(campaign: Campaign) -> None:
    rows = campaign.pool(*REACH)
    campaign.judge(rows)
    before = campaign.with_pool("--k", str(DEPTH))["estimates"]
    there = {(row["query_id"], row["document_id"]) for row in rows}
    more = [("q00", one) for one in sorted(campaign.relevant["q00"]) if ("q00", one) not in there]
    with (campaign.folder / "qrels.txt").open("a") as file:
        file.writelines(f"{query} 0 {document} 1\n" for query, document in more)

    after = campaign.with_pool("--k", str(DEPTH))["estimates"]

    assert more
    assert after["relevant"] == before["relevant"], "they would count twice: the audit speaks for them"
    assert after["sample"]["unused"] == before["sample"]["unused"] + len(more)
