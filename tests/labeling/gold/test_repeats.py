"""Hidden repeats: one's own earlier pairs shown again, which nobody can tell and nothing counts."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from itertools import count

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from labeling.gold import repeats
from labeling.gold.options import GoldOptions, change_options
from labeling.gold.places import Shares, gold_places
from labeling.gold.quarantine import impose, lift
from labeling.gold.repeats import same_again
from labeling.items import ordering
from labeling.judging.blind_counts import own_figures
from labeling.judging.leases import claim, release
from labeling.judging.offers import offers_of
from labeling.judging.verdicts import skip, undo
from labeling.models import Bookmark, Item, Judgment, JudgmentEvent, Lease, Queue
from labeling.progress.counts import queue_progress
from labeling.qrels.labels import current_labels
from labeling.queues.costs import cost_of
from labeling.queues.opening import open_queue
from pooling.interface.problems import InputError
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World

FIFTH = GoldOptions(0, 0, 0, repeat_share=0.2)
# A seed by which one is due at the first of the second five later items.
SIXTH = next(seed for seed in count() if 30 in gold_places(seed, 30, 5, Shares(0, 0.2)))


@pytest.fixture
def queue(world: World, monkeypatch: pytest.MonkeyPatch) -> Queue:
    """Six pairs of a query in two stretches; Ben is past his first 25 items, and what he judged may come
    again at once."""
    monkeypatch.setattr(ordering, "LONGEST_STRETCH", 3)
    monkeypatch.setattr(repeats, "GAP", 0)
    monkeypatch.setattr(repeats, "_seed", lambda bookmark: SIXTH)
    queue = open_queue(make_pool(world, queries=1, documents=6), name="again", gold=FIFTH, seed=1)
    Bookmark.objects.create(queue=queue, annotator=world.ben, handed_out=25)
    return queue


@pytest.fixture
def repeat(world: World, queue: Queue) -> Lease:
    """Ben holds a pair that he has judged before, as relevant; the others are left."""
    while True:
        (lease,) = claim(queue, world.ben, 1).leases
        if lease.item.repeats_id:
            return lease
        judge(queue, world.ben, lease.item_id, "relevant", key=f"first {lease.item.pk}")


def original(queue: Queue, repeat: Lease) -> Item:
    return queue.items.get(query=repeat.item.query, document=repeat.item.document, repeats=None)


def test_a_pair_comes_again_as_an_item_like_any_other(world: World, queue: Queue, repeat: Lease) -> None:
    first = original(queue, repeat)
    assert first.pk != repeat.item_id
    event = JudgmentEvent.objects.get(pk=repeat.item.repeats_id)
    assert (event.annotator, event.query_id, event.document_id) == (
        world.ben,
        first.query_id,
        first.document_id,
    )
    (shown,) = offers_of(queue, world.ben, [repeat])
    (plain,) = offers_of(queue, world.ben, [Lease(item=first, expires_at=timezone.now())])
    assert shown["document"] == plain["document"]
    assert shown["item"] != plain["item"]
    assert shown["query"] == plain["query"]


def test_each_pair_comes_again_at_most_once(world: World, queue: Queue) -> None:
    given = []
    while leases := claim(queue, world.ben, 1).leases:
        given.append((leases[0].item.query_id, leases[0].item.document_id))
        judge(queue, world.ben, leases[0].item_id)
    again = list(queue.items.filter(repeats__isnull=False).values_list("query", "document"))
    assert len(again) == len(set(again)) == len(given) - 6 > 0


def test_what_is_said_again_counts_nowhere_but_for_its_author(
    world: World, queue: Queue, repeat: Lease
) -> None:
    labels, judgments = current_labels(world.collection).frame, list(Judgment.objects.order_by("pk").values())
    first = Item.objects.filter(pk=original(queue, repeat).pk).values()[0]
    done, own = own_figures(queue, world.ben)["done"], own_figures(queue, world.ben)
    assert judge(queue, world.ben, repeat.item_id, "not_relevant").status == "stored"
    assert current_labels(world.collection).frame.equals(labels)
    assert list(Judgment.objects.order_by("pk").values()) == judgments
    assert Item.objects.filter(pk=first["id"]).values()[0] == first
    assert own_figures(queue, world.ben)["done"] == done + 1
    after = own_figures(queue, world.ben)
    assert (after["done"], after["left"]) == (own["done"] + 1, own["left"] - 1)
    assert same_again(queue) == {world.ben.pk: (0, 1)}
    progress = queue_progress(queue)
    assert progress["items"]["total"] == 6
    assert (progress["cost"]["paid_judgments"], progress["cost"]["paid_repeats"]) == (done + 1, 1)
    assert cost_of(queue, 8, 0, paid=0, paid_gold=0, paid_repeats=0)["judgments_to_pay"] == 10


def test_undo_brings_the_repeat_back_and_leaves_the_first_verdict_alone(
    world: World, queue: Queue, repeat: Lease
) -> None:
    judge(queue, world.ben, repeat.item_id, "not_relevant", key="again")
    lease = undo(queue, world.ben, "again")
    assert lease is not None
    assert lease.item_id == repeat.item_id
    assert same_again(queue) == {}
    judge(queue, world.ben, repeat.item_id, "relevant")
    assert same_again(queue) == {world.ben.pk: (1, 1)}
    first = original(queue, repeat)
    undo(queue, world.ben, f"first {first.pk}")
    assert not Judgment.objects.filter(query=first.query, document=first.document).exists()
    assert queue.items.get(pk=first.pk).state == "open"


def test_a_revised_first_verdict_does_not_change_what_the_repeat_is_held_against(
    world: World, queue: Queue, repeat: Lease
) -> None:
    judge(queue, world.ben, repeat.item_id, "relevant")
    judge(queue, world.ben, original(queue, repeat).pk, "not_relevant")
    assert same_again(queue) == {world.ben.pk: (1, 1)}


def test_cannot_judge_is_neither_the_same_nor_another(world: World, queue: Queue, repeat: Lease) -> None:
    judge(queue, world.ben, repeat.item_id, "cannot_judge", reason="expert")
    assert same_again(queue) == {}


def test_a_repeat_is_for_nobody_else(world: World, queue: Queue, repeat: Lease) -> None:
    assert judge(queue, world.cleo, repeat.item_id).status == "rejected"
    assert repeat.item_id not in {lease.item_id for lease in claim(queue, world.cleo, 20).leases}


def test_what_was_returned_comes_again_and_what_was_skipped_last(
    world: World, queue: Queue, repeat: Lease
) -> None:
    release(queue, world.ben, [repeat.token])
    (lease,) = claim(queue, world.ben, 1).leases
    assert lease.item_id == repeat.item_id
    late = timezone.now() + timedelta(hours=1)
    (lease,) = claim(queue, world.ben, 1, now=late).leases
    skip(queue, world.ben, repeat.item_id)
    given = []
    while leases := claim(queue, world.ben, 1, now=late).leases:
        given.append(leases[0].item_id)
        judge(queue, world.ben, leases[0].item_id, now=late)
    assert given[-1] == repeat.item_id
    assert given.count(repeat.item_id) == 1


def test_a_pause_takes_it_away_like_all_that_is_held(world: World, queue: Queue, repeat: Lease) -> None:
    impose(queue, world.ben, by=world.ada)
    assert not Lease.objects.exists()
    assert judge(queue, world.ben, repeat.item_id, "relevant").status == "stored"
    lift(queue, world.ben, by=world.ada)
    assert same_again(queue) == {world.ben.pk: (1, 1)}


def test_none_come_among_the_first_items_or_too_soon(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = make_queue(world, gold=FIFTH, pairs=6)
    for handed_out in (0, 25):
        Bookmark.objects.update_or_create(
            queue=queue, annotator=world.ben, defaults={"handed_out": handed_out}
        )
        for lease in claim(queue, world.ben, 3).leases:
            judge(queue, world.ben, lease.item_id)
    assert not queue.items.filter(repeats__isnull=False).exists()


def test_page_call_and_command_tell_who_says_the_same_again(
    world: World, queue: Queue, repeat: Lease, client: Client
) -> None:
    client.force_login(world.ada)
    address = f"/queues/{queue.pk}/quality/"
    assert "Same on<br>repeat" not in client.get(address).content.decode()
    judge(queue, world.ben, repeat.item_id, "relevant")
    (row,) = client.get(f"/api/queues/{queue.pk}/quality/").json()["annotators"]
    assert row["again"]["answers"] == row["again"]["same"] == 1
    assert row["again"]["interval"] == pytest.approx([0.2065, 1.0], abs=1e-4)
    page = client.get(address).content.decode()
    assert "Same on<br>repeat" in page
    assert "[0.21, 1.00]" in page
    out = StringIO()
    call_command("quality", "harbour", queue.name, stdout=out)
    assert " 1/1 " in out.getvalue()


def test_the_share_is_an_option_of_the_queue(world: World, client: Client) -> None:
    pool = make_pool(world)
    call_command("open_queue", "harbour", "pool", "--repeat-share", "0.05", stdout=StringIO())
    queue = Queue.objects.get()
    assert queue.repeat_share == 0.05
    client.force_login(world.ada)
    path = f"/api/queues/{queue.pk}/gold/"
    assert client.patch(path, {"repeat_share": 0.1}, "application/json").json()["repeat_share"] == 0.1
    body = {"name": "b", "repeat_share": 0.1}
    made = client.post(f"/api/pools/{pool.pk}/queue/", body, "application/json").json()
    assert Queue.objects.get(pk=made["id"]).repeat_share == 0.1
    with pytest.raises(InputError, match=r"The share of repeats is 0 to 0\.2"):
        change_options(queue, {"repeat_share": 0.3})
    with pytest.raises(CommandError, match="share of repeats"):
        call_command("open_queue", "harbour", "pool", "--name", "c", "--repeat-share", "-1")
