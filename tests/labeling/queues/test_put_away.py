"""Queues and releases put away, and what becomes of the pairs of deleted queries and documents."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim
from labeling.models import Item, Judgment, JudgmentEvent, Queue
from labeling.prelabels.export import export_prelabels
from labeling.progress.counts import queue_progress
from labeling.qrels.imported import import_qrels
from labeling.qrels.judgments import export_judgments
from labeling.qrels.labels import current_labels, state_of_labels
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import change_state, open_queue
from pooling.interface.problems import InputError
from pooling.models import Document, Query
from pooling.pools.building import build_pool
from pooling.runs.stored import runs_named
from pooling.texts.importing import import_documents, import_queries
from pooling.texts.search import index_texts, search_documents
from pooling.tidying.doing import archive, delete, restore
from pooling.tidying.erasing import erase
from pooling.tidying.kinds import beneath, dependants_of
from tests.labeling.helpers import judge, make_prelabels, make_queue, only_lease
from tests.world import World, qrels_text


def words_of(thing: Any) -> str:
    return "; ".join(one.sentence() for one in dependants_of(thing))


def judged(world: World, needed: int = 1) -> Queue:
    """A queue with two of its six pairs judged by Ben."""
    queue = make_queue(world, needed=needed)
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id)
    return queue


def figures(queue: Queue) -> dict[str, Any]:
    found = queue_progress(Queue.objects.get(pk=queue.pk))
    return {name: found[name] for name in ("state", "items", "judgments")}  # type: ignore[literal-required]


def test_a_deleted_queue_keeps_its_judgments_as_labels(world: World) -> None:
    queue = judged(world)
    before = current_labels(world.collection).frame
    assert "2 judgments stay labels of the collection" in words_of(queue)
    delete(queue, by=world.ada)
    assert current_labels(world.collection).frame.equals(before)
    assert release_qrels(world.collection, name="after").pair_count == 2
    assert [one["name"] for one in world.collection.releases.get().sidecar["queues"]] == [queue.name]


def test_a_restored_queue_is_as_it_was(world: World) -> None:
    queue = judged(world)
    before = figures(queue)
    delete(queue, by=world.ada)
    restore(queue)
    assert figures(queue) == before
    assert len(claim(Queue.objects.get(pk=queue.pk), world.cleo, 10).leases) == 4


def test_who_judges_in_a_queue_that_is_deleted_is_told_and_loses_nothing(
    world: World, client: Client
) -> None:
    queue = make_queue(world)
    client.force_login(world.ben)
    (held,) = client.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}).json()["items"]
    assert "1 pair is being judged now" in words_of(queue)
    delete(queue, by=world.ada)
    body = [{"item": held["item"], "key": "a", "verdict": "relevant", "lease": held["lease"]}]
    sent = client.post(f"/api/queues/{queue.pk}/judgments/", body, content_type="application/json")
    assert [one["status"] for one in sent.json()["results"]] == ["stored"]
    assert sent.json()["state"] == "deleted"
    own = client.get(f"/api/queues/{queue.pk}/own-verdicts/?query={held['query']['id']}").json()
    assert len(own["verdicts"]) == 1
    assert Judgment.objects.get(annotator=world.ben).verdict == "relevant"
    told = client.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}).json()
    assert (told["items"], told["empty"]["state"]) == ([], "deleted")
    page = client.get(reverse("judge", args=[queue.pk])).content.decode()
    assert "This queue is deleted; it hands out no documents." in page
    assert 'data-count="left"' not in page
    assert f'data-part="back" href="/queues/{queue.pk}/" hidden' in page
    assert queue.name not in client.get("/collections/harbour/queues/").content.decode()
    assert client.get(reverse("queue", args=[queue.pk])).status_code == 404


def test_who_judges_in_a_collection_that_is_deleted_loses_nothing(world: World, client: Client) -> None:
    queue = make_queue(world)
    client.force_login(world.ben)
    (held,) = client.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}).json()["items"]
    delete(world.collection, by=world.ada)
    body = [{"item": held["item"], "key": "a", "verdict": "relevant", "lease": held["lease"]}]
    client.post(f"/api/queues/{queue.pk}/judgments/", body, content_type="application/json")
    assert Judgment.objects.filter(annotator=world.ben).exists()
    assert client.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}).json()["items"] == []


@pytest.mark.parametrize("state", ["paused", "closed", "deleted", "gone with its collection"])
def test_no_verdict_is_undone_in_a_queue_that_would_not_give_the_pair_again(
    world: World, client: Client, state: str
) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, key="k")
    put_away(queue, state, by=world.ada)
    client.force_login(world.ben)
    word = state if state in ("paused", "closed") else "deleted"
    refused = client.post(f"/api/queues/{queue.pk}/undo/", {"key": "k"})
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        f"This queue is {word}; it hands out no documents.",
    )
    page = client.post(reverse("judge", args=[queue.pk]), {"action": "undo", "undoes": "k"}, follow=True)
    assert f"This queue is {word}; it hands out no documents." in page.content.decode()
    assert Judgment.objects.filter(annotator=world.ben).exists()


def put_away(queue: Queue, state: str, *, by: User) -> None:
    if state in ("paused", "closed"):
        change_state(queue, state)
    else:
        delete(queue if state == "deleted" else queue.collection, by=by)


def test_a_pool_with_a_queue_is_archived_and_not_deleted(world: World) -> None:
    queue = make_queue(world)
    with pytest.raises(InputError, match="cannot be deleted: 1 queue is over it"):
        delete(queue.pool)
    archive(queue.pool)
    assert beneath(queue) == [queue.pool]
    delete(queue)
    delete(queue.pool)
    with pytest.raises(InputError, match="It rests on the pool"):
        restore(queue)


@pytest.mark.parametrize("kind", ["query", "document"])
def test_labels_of_what_is_deleted_do_not_count_until_it_is_restored(world: World, kind: str) -> None:
    queue = judged(world)
    path = world.folder / "labels.qrels"
    path.write_text(qrels_text())
    import_qrels(world.collection, path)
    item = Item.objects.filter(queue=queue, done=1).first()
    assert item is not None
    gone = item.query if kind == "query" else item.document
    before, state, counts = (
        current_labels(world.collection).frame,
        state_of_labels(world.collection),
        figures(queue),
    )
    delete(gone, by=world.ada)
    left = current_labels(world.collection).frame
    assert gone.external_id not in left[f"{kind}_id"].to_list()
    assert left.height < before.height
    assert state_of_labels(world.collection) != state
    assert figures(queue)["items"]["total"] < counts["items"]["total"]
    restore(gone)
    assert current_labels(world.collection).frame.equals(before)
    assert figures(queue) == counts


@pytest.mark.parametrize("kind", ["query", "document"])
def test_downloads_leave_out_what_is_deleted_until_it_is_restored(
    world: World, client: Client, kind: str
) -> None:
    queue = judged(world)
    model = make_prelabels(world)
    item = Item.objects.filter(queue=queue, done=1).first()
    assert item is not None
    gone = item.query if kind == "query" else item.document
    left = queue.items.exclude(query=item.query).exclude(document=item.document).first()
    assert left is not None
    judge(queue, world.ben, left.pk)

    def downloads() -> list[bytes]:
        return [
            *(b"".join(export_judgments(world.collection, format)) for format in ("csv", "jsonl")),
            export_prelabels(queue, model),
        ]

    before = downloads()
    delete(gone, by=world.ada)
    assert [len(left) < len(whole) for left, whole in zip(downloads(), before, strict=True)] == [True] * 3
    assert not any(re.search(rb"\b%s\b" % gone.external_id.encode(), file) for file in downloads())
    client.force_login(world.ben)
    own = client.get(f"/queues/{queue.pk}/mine/?format=csv")
    assert gone.external_id.encode() not in b"".join(own.streaming_content)  # type: ignore[attr-defined]
    restore(gone)
    assert downloads() == before


def test_pairs_of_a_deleted_document_are_not_handed_out_and_a_late_verdict_is_kept(world: World) -> None:
    queue = make_queue(world)
    (lease,) = claim(queue, world.ben, 1).leases
    delete(lease.item.document, by=world.ada)
    handed = {one.item.document_id for one in claim(queue, world.cleo, 10).leases}
    assert handed
    assert lease.item.document_id not in handed
    assert judge(queue, world.ben, lease.item_id).status == "stored"
    restore(lease.item.document)
    assert Item.objects.get(pk=lease.item_id).state == Item.State.DONE


def test_a_gold_question_on_a_deleted_document_is_one_again_when_it_is_restored(world: World) -> None:
    queue = make_queue(world, gold=GoldOptions(0.2, 0.2, practice_questions=0))
    document = Document.objects.get(external_id="d1")
    add_question(world.collection, NewQuestion("q1", "d1", "relevant"), user=world.ada)
    item = Item.objects.get(queue=queue, query__external_id="q1", document=document)
    assert item.state == Item.State.GOLD
    delete(document)
    queue.refresh_from_db()
    assert Item.objects.get(pk=item.pk).state == Item.State.WITHDRAWN
    restore(document)
    assert Item.objects.get(pk=item.pk).state == Item.State.GOLD


def test_pools_and_searches_to_come_leave_out_what_is_deleted(world: World) -> None:
    world.import_runs()
    runs = runs_named(world.collection, ["alpha", "beta"])
    document, query = Document.objects.get(external_id="d1"), Query.objects.get(external_id="q3")
    index_texts(world.collection)
    delete(document)
    archive(query)
    pool = build_pool(world.collection, name="without", runs=runs, depth=3)
    pairs = set(pool.entries.values_list("query__external_id", "document__external_id"))
    assert pairs == {("q1", "d4"), ("q1", "d5"), ("q1", "d6"), ("q2", "d2"), ("q2", "d6"), ("q2", "d3")}
    assert search_documents(world.collection, "night").documents == []
    restore(document)
    index_texts(world.collection)
    assert search_documents(world.collection, "night").documents == [document.pk]


def test_a_queue_over_an_older_pool_leaves_out_what_is_deleted(world: World) -> None:
    pool = world.build_pool()
    delete(Document.objects.get(external_id="d1"))
    archive(Query.objects.get(external_id="q3"))
    queue = open_queue(pool, seed=1)
    pairs = set(queue.items.values_list("query__external_id", "document__external_id"))
    assert pairs == {("q1", "d4"), ("q2", "d2"), ("q2", "d6"), ("q2", "d3")}


def test_an_import_brings_back_what_is_in_the_file(world: World) -> None:
    query, document = Query.objects.get(external_id="q1"), Document.objects.get(external_id="d1")
    delete(query)
    delete(document)
    (queries := world.folder / "queries.jsonl").write_text('{"_id": "q1", "text": "night bus"}\n')
    (corpus := world.folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "New."}\n')
    assert "1 deleted before and back now" in str(import_queries(world.collection, queries))
    assert import_documents(world.collection, corpus).restored == 1
    assert Query.objects.get(external_id="q1").pk == query.pk
    assert Document.objects.get(external_id="d1").text == "New."


def test_erasing_a_judged_document_keeps_what_was_said(world: World) -> None:
    queue = judged(world)
    said = JudgmentEvent.objects.count()
    item = Item.objects.filter(queue=queue, done=1).first()
    assert item is not None
    for thing in (item.document, queue):
        delete(thing)
        erase(thing)
    document = Document.everything.get(pk=item.document_id)
    assert (document.text, document.title) == (None, "")
    assert JudgmentEvent.objects.count() == said
    with pytest.raises(InputError, match="more than thirty days ago"):
        restore(queue)


def test_an_erased_collection_takes_its_judgments_with_it(world: World) -> None:
    queue = judged(world)
    release_qrels(world.collection, name="labels")
    add_question(world.collection, NewQuestion("q3", "d6", "relevant"), user=world.ada)
    delete(world.collection)
    erase(world.collection)
    assert not JudgmentEvent.objects.exists()
    assert not Queue.everything.filter(pk=queue.pk).exists()


def test_an_archived_queue_is_in_no_list_and_goes_on(world: World, client: Client) -> None:
    queue = make_queue(world)
    client.force_login(world.ada)
    address = f"/api/queues/{queue.pk}/"
    changed = client.patch(address, {"archived": True, "name": "June"}, content_type="application/json")
    assert changed.status_code == 200
    assert "June" not in client.get("/collections/harbour/queues/").content.decode()
    assert "June" in client.get(reverse("queue", args=[queue.pk])).content.decode()
    assert claim(Queue.objects.get(pk=queue.pk), world.ben, 1).leases
    assert client.delete(address).json()["deleted"] is True
    assert client.post(f"{address}restore/").json()["deleted"] is False


def test_programs_put_queries_and_documents_away_by_their_ids(world: World, client: Client) -> None:
    client.force_login(world.ada)
    Document.objects.create(collection=world.collection, external_id="a/b c", text="")
    address = "/api/collections/harbour/documents/a/b%20c/"
    assert client.delete(address).json()["name"] == "a/b c"
    assert not Document.objects.filter(external_id="a/b c").exists()
    assert client.post(f"{address}restore/").status_code == 200
    refused = client.patch("/api/collections/harbour/queries/q1/", {"name": "x"}, "application/json")
    assert refused.status_code == 409
    assert "the id cannot change" in refused.json()["detail"]
