"""Many waiting pairs settled by a rule, and which of them are shown."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labeling.adjudication import rules
from labeling.adjudication.rules import apply_rule, batches, preview, undo_rule
from labeling.adjudication.settling import adjudicate, take_back
from labeling.adjudication.waiting import Wanted, unsettled_items
from labeling.exposure.use import expect
from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.blind_counts import own_figures
from labeling.judging.own_work import own_verdicts
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import Outcome
from labeling.models import Item, Judgment, Queue
from labeling.progress.counts import queue_progress
from labeling.queues.opening import open_queue
from pooling.interface.problems import InputError
from pooling.models import AdminAction
from pooling.people.membership import add_member
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World


@pytest.fixture
def open_pairs(world: World) -> Queue:
    """Six pairs: five ties, on which Ben says relevant, and one that neither could judge."""
    queue = make_queue(world, needed=2)
    for place, item in enumerate(queue.items.order_by("pk")):
        if place == 5:
            judge(queue, world.ben, item.pk, "cannot_judge", reason="broken")
            judge(queue, world.cleo, item.pk, "cannot_judge", reason="broken")
        else:
            judge(queue, world.ben, item.pk, "relevant")
            judge(queue, world.cleo, item.pk, "not_relevant")
    return queue


def waiting(queue: Queue) -> int:
    return unsettled_items(queue).count()


def test_the_majority_of_trusted_annotators_is_previewed_applied_and_undone(
    world: World, open_pairs: Queue
) -> None:
    chosen = preview(open_pairs, "trusted", ["cleo"])
    assert (len(chosen.decisions), chosen.waiting, chosen.not_relevant) == (5, 6, 5)
    done = apply_rule(open_pairs, world.ada, chosen, digest=chosen.digest)
    assert (done.settled, done.waiting, waiting(open_pairs)) == (5, 1, 1)
    note = open_pairs.events.filter(is_adjudication=True).values_list("note", flat=True)[0]
    assert note == "Settled by rule: the majority of trusted annotators (cleo)."
    assert undo_rule(open_pairs, world.ada, done.batch) == 5
    assert waiting(open_pairs) == 6
    with pytest.raises(InputError, match="undone"):
        undo_rule(open_pairs, world.ada, done.batch)


def test_who_settles_by_a_rule_has_not_judged_the_pairs(
    world: World, open_pairs: Queue, client: Client
) -> None:
    apply_rule(open_pairs, world.ada, preview(open_pairs, "trusted", ["cleo"]))
    other, left = make_queue(world), unsettled_items(open_pairs).get()
    judge(other, world.ada, other.items.get(query=left.query_id, document=left.document_id).pk)
    client.force_login(world.ada)
    page = client.get("/collections/harbour/").content.decode()
    assert ("you judged 0" in page, "you judged 1" in page, "you judged 5" in page) == (True, True, False)
    calls = client.get("/api/collections/harbour/queues/").json()
    assert sorted(one["own"] for one in calls) == [0, 1]
    assert own_figures(open_pairs, world.ada)["done"] == 0
    assert not own_verdicts(open_pairs, world.ada).exists()
    row = next(one for one in queue_progress(open_pairs)["annotators"] if one["username"] == "ada")
    assert [row[name] for name in ("judged", "not_relevant", "adjudicated")] == [0, 0, 5]
    assert queue_progress(open_pairs)["cost"]["paid_judgments"] == 12
    hours = client.get("/api/work/hours/").json()
    assert [(day["queue"], day["verdicts"]) for day in hours] == [(other.public_name, 1)]


def test_undoing_a_rule_leaves_what_was_corrected_since(world: World, open_pairs: Queue) -> None:
    done = apply_rule(open_pairs, world.ada, preview(open_pairs, "trusted", ["cleo"]))
    own, other = open_pairs.items.order_by("pk")[:2]
    world.collection.memberships.update(role="admin")
    adjudicate(open_pairs, world.ada, Submission(own.pk, "", "relevant"), overrules=True)
    adjudicate(open_pairs, world.vera, Submission(other.pk, "", "relevant"), overrules=True)
    assert undo_rule(open_pairs, world.ada, done.batch) == 3
    assert waiting(open_pairs) == 4
    undone = open_pairs.events.filter(kind="undo")
    assert (undone.count(), undone.filter(item=own).exists()) == (4, False)


def killed_after(calls: int, step: Callable[..., object]) -> Callable[..., object]:
    """The step, which as many calls reach before the process ends."""
    numbers = count()

    def taken(*arguments: object) -> object:
        if next(numbers) == calls:
            raise SystemExit
        return step(*arguments)

    return taken


def newest_line() -> tuple[str, dict[str, object]]:
    line = AdminAction.objects.latest("pk")
    return line.action, line.detail


def test_a_rule_that_is_killed_half_way_is_listed_goes_on_and_is_undone_whole(
    world: World, open_pairs: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(rules, "adjudicate", killed_after(2, adjudicate))
        with pytest.raises(SystemExit):
            apply_rule(open_pairs, world.ada, preview(open_pairs, "trusted", ["cleo"]))
    (half,) = batches(open_pairs)
    assert newest_line() == ("settling by a rule begun", {"rule": "trusted", "batch": half.key, "pairs": 5})
    assert (half.pairs, half.by, waiting(open_pairs)) == (2, world.ada.pk, 4)
    rest = apply_rule(open_pairs, world.ada, preview(open_pairs, "trusted", ["cleo"]))
    assert (rest.settled, waiting(open_pairs)) == (3, 1)
    with monkeypatch.context() as patched:
        patched.setattr(rules, "take_back", killed_after(1, take_back))
        with pytest.raises(SystemExit):
            undo_rule(open_pairs, world.ada, rest.batch)
    assert newest_line() == ("undoing of a rule begun", {"batch": rest.batch, "pairs": 3})
    assert {one.key: one.pairs for one in batches(open_pairs)} == {half.key: 2, rest.batch: 2}
    assert undo_rule(open_pairs, world.ada, rest.batch) == 2
    assert undo_rule(open_pairs, world.ada, half.key) == 2
    assert (batches(open_pairs), waiting(open_pairs)) == ([], 6)


def test_a_rule_goes_on_past_a_pair_that_another_admin_just_settled(
    world: World, open_pairs: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_member(world.collection, "dan", "admin")
    first = unsettled_items(open_pairs)[0]

    def after_dan(queue: Queue, admin: User, given: Submission) -> Outcome:
        if given.item == first.pk:
            adjudicate(queue, world.dan, Submission(first.pk, "", "relevant"))
        return adjudicate(queue, admin, given)

    monkeypatch.setattr(rules, "adjudicate", after_dan)
    done = apply_rule(open_pairs, world.ada, preview(open_pairs, "trusted", ["cleo"]))
    assert (done.settled, waiting(open_pairs)) == (4, 1)
    decision = Judgment.objects.get(query=first.query, document=first.document, is_adjudication=True)
    assert (decision.annotator, decision.verdict) == (world.dan, "relevant")


def test_a_tie_among_the_trusted_stays_open(open_pairs: Queue) -> None:
    assert preview(open_pairs, "trusted", ["ben", "cleo"]).decisions == []
    assert preview(open_pairs, "trusted", []).decisions == []


def test_gold_answers_recommend_whom_to_trust(world: World) -> None:
    for query in ("q1", "q2", "q3"):
        for document in ("d1", "d2", "d3", "d4", "d5", "d6"):
            add_question(world.collection, NewQuestion(query, document, "relevant"))
    queue = open_queue(make_pool(world), seed=1, user=world.ada, gold=GoldOptions(0.5, 0.5, 0))
    for place, item in enumerate(queue.items.filter(state=Item.State.GOLD)):
        judge(queue, world.ben, item.pk, "relevant")
        if place < 15:
            judge(queue, world.cleo, item.pk, "relevant")
    assert preview(queue, "trusted").trusted == ("ben",)


def test_pairs_that_nobody_could_judge_are_given_up_for_the_reason_they_gave(
    world: World, open_pairs: Queue
) -> None:
    (decision,) = preview(open_pairs, "cannot_judge").decisions
    assert (decision.verdict, decision.reason) == ("cannot_judge", "broken")
    apply_rule(open_pairs, world.ada, preview(open_pairs, "cannot_judge"))
    assert waiting(open_pairs) == 5


def test_gold_answers_weigh_the_votes(world: World, open_pairs: Queue) -> None:
    assert preview(open_pairs, "weighted").decisions == []
    add_question(world.collection, NewQuestion("q1", "d6", "not_relevant"))
    item = open_pairs.items.get(state=Item.State.GOLD)
    judge(open_pairs, world.ben, item.pk, "relevant")
    assert preview(open_pairs, "weighted").not_relevant == 5


def test_what_changed_since_the_preview_is_not_settled(world: World, open_pairs: Queue) -> None:
    seen = preview(open_pairs, "trusted", ["cleo"])
    item = seen.decisions[0].item
    adjudicate(open_pairs, world.ada, Submission(item.pk, "", "relevant"))
    now = preview(open_pairs, "trusted", ["cleo"])
    with pytest.raises(InputError, match="since the preview"):
        apply_rule(open_pairs, world.ada, now, digest=seen.digest)
    assert apply_rule(open_pairs, world.ada, seen).settled == 4


def test_another_admin_undoes_nobody_elses_rule(world: World, open_pairs: Queue) -> None:
    done = apply_rule(open_pairs, world.ada, preview(open_pairs, "trusted", ["ben"]))
    for batch in (done.batch, "rule-", ""):
        with pytest.raises(InputError, match="not settled anything"):
            undo_rule(open_pairs, world.dan, batch)


def test_pairs_are_narrowed_down_by_reason_and_by_annotator(world: World, open_pairs: Queue) -> None:
    counts = {
        wanted: unsettled_items(open_pairs, Wanted(*wanted)).count()
        for wanted in (("tie", ""), ("cannot_judge", ""), ("doubted", ""), ("", "ben"), ("", "vera"))
    }
    assert list(counts.values()) == [5, 1, 0, 6, 0]
    items = list(open_pairs.items.order_by("pk"))
    expect({items[0]: "relevant", items[5]: "relevant"})
    assert [item.pk for item in unsettled_items(open_pairs, Wanted("doubted"))] == [items[0].pk]
    with pytest.raises(InputError, match="“why” is"):
        unsettled_items(open_pairs, Wanted("mood"))


def test_a_program_previews_applies_and_undoes_a_rule(
    world: World, client: Client, open_pairs: Queue
) -> None:
    client.force_login(world.ada)
    path = f"/api/queues/{open_pairs.pk}/adjudication/rules/"
    seen = client.get(path, {"rule": "trusted", "trusted": ["cleo"]}).json()
    assert (seen["waiting"], seen["not_relevant"], len(seen["decisions"])) == (6, 5, 5)
    body = {"rule": "trusted", "trusted": ["cleo"], "digest": seen["digest"]}
    done = client.post(path, body, content_type="application/json").json()
    assert (done["settled"], done["waiting"]) == (5, 1)
    assert client.post(path, body, content_type="application/json").status_code == 409
    assert client.delete(f"{path}?batch={done['batch']}").json() == {"taken_back": 5}
    assert client.delete(f"{path}?batch={done['batch']}").status_code == 400
    assert client.get(path, {"rule": "coin"}).status_code == 400
    waits = f"/api/queues/{open_pairs.pk}/adjudication/"
    assert len(client.get(waits, {"why": "cannot_judge"}).json()) == 1
    assert client.get(waits, {"why": "mood"}).status_code == 400
    assert client.delete(waits, QUERY_STRING="key=none").status_code == 400


def test_the_rules_page_says_what_is_wrong(world: World, client: Client, open_pairs: Queue) -> None:
    client.force_login(world.ada)
    page = f"/queues/{open_pairs.pk}/adjudication/rules/"
    assert "A rule is trusted" in client.get(page, {"rule": "coin"}).content.decode()
    assert (
        "needs pairs that three people judged" in client.get(page, {"rule": "dawid-skene"}).content.decode()
    )
    told = client.post(page, {"rule": "trusted", "trusted": "cleo", "digest": "old"}, follow=True)
    assert "since the preview" in told.content.decode()


def test_nobody_hears_of_a_label_that_a_pair_does_not_have(
    world: World, client: Client, open_pairs: Queue
) -> None:
    client.force_login(world.ada)
    page = f"/queues/{open_pairs.pk}/adjudication/"
    assert "has this label" not in client.get(page).content.decode()
    preview_page = client.get(f"{page}rules/", {"rule": "cannot_judge"}).content.decode()
    assert "has no label" in preview_page
    assert "has this label" not in preview_page


def test_the_page_hides_names_until_an_admin_asks(world: World, client: Client, open_pairs: Queue) -> None:
    address = f"/queues/{open_pairs.pk}/adjudication/"
    client.force_login(world.ada)
    assert "<strong>ben</strong>" not in client.get(address).content.decode()
    assert "<strong>ben</strong>" in client.get(address, {"names": "on"}).content.decode()
    client.force_login(world.vera)
    assert "<strong>ben</strong>" not in client.get(address, {"names": "on"}).content.decode()


def test_the_page_takes_as_many_queries_however_many_pairs_wait(world: World, client: Client) -> None:
    counts = []
    client.force_login(world.ada)
    for pairs in (2, 6):
        queue = make_queue(world, needed=2, pairs=pairs)
        for item in queue.items.all():
            judge(queue, world.ben, item.pk, "relevant")
            judge(queue, world.cleo, item.pk, "not_relevant")
        with CaptureQueriesContext(connection) as found:
            client.get(f"/queues/{queue.pk}/adjudication/")
        counts.append(len(found))
    assert counts[0] == counts[1]
