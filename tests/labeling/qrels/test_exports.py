"""Labels in the formats of other tools, read back where there is a reader."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation import evaluate
from labeling.judgment_imports.importing import import_judgments
from labeling.judgment_imports.staging import ImportChoices
from labeling.models import QrelsRelease
from labeling.qrels.imported import import_qrels
from labeling.qrels.labels import current_labels
from labeling.qrels.registry import EXPORTS
from labeling.qrels.releases import release_qrels
from pooling.formats import FormatError, iterate_documents, read_qrels, read_queries
from pooling.models import Collection, Document, PoolEntry, Query
from pooling.pools.building import build_pool
from pooling.texts.importing import import_queries
from tests.labeling.facts.helpers import bring_facts
from tests.pooling.formats.test_rank_eval import answer, hit
from tests.world import ALPHA, BETA, DOCUMENTS, QUERIES, RELEVANT, World, qrels_text, run_text

pytestmark = [pytest.mark.anywhere, pytest.mark.django_db]
REQUEST = '{"query": {"match": {"text": "{{query}}"}}, "_source": false}'
NEEDED = {"rank-eval": ["--index", "docs-1"], "ragas": ["--run", "alpha"]}


@pytest.fixture
def release(world: World) -> QrelsRelease:
    """Every pair has a label."""
    world.import_runs()
    path = world.folder / "all.qrels"
    path.write_text(qrels_text())
    call_command("import_qrels", "harbour", str(path), stdout=io.StringIO())
    return release_qrels(world.collection, name="first", user=world.ada)


def exported(world: World, format: str, *options: str) -> bytes:
    path = world.folder / f"exported-{format}"
    arguments = options or NEEDED.get(format, [])
    call_command(
        "export_qrels", "harbour", "--format", format, *arguments, "--output", str(path), stdout=io.StringIO()
    )
    return path.read_bytes()


@pytest.mark.parametrize(
    ("format", "words"),
    [
        (
            "ragas",
            "3 relevant documents of 2 queries, without 15 judged not relevant, 1 query that has none and "
            "1 pooled and not judged, of",
        ),
        (
            "retrieval-dicts",
            "3 relevant documents of 2 queries, without 15 judged not relevant and 1 pooled and not judged, "
            "of",
        ),
        ("srw-queries", "3 queries, without 18 labels and 1 pooled and not judged, of"),
        ("ltr", "18 labels, without 1 pooled and not judged, of"),
    ],
)
def test_the_command_says_what_is_in_the_file(world: World, format: str, words: str) -> None:
    world.import_runs()
    path = world.folder / "some.qrels"
    path.write_text(qrels_text(RELEVANT - {("q3", "d3")}) + "q3 0 d7 -1\n")
    call_command("import_qrels", "harbour", str(path), stdout=io.StringIO())
    release_qrels(world.collection, name="second", user=world.ada)
    output, path = io.StringIO(), world.folder / "exported"
    options = [*NEEDED.get(format, []), "--format", format, "--output", str(path)]
    call_command("export_qrels", "harbour", *options, stdout=output)

    assert f"{path}: {words} release “second”; " in output.getvalue()


def rank_eval(body: dict[str, Any], ranking: dict[str, list[str]]) -> dict[str, Any]:
    """What an engine that ranks like this answers to a body of `_rank_eval`."""
    k = body["metric"]["recall"]["k"]
    hits = {}
    for request in body["requests"]:
        ratings = {one["_id"]: one["rating"] for one in request["ratings"]}
        (index,) = {one["_index"] for one in request["ratings"]}
        hits[request["id"]] = [
            hit(one, 1 / place, index=index, rating=ratings.get(one))
            for place, one in enumerate(ranking[request["id"]][:k], start=1)
        ]
    return answer(**hits)


def refusal(world: World, format: str, *options: str) -> str:
    with pytest.raises(CommandError) as error:
        exported(world, format, *options)
    assert "\n" not in str(error.value)
    assert not (world.folder / f"exported-{format}").exists()
    return str(error.value)


def test_rank_eval_has_a_rated_request_for_each_query(world: World, release: QrelsRelease) -> None:
    Query.objects.filter(external_id="q2").update(text='say "hello" \\ bus')
    options = ["--index", "docs-1", "--request", REQUEST, "--k", "3"]
    body = json.loads(exported(world, "rank-eval", *options))
    first, second, _ = body["requests"]

    assert body["metric"] == {"recall": {"k": 3, "relevant_rating_threshold": 1}}
    assert first["id"] == "q1"
    assert first["request"] == {"query": {"match": {"text": "night bus"}}, "_source": False}
    assert first["ratings"][0] == {"_index": "docs-1", "_id": "d1", "rating": 1}
    assert len(first["ratings"]) == len(DOCUMENTS)
    assert second["request"]["query"]["match"]["text"] == 'say "hello" \\ bus'


def test_the_answer_comes_back_as_a_run_and_extends_the_pool_by_what_it_has_unrated(world: World) -> None:
    pool = build_pool(world.collection, name="first", runs=world.import_runs()[:1], depth=2, user=world.ada)
    labels = world.folder / "pooled.qrels"
    labels.write_text("".join(f"{query} 0 {one} 1\n" for query, ids in ALPHA.items() for one in ids[:2]))
    import_qrels(world.collection, labels)
    release_qrels(world.collection, name="first", user=world.ada)
    body = json.loads(exported(world, "rank-eval", "--index", "docs-1", "--k", "2"))
    answered = rank_eval(body, BETA)
    unrated = {
        (query, one["_id"]) for query, held in answered["details"].items() for one in held["unrated_docs"]
    }
    api = APIClient()
    api.force_authenticate(world.ada)

    file = SimpleUploadedFile("es.json", json.dumps(answered).encode())
    sent = api.post("/api/collections/harbour/runs/", {"file": file, "name": "elastic"}, format="multipart")
    wider = api.post(f"/api/pools/{pool.pk}/extend/", {"runs": ["elastic"]}, format="json")

    assert (sent.status_code, wider.status_code) == (201, 201)
    new = PoolEntry.objects.filter(pool=wider.data["id"], version=2)
    assert set(new.values_list("query__external_id", "document__external_id")) == unrated
    assert unrated == {("q2", "d3"), ("q3", "d4")}


def test_a_judgment_list_has_ratings_as_text_and_a_query_set_the_same_queries(
    world: World, release: QrelsRelease
) -> None:
    judgments, queries = (json.loads(exported(world, name)) for name in ("srw", "srw-queries"))

    assert judgments["type"] == "IMPORT_JUDGMENT"
    assert judgments["judgmentRatings"][0]["query"] == "night bus"
    assert judgments["judgmentRatings"][0]["ratings"][:2] == [
        {"docId": "d1", "rating": "1.0"},
        {"docId": "d2", "rating": "0.0"},
    ]
    assert queries["sampling"] == "manual"
    assert queries["querySetQueries"] == [{"queryText": text} for text in QUERIES.values()]


@pytest.mark.parametrize("format", ["srw", "srw-queries", "quepid", "quepid-ratings"])
def test_two_queries_of_one_text_are_refused_where_the_text_is_the_key(
    world: World, release: QrelsRelease, format: str
) -> None:
    Query.objects.filter(external_id="q3").update(text=QUERIES["q1"])
    said = refusal(world, format)

    assert said.startswith("Queries q1 and q3 have the same text, “night bus”, and this format knows queries")


def test_a_quepid_book_has_a_pair_for_each_label(world: World, release: QrelsRelease) -> None:
    book = json.loads(exported(world, "quepid"))
    pair = book["query_doc_pairs"][0]

    assert book["scale"] == [0, 1]
    assert len(book["query_doc_pairs"]) == 18
    assert (pair["query_text"], pair["doc_id"], pair["position"]) == ("night bus", "d1", None)
    assert json.loads(pair["document_fields"]) == dict(zip(("title", "text"), DOCUMENTS["d1"], strict=True))
    assert pair["judgements"][0]["rating"] == 1.0


@pytest.mark.parametrize(("format", "suffix"), [("quepid", "json"), ("quepid-ratings", "csv")])
def test_what_leaves_for_quepid_comes_back_as_judgments_with_texts(
    world: World, release: QrelsRelease, format: str, suffix: str
) -> None:
    again = Collection.objects.create(slug="again", name="Again")
    path = world.folder / f"back.{suffix}"
    path.write_bytes(exported(world, format))
    import_queries(again, path)

    done = import_judgments(again, path, ImportChoices(format="quepid"))

    assert done.judgments == 18
    labels = current_labels(again).frame
    texts = {query.external_id: query.text for query in again.queries.all()}
    found = {(texts[row["query_id"]], row["document_id"]) for row in labels.to_dicts() if row["relevance"]}
    assert found == {(QUERIES[query], document) for query, document in RELEVANT}
    documents = {one.external_id: (one.title, one.text) for one in again.documents.all()}
    assert documents == (DOCUMENTS if suffix == "json" else dict.fromkeys(DOCUMENTS, ("", None)))


def test_quepid_ratings_put_a_blank_before_what_a_spreadsheet_would_calculate(
    world: World, release: QrelsRelease
) -> None:
    Query.objects.filter(external_id="q2").update(text='=cmd("x"), y')
    rows = list(csv.reader(io.StringIO(exported(world, "quepid-ratings").decode())))

    assert rows[:2] == [["query", "docid", "rating"], ["night bus", "d1", "1"]]
    assert [' =cmd("x"), y', "d2", "1"] in rows


@pytest.mark.parametrize("k", [1, 2, 10])
def test_the_recall_of_ids_in_ragas_samples_is_ours(world: World, release: QrelsRelease, k: int) -> None:
    samples = [
        json.loads(line) for line in exported(world, "ragas", "--run", "alpha", "--k", str(k)).splitlines()
    ]
    theirs = [
        len({*one["reference_context_ids"]} & {*one["retrieved_context_ids"]})
        / len(one["reference_context_ids"])
        for one in samples
    ]
    labels = {query: {one: int((query, one) in RELEVANT) for one in DOCUMENTS} for query in QUERIES}
    run = {query: {one: -float(rank) for rank, one in enumerate(ids)} for query, ids in ALPHA.items()}

    assert sum(theirs) / len(theirs) == evaluate(labels, {"run": run}, k).figure("run", "recall", k)["mean"]
    assert samples[0]["user_input"] == "night bus"
    assert samples[0]["retrieved_contexts"][0] == "\n".join(DOCUMENTS["d1"])
    assert len(samples[0]["retrieved_context_ids"]) == min(k, 3)


def test_dicts_have_the_whole_corpus_and_relevant_documents(world: World, release: QrelsRelease) -> None:
    found = json.loads(exported(world, "retrieval-dicts"))

    assert found["queries"] == QUERIES
    assert found["corpus"] == {one: "\n".join(texts) for one, texts in DOCUMENTS.items()}
    assert {(query, one) for query, ids in found["relevant_docs"].items() for one in ids} == RELEVANT


def test_relevant_documents_of_dicts_are_read_back_as_labels_and_never_as_a_run(
    world: World, release: QrelsRelease
) -> None:
    path = world.folder / "dicts.json"
    path.write_bytes(exported(world, "retrieval-dicts"))
    rows = read_qrels(path).frame.iter_rows(named=True)
    assert {(row["query_id"], row["document_id"]): row["relevance"] for row in rows} == dict.fromkeys(
        RELEVANT, 1
    )
    run = world.folder / "alpha.run"
    run.write_text(run_text(ALPHA))
    out = io.StringIO()
    call_command("evaluate", str(path), str(run), stdout=out)
    assert "alpha" in out.getvalue()
    with pytest.raises(CommandError, match=r"hold labels and no run\. Read it as qrels\."):
        call_command("evaluate", str(path), str(path))


@pytest.mark.parametrize(
    ("format", "what"),
    [
        ("rank-eval", "a request to _rank_eval"),
        ("srw", "a judgment list for OpenSearch"),
        ("srw-queries", "a query set for OpenSearch"),
        ("quepid", "a book for Quepid"),
        ("ragas", "a file of samples for Ragas"),
        ("mteb", "a ZIP of a folder for MTEB"),
        ("ltr", "a judgment list for Learning to Rank"),
    ],
)
def test_an_export_that_is_not_read_back_is_refused_by_its_name(
    world: World, release: QrelsRelease, format: str, what: str
) -> None:
    path = world.folder / f"labels{EXPORTS[format].suffix}"
    path.write_bytes(exported(world, format))
    labels = world.folder / "labels.qrels"
    labels.write_text(qrels_text())
    instead = (
        "give one of its files: qrels/" if format == "mteb" else "Export the labels as TREC qrels instead."
    )
    with pytest.raises(CommandError, match=f"{path.name}(, line 1)?: this is {what}.*{instead}"):
        call_command("evaluate", str(path), str(path))
    with pytest.raises(CommandError, match=f"this is {what}"):
        call_command("evaluate", str(labels), str(path))


def test_a_list_for_learning_to_rank_with_numbers_as_ids_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("# qid:1: night bus\n1 qid:1 # 17\n0 qid:1 # 4\n")
    with pytest.raises(FormatError, match=r"this is a judgment list for Learning to Rank"):
        read_qrels(path)


def test_the_folder_for_the_hub_is_read_back(world: World, release: QrelsRelease) -> None:
    content = exported(world, "mteb")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(world.folder / "mteb")
    folder = world.folder / "mteb"
    card = (folder / "README.md").read_text()

    assert {query.id: query.text for query in read_queries(folder / "queries.jsonl")} == QUERIES
    documents = {one.id: (one.title, one.text) for one in iterate_documents(folder / "corpus.jsonl")}
    assert documents == DOCUMENTS
    labels = read_qrels(folder / "qrels" / "test.jsonl").frame
    assert {row[:2] for row in labels.filter(relevance=1).rows()} == RELEVANT
    assert labels.height == 18
    assert card.startswith('---\npretty_name: "harbour first"\nlanguage: ["en"]\n')
    assert "- config_name: default\n  data_files:\n  - split: test\n    path: qrels/test.jsonl" in card
    assert json.loads((folder / "release.meta.json").read_text())["sha256"] == release.sha256
    assert exported(world, "mteb") == content


def test_a_learning_to_rank_list_numbers_the_queries(world: World, release: QrelsRelease) -> None:
    lines = exported(world, "ltr").decode().splitlines()

    assert lines[:4] == [
        "# qid:1: night bus",
        "# qid:2: lost umbrella",
        "# qid:3: bicycle on ferry",
        "1 qid:1 # d1",
    ]


@pytest.mark.database
def test_deleted_queries_and_documents_are_in_no_export(world: World, release: QrelsRelease) -> None:
    from django.utils import timezone

    Query.objects.filter(external_id="q2").update(deleted_at=timezone.now())
    Document.objects.filter(external_id="d1").update(deleted_at=timezone.now())
    for name in EXPORTS:
        content = exported(world, name)
        if name == "mteb":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = b"".join(
                    archive.read(one) for one in archive.namelist() if one != "release.meta.json"
                )
        assert b'umbrella"' not in content
        assert b"Buses run all night" not in content


@pytest.mark.database
def test_what_a_format_cannot_be_made_of_is_one_sentence(world: World, release: QrelsRelease) -> None:
    for format, options, sentence in [
        ("rank-eval", ["--k", "3"], "rank-eval needs the option “--index” (where the documents are: the"),
        ("rank-eval", ["--index", "i", "--request", "{"], "The search request is not JSON"),
        ("rank-eval", ["--index", "i", "--request", "[]"], "The search request is not a JSON object."),
        ("rank-eval", ["--index", "i", "--request", "{}"], "The search request has no {{query}}."),
        (
            "rank-eval",
            ["--index", "i", "--request", '{"q": "{{query}}", "aggs": {}}'],
            "A rated request cannot have “aggs”.",
        ),
        ("ragas", ["--k", "3"], "ragas needs the option “--run” (whose first K"),
        ("ragas", ["--run", "none"], "There is no run “none”"),
        *(
            (
                name,
                [*NEEDED.get(name, []), "--min-relevance", "2"],
                "No label of release “first” is 2 or more",
            )
            for name in ("ragas", "rank-eval", "retrieval-dicts")
        ),
        ("srw", ["--run", "alpha"], "“--run” is no option of srw. Leave it out."),
        ("srw", ["--min-relevance", "2"], "“--min-relevance” is no option of srw. Leave it out."),
        ("trec", ["--index", "i"], "“--index” is no option of trec. Leave it out."),
    ]:
        assert refusal(world, format, *options).startswith(sentence)


def test_facts_that_nobody_judged_are_no_empty_file(world: World) -> None:
    world.import_runs()
    bring_facts(world)
    path = world.folder / "all.qrels"
    path.write_text(qrels_text())
    call_command("import_qrels", "harbour", str(path), stdout=io.StringIO())
    release_qrels(world.collection, name="first", user=world.ada)
    for format in ("diversity", "supports"):
        assert refusal(world, format).startswith("Nobody said for release “first” which documents support")
    assert exported(world, "facts")


def test_page_and_call_give_what_the_command_writes(world: World, release: QrelsRelease) -> None:
    client, api = Client(), APIClient()
    client.force_login(world.vera)
    api.force_authenticate(world.vera)
    page = client.get(release.get_absolute_url()).content.decode()
    for name, export in EXPORTS.items():
        asked: dict[str, Any] = {"rank-eval": {"index": "docs-1"}, "ragas": {"run": "alpha"}}.get(name, {})
        file = client.get(reverse("release_download", args=["harbour", release.pk, name]), asked)
        call = api.get("/api/collections/harbour/qrels", {"format": name, **asked})

        assert b"".join(file) == b"".join(call) == exported(world, name)
        assert file["Content-Disposition"].endswith(f'{export.suffix}"')
        assert export.title in page

    refused = api.get("/api/collections/harbour/qrels", {"format": "rank-eval"})
    assert (refused.status_code, refused.data["detail"]) == (
        400,
        "rank-eval needs the option “index” (where the documents are: the name of the index, not an alias).",
    )
    assert api.get("/api/collections/harbour/qrels", {"format": "ragas", "k": "0"}).status_code == 400
    back = client.get(reverse("release_download", args=["harbour", release.pk, "ragas"]), follow=True)
    assert "Run: This field is required." in back.content.decode()
    asked = {"index": "docs-1", "request": "{", "k": "7"}
    back = client.get(
        reverse("release_download", args=["harbour", release.pk, "rank-eval"]), asked, follow=True
    )
    kept = next(form for export, form in back.context["exports"] if export.name == "rank-eval")
    assert (kept["index"].value(), kept["request"].value(), kept["k"].value()) == ("docs-1", "{", "7")
    assert 'id="exports" open' in back.content.decode()
