"""Many waiting pairs settled by one rule: what it would decide, and the same done or undone.

Every pair gets an adjudication of the admin who applies the rule, with the rule in its note. The keys of one
application begin alike, so that it can be undone as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

from django.contrib.auth.models import User
from django.db.models import Count, Max, QuerySet
from django.db.models.functions import Substr

from labeling.adjudication.settling import adjudicate, take_back
from labeling.adjudication.waiting import UnsettledPair, unsettled_items, unsettled_pairs
from labeling.gold.rule import ENOUGH_TO_READ, Advice
from labeling.gold.scores import AnnotatorGold, gold_rows
from labeling.judging.submissions import Submission
from labeling.models import Item, Judgment, Queue, Verdict
from labeling.qrels.labels import current_labels
from pooling.interface.problems import InputError
from pooling.people.activity_log import record_action

RULES = {
    "trusted": "the majority of trusted annotators",
    "weighted": "votes weighed by their owner's answers to gold questions",
    "dawid-skene": "votes weighed by how good people prove to be over all pairs",
    "cannot_judge": "no label, where two people could not judge",
}
#: As many pairs are settled at once; each is a transaction.
AT_ONCE = 500
#: How the note of a verdict begins that a rule gave.
BY_RULE = "Settled by rule:"
_PREFIX = "rule-"
_BATCH = len(_PREFIX) + 12


class Decision(NamedTuple):
    """A rule's decision of a waiting pair; `reason` goes with “can't judge”."""

    item: Item
    verdict: str
    reason: str = ""

    @property
    def verdict_in_words(self) -> str:
        return str(Verdict(self.verdict).label).lower()


@dataclass(frozen=True)
class Preview:
    """Decisions of a rule on the pairs that wait."""

    rule: str
    # Whose votes the rule counts, where it asks for them.
    trusted: tuple[str, ...]
    decisions: Sequence[Decision]
    waiting: int

    @property
    def digest(self) -> str:
        """Changes whenever a decision does: what was not previewed is not settled."""
        rows = [(one.item.pk, one.verdict, one.reason) for one in self.decisions]
        return sha256(repr(rows).encode()).hexdigest()[:16]

    def count(self, verdict: str) -> int:
        return sum(one.verdict == verdict for one in self.decisions)

    @property
    def relevant(self) -> int:
        return self.count(Verdict.RELEVANT)

    @property
    def not_relevant(self) -> int:
        return self.count(Verdict.NOT_RELEVANT)

    @property
    def cannot_judge(self) -> int:
        return self.count(Verdict.CANNOT_JUDGE)

    @property
    def note(self) -> str:
        names = f" ({', '.join(self.trusted)})" if self.rule == "trusted" else ""
        return f"{BY_RULE} {RULES[self.rule]}{names}."


class Applied(NamedTuple):
    """Pairs that a rule settled; `batch` undoes it."""

    batch: str
    settled: int
    waiting: int


class Batch(NamedTuple):
    """Pairs that somebody settled by a rule at one time."""

    key: str
    pairs: int
    when: datetime
    by: int
    note: str


def trusted_annotators(rows: Sequence[AnnotatorGold]) -> tuple[str, ...]:
    """Those whose gold answers are enough to be read, and give no reason to warn or to pause."""
    usernames = (
        row.username for row in rows if row.score.answers >= ENOUGH_TO_READ and row.advice == Advice.CONTINUE
    )
    return tuple(sorted(usernames))


def preview(queue: Queue, rule: str, trusted: Sequence[str] | None = None) -> Preview:
    """Decisions of the rule now; trusted: in place of those with good gold. `InputError` if unfit."""
    if rule not in RULES:
        raise InputError(f"A rule is {', '.join(RULES)}, not “{rule}”.", field="rule")
    names = trusted_annotators(gold_rows(queue)) if trusted is None else tuple(sorted(set(trusted)))
    pairs = unsettled_pairs(list(unsettled_items(queue).defer("document__text")))
    if rule == "trusted":
        decisions = [one for pair in pairs if (one := _by_majority(pair, frozenset(names)))]
    elif rule == "cannot_judge":
        decisions = [_given_up(pair) for pair in pairs if not pair.is_tie]
    else:
        decisions = _by_labels(queue, rule, pairs)
    return Preview(rule, names if rule == "trusted" else (), decisions, len(pairs))


def apply_rule(queue: Queue, admin: User, chosen: Preview, *, digest: str = "") -> Applied:
    """Settle the first `AT_ONCE` pairs that nobody else settles; with a `digest`, only as previewed."""
    if digest and digest != chosen.digest:
        problem = "Verdicts have come in since the preview, so nothing was settled. Look at it again."
        raise InputError(problem, field="digest", conflict=True)
    batch = f"{_PREFIX}{uuid4().hex[:12]}"
    wanted = chosen.decisions[:AT_ONCE]
    if not wanted:
        return Applied(batch, 0, chosen.waiting)
    facts = {"rule": chosen.rule, "batch": batch}
    # A line before the first pair and one after the last: no lock is kept from one pair to the next, and
    # where the process ends half way, the first line stays.
    record_action(queue.collection, admin, "settling by a rule begun", queue.name, **facts, pairs=len(wanted))
    settled = 0
    for item, verdict, reason in wanted:
        given = Submission(item.pk, f"{batch}-{item.pk}", verdict, reason, chosen.note)
        try:
            # Not what this admin settled meanwhile: that may be thought over, but by no rule.
            if unsettled_items(queue).filter(pk=item.pk).exists():
                adjudicate(queue, admin, given)
                settled += 1
        except InputError as problem:
            if not problem.conflict:  # somebody else was quicker
                raise
    record_action(queue.collection, admin, "pairs settled by a rule", queue.name, **facts, pairs=settled)
    return Applied(batch, settled, chosen.waiting - settled)


def undo_rule(queue: Queue, admin: User, batch: str) -> int:
    """Take back what this admin settled by a rule at one time; returns how many pairs wait again."""
    # What a correction has replaced is not taken back: it does not stand.
    standing = Judgment.objects.filter(annotator=admin, is_adjudication=True, event__queue=queue)
    rows = standing.filter(event__key__startswith=f"{batch}-").order_by("event")
    events = list(rows.values_list("event__key", "event__item"))
    if not (batch.startswith(_PREFIX) and len(batch) == _BATCH) or not events:
        raise InputError("You have not settled anything by this rule, or it is undone.", field="batch")
    facts = {"batch": batch, "pairs": len(events)}
    record_action(queue.collection, admin, "undoing of a rule begun", queue.name, **facts)
    for key, _ in events:
        take_back(queue, admin, key)
    waiting = unsettled_items(queue).filter(pk__in=[item for _, item in events]).count()
    facts["pairs"] = waiting
    record_action(queue.collection, admin, "settling by a rule undone", queue.name, **facts)
    return waiting


def batches(queue: Queue, most: int = 10) -> list[Batch]:
    """Pairs settled by rules that still stand, newest first."""
    rows = Judgment.objects.counted().filter(
        is_adjudication=True, event__queue=queue, event__key__startswith=_PREFIX
    )
    batch_rows = (
        rows.annotate(batch=Substr("event__key", 1, _BATCH))
        .values("batch", "annotator", "event__note")
        .annotate(pairs=Count("pk"), when=Max("judged_at"))
        .order_by("-when")
    )
    return [
        Batch(row["batch"], row["pairs"], row["when"], row["annotator"], row["event__note"])
        for row in batch_rows[:most]
    ]


def singly(rows: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Those of the adjudications that no rule gave."""
    return rows.exclude(event__key__startswith=_PREFIX)


def _by_majority(pair: UnsettledPair, trusted: frozenset[str]) -> Decision | None:
    votes = Counter(
        one.verdict
        for one in pair.judgments
        if one.is_counted and not one.is_adjudication and one.annotator.get_username() in trusted
    )
    relevant, not_relevant = votes[Verdict.RELEVANT], votes[Verdict.NOT_RELEVANT]
    if relevant == not_relevant:
        return None
    return Decision(pair.item, Verdict.RELEVANT if relevant > not_relevant else Verdict.NOT_RELEVANT)


def _given_up(pair: UnsettledPair) -> Decision:
    """Can't judge, for the reason given most often; of equally many, the first."""
    reasons = Counter(
        one.event.reason for one in pair.judgments if one.is_counted and one.verdict == Verdict.CANNOT_JUDGE
    )
    return Decision(pair.item, Verdict.CANNOT_JUDGE, reasons.most_common(1)[0][0])


def _by_labels(queue: Queue, rule: str, pairs: Sequence[UnsettledPair]) -> list[Decision]:
    frame = current_labels(queue.collection, rule).frame
    columns = (frame[name].to_list() for name in ("query_id", "document_id", "relevance", "source"))
    by_pair = {
        (query, document): relevance
        for query, document, relevance, source in zip(*columns, strict=True)
        if source == "human"
    }
    decisions = []
    for pair in pairs:
        relevance = by_pair.get((pair.item.query.external_id, pair.item.document.external_id))
        if relevance is not None:
            verdict = Verdict.RELEVANT if relevance else Verdict.NOT_RELEVANT
            decisions.append(Decision(pair.item, verdict))
    return decisions
