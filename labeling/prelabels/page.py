from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum

from labeling.models import ModelServerKey, Prelabel, Prelabeler, PrelabelFailure, PrelabelJob, Queue, Verdict
from labeling.models.prelabels import is_in_queue
from labeling.prelabels.options import allowed_servers, missing_key, uses_site_key
from labeling.prelabels.passes import RESUMABLE
from pooling.interface.problems import InputError
from pooling.interface.results import PAGE_ONLY

LISTED_PASSES = 20
# What may be done to a pass in which state, and how it is said.
ACTIVE = (PrelabelJob.State.QUEUED, PrelabelJob.State.RUNNING)
ACTIONS = {
    "pause": (ACTIVE, "paused"),
    "resume": (RESUMABLE, "resumed"),
    "cancel": ((*ACTIVE, *RESUMABLE), "cancelled"),
}


def passes_of(queue: Queue) -> list[PrelabelJob]:
    """The newest passes over a queue, with their prelabelers."""
    return list(queue.prelabel_jobs.select_related("prelabeler", "created_by")[:LISTED_PASSES])


def pass_meant(queue: Queue, action: str, number: int | None = None) -> PrelabelJob:
    """A queue's pass of that number, or the only one fit for `action`; `InputError` for none or several."""
    passes = queue.prelabel_jobs.select_related("queue__collection", "prelabeler__collection")
    if number is not None:
        job = passes.filter(pk=number).first()
        if job is None:
            raise InputError(f"“{queue.name}” has no pass number {number}.", missing=True)
        return job
    states, done = ACTIONS[action]
    stopped_or_active = passes.filter(state__in=states)[:LISTED_PASSES]
    fitting = [job for job in stopped_or_active if job.is_active or job.can_resume]
    if not fitting:
        raise InputError(f"No pass over “{queue.name}” can be {done}.", conflict=True)
    if len(fitting) > 1:
        choices = ", ".join(f"{job.pk} ({job.prelabeler}, {job.state})" for job in fitting)
        raise InputError(
            f"Several passes over “{queue.name}” can be {done}: {choices}. Name one by its number."
        )
    return fitting[0]


@dataclass(frozen=True)
class ModelRow:
    """A model's answers on the queue's pairs, in counts; `failures` are pairs by reason, and part of the
    cost: a model is paid for many an answer that nobody can use."""

    prelabeler: Prelabeler
    answered: int
    relevant: int
    share: float | None
    cost: Annotated[Decimal | None, float, "Null if some answers had no price."]
    failures: dict[str, int]


def models_of(queue: Queue) -> list[ModelRow]:
    """Each model and prompt that was asked about pairs of the queue, newest first."""
    answers = (
        Prelabel.objects.current()
        .in_queue(queue)
        .order_by()
        .values("prelabeler")
        .annotate(
            answered=Count("pk"), relevant=Count("pk", filter=Q(verdict=Verdict.RELEVANT)), cost=Sum("cost")
        )
    )
    failures: dict[int, dict[str, int]] = {}
    costs = {row["prelabeler"]: row["cost"] for row in answers}
    counted = PrelabelFailure.objects.filter(is_in_queue(queue)).order_by().values("prelabeler", "reason")
    for failed in counted.annotate(pairs=Count("pk"), paid=Sum("cost")):
        model, reason = failed["prelabeler"], PrelabelFailure.Reason(failed["reason"]).label
        failures.setdefault(model, {})[str(reason)] = failed["pairs"]
        costs[model] = costs.get(model, Decimal(0)) + failed["paid"]
    counts = {row["prelabeler"]: row for row in answers}
    rows = []
    prelabelers = Prelabeler.objects.filter(pk__in={*counts, *failures})
    unpriced = set(prelabelers.unpriced().values_list("pk", flat=True))
    for prelabeler in prelabelers:
        row = counts.get(prelabeler.pk)
        answered, relevant = (row["answered"], row["relevant"]) if row else (0, 0)
        rows.append(
            ModelRow(
                prelabeler=prelabeler,
                answered=answered,
                relevant=relevant,
                share=relevant / answered if answered else None,
                cost=None if prelabeler.pk in unpriced or prelabeler.is_from_file else costs[prelabeler.pk],
                failures=failures.get(prelabeler.pk, {}),
            )
        )
    return rows


@dataclass(frozen=True)
class ServerRow:
    """A server that may be asked, and what it lacks, in a sentence."""

    base_url: str
    # Who stored a key, and when.
    stored_by: Annotated[User | None, PAGE_ONLY]
    stored_at: Annotated[datetime | None, PAGE_ONLY]
    missing: Annotated[str, {"allow_blank": True}]
    site_key: Annotated[str, {"allow_blank": True}, "Whether the site pays; else empty."]


def servers_of(queue: Queue, by: User) -> list[ServerRow]:
    keys = ModelServerKey.objects.filter(collection=queue.collection_id).select_related("stored_by")
    stored = {key.base_url: key for key in keys}
    return [
        ServerRow(
            base_url=url,
            stored_by=stored[url].stored_by if url in stored else None,
            stored_at=stored[url].stored_at if url in stored else None,
            missing=missing_key(queue.collection, url, by),
            site_key="The site's key is used." if uses_site_key(queue.collection, url) else "",
        )
        for url in allowed_servers()
    ]


def not_set_up(servers: list[ServerRow]) -> str:
    """One sentence where no server could be asked; else nothing."""
    if not servers:
        return (
            "No language model server is configured (SOUNDINGS_LLM_SERVERS). Everything except "
            "pre-labels works without."
        )
    return servers[0].missing if all(server.missing for server in servers) else ""
