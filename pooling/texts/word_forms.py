"""Forms of the same word in a language: stems, words that say nothing, and synonyms of a collection.

Everything here is meant for the eye that reads a document; no number rests on it. Stems are those of
Snowball (Porter, "Snowball: A language for stemming algorithms", 2001), except in English, whose stemmer
there takes "buses" and "bus" for two words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from threading import local
from typing import TYPE_CHECKING

from pooling.interface.languages import ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from Stemmer import Stemmer

# Accents, the points of Hebrew and Arabic, the vowels of the scripts of India, and joiners.
_MARKS = (
    r"\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    r"\u200c\u200d\u00ad"
)
SOFT_HYPHEN = "\u00ad"
# Where an i has its dot apart from it, and where a capital I has none.
_TURKISH = {"tr", "az"}
# What Korean grows onto a noun, longest first; what is left has two syllables at least, or one before two.
_KOREAN_ENDING = re.compile(
    r"(?<=[\uac00-\ud7a3])(?:에서는|에서도|으로는|에게서|이라는|라는|까지|부터|에서|에게|으로|처럼|보다|하고|이나"
    r"|(?<=[\uac00-\ud7a3]{2})[은는이가을를에의도로와과만])$"
)
# A word is letters and digits with their marks; an apostrophe inside belongs to it.
WORD = re.compile(rf"[^\W_][\w{_MARKS}]*(?:[’'][^\W_]+)?")
# Scripts that put no space between words: Thai to Khmer, kana, Han, and their compatibility forms.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SIBILANT = ("s", "x", "z", "ch", "sh")
#: Languages without an algorithm of Snowball, whose words are compared whole, or by pairs of characters. The
#: algorithms of the others have the languages' names.
WITHOUT_STEMS = frozenset({"bg", "bn", "he", "hr", "ja", "ko", "sk", "sl", "th", "uk", "ur", "vi", "zh"})


# Nobody looks for a longer word. Folding a million accents takes hours, and the stems of many words are kept.
LONGEST_WORD = 100

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


@dataclass(frozen=True)
class WordForms:
    """The language of a collection's texts by its ISO 639-1 code, and groups of words that mean the same."""

    language: str = ENGLISH
    synonyms: tuple[frozenset[str], ...] = ()

    def stem(self, word: str) -> str:
        """The common part of a word's forms, after folding case; accents fold in English alone."""
        return _stem_of(word, self.language)

    def looked_for(self, query: str) -> frozenset[str]:
        """The stems that a query looks for: its words and their synonyms, no stop words or single letters.

        A query of nothing else ("to be or not to be") keeps all its words. Of scripts without spaces, these
        are pairs of neighbouring characters.
        """
        words, pieces = [], set[str]()
        for match in WORD.finditer(query):
            if len(match.group()) <= LONGEST_WORD:
                pieces |= set(unspaced_pairs(match.group()))
                words += [folded(word, self.language) for word in UNSPACED.sub(" ", match.group()).split()]
        stop_words = _stop_words(self.language)
        telling = [word for word in words if len(word) > 1 and word not in stop_words]
        stems = {self.stem(word) for word in (telling or ([] if pieces else words))}
        for group in self.synonyms:
            if not stems.isdisjoint(group):
                stems |= group
        return frozenset(stems | pieces)


@lru_cache(maxsize=100)
def forms_of(language: str, synonyms: str) -> WordForms:
    """From a collection's settings: `synonyms` has a group of words on each line, separated by commas."""
    lines = (line.split(",") for line in synonyms.splitlines())
    groups = (frozenset(stem(word.strip(), language) for word in line if word.strip()) for line in lines)
    return WordForms(language, tuple(group for group in groups if len(group) > 1))


def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of a word in a language; of one without an algorithm, the word with its case folded."""
    return _stem_of(word, language)


def unspaced_pairs(run: str) -> Iterator[str]:
    """Neighbouring characters of what has no spaces, without pairs of hiragana, which are mostly grammar."""
    for match in UNSPACED.finditer(run):
        text = match.group()
        pairs = [one + other for one, other in pairwise(text)] or [text]
        yield from (pair for pair in pairs if not _HIRAGANA.fullmatch(pair))


def spans_of_pairs(run: str, pairs: frozenset[str]) -> Iterable[tuple[int, int]]:
    """Spans of wanted pairs of characters in `run`, those that touch joined to one."""
    spans: list[tuple[int, int]] = []
    for start in range(len(run)):
        for length in (2, 1):
            end = min(start + length, len(run))
            if run[start:end] in pairs:
                if spans and start <= spans[-1][1]:
                    spans[-1] = spans[-1][0], max(end, spans[-1][1])
                else:
                    spans.append((start, end))
                break
    return spans


def folded(word: str, language: str) -> str:
    """The word without case, soft hyphens and width; in English also without accents."""
    if language in _TURKISH:
        word = word.replace("I", "ı").replace("İ", "i")
    if word.isascii():
        return word.lower()
    word = word.replace(SOFT_HYPHEN, "").replace("İ", "i")
    if language != ENGLISH:
        return unicodedata.normalize("NFKC", word.casefold())
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


@lru_cache(maxsize=100_000)
def _stem_of(word: str, language: str) -> str:
    if language == ENGLISH:
        return _english_stem(word)
    whole = re.sub(r"[’'].*", "", word)
    if language == "ko":
        return _KOREAN_ENDING.sub("", folded(whole, language))
    if language in WITHOUT_STEMS:
        return folded(whole, language)
    root: str = _stemmer(LANGUAGES[language].lower()).stemWord(folded(whole, language))
    return root


_OWN = local()


def _stemmer(algorithm: str) -> Stemmer:
    """The stemmer of this thread: two threads must not share one."""
    from Stemmer import Stemmer

    stemmers: dict[str, Stemmer] = _OWN.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = Stemmer(algorithm)
    return stemmers[algorithm]


@cache
def _stop_words(language: str) -> frozenset[str]:
    if language == ENGLISH:
        return STOP_WORDS
    from stopwordsiso import has_lang, stopwords

    return (
        frozenset(folded(word, language) for word in stopwords(language))
        if has_lang(language)
        else frozenset()
    )


def _english_stem(word: str) -> str:
    """Without plural, -ed, -ing, -ly, final e: "buses" is "bus", "judging" "judge", "operate" not "opera"."""
    word = _without_plural(re.sub(r"[’'].*", "", folded(word, ENGLISH)))
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
