"""Canaries: a measure over some queries that every imported run is checked against, and what that tells."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.urls import reverse

from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import receivers_of, tell
from evaluation.canaries.measuring import (
    BELOW,
    SINCE_REFERENCE,
    ends_of,
    measured,
    predecessor,
    stored,
    tells,
)
from evaluation.canaries.queries import changes_of_tags, frozen, stretches_of
from evaluation.canaries.regressions import family_of, is_fall
from evaluation.canaries.webhooks import problem_of
from evaluation.models import Canary, CanaryStretch, CanaryValue
from evaluation.report_store.choices import release_chosen
from evaluation.scoring.config import SettingError, threshold_key
from pooling.engine_models import Engine
from pooling.formats.wording import plural
from pooling.interface.problems import InputError, refusals
from pooling.interface.results import Progress, Result
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Collection, Job, Run
from pooling.people.activity_log import record_action
from pooling.runs.stored import runs_named
from pooling.storage.secrets import seal
from pooling.storage.storing import checked_name

logger = logging.getLogger(__name__)

SHORTEST_SECRET, LONGEST_SECRET = 16, 500
MOST_RECEIVERS = 20


@dataclass(frozen=True)
class Alerts:
    """When somebody hears of a canary, and who. secret: None leaves the one that is stored.

    reference: what a run is compared with, in addition to the previous run (`Canary.Reference`); pinned: a
    run's name.
    """

    threshold: float
    only_clear: bool = False
    webhook_url: str = ""
    secret: str | None = field(default=None, repr=False)
    mail_to: Sequence[str] = ()
    reference: str = Canary.Reference.BEST
    pinned: str = ""


@dataclass(frozen=True)
class CanaryDefinition:
    """What a canary measures, which stays as it is: a measure, over the queries of a tag, on the labels of a
    release; the newest, and every query of it, where none is named."""

    name: str
    measure: str
    tag: str = ""
    release: str | None = None
    confidence: float = 0.95


def create_canary(
    collection: Collection,
    definition: CanaryDefinition,
    alerts: Alerts,
    *,
    user: User | None = None,
    site: str = "",
) -> Canary:
    """Store a canary over the queries that have the tag now, and measure the runs that are there.

    One comparison is made at once where it is quick, so that the least fall that shows is known; all else is
    left to the background worker. Nobody hears of those runs, unless the newest of a family is below the
    threshold. `InputError` names the field: a name that is taken, a measure without K, a tag without a
    labelled query, a threshold outside 0 to 1, an address that is none, a webhook without a secret, a pinned
    run that is not there.
    """
    canary = Canary(
        collection=collection,
        name=checked_name(definition.name, "canary"),
        release=release_chosen(collection, definition.release),
        tag=definition.tag,
        measure=_checked_measure(definition.measure),
        confidence=_checked_confidence(definition.confidence),
        created_by=user,
        site=site,
    )
    _give_alerts(canary, alerts)
    stretch = frozen(canary, user)
    try:
        with transaction.atomic():
            canary.save()
            stretch.canary = canary
            stretch.save()
            record_action(collection, user, "canary created", canary.name, **_watched(canary))
    except IntegrityError:
        problem = f"Canary “{canary.name}” already exists. Choose another name."
        raise InputError(problem, field="name", conflict=True) from None
    _begin(stretch, user)
    return canary


def take_over_tag(canary: Canary, user: User | None) -> CanaryStretch:
    """Measure the queries tagged now, in another stretch; `InputError` for the same, none, or no label."""
    if canary.pk not in changes_of_tags(stretches_of([canary]), [canary]):
        raise InputError("These queries are already measured; nothing has changed.", conflict=True)
    stretch = frozen(canary, user)
    with transaction.atomic():
        stretch.save()
        Canary.objects.filter(pk=canary.pk).update(trouble="", lost_tag=False)
        facts = {**_watched(canary), "queries": len(stretch.queries or ())}
        record_action(canary.collection, user, "canary queries taken over", canary.name, **facts)
    _begin(stretch, user)
    return stretch


def alerts_of(canary: Canary) -> Alerts:
    return Alerts(
        threshold=canary.threshold,
        only_clear=canary.only_clear,
        webhook_url=canary.webhook_url,
        mail_to=canary.mail_to,
        reference=canary.reference,
        pinned=canary.pinned.name if canary.pinned else "",
    )


@transaction.atomic
def change_alerts(canary: Canary, alerts: Alerts, user: User | None, *, site: str = "") -> Canary:
    """Give a canary another threshold, reference and other receivers; what it measures stays.

    site: what links in messages begin with, for a canary that a command made.

    Who has not heard that a value is below the threshold hears of it now: all where the threshold has passed
    it, otherwise new receivers.
    """
    rows = stretches_of([canary])[canary.pk].values.select_related("run", "previous", "reference")
    newest = {value.family: value for value in rows.order_by("run_id")}.values()
    already_below = {value.pk for value in newest if tells(canary, ends_of(value))}
    receivers = set(receivers_of(canary))
    _give_alerts(canary, alerts)
    canary.site = canary.site or site
    canary.save()
    record_action(canary.collection, user, "canary changed", canary.name, **_watched(canary))
    below = [value for value in newest if tells(canary, ends_of(value))]
    tell([News(canary, value, (BELOW,)) for value in below if value.pk not in already_below])
    tell([News(canary, value, (BELOW,)) for value in below if value.pk in already_below], but_not=receivers)
    return canary


class _Watched(TypedDict):
    measure: str
    threshold: float
    tag: str


def _watched(canary: Canary) -> _Watched:
    return {"measure": canary.measure, "threshold": canary.threshold, "tag": canary.tag}


def _checked_measure(name: str) -> str:
    try:
        return threshold_key(name)
    except SettingError as error:
        raise InputError(str(error), field="measure") from None


def _checked_confidence(value: float) -> float:
    if not 0.5 <= value <= 0.999:
        raise InputError("The confidence is a share from 0.5 to 0.999, such as 0.95.", field="confidence")
    return value


def _give_alerts(canary: Canary, alerts: Alerts) -> None:
    if not 0 <= alerts.threshold <= 1:
        raise _refused("threshold", "A threshold is a number from 0 to 1.")
    if alerts.reference not in Canary.Reference.values:
        raise _refused("reference", f"The reference is one of {', '.join(Canary.Reference.values)}.")
    url = alerts.webhook_url.strip()
    if url and (problem := problem_of(url, settings.WEBHOOK_PRIVATE_NETWORKS)):
        raise _refused("webhook_url", problem)
    if alerts.secret and not SHORTEST_SECRET <= len(alerts.secret) <= LONGEST_SECRET:
        raise _refused("secret", f"A secret has {SHORTEST_SECRET} to {LONGEST_SECRET} characters.")
    if url and not alerts.secret and not canary.sealed_secret:
        raise _refused("secret", "A webhook needs a secret, so that the receiver can verify the sender.")
    pinned, addresses = _checked_pinned(canary.collection, alerts), _checked_addresses(alerts.mail_to)
    canary.threshold, canary.only_clear = alerts.threshold, alerts.only_clear
    canary.reference, canary.pinned = alerts.reference, pinned
    canary.webhook_url, canary.mail_to = url, addresses
    if alerts.secret:
        canary.sealed_secret = seal(alerts.secret)


def _checked_pinned(collection: Collection, alerts: Alerts) -> Run | None:
    if alerts.reference != Canary.Reference.PINNED:
        return None
    if not alerts.pinned:
        raise _refused("pinned", "Name the run that later ones are compared with.")
    try:
        return runs_named(collection, [alerts.pinned])[0]
    except InputError as error:
        raise _refused("pinned", str(error)) from None


def _checked_addresses(addresses: Sequence[str]) -> list[str]:
    if len(addresses) > MOST_RECEIVERS:
        raise _refused("mail_to", f"Enter at most {MOST_RECEIVERS} addresses.")
    for address in addresses:
        try:
            validate_email(address)
        except ValidationError:
            raise _refused("mail_to", f"“{address[:100]}” is not a valid email address.") from None
    return list(dict.fromkeys(addresses))


def _refused(field: str, problem: str) -> InputError:
    return InputError(problem, field=field)


def watch_run(run: Run) -> None:
    """Have a new run measured by every canary of its collection; called when it has been imported."""
    if run.collection.canaries.exists():
        start_job(run.collection, "canaries", {"run": run.pk}, run.imported_by)


@transaction.atomic
def tell_of_engine(engine: Engine, problem: str) -> None:
    """Tell that an engine gave no run for the canaries; once, until a run is measured again."""
    trouble = f"The engine “{engine.name}” gave no run: {problem}"
    silent = list(engine.collection.canaries.select_related("collection", "release").filter(trouble=""))
    Canary.objects.filter(pk__in=[canary.pk for canary in silent]).update(trouble=trouble)
    tell([News(canary, trouble=trouble) for canary in silent])


def resume_watching() -> int:
    """Start again what a stopped worker left unmeasured; how many jobs that makes. No message goes twice."""
    canaries = list(Canary.objects.filter(collection__deleted_at=None).select_related("collection"))
    wanted: dict[tuple[str, int], tuple[Collection, dict[str, int]]] = {}
    stretches = stretches_of(canaries)
    for canary in canaries:
        stretch = stretches[canary.pk]
        unmeasured = canary.collection.runs.exclude(canary_values__stretch=stretch)
        for run in unmeasured.filter(imported_at__gt=stretch.started_at).values_list("pk", flat=True):
            wanted["canaries", run] = canary.collection, {"run": run}
        last = canary.collection.runs.filter(imported_at__lte=stretch.started_at).order_by("-pk").first()
        if last is not None and unmeasured.filter(pk=last.pk).exists():
            arguments = {"canary": canary.pk, "stretch": stretch.pk, "until": last.pk}
            wanted["canary history", stretch.pk] = canary.collection, arguments
    states = (Job.State.QUEUED, Job.State.RUNNING)
    jobs = Job.objects.filter(kind__in=("canaries", "canary history"), state__in=states)
    for kind, arguments in jobs.values_list("kind", "arguments"):
        wanted.pop((kind, arguments["run" if kind == "canaries" else "stretch"]), None)
    for (kind, _), (collection, arguments) in wanted.items():
        start_job(collection, kind, arguments, None)
    return len(wanted)


@job_kind("canaries", title="Measuring a run for the canaries", can_be_cancelled=False)
def _measure_run(job: Job, progress: Progress) -> Result:
    """Measure one run by every canary, and tell those who want to hear of it, once and in one message."""
    collection = job.collection
    runs = _runs_of(collection)
    run = next((one for one in runs if one.pk == job.arguments["run"]), None)
    if run is None:
        raise InputError("The run was deleted; nothing to measure.")
    canaries = list(collection.canaries.select_related("release", "collection", "pinned").order_by("pk"))
    stretches = stretches_of(canaries)
    results: dict[int, CanaryValue | str] = {}
    for done, canary in enumerate(canaries):
        progress(done / len(canaries), f"Measuring “{run.name}” for “{canary.name}”.")
        results[canary.pk] = _value_or_problem(canary, stretches[canary.pk], run, runs)
    lost = {pk: one.sentence() for pk, one in changes_of_tags(stretches, canaries).items() if one.is_lost}
    with transaction.atomic():
        news = [
            one for canary in canaries for one in _news(canary, results[canary.pk], lost.get(canary.pk, ""))
        ]
        sent = len(tell(news))
    refused = [f"{canary.name}: {results[canary.pk]}" for canary in canaries if canary.trouble]
    messages = f"{sent} {plural(sent, 'message')}"
    counted = f"{len(canaries)} {plural(len(canaries), 'canary')}, {messages}."
    url = reverse("canaries", args=[collection.slug])
    return {"detail": " ".join([f"“{run.name}”: {counted}", *refused]), "url": url}


def _runs_of(collection: Collection) -> list[Run]:
    return list(collection.runs.defer("preflight").order_by("pk"))


def _value_or_problem(
    canary: Canary, stretch: CanaryStretch, run: Run, runs: Sequence[Run]
) -> CanaryValue | str:
    """A run's value, or why there is none: one canary that cannot measure keeps no other from it."""
    try:
        return measured(canary, stretch, run, runs)
    except refusals() as error:
        return f"“{run.name}” cannot be measured: {error}"
    except Exception:
        logger.exception("canary %s could not measure run %s", canary.pk, run.pk)
        return f"“{run.name}” cannot be measured; the server's log has the details."


def _news(canary: Canary, result: CanaryValue | str, lost: str) -> list[News]:
    trouble = result if isinstance(result, str) else ""
    news = [News(canary, trouble=trouble)] if trouble and not canary.trouble else []
    news += [News(canary, trouble=lost)] if lost and not canary.lost_tag else []
    if (canary.trouble, canary.lost_tag) != (trouble, bool(lost)):
        canary.trouble, canary.lost_tag = trouble, bool(lost)
        canary.save(update_fields=["trouble", "lost_tag"])
    if not isinstance(result, str) and stored(result) and result.reasons:
        news.append(News(canary, result, tuple(result.reasons)))
    return news


def _begin(stretch: CanaryStretch, user: User | None) -> None:
    """Have the runs that are there measured, and compare two of them at once to know what noise there is.

    Those are the newest run that has one before it and that one, unless they are large.
    """
    canary = stretch.canary
    runs = _runs_of(canary.collection)
    if not runs:
        return
    pairs = ((run, predecessor(run, runs)) for run in reversed(runs))
    run, before = next((pair for pair in pairs if pair[1] is not None), (runs[-1], None))
    if before is not None and run.row_count + before.row_count <= settings.BACKGROUND_REPORT_ROWS:
        value = _value_or_problem(canary, stretch, run, runs)
        stretch.deviation = None if isinstance(value, str) else value.deviation
        stretch.save(update_fields=["deviation"])
    arguments = {"canary": canary.pk, "stretch": stretch.pk, "until": runs[-1].pk}
    start_job(canary.collection, "canary history", arguments, user)


def _standing(canary: Canary, value: CanaryValue) -> tuple[str, ...]:
    """Why a value is worth telling of a canary that has just been made: what later runs do not tell again."""
    below = (BELOW,) if tells(canary, ends_of(value)) else ()
    pinned = value.reference_id is not None and value.reference_id == canary.pinned_id
    fell = pinned and is_fall(value.reference_high, value.reference_p, canary.confidence)
    return (*below, *((SINCE_REFERENCE,) if fell else ()))


@job_kind("canary history", title="Measuring earlier runs for a canary", can_be_cancelled=False)
def _measure_history(job: Job, progress: Progress) -> Result:
    """Measure the runs that were there before a canary, of other queries the newest of each family; nobody is
    told of them but that the newest of a family is below the threshold."""
    rows = job.collection.canaries.select_related("release", "collection", "pinned")
    canary = rows.get(pk=job.arguments["canary"])
    stretch = canary.stretches.get(pk=job.arguments["stretch"])
    runs = [run for run in _runs_of(job.collection) if run.pk <= job.arguments["until"]]
    newest = {family_of(run.name): run for run in runs}
    chosen = runs if canary.stretches.first() == stretch else list(newest.values())
    measured_runs = set(stretch.values.values_list("run_id", flat=True))
    for done, run in enumerate(chosen):
        if run.pk not in measured_runs:
            progress(done / len(chosen), f"Measuring “{run.name}”.")
            result = _value_or_problem(canary, stretch, run, runs)
            if not isinstance(result, str):
                stored(result)
    values = stretch.values.filter(run__in=newest.values(), news=None)
    values = values.select_related("run", "previous", "reference")
    tell([News(canary, value, reasons) for value in values if (reasons := _standing(canary, value))])
    return {"detail": f"“{canary.name}”: {len(chosen)} runs.", "url": canary.get_absolute_url()}
