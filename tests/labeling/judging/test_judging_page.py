"""The judging page as the server renders it, and its plain form."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.items.numbers import number_of
from labeling.judging.leases import claim
from labeling.models import Judgment, JudgmentEvent, Lease, Queue
from labeling.queues.opening import change_state
from tests.labeling.helpers import judge, make_queue
from tests.world import World, signed_in


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world)


def address(queue: Queue) -> str:
    return reverse("judge", args=[queue.pk])


def form_of(page: Any, **changes: Any) -> dict[str, Any]:
    """What the form on a page would send."""
    item = page.context["item"]
    fields = {name: item[name] for name in ("item", "version", "lease")}
    return {**fields, "key": page.context["key"], "shown": page.context["shown"], **changes}


def test_it_shows_the_pair_and_what_relevant_means(world: World, queue: Queue) -> None:
    world.collection.queries.update(metadata={"narrative": "Only <buses> at night."})
    page = signed_in(world.ben).get(address(queue))
    lease = Lease.objects.get(annotator=world.ben)
    assert page.context["item"]["item"] == number_of(lease.item_id)
    for text in (
        world.collection.question,
        lease.item.query.text,
        "Only &lt;buses&gt; at night.",
        "Relevant <em>helps</em>.",
    ):
        assert text in page.content.decode()


def test_it_says_nothing_of_runs_ranks_and_others(world: World) -> None:
    from labeling.queues.opening import open_queue

    queue = open_queue(world.build_pool(), name="over two runs", judgments_per_item=2, seed=1)
    judge(queue, world.cleo, queue.items.order_by("order_key")[0].pk)
    page = signed_in(world.ben).get(address(queue))
    # The tokens of the forms are random letters, which may spell anything.
    text = re.sub(r'name="(csrfmiddlewaretoken|key|lease)" value="[^"]*"', "", page.content.decode()).lower()
    for word in ("alpha", "beta", "rank", "score", "rrf", "cleo"):
        assert word not in text
    assert page.context["item"].keys() == {"item", "version", "lease", "expires_at", "query", "document"}
    assert page.context["item"]["query"].keys() == {"id", "text", "narrative", "left"}
    assert page.context["item"]["document"].keys() == {
        "sentence",
        "html",
        "facts",
        "image",
        "id",
        "title",
        "text",
        "title_marks",
        "marks",
        "passage",
    }


def test_query_terms_are_marked_and_markup_is_text(world: World, queue: Queue) -> None:
    world.collection.queries.update(text="bus & <b>")
    world.collection.documents.update(title="Two buses", text="<script>alert(1)</script> a bus\nand more")
    page = signed_in(world.ben).get(address(queue)).content.decode()
    assert "Two <mark>buses</mark></h1>" in page
    assert ">&lt;script&gt;alert(1)&lt;/script&gt; a <mark>bus</mark>\nand more</div>" in page
    assert "<script>alert" not in page


def test_a_long_document_begins_with_its_best_passage(world: World, queue: Queue) -> None:
    world.collection.queries.update(text="night bus")
    text = "Nothing of use is here. " * 100 + "The night bus leaves at one. " + "Nor is it there. " * 100
    world.collection.documents.update(text=text)
    ben = signed_in(world.ben)
    page = ben.get(address(queue))
    shown = "".join(part.text for part in page.context["text_parts"])
    assert "The night bus leaves at one." in shown
    assert len(shown) < len(text) / 2
    assert ">… Nothing" in page.content.decode()
    whole = ben.get(address(queue), {"item": page.context["item"]["item"], "whole": ""})
    assert "".join(part.text for part in whole.context["text_parts"]) == text
    for offered, verdict in ((page, "relevant"), (whole, "not_relevant")):
        ben.post(address(queue), form_of(offered, verdict=verdict))
    assert list(JudgmentEvent.objects.order_by("pk").values_list("shown", flat=True)) == [
        "passage",
        "document",
    ]


def test_a_page_of_somebody_else_is_answered_for_nobody(world: World, queue: Queue) -> None:
    (lease,) = claim(queue, world.ben, 1).leases
    cleo, ben = signed_in(world.cleo), {"X-Account": str(world.ben.pk)}
    verdict = [{"item": number_of(lease.item_id), "key": "k", "verdict": "relevant"}]
    call = reverse("api_queue_judgments", args=[queue.pk])
    refused = cleo.post(call, verdict, content_type="application/json", headers=ben)
    assert (refused.status_code, refused.json()["signed_in"]) == (409, "cleo")
    assert Judgment.objects.count() == 0
    accepted = signed_in(world.ben).post(call, verdict, content_type="application/json", headers=ben)
    assert accepted.json()["results"][0]["status"] == "stored"
    assert Client().post(call, verdict, content_type="application/json", headers=ben).status_code == 401


@pytest.mark.parametrize("text", [None, ""])
def test_a_document_without_text_says_so(world: World, queue: Queue, text: str | None) -> None:
    world.collection.documents.update(text=text, title="")
    page = signed_in(world.ben).get(address(queue)).content.decode()
    assert '<p class="notice" data-part="no_text">' in page
    assert "Untitled document" in page


def test_the_page_has_no_inline_script_or_style(world: World, queue: Queue) -> None:
    page = signed_in(world.ben).get(address(queue))
    assert "default-src 'self'" in page["Content-Security-Policy"]
    text = page.content.decode()
    assert text.count("<script") == text.count("<script type=") + text.count('<script id="judging-data"')
    assert " style=" not in text
    assert " onclick=" not in text


def test_a_verdict_is_stored_once_however_often_the_form_is_sent(world: World, queue: Queue) -> None:
    ben = signed_in(world.ben)
    form = form_of(ben.get(address(queue)), verdict="relevant", note="plain")
    for _ in range(2):
        assert ben.post(address(queue), form).status_code == 302
    event = JudgmentEvent.objects.get()
    assert (event.verdict, event.note, event.shown, number_of(event.item_id or 0)) == (
        "relevant",
        "plain",
        "document",
        form["item"],
    )
    assert str(event.lease) == form["lease"]


def test_the_next_page_shows_the_next_item_and_the_last_verdict(world: World, queue: Queue) -> None:
    ben = signed_in(world.ben)
    form = form_of(ben.get(address(queue)), verdict="not_relevant")
    page = ben.post(address(queue), form, follow=True)
    assert page.context["item"]["item"] != form["item"]
    assert page.context["last"]["verdict"] == "not_relevant"
    assert "Saved: not relevant." in page.content.decode()
    assert page.context["page_data"]["progress"] == {"done_today": 1, "done": 1, "left": 5}


def test_a_reason_means_cannot_judge(world: World, queue: Queue) -> None:
    ben = signed_in(world.ben)
    ben.post(address(queue), form_of(ben.get(address(queue)), reason="language"))
    event = JudgmentEvent.objects.get()
    assert (event.verdict, event.reason) == ("cannot_judge", "language")


def test_skip_gives_the_item_back(world: World, queue: Queue) -> None:
    ben = signed_in(world.ben)
    form = form_of(ben.get(address(queue)), action="skip")
    page = ben.post(address(queue), form, follow=True)
    assert page.context["item"]["item"] != form["item"]
    assert Judgment.objects.count() == 0


def test_undo_brings_the_item_back_on_screen(world: World, queue: Queue) -> None:
    ben = signed_in(world.ben)
    form = form_of(ben.get(address(queue)), verdict="relevant")
    ben.post(address(queue), form, follow=True)
    page = ben.post(address(queue), {"action": "undo", "undoes": form["key"]}, follow=True)
    assert page.context["item"]["item"] == form["item"]
    assert page.context["last"] is None
    assert Judgment.objects.count() == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"verdict": ""}, "Please choose again"),
        ({"verdict": "perhaps"}, "Please choose again"),
        ({"verdict": "relevant", "item": "9999999"}, "not in this queue"),
        ({"verdict": "relevant", "item": "x"}, "Please choose again"),
        ({"verdict": "cannot_judge"}, "needs a reason"),
        ({"action": "undo", "undoes": "no such key"}, "None of your last 20 verdicts"),
        ({"action": "skip", "item": "9999999"}, "not in this queue"),
    ],
)
def test_a_form_that_makes_no_sense_is_answered_with_a_sentence(
    world: World, queue: Queue, changes: dict[str, str], sentence: str
) -> None:
    ben = signed_in(world.ben)
    page = ben.post(address(queue), form_of(ben.get(address(queue)), **changes), follow=True)
    assert sentence in page.content.decode()
    assert JudgmentEvent.objects.count() == 0


def test_an_item_of_somebody_else_cannot_be_asked_for(world: World, queue: Queue) -> None:
    (lease,) = claim(queue, world.cleo, 1).leases
    page = signed_in(world.ben).get(address(queue), {"item": number_of(lease.item_id)})
    assert page.context["item"]["item"] != number_of(lease.item_id)


@pytest.mark.parametrize("number", ["9" * 5_000, "-1", "²", ""])
def test_a_number_of_no_item_is_answered_with_the_next_one(world: World, queue: Queue, number: str) -> None:
    page = signed_in(world.ben).get(address(queue), {"item": number})
    assert page.context["item"] is not None


def test_an_empty_queue_says_why(world: World, queue: Queue) -> None:
    claim(queue, world.cleo, 6)
    page = signed_in(world.ben).get(address(queue)).content.decode()
    assert "Nothing for you right now: 6 are held by others; the next becomes free at " in page


def test_a_finished_queue_says_thank_you(world: World, queue: Queue) -> None:
    for item in queue.items.all():
        judge(queue, world.ben, item.pk)
    assert "Thank you" in signed_in(world.ben).get(address(queue)).content.decode()


def test_a_paused_queue_says_so(world: World, queue: Queue) -> None:
    change_state(queue, Queue.State.PAUSED)
    assert "This queue is paused" in signed_in(world.ben).get(address(queue)).content.decode()


def test_the_page_asks_the_database_no_more_often_after_many_verdicts(
    world: World, queue: Queue, django_assert_max_num_queries: Any
) -> None:
    ben = signed_in(world.ben)
    ben.get(address(queue))
    with django_assert_max_num_queries(22):
        ben.get(address(queue))
    for item in queue.items.order_by("-order_key")[:4]:
        judge(queue, world.ben, item.pk)
    with django_assert_max_num_queries(22):
        ben.get(address(queue))
