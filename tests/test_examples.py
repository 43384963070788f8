"""The example collection: whole, labelled without gaps, and made again by its own script."""

import csv
import importlib.util
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

EXAMPLES = Path(__file__).parent.parent / "examples"
RUNS = ("runs/bm25", "runs/tfidf", "runs/lsa", "runs/fuzzy", "later/lsa-2")
INDEX_RUNS = tuple(f"indexes/lsa-probes-{probes}" for probes in (1, 2, 4))
KINDS = {"keyword", "question", "situation"}
POOLED = 20
EXTRA = ("bm25s", "rapidfuzz", "sklearn")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines_of(EXAMPLES / name)]


def labels() -> dict[tuple[str, str], str]:
    rows = [line.split(" ") for line in lines_of(EXAMPLES / "qrels.txt")]
    pairs = {(query, document): label for query, _, document, label in rows}
    assert len(pairs) == len(rows), "a pair is labelled twice"
    return pairs


def run_rows(name: str) -> list[list[str]]:
    return [line.split(" ") for line in lines_of(EXAMPLES / f"{name}.run")]


def test_the_corpus_is_large_enough_and_its_pages_differ() -> None:
    documents = records("corpus.jsonl")
    assert len({document["_id"] for document in documents}) == len(documents) >= 150
    assert len({document["text"] for document in documents}) == len(documents)
    assert len({document["title"] for document in documents}) == len(documents)


def test_every_page_has_a_title_a_section_and_at_least_forty_words() -> None:
    for document in records("corpus.jsonl"):
        assert document["title"], document["_id"]
        assert document["metadata"]["section"], document["_id"]
        assert 40 <= len(document["text"].split()) <= 180, document["_id"]


def test_each_query_is_of_one_of_three_kinds_and_says_what_is_relevant() -> None:
    queries = records("queries.jsonl")
    assert len({query["_id"] for query in queries}) == len(queries) >= 20
    kinds = [KINDS & set(query["metadata"]["tags"]) for query in queries]
    assert all(len(kind) == 1 for kind in kinds)
    assert set().union(*kinds) == KINDS
    assert all("Relevant: " in query["metadata"]["narrative"] for query in queries)


def test_the_notebook_of_labels_shows_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    cells = json.loads(Path("labels.ipynb").read_text(encoding="utf-8"))["cells"]
    first, *others = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    exec(first, names)
    for code in others:
        if "to_html" not in code and "chart" not in code:
            assert not callable(eval(code, names)), code


def test_labels_are_0_or_1_and_name_pairs_that_exist() -> None:
    query_ids = {query["_id"] for query in records("queries.jsonl")}
    document_ids = {document["_id"] for document in records("corpus.jsonl")}
    for (query, document), label in labels().items():
        assert query in query_ids
        assert document in document_ids
        assert label in {"0", "1"}


def test_every_query_has_from_two_to_fourteen_relevant_pages() -> None:
    relevant = Counter(query for (query, _), label in labels().items() if label == "1")
    for query in records("queries.jsonl"):
        assert 2 <= relevant[query["_id"]] <= 14, query["_id"]


@pytest.mark.parametrize("name", RUNS)
def test_a_run_ranks_each_page_once_by_falling_score(name: str) -> None:
    by_query: dict[str, list[list[str]]] = {}
    for row in run_rows(name):
        by_query.setdefault(row[0], []).append(row)
    assert set(by_query) == {query["_id"] for query in records("queries.jsonl")}
    for rows in by_query.values():
        order = [(float(score), document) for _, _, document, _, score, _ in rows]
        assert order == sorted(order, reverse=True)
        assert len({document for _, document in order}) == len(order)
        assert [int(row[3]) for row in rows] == list(range(1, len(rows) + 1))


def test_every_pair_near_the_top_of_a_run_is_labelled() -> None:
    labelled = labels().keys()
    found = {(row[0], row[2]) for name in RUNS for row in run_rows(name) if int(row[3]) <= POOLED}
    assert found - labelled == set()


def test_the_runs_differ_and_none_finds_everything() -> None:
    relevant = {pair for pair, label in labels().items() if label == "1"}
    found = [{(row[0], row[2]) for row in run_rows(name) if int(row[3]) <= 10} & relevant for name in RUNS]
    for index, mine in enumerate(found):
        others = set().union(*found[:index], *found[index + 1 :])
        assert mine - others, f"{RUNS[index]} finds nothing of its own"
        assert mine < relevant


@pytest.mark.parametrize("name", RUNS)
def test_the_readme_states_the_recall_that_the_labels_give(name: str) -> None:
    relevant = {pair for pair, label in labels().items() if label == "1"}
    total = Counter(query for query, _ in relevant)
    found = Counter(row[0] for row in run_rows(name) if int(row[3]) <= 10 and (row[0], row[2]) in relevant)
    recall = sum(found[query] / total[query] for query in total) / len(total)
    line = next(
        line for line in lines_of(EXAMPLES / "README.md") if line.startswith(f"| `{name.split('/')[1]}` |")
    )
    assert line.endswith(f"| {recall:.3f} |")


def test_facts_are_short_and_some_are_vital_for_each_query() -> None:
    facts = records("facts.jsonl")
    assert len({fact["fact_id"] for fact in facts}) == len(facts)
    assert all(len(fact["text"].split()) <= 15 and fact["group"] for fact in facts)
    assert all(3 <= count <= 5 for count in Counter(fact["query_id"] for fact in facts).values())
    queries = {fact["query_id"] for fact in facts}
    assert queries <= {query["_id"] for query in records("queries.jsonl")}
    assert queries == {fact["query_id"] for fact in facts if fact["importance"] == "vital"}


def test_every_fact_has_one_verdict_on_each_relevant_page_of_its_query() -> None:
    relevant = [pair for pair, label in labels().items() if label == "1"]
    facts = [(fact["query_id"], fact["fact_id"]) for fact in records("facts.jsonl")]
    whole = [(query, fact, page) for query, fact in facts for asked, page in relevant if asked == query]
    given = [(row["query_id"], row["fact_id"], row["document_id"]) for row in records("supports.jsonl")]
    assert sorted(given) == sorted(whole)
    assert {page for _, _, page in given} <= {document["_id"] for document in records("corpus.jsonl")}


def test_evidence_lies_in_the_text_of_the_page_and_is_whole_words() -> None:
    texts = {document["_id"]: document["text"] for document in records("corpus.jsonl")}
    for row in records("supports.jsonl"):
        assert ("span" in row) == (row["verdict"] in {"supports", "partly"}), row
        if "span" in row:
            (start, end), text = row["span"], texts[row["document_id"]]
            assert 0 <= start < end <= len(text), row
            quote = text[start:end]
            assert quote == quote.strip(), row
            assert not text[max(start - 1, 0) : start].isalnum(), row
            assert not text[end : end + 1].isalnum(), row


def test_the_readme_counts_the_facts_and_verdicts() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    facts, verdicts = records("facts.jsonl"), records("supports.jsonl")
    importance = Counter(fact["importance"] for fact in facts)
    kinds = Counter(row["verdict"] for row in verdicts)
    answered = {row["fact_id"] for row in verdicts if row["verdict"] != "no"}
    assert len(facts) - len(answered) == 3
    queries = len({fact["query_id"] for fact in facts})
    assert f"{len(facts)} facts that answers to {queries} of the queries need" in readme
    assert f"{importance['vital']} vital, {importance['okay']} okay" in readme
    assert f"{len(verdicts)} verdicts" in readme
    assert f"{kinds['supports']} `supports`, {kinds['partly']} `partly`, {kinds['no']} `no`" in readme


@pytest.mark.parametrize("name", RUNS)
def test_the_command_measures_the_facts_that_a_run_finds(name: str) -> None:
    facts, supports = EXAMPLES / "facts.jsonl", EXAMPLES / "supports.jsonl"
    run, output = str(EXAMPLES / f"{name}.run"), io.StringIO()
    options = ("--facts", facts, "--supports", supports, "--measure", "fact_recall", "--format", "json")
    call_command("evaluate", run, *map(str, options), stdout=output, stderr=io.StringIO())
    scores = json.loads(output.getvalue())["runs"][name.split("/")[1]]
    assert 0 < scores["fact_recall@10"]["mean"] < 1
    assert scores["fact_recall@10"]["mean"] == pytest.approx(fact_recall_at_10(name))


def fact_recall_at_10(name: str) -> float:
    """The mean over queries of the share of facts that the first 10 pages support."""
    found = {(row[0], row[2]) for row in run_rows(name) if int(row[3]) <= 10}
    total = Counter(fact["query_id"] for fact in records("facts.jsonl"))
    held = {
        (row["query_id"], row["fact_id"])
        for row in records("supports.jsonl")
        if row["verdict"] == "supports" and (row["query_id"], row["document_id"]) in found
    }
    return sum(1 / total[query] for query, _ in held) / len(total)


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(package) is None for package in EXTRA),
    reason="needs the packages of the optional extra: pip install -e '.[examples]'",
)
def test_the_script_makes_the_same_runs_again(tmp_path: Path) -> None:
    script = [sys.executable, str(EXAMPLES / "make_runs.py"), "--output", str(tmp_path)]
    made = subprocess.run(script, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    for name in (*RUNS, *INDEX_RUNS):
        assert (tmp_path / f"{name}.run").read_bytes() == (EXAMPLES / f"{name}.run").read_bytes(), name


def test_the_script_makes_the_same_stored_answers_again(tmp_path: Path) -> None:
    output = tmp_path / "prelabels.jsonl"
    script = [sys.executable, str(EXAMPLES / "make_prelabels.py"), "--output", str(output)]
    made = subprocess.run(script, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert output.read_bytes() == (EXAMPLES / "prelabels.jsonl").read_bytes()


def test_the_stored_answers_are_mostly_right_and_gold_questions_always() -> None:
    known = labels()
    answers = {(row["query_id"], row["document_id"]): row["relevant"] for row in records("prelabels.jsonl")}
    assert answers.keys() == known.keys()
    wrong = [pair for pair, relevant in answers.items() if relevant != (known[pair] == "1")]
    assert 0 < len(wrong) < 0.1 * len(answers)
    with (EXAMPLES / "gold.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            expected = "relevant" if known[row["query_id"], row["document_id"]] == "1" else "not_relevant"
            assert row["answer"] == expected
