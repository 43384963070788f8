"""Judging facts page by page: what is handed out, stored, taken back, and shown to whom."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from labeling.fact_pages.claims import claim_item, hold_item
from labeling.fact_pages.opening import FactQueueOptions, open_fact_queue
from labeling.fact_pages.progress import fact_progress
from labeling.fact_pages.showing import page_for
from labeling.fact_pages.storing import FactPage, FactVerdict, store_page, undo_page
from labeling.facts.editing import change_fact
from labeling.facts.labels import support_labels
from labeling.gold.questions import NewQuestion, add_question
from labeling.items.numbers import number_of
from labeling.models import FactItem, FactLease, Support, SupportEvent
from labeling.qrels.imported import import_qrels
from labeling.queues.changes import change_queue
from pooling.interface.problems import InputError
from pooling.tidying.doing import delete
from tests.labeling.facts.helpers import bring_facts, fact, fact_queue, many_facts, say
from tests.world import World, qrels_text

pytestmark = pytest.mark.django_db


def form_of(page: dict[str, object], **verdicts: str) -> dict[str, object]:
    """The form of a page as the browser sends it."""
    fields: dict[str, object] = {name: page[name] for name in ("item", "key", "document_version")}
    for number, one in enumerate(page["facts"], 1):  # type: ignore[arg-type,var-annotated]
        fields |= {f"fact-{number}": one["id"], f"version-{number}": one["version"]}
        fields[f"verdict-{number}"] = verdicts.get(one["id"], "no")
    return fields


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def test_a_queue_of_facts_is_offered_once_there_are_a_pool_and_facts(world: World) -> None:
    address, client = "/collections/harbour/facts/queue/", signed_in("ada")
    assert "A queue of facts contains documents of a pool." in client.get(address).content.decode()
    world.build_pool()
    page = client.get(address).content.decode()
    assert "A queue of facts needs confirmed facts." in page
    assert 'name="pool"' not in page
    bring_facts(world)
    assert 'name="pool"' in client.get(address).content.decode()


def test_a_skipped_document_comes_again_when_nothing_else_is_left(world: World) -> None:
    bring_facts(world)
    queue, client = fact_queue(world, documents=2), signed_in("ben")
    address = f"/queues/{queue.pk}/facts/judge/"
    first = client.get(address).context["page"]
    client.post(address, {"action": "skip", "item": first["item"]})
    second = client.get(address).context["page"]
    assert second["item"] != first["item"]
    # Somebody else gets it before the one who skipped it does.
    assert signed_in("cleo").get(address).context["page"]["item"] == first["item"]
    FactLease.objects.filter(annotator=world.cleo).delete()
    client.post(address, form_of(second))
    assert client.get(address).context["page"]["item"] == first["item"]


def test_who_leaves_the_page_gives_the_document_back_to_others(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    at, kind = f"/api/queues/{queue.pk}/facts/", "application/json"
    client = signed_in("ben")
    left = lease_on(client.get(f"/queues/{queue.pk}/facts/judge/").content.decode())
    assert signed_in("cleo").post(f"{at}claim/").json()["page"] is None
    # Loaded again before the page that was left has said so: what it says takes nothing away.
    again = lease_on(client.get(f"/queues/{queue.pk}/facts/judge/").content.decode())
    assert client.post(f"{at}release/", {"lease": left}, content_type=kind).json() == {"released": 0}
    assert client.post(f"{at}release/", {"lease": again}, content_type=kind).json() == {"released": 1}
    assert signed_in("cleo").post(f"{at}claim/").json()["page"]["item"]
    assert signed_in("cleo").post(f"{at}release/").json() == {"released": 1}
    assert signed_in("dan").post(f"{at}release/").status_code == 404


def lease_on(page: str) -> str:
    return page.partition('data-lease="')[2].partition('"')[0]


def test_skipping_over_http_gives_the_next_document(world: World) -> None:
    bring_facts(world)
    queue, client = fact_queue(world, documents=2), signed_in("ben")
    at, kind = f"/api/queues/{queue.pk}/facts/", "application/json"
    first = client.post(f"{at}claim/").json()["page"]["item"]
    skipped = client.post(f"{at}skip/", {"item": first}, content_type=kind)
    assert skipped.json()["page"]["item"] != first
    assert client.post(f"{at}skip/", {"item": 10**9}, content_type=kind).status_code == 404
    assert signed_in("dan").post(f"{at}skip/", {"item": first}, content_type=kind).status_code == 404


def test_57_facts_come_in_seven_pages_and_a_reload_goes_on_where_it_was(world: World) -> None:
    many_facts(world, 57)
    queue, client = fact_queue(world), signed_in("ben")
    address = f"/queues/{queue.pk}/facts/judge/"
    page = client.get(address).context["page"]
    assert (page["pages"], len(page["facts"])) == (7, 9)
    for number in range(1, 4):
        page = client.get(address).context["page"]
        assert page["number"] == number
        client.post(address, form_of(page, n1="supports"))
    assert client.get(address).context["page"]["number"] == 4
    assert Support.objects.count() == 27
    assert (
        client.get(f"{address}?item={page['item']}&page=1").context["page"]["facts"][0]["verdict"]
        == "supports"
    )
    for _ in range(4):
        client.post(address, form_of(client.get(address).context["page"]))
    assert Support.objects.count() == 57
    assert client.get(address).context["page"] is None
    item = queue.fact_items.get()
    assert (item.asked, item.done, item.is_open) == (57, 1, False)


def test_a_page_sent_twice_is_stored_once(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    item = claim_item(queue, world.ben)
    assert item is not None
    page = FactPage(uuid4(), 1, [FactVerdict("lines", 1, "supports", (0, 5)), FactVerdict("often", 1, "no")])
    assert store_page(queue, world.ben, item, page).status == "stored"
    assert store_page(queue, world.ben, item, page).status == "duplicate"
    assert SupportEvent.objects.count() == Support.objects.count() == 2
    assert SupportEvent.objects.filter(span_sha256="").count() == 1


def test_what_is_not_on_a_stored_page_stays_unjudged(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    outcome = say(queue, world.ben, queue.fact_items.get(), often="no")
    assert outcome.left == 1
    assert not Support.objects.filter(fact=fact(world, "lines")).exists()
    assert queue.fact_items.get().is_open


def test_undo_takes_a_page_back_and_what_was_said_before_counts_again(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    item = queue.fact_items.get()
    say(queue, world.ben, item, lines="supports", often="no")
    say(queue, world.ben, item, lines="no")
    undo_page(queue, world.ben)
    assert Support.objects.get(fact=fact(world, "lines")).verdict == "supports"
    undo_page(queue, world.ben)
    assert not Support.objects.exists()
    assert undo_page(queue, world.ben) is None
    assert queue.fact_items.get().is_open
    assert claim_item(queue, world.ben) == item


def test_a_page_that_was_taken_back_comes_with_its_choices_and_nothing_of_it_is_stored(world: World) -> None:
    bring_facts(world)
    queue, client = fact_queue(world), signed_in("ben")
    address = f"/queues/{queue.pk}/facts/judge/"
    form = form_of(client.get(address).context["page"], lines="supports") | {"evidence-1": "0-5"}
    client.post(address, form)
    again = client.post(address, {"action": "undo"}, follow=True)
    shown = [(one["id"], one["verdict"], one["evidence"]) for one in again.context["page"]["facts"]]
    assert shown == [("lines", "supports", (0, 5)), ("often", "no", None)]
    assert again.content.decode().count(" checked") == 2
    assert not Support.objects.exists()
    page = client.post(f"/api/queues/{queue.pk}/facts/claim/").json()["page"]
    assert [one["verdict"] for one in page["facts"]] == ["", ""]
    change_fact(fact(world, "lines"), user=world.ada, text="Night buses run everywhere.")
    assert [one["verdict"] for one in client.get(address).context["page"]["facts"]] == ["", "no"]


def test_a_deleted_queue_of_facts_says_so_and_takes_what_is_held_and_nothing_back(world: World) -> None:
    many_facts(world, 10)
    queue, client = fact_queue(world), signed_in("ben")
    address = f"/queues/{queue.pk}/facts/judge/"
    page = client.get(address).context["page"]
    delete(queue, by=world.ada)
    on_next = client.post(address, form_of(page), follow=True).content.decode()
    assert "Page 2 of 2" in on_next
    assert "This queue is deleted; your verdicts are still saved." in on_next
    refused = "This queue is deleted; it hands out no documents."
    assert refused in client.post(address, {"action": "undo"}, follow=True).content.decode()
    assert client.post(f"/api/queues/{queue.pk}/facts/undo/").json()["detail"] == refused
    assert Support.objects.count() == 9
    rest = client.get(address)
    assert "This queue is deleted; your verdicts are still saved." in rest.content.decode()
    end = client.post(address, form_of(rest.context["page"]), follow=True).content.decode()
    assert Support.objects.count() == 10
    assert refused in end
    assert f'href="/queues/{queue.pk}/facts/"' not in end


def test_a_document_is_with_as_many_people_as_are_to_judge_it(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    now = timezone.now()
    item = claim_item(queue, world.ben, now=now)
    assert item == claim_item(queue, world.ben, now=now)
    assert claim_item(queue, world.cleo, now=now) is None
    later = now + timedelta(seconds=queue.lease_seconds + 1)
    assert claim_item(queue, world.cleo, now=later) == item


def test_two_people_each_judge_a_document_once(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world, needed=2)
    for annotator in (world.ben, world.cleo):
        item = claim_item(queue, annotator)
        assert item is not None
        say(queue, annotator, item, lines="supports", often="no")
        assert claim_item(queue, annotator) is None
    assert not queue.fact_items.get().is_open
    agreement = fact_progress(queue)["agreement"]
    assert agreement["pairs"] == 2


def test_a_fact_with_enough_supports_is_no_longer_asked_where_the_queue_says_so(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world, documents=3, covered_by=1)
    first = claim_item(queue, world.ben)
    assert first is not None
    say(queue, world.ben, first, lines="supports", often="no")
    second = claim_item(queue, world.cleo)
    assert second is not None
    assert [one["id"] for one in page_for(queue, world.cleo, second)["facts"]] == ["often"]
    say(queue, world.cleo, second, often="supports")
    assert claim_item(queue, world.ben) is None
    assert not FactItem.objects.filter(is_open=True).exists()


def test_a_fact_that_changed_while_it_was_read_is_not_stored(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    page = FactPage(uuid4(), 1, [FactVerdict("lines", 1, "supports"), FactVerdict("often", 1, "no")])
    change_fact(fact(world, "lines"), user=world.ada, text="Night buses run everywhere.")
    item = queue.fact_items.get()
    hold_item(item, world.ben)
    with pytest.raises(InputError, match="changed these facts"):
        store_page(queue, world.ben, item, page)
    assert not SupportEvent.objects.exists()


@pytest.mark.parametrize(
    ("verdict", "problem"),
    [
        (FactVerdict("lines", 1, "perhaps"), "Unknown verdict"),
        (FactVerdict("kept", 1, "no"), "changed these facts"),
        (FactVerdict("lines", 1, "no", (0, 3)), "Evidence goes with"),
        (FactVerdict("lines", 1, "supports", (5, 3)), "0 ≤ start < end"),
        (FactVerdict("lines", 1, "supports", (0, 900)), "the document has"),
    ],
)
def test_a_wrong_verdict_is_refused_with_its_page(world: World, verdict: FactVerdict, problem: str) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    item = queue.fact_items.get()
    hold_item(item, world.ben)
    with pytest.raises(InputError, match=problem):
        store_page(queue, world.ben, item, FactPage(uuid4(), 1, [verdict]))
    assert not SupportEvent.objects.exists()


def test_a_text_that_was_never_there_is_refused(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    item = queue.fact_items.get()
    hold_item(item, world.ben)
    with pytest.raises(InputError, match="This document has no version 77 yet: the newest is 1"):
        store_page(queue, world.ben, item, FactPage(uuid4(), 77, [FactVerdict("lines", 1, "no")]))
    assert not SupportEvent.objects.exists()


def test_nothing_is_chosen_before_the_person_does(world: World) -> None:
    bring_facts(world)
    queue, client = fact_queue(world), signed_in("ben")
    address = f"/queues/{queue.pk}/facts/judge/"
    shown = client.get(address)
    assert " checked" not in shown.content.decode()
    assert (
        "a page is saved when each of its facts" in client.get(f"/queues/{queue.pk}/facts/").content.decode()
    )
    fields = form_of(shown.context["page"])
    untouched = {name: value for name, value in fields.items() if not name.startswith("verdict-")}
    answer = client.post(address, untouched, follow=True)
    assert "The page was incomplete" in answer.content.decode()
    assert not Support.objects.exists()
    client.post(address, {**untouched, "verdict-2": "supports"})
    assert [one.fact.external_id for one in Support.objects.all()] == ["often"]
    page = client.get(address).context["page"]
    client.post(address, {**untouched, "key": page["key"], "verdict-2": "supports", "none": "1"})
    assert dict(Support.objects.values_list("fact__external_id", "verdict")) == {
        "often": "supports",
        "lines": "no",
    }


def test_no_sentence_is_tinted_unless_the_queue_says_so(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    item = queue.fact_items.get()
    shown = page_for(queue, world.ben, item)["facts"]
    assert {one["sentence"] for one in shown} == {None}
    assert any(one["marks"] for one in shown)
    change_queue(queue, {"highlight": "sentence"}, by=world.ada)
    shown = page_for(queue, world.ben, queue.fact_items.select_related("queue").get())["facts"]
    assert any(one["sentence"] for one in shown)


def test_a_document_takes_verdicts_only_from_those_who_were_given_it(world: World) -> None:
    bring_facts(world)
    queue, kind = fact_queue(world), "application/json"
    page = signed_in("cleo").post(f"/api/queues/{queue.pk}/facts/claim/").json()["page"]
    said = [{"fact": one["id"], "version": one["version"], "verdict": "no"} for one in page["facts"]]
    body = {"item": page["item"], "key": str(uuid4()), "document_version": 1, "verdicts": said}
    at = f"/api/queues/{queue.pk}/facts/pages/"
    assert signed_in("ben").post(at, body, content_type=kind).status_code == 400
    form = {**form_of({**page, "key": uuid4(), "document_version": 1})}
    signed_in("ben").post(f"/queues/{queue.pk}/facts/judge/", form)
    assert not Support.objects.exists()
    # Late is not too late, and second thoughts are taken.
    FactLease.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    assert signed_in("cleo").post(at, body, content_type=kind).json()["status"] == "stored"
    again = {**body, "key": str(uuid4())}
    assert signed_in("cleo").post(at, again, content_type=kind).json()["status"] == "stored"


def test_the_list_of_queues_counts_documents_of_a_queue_of_facts(world: World) -> None:
    bring_facts(world)
    fact_queue(world, documents=2)
    listed = signed_in("vera").get("/collections/harbour/queues/").content.decode()
    assert "0 of 2 documents judged" in listed
    assert "pairs judged" not in listed.lower()


def test_judge_is_no_first_button_once_a_person_has_judged_every_document(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world, needed=2)
    say(queue, world.ben, queue.fact_items.get(), lines="supports", often="no")
    first = f'class="button primary" href="/queues/{queue.pk}/judge/"'
    for name, shown in (("ben", False), ("cleo", True)):
        assert (first in signed_in(name).get("/collections/harbour/queues/").content.decode()) == shown


def test_numbers_of_documents_tell_nothing(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world, documents=3)
    keys, client = list(queue.fact_items.order_by("pk").values_list("pk", flat=True)), signed_in("ben")
    address = f"/queues/{queue.pk}/facts/judge/"
    page = client.get(address).context["page"]
    assert page["item"] == number_of(keys[0])
    assert client.get(f"{address}?item={keys[1]}").context["page"]["item"] == page["item"]
    assert not set(keys) & {page["item"]}


def test_relevant_documents_are_asked_and_a_share_of_those_that_are_not(world: World) -> None:
    bring_facts(world)
    pool = world.build_pool(depth=3)
    labels = world.folder / "labels.txt"
    labels.write_text(qrels_text())
    import_qrels(world.collection, labels, user=world.ada)
    queue = open_fact_queue(pool, FactQueueOptions(audit_share=0), user=world.ada)
    asked = queue.fact_items.values_list("query__external_id", "document__external_id").order_by("order_key")
    assert set(asked) == {("q1", "d1"), ("q1", "d4"), ("q2", "d2")}
    more = open_fact_queue(pool, FactQueueOptions(audit_share=1), name="more", user=world.ada)
    assert set(more.fact_items.values_list("is_audit", flat=True)) == {True}
    with pytest.raises(InputError, match="is in another queue of facts"):
        open_fact_queue(pool, FactQueueOptions(documents="all"), name="a third", user=world.ada)


def test_a_pool_without_facts_has_no_queue_of_facts(world: World) -> None:
    with pytest.raises(InputError, match="has a confirmed fact"):
        fact_queue(world)


def test_annotators_see_nothing_of_others(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world, needed=2)
    say(queue, world.cleo, queue.fact_items.get(), lines="supports", often="no")
    own = signed_in("ben")
    assert "cleo" not in own.get(f"/queues/{queue.pk}/facts/").content.decode()
    shown = own.get(f"/queues/{queue.pk}/facts/judge/").context["page"]
    assert [one["verdict"] for one in shown["facts"]] == ["", ""]


def test_a_program_claims_stores_and_takes_back(world: World) -> None:
    bring_facts(world)
    queue, client = fact_queue(world), signed_in("ben")
    at = f"/api/queues/{queue.pk}/facts/"
    page = client.post(f"{at}claim/").json()["page"]
    said = [{"fact": one["id"], "version": one["version"], "verdict": "supports"} for one in page["facts"]]
    body = {"item": page["item"], "key": str(uuid4()), "document_version": 1, "verdicts": said}
    answer = client.post(f"{at}pages/", body, content_type="application/json").json()
    assert answer == {"status": "stored", "stored": 2, "left": 0, "page": None}
    settles = {**body, "key": str(uuid4()), "adjudicates": True}
    assert client.post(f"{at}pages/", settles, content_type="application/json").status_code == 403
    assert client.post(f"{at}undo/").json()["page"]["item"] == page["item"]
    assert not Support.objects.exists()


def test_an_admin_keeps_facts_over_http(world: World) -> None:
    client = signed_in("ada")
    at, kind = "/api/collections/harbour/facts/", "application/json"
    made = client.post(at, {"query": "q1", "text": "Buses run at night."}, content_type=kind).json()
    assert (made["fact_id"], made["state"]) == ("f1", "confirmed")
    other = client.post(at, {"query": "q1", "text": "At night buses run."}, content_type=kind).json()
    changed = client.patch(f"/api/facts/{made['id']}/", {"text": "Buses run all night."}, content_type=kind)
    assert changed.json()["version"] == 2
    assert (
        client.post(f"/api/facts/{other['id']}/merge/", {"into": "f1"}, content_type=kind).status_code == 200
    )
    assert [one["state"] for one in client.get(at).json()] == ["confirmed", "merged"]
    assert client.get(f"{at}files/facts/").content.count(b"\n") == 1
    assert signed_in("vera").post(at, {"query": "q1", "text": "x"}, content_type=kind).status_code == 403


def test_gold_questions_of_pairs_and_another_redundancy_leave_a_queue_of_facts_alone(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world)
    add_question(world.collection, NewQuestion("q1", "d1", "relevant"), user=world.ada)
    assert not queue.items.exists()
    with pytest.raises(InputError, match="keeps its number of judgments"):
        change_queue(queue, {"judgments_per_item": 2}, by=world.ada)
    change_queue(queue, {"state": "paused"}, by=world.ada)
    assert claim_item(queue, world.ben) is None


def test_what_an_adjudicator_said_last_is_the_label(world: World) -> None:
    bring_facts(world)
    queue = fact_queue(world, needed=2)
    item = queue.fact_items.get()
    for admin, verdict in ((world.ada, "supports"), (world.cleo, "supports"), (world.ada, "no")):
        said = [FactVerdict("lines", 1, verdict)]
        store_page(queue, admin, item, FactPage(uuid4(), item.document.version, said, adjudicates=True))
    labels = dict(support_labels(world.collection).supports.select("fact_id", "weight").iter_rows())
    assert labels["lines"] == 0
    # Judged in the queue afterwards, the fact keeps what was decided of it.
    in_queue = FactPage(uuid4(), item.document.version, [FactVerdict("lines", 1, "supports")])
    assert store_page(queue, world.ada, item, in_queue).stored == 1
    labels = dict(support_labels(world.collection).supports.select("fact_id", "weight").iter_rows())
    assert labels["lines"] == 0
