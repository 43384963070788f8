"""Four more of each thing that `one_of_each` made, as copies of its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from django.db.models import Model

from evaluation.models import CanaryDelivery, LatencyReport, Replay, Report, SharedLink, Webhook
from labeling.models import (
    Fact,
    GoldQuestion,
    JudgmentImport,
    LabelFile,
    PairMessage,
    Prelabeler,
    PrelabelJob,
    QrelsRelease,
    Queue,
)
from pooling.account_models import ApiToken
from pooling.engine_models import Engine
from pooling.models import AdminAction, Invitation, Job, Membership, Pool, PoolRun, Run, TextImport
from tests.evaluation.canary_cast import make_canary
from tests.labeling.helpers import judge
from tests.soundings.everywhere.one_of_each import OneOfEach

MORE = 4
#: What no two rows have alike: a copy gets its number after it.
UNIQUE = ("slug", "username", "name", "external_id", "model", "options_hash", "key")
COPIED: tuple[type[Model], ...] = (
    *(QrelsRelease, Report, Replay, LatencyReport, Webhook, CanaryDelivery, SharedLink, Engine, Queue),
    *(Prelabeler, Fact, JudgmentImport, LabelFile, PairMessage, Job, TextImport, Invitation, ApiToken),
    AdminAction,
)

Row = TypeVar("Row", bound=Model)


def copies(row: Row, **changes: Any) -> list[Row]:
    """`MORE` rows like this one."""
    made = []
    for number in range(MORE):
        copy = type(row)._base_manager.get(pk=row.pk)
        copy.pk = None
        copy._state.adding = True
        for name in UNIQUE:
            if getattr(copy, name, ""):
                setattr(copy, name, f"{getattr(copy, name)}-{number}")
        for name, value in changes.items():
            setattr(copy, name, value)
        if hasattr(copy, "token_sha256"):
            copy.token_sha256 = f"{row.pk} {number}"
        copy.save()
        made.append(copy)
    return made


def make_five_of_each(one: OneOfEach) -> OneOfEach:
    """More people who judge, more to pool and to judge, and more of all that comes of it."""
    world, collection = one.world, one.world.collection
    queue = Queue.objects.get(pk=one.values["queue_id"])
    (question,) = GoldQuestion.objects.all()
    copies(collection.queries.get(external_id="q1"))
    for document in copies(collection.documents.get(external_id="d1")):
        GoldQuestion.objects.create(
            collection=collection, query=question.query, document=document, answer="relevant"
        )
    judged, *others = queue.items.filter(order_key__gt=0).order_by("pk")
    for person, item in zip(copies(world.ben), others, strict=False):
        Membership.objects.create(collection=collection, user=person, role="annotator")
        judge(queue, person, judged.pk)
        judge(queue, person, item.pk)
    for run in list(Run.objects.all()):
        copies(run)
    for more in copies(collection):
        Membership.objects.create(collection=more, user=world.ada, role="viewer")
    for pool in list(Pool.everything.all()):
        for copy in copies(pool):
            PoolRun.objects.bulk_create(
                PoolRun(pool=copy, run=row.run, index=row.index) for row in pool.pool_runs.all()
            )
    for number in range(MORE):
        make_canary(world, name=f"canary {number}", tag="")
    for model in COPIED:
        for row in list(model._base_manager.all()):
            copies(row, **({"number": None} if model is AdminAction else {}))
    for prelabeler in Prelabeler.objects.exclude(pk=one.values["prelabeler_id"]):
        PrelabelJob.objects.create(queue=queue, prelabeler=prelabeler, state="done")
    # Of reports, the newest one says what comes next.
    newest = {"report_id": Report.objects.latest("pk").pk}
    return replace(one, of_address={**one.of_address, "report": newest})
