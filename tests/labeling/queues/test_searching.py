"""Documents beyond the pool: found, added in a stratum of their own, judged blind, and counted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim, release
from labeling.judging.verdicts import undo
from labeling.models import Lease, Queue
from labeling.queues.added_documents import add_document, query_named, search_for
from labeling.queues.finds import search_finds
from labeling.queues.opening import open_queue
from pooling.interface.problems import InputError
from pooling.models import Pool
from pooling.search_models import SearchFind
from tests.labeling.helpers import judge, make_queue, only_lease
from tests.world import DOCUMENTS, QUERIES, World

HALF = GoldOptions(gold_first_share=0.5, gold_share=0.5, practice_questions=0)


def queue_of(world: World) -> Queue:
    """Over the first two of alpha and beta: q2 has d2, d3 and d6."""
    return open_queue(world.build_pool(depth=2), seed=1)


def test_hits_say_what_is_pooled_and_ones_own_verdict_alone(world: World) -> None:
    queue = queue_of(world)
    items = {(item.query.external_id, item.document.external_id): item.pk for item in queue.items.all()}
    judge(queue, world.ben, items["q2", "d6"], "relevant")
    query = query_named(world.collection, "q2")
    marks = {}
    for user in (world.ben, world.cleo):
        hits = search_for(query, "umbrella bus ferry night", user).hits
        marks[user.username] = {hit.document.external_id: (hit.in_pool, hit.own_verdict) for hit in hits}
    assert marks["ben"]["d6"] == (True, "Relevant")
    assert marks["cleo"]["d6"] == (True, "")
    assert marks["cleo"]["d1"] == (False, "")
    assert set(marks["cleo"]) == {"d1", "d2", "d3", "d4", "d5", "d6"}


def test_what_is_added_gets_a_queue_of_its_own_and_is_counted(world: World, client: Client) -> None:
    queue = queue_of(world)
    query = query_named(world.collection, "q2")
    # d1 is in alpha's list of q2, at rank 3; d4 and d5 are in no run's.
    searched = search_for(query, "bus ferry tickets", world.ben).search
    client.force_login(world.ada)
    before = client.get("/api/collections/harbour/search-finds/").json()
    assert (before["searches"], before["added"], before["unfound"]) == (1, 0, 0)
    for document in ("d1", "d4", "d5"):
        add_document(query, document, user=world.ben, like=queue, search=searched)
    pool = Pool.objects.get(strategy="search")
    more = Queue.objects.get(pool=pool)
    assert (more.name, pool.pair_count, more.items.count()) == ("Sample 1", 3, 3)
    assert SearchFind.objects.filter(search=searched, added_by=world.ben).count() == 3
    assert len({item.order_key for item in more.items.all()}) == 3
    verdicts = {"d1": "relevant", "d4": "relevant", "d5": "not_relevant"}
    for _ in verdicts:
        lease = only_lease(more, world.cleo)
        document = lease.item.document.external_id
        judge(more, world.cleo, lease.item_id, verdicts[document], lease=str(lease.token))
    finds = search_finds(world.collection)
    numbers = {
        name: getattr(finds, name) for name in ("searches", "added", "labelled", "relevant", "unfound")
    }
    assert numbers == {"searches": 1, "added": 3, "labelled": 3, "relevant": 2, "unfound": 1}
    assert finds.sentence.endswith("33 relevant documents per 100 added that no run found.")
    client.force_login(world.vera)
    assert finds.sentence in client.get(reverse("queue_judged", args=[more.pk])).content.decode()


def test_what_cannot_be_added_is_said_and_a_closed_queue_is_followed_by_another(world: World) -> None:
    queue = queue_of(world)
    query = query_named(world.collection, "q2")
    add_document(query, "d1", user=world.ben, like=queue)
    for document, sentence in {
        "d1": "was already added for this query",
        "d2": "This document is already in a pool for this query",
        "none": "There is no document “none”",
        "nul\0": "There is no document",
    }.items():
        with pytest.raises(InputError, match=sentence):
            add_document(query, document, user=world.ben, like=queue)
    with pytest.raises(InputError, match="There is no query “q9”"):
        query_named(world.collection, "q9")
    Queue.objects.filter(pool__strategy="search").update(state="closed")
    add_document(query, "d4", user=world.ben, like=queue)
    assert Queue.objects.filter(pool__strategy="search").count() == 2


def hit(world: World, user: User, document: str) -> dict[str, Any]:
    """What a search for every word of the collection's documents says of one to somebody."""
    query, words = query_named(world.collection, "q2"), DOCUMENTS[document][0]
    told = [one.to_dict() for one in search_for(query, words, user).hits]
    return next(one for one in told if one["id"] == document)


def test_only_who_added_a_document_learns_that_it_was_added(world: World) -> None:
    queue = queue_of(world)
    query = query_named(world.collection, "q2")
    add_document(query, "d1", user=world.ben, like=queue)
    assert [hit(world, world.ben, "d1")[name] for name in ("in_pool", "added")] == [False, True]
    assert [hit(world, world.cleo, "d1")[name] for name in ("in_pool", "added")] == [True, False]
    with pytest.raises(InputError, match="This document is already in a pool for this query"):
        add_document(query, "d1", user=world.cleo, like=queue)


def test_a_gold_question_beyond_the_pool_looks_as_if_a_pool_held_it(world: World) -> None:
    queue = queue_of(world)
    add_question(world.collection, NewQuestion(query="q2", document="d4", answer="relevant"), user=world.ada)
    assert hit(world, world.ben, "d4")["in_pool"]
    with pytest.raises(InputError, match="This document is already in a pool for this query"):
        add_document(query_named(world.collection, "q2"), "d4", user=world.ben, like=queue)


def test_a_pair_on_screen_shows_no_verdict_of_before(world: World) -> None:
    queue = queue_of(world)
    item = queue.items.filter(query__external_id="q2")[0]
    judge(queue, world.ben, item.pk)
    assert hit(world, world.ben, item.document.external_id)["own_verdict"] == "Relevant"
    later = timezone.now() + timedelta(hours=1)
    Lease.objects.create(item=item, annotator=world.ben, expires_at=later)
    assert hit(world, world.ben, item.document.external_id)["own_verdict"] is None


def test_the_page_searches_and_adds(world: World, client: Client) -> None:
    queue = queue_of(world)
    address = reverse("document_search", args=[queue.pk])
    client.force_login(world.ben)
    offered = client.get(address).content.decode()
    assert '<option value="q2" label="lost umbrella">' in offered
    asked = {"query": "q2", "words": "bus"}
    page = client.get(address, asked)
    assert page.context["result"].search.shown == 1
    text = page.content.decode()
    assert "Add as likely relevant" in text
    for secret in ("alpha", "beta", "rrf", "first pool,"):
        assert secret not in text.replace("← first pool", "")
    posted = {**asked, "search": page.context["result"].search.pk, "document": "d4"}
    shown = client.post(address, posted, follow=True)
    assert "Added. It will be judged like any other document." in shown.content.decode()
    assert shown.context["result"].search.pk == posted["search"]
    assert "There is no query “q9”" in client.get(address, {"query": "q9"}).content.decode()


def test_over_http(world: World) -> None:
    queue = queue_of(world)
    client = APIClient()
    address = f"/api/queues/{queue.pk}/search/"
    client.force_authenticate(world.ben)
    told = client.get(address, {"query": "q2", "words": "buses night"}).json()
    assert [(one["id"], one["in_pool"], one["own_verdict"]) for one in told["documents"]] == [
        ("d1", False, None)
    ]
    added = {"query": "q2", "document": "d1", "search": told["search"]}
    assert client.post(address, added, format="json").status_code == 201
    assert client.post(address, added, format="json").status_code == 409
    finds = "/api/collections/harbour/search-finds/"
    assert client.get(finds).status_code == 403
    client.force_authenticate(world.vera)
    assert client.get(finds).json()["added"] == 1


def test_an_answer_that_was_taken_back_or_changed_tells_no_gold_question(world: World) -> None:
    """Of a gold question the first answer counts; of what one said, the search tells the last."""
    for name in QUERIES:
        for document, answer in (("d5", "relevant"), ("d6", "not_relevant")):
            add_question(world.collection, NewQuestion(query=name, document=document, answer=answer))
    queue = make_queue(world, pairs=6, gold=HALF)
    leases = claim(queue, world.ben, 6).leases
    for lease in leases:
        judge(queue, world.ben, lease.item_id, key=f"first {lease.pk}")

    def told() -> set[tuple[str, str]]:
        """What the search says of each, and whether it is hidden."""
        found = set()
        for lease in leases[:-1]:
            item = lease.item
            hits = search_for(item.query, f"{item.document.title} {item.document.text}", world.ben).hits
            verdicts = {hit.document.pk: hit.own_verdict for hit in hits}
            found.add((item.state, verdicts[item.document_id]))
        return found

    for lease in leases[:-1]:
        again = undo(queue, world.ben, f"first {lease.pk}")
        assert again
        release(queue, world.ben, [again.token])
    assert told() == {("gold", ""), ("open", "")}
    for lease in leases[:-1]:
        judge(queue, world.ben, lease.item_id, "not_relevant", key=f"second {lease.pk}")
    assert told() == {("gold", "not relevant"), ("open", "not relevant")}
