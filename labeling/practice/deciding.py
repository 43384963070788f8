"""Which passage decides a practice question: what its reason quotes, or the sentence nearest to the query."""

from __future__ import annotations

import re

from labeling.items.passages import ENGLISH_FORMS, sentences_in, term_marks
from pooling.texts.word_forms import WordForms

# What a reason quotes, in the marks of several languages.
_QUOTED = re.compile(r"[“\"„«‘]([^“”\"„«»‘’]{3,})[”\"“»’]")


def deciding_span(
    text: str, query: str, reason: str, forms: WordForms = ENGLISH_FORMS
) -> tuple[int, int] | None:
    """A half-open span of `text`: the words that `reason` quotes from it, else the sentence that shares most
    words with the query, and of equals the one that shares most with the reason; None if none shares any.

    >>> deciding_span("It rains. The bus leaves at one.", "night bus", "")
    (10, 32)
    """
    for quoted in _QUOTED.findall(reason):
        if (start := text.find(quoted)) >= 0:
            return start, start + len(quoted)
    best: tuple[int, int] | None = None
    most = (0, 0)
    for start, end in sentences_in(text):
        sentence = text[start:end].rstrip()
        shared = (_shared(query, sentence, forms), _shared(reason, sentence, forms))
        if shared > most and (shared[0] or not most[0]):
            best, most = (start, start + len(sentence)), shared
    return best


def _shared(words: str, sentence: str, forms: WordForms) -> int:
    """How many different words of `words` a sentence has."""
    return len({forms.stem(sentence[start:end]) for start, end in term_marks(words, sentence, forms)})
