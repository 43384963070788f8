"""Labels carried from one chunking to another: the rules, what they are worth, and what people must see."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.chunks.carrying import Carrying, carry
from pooling.chunks.excerpts import Excerpt, Excerpts, read_excerpts
from pooling.chunks.maps import ChunkMap, read_map
from tests.testdata import DATA, needs_data

CHUNKS = DATA / "living" / "chunks"
CHUNKINGS = ("fixed-400", "fixed-800", "sliding-800-400")


def chunk_map(*chunks: tuple[str, int, int], document: str = "d", **more: str) -> ChunkMap:
    return read_map(
        [
            {"chunk_id": chunk, "document_id": document, "start": start, "end": end, **more}
            for chunk, start, end in chunks
        ],
        texts=True,
    )


def labels(**relevance: int) -> pl.DataFrame:
    rows = [("q", chunk, value) for chunk, value in relevance.items()]
    return pl.DataFrame(rows, schema=["query_id", "document_id", "relevance"], orient="row")


def spans(*ranges: tuple[int, int]) -> Excerpts:
    return Excerpts("spans", [Excerpt("q", "d", *one) for one in ranges])


def rules(carrying: Carrying) -> dict[str, tuple[str, int]]:
    return {one.place.chunk_id: (one.rule, one.relevance) for one in carrying.labels}


OLD = chunk_map(("a", 0, 100), ("b", 100, 200), ("c", 200, 300))


@pytest.mark.parametrize(
    ("new", "given", "excerpts", "expected"),
    [
        # The same offsets have the same label, whatever it is.
        ((0, 100), {"a": 0}, (), ("identical", 0)),
        ((0, 100), {"a": 2}, (), ("identical", 2)),
        # A whole excerpt of a relevant chunk.
        ((10, 60), {"a": 2}, ((20, 40),), ("evidence", 2)),
        ((30, 60), {"a": 2}, ((20, 40),), "part of an excerpt"),
        ((50, 60), {"a": 2}, ((20, 40),), "part of a relevant chunk, without its excerpt"),
        # Half of an excerpt is in relevant chunks, or it is none of theirs.
        ((80, 120), {"a": 1, "b": 0}, ((90, 110),), ("evidence", 1)),
        ((80, 120), {"a": 1, "b": 0}, ((90, 111),), "part of a relevant chunk"),
        ((80, 120), {"a": 1, "b": 3}, ((90, 110),), ("evidence", 3)),
        # A whole relevant chunk, the highest of several.
        ((0, 250), {"a": 1, "b": 2, "c": 3}, (), ("contains", 2)),
        # Inside what is not relevant.
        ((20, 80), {"a": 0}, (), ("covered", 0)),
        ((50, 150), {"a": 0, "b": 0}, (), ("covered", 0)),
        ((50, 150), {"a": 0}, (), None),
        # The rest that touches a relevant chunk.
        ((20, 80), {"a": 1}, (), "inside a relevant chunk"),
        ((50, 150), {"a": 0, "b": 1}, (), "part of a relevant chunk"),
    ],
)
def test_the_first_rule_that_holds_carries_the_label(
    new: tuple[int, int],
    given: dict[str, int],
    excerpts: tuple[tuple[int, int], ...],
    expected: tuple[str, int] | str | None,
) -> None:
    carrying = carry(labels(**given), OLD, chunk_map(("n", *new)), spans(*excerpts) if excerpts else None)
    if isinstance(expected, tuple):
        assert rules(carrying) == {"n": expected}
        assert not carrying.proposals
    else:
        assert not carrying.labels
        assert [one.why for one in carrying.proposals] == ([expected] if expected else [])
        assert carrying.partly == (expected is None)


def test_a_chunk_inside_one_that_is_not_relevant_is_not_relevant_though_another_overlaps_it() -> None:
    old = chunk_map(("a", 0, 100), ("b", 50, 150), ("c", 150, 250))
    of = labels(a=1, b=0, c=0)
    assert rules(carry(of, old, chunk_map(("n", 60, 120)))) == {"n": ("covered", 0)}
    # Of two that join, what is relevant may lie across, as it may in the relevant one.
    assert [one.why for one in carry(of, old, chunk_map(("n", 80, 160))).proposals] == [
        "part of a relevant chunk"
    ]


def test_the_same_text_carries_its_label_wherever_its_document_has_it_now() -> None:
    old = chunk_map(("a", 0, 10), text="Night  buses\nrun.")
    new = read_map(
        [
            {"chunk_id": "n", "document_id": "d", "start": 50, "end": 66, "text": "Night buses run."},
            {"chunk_id": "m", "document_id": "e", "start": 0, "end": 16, "text": "Night buses run."},
        ]
    )
    assert rules(carry(labels(a=2), old, new)) == {"n": ("identical", 2)}


def test_offsets_carry_nothing_where_the_text_at_them_has_changed() -> None:
    old, new = chunk_map(("a", 0, 10), text="Night buses"), chunk_map(("n", 0, 10), text="Day trams")
    carrying = carry(labels(a=1), old, new, spans((2, 4)))
    assert (carrying.labels, carrying.proposals) == ([], [])
    assert list(carrying.changed) == ["d"]


@pytest.mark.parametrize(
    ("new_text", "changed"), [("buses run daily", []), ("trams run daily", ["d"]), ("too short", [])]
)
def test_texts_are_compared_where_chunks_overlap_in_part(new_text: str, changed: list[str]) -> None:
    old, new = chunk_map(("a", 0, 15), text="Night buses run"), chunk_map(("n", 6, 21), text=new_text)
    carrying = carry(labels(a=0), old, new)
    assert list(carrying.changed) == changed


def test_what_is_left_out_is_counted() -> None:
    of = labels(a=1, b=-1, zz=1)
    carrying = carry(of, OLD, chunk_map(("n", 0, 100)), spans((20, 40), (250, 260)))
    assert (carrying.given, carrying.unjudged, carrying.strangers) == (2, 1, [("q", "zz")])
    assert carrying.unbound == [Excerpt("q", "d", 250, 260)]
    elsewhere = carry(of, OLD, chunk_map(("n", 0, 100), document="e"))
    assert (elsewhere.labels, elsewhere.homeless) == ([], {"d": 1})
    with pytest.raises(ValueError, match=r"No label is of a chunk of chunk_map\. 0 of the 2 chunks"):
        carry(labels(x=1, y=0), OLD, OLD)


def test_proposals_that_share_most_come_first() -> None:
    new = chunk_map(("n", 90, 190), ("m", 10, 20), ("o", 30, 60))
    assert [(one.place.chunk_id, one.overlap) for one in carry(labels(a=1), OLD, new).proposals] == [
        ("o", 1.0),
        ("m", 1.0),
        ("n", 0.1),
    ]


cuts = st.lists(st.integers(1, 59), unique=True, max_size=8).map(lambda inner: [0, *sorted(inner), 60])
excerpts = st.tuples(st.integers(0, 55), st.integers(1, 5)).map(lambda one: (one[0], sum(one)))


def cut(name: str, places: Sequence[int]) -> ChunkMap:
    pairs = itertools.pairwise(places)
    return chunk_map(*((f"{name}{number}", *pair) for number, pair in enumerate(pairs)))


@given(cuts, cuts, excerpts)
def test_there_and_back_keeps_labels_with_an_excerpt_inside_one_chunk(
    first: list[int], second: list[int], one: tuple[int, int]
) -> None:
    old, new = cut("a", first), cut("b", second)
    marked = spans(one)

    def holders(chunks: ChunkMap) -> set[str]:
        places = chunks.overlapping("d", *one)
        return {place.chunk_id for place in places if place.start <= one[0] and one[1] <= place.end}

    of = labels(**{chunk: int(chunk in holders(old)) for chunk in old.places})
    there = carry(of, old, new, marked)
    relevant = {place.chunk_id for place in (label.place for label in there.labels if label.relevance)}
    if holders(old) and holders(new):
        assert holders(new) <= relevant
        rows = [("q", label.place.chunk_id, label.relevance) for label in there.labels]
        carried = pl.DataFrame(rows, schema=["query_id", "document_id", "relevance"], orient="row")
        back = rules(carry(carried, new, old, marked))
        assert {chunk for chunk, (_, relevance) in back.items() if relevance} >= holders(old)


@pytest.fixture(scope="module")
def marked() -> Excerpts:
    rows = []
    for line in (CHUNKS / "questions.jsonl").read_text().splitlines():
        question = json.loads(line)
        rows += [
            {
                "query_id": question["id"],
                "document_id": question["corpus"],
                "start": one["start_index"],
                "end": one["end_index"],
            }
            for one in question["references"]
        ]
    return read_excerpts(rows)


def truly_relevant(chunks: ChunkMap, excerpts: Excerpts) -> set[tuple[str, str]]:
    """Query and chunk with half of an excerpt or more."""
    return {
        (one.query_id, place.chunk_id)
        for one in excerpts.excerpts
        for place in chunks.overlapping(one.document_id, *one.range)
        if 2 * (min(place.end, one.end) - max(place.start, one.start)) >= one.end - one.start
    }


@needs_data
@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(CHUNKINGS, 2)))
def test_on_real_excerpts_carried_labels_are_right_and_a_proposal_may_not_be(
    marked: Excerpts, first: str, second: str
) -> None:
    old, new = (read_map(CHUNKS / f"{name}.chunks.tsv") for name in (first, second))
    of, wanted = truly_relevant(old, marked), truly_relevant(new, marked)
    # The chunks of each excerpt and their neighbours are judged.
    near = {
        (one.query_id, place.chunk_id)
        for one in marked.excerpts
        for place in old.overlapping(one.document_id, max(0, one.start - 900), one.end + 900)
    }
    rows = [(query, chunk, int((query, chunk) in of)) for query, chunk in sorted(near)]
    qrels = pl.DataFrame(rows, schema=["query_id", "document_id", "relevance"], orient="row")
    reached = {}
    for given_spans in (marked, None):
        carrying = carry(qrels, old, new, given_spans)
        right = {
            rule: [
                (one.query_id, one.place.chunk_id) in wanted
                for one in carrying.labels
                if one.rule == rule and one.relevance
            ]
            for rule in ("evidence", "contains")
        }
        # 1.00 in every row of transfer.json
        assert all(itertools.chain(*right.values()))
        refused = {(one.query_id, one.place.chunk_id) for one in carrying.labels if not one.relevance}
        assert not refused & wanted
        reached[given_spans is None] = sum(map(len, right.values())) / len(wanted)
        proposed = [(one.query_id, one.place.chunk_id) in wanted for one in carrying.proposals]
        assert 0 < sum(proposed) < len(proposed)
    # The reach of evidence over five corpora is .50 to .92; without excerpts large chunks carry little.
    assert reached[False] > 0.5
    assert reached[True] < 0.99
