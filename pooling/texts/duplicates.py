"""Documents in groups of near-identical texts, and what was left out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.records import DocumentRecord, iterate_documents
from pooling.formats.wording import counted, plural
from pooling.heavy import Booleans, Integers, np, pl, sparse
from pooling.interface.results import Progress
from pooling.ranking.shared_ids import Side, sentence_on
from pooling.texts.shingles import ShingledTexts, shingled
from pooling.texts.similar_pairs import AlikePairs, alike_pairs

SHINGLE, THRESHOLD = 3, 0.8
#: Of figures that differ, so many characters are quoted.
_QUOTED = 40
#: Progress moves after so many texts. A file does not say how many it has: at so many, the bar is halfway.
_AT_ONCE, _HALF_READ = 1_000, 100_000


@dataclass(frozen=True)
class Left:
    """Something left out: how much, and an example in words."""

    count: int
    example: str


@dataclass(frozen=True)
class Detection:
    """groups: document ids, the representative first, then the others bytewise; groups by representative.

    texts: documents with words. wordless: documents without. short: texts with fewer words than a shingle.
    figures: pairs that are alike but for figures (words with a digit). apart: pairs that are alike, in two
    groups or in none, since another member of the group is not so alike.
    """

    groups: list[list[str]]
    texts: int
    wordless: Left
    short: Left
    figures: Left
    apart: Left

    @property
    def members(self) -> int:
        return sum(map(len, self.groups))

    def lines(self) -> Iterator[str]:
        """Sentences for people: what was read, and what was left out."""
        read = f"{counted(self.texts, 'text')} read"
        if not self.groups:
            yield f"{read}: no two are near-identical."
        else:
            largest = max(map(len, self.groups))
            yield (
                f"{read}: {counted(self.members, 'document')} in {counted(len(self.groups), 'group')}, the "
                f"largest of {largest:,}."
            )
        if self.figures.count:
            yield (
                f"{counted(self.figures.count, 'pair')} of near-identical texts "
                f"{plural(self.figures.count, 'differs', 'differ')} in figures and "
                f"{plural(self.figures.count, 'is', 'are')} left out, such as {self.figures.example}."
            )
        if self.apart.count:
            yield (
                f"{counted(self.apart.count, 'pair')} {plural(self.apart.count, 'is', 'are')} near-identical "
                f"and not in one group, such as {self.apart.example}: every two members of a group are."
            )
        if self.short.count:
            yield (
                f"{counted(self.short.count, 'text')} {plural(self.short.count, 'has', 'have')} fewer words "
                f"than a shingle, such as {self.short.example}, and only equal ones are grouped."
            )
        if self.wordless.count:
            yield (
                f"{counted(self.wordless.count, 'document')} without a word "
                f"{plural(self.wordless.count, 'is', 'are')} in no group, such as {self.wordless.example}."
            )


def checked_rule(shingle: int, threshold: float) -> None:
    """ValueError for a rule that has no meaning."""
    if shingle < 1:
        raise ValueError(f"--shingle is {shingle}; it is a number of words, 1 or more.")
    if not 0 < threshold <= 1:
        raise ValueError(f"--threshold is {threshold:g}; it is a similarity above 0 and at most 1.")


def documents_of(corpus: Path, pooled: pl.Series | None, notes: list[str]) -> Iterator[DocumentRecord]:
    """The documents of a corpus, of a pool alone where its document ids are given; `notes` hears at the end
    which of these have no text there.

    FormatError for an id that comes twice; ValueError for a pool of which no document is in the corpus.
    """
    wanted = None if pooled is None else set(pooled)
    lines: dict[str, int] = {}
    for one in iterate_documents(corpus):
        if one.id in lines:
            problem = f"document {excerpt(one.id)} appears again (first on line {lines[one.id]})"
            raise FormatError(corpus.name, one.line, problem, "Give every record a unique id.")
        lines[one.id] = one.line
        if wanted is None or one.id in wanted:
            yield one
    if pooled is None or wanted is None or wanted <= lines.keys():
        return
    sides = Side("pooled documents", pooled), Side(f"documents of {corpus.name}", pl.Series(list(lines)))
    if wanted.isdisjoint(lines):
        raise ValueError(f"The pool has no document in common with the corpus. {sentence_on(*sides)}")
    notes.append(sentence_on(*sides))


def find_duplicates(
    documents: Iterable[DocumentRecord],
    shingle: int = SHINGLE,
    threshold: float = THRESHOLD,
    progress: Progress = lambda share, detail: None,
) -> Detection:
    """Groups of documents whose title and text are near-identical: every two members share a part of at least
    `threshold` of all their shingles (Jaccard), and have the same figures (words with a digit), by first
    appearance in the same order.

    The representative of a group is the longest text, of equally long ones the first id, bytewise.
    """
    checked_rule(shingle, threshold)
    ids: list[str] = []
    length: list[int] = []

    def texts() -> Iterator[str]:
        for one in documents:
            text = f"{one.title} {one.text}".strip()
            ids.append(one.id)
            length.append(len(text))
            if len(ids) % _AT_ONCE == 0:
                progress(0.9 * len(ids) / (len(ids) + _HALF_READ), f"{counted(len(ids), 'text')} read.")
            yield text

    texts_read = shingled(texts(), shingle)
    progress(0.9, f"Comparing {counted(len(ids), 'text')}.")
    return _Corpus(ids, length, texts_read).detected(threshold)


@dataclass(frozen=True)
class _Corpus:
    """Documents in the order of their file."""

    ids: list[str]
    length: list[int]
    texts: ShingledTexts

    def detected(self, threshold: float) -> Detection:
        # Rows are in the order of ids from here on, so that no result depends on the order of the file.
        rows = np.array(sorted(range(len(self.ids)), key=self.ids.__getitem__), dtype=np.int64)
        equal = self._equal(rows)
        firsts = np.array([group[0] for group in equal], dtype=np.int64)
        pairs = alike_pairs(self.texts.sets.take(firsts), threshold)
        figures = self.texts.figures[firsts]
        is_same = figures[pairs.first] == figures[pairs.second]
        same = AlikePairs(*(column[is_same] for column in pairs))
        joined = complete_linkage(len(firsts), same)
        group_of = np.arange(len(firsts))
        for group in joined:
            group_of[group] = group[0]
        alone = [[one] for one, members in enumerate(equal) if len(members) > 1 and group_of[one] == one]
        in_larger = {group[0] for group in joined}
        whole = [*joined, *(group for group in alone if group[0] not in in_larger)]
        size = np.array([len(group) for group in equal], dtype=np.int64)
        is_apart = is_same & (group_of[pairs.first] != group_of[pairs.second])
        has_words = self.texts.sets.sizes[rows] > 0
        return Detection(
            sorted(self._named([row for one in group for row in equal[one]]) for group in whole),
            int(has_words.sum()),
            self._left(rows[~has_words]),
            self._left(rows[self.texts.is_short[rows]]),
            self._pairs_left(pairs, ~is_same, firsts, size),
            self._pairs_left(pairs, is_apart, firsts, size),
        )

    def _equal(self, rows: Integers) -> list[list[int]]:
        """Documents with the same shingles and figures; those without words are left out."""
        sets, figures = self.texts.sets, self.texts.figures.tolist()
        start = sets.start.tolist()
        equal: dict[tuple[bytes, int], list[int]] = {}
        for row in rows.tolist():
            if start[row] < start[row + 1]:
                shingles = sets.shingles[start[row] : start[row + 1]].tobytes()
                equal.setdefault((shingles, figures[row]), []).append(row)
        return list(equal.values())

    def _named(self, rows: list[int]) -> list[str]:
        longest = min(rows, key=lambda row: (-self.length[row], self.ids[row]))
        return [self.ids[longest], *sorted(self.ids[row] for row in rows if row != longest)]

    def _left(self, rows: Integers) -> Left:
        return Left(len(rows), f"“{self.ids[int(rows[0])]}”" if len(rows) else "")

    def _pairs_left(self, pairs: AlikePairs, chosen: Booleans, firsts: Integers, size: Integers) -> Left:
        """Numbers of documents, of the chosen pairs of texts; the example is the first of the most alike."""
        at = np.flatnonzero(chosen)
        if not len(at):
            return Left(0, "")
        count = int((size[pairs.first[at]] * size[pairs.second[at]]).sum())
        best = at[np.argmax(pairs.jaccard[at])]
        one, other = (int(firsts[side[best]]) for side in (pairs.first, pairs.second))
        words = f"“{self.ids[one]}” and “{self.ids[other]}”"
        different = self._first_difference(one, other)
        return Left(count, f"{words} ({different})" if different else words)

    def _first_difference(self, one: int, other: int) -> str:
        """The first figures that differ; "" where none do."""
        written = [self.texts.written[int(self.texts.figures[row])] for row in (one, other)]
        longest = max(map(len, written))
        both = zip(*([*words, *[""] * (longest - len(words))] for words in written), strict=True)
        pair = next((pair for pair in both if pair[0] != pair[1]), None)
        return "" if pair is None else " against ".join(word[:_QUOTED] or "none" for word in pair)


def complete_linkage(count: int, pairs: AlikePairs) -> list[list[int]]:
    """Groups of two or more of the numbers below `count`, each rising, by their first members. Every two
    members of a group are alike, so that no chain joins what differs.

    By chains of nearest neighbours (Murtagh, "A survey of recent advances in hierarchical clustering
    algorithms", 1983): two groups that are each other's nearest become one, whatever else does.

    Two groups are as alike as their least alike members, and become one while all pairs of their members are
    among `pairs`. Of equally near groups the one with the lowest member is taken.

    >>> import numpy as np
    >>> chain = AlikePairs(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.8]))
    >>> complete_linkage(3, chain)
    [[0, 1]]
    """
    whole, pairs = _whole(count, pairs)
    # Of each group, under its first member: the groups that it can become one with, and how alike they are.
    near: list[dict[int, float]] = [{} for _ in range(count)]
    for first, second, jaccard in zip(*(one.tolist() for one in pairs), strict=True):
        near[first][second] = near[second][first] = jaccard
    members = [[one] for one in range(count)]
    waiting = list(reversed(range(count)))
    while waiting:
        chain = [waiting.pop()]
        while chain:
            groups = near[chain[-1]]
            if not groups:
                chain.pop()
                continue
            nearest = max(groups.values())
            if len(chain) > 1 and groups.get(chain[-2]) == nearest:
                joined = _join(near, members, *sorted((chain.pop(), chain.pop())))
                waiting.append(joined)
            else:
                chain.append(min(group for group, jaccard in groups.items() if jaccard == nearest))
    return sorted([*whole, *(sorted(group) for group in members if len(group) > 1)])


def _whole(count: int, pairs: AlikePairs) -> tuple[list[list[int]], AlikePairs]:
    """Sets all of whose texts are alike, as groups at once (joined singly: the cube); and other pairs."""
    links = sparse.csr_matrix((np.ones(len(pairs.first)), (pairs.first, pairs.second)), shape=(count, count))
    _, component = sparse.csgraph.connected_components(links, directed=False)
    size = np.bincount(component)
    linked = np.bincount(component[pairs.first], minlength=len(size))
    is_whole = (size > 1) & (linked == size * (size - 1) // 2)
    rows = np.flatnonzero(is_whole[component])
    order = rows[np.argsort(component[rows], kind="stable")]
    ends = np.flatnonzero(np.diff(component[order], append=-1)) + 1
    groups = [part.tolist() for part in np.split(order, ends)[:-1]]
    is_left = ~is_whole[component[pairs.first]]
    return groups, AlikePairs(*(column[is_left] for column in pairs))


def _join(near: list[dict[int, float]], members: list[list[int]], first: int, second: int) -> int:
    """Two groups as one, under the first; near it is what is near both, and as alike as the less alike."""
    one, other = near[first], near[second]
    near[second] = {}
    members[first] += members[second]
    members[second] = []
    near[first] = {group: min(one[group], other[group]) for group in one.keys() & other.keys()}
    for group in one.keys() - {second}:
        del near[group][first]
    for group in other.keys() - {first}:
        del near[group][second]
    for group, jaccard in near[first].items():
        near[group][first] = jaccard
    return first
