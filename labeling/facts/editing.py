"""Writing facts down, and what an admin does to them: edit, confirm, reject, merge, and back again.

A change of text raises the version. Unless an admin says that the meaning is the same, supports of older
versions count no more, and are asked again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection as SomeOf
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from labeling.facts.items import follow_facts
from labeling.models import Fact, FactVersion, Support
from pooling.formats.facts.records import LONGEST_FACT
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.models import Collection, Query
from pooling.people.activity_log import record_action
from pooling.texts.importing import lock

LONGEST_GROUP = 300
LONGEST_FACT_ID = 100
#: A fact of more words is hard to check from one passage; it is taken, with a remark.
MANY_WORDS = 15


@dataclass(frozen=True)
class FactDraft:
    """A fact as somebody writes it; without an id it gets the next one of its query."""

    text: str
    importance: str = Fact.Importance.VITAL
    group: str = ""
    fact_id: str = ""


def add_fact(query: Query, draft: FactDraft, *, user: User, confirmed: bool = True) -> Fact:
    """Write a fact of a query down. `InputError` for an empty or long text and for an id that is taken."""
    text, group = checked_text(draft.text), _checked_group(draft.group)
    with transaction.atomic():
        lock(query.collection)
        fact_id = _checked_id(query, draft.fact_id) if draft.fact_id else next_id(query.pk)
        now = timezone.now()
        fact = Fact.objects.create(
            collection=query.collection,
            query=query,
            external_id=fact_id,
            text=text,
            importance=_checked_importance(draft.importance),
            group=group,
            position=next_position(query.pk),
            state=Fact.State.CONFIRMED if confirmed else Fact.State.PROPOSED,
            created_by=user,
            created_at=now,
            confirmed_by=user if confirmed else None,
            confirmed_at=now if confirmed else None,
        )
        FactVersion.objects.create(fact=fact, version=1, text=text, changed_by=user, changed_at=now)
        follow_facts([query.pk])
    return fact


def change_fact(
    fact: Fact,
    *,
    user: User,
    text: str | None = None,
    importance: str | None = None,
    group: str | None = None,
    same_meaning: bool = False,
) -> Fact:
    """Change what is given. Another text is another version; see the module for what that does."""
    with transaction.atomic():
        lock(fact.collection)
        fact.refresh_from_db()
        if importance is not None:
            fact.importance = _checked_importance(importance)
        if group is not None:
            fact.group = _checked_group(group)
        if text is not None and (text := checked_text(text)) != fact.text:
            fact.text, fact.version, fact.edited = text, fact.version + 1, True
            if not same_meaning:
                fact.meaning = fact.version
            FactVersion.objects.create(
                fact=fact, version=fact.version, text=text, same_meaning=same_meaning, changed_by=user
            )
        fact.save()
        follow_facts([fact.query_id])
    return fact


def decide_facts(facts: SomeOf[Fact], state: str, *, user: User) -> int:
    """Confirm, reject or propose facts of one collection again, merged ones too; how many that changed."""
    if state not in (Fact.State.CONFIRMED, Fact.State.REJECTED, Fact.State.PROPOSED):
        raise InputError("A fact is confirmed, rejected or proposed.", field="state")
    if not facts:
        return 0
    collection = next(iter(facts)).collection
    with transaction.atomic():
        lock(collection)
        chosen = Fact.objects.filter(pk__in=[fact.pk for fact in facts], collection=collection)
        changed = dict(chosen.exclude(state=state).values_list("pk", "query_id"))
        news: dict[str, Any] = {"state": state, "merged_into": None}
        if state == Fact.State.CONFIRMED:
            news |= {"confirmed_by": user, "confirmed_at": timezone.now()}
        Fact.objects.filter(pk__in=list(changed)).update(**news)
        follow_facts(set(changed.values()))
        if changed:
            record_action(collection, user, f"facts {state}", counted(len(changed), "fact"))
    return len(changed)


def merge_facts(fact: Fact, into: Fact, *, user: User) -> None:
    """Take a fact for the same as another, judged and counted no more; its supports stay for a parting."""
    if fact.query_id != into.query_id or fact.pk == into.pk:
        raise InputError("Merge a fact with another one of the same query.", field="into")
    if into.state not in (Fact.State.CONFIRMED, Fact.State.PROPOSED):
        raise InputError(f"The fact {into.external_id} is {into.state}; merge with one that is not.")
    with transaction.atomic():
        lock(fact.collection)
        Fact.objects.filter(merged_into=fact).update(merged_into=into)
        fact.state, fact.merged_into = Fact.State.MERGED, into
        fact.save(update_fields=["state", "merged_into"])
        follow_facts([fact.query_id])
        record_action(fact.collection, user, "facts merged", f"{fact.external_id} → {into.external_id}")


def folded(text: str) -> str:
    """What two facts that say the same in the same words have in common.

    >>> folded("Hourly.") == folded(" hourly")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().strip(". ").split())


def remark_on(text: str) -> str:
    words = len(text.split())
    if words > MANY_WORDS:
        return f"{words} words: a fact of up to {MANY_WORDS} is checked from one passage."
    return ""


def judged_pairs(fact: Fact) -> int:
    return Support.objects.filter(fact=fact).count()


def next_id(query: int) -> str:
    """The first of f1, f2, … that no fact of the query has."""
    taken = set(Fact.objects.filter(query=query).values_list("external_id", flat=True))
    number = len(taken) + 1
    while f"f{number}" in taken:
        number += 1
    return f"f{number}"


def next_position(query: int) -> int:
    last = Fact.objects.filter(query=query).order_by().aggregate(last=Max("position"))["last"]
    return (last or 0) + 1


def checked_text(text: str) -> str:
    """The text of a fact on one line; `InputError` where it cannot be one."""
    text = " ".join(text.replace("\0", "").split())
    if not text:
        raise InputError("A fact needs a text: one claim, checkable from one passage.", field="text")
    if len(text) > LONGEST_FACT:
        raise InputError(f"A fact has at most {LONGEST_FACT:,} characters; divide it.", field="text")
    return text


def fact_named(collection: Collection, query_id: str, fact_id: str) -> Fact:
    """The fact of this id; `InputError` when there is none."""
    fact = collection.facts.filter(query__external_id=query_id, external_id=fact_id).first()
    if fact is None:
        raise InputError(f"Query {query_id} has no fact {fact_id}.", field="fact", missing=True)
    return fact


def _checked_group(group: str) -> str:
    group = " ".join(group.replace("\0", "").split())
    if len(group) > LONGEST_GROUP:
        raise InputError(f"A group has at most {LONGEST_GROUP} characters.", field="group")
    return group


def _checked_importance(importance: str) -> str:
    if importance not in Fact.Importance.values:
        raise InputError(f"Importance is one of {', '.join(Fact.Importance.values)}.", field="importance")
    return importance


def _checked_id(query: Query, fact_id: str) -> str:
    fact_id = fact_id.strip()
    if not fact_id or len(fact_id) > LONGEST_FACT_ID or not fact_id.isprintable():
        raise InputError(f"An id has 1 to {LONGEST_FACT_ID} printable characters.", field="fact_id")
    if Fact.objects.filter(query=query, external_id=fact_id).exists():
        problem = f"Query {query.external_id} has a fact {fact_id} already."
        raise InputError(problem, field="fact_id", conflict=True)
    return fact_id
