"""Labels of old chunks for the chunks of a new chunking: which rule may carry one, and what people must see.

Precision of the rules on five corpora with 790 marked excerpts, where a chunk is relevant that has half of
one: 1.00 for `evidence` and `contains`; 0.24 to 0.61 for a new chunk inside an old relevant one, and 0.19 to
0.73 for any overlap, which is why those are proposals.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from pooling.chunks.excerpts import Excerpt, Excerpts
from pooling.chunks.intervals import Range, intersection, is_within, length, union
from pooling.chunks.maps import ChunkMap, Document, Place
from pooling.heavy import pl
from pooling.ranking.shared_ids import Side, sentence_on

#: In the order in which they are tried.
RULES = ("identical", "evidence", "contains", "covered")

INSIDE = "inside a relevant chunk"
PART = "part of a relevant chunk"
CUT = "part of an excerpt"
WITHOUT = "part of a relevant chunk, without its excerpt"


class OldLabel(NamedTuple):
    """What a query's label says of an old chunk; relevant from 1 on."""

    place: Place
    relevance: int


class CarriedLabel(NamedTuple):
    """A label of a new chunk. overlap: the share of its characters that are in the chunks it comes from,
    `sources`; touched: all relevant labels with characters in it."""

    query_id: str
    place: Place
    relevance: int
    rule: str
    overlap: float
    sources: Sequence[OldLabel]
    touched: Sequence[OldLabel]


class Proposal(NamedTuple):
    """A new chunk that people must judge. overlap: the share of its characters that are in relevant chunks,
    `sources`; why: what kept the rules from carrying a label."""

    query_id: str
    place: Place
    overlap: float
    sources: Sequence[OldLabel]
    why: str

    @property
    def order(self) -> tuple[float, int, str, str]:
        """Proposals that share most first."""
        shared = self.overlap * (self.place.end - self.place.start)
        return -self.overlap, -round(shared), self.query_id, self.place.chunk_id


Outcome: TypeAlias = CarriedLabel | Proposal | None


@dataclass(frozen=True)
class Carrying:
    """Labels and proposals, and what became of the rest.

    given: labels read, without pairs that nobody judged (`unjudged`). strangers: those of them whose chunk is
    not in the old map, as query and chunk. homeless: documents with labels that the new map lacks, with how
    many. changed: documents with another text at the same offsets. partly: new chunks that no relevant chunk
    overlaps and that are only partly in judged ones. unbound: excerpts that are in no relevant chunk.
    relevant: relevant labels whose chunk is in the old map; reached: those of them with characters in a new
    chunk that is labelled relevant; proposed: those with characters in proposals alone.
    """

    labels: Sequence[CarriedLabel]
    proposals: Sequence[Proposal]
    given: int
    unjudged: int
    strangers: Sequence[tuple[str, str]]
    homeless: dict[str, int]
    changed: Sequence[str]
    partly: int
    unbound: Sequence[Excerpt]
    relevant: int
    reached: int
    proposed: int

    def counts(self) -> dict[str, int]:
        """Rule -> its labels."""
        return {rule: sum(one.rule == rule for one in self.labels) for rule in RULES}


def carry(labels: pl.DataFrame, old: ChunkMap, new: ChunkMap, excerpts: Excerpts | None = None) -> Carrying:
    """The labels (query_id, document_id: of an old chunk, relevance) for the chunks of a new map.

    Rules, the first that holds: `identical`, the same text of the same document, or the same offsets;
    `evidence`, the new chunk has a whole excerpt of the query, half of which or more is in chunks that are
    relevant; `contains`, it has a whole relevant chunk; `covered`, it is inside a chunk that is not relevant,
    or inside several where it touches no relevant one. The label is the highest of the chunks it comes from.
    What touches a relevant chunk otherwise is a proposal. ValueError where no label is of an old chunk.
    """
    pairs: dict[tuple[str, str], list[OldLabel]] = {}
    strangers = []
    judged = labels.filter(pl.col("relevance") >= 0)
    for query, chunk, relevance in judged.select("query_id", "document_id", "relevance").iter_rows():
        place = old.places.get(chunk)
        if place is None:
            strangers.append((query, chunk))
        else:
            pairs.setdefault((query, place.document_id), []).append(OldLabel(place, relevance))
    if not pairs:
        ids = Side("chunks of the labels", labels["document_id"])
        there = Side(f"chunks of {old.name}", pl.Series(list(old.places), dtype=pl.String))
        raise ValueError(f"No label is of a chunk of {old.name}. {sentence_on(ids, there)}")
    changed = _changed(old, new, {document for _, document in pairs})
    outcomes: list[Outcome] = []
    homeless: dict[str, int] = {}
    unbound: list[Excerpt] = []
    for (query, document), of_pair in pairs.items():
        if document not in new.by_document:
            homeless[document] = homeless.get(document, 0) + len(of_pair)
            continue
        pair = _Pair(query, document, of_pair, excerpts, is_changed=document in changed)
        outcomes += pair.outcomes(new)
    carried = [one for one in outcomes if isinstance(one, CarriedLabel)]
    proposals = [one for one in outcomes if isinstance(one, Proposal)]
    if excerpts is not None:
        for pair_id, some in excerpts.by_pair.items():
            bound = _bound(some, pairs.get(pair_id, ()))
            unbound += [one for one in some if one not in bound]
    reached = {
        (one.query_id, source.place.chunk_id)
        for one in carried
        for source in (*one.sources, *one.touched)
        if one.relevance > 0 and source.relevance > 0
    }
    proposed = {(one.query_id, source.place.chunk_id) for one in proposals for source in one.sources}
    return Carrying(
        carried,
        sorted(proposals, key=lambda one: one.order),
        judged.height,
        labels.height - judged.height,
        strangers,
        homeless,
        sorted(changed),
        outcomes.count(None),
        unbound,
        sum(one.relevance > 0 for some in pairs.values() for one in some),
        len(reached),
        len(proposed - reached),
    )


def _changed(old: ChunkMap, new: ChunkMap, documents: set[str]) -> set[str]:
    """Documents with another text at the same offsets: in these, offsets of old and new do not meet."""
    return {
        document
        for document in documents & new.by_document.keys()
        for place in new.by_document[document].places
        if any(_differ(place, other) for other in old.overlapping(document, *place.range))
    }


def _differ(one: Place, other: Place) -> bool:
    """Whether two chunks have another text where they overlap, blanks apart; False where a map has none."""
    if one.range == other.range and one.text_sha256 and other.text_sha256:
        return one.text_sha256 != other.text_sha256
    # A text of another length than its range was changed on its way into the map: no offset holds in it.
    if any(len(place.text) != place.end - place.start for place in (one, other)):
        return False
    begin, end = max(one.start, other.start), min(one.end, other.end)
    texts = [place.text[begin - place.start : end - place.start] for place in (one, other)]
    words = [unicodedata.normalize("NFC", text).split() for text in texts]
    return words[0] != words[1]


def _bound(excerpts: Sequence[Excerpt], labels: Sequence[OldLabel]) -> list[Excerpt]:
    """The excerpts of which half or more is in relevant chunks."""
    relevant = union(one.place.range for one in labels if one.relevance > 0)
    return [one for one in excerpts if 2 * length(intersection([one.range], relevant)) >= one.end - one.start]


class _Pair:
    """The labels of one query in one document."""

    def __init__(
        self,
        query: str,
        document: str,
        labels: Sequence[OldLabel],
        excerpts: Excerpts | None,
        *,
        is_changed: bool,
    ) -> None:
        self.query, self.document, self.is_changed = query, document, is_changed
        self.labels = {one.place: one for one in labels}
        marked = () if excerpts is None else excerpts.by_pair.get((query, document), ())
        self.excerpts = _bound(marked, labels)

    @cached_property
    def near(self) -> Document:
        """The labelled chunks, by their starts."""
        return Document(list(self.labels))

    @cached_property
    def by_text(self) -> dict[str, list[OldLabel]]:
        """Checksum of a text -> the labels of chunks that have it."""
        listed: dict[str, list[OldLabel]] = {}
        for place, label in self.labels.items():
            if place.text_sha256:
                listed.setdefault(place.text_sha256, []).append(label)
        return listed

    def outcomes(self, new: ChunkMap) -> Iterator[Outcome]:
        """Of each new chunk with characters or the text of a labelled one, in the order of the document."""
        places = {one for one in new.by_document[self.document].places if one.text_sha256 in self.by_text}
        if not self.is_changed:
            places.update(
                one for place in self.labels for one in new.overlapping(self.document, *place.range)
            )
        for place in sorted(places, key=lambda one: (one.start, one.end, one.chunk_id)):
            yield self._outcome(place)

    def _outcome(self, place: Place) -> Outcome:
        near = [] if self.is_changed else [self.labels[one] for one in self.near.overlapping(*place.range)]
        relevant = [one for one in near if one.relevance > 0]

        def carried(rule: str, sources: Sequence[OldLabel]) -> CarriedLabel:
            highest = max(one.relevance for one in sources)
            overlap = 1.0 if rule == "identical" else _overlap(place, sources)
            return CarriedLabel(self.query, place, highest, rule, overlap, sources, relevant)

        same = [one for one in near if one.place.range == place.range]
        if same := same or self.by_text.get(place.text_sha256, []):
            return carried("identical", same)
        if whole := [one for one in self.excerpts if _is_in(one.range, place.range)]:
            return carried(
                "evidence", [one for one in relevant if any(_meet(one.place.range, it.range) for it in whole)]
            )
        if inside := [one for one in relevant if _is_in(one.place.range, place.range)]:
            return carried("contains", inside)
        others = [one for one in near if one.relevance == 0]
        if around := [one for one in others if _is_in(place.range, one.place.range)]:
            return carried("covered", around)
        if relevant:
            overlap, why = _overlap(place, relevant), self._why(place, relevant)
            return Proposal(self.query, place, overlap, relevant, why)
        is_covered = is_within(place.range, union(one.place.range for one in others))
        return carried("covered", others) if is_covered else None

    def _why(self, place: Place, relevant: Sequence[OldLabel]) -> str:
        if any(_meet(one.range, place.range) for one in self.excerpts):
            return CUT
        if self.excerpts:
            return WITHOUT
        return INSIDE if any(_is_in(place.range, one.place.range) for one in relevant) else PART


def _is_in(one: Range, other: Range) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def _meet(one: Range, other: Range) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _overlap(place: Place, sources: Sequence[OldLabel]) -> float:
    """The share of a chunk's characters that are in some others."""
    common = intersection([place.range], union(one.place.range for one in sources))
    return length(common) / (place.end - place.start)
