"""Near-identical documents: counted one by one, once as a group, or once with the list filled up."""

from __future__ import annotations

import io
import itertools
import json
import random
from pathlib import Path

import polars as pl
import pytest
from django.core.management import CommandError, call_command

from evaluation import Conventions, Evaluation, compare, evaluate
from pooling.formats.records import iterate_documents
from pooling.texts.shingles import shingled
from pooling.texts.similar_pairs import alike_pairs
from tests.testdata import DATA, needs_data

# a1, a2 and a3 are one text, as are b1 and b2. Relevant: a1, a2, c and e; a3 has no label.
GROUPS = {"a1": "a1", "a2": "a1", "a3": "a1", "b1": "b1", "b2": "b1"}
QRELS = {"q": {"a1": 1, "a2": 2, "b1": 0, "c": 1, "e": 1}}
RUN = {"q": ["a3", "a1", "b2", "b1", "c", "e"]}


def counted(count: str | None, k: int = 3, **options: object) -> Evaluation:
    return evaluate(QRELS, {"run": RUN}, k=k, duplicates=GROUPS, count=count, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "recall", "precision", "judged"),
    [
        # a3 a1 b2: a1 of four relevant ones; a1 alone has a label.
        ("documents", 1 / 4, 1 / 3, 1 / 3),
        # The group a, its later member, the group b: one of the groups a, c, e; each place is answered.
        ("groups", 1 / 3, 1 / 3, 1.0),
        # a, b, c.
        ("deduplicated", 2 / 3, 2 / 3, 1.0),
    ],
)
def test_figures_are_those_of_the_count(count: str, recall: float, precision: float, judged: float) -> None:
    result = counted(count, measures=["recall", "precision", "judged"])
    for measure, value in (("recall", recall), ("precision", precision), ("judged", judged)):
        assert result.figure("run", measure, 3)["mean"] == pytest.approx(value)
    assert result.to_dict()["conventions"]["duplicates"]["count"] == count
    assert "(the duplicates)" in result.convention_line("run", "recall", 3)


def test_groups_are_counted_unless_another_count_is_named() -> None:
    result = counted(None)
    assert result.figure("run", "recall", 3)["mean"] == pytest.approx(1 / 3)
    assert "duplicates count once, as a group, in the same K places" in result.convention_line(
        "run", "recall", 3
    )
    assert "duplicates" not in evaluate(QRELS, {"run": RUN}, k=3).to_dict()["conventions"]


def test_the_gain_of_a_group_is_that_of_its_best_member() -> None:
    # Gains 2, 0, 0 of the ideal 2, 1, 1, discounted by 1, 1.585 and 2.
    assert counted("groups", measures="ndcg").figure("run", "ndcg", 3)["mean"] == pytest.approx(
        2 / (2 + 1 / 1.5849625 + 1 / 2)
    )


def test_an_unjudged_group_stays_unjudged_in_all_its_places() -> None:
    result = evaluate({"q": {"c": 1}}, {"run": {"q": ["a3", "a1", "c"]}}, k=2, duplicates=GROUPS)
    assert result.figure("run", "judged", 2)["mean"] == 0
    bounds = result.figure("run", "recall", 2)["bounds"]
    assert bounds[0] == 0
    assert bounds[1] is not None
    assert bounds[1] > 0


@pytest.mark.parametrize("count", ["groups", "deduplicated"])
@pytest.mark.parametrize("names", [["one"], ["one", "two"]])
def test_bounds_are_the_extremes_over_all_labels_of_the_unjudged_groups(count: str, names: list[str]) -> None:
    chance = random.Random(0)  # these lists have later places of groups without a label
    documents = [*GROUPS, "c", "e", "f"]
    qrels = {f"q{at}": {"z": 1, chance.choice(documents): chance.choice([0, 1, 1])} for at in range(2)}
    runs = {name: {query: chance.sample(["z", *documents], 6) for query in qrels} for name in names}
    result = evaluate(qrels, runs, k=[2, 4], duplicates=GROUPS, count=count)

    def heads(query: str, k: int) -> set[str]:
        """The groups in anybody's first k, which is the pool, and those with a label."""
        tops = [result_list(one[query], count)[:k] for one in runs.values()]
        return {GROUPS.get(one, one) for top in tops for one in top} - {
            GROUPS.get(one, one) for one in qrels[query]
        }

    for k in (2, 4):
        unjudged = [(query, group) for query in qrels for group in sorted(heads(query, k))]
        values: dict[str, list[float]] = {name: [] for name in names}
        for labels in itertools.product((0, 1), repeat=len(unjudged)):
            full = {query: dict(labelled) for query, labelled in qrels.items()}
            for (query, group), label in zip(unjudged, labels, strict=True):
                full[query][group] = label
            made = evaluate(full, runs, k=k, duplicates=GROUPS, count=count, bootstrap_samples=1)
            for name in names:
                values[name].append(made.figure(name, "recall", k)["mean"] or 0.0)
        for name in names:
            bounds = result.figure(name, "recall", k)["bounds"]
            assert bounds == pytest.approx([min(values[name]), max(values[name])])
        if len(names) == 2:
            gaps = [one - two for one, two in zip(*values.values(), strict=True)]
            between = compare(result, "one", "two", f"recall@{k}", samples=1, permutations=1).bounds
            assert between == pytest.approx((min(gaps), max(gaps)))


def result_list(documents: list[str], count: str) -> list[str]:
    """A list with what its places stand for."""
    groups = [GROUPS.get(one, one) for one in documents]
    return list(dict.fromkeys(groups)) if count == "deduplicated" else groups


def test_what_was_in_order_stays_in_order_where_scores_are_equal() -> None:
    # By falling ids z, y, b2, a1; as groups z, y, b, a, whatever the names of the groups are.
    run = {"q": {"z": 1.0, "y": 1.0, "b2": 1.0, "a1": 1.0}}
    for count in ("groups", "deduplicated"):
        result = evaluate({"q": {"y": 1, "a2": 1}}, {"run": run}, k=2, duplicates=GROUPS, count=count)
        figure = result.figure("run", "recall", 2)
        assert figure["mean"] == 0.5
        assert figure["ties"] == {"min": 0.0, "expected": 0.5, "max": 1.0}


def test_a_tie_of_two_members_of_a_group_is_none() -> None:
    run = {"q": {"a1": 1.0, "a2": 1.0}}
    for count in ("groups", "deduplicated"):
        result = evaluate({"q": {"a1": 1}}, {"run": run}, k=1, duplicates=GROUPS, count=count)
        assert result.figure("run", "recall", 1)["mean"] == 1
        assert "ties" not in result.figure("run", "recall", 1)


def test_what_became_of_the_groups_is_said() -> None:
    result = counted("deduplicated", k=5)
    said = " ".join(result.notes)
    assert "Run run: 2 documents behind another of the same group left the list." in said
    assert "without them 1 query of 1 has fewer than 5 documents" in said
    assert "Of 1 group with several labels of one query, 1 has different ones" in said
    assert "for query “q”, “a1” is 1 and “a2” is 2." in said
    groups = {**GROUPS, "x": "x", "y": "x"}
    more = evaluate(QRELS, {"run": RUN}, k=3, duplicates=groups)
    assert "2 of 7 documents are in no run and have no label, such as “x”." in " ".join(more.notes)
    unlisted = evaluate(QRELS, {"run": RUN}, k=3, duplicates={"a1": "c", "a2": "c"})
    assert "1 document in no group whose id is the name of one, such as “c”" in " ".join(unlisted.notes)


def test_two_runs_are_compared_over_groups() -> None:
    qrels = {f"q{number}": QRELS["q"] for number in range(9)}
    runs = {
        name: dict.fromkeys(qrels, documents)
        for name, documents in (("one", RUN["q"]), ("two", ["a1", "c", "e"]))
    }
    result = evaluate(qrels, runs, k=3, duplicates=GROUPS)
    assert compare(result, "two", "one", "recall@3").difference == pytest.approx(2 / 3)


@pytest.mark.parametrize("ties", ["docid", "docid-asc", "file", "rank"])
def test_every_order_of_ties_can_be_counted(ties: str) -> None:
    conventions = Conventions(ties=ties)  # type: ignore[arg-type]
    assert counted("deduplicated", conventions=conventions).figure("run", "recall", 3)[
        "mean"
    ] == pytest.approx(2 / 3)


def test_duplicates_from_python_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="There is no count 'all'; choose one of documents, groups"):
        counted("all")
    with pytest.raises(ValueError, match="belongs to duplicates"):
        evaluate(QRELS, {"run": RUN}, count="groups")
    with pytest.raises(ValueError, match=r"which cannot be read\. Give a path, a dict"):
        evaluate(QRELS, {"run": RUN}, duplicates=3)
    pool = pl.DataFrame({"query_id": ["q"], "document_id": ["a1"]})
    with pytest.raises(ValueError, match="A pool is of documents, and the count “groups” is of groups"):
        counted("groups", pool=pool)
    assert counted("documents", pool=pool).figure("run", "recall", 3)["mean"] == 1 / 4
    with pytest.raises(ValueError, match="bpref looks at documents judged as not relevant"):
        counted("groups", measures=["bpref"])


def test_measures_may_come_one_by_one() -> None:
    result = counted("documents", measures=(one for one in ["recall", "precision"]))
    assert [name for name, _ in result.keys] == ["recall", "precision", "judged"]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Labels, a run and groups."""
    qrels, run, groups = tmp_path / "qrels.txt", tmp_path / "run.run", tmp_path / "groups.tsv"
    qrels.write_text("".join(f"q 0 {one} {label}\n" for one, label in QRELS["q"].items()))
    run.write_text("".join(f"q Q0 {one} {at} {-at} run\n" for at, one in enumerate(RUN["q"], 1)))
    groups.write_text("document_id\tgroup_id\n" + "".join(f"{a}\t{b}\n" for a, b in GROUPS.items()))
    return [qrels, run, groups]


def printed(files: list[Path], *options: object) -> str:
    output, (qrels, run, groups) = io.StringIO(), files
    arguments = [qrels, run, "--k", "3", "--duplicates", groups, *map(str, options)]
    call_command("evaluate", *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "latex"])
def test_every_format_names_what_was_counted(files: list[Path], form: str) -> None:
    words = "duplicates count once, as a group, and later ones leave the list (groups.tsv)"
    assert words in printed(files, "--count", "deduplicated", "--format", form)


def test_json_names_what_was_counted(files: list[Path]) -> None:
    result = json.loads(printed(files, "--format", "json"))
    how = result["conventions"]["duplicates"]
    assert (how["count"], how["file"], how["groups"], how["documents"]) == ("groups", "groups.tsv", 2, 5)
    assert result["runs"]["run"]["recall@3"]["mean"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("doc\tgroup\na\tb\n", "line 1: no column document_id or group_id among 'doc, group'"),
        (
            "document_id\tgroup_id\na\tx\na\ty\n",
            "line 3: document 'a' is in two groups, 'x' .line 2. and 'y'",
        ),
        ("document_id\tgroup_id\na\tx\na\tx\n", "line 3: document 'a' appears again .first on line 2."),
        ("document_id\tgroup_id\n\tx\n", "line 2: the document id is empty"),
        ("document_id\tgroup_id\na\n", "line 2: 1 fields where the header has 2"),
        ("", "the file is empty"),
    ],
)
def test_groups_that_cannot_be_read_are_refused(files: list[Path], text: str, problem: str) -> None:
    files[2].write_text(text)
    with pytest.raises(CommandError, match=problem):
        printed(files)


def test_a_table_without_groups_changes_nothing_and_says_so(files: list[Path]) -> None:
    files[2].write_text("document_id\tgroup_id\n")
    result = evaluate(files[0], [files[1]], k=3, duplicates=files[2])
    assert result.figure("run", "recall", 3)["mean"] == 1 / 4
    assert "groups.tsv has no group: each document counts." in result.notes


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--stage1", "run.run"], "--stage1 does not count groups"),
        (["--facts", "facts.txt"], "--facts does not count groups"),
        (["--against", "run.run"], "--duplicates needs labels, and --against has none"),
    ],
)
def test_groups_beside_what_counts_documents_are_refused(
    files: list[Path], options: list[str], problem: str
) -> None:
    with pytest.raises(CommandError, match=problem):
        printed(files, *options)


def test_a_count_without_groups_is_refused(files: list[Path]) -> None:
    with pytest.raises(CommandError, match="--count belongs to --duplicates"):
        call_command("evaluate", *files[:2], "--count", "groups")


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["0.8", "0.5"])
def test_recall_is_that_of_the_reference_by_every_count(threshold: str) -> None:
    """Its groups are by single linkage, whatever the figures; equal scores are by rising ids."""
    folder = DATA / "dl19"
    documents = list(iterate_documents(folder / "corpus.jsonl"))
    sets = shingled((f"{one.title} {one.text}" for one in documents), 3).sets
    pairs = alike_pairs(sets, float(threshold))
    first = list(range(len(documents)))

    def root(one: int) -> int:
        while first[one] != one:
            one = first[one]
        return one

    for one, other in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        first[root(other)] = root(one)
    groups = {one.id: documents[root(place)].id for place, one in enumerate(documents)}
    file = json.loads((DATA / "living" / "neardup" / "dl19.expected.json").read_text())
    expected = {
        name.split(" ")[1]: recalls
        for name, recalls in file["recall_at_10_min_relevance_2"].items()
        if name.startswith(threshold)
    }
    runs = {name: folder / "runs" / f"{name}.run" for name in expected}
    conventions = Conventions(min_relevance=2, ties="docid-asc")
    for place, count in enumerate(("documents", "groups", "deduplicated")):
        result = evaluate(
            folder / "qrels.txt", runs, 10, "recall", conventions, duplicates=groups, count=count
        )
        for name, recalls in expected.items():
            assert result.figure(name, "recall", 10)["mean"] == pytest.approx(recalls[place], abs=1e-14)
