"""Gold questions proposed, made where a pair is shown, edited in bulk and checked."""

from __future__ import annotations

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from labeling.adjudication.rules import apply_rule, preview, undo_rule
from labeling.adjudication.settling import adjudicate
from labeling.gold.importing import import_gold
from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.gold_pages.answers import chance_of_so_many, records
from labeling.gold_pages.practice_views import answer_practice
from labeling.gold_pages.proposals import Proposal, accept_proposals, proposals
from labeling.gold_pages.separation import balanced_set
from labeling.judging.verdicts import Submission
from labeling.models import DeclinedSuggestion, GoldQuestion, Item, Queue
from labeling.queues.opening import open_queue
from pooling.models import AdminAction
from pooling.people.membership import add_member
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import DOCUMENTS, World, make_user, signed_in

HALF = GoldOptions(0.5, 0.5, 0)


def text(answer: HttpResponse) -> str:
    return unescape(answer.content.decode())


def pair_of(item: Item) -> tuple[str, str]:
    return item.query.external_id, item.document.external_id


def agreed(world: World, verdicts: str = "rrnnrr") -> Queue:
    """Ben and Cleo agree on every pair of q1 to q3 with d1 and d2: r is relevant, n is not."""
    queue = make_queue(world, needed=2)
    for item, verdict in zip(queue.items.order_by("query", "document"), verdicts, strict=True):
        for person in (world.ben, world.cleo):
            judge(queue, person, item.pk, "relevant" if verdict == "r" else "not_relevant")
    return queue


def found(world: World) -> list[Proposal]:
    return proposals(world.collection)


def test_unanimous_and_settled_pairs_are_proposed_with_a_reason(world: World) -> None:
    queue = make_queue(world, needed=2)
    items = list(queue.items.order_by("pk"))
    for place, item in enumerate(items[:3]):
        judge(queue, world.ben, item.pk, "relevant")
        judge(queue, world.cleo, item.pk, "relevant" if place == 0 else "not_relevant")
    adjudicate(queue, world.ada, Submission(items[1].pk, "", "not_relevant", note="by day only"))
    apply_rule(queue, world.ada, preview(queue, "trusted", ["ben"]))
    told = {
        (one.query_id, one.document_id): (one.origin, one.answer, one.votes, one.reason)
        for one in found(world)
    }
    assert told == {
        pair_of(items[0]): ("unanimous", "relevant", 2, "2 people judged it, all alike."),
        pair_of(items[1]): ("settled", "not_relevant", 1, "by day only"),
        pair_of(items[2]): ("settled", "relevant", 1, "An admin settled it."),
    }


def test_a_pair_that_misleads_by_its_words_is_proposed_before_one_that_is_found_by_them(world: World) -> None:
    agreed(world)
    places = [(one.query_id, one.document_id, one.answer) for one in found(world)]
    # d1 is about night buses, q1 asks for one; of q2, "lost umbrella", d2 has both words and is not relevant.
    assert places.index(("q2", "d2", "not_relevant")) < places.index(("q2", "d1", "not_relevant"))
    assert places.index(("q1", "d2", "relevant")) < places.index(("q1", "d1", "relevant"))


def test_votes_of_careful_people_raise_a_pair_and_those_of_careless_ones_do_not(world: World) -> None:
    watched = GoldOptions(0.5, 0.5, 0, gold_pause="proposed")
    queue = open_queue(make_pool(world), judgments_per_item=2, seed=1, user=world.ada, gold=watched)
    before = {item.pk: item for item in queue.items.filter(query__external_id="q2")}
    for document in ("d3", "d4", "d5", "d6"):
        for query in ("q1", "q2", "q3"):
            add_question(world.collection, NewQuestion(query, document, "relevant"))
    for item in queue.items.filter(state=Item.State.GOLD):
        judge(queue, world.ben, item.pk, "relevant")
        judge(queue, world.cleo, item.pk, "not_relevant")
    first, second = before.values()
    add_member(world.collection, "dan", "annotator")
    for person in (world.ben, world.dan):
        judge(queue, person, first.pk, "not_relevant")
    for person in (world.cleo, world.dan):
        judge(queue, person, second.pk, "not_relevant")
    world.collection.documents.update(text="", title="")
    ranked = [(one.query_id, one.document_id) for one in found(world)]
    assert ranked == [pair_of(first), pair_of(second)]


def test_a_set_is_balanced_by_answer_then_by_query(world: World) -> None:
    agreed(world, "rrrnnr")
    chosen = balanced_set(found(world), 4)
    assert sorted(one.answer for one in chosen) == ["not_relevant"] * 2 + ["relevant"] * 2
    assert {one.query_id for one in chosen} == {"q1", "q2", "q3"}
    assert len(balanced_set(found(world), 50)) == 6


def test_a_set_is_taken_with_one_reason(world: World) -> None:
    agreed(world)
    ada = signed_in(world.ada)
    page = ada.get("/collections/harbour/gold/proposals/", {"set": "2"})
    chosen = [one.pk for one in page.context["balanced"]]
    decide = "/collections/harbour/gold/decide/"
    assert "Make 2 gold questions, or decline" in text(ada.get(decide, {"pair": chosen}))
    ada.post(decide, {"pair": chosen, "decision": "accept", "reason": "the guidelines say so"})
    made = GoldQuestion.objects.all()
    assert {one.reason for one in made} == {"the guidelines say so"}
    assert {one.answer for one in made} == {"relevant", "not_relevant"}
    left = [one.pk for one in found(world)]
    ada.post(decide, {"pair": left[:1], "decision": "decline"})
    assert (DeclinedSuggestion.objects.count(), len(found(world))) == (1, len(left) - 1)


def test_a_filter_keeps_the_set(world: World) -> None:
    agreed(world)
    page = signed_in(world.ada).get("/collections/harbour/gold/proposals/", {"set": "2"})
    chips = [chip.address for one in page.context["table"].filters for chip in one.chips]
    assert chips
    assert all("set=2" in address for address in chips)


def test_what_is_not_proposed_is_not_accepted(world: World) -> None:
    queue = agreed(world)
    item = queue.items.first()
    assert item
    accept_proposals(world.collection, [(item.query_id, item.document_id), (10**9, 1)], user=world.ada)
    assert GoldQuestion.objects.count() == 1
    decide = "/collections/harbour/gold/decide/"
    answer = signed_in(world.ada).get(
        decide, {"pair": [f"{item.query_id}:{item.document_id}", "x", "9:", "²:1"]}
    )
    assert "No proposal is chosen" in text(answer)


@pytest.mark.parametrize("size", ["0", "201", "x", "-1", "²"])
def test_a_set_of_no_such_size_is_refused(world: World, size: str) -> None:
    ada = signed_in(world.ada)
    assert "A set has 1 to 200 questions" in text(
        ada.get("/collections/harbour/gold/proposals/", {"set": size})
    )
    assert ada.get("/api/collections/harbour/gold/suggestions/", {"set": size}).status_code == 400


def test_a_program_gets_a_balanced_set_and_gives_a_reason(world: World) -> None:
    agreed(world)
    ada, path = signed_in(world.ada), "/api/collections/harbour/gold/suggestions/"
    rows = ada.get(path, {"set": "2"}).json()
    assert sorted(row["answer"] for row in rows) == ["not_relevant", "relevant"]
    assert all(row["origin"] == "unanimous" and row["separation"] > 0 for row in rows)
    pairs = [{name: row[name] for name in ("query", "document")} for row in rows]
    body = {"accept": pairs, "reason": "agreed"}
    assert ada.post(path, body, content_type="application/json").json() == {"accepted": 2, "declined": 0}
    assert {one.reason for one in GoldQuestion.objects.all()} == {"agreed"}


def test_a_pair_is_made_gold_where_it_is_shown(world: World) -> None:
    queue = make_queue(world)
    ada, back = signed_in(world.ada), f"/queues/{queue.pk}/search/?query=q1"
    asked = {"query": "q1", "document": "d5", "answer": "relevant", "reason": "it is", "next": back}
    make = "/collections/harbour/gold/make/"
    answer = ada.post(make, asked)
    assert answer.headers["Location"] == back
    question = GoldQuestion.objects.get()
    assert (question.answer, question.reason, question.created_by) == ("relevant", "it is", world.ada)
    assert "already a gold question" in text(ada.post(make, asked, follow=True))
    assert "Choose the answer" in text(ada.post(make, {**asked, "answer": "maybe"}, follow=True))
    assert "no document “none”" in text(ada.post(make, {**asked, "document": "none"}, follow=True))
    away = ada.post(make, {**asked, "document": "d6", "next": "https://example.org/"})
    assert away.headers["Location"] == "/collections/harbour/gold/"


def test_search_results_offer_it_to_admins_alone(world: World) -> None:
    page = f"/queues/{make_queue(world).pk}/search/?query=q1&words=umbrella"
    assert "/gold/make/" in text(signed_in(world.ada).get(page))
    assert "gold" not in text(signed_in(world.ben).get(page)).lower()


def test_many_questions_are_changed_at_once(world: World) -> None:
    for document in ("d3", "d4", "d5"):
        add_question(world.collection, NewQuestion("q1", document, "relevant", "own reason"))
    ada, page = signed_in(world.ada), "/collections/harbour/gold/edit/"
    keys = list(GoldQuestion.objects.order_by("pk").values_list("pk", flat=True))
    assert "Change 2 gold questions" in text(ada.get(page, {"gold": keys[:2]}))
    assert "Change it</button>" in text(ada.get(page, {"gold": keys[:1]}))
    ada.post(page, {"gold": keys[:2], "use": "practice", "reason": "see the guidelines"})
    told = list(GoldQuestion.objects.order_by("pk").values_list("practice", "active", "reason"))
    assert told == [(True, True, "see the guidelines")] * 2 + [(False, True, "own reason")]
    done = ada.post(page, {"gold": keys, "use": "out", "reason": ""}, follow=True)
    assert "Changed: 3 gold questions, now out of use." in text(done)
    assert set(GoldQuestion.objects.values_list("active", flat=True)) == {False}
    assert "Choose what to change" in text(ada.post(page, {"gold": keys, "use": "", "reason": ""}))
    assert "No gold question is chosen" in text(ada.get(page, {"gold": ["x", "²"]}))


def test_the_activity_says_how_gold_questions_and_labels_by_rule_changed(world: World) -> None:
    queue, ada = make_queue(world, needed=2, pairs=2), signed_in(world.ada)
    for item in queue.items.all():
        judge(queue, world.ben, item.pk, "relevant")
        judge(queue, world.cleo, item.pk, "not_relevant")
    done = apply_rule(queue, world.ada, preview(queue, "trusted", ["ben"]))
    undo_rule(queue, world.ada, done.batch)
    file = world.folder / "gold.csv"
    file.write_text("query_id,document_id,answer\nq1,d4,relevant\nq1,d5,relevant\n", encoding="utf-8")
    import_gold(world.collection, file, user=world.ada)
    question = add_question(world.collection, NewQuestion("q1", "d3", "relevant"), user=world.ada)
    stopped = ada.post(f"/gold/{question.pk}/", {"change": "inactive"}, follow=True)
    assert "q1 × d3 is now out of use." in text(stopped)
    keys = list(GoldQuestion.objects.values_list("pk", flat=True))
    ada.post("/collections/harbour/gold/edit/", {"gold": keys, "use": "practice"})
    lines = (
        AdminAction.objects.filter(actor=world.ada).order_by("pk").values_list("action", "subject", "detail")
    )
    applied = {"rule": "trusted", "batch": done.batch, "pairs": 2}
    assert list(lines)[-8:] == [
        ("settling by a rule begun", queue.name, applied),
        ("pairs settled by a rule", queue.name, applied),
        ("undoing of a rule begun", queue.name, {"batch": done.batch, "pairs": 2}),
        ("settling by a rule undone", queue.name, {"batch": done.batch, "pairs": 2}),
        ("gold questions imported", "gold.csv", {"new": 2, "changed": 0}),
        ("gold question made", "q1 × d3", {"answer": "relevant", "use": "hidden in judging"}),
        ("gold question changed", "q1 × d3", {"use": "out of use"}),
        ("gold questions changed", "3 gold questions", {"use": "for practice"}),
    ]


def test_a_question_answered_in_practice_alone_was_not_asked_in_judging(world: World) -> None:
    question = add_question(world.collection, NewQuestion("q1", "d3", "relevant", practice=True))
    queue = make_queue(world, pairs=2, gold=GoldOptions(0, 0, practice_questions=1))
    answer_practice(queue, world.ben, Submission(queue.items.get(state="aside").pk, "k", "relevant"))
    ada = signed_in(world.ada)
    assert "not asked in judging yet" in text(ada.get("/collections/harbour/gold/"))
    page = text(ada.get(f"/gold/{question.pk}/"))
    assert "Nobody was asked in judging yet." in page
    assert '?query=q1&document=d3">Change the answer</a>' in page


@pytest.fixture
def asked(world: World) -> Queue:
    """Twelve gold questions, all called relevant; five careful people answer all of them so, but for the
    first, on which they agree that it is not."""
    queue = open_queue(make_pool(world), seed=1, user=world.ada, gold=HALF)
    for query in ("q1", "q2"):
        for document in DOCUMENTS:
            add_question(world.collection, NewQuestion(query, document, "relevant"))
    for name in ("eve", "fay", "gil", "hal"):
        make_user(name)
        add_member(world.collection, name, "annotator")
    people = User.objects.filter(username__in=("ben", "eve", "fay", "gil", "hal"))
    for person in people:
        for place, item in enumerate(queue.items.filter(state=Item.State.GOLD).order_by("pk")):
            judge(queue, person, item.pk, "not_relevant" if place == 0 else "relevant")
    return queue


def test_an_answer_that_trusted_people_contradict_is_doubted(world: World, asked: Queue) -> None:
    told = records(world.collection)
    (doubted,) = [record for record in told.values() if record.is_doubtful]
    assert (doubted.answered, doubted.missed, doubted.trusted) == (5, 5, 5)
    # Each missed none of eleven others: (0 + 1) / (11 + 5), five times; the level is 5 % of twelve.
    assert doubted.chance == pytest.approx((1 / 16) ** 5)
    assert {record.chance for record in told.values()} == {doubted.chance, 1.0}
    page = text(signed_in(world.ada).get("/collections/harbour/gold/"))
    assert "5 of 5 trusted annotators say otherwise" in page


def test_a_miss_by_one_person_casts_no_doubt(world: World, asked: Queue) -> None:
    item = asked.items.filter(state=Item.State.GOLD).order_by("pk").last()
    assert item
    judge(asked, world.cleo, item.pk, "not_relevant")
    question = GoldQuestion.objects.get(query=item.query, document=item.document)
    record = records(world.collection)[question.pk]
    assert (record.missed, record.missed_by, record.is_doubtful) == (1, ["cleo"], False)


def test_the_chance_of_many_misses_is_that_of_the_binomial_where_all_are_equal() -> None:
    from scipy.stats import binom

    for misses in range(6):
        assert chance_of_so_many(misses, [0.3] * 5) == pytest.approx(binom.sf(misses - 1, 5, 0.3))


def test_the_page_of_a_question_shows_what_annotators_see_and_who_missed_it(
    world: World, asked: Queue
) -> None:
    (missed,) = [key for key, record in records(world.collection).items() if record.missed]
    page = text(signed_in(world.ada).get(f"/gold/{missed}/"))
    assert "5 of 5 missed it: ben, eve, fay, gil, hal." in page
    assert "with a probability of less than 0.0001" in page
    assert "What an annotator sees" in page


def test_the_page_takes_as_many_queries_however_many_questions_and_proposals(world: World) -> None:
    queue, ada, counts = agreed(world), signed_in(world.ada), []
    for item in queue.items.order_by("pk")[:3]:
        accept_proposals(world.collection, [(item.query_id, item.document_id)], user=world.ada)
        with CaptureQueriesContext(connection) as made:
            ada.get("/collections/harbour/gold/")
        counts.append(len(made))
    assert len(set(counts)) == 1
