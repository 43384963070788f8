"""Make the example runs: five retrievers rank the example documents for the example queries.

`runs/` has the four of the first week, `later/` the one that was improved since, and `indexes/` what a quick
index finds of the same vectors when it looks at few of its lists.

Install the extra first (`pip install -e '.[examples]'`), then `python examples/make_runs.py`.
The same packages give the same files.
"""

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import bm25s
import numpy as np
from rapidfuzz import fuzz, process
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.preprocessing import normalize

HERE = Path(__file__).parent
DEPTH = 50
DECIMALS = 6
DIMENSIONS = 60
SEED = 11
ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|ed|es|s|e)$")
TITLES, WEIGHT_OF_FUZZY = 3, 0.2  # of the improved run: how often the title counts; the rest weighs 0.8
LISTS, PROBES = 12, (1, 2, 4)  # of the index: into how many it parts the pages, at how many it looks
INDEX_DEPTH = 10
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
    query_vectors, document_vectors = lsa_vectors(documents, queries)
    return query_vectors @ document_vectors.T


def lsa_vectors(documents: list[str], queries: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1 in the latent space: (queries, dimensions) and (documents, dimensions)."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, analyzer=stems_of)
    decomposition = TruncatedSVD(n_components=DIMENSIONS, n_iter=20, random_state=SEED)
    document_vectors = normalize(decomposition.fit_transform(vectorizer.fit_transform(documents)))
    return normalize(decomposition.transform(vectorizer.transform(queries))), document_vectors


def lsa_2(documents: list[str], queries: list[str]) -> np.ndarray:
    """Score by `lsa` with the title counted `TITLES` times, and a little by `fuzzy`: queries × documents."""
    titles = [document.split("\n")[0] for document in documents]
    longer = [
        "\n".join([title] * (TITLES - 1) + [text]) for title, text in zip(titles, documents, strict=True)
    ]
    meaning, words = (
        found / found.max(axis=1, keepdims=True)
        for found in (lsa(longer, queries), fuzzy(documents, queries))
    )
    return WEIGHT_OF_FUZZY * words + (1 - WEIGHT_OF_FUZZY) * meaning


def probed(documents: list[str], queries: list[str], probes: int) -> np.ndarray:
    """Score as `lsa` does, but only the pages in the `probes` lists nearest to the query; 0 elsewhere."""
    query_vectors, document_vectors = lsa_vectors(documents, queries)
    lists = KMeans(LISTS, n_init=4, random_state=SEED).fit(document_vectors)
    nearest = np.argsort(-(query_vectors @ lists.cluster_centers_.T), axis=1, kind="stable")[:, :probes]
    is_seen = (lists.labels_[None, :, None] == nearest[:, None, :]).any(axis=2)
    return np.where(is_seen, query_vectors @ document_vectors.T, 0)


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


RETRIEVERS = {
    "runs/bm25": bm25,
    "runs/tfidf": tfidf,
    "runs/lsa": lsa,
    "runs/fuzzy": fuzzy,
    "later/lsa-2": lsa_2,
    **{f"indexes/lsa-probes-{probes}": partial(probed, probes=probes) for probes in PROBES},
}


def run_lines(name: str, scores: np.ndarray, query_ids: list[str], document_ids: list[str]) -> Iterable[str]:
    """Yield the TREC lines of one run: the best documents per query with a score above zero."""
    folder, tag = name.split("/")
    depth = INDEX_DEPTH if folder == "indexes" else DEPTH
    for query_id, row in zip(query_ids, scores.round(DECIMALS).tolist(), strict=True):
        found = [
            (score, document_id) for score, document_id in zip(row, document_ids, strict=True) if score > 0
        ]
        # Ordered after rounding, ties by id downwards, so that ranks and written scores tell the same order.
        for rank, (score, document_id) in enumerate(sorted(found, reverse=True)[:depth], start=1):
            yield f"{query_id} Q0 {document_id} {rank} {score:.{DECIMALS}f} {tag}\n"


def main() -> None:
    """Write one run per retriever into its folder below the output folder."""
    parser = argparse.ArgumentParser(description="Make the example runs.")
    parser.add_argument("--output", type=Path, default=HERE, help="folder for runs/, later/ and indexes/")
    output = parser.parse_args().output
    documents, queries = read_jsonl(HERE / "corpus.jsonl"), read_jsonl(HERE / "queries.jsonl")
    texts = [f"{document['title']}\n{document['text']}" for document in documents]
    for name, retrieve in RETRIEVERS.items():
        path = output / f"{name}.run"
        path.parent.mkdir(parents=True, exist_ok=True)
        scores = retrieve(texts, [query["text"] for query in queries])
        lines = run_lines(name, scores, [query["_id"] for query in queries], [d["_id"] for d in documents])
        path.write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
