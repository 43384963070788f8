"""The page of one's own work: hours, agreement where the admin allows it, and what was set aside."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.test import Client
from django.utils import timezone

from labeling.gold.quarantine import impose, lift
from labeling.models import Judgment, Queue
from labeling.progress.own_views import agreement_with_labels
from labeling.queues.opening import open_queue
from pooling.models import Document, Membership
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World, signed_in

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries

YESTERDAY = timezone.now() - timedelta(days=1)


def shared_queue(world: World, *, agreed: int, pairs: int = 60) -> Queue:
    """Ben and Cleo judged the same pairs yesterday, and said the same of `agreed`; Ada settled the rest as
    Cleo said."""
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"a{at:02}", text="Text.")
        for at in range(pairs // 3)
    )
    pool = make_pool(world, documents=pairs // 3)
    queue = open_queue(pool, judgments_per_item=2, seed=1, user=world.ada, name="q")
    for at, item in enumerate(queue.items.order_by("pk")):
        same = at < agreed
        judge(queue, world.cleo, item.pk, now=YESTERDAY)
        judge(queue, world.ben, item.pk, "relevant" if same else "not_relevant", now=YESTERDAY)
        if not same:
            judge(queue, world.ada, item.pk, adjudicates=True, now=YESTERDAY)
    return queue


def test_agreement_is_told_only_where_the_admin_allows_it(world: World) -> None:
    queue = shared_queue(world, agreed=48)
    assert agreement_with_labels(queue, world.ben) is None
    assert "not shown" in signed_in(world.ben).get("/account/work/").content.decode()
    address = f"/api/queues/{queue.pk}/"
    body = {"tells_agreement": True}
    assert signed_in(world.ben).patch(address, body, content_type="application/json").status_code == 403
    changed = signed_in(world.ada).patch(address, body, content_type="application/json")
    assert changed.json()["tells_agreement"] is True
    queue.refresh_from_db()
    # 48 of 60.
    assert agreement_with_labels(queue, world.ben) == 80
    assert "about 80 %" in signed_in(world.ben).get("/account/work/").content.decode()


def test_a_form_changes_what_it_names_alone(world: World) -> None:
    queue = make_queue(world, pairs=2)
    Queue.objects.filter(pk=queue.pk).update(tells_agreement=True)
    body, form = "state=paused", "application/x-www-form-urlencoded"
    changed = signed_in(world.ada).patch(f"/api/queues/{queue.pk}/", body, content_type=form)
    assert (changed.json()["state"], changed.json()["tells_agreement"]) == ("paused", True)
    body = "tells_agreement=false"
    changed = signed_in(world.ada).patch(f"/api/queues/{queue.pk}/", body, content_type=form)
    assert changed.json()["tells_agreement"] is False


def test_agreement_tells_nothing_of_single_answers_today_or_of_gold(world: World) -> None:
    queue = shared_queue(world, agreed=48)
    Queue.objects.filter(pk=queue.pk).update(tells_agreement=True)
    queue.refresh_from_db()
    own = Judgment.objects.filter(annotator=world.ben)
    own.filter(verdict="not_relevant").update(judged_at=timezone.now())
    assert agreement_with_labels(queue, world.ben) is None  # 48 of earlier days
    own.update(judged_at=YESTERDAY)
    Judgment.objects.filter(pk__in=own.values("pk")[:11]).update(is_gold=True)
    assert agreement_with_labels(queue, world.ben) is None  # 49 that are no gold questions


def test_hours_are_a_file_of_all_verdicts_by_day(world: World) -> None:
    queue = make_queue(world)
    for item in queue.items.all()[:2]:
        judge(queue, world.ben, item.pk, active_ms=1_800_000, now=YESTERDAY)
    lines = b"".join(signed_in(world.ben).get("/account/work/hours.csv")).decode().splitlines()  # type: ignore[arg-type]
    day = timezone.localdate(YESTERDAY).isoformat()
    assert lines == ["day,collection,queue,verdicts,hours", f"{day},harbour,{queue.name},2,1.0"]
    for other in (world.cleo, world.dan):
        response = signed_in(other).get("/account/work/hours.csv")
        assert b"".join(response).decode().splitlines() == lines[:1]  # type: ignore[arg-type]
    assert Client().get("/account/work/").status_code == 302


def test_somebody_who_left_the_collection_sees_nothing_of_it(world: World) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, queue.items.all()[0].pk)
    ben = signed_in(world.ben)
    assert queue.name in ben.get("/account/work/").content.decode()
    Membership.objects.filter(user=world.ben).delete()
    page = ben.get("/account/work/").content.decode()
    assert queue.name not in page
    assert "What you judged is in collections that you no longer belong to" in page
    assert "You have not judged anything yet." in signed_in(world.cleo).get("/account/work/").content.decode()


def test_what_was_set_aside_is_told_in_the_same_words_whoever_did_it(world: World) -> None:
    pages = []
    for by, reason in ((None, "The rule for gold questions: 1 of 9."), (world.ada, "He missed all gold.")):
        queue = make_queue(world, name=f"set aside by {by}")
        judge(queue, world.ben, queue.items.all()[0].pk)
        impose(queue, world.ben, by=by, reason=reason)
        page = signed_in(world.ben).get("/account/work/").content.decode()
        assert "gold" not in page.lower()
        pages.append(page.split(queue.name, 1)[1].split("</p>")[0])
        lift(queue, world.ben, by=world.ada)
        assert "they count again" in signed_in(world.ben).get("/account/work/").content.decode()
    assert pages[0].split("</p>")[0] == pages[1].split("</p>")[0]


def test_a_pause_is_said_wherever_judging_is_offered(world: World) -> None:
    queue = make_queue(world)
    impose(queue, world.ben, by=world.ada)
    ben, said = signed_in(world.ben), "paused for you until an admin has reviewed your work"
    pages = ("/", "/collections/harbour/", "/collections/harbour/queues/", f"/queues/{queue.pk}/")
    for page in (*pages, f"/queues/{queue.pk}/mine/"):
        text = ben.get(page).content.decode()
        assert said in text, page
        assert f'href="/queues/{queue.pk}/judge/' not in text, page
    assert f"{queue.name} is paused for you" in ben.get("/account/work/").content.decode()
    lift(queue, world.ben)
    for page in pages:
        assert said not in ben.get(page).content.decode(), page
    assert "paused for you" not in ben.get("/account/work/").content.decode()


def test_the_button_of_an_only_queue_stands_out_where_something_is_left(world: World) -> None:
    queue = make_queue(world, pairs=2)
    ben, button = signed_in(world.ben), f'href="/queues/{queue.pk}/judge/"'
    assert f'class="button primary" {button}' in ben.get("/").content.decode()
    for item in queue.items.all():
        judge(queue, world.ben, item.pk)
    ben.post(f"/api/queues/{queue.pk}/claim/")
    assert f'class="button" {button}' in ben.get("/").content.decode()


def test_an_admin_who_is_paused_is_offered_no_judging_either(world: World) -> None:
    queue = make_queue(world)
    impose(queue, world.ada, by=world.ada)
    ada, said = signed_in(world.ada), "paused for you until an admin has reviewed your work"
    for page in ("/collections/harbour/", "/collections/harbour/queues/", f"/queues/{queue.pk}/"):
        text = ada.get(page).content.decode()
        assert said in text, page
        assert f'href="/queues/{queue.pk}/judge/' not in text, page
    lift(queue, world.ada)
    assert f'href="/queues/{queue.pk}/judge/' in ada.get(f"/queues/{queue.pk}/").content.decode()


def test_the_calls_of_ones_own_work_tell_what_the_page_does_and_of_nobody_else(world: World) -> None:
    queue = make_queue(world, pairs=2)
    one, other = queue.items.order_by("pk")
    judge(queue, world.ben, one.pk, now=YESTERDAY)
    judge(queue, world.cleo, other.pk, now=YESTERDAY)
    ben = signed_in(world.ben)
    (row,) = ben.get("/api/work/").json()["queues"]
    assert (row["queue"], row["collection"], row["agreement"]) == (queue.pk, "harbour", None)
    assert sum(day["verdicts"] for day in row["per_day"]) == 1
    hours = ben.get("/api/work/hours/")
    assert [(day["queue"], day["verdicts"]) for day in hours.json()] == [(queue.name, 1)]
    assert hours["X-Total-Count"] == "1"
    impose(queue, world.ben, by=world.ada, reason="too fast")
    assert [one["until"] for one in ben.get("/api/work/").json()["set_aside"]] == [None]
    assert signed_in(world.dan).get("/api/work/").json() == {"queues": [], "set_aside": [], "messages": []}
    assert Client().get("/api/work/").status_code == 401


def test_more_judgments_take_no_more_statements(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    shared_queue(world, agreed=48)
    Queue.objects.update(tells_agreement=True)
    client = signed_in(world.ben)
    assert "about 80 %" in client.get("/account/work/").content.decode()
    with django_assert_max_num_queries(11):  # for sixty judgments as for one
        client.get("/account/work/")


def test_verdicts_are_written_alike_in_the_list_of_ones_own(world: World) -> None:
    queue = make_queue(world, pairs=2)
    for item, verdict in zip(queue.items.order_by("pk"), ("relevant", "not_relevant"), strict=True):
        judge(queue, world.ben, item.pk, verdict)
    table = signed_in(world.ben).get(f"/queues/{queue.pk}/mine/").context["table"]
    assert [chip.title for chip in table.filters[0].chips] == [
        "All",
        "Relevant",
        "Not relevant",
        "Can't judge",
    ]
    assert [row.cells[1].html for row in table.rows] == ["not relevant", "relevant"]


def test_a_cell_without_a_value_is_empty_so_that_a_phone_leaves_out_its_title(world: World) -> None:
    queue = make_queue(world, pairs=2)
    judge(queue, world.ben, queue.items.order_by("pk")[0].pk)
    page = signed_in(world.ben).get(f"/queues/{queue.pk}/mine/").content.decode()
    assert '<td data-label="Note"></td>' in page
