"""The sentences of `labeling/queues/opening.py` under whatever mixture of acts hypothesis thinks of."""

from __future__ import annotations

import random
import secrets
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from labeling.exposure.use import PrelabelUse, change_use
from labeling.gold import repeats
from labeling.gold.options import GoldOptions
from labeling.gold.quarantine import impose, lift
from labeling.gold.questions import NewQuestion, add_question, change_question
from labeling.judging.leases import claim, release, renew
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment, skip, undo
from labeling.models import Bookmark, Item, Judgment, JudgmentEvent, Lease, Quarantine, Queue
from labeling.queues.opening import change_state
from pooling.interface.problems import InputError
from pooling.models import Membership
from tests.labeling.helpers import assert_counts_are_true, make_prelabels, make_queue
from tests.world import World

PEOPLE = st.sampled_from(["ada", "ben", "cleo"])
GOLD_PAIRS = {"d1": "relevant", "d3": "relevant", "d4": "not_relevant", "d5": "not_relevant"}
VERDICTS = st.sampled_from(["relevant", "not_relevant", "cannot_judge"])
PLACE = st.integers(0, 8)  # six pairs of the pool, and up to three gold questions from elsewhere
QUESTION = st.integers(0, 3)
NUMBER = st.integers(0, 99)
BOUNDS = [(1, None), (2, None), (2, 3)]
GOLD = GoldOptions(gold_first_share=0.5, gold_share=0.3, practice_questions=0, repeat_share=0.2)


class Judging(RuleBasedStateMachine):
    """Three people, six pairs, one or two judgments needed, or two and a third where they differ; four gold
    questions, one of them of the pool; a model that says relevant of everything, and is sure of it.

    Every example is a transaction that is undone.
    """

    world: World

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.questions = [
            add_question(self.world.collection, NewQuestion(query="q1", document=document, answer=answer))
            for document, answer in GOLD_PAIRS.items()
        ]
        self.queues = {
            (needed, most): make_queue(
                self.world, needed=needed, most_judgments_per_item=most, gold=GOLD, name=f"{needed} to {most}"
            )
            for needed, most in BOUNDS
        }
        self.prelabeler = make_prelabels(self.world, score=0.95)
        self.bounds = BOUNDS[0]
        # What the model remembers: key → (person, item), and for each person and pair the keys that stand.
        self.acknowledged: dict[str, tuple[str, int]] = {}
        self.standing: dict[tuple[str, int, int], list[str]] = {}
        # Which verdict on each pair is the judgment.
        self.counts: dict[tuple[str, int, int], str] = {}

    def teardown(self) -> None:
        """Leave the database as it was."""
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    @property
    def queue(self) -> Queue:
        """The queue that is being judged."""
        return self.queues[self.bounds]

    def person(self, name: str) -> User:
        """One of the cast."""
        user: User = getattr(self.world, name)
        return user

    def item(self, place: int) -> Item:
        """An item of the queue by its place in the order."""
        return self.queue.items.order_by("-order_key", "pk")[place]

    def acknowledged_key(self, number: int) -> str | None:
        """One of the keys; what hypothesis draws may not hang on how many there are.

        Gold questions are drawn by the items' numbers, which go on from example to example on PostgreSQL.
        """
        keys = sorted(self.acknowledged)
        return keys[number % len(keys)] if keys else None

    @rule(bounds=st.sampled_from(BOUNDS))
    def turn_to_another_queue(self, bounds: tuple[int, int | None]) -> None:
        self.bounds = bounds

    @rule(seconds=st.sampled_from([1, 200, 400, 700]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(name=PEOPLE)
    def has_been_at_it_for_long(self, name: str) -> None:
        """Only then do people see again what they judged."""
        Bookmark.objects.filter(annotator=self.person(name)).update(handed_out=25)

    @rule(name=PEOPLE, count=st.integers(1, 6))
    def claims(self, name: str, count: int) -> None:
        user = self.person(name)
        # An answer to a gold question that was undone is in hand again, though the first one counts.
        judged = {pair[1:] for pair, keys in self.standing.items() if keys and pair[0] == name}
        claimed = claim(self.queue, user, count, now=self.now)
        first = [
            (lease.item.query_id, lease.item.document_id)
            for lease in claimed.leases
            if not lease.item.repeats_id
        ]
        assert len({lease.item_id for lease in claimed.leases}) == len(claimed.leases) <= count
        assert len(first) == len(set(first))
        assert not judged & set(first)
        for lease in claimed.leases:
            assert not lease.item.repeats_id or lease.item.repeats.annotator == user
        assert all(lease.expires_at > self.now for lease in claimed.leases)
        assert (claimed.empty is None) == bool(claimed.leases)
        if claimed.empty and self.queue.state == "open":
            self.check_nothing_is_free_for(user)

    def check_nothing_is_free_for(self, user: User) -> None:
        """An empty answer is true: each open item is judged by this person or fully held by others."""
        if self.is_paused(user):
            return
        for item in self.queue.items.filter(state="open"):
            held = Lease.objects.filter(item=item, expires_at__gt=self.now).count()
            pair = {"query": item.query_id, "document": item.document_id}
            assert item.done + held >= item.needed or Judgment.objects.filter(annotator=user, **pair).exists()

    @rule(name=PEOPLE, place=PLACE, verdict=VERDICTS)
    def judges(self, name: str, place: int, verdict: str) -> None:
        item, key = self.item(place), f"key {len(self.acknowledged)}"
        self.send(name, item, key, verdict)

    @rule(name=PEOPLE, verdict=VERDICTS)
    def judges_all_that_is_held(self, name: str, verdict: str) -> None:
        for lease in Lease.objects.filter(annotator=self.person(name), item__queue=self.queue).order_by("pk"):
            self.send(name, lease.item, f"key {len(self.acknowledged)}", verdict)

    @rule(number=NUMBER)
    def sends_again(self, number: int) -> None:
        if not (key := self.acknowledged_key(number)):
            return
        name, item = self.acknowledged[key]
        submission = Submission(item, key, "relevant")
        queue = Item.objects.select_related("queue").get(pk=item).queue
        outcome = record_judgment(queue, self.person(name), submission, now=self.now)
        assert outcome.status in (("duplicate",) if self.is_member(name) else ("rejected",))

    def send(self, name: str, item: Item, key: str, verdict: str) -> None:
        """Judge, and remember what was acknowledged."""
        reason = "expert" if verdict == "cannot_judge" else ""
        submission = Submission(item.pk, key, verdict, reason=reason)
        outcome = record_judgment(self.queue, self.person(name), submission, now=self.now)
        is_of_another = item.repeats is not None and item.repeats.annotator.username != name
        if is_of_another or not self.is_member(name):
            assert outcome.status == "rejected"
            return
        assert outcome.status in ("stored", "extra")
        self.acknowledged[key] = name, item.pk
        if not item.repeats_id:
            pair = name, item.query_id, item.document_id
            self.standing.setdefault(pair, []).append(key)
            if not (answers_gold(key) and pair in self.counts and answers_gold(self.counts[pair])):
                self.counts[pair] = key

    @rule(name=PEOPLE)
    def is_paused_or_restored(self, name: str) -> None:
        user = self.person(name)
        act = lift if self.is_paused(user) else impose
        act(self.queue, user, by=self.world.ada, now=self.now)

    @rule(place=QUESTION, changes=st.sampled_from([{"active": False}, {"active": True}, {"practice": True}]))
    def a_gold_question_changes(self, place: int, changes: dict[str, bool]) -> None:
        change_question(self.questions[place], **changes)

    @rule(sure=st.sampled_from([None, 0.9]))
    def second_opinions_are_asked_for_or_not(self, sure: float | None) -> None:
        change_use(
            self.queue, PrelabelUse(prelabeler=self.prelabeler, second_opinion_from=sure), now=self.now
        )

    def is_paused(self, user: User) -> bool:
        """Whether somebody is in quarantine in the queue."""
        return self.queue.quarantines.filter(annotator=user, lifted_at=None).exists()

    @rule(name=PEOPLE, place=PLACE)
    def skips(self, name: str, place: int) -> None:
        skip(self.queue, self.person(name), self.item(place).pk, now=self.now)

    @rule(number=NUMBER)
    def undoes(self, number: int) -> None:
        if not (key := self.acknowledged_key(number)):
            return
        name, place = self.acknowledged[key]
        item = Item.objects.select_related("queue").get(pk=place)
        try:
            undo(item.queue, self.person(name), key, now=self.now)
        except InputError:
            return
        pair = name, item.query_id, item.document_id
        kept = self.standing[pair]
        if key not in kept:
            return
        kept.remove(key)
        event = JudgmentEvent.objects.get(key=key)
        later = item.queue.events.filter(annotator=event.annotator, kind="verdict", pk__gt=event.pk)
        if not event.gold_id or (self.counts[pair] == key and not later.exists()):
            self.counts.pop(pair, None)
            if kept:
                self.counts[pair] = kept[-1]

    @rule(name=PEOPLE, act=st.sampled_from([renew, release]), share=st.sampled_from([1, 2]))
    def renews_or_releases(self, name: str, act: Any, share: int) -> None:
        user = self.person(name)
        tokens = list(Lease.objects.filter(annotator=user).order_by("pk").values_list("token", flat=True))
        act(self.queue, user, tokens[::share], now=self.now)

    @rule(state=st.sampled_from(["open", "open", "paused", "closed"]))
    def changes_state(self, state: str) -> None:
        change_state(self.queue, state)

    @rule()
    def cleo_leaves_or_comes_back(self) -> None:
        members = Membership.objects.filter(collection=self.world.collection, user=self.world.cleo)
        if not members.delete()[0]:
            Membership.objects.create(
                collection=self.world.collection, user=self.world.cleo, role="annotator"
            )

    def is_member(self, name: str) -> bool:
        """Whether somebody may judge."""
        return Membership.objects.filter(collection=self.world.collection, user=self.person(name)).exists()

    @invariant()
    def counters_are_true_and_never_above_the_need(self) -> None:
        counted = Judgment.objects.filter(is_gold=False, quarantine=None).exclude(verdict="cannot_judge")
        votes = Counter(counted.values_list("query", "document"))
        leases = Counter(Lease.objects.values_list("item", flat=True))
        for item in Item.objects.all():
            if item.state in ("gold", "aside", "repeat"):
                assert (item.done, item.leased, item.leased_until) == (0, 0, None)
                continue
            assert item.done + item.leased <= item.needed
            assert item.leased == leases[item.pk]
            assert item.done == min(votes[item.query_id, item.document_id], item.needed - item.leased)
            assert (item.leased_until is None) == (item.leased == 0)

    @invariant()
    def the_database_counts_what_is_there(self) -> None:
        assert_counts_are_true()

    @invariant()
    def a_tie_or_a_contradicted_model_needs_one_more_where_the_queue_says_so(self) -> None:
        counted = Judgment.objects.filter(is_gold=False, quarantine=None, is_adjudication=False)
        said = defaultdict(set)
        unable: Counter[tuple[int, int]] = Counter()
        for query, document, verdict in counted.values_list("query", "document", "verdict"):
            if verdict == "cannot_judge":
                unable[query, document] += 1
            else:
                said[query, document].add(verdict)
        judged = set(Judgment.objects.values_list("query", "document"))
        bounds = {queue.pk: (queue, *bounds) for bounds, queue in self.queues.items()}
        for item in Item.objects.exclude(state__in=["gold", "aside", "repeat"]):
            queue, needed, most = bounds[item.queue_id]
            pair = item.query_id, item.document_id
            differ = most is not None and len(said[pair]) == 2
            if pair in judged:
                assert item.expected == ("relevant" if queue.second_opinion_from else "")
            if item.expected and "not_relevant" in said[pair]:
                assert item.needed == needed + 1
            else:
                assert item.needed == (most if differ else needed)
            if most and item.state == "adjudication":
                assert unable[pair] >= 2

    @invariant()
    def items_follow_the_gold_questions(self) -> None:
        states = defaultdict(list)
        for query, document, state in Item.objects.filter(repeats=None).values_list(
            "query", "document", "state"
        ):
            states[query, document].append(state)
        for question in self.questions:
            known = "aside" if question.practice else "gold"
            for state in states[question.query_id, question.document_id]:
                assert (state == known) if question.active else (state != "gold")

    @invariant()
    def whoever_is_paused_holds_nothing_and_counts_for_nothing(self) -> None:
        holding = set(Lease.objects.values_list("item__queue", "annotator"))
        counted = defaultdict(set)
        own = Judgment.objects.filter(is_gold=False)
        for queue, annotator, quarantine in own.values_list("event__queue", "annotator", "quarantine"):
            counted[queue, annotator].add(quarantine)
        paused = Quarantine.objects.filter(lifted_at=None)
        for quarantine, queue, annotator in paused.values_list("pk", "queue", "annotator"):
            assert (queue, annotator) not in holding
            assert counted[queue, annotator] <= {quarantine}
        assert not Judgment.objects.filter(quarantine__lifted_at__isnull=False).exists()

    @invariant()
    def an_answer_to_a_gold_question_is_marked(self) -> None:
        for judgment in Judgment.objects.select_related("event"):
            assert judgment.is_gold == (judgment.event.gold_id is not None)

    @invariant()
    def a_repeat_is_its_author_s_and_no_judgment(self) -> None:
        assert not Judgment.objects.filter(event__repeats__isnull=False).exists()
        for event in JudgmentEvent.objects.filter(kind="verdict").select_related("item__repeats"):
            assert event.repeats_id == (event.item.repeats_id if event.item else None)
            repeated = event.item.repeats if event.item else None
            assert repeated is None or repeated.annotator_id == event.annotator_id

    @invariant()
    def every_acknowledged_verdict_is_there_once(self) -> None:
        events = JudgmentEvent.objects.filter(kind="verdict")
        assert Counter(events.values_list("key", flat=True)) == Counter(self.acknowledged.keys())

    @invariant()
    def a_judgment_is_the_last_verdict_that_stands_or_the_first_answer_to_a_gold_question(self) -> None:
        rows = Judgment.objects.values_list("annotator__username", "query", "document", "event__key")
        projected = {(name, query, document): key for name, query, document, key in rows}
        assert projected == self.counts


def answers_gold(key: str) -> bool:
    """Whether the verdict of this key was one on a gold question."""
    return JudgmentEvent.objects.get(key=key).gold_id is not None


def run_machine(machine: type[RuleBasedStateMachine], examples: int, steps: int) -> None:
    """The same examples in each run; `make fuzz` tries ten times as many that no run before had."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples if settings().derandomize else 10 * examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.hypothesis
@pytest.mark.django_db
def test_the_sentences_hold_whatever_people_do(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "GAP", 0)
    # What is drawn for the people must be the same when hypothesis runs an example again.
    monkeypatch.setattr(secrets, "randbelow", random.randrange)
    run_machine(type("JudgingInThisWorld", (Judging,), {"world": world}), examples=4, steps=30)
