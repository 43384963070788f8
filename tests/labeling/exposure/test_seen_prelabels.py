"""Who sees a pre-label, and when: nobody unless an admin says so, and what was seen is always recorded."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from labeling.exposure.seen_and_blind import seen_and_blind
from labeling.exposure.showing import revealed_to
from labeling.exposure.use import PrelabelUse, change_use
from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.gold.scores import score_of
from labeling.items.numbers import item_of, number_of
from labeling.judging.leases import claim
from labeling.judging.offers import offers_of
from labeling.judging.verdicts import undo
from labeling.models import Item, Judgment, JudgmentEvent, Prelabel, Prelabeler, PrelabelSight, Queue
from labeling.qrels.releases import release_qrels
from pooling.interface.problems import InputError
from pooling.models import AdminAction, Collection
from tests.labeling.helpers import (
    REASONING,
    SENTINEL,
    judge,
    make_pool,
    make_prelabels,
    make_queue,
    only_lease,
    show_prelabels,
)
from tests.world import World

MODEL = "oracle-7b"
pytestmark = pytest.mark.django_db


@pytest.fixture
def prelabeler(world: World) -> Prelabeler:
    return make_prelabels(world, MODEL, score=0.971828)


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world)


def api_of(user: Any) -> APIClient:
    api = APIClient()
    api.force_authenticate(user)
    return api


def seen(key: str) -> tuple[str, int | None]:
    event = JudgmentEvent.objects.get(key=key)
    return event.prelabel_seen, event.prelabeler_id


@pytest.mark.parametrize("mode", ["blind", "reveal"])
@pytest.mark.parametrize("name", ["ben", "vera"])
def test_nothing_of_a_pre_label_is_on_the_wire_before_the_verdict(
    mode: str, name: str, world: World, queue: Queue, prelabeler: Prelabeler, client: Client
) -> None:
    show_prelabels(queue, mode, prelabeler, second_opinion_from=0.9)
    user = getattr(world, name)
    client.force_login(user)
    api, page, call = api_of(user), f"/queues/{queue.pk}/", f"/api/queues/{queue.pk}/"
    item = only_lease(queue, world.ben).item
    judge(queue, world.ben, queue.items.exclude(pk=item.pk)[0].pk, "relevant", key="agrees")
    lists = f"/collections/{world.collection.slug}/"
    answers = [
        *(
            client.get(page + rest)
            for rest in ("", "judge/", "judge/?whole", "mine/", "judged/", "practice/")
        ),
        *(
            client.get(page + rest)
            for rest in ("prelabels/", "quality/", "adjudication/", "gold/", "search/?q=bus")
        ),
        *(client.get(f"{page}prelabels/{prelabeler.pk}/{format}/") for format in ("csv", "jsonl", "trec")),
        *(client.get(lists + rest) for rest in ("", "queues/", "qrels/", "labels/?query=q1&document=d1")),
        api.post(call + "claim/", {"count": 10}, format="json"),
        api.post(call + "judgments/?claim=9", [], format="json"),
        api.post(call + "undo/", {"key": "agrees"}, format="json"),
        api.post(call + "skip/", {"item": number_of(item.pk)}, format="json"),
        *(
            api.get(call + rest)
            for rest in ("progress/", "prelabels/", "prelabels/use/", "selection/", "quality/")
        ),
        *(api.get(call + rest) for rest in (f"prelabels/qrels/?prelabeler={prelabeler.pk}", "adjudication/")),
        *(
            api.get(f"/api{lists}{rest}")
            for rest in ("", "qrels/", "releases/", "labels/?query=q1&document=d1")
        ),
        client.post(
            page + "judge/", {"item": number_of(item.pk), "verdict": "relevant", "key": "x"}, follow=True
        ),
    ]
    if name == "ben":  # what a model is worth is for readers too
        answers += [client.get(f"/prelabelers/{prelabeler.pk}/"), client.get(f"{lists}prelabels/")]
        answers += [api.get(f"/api/prelabelers/{prelabeler.pk}/"), api.get(f"/api{lists}prelabelers/")]
    assert sum(answer.status_code == 200 for answer in answers) >= 6
    for answer in answers:
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        for word in (SENTINEL, "0.9718", MODEL, '"prelabel"'):
            assert word.encode() not in body, answer.request
    assert not PrelabelSight.objects.exists()
    assert set(JudgmentEvent.objects.values_list("prelabel_seen", flat=True)) == {"never"}


def test_assisting_shows_what_a_model_proposes_but_not_in_the_control_arm(
    world: World, queue: Queue, prelabeler: Prelabeler, client: Client
) -> None:
    blind = queue.items.order_by("order_key")[2]
    show_prelabels(queue, "assist", prelabeler, control=(blind,))
    offers = (
        api_of(world.ben).post(f"/api/queues/{queue.pk}/claim/", {"count": 9}, format="json").json()["items"]
    )
    proposals = {offer["item"]: offer.get("prelabel") for offer in offers}
    assert proposals.pop(number_of(blind.pk)) is None
    assert len(proposals) == 5
    for proposal in proposals.values():
        assert proposal == {"verdict": "relevant", "reasoning": REASONING, "model": MODEL}
    client.force_login(world.ben)
    number = next(iter(proposals))
    page = client.get(f"/queues/{queue.pk}/judge/?item={number}").content.decode()
    assert "A model suggests" in page
    assert "&lt;b&gt;says&lt;/b&gt;" in page
    assert "<b>says" not in page
    for place, offer in enumerate(offers):
        judge(queue, world.ben, item_of(offer["item"]), "not_relevant", key=f"k{place}")
    before = JudgmentEvent.objects.filter(prelabel_seen="before", prelabeler=prelabeler)
    assert (before.count(), seen("k2")) == (5, ("never", None))


def test_what_was_seen_stays_seen_through_undo_and_a_queue_made_blind_again(
    world: World, queue: Queue, prelabeler: Prelabeler
) -> None:
    show_prelabels(queue, "assist", prelabeler)
    api = api_of(world.ben)
    api.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}, format="json")
    item = Item.objects.get(leases__annotator=world.ben)
    change_use(queue, PrelabelUse())
    judge(queue, world.ben, item.pk, key="first")
    undo(queue, world.ben, "first")
    judge(queue, world.ben, item.pk, "not_relevant", key="second")
    judge(queue, world.cleo, item.pk, "not_relevant", key="cleo's")
    assert [seen(key)[0] for key in ("first", "second", "cleo's")] == ["before", "before", "never"]
    release = release_qrels(world.collection, name="v1")
    assert release.sidecar["prelabel_seen"] == {"before": 1, "after": 0}
    client = Client()
    client.force_login(world.ada)
    told = client.get(release.get_absolute_url()).content.decode()
    assert "1 verdict given with a pre-label on screen, 0 changed" in told


def test_a_client_cannot_say_that_it_saw_nothing(world: World, queue: Queue, prelabeler: Prelabeler) -> None:
    show_prelabels(queue, "assist", prelabeler)
    api = api_of(world.ben)
    (offer,) = api.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}, format="json").json()["items"]
    verdict = {
        "item": offer["item"],
        "key": "k",
        "verdict": "relevant",
        "prelabel_seen": "never",
        "prelabel": None,
    }
    api.post(f"/api/queues/{queue.pk}/judgments/", [verdict], format="json")
    assert seen("k") == ("before", prelabeler.pk)


def test_a_conflict_is_revealed_once_and_a_change_keeps_both_values(
    world: World, queue: Queue, prelabeler: Prelabeler
) -> None:
    first, second, blind = queue.items.order_by("pk")[:3]
    show_prelabels(queue, "reveal", prelabeler, control=(blind,))
    assert judge(queue, world.ben, first.pk, "relevant", key="agrees").prelabel is None
    assert judge(queue, world.ben, blind.pk, "not_relevant", key="control").prelabel is None
    told = judge(queue, world.ben, second.pk, "not_relevant", key="differs").prelabel
    assert told == {"verdict": "relevant", "reasoning": REASONING, "model": MODEL}
    assert judge(queue, world.ben, second.pk, "not_relevant", key="differs").prelabel is None  # sent again
    assert judge(queue, world.ben, second.pk, "relevant", key="changed").prelabel is None
    assert [seen(key)[0] for key in ("agrees", "control", "differs", "changed")] == [
        *("never", "never", "after", "before")
    ]
    said = JudgmentEvent.objects.filter(item=second).order_by("pk").values_list("verdict", flat=True)
    assert list(said) == ["not_relevant", "relevant"]
    assert Judgment.objects.get(event__item=second).verdict == "relevant"


def test_a_conflict_is_revealed_on_a_gold_question_as_on_any_other_pair(
    world: World, prelabeler: Prelabeler
) -> None:
    options = GoldOptions(gold_first_share=0.5, gold_share=0.5, practice_questions=0)
    add_question(
        world.collection, NewQuestion(query="q1", document="d5", answer="not_relevant"), user=world.ada
    )
    queue = make_queue(world, gold=options)
    show_prelabels(queue, "reveal", prelabeler)
    hidden = queue.items.get(state="gold")
    outcome = judge(queue, world.ben, hidden.pk, "not_relevant", key="first")
    assert outcome.prelabel is not None
    assert revealed_to(queue, world.ben, "first") is not None
    judge(queue, world.ben, hidden.pk, "relevant", key="changed")
    assert score_of(queue, world.ben).not_relevant_right == 1


def test_a_pre_label_of_a_text_that_changed_is_not_shown(
    world: World, queue: Queue, prelabeler: Prelabeler
) -> None:
    show_prelabels(queue, "reveal", prelabeler)
    Prelabel.objects.update(document_version=99)
    assert judge(queue, world.ben, queue.items.all()[0].pk, "not_relevant").prelabel is None


def test_a_conflict_is_shown_without_javascript_and_changed_by_one_button(
    world: World, queue: Queue, prelabeler: Prelabeler, client: Client
) -> None:
    show_prelabels(queue, "reveal", prelabeler)
    client.force_login(world.ben)
    place = f"/queues/{queue.pk}/judge/"
    client.get(place)
    item = Item.objects.get(leases__annotator=world.ben)
    body = {"item": number_of(item.pk), "version": 1, "verdict": "not_relevant", "key": "differs"}
    page = client.post(place, body, follow=True).content.decode()
    assert "a model says" in page
    assert "&lt;b&gt;says" in page
    assert SENTINEL not in client.get(place).content.decode()
    client.post(place, {**body, "verdict": "relevant", "key": "changed"})
    assert Judgment.objects.get(event__item=item).verdict == "relevant"
    assert SENTINEL not in client.get(f"{place}?revealed=differs").content.decode()
    client.force_login(world.cleo)
    assert SENTINEL not in client.get(f"{place}?revealed=differs").content.decode()


def test_a_claim_and_a_verdict_cost_no_more_statements_where_nothing_is_shown(
    world: World, queue: Queue, prelabeler: Prelabeler, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    claim(queue, world.ben, 1)
    for mode, more in (("blind", 0), ("assist", 2)):
        show_prelabels(queue, mode, prelabeler)
        held = claim(queue, world.ben, 1).leases
        with django_assert_num_queries(1 + more):
            offers_of(queue, world.ben, held)


def test_only_an_admin_who_has_read_what_it_does_lets_models_assist(
    world: World, queue: Queue, prelabeler: Prelabeler
) -> None:
    with pytest.raises(InputError, match="56 % to 72 %"):
        change_use(queue, PrelabelUse("assist", prelabeler), by=world.ada)
    assert not AdminAction.objects.filter(action="use of pre-labels changed").exists()
    change_use(queue, PrelabelUse("assist", prelabeler, 0.2), by=world.ada, understood=True)
    action = AdminAction.objects.get(action="use of pre-labels changed")
    assert (action.actor, action.detail["before"], action.detail["mode"]) == (world.ada, "blind", "assist")
    assert action.detail["prelabeler"].startswith(f"{MODEL}, binary v1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mode": "loud"}, "not “loud”"),
        ({"mode": "reveal"}, "Name a model"),
        ({"second_opinion_from": 0.9}, "Name a model"),
        ({"blind_share": 0.0}, "stays blind"),
        ({"second_opinion_from": 0.5}, "above 0.5"),
    ],
)
def test_what_will_not_do_is_said(given: dict[str, Any], said: str, queue: Queue) -> None:
    with pytest.raises(InputError, match=said):
        change_use(queue, PrelabelUse(**given), understood=True)


def test_pre_labels_of_another_collection_are_refused(
    world: World, queue: Queue, prelabeler: Prelabeler
) -> None:
    prelabeler.collection = Collection.objects.create(slug="other", name="Other")
    prelabeler.save()
    with pytest.raises(InputError, match="another collection"):
        change_use(queue, PrelabelUse("reveal", prelabeler))


def test_the_page_and_the_interface_turn_it_on_and_tell_what_it_did(
    world: World, queue: Queue, prelabeler: Prelabeler, client: Client
) -> None:
    client.force_login(world.ada)
    page = f"/queues/{queue.pk}/prelabels/"
    form = {"mode": "assist", "prelabeler": prelabeler.pk, "blind_share": "0.1"}
    assert "56 % to 72 %" in client.post(f"{page}use/", form).content.decode()
    assert (
        "Stored: before the verdict"
        in client.post(f"{page}use/", {**form, "understood": "on"}, follow=True).content.decode()
    )
    assert "the comparison needs 30 of each" in client.get(page).content.decode()
    place, api = f"/api{page}use/", api_of(world.ada)
    told = api.patch(place, {"second_opinion_from": 0.9, "mode": "reveal"}, format="json").json()
    assert (told["mode"], told["prelabeler"], told["second_opinion_from"]) == ("reveal", prelabeler.pk, 0.9)
    judge(queue, world.ben, queue.items.all()[0].pk, "not_relevant")
    assert api.get(place).json()["anchoring"]["verdict"] is None
    assert api.patch(place, {"mode": "assist"}, format="json").status_code == 400
    assert api.patch(place, {"prelabeler": 10**6}, format="json").status_code == 404
    for user in (world.ben, world.vera):
        client.force_login(user)
        assert client.post(f"{page}use/", form).status_code == 403
        assert api_of(user).patch(place, {"mode": "blind"}, format="json").status_code == 403


def test_what_was_seen_is_compared_with_the_control_arm(
    world: World, prelabeler: Prelabeler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("anchoring", "seen_and_blind"):
        monkeypatch.setattr(f"labeling.exposure.{module}.FEWEST_IN_ARM", 2)
    queue = make_queue(world)
    items = list(queue.items.order_by("pk"))
    # Of the control arm, but from before anything was shown: there is nothing of that time to compare with.
    judge(queue, world.ben, items[0].pk, "not_relevant")
    show_prelabels(queue, "assist", prelabeler, control=items[:3])
    offers_of(queue, world.ben, claim(queue, world.ben, 9).leases)
    for item, verdict in zip(
        items[1:], ("not_relevant", "relevant", "relevant", "relevant", "not_relevant"), strict=True
    ):
        judge(queue, world.ben, item.pk, verdict)
    judge(queue, world.ben, items[5].pk, "relevant")  # a second thought is no first impression
    comparison = seen_and_blind(queue)
    assert comparison is not None
    assert (comparison.by_lot, comparison.seen, comparison.control, comparison.blind) == (True, 3, 2, 3)
    assert comparison.anchoring.seen.agreeing.count == 2
    assert comparison.anchoring.blind.agreeing.count == 1
    assert (comparison.anchoring.verdict or "").startswith("Seen before, people agree with the model on 67 %")


def test_verdicts_changed_after_a_conflict_are_counted(
    world: World, queue: Queue, prelabeler: Prelabeler
) -> None:
    show_prelabels(queue, "reveal", prelabeler)
    first, second = queue.items.order_by("pk")[:2]
    for item, verdict in ((first, "not_relevant"), (second, "not_relevant"), (first, "relevant")):
        judge(queue, world.ben, item.pk, verdict)
    comparison = seen_and_blind(queue)
    assert comparison is not None
    assert (comparison.revealed, comparison.changed, comparison.seen, comparison.blind) == (2, 1, 0, 2)


def test_a_queue_is_opened_so_by_command(world: World, prelabeler: Prelabeler) -> None:
    make_pool(world, "the pool")
    out = StringIO()
    call_command(
        *("open_queue", "harbour", "the pool", "--prelabels", "assist", "--prelabeler", str(prelabeler.pk)),
        stdout=out,
    )
    queue = Queue.objects.get(name="the pool")
    assert (queue.prelabel_mode, queue.prelabeler) == ("assist", prelabeler)
    assert "56 % to 72 %" in out.getvalue()
    with pytest.raises(CommandError, match=f"{prelabeler.pk} is oracle-7b"):
        call_command(
            "open_queue", "harbour", "the pool", "--name", "x", "--prelabels", "reveal", "--prelabeler", "0"
        )
    assert not Queue.objects.filter(name="x").exists()
