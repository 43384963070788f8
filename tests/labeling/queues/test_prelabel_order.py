"""A queue in the order of a model's scores: what comes first, what stays, what nobody reads from it."""

from __future__ import annotations

import pytest
from django.test import Client
from rest_framework.test import APIClient

from labeling.items.ordering import Candidate, ranked_order_keys, stretch_of
from labeling.judging.leases import claim
from labeling.models import Item, Prelabel, Prelabeler, Queue
from labeling.queues.score_order import order_by_scores, order_without_scores
from pooling.interface.problems import InputError
from tests.labeling.helpers import judge, make_prelabels, make_queue
from tests.world import World


def test_stretches_follow_the_scores_and_say_nothing_of_them_within() -> None:
    pairs = [Candidate("q", f"d{place}", place) for place in range(120)]
    keys = ranked_order_keys(pairs, [False] * 120, 7, after=3)
    for stretch in (4, 5, 6):
        inside = [place for place in range(120) if stretch_of(keys[place]) == stretch]
        assert inside == list(range((stretch - 4) * 40, (stretch - 3) * 40))
        assert sorted(inside, key=keys.__getitem__) != inside
    assert keys != ranked_order_keys(pairs, [False] * 120, 8, after=3)


def test_what_was_drawn_is_spread_evenly_whatever_its_score() -> None:
    worst = [place >= 100 for place in range(120)]
    best = [place < 20 for place in range(120)]
    for drawn in (worst, best):
        pairs = [Candidate("q", f"d{place}", place) for place in range(120)]
        keys = ranked_order_keys(pairs, drawn, 7)
        counts = [sum(drawn[at] and stretch_of(keys[at]) == one for at in range(120)) for one in (1, 2, 3)]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == 20


@pytest.mark.django_db
def test_the_unjudged_rest_moves_and_all_else_stays(world: World) -> None:
    queue = make_queue(world, needed=2)
    prelabeler = make_prelabels(world)
    judged = queue.items.order_by("order_key")[0]
    judge(queue, world.ben, judged.pk)
    claim(queue, world.cleo, 1)
    before = dict(queue.items.values_list("pk", "order_key"))
    stays = set(queue.items.exclude(done=0, leased=0).values_list("pk", flat=True))
    moved = order_by_scores(queue, prelabeler, by=world.ada)
    after = dict(queue.items.values_list("pk", "order_key"))
    assert moved == 6 - len(stays)
    assert {pk for pk in after if after[pk] == before[pk]} == stays
    assert min(after[pk] for pk in after if pk not in stays) > max(before.values())
    while leases := claim(queue, world.ben, 10).leases:
        for lease in leases:
            judge(queue, world.ben, lease.item_id)
    assert queue.items.filter(done=0).count() == 0


@pytest.mark.django_db
def test_pairs_without_a_score_are_counted_when_they_are_ordered(world: World, client: Client) -> None:
    queue, prelabeler = make_queue(world), make_prelabels(world)
    Prelabel.objects.exclude(pk=Prelabel.objects.in_queue(queue)[0].pk).delete()
    client.force_login(world.ada)
    answer = client.post(f"/queues/{queue.pk}/prelabels/order/", {"prelabeler": prelabeler.pk}, follow=True)
    words = f"6 pairs that nobody had judged, in the order of {prelabeler}; 5 of them without a score."
    assert words in answer.content.decode()


@pytest.mark.django_db
def test_what_will_not_do_is_refused(world: World) -> None:
    queue = make_queue(world)
    empty = Prelabeler.objects.create(collection=world.collection, model="empty", options_hash="e")
    with pytest.raises(InputError, match="no pre-labels by empty"):
        order_by_scores(queue, empty)
    prelabeler = make_prelabels(world)
    with pytest.raises(InputError, match="has a fixed order"):
        order_without_scores(queue)
    queue.items.update(state=Item.State.DONE)
    with pytest.raises(InputError, match="has no pairs left that could be moved"):
        order_by_scores(queue, prelabeler)


@pytest.mark.django_db
def test_admins_order_by_page_and_call(world: World, client: Client) -> None:
    queue = make_queue(world)
    prelabeler = make_prelabels(world)
    page, body = f"/queues/{queue.pk}/prelabels/order/", {"prelabeler": prelabeler.pk}
    client.force_login(world.ada)
    assert f'value="{prelabeler.pk}"' in client.get(f"/queues/{queue.pk}/prelabels/").content.decode()
    assert "6 pairs" in client.post(page, body, follow=True).content.decode()
    api = APIClient()
    api.force_authenticate(world.ada)
    assert api.post(f"/api{page}", body, format="json").json()["moved"] == 6
    Prelabel.objects.all().delete()
    assert api.post(f"/api{page}", body, format="json").status_code == 409
    assert api.post(f"/api{page}", {}, format="json").status_code == 400
    assert Queue.objects.get(pk=queue.pk).items.filter(order_key__gt=0).count() == 6
