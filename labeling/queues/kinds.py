"""Queues and qrels releases, archived and deleted, and what of this stage depends on other things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from labeling.gold.questions import follow_gold
from labeling.items.withdrawn import return_items, withdraw_items
from labeling.models import (
    Fact,
    GoldQuestion,
    ImportedLabel,
    Item,
    Judgment,
    JudgmentEvent,
    JudgmentImport,
    Lease,
    QrelsRelease,
    Queue,
    Support,
    SupportEvent,
)
from pooling.formats.wording import counted
from pooling.models import Collection, Document, Pool, Query, TextImport
from pooling.texts.importing import lock
from pooling.tidying.erasing import empties_collections
from pooling.tidying.kinds import (
    Dependant,
    Ground,
    Kind,
    dependant,
    depends_on,
    register,
    rests_on,
    when,
    when_many,
)

register(
    Kind(
        "queue",
        "queues",
        Queue,
        archived="It is no longer listed, for annotators either. Its state, judgments and figures stay.",
        deleted="It closes and disappears. Its judgments stay labels of the collection. Annotators who are "
        "judging in it see that, and lose nothing.",
        list_page="queues",
    )
)
register(
    Kind(
        "release",
        "releases",
        QrelsRelease,
        archived="It is no longer in lists and forms, and is not taken as the newest. Reports on it stay.",
        deleted="It disappears with its file. The labels themselves stay, and can be released again.",
        list_page="releases",
    )
)


@depends_on(Pool)
def _queues_over(pool: Pool) -> Sequence[Dependant]:
    queues = list(Queue.objects.filter(pool=pool))
    pools = Pool.objects.filter(collection=pool.collection_id, strategy=Pool.STRATA).defer("diagnostics")
    audits = [one for one in pools.select_related("collection") if one.provenance["pool"]["id"] == pool.pk]
    return [
        *dependant(queues, "queue", "is over it/are over it", blocks=True),
        *dependant(audits, "audit by scores", "was drawn from it/were drawn from it", blocks=True),
    ]


@depends_on(Queue)
def _labels_in(queue: Queue) -> Sequence[Dependant]:
    judgments = Judgment.objects.filter(event__queue=queue, is_gold=False).count()
    leases = Lease.objects.filter(item__queue=queue, expires_at__gt=timezone.now()).count()
    return [
        *_counted(judgments, "judgment", "stays a label of the collection/stay labels of the collection"),
        *_counted(
            leases,
            "pair",
            "is being judged now; its verdict is saved/are being judged now; their verdicts are saved",
        ),
    ]


@rests_on(Queue)
def _pool_of(queue: Queue) -> Sequence[Ground]:
    return [Ground(queue.pool)]


@depends_on(Query, Document)
def _labels_of_text(text: Query | Document) -> Sequence[Dependant]:
    return _labels_of({f"{text._meta.model_name}": text})


@depends_on(TextImport)
def _labels_of_import(one: TextImport) -> Sequence[Dependant]:
    return _labels_of({"query__brought_by" if one.of == TextImport.QUERIES else "document__brought_by": one})


def _labels_of(pairs: dict[str, Any]) -> list[Dependant]:
    kept = "is kept, and does not count meanwhile/are kept, and do not count meanwhile"
    return [
        *_counted(JudgmentEvent.objects.filter(**pairs, kind="verdict").count(), "judgment", kept),
        *_counted(ImportedLabel.objects.filter(**pairs).count(), "imported label", kept),
        *_counted(GoldQuestion.objects.filter(**pairs).count(), "gold question", kept),
    ]


def _counted(many: int, noun: str, consequence: str) -> list[Dependant]:
    one, _, several = consequence.partition("/")
    return [Dependant(counted(many, noun), one if many == 1 else several)] if many else []


@depends_on(Collection)
def _judged_in(collection: Collection) -> Sequence[Dependant]:
    goes = "goes with it/go with it"
    judged = JudgmentEvent.objects.filter(collection=collection, kind=JudgmentEvent.Kind.VERDICT).count()
    return [
        *_counted(Queue.objects.filter(collection=collection).count(), "queue", goes),
        *_counted(judged, "judgment", goes),
        *_counted(QrelsRelease.objects.filter(collection=collection).count(), "release", goes),
    ]


@when("deleted", Queue)
def _close(queue: Queue, by: User | None) -> None:
    queue.state_before, queue.state = queue.state, Queue.State.CLOSED
    queue.save(update_fields=["state", "state_before"])


@when("restored", Queue)
def _as_it_was(queue: Queue, by: User | None) -> None:
    queue.state, queue.state_before = queue.state_before or queue.state, ""
    queue.save(update_fields=["state", "state_before"])
    # What was deleted or made a gold question meanwhile is followed.
    lock(queue.collection)
    follow_gold(queue.collection)


@when_many("deleted", Query, Document)
def _withdraw_pairs(collection: Collection, texts: QuerySet[Any]) -> None:
    withdraw_items(_with(texts))


@when_many("restored", Query, Document)
def _return_pairs(collection: Collection, texts: QuerySet[Any]) -> None:
    return_items(_with(texts))
    lock(collection)
    follow_gold(collection)


def _with(texts: QuerySet[Any]) -> Q:
    """Items with one of these queries or documents."""
    return Q(**{f"{texts.model._meta.model_name}__in": texts.values("pk")})


@empties_collections
def _erase_labels(collection: Collection) -> None:
    """From the end of the way to its beginning: each kind of row protects those it rests on."""
    mine = {"collection": collection}
    Support.objects.filter(**mine).delete()
    support_events = SupportEvent.objects.filter(**mine)
    support_events.filter(undoes__isnull=False).delete()
    support_events.delete()
    Fact.objects.filter(**mine).delete()
    QrelsRelease.everything.filter(**mine).delete()
    ImportedLabel.objects.filter(**mine).delete()
    Judgment.objects.filter(**mine).delete()
    Item.objects.filter(queue__collection=collection).update(repeats=None, state=Item.State.ASIDE)
    events = JudgmentEvent.objects.filter(**mine)
    events.filter(undoes__isnull=False).delete()
    events.update(repeats=None)
    events.delete()
    Queue.everything.filter(**mine).delete()
    JudgmentImport.everything.filter(**mine).delete()
    # Nobody else's: such an account belongs to one collection.
    get_user_model().objects.filter(imported_annotator__collection=collection).delete()
