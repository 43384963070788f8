"""Make the example runs: four retrievers rank the example documents for the example queries.

Install the extra first (`pip install -e '.[examples]'`), then `python examples/make_runs.py`.
The same packages give the same files.
"""

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import bm25s
import numpy as np
from rapidfuzz import fuzz, process
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.preprocessing import normalize

HERE = Path(__file__).parent
DEPTH = 50
DECIMALS = 6
DIMENSIONS = 60
SEED = 11
ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|ed|es|s|e)$")
SIMILAR_WORDS = 75.0  # of rapidfuzz's 0 to 100; below it two words count as unrelated


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the objects of a JSONL file in file order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def bm25(documents: list[str], queries: list[str]) -> np.ndarray:
    """Score by BM25 (k1 1.5, b 0.75) on stems without stop words: array of queries × documents."""
    retriever = bm25s.BM25(k1=1.5, b=0.75)
    retriever.index([stems_of(text) for text in documents], show_progress=False)
    return np.array([retriever.get_scores(stems_of(query)) for query in queries], dtype=np.float64)


def tfidf(documents: list[str], queries: list[str]) -> np.ndarray:
    """Score by the cosine of sublinear TF-IDF vectors of words and word pairs: queries × documents."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), stop_words="english")
    document_vectors = vectorizer.fit_transform(documents)
    return (vectorizer.transform(queries) @ document_vectors.T).toarray()


def lsa(documents: list[str], queries: list[str]) -> np.ndarray:
    """Score by the cosine in a latent semantic space of `DIMENSIONS` dimensions: queries × documents."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, analyzer=stems_of)
    decomposition = TruncatedSVD(n_components=DIMENSIONS, n_iter=20, random_state=SEED)
    document_vectors = normalize(decomposition.fit_transform(vectorizer.fit_transform(documents)))
    return normalize(decomposition.transform(vectorizer.transform(queries))) @ document_vectors.T


def fuzzy(documents: list[str], queries: list[str]) -> np.ndarray:
    """Score by edit similarity of words, so that `parked` meets `parking`: queries × documents.

    Each query word adds its best similarity with any word of the document, weighted by the word's rarity.
    """
    vocabularies = [set(words_of(text)) for text in documents]
    frequency = Counter(word for vocabulary in vocabularies for word in vocabulary)
    known = sorted(frequency)
    return np.array([fuzzy_scores(words_of(query), vocabularies, frequency, known) for query in queries])


def fuzzy_scores(
    words: list[str], vocabularies: list[set[str]], frequency: Counter[str], known: list[str]
) -> list[float]:
    """Return one score per document for the words of one query."""
    scores = [0.0] * len(vocabularies)
    for word in sorted(set(words)):
        similar = similar_words(word, known)
        reach = sum(not vocabulary.isdisjoint(similar) for vocabulary in vocabularies)
        rarity = math.log((1 + len(vocabularies)) / (1 + reach))
        for index, vocabulary in enumerate(vocabularies):
            scores[index] += rarity * max(
                (similar[found] for found in vocabulary & similar.keys()), default=0
            )
    return scores


def similar_words(word: str, known: list[str]) -> dict[str, float]:
    """Return the known words that resemble `word`, each with its similarity from 0 to 1."""
    matches = process.extract(word, known, scorer=fuzz.ratio, score_cutoff=SIMILAR_WORDS, limit=None)
    return {found: similarity / 100 for found, similarity, _ in matches}


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, those of one or two letters left out."""
    return re.findall(r"[a-z]{3,}", text.lower())


def stems_of(text: str) -> list[str]:
    """Return the words of a text that are no stop words, cut back to a rough stem."""
    return [ENDING.sub("", word) for word in words_of(text) if word not in ENGLISH_STOP_WORDS]


RETRIEVERS = {"bm25": bm25, "tfidf": tfidf, "lsa": lsa, "fuzzy": fuzzy}


def run_lines(tag: str, scores: np.ndarray, query_ids: list[str], document_ids: list[str]) -> Iterable[str]:
    """Yield the TREC lines of one run: the best `DEPTH` documents per query with a score above zero."""
    for query_id, row in zip(query_ids, scores.round(DECIMALS).tolist(), strict=True):
        found = [
            (score, document_id) for score, document_id in zip(row, document_ids, strict=True) if score > 0
        ]
        # Ordered after rounding, ties by id downwards, so that ranks and written scores tell the same order.
        for rank, (score, document_id) in enumerate(sorted(found, reverse=True)[:DEPTH], start=1):
            yield f"{query_id} Q0 {document_id} {rank} {score:.{DECIMALS}f} {tag}\n"


def main() -> None:
    """Write one run per retriever into the output folder."""
    parser = argparse.ArgumentParser(description="Make the four example runs.")
    parser.add_argument("--output", type=Path, default=HERE / "runs", help="folder for the run files")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    documents, queries = read_jsonl(HERE / "corpus.jsonl"), read_jsonl(HERE / "queries.jsonl")
    texts = [f"{document['title']}\n{document['text']}" for document in documents]
    for name, retrieve in RETRIEVERS.items():
        scores = retrieve(texts, [query["text"] for query in queries])
        lines = run_lines(name, scores, [query["_id"] for query in queries], [d["_id"] for d in documents])
        (output / f"{name}.run").write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
