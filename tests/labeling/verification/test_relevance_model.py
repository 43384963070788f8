"""The local relevance model, on a corpus built for it and, where they are, on real passages."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from evaluation.replays.replaying import LabelledPool, labelled_pool, replay, rounded_up
from labeling.verification.relevance_model import (
    PAIR,
    ModelMissingError,
    cross_fitted_scores,
    relevance_scores,
)
from pooling.formats import name_of, read_qrels, read_run
from pooling.strategies import STRATEGIES
from tests.testdata import DATA, needs_data

pytest.importorskip(
    "sklearn", reason="the local model needs scikit-learn: pip install 'soundings[local-model]'"
)

TOPICS = {
    "harbour": "ship boat anchor tide sailor quay",
    "kitchen": "oven pan recipe flour butter salt",
    "garden": "soil seed spade rose hedge compost",
}
COMMON = ["day", "time", "people", "thing", "place", "year", "water", "work"]
Frames = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]


def built(size: int = 40) -> Frames:
    """(queries, documents, pairs, truth): of each query's pool the first half is about its topic, and the
    query's own word appears in none of it.
    """
    rng = np.random.default_rng(2)
    asked = [(name, f"{name} {words.split()[0]}") for name, words in TOPICS.items()]
    queries = pl.DataFrame(asked, schema=["query_id", "text"], orient="row")
    documents, truth = [], []
    for name, words in TOPICS.items():
        for number in range(size):
            about = number < size // 2
            own = rng.choice(words.split()[1:], 4) if about else []
            text = " ".join([*own, *rng.choice(COMMON, 12)])
            documents.append((f"{name}-{number:02}", text))
            truth.append((name, f"{name}-{number:02}", about))
    judged = pl.DataFrame(truth, schema=[*PAIR, "relevant"], orient="row")
    frame = pl.DataFrame(documents, schema=["document_id", "text"], orient="row")
    return queries, frame, judged.select(PAIR), judged


def in_order(scores: pl.DataFrame, truth: pl.DataFrame) -> float:
    """The chance that a relevant pair scores above another of its query (AUC), over all queries."""
    found = scores.join(truth, on=PAIR)
    right, all_of_them = 0.0, 0
    for _, rows in found.group_by("query_id"):
        good, bad = (rows.filter(pl.col("relevant") == which)["score"].to_numpy() for which in (True, False))
        right += float((good[:, None] > bad).sum() + 0.5 * (good[:, None] == bad).sum())
        all_of_them += len(good) * len(bad)
    return right / all_of_them


def test_a_few_labels_teach_which_documents_are_meant() -> None:
    queries, documents, pairs, truth = built()
    few = truth.filter(pl.col("document_id").str.contains("-0[0-2]|-2[0-2]"))
    scores = relevance_scores(queries, documents, pairs, few)
    assert scores.columns == [*PAIR, "score"]
    assert scores.height == pairs.height - few.height
    assert scores.join(few, on=PAIR, how="semi").is_empty()
    assert scores["score"].is_between(0, 1, closed="none").all()
    assert in_order(scores, truth) > 0.9


def test_before_the_first_label_the_columns_of_the_pairs_decide() -> None:
    queries, documents, pairs, truth = built()
    place = truth.select((pl.col("relevant").cast(pl.Float64) / 50 + 0.01).alias("rrf"))
    scores = relevance_scores(queries, documents, pairs.hstack(place), truth.clear())
    assert scores.height == pairs.height
    assert in_order(scores, truth) > 0.95


def test_the_same_labels_and_seed_give_the_same_scores_whatever_their_order() -> None:
    queries, documents, pairs, truth = built(20)
    few = truth.sample(20, seed=1)
    first = relevance_scores(queries, documents, pairs, few, seed=4)
    assert relevance_scores(queries, documents, pairs, few, seed=4).equals(first)
    again = relevance_scores(queries.reverse(), documents.reverse(), pairs, few.reverse(), seed=4)
    assert np.allclose(again["score"], first["score"], atol=1e-6)


def test_a_cross_fitted_score_does_not_know_its_own_label() -> None:
    queries, documents, pairs, truth = built(20)
    turned = truth.with_columns(
        relevant=pl.when(pl.col("document_id") == "kitchen-03")
        .then(~pl.col("relevant"))
        .otherwise("relevant")
    )
    ours, theirs = (cross_fitted_scores(queries, documents, pairs, one) for one in (truth, turned))
    assert ours.select(PAIR).equals(pairs)
    one = pl.col("document_id") == "kitchen-03"
    assert ours.filter(one).equals(theirs.filter(one))
    assert not ours.equals(theirs)
    assert in_order(ours, truth) > 0.8


def test_queries_with_one_document_or_none_but_relevant_ones_are_no_error() -> None:
    queries, documents, pairs, truth = built(20)
    one = pairs.filter((pl.col("query_id") != "garden") | (pl.col("document_id") == "garden-00"))
    good = truth.filter("relevant")
    scores = relevance_scores(queries, documents, one, good)
    assert scores["score"].is_between(0, 1, closed="none").all()
    alone = one.filter(pl.col("query_id") == "garden")
    assert relevance_scores(queries, documents, alone, good.clear()).height == 1


def test_a_pair_without_a_text_is_named() -> None:
    queries, documents, pairs, truth = built(20)
    with pytest.raises(ValueError, match="no text for document garden-00 \\(1 such\\)"):
        relevance_scores(queries, documents.filter(pl.col("document_id") != "garden-00"), pairs, truth)
    with pytest.raises(ValueError, match="no text for query garden"):
        relevance_scores(queries.head(2), documents, pairs, truth)
    with pytest.raises(ValueError, match="no words"):
        relevance_scores(queries, documents.with_columns(text=pl.lit("")), pairs, truth)


def test_without_scikit_learn_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(ModelMissingError, match="pip install 'soundings\\[local-model\\]'"):
        relevance_scores(*built(20))


@pytest.mark.data
@needs_data
def test_on_real_passages_it_finds_more_than_the_order_of_the_runs() -> None:
    """A quarter of each query's judged pool, in five rounds: rrf finds 50 %, `learned` 52 %, this 55 %."""
    pool, queries, documents = passages()
    rows = [
        (query, document, one.rrf[number], bool(pool.truth[query][number]))
        for query, one in pool.candidates.items()
        for number, document in enumerate(one.documents)
    ]
    all_pairs = pl.DataFrame(rows, schema=[*PAIR, "rrf", "relevant"], orient="row")
    truth = all_pairs["relevant"].to_numpy()
    places = {query: np.flatnonzero(all_pairs["query_id"] == query) for query in pool.candidates}
    judged = np.zeros(all_pairs.height, dtype=bool)
    for share in (0.05, 0.1, 0.15, 0.2, 0.25):
        known = all_pairs.filter(pl.Series(judged)).select(*PAIR, "relevant")
        told = relevance_scores(queries, documents, all_pairs.drop("relevant"), known)
        score = np.full(len(judged), -1.0)
        score[~judged] = told["score"].to_numpy()
        for rows_of in places.values():
            left = rows_of[~judged[rows_of]]
            wanted = rounded_up(share, len(rows_of)) - int(judged[rows_of].sum())
            judged[left[np.argsort(-score[left], kind="stable")[:wanted]]] = True
    found = float(np.mean([truth[one][judged[one]].sum() / truth[one].sum() for one in places.values()]))
    assert found > 1.05 * replay(pool, STRATEGIES["rrf"]).found(0.25)


def passages() -> tuple[LabelledPool, pl.DataFrame, pl.DataFrame]:
    folder = DATA / "dl19"
    documents = pl.read_ndjson(folder / "corpus.jsonl").select(document_id="_id", text="text")
    queries = pl.read_ndjson(folder / "queries.jsonl").select(query_id="_id", text="text")
    qrels = read_qrels(folder / "qrels.txt").frame.join(documents, on="document_id", how="semi")
    runs = {name_of(path): read_run(path).frame for path in sorted((folder / "runs").iterdir())}
    return labelled_pool(qrels, runs, depth=100, min_relevance=2), queries, documents
