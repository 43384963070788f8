"""`find_duplicates`: which texts are near-identical, and what is said of those left out."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy

from pooling.formats.records import iterate_documents
from pooling.texts.duplicates import complete_linkage
from pooling.texts.shingles import shingled
from pooling.texts.similar_pairs import AlikePairs, alike_pairs
from tests.testdata import DATA, needs_data

# Eight words have six shingles; with a ninth, six of seven are shared.
BUS = "night buses run on all main roads tonight"


def corpus(path: Path, texts: Mapping[str, str]) -> Path:
    path.write_text("".join(json.dumps({"_id": one, "text": text}) + "\n" for one, text in texts.items()))
    return path


def ran(tmp_path: Path, texts: Mapping[str, str], *options: object) -> tuple[list[list[str]], str]:
    """The rows below the header, and what was said."""
    output, said = tmp_path / "groups.tsv", io.StringIO()
    file = corpus(tmp_path / "corpus.jsonl", texts)
    call_command("find_duplicates", file, *map(str, options), "--output", output, stdout=said, stderr=said)
    header, *rows = output.read_text(encoding="utf-8").splitlines()
    assert header == "document_id\tgroup_id"
    return [row.split("\t") for row in rows], said.getvalue()


def test_near_identical_texts_are_a_group_named_after_the_longest(tmp_path: Path) -> None:
    texts = {
        "b": BUS,
        "a": BUS.upper() + "!",
        "long": f"{BUS} again",
        "other": "ferries cross the bay at noon",
    }
    rows, said = ran(tmp_path, texts)
    assert rows == [["long", "long"], ["a", "long"], ["b", "long"]]
    assert "4 texts read: 3 documents in 1 group, the largest of 3." in said
    rows, said = ran(tmp_path, texts, "--threshold", 1)
    assert rows == [["a", "a"], ["b", "a"]]
    assert ran(tmp_path, dict(reversed(texts.items())), "--threshold", 1)[0] == rows


def test_texts_that_differ_in_figures_are_left_out(tmp_path: Path) -> None:
    rows, said = ran(tmp_path, {"old": f"{BUS} at 2.50", "new": f"{BUS} at 2.75"}, "--threshold", 0.5)
    assert rows == []
    assert "1 pair of near-identical texts differs in figures and is left out" in said
    assert "“new” and “old” (2.75 against 2.50)" in said
    assert ran(tmp_path, {"old": f"{BUS} 7 {BUS} 7", "new": f"{BUS} 7 {BUS} 7 on"})[0]


def test_every_two_members_are_alike_and_no_chain_joins_the_rest(tmp_path: Path) -> None:
    # Each has five words and three shingles, of which the next shares two: 2 of 4.
    texts = {"1": "a b c d e", "2": "b c d e f", "3": "c d e f g"}
    rows, said = ran(tmp_path, texts, "--threshold", 0.5)
    assert rows == [["1", "1"], ["2", "1"]]
    assert "1 pair is near-identical and not in one group, such as “2” and “3”" in said


def test_short_texts_are_grouped_when_equal_and_documents_without_a_word_are_not(tmp_path: Path) -> None:
    rows, said = ran(tmp_path, {"a": "Yes!", "b": "yes", "c": "yes no", "d": "", "e": "…"})
    assert rows == [["a", "a"], ["b", "a"]]
    assert "3 texts have fewer words than a shingle, such as “a”, and only equal ones are grouped." in said
    assert "2 documents without a word are in no group, such as “d”." in said


def test_scripts_without_spaces_are_compared_by_characters(tmp_path: Path) -> None:
    text = "東京は日本の首都であり最大の都市でもある場所です"
    rows, _ = ran(tmp_path, {"a": text, "b": f"{text}よ。", "c": "京都は古い都であり寺がある"})
    assert rows == [["b", "b"], ["a", "b"]]


def test_a_pool_keeps_its_documents_alone(tmp_path: Path) -> None:
    columns = "query_id\tdocument_id\tin_audit\tinclusion_probability\n"
    pool = tmp_path / "pool.tsv"
    pool.write_text(columns + "".join(f"q\t{one}\t0\t1\n" for one in ("a", "b", "lost")))
    rows, said = ran(tmp_path, {"a": BUS, "b": BUS, "c": BUS}, "--pool", pool)
    assert rows == [["a", "a"], ["b", "a"]]
    assert "2 of the 3 pooled documents are among the documents of corpus.jsonl: “lost” here" in said
    with pytest.raises(CommandError, match="no document in common with the corpus"):
        ran(tmp_path, {"x": BUS}, "--pool", pool)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--threshold", 0], "--threshold is 0; it is a similarity above 0"),
        (["--threshold", 1.1], "--threshold is 1.1"),
        (["--threshold", "nan"], "--threshold is nan"),
        (["--shingle", 0], "--shingle is 0; it is a number of words"),
    ],
)
def test_a_rule_without_meaning_is_refused(tmp_path: Path, options: Sequence[object], problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        ran(tmp_path, {"a": BUS}, *options)


def test_what_cannot_be_read_or_written_is_refused(tmp_path: Path) -> None:
    file, output = tmp_path / "twice.jsonl", tmp_path / "groups.tsv"
    file.write_text('{"_id": "a", "text": "x"}\n' * 2)
    with pytest.raises(CommandError, match=r"twice\.jsonl, line 2: document 'a' appears again"):
        call_command("find_duplicates", file, "--output", output)
    with pytest.raises(CommandError, match=r"twice\.jsonl is read, so it is not written over"):
        call_command("find_duplicates", file, "--output", file)
    with pytest.raises(CommandError, match=r"twice\.jsonl is read, so it is not written over"):
        call_command("find_duplicates", tmp_path, "--output", file)
    array = tmp_path / "array.json"
    array.write_text('[{"_id": "a", "text": "x"}, {"_id": "a", "text": "x"}]')
    with pytest.raises(CommandError, match="document 'a' appears again"):
        call_command("find_duplicates", array, "--output", output)
    with pytest.raises(CommandError, match="no document has a text"):
        ran(tmp_path, {"a": ""})
    with pytest.raises(CommandError, match="There is no folder"):
        call_command("find_duplicates", file, "--output", tmp_path / "absent" / "groups.tsv")
    with pytest.raises(CommandError, match="contains a tab"):
        ran(tmp_path, {"a\tb": BUS, "c": BUS})
    assert not output.exists()


def test_too_many_pairs_are_refused_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pooling.texts.similar_pairs.MOST_PAIRS", 2)
    with pytest.raises(CommandError, match="More than 2 pairs of texts may be near-identical"):
        ran(tmp_path, {name: f"{BUS} {name}" for name in "abc"})


@given(st.lists(st.text("abc ", max_size=14), max_size=8), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_pairs_are_those_of_every_two_sets(texts: list[str], threshold: float) -> None:
    sets = shingled(texts, 2).sets
    each = [
        set(sets.shingles[one:end].tolist()) for one, end in zip(sets.start, sets.start[1:], strict=False)
    ]
    expected = [
        (one, other)
        for one in range(len(each))
        for other in range(one + 1, len(each))
        if each[one] and len(each[one] & each[other]) / len(each[one] | each[other]) >= threshold
    ]
    pairs = alike_pairs(sets, threshold)
    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == expected


@given(st.integers(2, 12), st.integers(0, 999))
def test_linkage_is_that_of_scipy(count: int, seed: int) -> None:
    jaccard = np.triu(np.random.default_rng(seed).random((count, count)), 1)
    first, second = np.nonzero(jaccard >= 0.4)
    groups = complete_linkage(count, AlikePairs(first, second, jaccard[first, second]))
    distances = 1 - jaccard[np.triu_indices(count, 1)]
    labels = hierarchy.fcluster(hierarchy.linkage(distances, "complete"), 0.6, "distance")
    expected = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    assert groups == sorted(group for group in expected if len(group) > 1)


@needs_data
@pytest.mark.slow
def test_pairs_of_a_real_collection_are_those_of_the_reference() -> None:
    documents = iterate_documents(DATA / "dl19" / "corpus.jsonl")
    sets = shingled((f"{one.title} {one.text}" for one in documents), 3).sets
    jaccard = alike_pairs(sets, 0.5).jaccard
    expected = json.loads((DATA / "living" / "neardup" / "dl19.expected.json").read_text())
    for threshold, count in expected["pairs_at_least"].items():
        assert (jaccard >= float(threshold)).sum() == count
