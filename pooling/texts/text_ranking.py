"""Our own ranking of a collection's texts for its queries, so that what no run found can be drawn as well.

BM25 (Robertson and Walker, 1994), as bm25s computes it. Documents are read once and indexed in parts, so that
a million of them need the memory of one part. Word frequencies are those of the part, whose documents are
enough that this hardly moves the order; a frame needs no exact order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from pooling.formats.wording import counted
from pooling.heavy import np, pl
from pooling.interface.languages import ENGLISH
from pooling.interface.results import Progress
from pooling.texts.word_forms import LONGEST_WORD, UNSPACED, WORD, stem, unspaced_pairs

#: Documents that are indexed together.
PART = 100_000
#: A document's id and its text, title included.
Text = tuple[str, str]


def text_ranking(
    queries: Mapping[str, str],
    texts: Iterable[Text],
    depth: int,
    *,
    language: str = ENGLISH,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The best `depth` documents of each query as a run: query_id, document_id, score, sorted by query.

    A document without a word of the query has no place, unless the collection has no more than `depth`
    documents: then every query has all of them, and what matches nothing has the score 0.
    """
    best: dict[str, list[tuple[float, str]]] = {query: [] for query in queries}
    words = {query: list(dict.fromkeys(_terms(text, language))) for query, text in queries.items()}
    rest: list[str] = []
    done, stream = 0, iter(texts)
    while part := list(islice(stream, PART)):
        ids = [document for document, _ in part]
        rest += ids if done + len(ids) <= depth else []
        for query, hits in _scores(words, part, depth, language):
            best[query] = heapq.nlargest(depth, [*best[query], *((score, ids[at]) for score, at in hits)])
        done += len(ids)
        if progress:
            progress(min(0.9, done / (done + PART)), f"{counted(done, 'text')} ranked.")
    if done <= depth:
        for ranked in best.values():
            placed = {document for _, document in ranked}
            ranked += [(0.0, document) for document in rest if document not in placed]
    rows = [(query, document, score) for query in sorted(best) for score, document in best[query]]
    schema = {"query_id": pl.String, "document_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _scores(
    words: Mapping[str, list[str]], part: list[Text], depth: int, language: str
) -> Iterator[tuple[str, list[tuple[float, int]]]]:
    """By query: score and number of the part's best documents."""
    import logging

    import bm25s

    # It logs each step for debugging, to the terminal of whoever waits.
    logging.getLogger("bm25s").setLevel(logging.WARNING)

    vocabulary: dict[str, int] = {}
    numbers = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in _terms(text, language)] for _, text in part
    ]
    if not vocabulary:
        return
    index = bm25s.BM25()
    index.index((numbers, vocabulary), show_progress=False)
    for query, terms in words.items():
        term_ids = [vocabulary[term] for term in terms if term in vocabulary]
        if not term_ids:
            continue
        scores = index.get_scores_from_ids(term_ids)
        count = min(depth, int(np.count_nonzero(scores > 0)))
        top = np.argpartition(-scores, count - 1)[:count].tolist() if count else []
        yield query, [(float(scores[at]), at) for at in top]


def _terms(text: str, language: str) -> Iterator[str]:
    """The stems of a text's words, and neighbouring characters where a script puts no spaces."""
    for match in WORD.finditer(text):
        word = match.group()
        if len(word) > LONGEST_WORD:
            continue
        if UNSPACED.search(word):
            yield from unspaced_pairs(word)
            continue
        yield stem(word, language)
