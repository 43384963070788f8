"""Our exports read by the packages they are for, and what these packages write read by us.

`pip install -e '.[neighbours]'` has those that are small; the others are tried where they are installed.
"""

from __future__ import annotations

import asyncio
import json
import uuid
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import soundings
from labeling.judgment_imports.importing import import_judgments
from labeling.judgment_imports.staging import ImportChoices
from labeling.models import QrelsRelease
from labeling.qrels.judgments import judgment_rows
from pooling.pools.exports import label_studio_tasks
from tests.labeling.qrels.test_exports import exported, release
from tests.world import ALPHA, QUERIES, World

__all__ = ["release"]  # a fixture
pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore")]

LABEL_STUDIO = """
<View>
  <Text name="query" value="$query"/><Text name="text" value="$text"/>
  <Choices name="verdict" toName="text"><Choice value="Relevant"/><Choice value="Not relevant"/></Choices>
</View>
"""


def needs(package: str, how: str = "-e '.[neighbours]'") -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(package) is None, reason=f"needs {package}: pip install {how}")


def our_recall(world: World, k: int) -> float:
    labels = json.loads(exported(world, "json"))
    result = soundings.evaluate(labels, {"alpha": ALPHA}, k=k)
    return float(result.figure("alpha", "recall", k)["mean"])


def said(world: World, name: str, content: object, format: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """What judgments a file brings, and the notes on it."""
    path = world.folder / name
    path.write_text(json.dumps(content))
    done = import_judgments(world.collection, path, ImportChoices(format=format))
    rows = judgment_rows(world.collection)
    return [
        (row["annotator"], row["query_id"], row["document_id"], row["verdict"]) for row in rows
    ], done.notes


@pytest.mark.anywhere
@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3])
def test_ranx_and_ir_measures_compute_our_recall_of_our_exports(
    world: World, release: QrelsRelease, k: int
) -> None:
    import ir_measures
    import ranx

    run = {query: {one: -float(place) for place, one in enumerate(ids)} for query, ids in ALPHA.items()}
    (world.folder / "release.json").write_bytes(exported(world, "json"))
    (world.folder / "release.qrels").write_bytes(exported(world, "trec"))
    qrels = ranx.Qrels.from_file(str(world.folder / "release.json"), kind="json")
    recall = ir_measures.parse_measure(f"R@{k}")
    read = list(ir_measures.read_trec_qrels(str(world.folder / "release.qrels")))

    theirs = [
        ranx.evaluate(qrels, ranx.Run(run), f"recall@{k}"),
        ir_measures.calc_aggregate([recall], read, run)[recall],
    ]

    assert theirs == pytest.approx([our_recall(world, k)] * 2, abs=1e-15)


@needs("datasets")
def test_hugging_face_loads_the_folder_with_its_three_configurations(
    world: World, release: QrelsRelease, tmp_path: Path
) -> None:
    from datasets import load_dataset

    archive = tmp_path / "mteb.zip"
    archive.write_bytes(exported(world, "mteb"))
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "mteb")

    corpus, queries, labels = (
        load_dataset(str(tmp_path / "mteb"), name, split=split, cache_dir=str(tmp_path / "cache"))
        for name, split in (("corpus", "corpus"), ("queries", "queries"), ("default", "test"))
    )

    assert (corpus.num_rows, labels.num_rows) == (6, 18)
    assert dict(zip(queries["_id"], queries["text"], strict=True)) == QUERIES
    found = soundings.evaluate(labels, {"alpha": ALPHA}, k=2).figure("alpha", "recall", 2)["mean"]
    assert found == our_recall(world, 2)


@needs("argilla")
@pytest.mark.parametrize("flatten", [True, False])
def test_records_of_argilla_become_judgments(world: World, flatten: bool) -> None:
    import argilla
    from argilla.records._io import GenericIO

    people = [uuid.UUID(int=number) for number in (1, 2)]
    record = argilla.Record(
        fields={"query": "night bus", "text": "…"},
        metadata={"query_id": "q1", "document_id": "d1"},
        responses=[
            argilla.Response("verdict", "relevant", user_id=people[0], status="submitted"),
            argilla.Response("verdict", "not_relevant", user_id=people[1], status="draft"),
        ],
    )
    first = (str(people[0]), "q1", "d1", "relevant")
    draft = (str(people[1]), "q1", "d1", "not_relevant")

    rows, notes = said(world, "records.json", GenericIO.to_list([record], flatten=flatten), "argilla")

    # Argilla leaves the status out unless it flattens.
    assert rows == ([first] if flatten else [first, draft])
    assert len(notes) == (0 if flatten else 1)


@needs("label_studio_sdk", "label-studio-sdk")
def test_label_studio_takes_our_tasks_and_its_annotations_become_judgments(world: World) -> None:
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(LABEL_STUDIO)
    tasks = json.loads("".join(label_studio_tasks(world.build_pool())))
    assert all(interface.validate_task(task) for task in tasks)
    region = interface.get_control("verdict").label(label=["Not relevant"])
    annotation: dict[str, Any] = {"id": 1, "was_cancelled": False, "result": [region._dict()]}
    assert interface.validate_annotation(annotation)
    annotation |= {"completed_by": {"id": 7, "email": "eve@x.org"}, "lead_time": 3.5}

    rows, _ = said(
        world, "project.json", [{"id": 1, **tasks[0], "annotations": [annotation]}], "label-studio"
    )

    data = tasks[0]["data"]
    assert rows == [("eve@x.org", data["query_id"], data["document_id"], "not_relevant")]


@needs("ragas", "ragas 'langchain-community<0.4'")
@pytest.mark.parametrize("k", [1, 3])
def test_the_id_based_recall_of_ragas_is_ours(world: World, release: QrelsRelease, k: int) -> None:
    from ragas import EvaluationDataset
    from ragas.metrics import IDBasedContextRecall

    path = world.folder / "samples.jsonl"
    path.write_bytes(exported(world, "ragas", "--run", "alpha", "--k", str(k)))
    samples = EvaluationDataset.from_jsonl(str(path)).samples

    async def recalls() -> list[float]:
        return [await IDBasedContextRecall().single_turn_ascore(one) for one in samples]

    theirs = asyncio.run(recalls())

    assert len(theirs) == 3
    assert sum(theirs) / len(theirs) == pytest.approx(our_recall(world, k), abs=1e-15)


@needs("sentence_transformers", "sentence-transformers")
def test_the_evaluator_of_sentence_transformers_takes_our_dicts(world: World, release: QrelsRelease) -> None:
    from sentence_transformers.evaluation import InformationRetrievalEvaluator

    dicts = json.loads(exported(world, "retrieval-dicts"))
    relevant = {query: set(ids) for query, ids in dicts["relevant_docs"].items()}
    evaluator = InformationRetrievalEvaluator(
        dicts["queries"], dicts["corpus"], relevant, precision_recall_at_k=[2]
    )
    lists = [
        [{"corpus_id": one, "score": -float(place)} for place, one in enumerate(ALPHA[query])]
        for query in evaluator.queries_ids
    ]

    theirs = evaluator.compute_metrics(lists)["recall@k"][2]

    assert theirs == pytest.approx(our_recall(world, 2), abs=1e-15)
