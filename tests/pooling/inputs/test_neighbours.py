"""What people of other tools have in memory leads to a report in two lines at most, with the same Recall@10.

The objects are of the libraries themselves, where these are installed: `pip install -e '.[neighbours]'`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import soundings
from tests.pooling.inputs import example

Names = dict[str, Any]


class Row(NamedTuple):
    """What somebody has, by the names in `lines`, which make the report `result` of it."""

    have: Callable[[Path], Names]
    lines: str
    needs: str = ""


def trec_files(folder: Path) -> Names:
    return {"qrels": example.QRELS, "run": example.BM25}


def bm25s_results(folder: Path) -> Names:
    from bm25s import Results

    numbers, scores, ids = example.arrays()
    results = Results(documents=numbers[:, :10], scores=scores[:, :10])
    return {"qrels": example.qrels(), "results": results, "queries": example.texts(), "ids": ids}


def faiss_index(folder: Path) -> Names:
    """An index whose inner products with the unit vectors of the queries are the scores of bm25."""
    import faiss

    numbers, scores, ids = example.arrays()
    vectors = np.zeros((len(ids), len(numbers)), dtype=np.float32)
    for query, (found, held) in enumerate(zip(numbers, scores, strict=True)):
        vectors[found[found >= 0], query] = held[found >= 0]
    index = faiss.IndexFlatIP(len(numbers))
    index.add(vectors)
    names = {"index": index, "vectors": np.eye(len(numbers), dtype=np.float32), "ids": ids}
    return {"qrels": example.qrels(), "queries": list(example.run()), **names}


def pyterrier_frames(folder: Path) -> Names:
    labels, results = example.frames("qid", "docno", "label")
    results["rank"] = results.groupby("qid").cumcount()
    return {"qrels": labels, "results": results.assign(docid=range(len(results)), query="its text")}


def ids_in_the_index(folder: Path) -> Names:
    labels, results = example.frames("query_id", "doc_id", "relevance")
    return {
        "qrels": labels.set_index(["query_id", "doc_id"]),
        "run": results.set_index(["query_id", "doc_id"]),
    }


def ranx_objects(folder: Path) -> Names:
    from ranx import Qrels, Run

    return {"qrels": Qrels(example.qrels()), "run": Run(example.run(), name="bm25")}


def ranx_lz4(folder: Path) -> Names:
    from ranx import Run

    Run(example.run(), name="bm25").save(str(folder / "bm25.lz4"))
    return {"qrels": example.QRELS, "path": folder / "bm25.lz4"}


def ir_measures_tuples(folder: Path) -> Names:
    import ir_measures

    return {
        "qrels": ir_measures.read_trec_qrels(str(example.QRELS)),
        "run": ir_measures.read_trec_run(str(example.BM25)),
    }


def beir_folder(folder: Path) -> Names:
    (folder / "beir" / "qrels").mkdir(parents=True)
    labels, _ = example.frames("query-id", "corpus-id", "score")
    labels.to_csv(folder / "beir" / "qrels" / "test.tsv", sep="\t", index=False)
    return {"folder": folder / "beir", "run": example.run()}


def hub_folder(folder: Path) -> Names:
    (folder / "hub" / "qrels").mkdir(parents=True)
    rows = [
        (query, document, float(label))
        for query, held in example.qrels().items()
        for document, label in held.items()
    ]
    for part, some in enumerate((rows[:100], rows[100:])):
        frame = pl.DataFrame(some, schema=["query-id", "corpus-id", "score"], orient="row")
        frame.write_parquet(folder / "hub" / "qrels" / f"test-0000{part}-of-00002.parquet")
    return {"folder": str(folder / "hub"), "run": example.run()}


def hugging_face(folder: Path) -> Names:
    from datasets import Dataset

    labels, results = example.frames("query-id", "corpus-id", "score")
    return {"qrels": Dataset.from_pandas(labels), "run": Dataset.from_pandas(results)}


def hugging_face_on_disk(folder: Path) -> Names:
    held = hugging_face(folder)
    for name, data in held.items():
        data.save_to_disk(str(folder / name))
    return {"qrels": folder / "qrels", "run": folder / "run"}


def duckdb_relations(folder: Path) -> Names:
    import duckdb

    held = dict(zip(("labels", "results"), example.frames("query_id", "doc_id", "relevance"), strict=True))
    connection = duckdb.connect()
    for name, frame in held.items():
        connection.register(name, frame)
    return {name: connection.sql(f"select * from {name}") for name in held}


def arrow_tables(folder: Path) -> Names:
    import pyarrow

    labels, results = example.frames("query_id", "document_id", "relevance")
    return {"qrels": pyarrow.Table.from_pandas(labels), "run": pyarrow.Table.from_pandas(results)}


def arrow_readers(folder: Path) -> Names:
    return {name: table.to_reader() for name, table in arrow_tables(folder).items()}


def lazy_frames(folder: Path) -> Names:
    labels, results = (
        pl.DataFrame(one) for one in columns_of(*example.frames("query_id", "document_id", "relevance"))
    )
    return {"qrels": labels.lazy(), "run": results.lazy()}


def columns_of(*tables: pd.DataFrame) -> list[dict[str, list[Any]]]:
    return [table.to_dict("list") for table in tables]


def dicts_of_columns(folder: Path) -> Names:
    labels, results = columns_of(*example.frames("query_id", "document_id", "relevance"))
    return {"qrels": labels, "run": results}


def categoricals(folder: Path) -> Names:
    labels, results = example.frames("query_id", "document_id", "relevance")
    return {
        "qrels": labels.astype({"query_id": "category"}),
        "run": results.astype({"document_id": "category"}),
    }


def whole_numbers(folder: Path) -> Names:
    ids = {query: number for number, query in enumerate(example.qrels())}
    labels, results = example.frames("query_id", "document_id", "relevance")
    return {"qrels": labels.replace({"query_id": ids}), "run": results.replace({"query_id": ids})}


def langchain_documents(folder: Path) -> Names:
    from langchain_core.documents import Document

    found = {
        query: [Document(page_content="its text", metadata={"source": id}) for id in held]
        for query, held in example.run().items()
    }
    return {"qrels": example.qrels(), "found": found}


def langchain_chunks(folder: Path) -> Names:
    """Two chunks of each document, of which the second is the better one, with scores or distances."""
    from langchain_core.documents import Document

    found, far = {}, {}
    for query, held in example.run().items():
        pairs = [(id, score - worse) for worse in (0.0, 1e-9) for id, score in held.items()]
        scored = [(Document(page_content="", metadata={"source": id}), score) for id, score in pairs]
        found[query] = sorted(scored, key=lambda pair: -pair[1])
        far[query] = [(document, 100 - score) for document, score in found[query]]
    return {"qrels": example.qrels(), "found": found, "far": far}


def llama_index_nodes(folder: Path) -> Names:
    from llama_index.core.schema import NodeWithScore, TextNode

    found = {
        query: [NodeWithScore(node=TextNode(text="", id_=id), score=score) for id, score in held.items()]
        for query, held in example.run().items()
    }
    return {"qrels": example.qrels(), "found": found}


def haystack_documents(folder: Path) -> Names:
    from haystack import Document

    found = {
        query: {"documents": [Document(id=id, content="", score=score) for id, score in held.items()]}
        for query, held in example.run().items()
    }
    return {"qrels": example.qrels(), "found": found}


def sentence_transformers(folder: Path) -> Names:
    """The dicts of InformationRetrievalEvaluator, and what util.semantic_search returns."""
    numbers, scores, ids = example.arrays()
    hits = [
        [{"corpus_id": int(one), "score": score} for one, score in zip(*row, strict=True) if one >= 0]
        for row in zip(numbers, scores.tolist(), strict=True)
    ]
    corpus = dict.fromkeys(ids, "its text")
    return {"relevant_docs": example.relevant(), "queries": example.texts(), "corpus": corpus, "hits": hits}


def lists(folder: Path) -> Names:
    found = {query: list(held) for query, held in example.run().items()}
    scored = {query: list(held.items()) for query, held in example.run().items()}
    return {"qrels": example.qrels(), "relevant": example.relevant(), "found": found, "scored": scored}


def elasticsearch_answers(folder: Path) -> Names:
    found = {
        query: {"took": 3, "hits": {"hits": [{"_id": id, "_score": score} for id, score in held.items()]}}
        for query, held in example.run().items()
    }
    return {"qrels": example.qrels(), "found": found}


def mteb_predictions(folder: Path) -> Names:
    held = {"mteb_model_meta": {"model_name": "bm25", "revision": "1"}, "default": {"test": example.run()}}
    path = folder / "Example_predictions.json"
    path.write_text(json.dumps(held))
    return {"qrels": example.qrels(), "predictions": held, "path": path}


def langchain_retriever(folder: Path) -> Names:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Bm25(BaseRetriever):
        k: int = 4

        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            return [Document(page_content="", metadata={"source": id}) for id in ids_of(query)[: self.k]]

    return {"qrels": example.qrels(), "queries": example.texts(), "retriever": Bm25()}


def llama_index_retriever(folder: Path) -> Names:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class Bm25(BaseRetriever):
        similarity_top_k = 2

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            found = ids_of(query_bundle.query_str)[: self.similarity_top_k]
            return [
                NodeWithScore(node=TextNode(text="", id_=id), score=-place) for place, id in enumerate(found)
            ]

    return {"qrels": example.qrels(), "queries": example.texts(), "retriever": Bm25()}


def haystack_retriever(folder: Path) -> Names:
    from haystack import Document, component

    @component
    class Bm25:
        @component.output_types(documents=list[Document])
        def run(self, query: str, top_k: int = 10) -> dict[str, list[Document]]:
            return {"documents": [Document(id=id, content="") for id in ids_of(query)[:top_k]]}

    return {"qrels": example.qrels(), "queries": example.texts(), "retriever": Bm25()}


def function(folder: Path) -> Names:
    return {"qrels": example.qrels(), "queries": example.texts(), "retriever": ids_of}


def ids_of(text: str) -> list[str]:
    query = next(id for id, known in example.texts().items() if known == text)
    return list(example.run()[query])


RUN_OF = "run = soundings.run_of(retriever, queries, k=50{})\nresult = soundings.evaluate(qrels, run, k=10)"
ROWS = {
    "files in TREC format": Row(trec_files, "result = soundings.evaluate(qrels, [run], k=10)"),
    "bm25s arrays": Row(
        bm25s_results,
        "result = soundings.evaluate(qrels, results, k=10, query_ids=queries, document_ids=ids)",
        "bm25s",
    ),
    "FAISS": Row(
        faiss_index,
        "found = index.search(vectors, 50)\n"
        "result = soundings.evaluate(qrels, found, k=10, query_ids=queries, document_ids=ids)",
        "faiss",
    ),
    "PyTerrier frames": Row(pyterrier_frames, "result = soundings.evaluate(qrels, {'bm25': results}, k=10)"),
    "ids in the index": Row(ids_in_the_index, "result = soundings.evaluate(qrels, run, k=10)"),
    "ranx": Row(ranx_objects, "result = soundings.evaluate(qrels, [run], k=10)", "ranx"),
    "ranx in LZ4": Row(ranx_lz4, "result = soundings.evaluate(qrels, [path], k=10)", "ranx"),
    "ir_measures": Row(
        ir_measures_tuples, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)", "ir_measures"
    ),
    "BEIR folder": Row(beir_folder, "result = soundings.evaluate(folder, run, k=10)"),
    "Hugging Face hub folder": Row(hub_folder, "result = soundings.evaluate(folder, run, k=10)"),
    "Hugging Face Dataset": Row(
        hugging_face, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)", "datasets"
    ),
    "Hugging Face on disk": Row(
        hugging_face_on_disk, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)", "datasets"
    ),
    "DuckDB": Row(duckdb_relations, "result = soundings.evaluate(labels, {'bm25': results}, k=10)", "duckdb"),
    "pyarrow": Row(arrow_tables, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)", "pyarrow"),
    "pyarrow readers": Row(
        arrow_readers, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)", "pyarrow"
    ),
    "LazyFrame": Row(lazy_frames, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)"),
    "dicts of columns": Row(dicts_of_columns, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)"),
    "categoricals": Row(categoricals, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)"),
    "whole numbers": Row(whole_numbers, "result = soundings.evaluate(qrels, {'bm25': run}, k=10)"),
    "LangChain documents": Row(
        langchain_documents,
        "result = soundings.evaluate(qrels, found, k=10, id_key='source')",
        "langchain_core",
    ),
    "LangChain chunks": Row(
        langchain_chunks,
        "result = soundings.evaluate(qrels, {'faiss': found}, k=10, id_key='source', collapse='best')",
        "langchain_core",
    ),
    "LangChain distances": Row(
        langchain_chunks,
        "result = soundings.evaluate(qrels, {'faiss': far}, k=10, id_key='source', collapse='best')",
        "langchain_core",
    ),
    "LlamaIndex nodes": Row(
        llama_index_nodes, "result = soundings.evaluate(qrels, {'bm25': found}, k=10)", "llama_index"
    ),
    "Haystack answers": Row(
        haystack_documents, "result = soundings.evaluate(qrels, {'bm25': found}, k=10)", "haystack"
    ),
    "sentence-transformers": Row(
        sentence_transformers,
        "result = soundings.evaluate("
        "relevant_docs, {'model': hits}, k=10, query_ids=queries, document_ids=list(corpus))",
    ),
    "lists of ids": Row(lists, "result = soundings.evaluate(relevant, found, k=10)"),
    "lists of ids with scores": Row(lists, "result = soundings.evaluate(relevant, {'mine': scored}, k=10)"),
    "Elasticsearch": Row(elasticsearch_answers, "result = soundings.evaluate(qrels, {'bm25': found}, k=10)"),
    "MTEB predictions": Row(mteb_predictions, "result = soundings.evaluate(qrels, predictions, k=10)"),
    "MTEB predictions in a file": Row(mteb_predictions, "result = soundings.evaluate(qrels, path, k=10)"),
    "a LangChain retriever": Row(langchain_retriever, RUN_OF.format(", id_key='source'"), "langchain_core"),
    "a LlamaIndex retriever": Row(llama_index_retriever, RUN_OF.format(""), "llama_index"),
    "a Haystack retriever": Row(haystack_retriever, RUN_OF.format(""), "haystack"),
    "a function": Row(function, RUN_OF.format("")),
}


def named(name: str) -> Any:
    """A row of the table. Those of ranx are slow: it compiles its dicts."""
    return pytest.param(name, marks=pytest.mark.slow) if ROWS[name].needs == "ranx" else name


@pytest.mark.parametrize("name", [named(name) for name in ROWS])
@pytest.mark.filterwarnings("ignore")
def test_what_people_have_is_a_report_in_two_lines(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    if row.needs and find_spec(row.needs) is None:
        pytest.skip(f"needs {row.needs}: pip install -e '.[neighbours]'")
    names = {"soundings": soundings, **row.have(tmp_path)}

    exec(row.lines, names)

    result = names["result"]
    (run,) = result.runs
    assert len(row.lines.splitlines()) <= 2
    assert result.figure(run, "recall", 10)["mean"] == pytest.approx(example.RECALL_AT_10, abs=1e-15)


@pytest.mark.parametrize(
    "name",
    [
        named(name)
        for name in ("pyarrow", "ranx", "ir_measures", "lists of ids with scores", "PyTerrier frames")
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_pools_are_made_of_the_same(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    if row.needs and find_spec(row.needs) is None:
        pytest.skip(f"needs {row.needs}: pip install -e '.[neighbours]'")
    have = row.have(tmp_path)
    run = next(have[key] for key in ("run", "scored", "results") if key in have)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool = soundings.pool({"bm25": run}, depth=10)

    assert pool.equals(soundings.pool({"bm25": example.BM25}, depth=10))
