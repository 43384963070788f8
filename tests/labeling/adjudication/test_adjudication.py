"""Settling what judgments leave open, and the explanation of a label."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from labeling.adjudication import settling
from labeling.adjudication.settling import adjudicate, take_back
from labeling.judging.leases import claim
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import Outcome, record_judgment, undo
from labeling.models import Item, Judgment, JudgmentEvent, Queue
from labeling.qrels.labels import current_labels
from pooling.interface.problems import InputError
from pooling.people.membership import add_member
from tests.labeling.helpers import judge, make_queue
from tests.world import World


@pytest.fixture
def tied(world: World) -> Item:
    """An item on which Ben and Cleo disagree."""
    return disagreement(world)


def disagreement(world: World, first: str = "relevant", second: str = "not_relevant") -> Item:
    queue = make_queue(world, needed=2, pairs=2)
    item = claim(queue, world.ben, 1).leases[0].item_id
    judge(queue, world.ben, item, first, reason="other" if first == "cannot_judge" else "", note="I wonder")
    judge(queue, world.cleo, item, second, reason="other" if second == "cannot_judge" else "")
    return Item.objects.select_related("queue", "query", "document").get(pk=item)


def label_of(item: Item, rule: str = "majority") -> tuple[int | None, str]:
    """The pair's relevance and source, or None and why not."""
    labels = current_labels(item.queue.collection, rule)
    pair = [item.query.external_id, item.document.external_id]
    for frame, value, why in ((labels.frame, "relevance", "source"), (labels.undecided, None, "outcome")):
        for row in frame.to_dicts():
            if [row["query_id"], row["document_id"]] == pair:
                return (row[value] if value else None), row[why]
    return None, "nothing"


def state(item: Item) -> str:
    return str(Item.objects.get(pk=item.pk).state)


def settle(item: Item, by: User, verdict: str = "relevant", **options: Any) -> str:
    return adjudicate(item.queue, by, Submission(item.pk, options.pop("key", ""), verdict, **options)).status


def test_a_tie_is_settled_by_one_verdict(world: World, tied: Item) -> None:
    assert (state(tied), label_of(tied)) == ("adjudication", (None, "tie"))
    assert settle(tied, world.ada, note="the guidelines say so") == "stored"
    assert (state(tied), label_of(tied)) == ("done", (1, "adjudicated"))
    assert label_of(tied, "unanimous") == (1, "adjudicated")
    event = JudgmentEvent.objects.latest("pk")
    assert (event.annotator, event.note, event.is_adjudication) == (world.ada, "the guidelines say so", True)


def test_what_nobody_could_judge_may_get_a_label_or_none(world: World) -> None:
    item = disagreement(world, "cannot_judge", "cannot_judge")
    assert (state(item), label_of(item)) == ("adjudication", (None, "cannot_judge"))
    settle(item, world.ada, "cannot_judge", reason="broken")
    assert (state(item), label_of(item)) == ("done", (None, "cannot_judge"))
    settle(item, world.ada, "not_relevant")
    assert label_of(item) == (0, "adjudicated")


def test_taking_back_brings_the_tie_back(world: World, tied: Item) -> None:
    settle(tied, world.ada, key="mine")
    take_back(tied.queue, world.ada, "mine")
    assert (state(tied), label_of(tied)) == ("adjudication", (None, "tie"))


def test_what_was_judged_is_not_taken_back_as_an_adjudication(world: World, tied: Item) -> None:
    judge(tied.queue, world.ada, tied.pk, "relevant", key="a vote")
    with pytest.raises(InputError, match="not adjudicated"):
        take_back(tied.queue, world.ada, "a vote")


def test_an_adjudicator_who_had_judged_takes_their_vote_back_into_force(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    number = claim(queue, world.ada, 1).leases[0].item_id
    judge(queue, world.ada, number, "relevant")
    judge(queue, world.cleo, number, "not_relevant")
    item = Item.objects.select_related("queue", "query", "document").get(pk=number)
    settle(item, world.ada, "not_relevant", key="mine")
    assert label_of(item) == (0, "adjudicated")
    take_back(queue, world.ada, "mine")
    assert label_of(item) == (None, "tie")


def test_the_latest_correction_decides(world: World, tied: Item, client: Client) -> None:
    add_member(world.collection, "dan", "admin")
    settle(tied, world.ada, "relevant")
    adjudicate(tied.queue, world.dan, Submission(tied.pk, "", "not_relevant"), overrules=True)
    assert label_of(tied) == (0, "adjudicated")
    client.force_login(world.dan)
    pair = {"query": tied.query.external_id, "document": tied.document.external_id}
    page = client.get("/collections/harbour/labels/", pair).content.decode()
    assert (page.count("yes: it settles the pair"), page.count("no: a later decision")) == (1, 1)


def test_what_another_admin_settled_meanwhile_stays(world: World, tied: Item, client: Client) -> None:
    add_member(world.collection, "dan", "admin")
    settle(tied, world.ada, "relevant")
    client.force_login(world.dan)
    fields = {"item": tied.pk, "verdict": "not_relevant", "key": "late", "note": ""}
    page = client.post(address(tied.queue), fields, follow=True).content.decode()
    assert "Another admin has settled this pair: relevant." in page
    assert label_of(tied) == (1, "adjudicated")
    settle(tied, world.ada, "not_relevant")
    assert label_of(tied) == (0, "adjudicated")


def test_a_later_verdict_changes_nothing_that_was_settled(world: World, tied: Item) -> None:
    settle(tied, world.ada, "not_relevant")
    judge(tied.queue, world.ben, tied.pk, "relevant")
    judge(tied.queue, world.cleo, tied.pk, "relevant")
    assert (state(tied), label_of(tied)) == ("done", (0, "adjudicated"))


def test_who_settled_a_pair_decides_nothing_more_by_judging_it_in_a_queue(world: World, tied: Item) -> None:
    other = make_queue(world, pairs=2)
    there = other.items.get(query=tied.query, document=tied.document)
    judge(other, world.ada, there.pk, "cannot_judge", reason="other", key="first thought")
    settle(tied, world.ada, "relevant")
    assert judge(other, world.ada, there.pk, "not_relevant", key="late").status == "extra"
    assert label_of(tied) == (1, "adjudicated")
    undo(other, world.ada, "first thought")
    assert label_of(tied) == (1, "adjudicated")
    take_back(tied.queue, world.ada, JudgmentEvent.objects.get(is_adjudication=True).key)
    assert Judgment.objects.get(annotator=world.ada).verdict == "not_relevant"


def test_of_two_admins_who_settle_at_once_the_first_decides(
    world: World, tied: Item, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_member(world.collection, "dan", "admin")

    def quicker(queue: Queue, annotator: User, given: Submission) -> Outcome:
        """The other admin's verdict comes between the first look and the lock."""
        record_judgment(queue, world.dan, replace(given, key="dan's", verdict="not_relevant"))
        return record_judgment(queue, annotator, given)

    monkeypatch.setattr(settling, "record_judgment", quicker)
    with pytest.raises(InputError, match="Another admin has settled this pair: not relevant"):
        settle(tied, world.ada, "relevant")
    assert label_of(tied) == (0, "adjudicated")


def test_the_same_key_settles_once(world: World, tied: Item) -> None:
    assert settle(tied, world.ada, key="k") == "stored"
    assert settle(tied, world.ada, key="k") == "duplicate"
    assert JudgmentEvent.objects.filter(is_adjudication=True).count() == 1


def test_only_what_waits_can_be_settled(world: World) -> None:
    queue = make_queue(world, pairs=2)
    item = claim(queue, world.ben, 1).leases[0].item_id
    judge(queue, world.ben, item, "relevant")
    with pytest.raises(InputError, match="does not need adjudication"):
        adjudicate(queue, world.ada, Submission(item, "", "not_relevant"))
    with pytest.raises(InputError, match="not in this queue"):
        adjudicate(queue, world.ada, Submission(10**6, "", "not_relevant"))


def test_a_verdict_that_lacks_its_reason_settles_nothing(world: World, tied: Item) -> None:
    with pytest.raises(InputError, match="needs a reason"):
        settle(tied, world.ada, "cannot_judge")
    assert state(tied) == "adjudication"


def address(queue: Queue) -> str:
    return f"/queues/{queue.pk}/adjudication/"


def test_the_page_shows_what_was_said_and_settles(world: World, client: Client, tied: Item) -> None:
    client.force_login(world.ada)
    page = client.get(address(tied.queue)).content.decode()
    assert "I wonder" in page
    fields = {"item": tied.pk, "verdict": "relevant", "key": "k", "note": ""}
    assert "Settled: relevant." in client.post(address(tied.queue), fields, follow=True).content.decode()
    assert label_of(tied) == (1, "adjudicated")
    assert (
        "needs adjudication again"
        in client.post(address(tied.queue), {"undo": "k"}, follow=True).content.decode()
    )
    assert label_of(tied) == (None, "tie")


@pytest.mark.parametrize(
    "fields", [{}, {"verdict": "maybe"}, {"reason": "tired"}, {"item": "x", "verdict": "relevant"}]
)
def test_a_form_that_says_nothing_changes_nothing(
    world: World, client: Client, tied: Item, fields: dict[str, str]
) -> None:
    client.force_login(world.ada)
    answer = client.post(address(tied.queue), {"item": tied.pk, "key": "k", **fields}, follow=True)
    assert "Choose relevant" in answer.content.decode()
    assert state(tied) == "adjudication"


def test_a_program_settles(world: World, client: Client, tied: Item) -> None:
    client.force_login(world.ada)
    path = f"/api/queues/{tied.queue.pk}/adjudication/"
    (waiting,) = client.get(path).json()
    assert [row["annotator"] for row in waiting["judgments"]] == ["ben", "cleo"]
    body = {"item": waiting["item"], "verdict": "relevant", "key": "k"}
    assert client.post(path, body, content_type="application/json").json()["status"] == "stored"
    assert client.post(path, body, content_type="application/json").json()["status"] == "duplicate"
    assert client.get(path).json() == []
    pair = {"query": waiting["query"], "document": waiting["document"]}
    told = client.get("/api/collections/harbour/labels/", pair).json()
    assert (told["relevance"], told["source"], len(told["judgments"])) == (1, "adjudicated", 3)


def test_a_label_explains_itself_on_its_page(world: World, client: Client, tied: Item) -> None:
    client.force_login(world.vera)
    pair = {"query": tied.query.external_id, "document": tied.document.external_id}
    page = client.get("/collections/harbour/labels/", pair).content.decode()
    assert "There are as many verdicts for relevant as against." in page
    settle(tied, world.ada, "relevant", note="see the guidelines")
    page = client.get("/collections/harbour/labels/", pair).content.decode()
    assert "by adjudication" in page
    assert "see the guidelines" in page
    other = client.get("/collections/harbour/labels/", {**pair, "document": "none"})
    assert (other.status_code, "There is no document “none”" in other.content.decode()) == (404, True)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 400),
        ({"query": "q1"}, 400),
        ({"query": "q1", "document": "no"}, 404),
        ({"query": "q1", "document": "d1", "rule": "coin"}, 400),
    ],
)
def test_what_cannot_be_explained_is_refused(
    world: World, client: Client, asked: dict[str, str], status: int
) -> None:
    client.force_login(world.vera)
    assert client.get("/api/collections/harbour/labels/", asked).status_code == status
