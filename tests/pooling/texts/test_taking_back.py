"""Imports of queries, documents and runs: taken back, and restored with what they created."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from pooling.models import Document, Query, Run, TextImport
from pooling.texts.importing import import_documents, import_queries
from pooling.tidying.doing import delete, restore
from tests.world import World, run_text

CORPUS = '{"_id": "d1", "title": "", "text": "Another text."}\n{"_id": "n1", "title": "", "text": "New."}\n'
QUERIES = '{"_id": "n1", "text": "night bus"}\n{"_id": "n2", "text": "day bus"}\n'


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.ada)
    return client


def posted(ada: Client, page: str, text: str, name: str = "file.jsonl") -> str:
    """The page after an import."""
    file = SimpleUploadedFile(name, text.encode())
    return ada.post(f"/collections/harbour/{page}/", {"file": file}, follow=True).content.decode()


def undo(page: str) -> str:
    """The address that the button of a page's message posts to."""
    found = re.search(r'formaction="([^"]*)" name="action" value="delete">Undo', page)
    assert found
    return found[1]


def ids(model: type[Query] | type[Document]) -> set[str]:
    return set(model.objects.values_list("external_id", flat=True))


def test_an_import_of_queries_is_taken_back_from_its_message_and_restored_from_the_next(
    world: World, ada: Client
) -> None:
    before = ids(Query)
    page = posted(ada, "queries", QUERIES)
    assert ids(Query) == {*before, "n1", "n2"}
    answer = ada.post(undo(page), {"action": "delete"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/collections/harbour/queries/"
    assert "Deleted import “file.jsonl”." in answer.content.decode()
    assert ids(Query) == before
    tidied = ada.get("/collections/harbour/tidy/").content.decode()
    assert ("file.jsonl" in tidied, "night bus" in tidied, ">n1<" in tidied) == (True, False, False)
    one = TextImport.everything.get()
    ada.post(f"/collections/harbour/tidy/?things=import:{one.pk}", {"action": "restore"})
    assert ids(Query) == {*before, "n1", "n2"}


def test_what_an_import_changed_is_named_and_stays(world: World, ada: Client) -> None:
    address = undo(posted(ada, "documents", CORPUS))
    question = ada.post(address, {"action": "delete"}).content.decode()
    assert "1 document that it changed (d1)" in question
    assert "Archive" not in question.split("<main")[1]
    assert "n1" in ids(Document)
    ada.post(address, {"action": "delete", "sure": "yes"})
    assert "n1" not in ids(Document)
    assert Document.objects.get(external_id="d1").text == "Another text."


def test_an_import_that_created_nothing_has_nothing_to_undo(world: World, ada: Client) -> None:
    posted(ada, "queries", QUERIES)
    assert ">Undo<" not in posted(ada, "queries", QUERIES)


def test_an_import_without_an_undo_says_why(world: World) -> None:
    path = world.folder / "queries.jsonl"
    path.write_text('{"_id": "q1", "text": "bus at night"}\n')
    assert "to undo them, import the earlier file again" in import_queries(world.collection, path).detail
    again = "Queries: 0 new, 0 changed, 1 as before. Nothing in the file is new, so there is nothing to undo."
    assert import_queries(world.collection, path).detail == again


def test_an_import_of_a_run_is_taken_back_from_its_message(world: World, ada: Client) -> None:
    page = posted(ada, "runs/import", run_text({"q1": ["d1"]}), "new.run")
    ada.post(undo(page), {"action": "delete"})
    assert not Run.objects.exists()
    assert Run.everything.get().name == "new"


def test_what_was_deleted_by_itself_does_not_come_back_with_its_import(world: World) -> None:
    (path := world.folder / "queries.jsonl").write_text(QUERIES)
    import_queries(world.collection, path)
    delete(Query.objects.get(external_id="n1"))
    one = TextImport.objects.get()
    delete(one)
    restore(Query.everything.get(external_id="n2"))
    restore(one)
    assert {"n1", "n2"} & ids(Query) == {"n2"}


def test_texts_that_another_import_brings_back_are_of_that_one(world: World) -> None:
    (path := world.folder / "corpus.jsonl").write_text(CORPUS)
    import_documents(world.collection, path)
    first = TextImport.objects.get()
    delete(first)
    summary = import_documents(world.collection, path)
    assert (summary.created, summary.restored) == (0, 1)
    restore(first)
    delete(first)
    assert "n1" in ids(Document)
    delete(TextImport.objects.get(pk=summary.import_id))
    assert "n1" not in ids(Document)


def test_programs_take_back_an_import_and_restore_it(world: World, ada: Client) -> None:
    file = SimpleUploadedFile("queries.jsonl", QUERIES.encode())
    key = ada.post("/api/collections/harbour/queries/", {"file": file}).json()["import_id"]
    address = f"/api/imports/{key}/"
    assert ada.patch(address, {"archived": True}, content_type="application/json").status_code == 409
    assert ada.delete(address).json()["deleted"] is True
    assert "n1" not in ids(Query)
    assert ada.post(f"{address}restore/").json()["deleted"] is False
    assert "n1" in ids(Query)


def test_texts_of_an_import_taken_back_long_ago_are_erased(world: World) -> None:
    (path := world.folder / "corpus.jsonl").write_text(CORPUS)
    import_documents(world.collection, path)
    delete(TextImport.objects.get())
    long_ago = timezone.now() - timedelta(days=31)
    for model in (TextImport, Document):
        model.everything.filter(deleted_at__isnull=False).update(deleted_at=long_ago)
    call_command("purge_deleted")
    assert not Document.everything.filter(external_id="n1").exists()
    assert Document.objects.get(external_id="d1").text == "Another text."
