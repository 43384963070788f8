"""Highlighted words of a document for a query, and the passage shown first.

Marks and passages are spans in plain text, with and without JavaScript; anyone who shows them escapes the
text and builds the elements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum, log
from typing import NamedTuple

from pooling.texts.word_forms import LONGEST_WORD, UNSPACED, WORD, WordForms, spans_of_pairs

# Lengths in characters, so that they hold for scripts that put no spaces between words: a passage has about
# 120 to 200 English words, and a text of up to 300 is shown whole.
WHOLE_TEXT = 1_800
PASSAGE_LEAST = 700
LONGEST_SENTENCE = 450
# A sentence ends at its full stop, a paragraph at its line break; the space after belongs to what ends. Each
# run of stops or of space is tried from its beginning alone: from every place, 16,000 dots took seconds.
_SENTENCE_END = re.compile(
    r"(?<![.!?…。！？।])[.!?…。！？।]+[\"')\]”’»]*(?:\s+|(?<=[。！？]))|(?<!\s)\s*\n\s*"
)
_STOPS = tuple(".!?…。！？।\"')]”’»")
_SPACE = re.compile(r"\s+")
ENGLISH_FORMS = WordForms()


class Part(NamedTuple):
    text: str
    marked: bool


def term_marks(query: str, text: str, forms: WordForms = ENGLISH_FORMS) -> list[tuple[int, int]]:
    """Words of `query` in `text`: ascending `(start, end)` spans, counted in Unicode characters.

    >>> term_marks("night bus", "Buses run all night.")
    [(0, 5), (14, 19)]
    """
    wanted = forms.looked_for(query)
    if not wanted:
        return []
    marks: list[tuple[int, int]] = []
    for match in WORD.finditer(text):
        word = match.group()
        if not word.isascii() and UNSPACED.search(word):
            start = match.start()
            marks += [(start + first, start + last) for first, last in spans_of_pairs(word, wanted)]
        elif len(word) <= LONGEST_WORD and forms.stem(word) in wanted:
            marks.append(match.span())
    return marks


def strongest_sentence(
    query: str, text: str, marks: Sequence[tuple[int, int]], forms: WordForms = ENGLISH_FORMS
) -> tuple[int, int] | None:
    """The first of the sentences whose marked words are worth most, weighed as in `best_passage`.

    None where no sentence has two words of a query that has as many: one word is no sign. None too for a text
    without a full stop, of which all would be one. It is where to look first, not what decides.
    """
    sentences = list(sentences_in(text))
    if not marks or (len(sentences) < 2 and not text.rstrip().endswith(_STOPS)):
        return None
    words = _stems_by_sentence(text, sentences, marks, forms)
    weights = _weights(words)
    worth = [fsum(weights[word] * count / (count + 1) for word, count in counts.items()) for counts in words]
    best = worth.index(max(worth))
    if len(words[best]) < min(2, len(forms.looked_for(query))):
        return None
    start, end = sentences[best]
    return start, start + len(text[start:end].rstrip())


def best_passage(
    text: str, marks: Sequence[tuple[int, int]], forms: WordForms = ENGLISH_FORMS
) -> tuple[int, int] | None:
    """The stretch of whole sentences where the query's words, given as `marks`, are densest.

    None for a text that is short enough to be read whole. Different words count more than the same one
    again, and words that are rare in the text more than those all over it. Without a mark it is the
    beginning.
    """
    if len(text) <= WHOLE_TEXT:
        return None
    sentences = list(sentences_in(text))
    first, last = _densest(text, sentences, marks, forms) if marks else next(_windows(sentences))
    start, end = sentences[first][0], sentences[last - 1][1]
    return start, start + len(text[start:end].rstrip())


def _densest(
    text: str, sentences: Sequence[tuple[int, int]], marks: Sequence[tuple[int, int]], forms: WordForms
) -> tuple[int, int]:
    words = _stems_by_sentence(text, sentences, marks, forms)
    windows = list(_windows(sentences))
    densities = list(_densities(words, windows, _weights(words)))
    highest = max(densities)
    best = [window for window, density in zip(windows, densities, strict=True) if density == highest]
    # The middle one of equals has its words in the middle.
    return best[len(best) // 2]


def sentences_in(text: str) -> Iterator[tuple[int, int]]:
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
    text: str, sentences: Sequence[tuple[int, int]], marks: Sequence[tuple[int, int]], forms: WordForms
) -> list[Counter[str]]:
    words: list[Counter[str]] = [Counter() for _ in sentences]
    place = 0
    for start, end in marks:
        while sentences[place][1] <= start:
            place += 1
        words[place][forms.stem(text[start:end])] += 1
    return words


def _weights(words: Sequence[Counter[str]]) -> dict[str, float]:
    """A stem weighs more, the fewer sentences it is in."""
    spread = Counter(word for counts in words for word in counts)
    return {word: log(1 + len(words) / count) for word, count in spread.items()}


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
    """The worth of the words of each window; both its ends only ever move on."""
    inside = Counter[str]()
    start = end = 0
    density = 0.0
    for first, last in windows:
        coming, going = words[end:last], words[start:first]
        for counts in coming:
            inside.update(counts)
        for counts in going:
            inside.subtract(counts)
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
