"""Facts and supports from files: every format, and what is wrong with each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pooling.formats.errors import FormatError
from pooling.formats.facts.reading import read_facts, read_supports_of
from pooling.formats.facts.records import PAIR, FactRecord
from tests.testdata import DATA, needs_data

DIVERSITY = "1 a d1 1\n1\tb d1 0\n1 b d2 -1\n\n1 a d1 1\n"
OWN = (
    '{"query_id": 1, "fact_id": "a", "text": "Buses  run\\nall night."}\n'
    '{"query_id": "1", "fact_id": "b", "text": "Hourly.", "importance": "okay", "group": "When?"}\n'
)
NUGGETS = json.dumps(
    {
        "qid": "1",
        "query": "night bus",
        "nuggets": [
            {"text": "Buses run.", "importance": "vital", "assignment": "partial_support"},
            {"text": "Hourly.", "importance": "okay", "mapped_sub_narrative": '"When?"'},
        ],
    }
)
BANK = json.dumps(
    {
        "query_id": "1",
        "nugget_bank": {"When?": {"question": "When?", "answers": {"Hourly.": {}, "All night.": {}}}},
    }
)


def written(folder: Path, content: str, name: str = "facts.txt") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_diversity_qrels_name_facts_and_supports(tmp_path: Path) -> None:
    file = read_facts(written(tmp_path, DIVERSITY))
    assert [fact[:3] for fact in file.facts] == [("1", "a", ""), ("1", "b", "")]
    kept = [("1", "a", "d1", 1.0), ("1", "b", "d1", 0.0), ("1", "b", "d2", None)]
    assert file.supports.select(*PAIR, "weight").rows() == kept
    assert file.notes == ("1 repeated support with the same verdict skipped.",)


def test_facts_of_our_own_form_have_supports_in_a_second_file(tmp_path: Path) -> None:
    file = read_facts(written(tmp_path, OWN))
    assert file.facts == (
        FactRecord("1", "a", "Buses run all night.", "vital", "", 1),
        FactRecord("1", "b", "Hourly.", "okay", "When?", 2),
    )
    rows = [("a", "d1", "supports"), ("a", "d2", "partly"), ("b", "d1", "no"), ("b", "d2", "cannot")]
    lines = [json.dumps(dict(zip(("fact_id", "document_id", "verdict"), row, strict=True))) for row in rows]
    supports, _ = read_supports_of(file.facts, written(tmp_path, "\n".join(lines), "supports.jsonl"))
    assert supports["weight"].to_list() == [1.0, 0.5, 0.0, None]
    assert set(supports["query_id"]) == {"1"}


def test_nuggets_and_banks_are_numbered_and_grouped(tmp_path: Path) -> None:
    nuggets = read_facts(written(tmp_path, NUGGETS))
    assert [(one.fact_id, one.importance, one.group) for one in nuggets.facts] == [
        ("1", "vital", ""),
        ("2", "okay", "When?"),
    ]
    assert nuggets.supports.select(*PAIR, "weight").rows() == [("1", "1", "answer", 0.5)]
    bank = read_facts(written(tmp_path, BANK))
    assert [(one.fact_id, one.text, one.group) for one in bank.facts] == [
        ("1", "Hourly.", "When?"),
        ("2", "All night.", "When?"),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("goldens.json", json.dumps([{"input": "When?", "expected_output": "Hourly. All night."}], indent=2)),
        ("goldens.csv", 'input,actual_output,expected_output\nWhen?,,"Hourly. All\nnight."\n'),
        ("testset.csv", "user_input,reference\nWhen?,Hourly. All night.\n"),
    ],
)
def test_references_are_read_from_arrays_and_csv(tmp_path: Path, name: str, content: str) -> None:
    file = read_facts(written(tmp_path, content, name))
    assert [one[:3] for one in file.facts] == [("When?", "1", "Hourly."), ("When?", "2", "All night.")]
    assert not file.has_ids


BAD = {
    "three fields": ("1 a d1\n", "line 1: 3 fields; diversity qrels have 4"),
    "label that is none": ("1 a d1 yes\n", "line 1: the relevance 'yes' is not a number"),
    "two verdicts": ("1 a d1 1\n1 a d1 0\n", "line 2: fact 'a', document 'd1' has another verdict"),
    "empty": ("", "the file is empty"),
    "cut JSON": (OWN[:-20], "line 2: not JSON"),
    "no element": ("[]", "the file is empty"),
    "no fact id": ('{"query_id": "1", "text": "x"}', "line 1: no fact_id among the fields"),
    "number for a text": (
        '{"query_id": "1", "fact_id": "a", "text": 7}',
        "line 1: text is not text",
    ),
    "importance": (
        '{"query_id": "1", "fact_id": "a", "importance": "high"}',
        "the importance 'high' is unknown",
    ),
    "id twice": (OWN.replace('"b"', '"a"'), "line 2: the fact 'a' of query '1' is on line 1 too"),
    "long": ('{"query_id": "1", "fact_id": "a", "text": "%s"}' % ("x" * 2001), "a fact of 2,001 characters"),
    "nuggets that are none": ('{"qid": "1", "nuggets": ["a"]}', "nuggets is not a list of objects"),
    "nugget without text": ('{"qid": "1", "nuggets": [{}]}', "nugget 1 has no text"),
    "assignment": ('{"qid": "1", "nuggets": [{"text": "a", "assignment": "yes"}]}', "the assignment 'yes'"),
    "no nugget": ('{"qid": "1", "nuggets": []}', "there is no fact in this file"),
    "bank that is none": ('{"query_id": "1", "nugget_bank": []}', "nugget_bank is not an object"),
    "HTML": ("<html><body>Not found</body></html>\n", "line 1: 2 fields; diversity qrels have 4"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, name: str) -> None:
    content, told = BAD[name]
    with pytest.raises(FormatError) as error:
        read_facts(written(tmp_path, content))
    assert told in str(error.value)


BAD_SUPPORTS = {
    "unknown fact": ('{"fact_id": "z", "document_id": "d", "verdict": "no"}', "'z' is no fact"),
    "unknown query": (
        '{"query_id": "9", "fact_id": "a", "document_id": "d", "verdict": "no"}',
        "query '9' has no fact 'a'",
    ),
    "two queries": ('{"fact_id": "c", "document_id": "d", "verdict": "no"}', "'c' is a fact of 2 queries"),
    "verdict": ('{"fact_id": "a", "document_id": "d", "verdict": "yes"}', "the verdict 'yes' is unknown"),
    "no document": ('{"fact_id": "a", "verdict": "no"}', "no document_id among the fields"),
    "diversity of another": ("1 z d1 1\n", "query 1 has no fact z"),
}


@pytest.mark.parametrize("name", BAD_SUPPORTS)
def test_supports_name_facts_that_there_are(tmp_path: Path, name: str) -> None:
    content, told = BAD_SUPPORTS[name]
    facts = [FactRecord("1", "a"), FactRecord("1", "c"), FactRecord("2", "c")]
    with pytest.raises(FormatError) as error:
        read_supports_of(facts, written(tmp_path, content))
    assert told in str(error.value)


@needs_data
def test_the_facts_of_trec_rag_are_read_with_their_counts() -> None:
    file = read_facts(DATA / "living/nuggets/rag25-dev-nuggets.jsonl")
    counts = json.loads((DATA / "living/nuggets/rag25.counts.json").read_text())
    assert len(file.facts) == counts["nuggets"]
    assert len({fact.query_id for fact in file.facts}) == counts["topics"]
    assert sum(fact.importance == "vital" for fact in file.facts) == counts["importance"]["vital"]
    assert len({(fact.query_id, fact.group) for fact in file.facts}) == 218
