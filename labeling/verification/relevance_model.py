"""Scores without any server: a small relevance model that learns from the judgments themselves.

Two logistic regressions, both made anew from the labels that there are. One for each query, on the TF-IDF of
its judged documents: the query's own text counts as a relevant document and documents drawn at random from
other queries' pools as irrelevant ones, so that it can start before the first judgment (continuous active
learning as in AutoTAR: Cormack and Grossman, 2015). One over all queries, on what a query and a document have
in common: the cosine of their TF-IDF, the share of the query's rare words that the document has, its length,
and whatever columns the pairs bring along (the fused score of the runs, say). The log-odds of both are added,
the query's own counting the more, the more labels the query has.

Scores order and stratify. They are made from labels, so whoever estimates with them beside those same labels
takes `cross_fitted_scores`, where no pair's score knows its own label.

Needs scikit-learn: pip install 'soundings[local-model]'.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PAIR = ["query_id", "document_id"]
MISSING = (
    "The local relevance model needs scikit-learn, which is not installed: "
    "pip install 'soundings[local-model]'."
)
#: Documents of other queries that are taken for irrelevant, beside each query's judged ones.
ASSUMED = 100
#: At so many labels a query's own model counts as much as it ever will, by halves: n / (n + this).
OWN_LABELS = 20
#: Of each class, before anything is learned over all queries.
LEAST_OF_EACH = 5
#: What shared words weigh against a column that the pairs bring along, before anything is learned.
TEXT = 0.2
MOST_WORDS = 50_000
FOLDS = 5


class ModelMissingError(RuntimeError):
    """scikit-learn is not installed; the message says how to get it."""

    def __init__(self) -> None:
        super().__init__(MISSING)


@dataclass(frozen=True)
class Texts:
    """Queries and documents as TF-IDF rows of one vocabulary: sparse, each row of length 1 (or empty)."""

    queries: Any
    documents: Any
    query_row: dict[str, int]
    document_row: dict[str, int]


def relevance_scores(
    queries: pl.DataFrame,
    documents: pl.DataFrame,
    pairs: pl.DataFrame,
    labels: pl.DataFrame,
    *,
    seed: int = 0,
) -> pl.DataFrame:
    """query_id, document_id, score in (0, 1), for the pairs without a label, in the order of `pairs`.

    queries: query_id, text. documents: document_id, text (title and text together). pairs: query_id,
    document_id, the pool; further columns of numbers are features of the model over all queries, compared
    within each query. labels: query_id, document_id, relevant. Deterministic for given frames and seed.
    Raises ModelMissingError without scikit-learn, ValueError for a pair whose query or document has no text.
    """
    texts = texts_of(queries, documents, pairs)
    scored = _scored(texts, pairs, labels, seed)
    return scored.join(labels.select(PAIR), on=PAIR, how="anti", maintain_order="left")


def cross_fitted_scores(
    queries: pl.DataFrame,
    documents: pl.DataFrame,
    pairs: pl.DataFrame,
    labels: pl.DataFrame,
    *,
    seed: int = 0,
    folds: int = FOLDS,
) -> pl.DataFrame:
    """The same for all pairs, judged ones too, each scored by a model that saw no label of its fold: what a
    prediction-powered estimate may use (Zrnic and Candès, Cross-prediction-powered inference, 2024).
    """
    import polars as pl

    texts = texts_of(queries, documents, pairs)
    keys = [f"{seed}\0{query}\0{document}" for query, document in pairs.select(PAIR).iter_rows()]
    number = [int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest()) % folds for key in keys]
    fold_of = pairs.select(PAIR).with_columns(fold=pl.Series(number, dtype=pl.Int64))
    parts = []
    for fold in range(folds):
        inside = fold_of.filter(pl.col("fold") == fold).select(PAIR)
        known = labels.join(inside, on=PAIR, how="anti", maintain_order="left")
        parts.append(_scored(texts, pairs, known, seed).join(inside, on=PAIR, how="semi"))
    return pairs.select(PAIR).join(pl.concat(parts), on=PAIR, how="left", maintain_order="left")


def texts_of(queries: pl.DataFrame, documents: pl.DataFrame, pairs: pl.DataFrame) -> Texts:
    """Words weighted by how rare they are among the pairs' documents, frequent ones in a text damped."""
    vectorizer_of = _scikit_learn().feature_extraction.text.TfidfVectorizer

    wanted = documents.join(pairs.select("document_id").unique(), on="document_id", how="semi").sort(
        "document_id"
    )
    for name, there in (("query_id", queries), ("document_id", wanted)):
        absent = pairs.select(name).unique().join(there, on=name, how="anti").sort(name)
        if absent.height:
            what = name.removesuffix("_id")
            raise ValueError(
                f"There is no text for {what} {absent[name][0]} ({absent.height} such); import it first."
            )
    asked = queries.join(pairs.select("query_id").unique(), on="query_id", how="semi").sort("query_id")
    word = r"(?u)\b\w+\b"  # one letter or figure is a word too
    vectorizer = vectorizer_of(sublinear_tf=True, max_features=MOST_WORDS, token_pattern=word)
    try:
        rows = vectorizer.fit_transform(wanted["text"].to_list())
    except ValueError:  # no document has a word
        raise ValueError("The documents have no words, so a model of their text can learn nothing.") from None
    return Texts(
        vectorizer.transform(asked["text"].to_list()),
        rows,
        {query: row for row, query in enumerate(asked["query_id"])},
        {document: row for row, document in enumerate(wanted["document_id"])},
    )


def _scored(texts: Texts, pairs: pl.DataFrame, labels: pl.DataFrame, seed: int) -> pl.DataFrame:
    """All pairs with their scores."""
    import polars as pl

    labelled = pairs.join(labels.select(*PAIR, "relevant"), on=PAIR, how="left", maintain_order="left")
    relevant = labelled["relevant"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    query = np.array([texts.query_row[one] for one in pairs["query_id"]], dtype=np.int64)
    document = np.array([texts.document_row[one] for one in pairs["document_id"]], dtype=np.int64)
    own = _own_log_odds(texts, query, document, relevant, seed)
    extra = [name for name in pairs.columns if name not in PAIR]
    columns = [pairs[name].cast(pl.Float64).fill_null(0.0).to_numpy() for name in extra]
    features = _features(texts, query, document, columns)
    judged = ~np.isnan(relevant)
    count = np.bincount(query[judged], minlength=len(texts.query_row))[query]
    trust = (count + 1) / (count + 1 + OWN_LABELS)
    log_odds = trust * own + _shared_log_odds(features, relevant)
    score = 1 / (1 + np.exp(-np.clip(log_odds, -15, 15)))
    return pairs.select(PAIR).with_columns(score=pl.Series(score))


def _own_log_odds(texts: Texts, query: Integers, document: Integers, relevant: Floats, seed: int) -> Floats:
    """(n,) of each pair by its query's own regression, centred within the query."""
    from scipy import sparse

    result = np.zeros(len(query))
    for name, row in texts.query_row.items():
        inside = np.flatnonzero(query == row)
        judged = inside[~np.isnan(relevant[inside])]
        key = hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest()
        outside = np.setdiff1d(np.arange(len(texts.document_row)), document[inside])
        pool = outside if len(outside) else np.setdiff1d(document[inside], document[judged])
        order = np.random.default_rng(int.from_bytes(key)).permutation(len(pool))
        assumed = np.sort(pool[order[:ASSUMED]])
        rows = sparse.vstack(
            [texts.queries[row], texts.documents[document[judged]], texts.documents[assumed]]
        )
        truth = np.concatenate(([1.0], relevant[judged], np.zeros(len(assumed))))
        if not (truth == 0).any():
            continue
        # What somebody judged counts whole; the assumed ones together as much as the relevant do.
        weight = np.ones(len(truth))
        weight[1 + len(judged) :] = truth.sum() / max(len(assumed), 1)
        # Far fewer rows than words: the dual problem is the small one.
        model = _regression(rows, truth, weight, 10.0, seed, dual=True)
        odds = model.decision_function(texts.documents[document[inside]])
        result[inside] = odds - odds.mean()
    return result


def _features(texts: Texts, query: Integers, document: Integers, extra: Sequence[Floats]) -> Floats:
    """(n, 3 + extra) of each pair: cosine, share of the query's words by weight, length, and the rest; all in
    standard deviations from the query's mean.
    """
    asked, found = texts.queries[query], texts.documents[document]
    cosine = np.asarray(asked.multiply(found).sum(axis=1)).ravel()
    weight = np.asarray(asked.sum(axis=1)).ravel()
    held = np.asarray(asked.multiply(found > 0).sum(axis=1)).ravel() / np.where(weight > 0, weight, 1)
    length = np.log1p(np.diff(texts.documents.indptr)[document])
    columns = [
        _within_queries(np.asarray(one, dtype=np.float64), query) for one in (cosine, held, length, *extra)
    ]
    return np.column_stack(columns)


def _within_queries(values: Floats, query: Integers) -> Floats:
    count = np.maximum(np.bincount(query), 1)
    centred = values - (np.bincount(query, weights=values) / count)[query]
    spread = np.sqrt(np.bincount(query, weights=centred**2) / count)[query]
    return np.asarray(centred / np.where(spread > 1e-12, spread, 1.0))


def _shared_log_odds(features: Floats, relevant: Floats) -> Floats:
    """(n,) by the regression over all queries; the sum of the features while there are too few labels."""
    judged = ~np.isnan(relevant)
    found = int((relevant == 1).sum())
    if min(found, int(judged.sum()) - found) < LEAST_OF_EACH:
        # What the pairs bring along, the runs' opinion, is worth more than shared words; length says nothing.
        weights = np.array([TEXT, TEXT, 0.0] + [1.0] * (features.shape[1] - 3))
        return np.asarray(features @ weights - 1.0)
    model = _regression(features[judged], relevant[judged], np.ones(int(judged.sum())), 1.0, 0)
    return np.asarray(model.decision_function(features), dtype=np.float64)


def _regression(
    rows: Any, truth: Floats, weight: Floats, looseness: float, seed: int, *, dual: bool = False
) -> Any:
    model = _scikit_learn().linear_model.LogisticRegression(
        C=looseness, solver="liblinear", dual=dual, random_state=seed, max_iter=1_000
    )
    return model.fit(rows, truth, sample_weight=weight)


def _scikit_learn() -> Any:
    """The library, loaded when it is needed."""
    try:
        import sklearn.feature_extraction.text
        import sklearn.linear_model
    except ImportError:
        raise ModelMissingError from None
    return sklearn
