"""Which words of a document are highlighted for a query, and which passage is shown first.

Marks and passages are spans in plain text, with and without JavaScript; anyone who shows them escapes the
text and builds the elements.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import fsum, log
from typing import NamedTuple

# A word is letters and digits with their combining accents; an apostrophe inside belongs to it.
_WORD = re.compile(r"[^\W_][\w\u0300-\u036f]*(?:[’'][^\W_]+)?")
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SIBILANT = ("s", "x", "z", "ch", "sh")

# Nobody looks for a longer word. Folding a million accents takes hours, and the stems of many words are kept.
LONGEST_WORD = 100

# Lengths in characters, so that they hold for scripts that put no spaces between words: a passage has about
# 120 to 200 English words, and a text of up to 300 is shown whole.
WHOLE_TEXT = 1_800
PASSAGE_LEAST = 700
LONGEST_SENTENCE = 450
# A sentence ends at its full stop, a paragraph at its line break; the space after belongs to what ends. Each
# run of stops or of space is tried from its beginning alone: from every place, 16,000 dots took seconds.
_SENTENCE_END = re.compile(r"(?<![.!?…。！？])[.!?…。！？]+[\"')\]”’»]*(?:\s+|(?<=[。！？]))|(?<!\s)\s*\n\s*")
_SPACE = re.compile(r"\s+")

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being between both but by can
    could did do does doing done during each either for from further get had has have having he her here
    hers him his how i if in into is it its itself just made make may me might more most much must my no
    nor not of off on once only or other our out over own per same shall she should so some still such than
    that the their them then there these they this those through to too under until up upon us very was
    we were what when where which while who whom whose why will with within without would you your
    """.split()  # noqa: SIM905  a list of quoted words would be harder to read
)


class Part(NamedTuple):
    """A stretch of plain text and whether it is highlighted."""

    text: str
    marked: bool


def query_stems(query: str) -> frozenset[str]:
    """The stems that a query looks for: its words without stop words and single characters.

    A query of nothing else ("to be or not to be") keeps all its words.
    """
    found = (match.group() for match in _WORD.finditer(query))
    words = [_folded(word) for word in found if len(word) <= LONGEST_WORD]
    telling = [word for word in words if len(word) > 1 and word not in STOP_WORDS]
    return frozenset(stem(word) for word in telling or words)


def term_marks(query: str, text: str) -> list[tuple[int, int]]:
    """Where words of `query` occur in `text`: ascending `(start, end)` spans, counted in Unicode characters.

    >>> term_marks("night bus", "Buses run all night.")
    [(0, 5), (14, 19)]
    """
    wanted = query_stems(query)
    if not wanted:
        return []
    return [
        match.span()
        for match in _WORD.finditer(text)
        if match.end() - match.start() <= LONGEST_WORD and stem(match.group()) in wanted
    ]


def best_passage(text: str, marks: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The stretch of whole sentences where the query's words, given as `marks`, are densest.

    None for a text that is short enough to be read whole. Different words count more than the same one
    again, and words that are rare in the text more than those all over it. Without a mark it is the
    beginning.
    """
    if len(text) <= WHOLE_TEXT:
        return None
    sentences = list(_sentences(text))
    words = _stems_by_sentence(text, sentences, marks)
    spread = Counter(word for found in words for word in found)
    weights = {word: log(1 + len(sentences) / count) for word, count in spread.items()}
    windows = list(_windows(sentences))
    densities = list(_densities(words, windows, weights))
    highest = max(densities)
    best = [window for window, density in zip(windows, densities, strict=True) if density == highest]
    # The middle one of equals has its words in the middle.
    first, last = best[len(best) // 2] if marks else windows[0]
    start, end = sentences[first][0], sentences[last - 1][1]
    return start, start + len(text[start:end].rstrip())


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans that together are the text: sentences, and pieces of what is too long for one."""
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        while end - start > LONGEST_SENTENCE:
            spaces = list(_SPACE.finditer(text, start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE))
            cut = spaces[-1].end() if spaces else start + LONGEST_SENTENCE
            yield start, cut
            start = cut
        if end > start:
            yield start, end
        start = end


def _stems_by_sentence(
    text: str, sentences: Sequence[tuple[int, int]], marks: Sequence[tuple[int, int]]
) -> list[Counter[str]]:
    """How often each of the query's stems occurs in each sentence."""
    words: list[Counter[str]] = [Counter() for _ in sentences]
    place = 0
    for start, end in marks:
        while sentences[place][1] <= start:
            place += 1
        words[place][stem(text[start:end])] += 1
    return words


def _windows(sentences: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Runs of sentences, as slices, each as long as a passage; the last ones end with the text."""
    last = 0
    for first, (start, _) in enumerate(sentences):
        while last < len(sentences) and (last <= first or sentences[last - 1][1] - start < PASSAGE_LEAST):
            last += 1
        yield first, last
        if last == len(sentences):
            return


def _densities(
    words: Sequence[Counter[str]], windows: Sequence[tuple[int, int]], weights: dict[str, float]
) -> Iterator[float]:
    """How much the words of each window are worth; both its ends only ever move on."""
    inside = Counter[str]()
    start = end = 0
    density = 0.0
    for first, last in windows:
        coming, going = words[end:last], words[start:first]
        for found in coming:
            inside.update(found)
        for found in going:
            inside.subtract(found)
        start, end = first, last
        if any(coming) or any(going):
            inside = +inside
            # Exact, so that windows with the same words are equal, in whatever order those came.
            density = fsum(weights[word] * count / (count + 1) for word, count in inside.items())
        yield density


def marked_parts(text: str, marks: list[tuple[int, int]]) -> list[Part]:
    """Cut `text` at its marks; the parts in order are the whole text."""
    parts, position = [], 0
    for start, end in marks:
        parts += [Part(text[position:start], False), Part(text[start:end], True)]
        position = end
    parts.append(Part(text[position:], False))
    return [part for part in parts if part.text]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A light English stem, after folding case and accents: plural, -ed, -ing, -ly and final e come off.

    It is meant for the eye: "buses" finds "bus" and "judging" finds "judge"; "operate" does not find
    "opera".
    """
    word = _without_plural(re.sub(r"[’'].*", "", _folded(word)))
    for ending in ("ing", "ed", "ly"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and _VOWEL.search(rest):
            word = _DOUBLED.sub(r"\1", rest)
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _without_plural(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("es") and word[:-2].endswith(_SIBILANT):
        return word[:-2]
    return word[:-1]


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))
