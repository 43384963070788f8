"""The page of a queue: numbers worked by hand, redundancy changed safely, work handed back, and its cost."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from labeling.gold.quarantine import impose
from labeling.judging.leases import claim
from labeling.models import Item, JudgmentEvent, Lease, Queue
from labeling.progress.counts import queue_progress
from labeling.progress.judged_share import judged_share
from labeling.progress.tables import status_table
from labeling.qrels.labels import current_labels
from labeling.qrels.releases import release_qrels
from labeling.queues import redundancy
from labeling.queues.changes import hand_back
from labeling.queues.costs import change_prices
from labeling.queues.opening import change_state, open_queue
from labeling.queues.redundancy import change_redundancy, has_unfinished_change
from pooling.interface.problems import InputError
from pooling.models import AdminAction
from tests.labeling.gold.test_quarantine import answer_gold, gold_queue
from tests.labeling.helpers import judge, make_pool, make_queue, only_lease
from tests.world import World, signed_in

NOW = timezone.now()


def rows(queue: Queue) -> list[tuple[int, int, int, str]]:
    items = Item.objects.filter(queue=queue, order_key__gt=0).order_by("pk")
    return list(items.values_list("needed", "done", "leased", "state"))


def actions() -> list[tuple[str, str]]:
    lines = AdminAction.objects.exclude(collection=None).order_by("pk")
    return [(line.action, line.subject_name) for line in lines]


def judge_first(queue: Queue, person: User, count: int, verdict: str = "relevant") -> None:
    for item in queue.items.order_by("pk")[:count]:
        judge(queue, person, item.pk, verdict)


def test_raising_the_redundancy_opens_settled_pairs_for_others(world: World) -> None:
    queue = make_queue(world, pairs=6)
    judge_first(queue, world.ben, 6)
    assert change_redundancy(queue, 2, by=world.ada) == 6
    assert rows(queue) == [(2, 1, 0, "open")] * 6
    assert not claim(queue, world.ben, 10).leases
    leases = claim(queue, world.cleo, 10).leases
    assert len(leases) == 6
    for lease in leases:
        judge(queue, world.cleo, lease.item_id)
    assert rows(queue) == [(2, 2, 0, "done")] * 6


def test_newcomers_find_everything_in_the_second_order_that_was_drawn_late(world: World) -> None:
    queue = make_queue(world, pairs=6)
    claim(queue, world.ben, 1)
    change_redundancy(queue, 2)
    same = make_queue(world, needed=2, pairs=6)
    drawn = {item.pk: item.second_key for item in queue.items.order_by("pk")}
    assert list(drawn.values()) == list(same.items.order_by("pk").values_list("second_key", flat=True))
    leases = claim(queue, world.cleo, 10).leases
    assert queue.bookmarks.get(annotator=world.cleo).in_second_order
    assert [lease.item_id for lease in leases] == sorted(drawn, key=lambda pk: drawn[pk] or 0)


def test_lowering_it_settles_what_has_enough_and_sends_ties_to_adjudication(world: World) -> None:
    queue = make_queue(world, needed=3, pairs=6)
    judge_first(queue, world.ben, 3)
    judge_first(queue, world.cleo, 1, "not_relevant")
    judge_first(queue, world.cleo, 0)
    change_redundancy(queue, 2)
    assert rows(queue) == [(2, 2, 0, "adjudication")] + [(2, 1, 0, "open")] * 2 + [(2, 0, 0, "open")] * 3
    change_redundancy(queue, 1)
    assert [row[3] for row in rows(queue)] == ["adjudication", "done", "done", "open", "open", "open"]
    assert current_labels(world.collection).counts["human"] == 2


def test_what_people_hold_is_let_finish_when_it_is_lowered(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    held = [claim(queue, person, 2).leases for person in (world.ben, world.cleo)]
    change_redundancy(queue, 1)
    assert not claim(queue, world.ada, 2).leases
    for leases, person in zip(held, (world.ben, world.cleo), strict=True):
        for lease in leases:
            assert judge(queue, person, lease.item_id).status in ("stored", "extra")
    assert rows(queue) == [(1, 1, 0, "done")] * 2


def test_an_interrupted_change_is_finished_by_the_same_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = make_queue(world, pairs=6)
    monkeypatch.setattr(redundancy, "BATCH", 2)
    step, steps = redundancy._change_next, iter(range(2))

    def failing(*arguments: Any) -> list[Item]:
        if next(steps, None) is None:
            raise OSError("the power went")
        return step(*arguments)

    monkeypatch.setattr(redundancy, "_change_next", failing)
    with pytest.raises(OSError, match="power"):
        change_redundancy(queue, 3)
    assert has_unfinished_change(queue)
    assert sorted(row[0] for row in rows(queue)) == [1, 1, 3, 3, 3, 3]
    monkeypatch.setattr(redundancy, "_change_next", step)
    assert change_redundancy(queue, 3) == 2
    assert not has_unfinished_change(queue)


def test_two_changes_at_once_do_not_mix(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = make_queue(world, pairs=6)
    monkeypatch.setattr(redundancy, "BATCH", 2)

    def meanwhile(share: float, detail: str) -> None:
        Queue.objects.filter(pk=queue.pk).update(judgments_per_item=5)

    with pytest.raises(InputError, match="Somebody else"):
        change_redundancy(queue, 3, progress=meanwhile)


def test_a_closed_queue_keeps_its_redundancy(world: World) -> None:
    queue = make_queue(world)
    change_state(queue, "closed", by=world.ada)
    with pytest.raises(InputError, match="closed"):
        change_redundancy(queue, 2)
    with pytest.raises(InputError, match="1 to 20"):
        change_redundancy(make_queue(world), 21)


def test_a_large_queue_is_changed_by_a_job(world: World, settings: Settings) -> None:
    settings.BACKGROUND_QUEUE_PAIRS = 2
    queue = make_queue(world, pairs=6)
    answer = call(world.ada, "patch", f"queues/{queue.pk}/", {"judgments_per_item": 2})
    assert answer.status_code == 202
    assert world.collection.jobs.get(pk=answer.json()["job"]).state in ("queued", "done")
    queue.refresh_from_db()
    assert [row[0] for row in rows(queue)] == [queue.judgments_per_item] * 6


def call(user: User, method: str, path: str, body: Any = None) -> Any:
    send = getattr(signed_in(user), method)
    return send(f"/api/{path}", json.dumps(body or {}), content_type="application/json")


def test_handed_back_work_goes_to_others(world: World) -> None:
    queue = make_queue(world, pairs=6)
    claim(queue, world.ben, 6)
    assert not claim(queue, world.cleo, 6).leases
    assert hand_back(queue, world.ben, by=world.ada) == 6
    assert hand_back(queue, world.ben, by=world.ada) == 0
    assert len(claim(queue, world.cleo, 6).leases) == 6
    assert actions()[-1] == ("work handed back", "ben")
    late = judge(queue, world.ben, queue.items.order_by("pk")[0].pk)
    assert late.status in ("stored", "extra")


@pytest.mark.parametrize("address", ["/api/queues/{}/annotators/ben/hand-back/", "/queues/{}/hand-back/"])
def test_an_admin_hands_work_back(world: World, address: str) -> None:
    queue = make_queue(world)
    claim(queue, world.ben, 2)
    signed_in(world.ada).post(address.format(queue.pk), {"annotator": "ben"})
    assert not Lease.objects.exists()


def test_somebody_who_does_not_judge_here_holds_nothing(world: World) -> None:
    queue = make_queue(world)
    assert call(world.ada, "post", f"queues/{queue.pk}/annotators/dan/hand-back/").status_code == 404
    page = signed_in(world.ada).post(f"/queues/{queue.pk}/hand-back/", {"annotator": "dan"}, follow=True)
    assert "Nobody called “dan”" in page.content.decode()


def test_open_items_are_told_apart_and_the_oldest_lease_has_its_age(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=6)
    claim(queue, world.cleo, 1, now=NOW - timedelta(minutes=5))
    held = Lease.objects.get().item_id
    other = queue.items.exclude(pk=held).order_by("pk")[0]
    judge(queue, world.ben, other.pk)
    progress = queue_progress(queue, now=NOW)
    assert progress["open_items"] == {"leased": 1, "second_opinion": 1, "free": 4}
    assert progress["leases"] == {
        "held": 1,
        "oldest_seconds": 300,
        "by": [{"username": "cleo", "items": 1, "oldest_seconds": 300}],
    }


def test_end_dates_by_number_of_annotators(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=6)
    two_days_ago = NOW - timedelta(days=2)
    for person in (world.ben, world.cleo):
        for item, seconds in zip(queue.items.order_by("pk")[:2], (10, 20), strict=True):
            judge(queue, person, item.pk, active_ms=1000 * seconds, now=two_days_ago)
    progress = queue_progress(queue, now=NOW)
    # Two people gave four verdicts in two days: each one a day; eight are left.
    assert progress["pace"] == {
        "per_day": 2.0,
        "annotators": 2,
        "per_annotator": 1.0,
        "median_seconds": 10,
        "p90_seconds": 20,
    }
    days = {1: 8, 2: 4, 5: 1.6, 10: 0.8}
    assert progress["by_annotators"] == [
        {"annotators": people, "end_date": (NOW + timedelta(days=left)).date().isoformat()}
        for people, left in days.items()
    ]


def test_cost_counts_gold_extra_and_set_aside_verdicts(world: World, settings: Settings) -> None:
    settings.PRICE_PER_JUDGMENT = 0.15
    queue = gold_queue(world, 4, gold_pause="proposed")
    answer_gold(queue, world.ben, 4)
    first, second = queue.items.filter(state="open").order_by("pk")[:2]
    judge(queue, world.ben, first.pk)
    judge(queue, world.cleo, first.pk)
    judge(queue, world.ben, second.pk)
    impose(queue, world.ben, by=world.ada)
    cost = queue_progress(queue)["cost"]
    # Four gold answers, one beyond the need, and Ben's that are set aside: all seven are paid, 0.15 each.
    assert (cost["paid_judgments"], cost["paid_gold"]) == (7, 4)
    assert cost["spent"] == pytest.approx(1.05)
    # Five pairs are left, half of what people judge is gold, and Cleo was asked none of the four questions.
    assert (cost["judgments_to_pay"], cost["currency"]) == (9, "EUR")
    assert cost["to_finish"] == pytest.approx(1.35)
    change_prices(queue, {"price_per_judgment": 1, "currency": "CHF", "overhead": 0}, by=world.ada)
    cost = queue_progress(Queue.objects.get())["cost"]
    assert (cost["spent"], cost["to_finish"], cost["currency"]) == (7, 9, "CHF")


def test_no_more_gold_is_forecast_than_people_can_still_be_asked(
    world: World, client: Client, settings: Settings
) -> None:
    settings.PRICE_PER_JUDGMENT = 1
    queue = gold_queue(world, 1, gold_first_share=0, gold_share=0.3, gold_pause="proposed")
    # Six are seven tenths of 8.6; Ben and Cleo have one question each.
    assert queue_progress(queue)["cost"]["to_finish"] == 8
    only_lease(queue, world.ben)
    # Ben has begun, and Cleo has not.
    assert queue_progress(queue)["cost"]["to_finish"] == 7
    gold = queue.items.get(state="gold")
    judge(queue, world.ben, gold.pk, active_ms=7_200_000)
    cost = queue_progress(queue)["cost"]
    assert (cost["judgments_to_pay"], cost["to_finish"], cost["seconds_left"]) == (6, 6, 43_200)
    client.force_login(world.ada)
    page = client.get(queue.get_absolute_url()).content.decode()
    assert "<dt>To come</dt><dd>6 judgments" in page
    assert client.get(f"/api/queues/{queue.pk}/progress/").json()["cost"]["judgments_to_pay"] == 6
    assert "6.00 to finish" in status_table(queue_progress(queue), [])


def test_questions_of_a_query_without_open_pairs_are_not_forecast(world: World) -> None:
    queue = gold_queue(world, 2)
    for item in queue.items.filter(state="open", query__external_id="q1"):
        judge(queue, world.ben, item.pk)
    assert queue_progress(queue)["cost"]["judgments_to_pay"] == 4


def test_without_a_price_there_is_no_amount(world: World) -> None:
    cost = queue_progress(make_queue(world))["cost"]
    assert (cost["spent"], cost["to_finish"], cost["judgments_to_pay"]) == (None, None, 6)


def test_the_page_says_that_judgments_may_be_from_any_queue(world: World) -> None:
    pool = make_pool(world, queries=1)
    first = open_queue(pool, seed=1, user=world.ada, name="first")
    judge(first, world.ben, first.items.earliest("pk").pk)
    queue = open_queue(pool, seed=1, user=world.ada, name="second")
    page = " ".join(signed_in(world.ada).get(f"/queues/{queue.pk}/").content.decode().split())
    assert "1 of the 2 judgments that they need, from any queue" in page
    assert "1 judgment, including gold questions" in page


def test_how_much_of_each_run_is_judged(world: World) -> None:
    pool = world.build_pool()
    queue = open_queue(pool, seed=1, user=world.ada)
    assert judged_share(queue) == [
        {"run": name, "k": 2, "now": 0.0, "when_done": 1.0} for name in ("alpha", "beta")
    ]
    # alpha ranks d1, d4 for q1, and beta d4, d1; d1 in q1 is half of the top two of one of three queries.
    judge(queue, world.ben, queue.items.get(query__external_id="q1", document__external_id="d1").pk)
    # alpha alone ranks d2 first for q2; it is third for beta.
    judge(queue, world.ben, queue.items.get(query__external_id="q2", document__external_id="d2").pk)
    found = {row["run"]: row["now"] for row in judged_share(queue)}
    assert found == pytest.approx({"alpha": (1 / 2 + 1 / 2 + 0) / 3, "beta": (1 / 2 + 0 + 0) / 3})


def test_the_page_fetches_what_takes_long_and_links_to_it(world: World) -> None:
    queue = open_queue(world.build_pool(), seed=1, user=world.ada)
    address = f"/queues/{queue.pk}/judged/"
    assert f'href="{address}"' in signed_in(world.ada).get(f"/queues/{queue.pk}/").content.decode()
    whole = signed_in(world.ada).get(address).content.decode()
    part = signed_in(world.ada).get(address, headers={"HX-Request": "true"}).content.decode()
    for page in (whole, part):
        assert "alpha" in page
        assert "0.000" in page
    assert "<html" in whole
    assert "<html" not in part
    assert signed_in(world.ben).get(address).status_code == 403


def test_everything_that_admins_do_to_a_queue_is_written_down(world: World) -> None:
    queue = make_queue(world, name="q", pairs=2)
    client = signed_in(world.ada)
    for state in ("paused", "paused", "open"):
        client.post(f"/queues/{queue.pk}/state/", {"state": state})
    body = {"judgments_per_item": 2, "price_per_judgment": "0.05", "currency": "", "overhead": ""}
    client.post(f"/queues/{queue.pk}/", body)
    client.post(f"/queues/{queue.pk}/", body)
    judge_first(queue, world.ben, 2)
    judge_first(queue, world.cleo, 2)
    release_qrels(world.collection, name="r", user=world.ada)
    assert actions() == [
        ("queue opened", "q"),
        ("queue paused", "q"),
        ("queue reopened", "q"),
        ("queue prices changed", "q"),
        ("redundancy changed", "q"),
        ("labels released", "r"),
    ]
    assert set(AdminAction.objects.exclude(collection=None).values_list("actor__username", flat=True)) == {
        "ada"
    }


def test_the_call_changes_state_redundancy_and_prices(world: World) -> None:
    queue = make_queue(world)
    changes = {"state": "paused", "judgments_per_item": 3, "price_per_judgment": 0.2, "overhead": 0.1}
    answer = call(world.ada, "patch", f"queues/{queue.pk}/", changes)
    assert (answer.status_code, answer.json()["judgments_per_item"]) == (200, 3)
    progress = signed_in(world.vera).get(f"/api/queues/{queue.pk}/progress/").json()
    assert (progress["state"], progress["cost"]["price_per_judgment"]) == ("paused", 0.2)
    own = signed_in(world.ben).get(f"/api/queues/{queue.pk}/progress/").json()
    assert (own["cost"]["price_per_judgment"], own["cost"]["spent"], own["leases"]["by"]) == (None, None, [])
    for wrong in ({"judgments_per_item": 0}, {"overhead": -1}, {"state": "gone"}):
        assert call(world.ada, "patch", f"queues/{queue.pk}/", wrong).status_code == 400
    assert call(world.vera, "patch", f"queues/{queue.pk}/", changes).status_code == 403


def test_the_form_tells_what_is_wrong(world: World) -> None:
    queue = make_queue(world)
    body = {"judgments_per_item": 99, "price_per_judgment": "-1"}
    page = signed_in(world.ada).post(f"/queues/{queue.pk}/", body).content.decode()
    assert "less than or equal to 20" in page
    assert "greater than or equal to 0" in page


def test_links_of_a_page_that_refused_settings_lead_on(world: World) -> None:
    queue = make_queue(world)
    judge_first(queue, world.ben, 1)
    client = signed_in(world.ada)
    address = client.get(queue.get_absolute_url()).content.decode().split("<details><summary>Change")[1]
    address = address.split('action="')[1].split('"')[0]
    page = client.post(address, {"judgments_per_item": 99})
    link = page.content.decode().split('id="table-annotators-judged" href="')[1].split("#")[0]
    assert client.get(urljoin(address, link)).status_code == 200


def test_the_command_tells_how_far_a_queue_is(world: World) -> None:
    queue = open_queue(world.build_pool(), name="q", seed=1, user=world.ada)
    judge_first(queue, world.ben, 1)
    claim(queue, world.cleo, 1)
    change_prices(queue, {"price_per_judgment": 0.5})
    out = StringIO()
    call_command("queue_status", "harbour", "q", stdout=out)
    said = out.getvalue()
    for words in ("q is open; 1 of", "0.50 EUR so far", "by cleo", "judged@K", "alpha"):
        assert words in said
    out = StringIO()
    call_command("queue_status", "harbour", "q", "--format", "json", stdout=out)
    assert json.loads(out.getvalue())["judgments"]["done"] == 1


def test_the_list_of_what_admins_did_shows_all_of_it(world: World) -> None:
    queue = make_queue(world, name="q")
    claim(queue, world.ben, 2)
    hand_back(queue, world.ben, by=world.ada)
    change_prices(queue, {"price_per_judgment": 1}, by=world.ada)
    change_redundancy(queue, 2, by=world.ada)
    page = signed_in(world.ada).get("/collections/harbour/activity/").content.decode()
    for words in ("work handed back", "pairs: 2", "queue prices changed", "judgments_per_item: 2"):
        assert words in page


def test_a_judged_queue_is_to_be_measured_until_a_release_has_its_labels(
    world: World, client: Client
) -> None:
    world.import_runs()
    queue = make_queue(world, pairs=2)
    leases = claim(queue, world.ben, 2).leases
    client.force_login(world.ada)

    def is_offered() -> bool:
        return "Every pair of this queue is judged" in client.get(f"/queues/{queue.pk}/").content.decode()

    assert not is_offered()
    for lease in leases:
        judge(queue, world.ben, lease.item_id)
    assert is_offered()
    release_qrels(world.collection, name="v1", user=world.ada)
    assert not is_offered()
    judge(queue, world.ben, leases[0].item_id, "not_relevant")
    assert is_offered()


def test_a_settled_queue_without_news_neither_invites_to_judge_nor_has_a_pace(world: World) -> None:
    queue, client = make_queue(world, pairs=2), signed_in(world.ada)
    page = client.get(f"/queues/{queue.pk}/").content.decode()
    assert f'<a class="button primary" href="/queues/{queue.pk}/judge/">Judge</a>' in page
    judge_first(queue, world.ben, 2)
    JudgmentEvent.objects.update(created_at=NOW - timedelta(days=8))
    page = client.get(f"/queues/{queue.pk}/").content.decode()
    assert f'<a class="button" href="/queues/{queue.pk}/judge/">Judge</a>' in page
    assert "a day by 0" not in page
    assert "no verdict in the last seven days" in page
    call_command("queue_status", "harbour", queue.name, stdout=(status := StringIO()))
    assert "Pace: no verdict in the last seven days;" in status.getvalue()
