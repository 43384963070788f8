"""Canaries: a measure over some queries that every imported run is held against, and what that tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.urls import reverse

from evaluation.models import Canary, CanaryValue
from evaluation.report_choices import release_chosen, strata_chosen
from labeling.qrels import read_release
from pooling.jobs import Report, job_kind, start_job
from pooling.models import Collection, Job, Run
from pooling.problems import InputError
from pooling.runs import read_stored_run
from pooling.secrets import seal
from pooling.storing import checked_name
from pooling.trail import record_action

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User

    from evaluation.results import Evaluation

BELOW, DROP = "below", "drop"
SAMPLES, SEED = 10_000, 0
SHORTEST_SECRET, LONGEST_SECRET = 16, 500
MOST_RECEIVERS = 20


@dataclass(frozen=True)
class Alerts:
    """Who hears of a canary. secret: None leaves the one that is stored."""

    threshold: float
    only_clear: bool = False
    webhook_url: str = ""
    secret: str | None = None
    mail_to: Sequence[str] = ()


def create_canary(
    collection: Collection,
    *,
    name: str,
    measure: str,
    alerts: Alerts,
    tag: str = "",
    release: str | None = None,
    confidence: float = 0.95,
    user: User | None = None,
    site: str = "",
) -> Canary:
    """Store a canary, and measure the runs that are there by the background worker; nobody hears of those.

    `InputError` names the field: a name that is taken, a measure without K, a tag without a labelled query, a
    threshold outside 0 to 1, an address that is none, a webhook without a secret.
    """
    canary = Canary(
        collection=collection,
        name=checked_name(name, "canary"),
        release=release_chosen(collection, release),
        tag=tag,
        measure=_checked_measure(measure),
        confidence=_checked_confidence(confidence),
        created_by=user,
        site=site,
    )
    _give_alerts(canary, alerts)
    queries_of(canary)
    try:
        with transaction.atomic():
            canary.save()
            record_action(collection, user, "canary created", canary.name, **_plain(canary))
    except IntegrityError:
        problem = f"There is a canary “{canary.name}” already. Choose another name."
        raise InputError(problem, fields={"name": problem}, conflict=True) from None
    newest = collection.runs.order_by("-pk").values_list("pk", flat=True).first()
    if newest is not None:
        start_job(collection, "canary history", {"canary": canary.pk, "until": newest}, user)
    return canary


@transaction.atomic
def change_alerts(canary: Canary, alerts: Alerts, user: User | None) -> Canary:
    """Give a canary another threshold and other receivers; what it measures stays."""
    _give_alerts(canary, alerts)
    canary.save()
    record_action(canary.collection, user, "canary changed", canary.name, **_plain(canary))
    return canary


@transaction.atomic
def delete_canary(canary: Canary, user: User | None) -> None:
    """Remove a canary with its values and messages."""
    record_action(canary.collection, user, "canary deleted", canary.name, **_plain(canary))
    canary.delete()


def _plain(canary: Canary) -> dict[str, Any]:
    return {"measure": canary.measure, "threshold": canary.threshold, "tag": canary.tag}


def _checked_measure(name: str) -> str:
    from evaluation.config import SettingError, threshold_key

    try:
        return threshold_key(name)
    except SettingError as error:
        raise InputError(str(error), fields={"measure": str(error)}) from None


def _checked_confidence(value: float) -> float:
    if not 0.5 <= value <= 0.999:
        problem = "The confidence is a share from 0.5 to 0.999, such as 0.95."
        raise InputError(problem, fields={"confidence": problem})
    return value


def _give_alerts(canary: Canary, alerts: Alerts) -> None:
    """Check and take over who hears of the canary, and when."""
    from evaluation.webhooks import problem_of

    if not 0 <= alerts.threshold <= 1:
        raise _refused("threshold", "A threshold is a number from 0 to 1.")
    canary.threshold, canary.only_clear = alerts.threshold, alerts.only_clear
    url = alerts.webhook_url.strip()
    if url and (problem := problem_of(url)):
        raise _refused("webhook_url", problem)
    if alerts.secret and not SHORTEST_SECRET <= len(alerts.secret) <= LONGEST_SECRET:
        raise _refused("secret", f"A secret has {SHORTEST_SECRET} to {LONGEST_SECRET} characters.")
    if url and not alerts.secret and not canary.sealed_secret:
        raise _refused("secret", "A webhook needs a secret, by which the receiver knows who it is from.")
    canary.webhook_url = url
    if alerts.secret:
        canary.sealed_secret = seal(alerts.secret)
    canary.mail_to = _checked_addresses(alerts.mail_to)


def _checked_addresses(addresses: Sequence[str]) -> list[str]:
    if len(addresses) > MOST_RECEIVERS:
        raise _refused("mail_to", f"Name at most {MOST_RECEIVERS} addresses.")
    for address in addresses:
        try:
            validate_email(address)
        except ValidationError:
            raise _refused("mail_to", f"“{address[:100]}” is no mail address.") from None
    return list(dict.fromkeys(addresses))


def _refused(field: str, problem: str) -> InputError:
    return InputError(problem, fields={field: problem})


def queries_of(canary: Canary) -> list[str] | None:
    """The ids of the canary's queries, None for all; `InputError` when none of them has a label."""
    if not canary.tag:
        return None
    try:
        chosen = strata_chosen(canary.collection, [canary.tag])[canary.tag]
    except InputError as error:
        raise _refused("tag", str(error)) from None
    if not set(chosen) & set(read_release(canary.release)["query_id"].unique()):
        problem = f"No query with the tag {canary.tag} has a label in release {canary.release.name}."
        raise _refused("tag", f"{problem} Judge some, or choose another tag or release.")
    return chosen


def predecessor(run: Run, runs: Sequence[Run]) -> Run | None:
    """The newest of the runs that is older than this one and of its family."""
    from evaluation.drops import family_of

    family = family_of(run.name)
    older = [one for one in runs if one.pk < run.pk and family_of(one.name) == family]
    return max(older, key=lambda one: one.pk, default=None)


def measured(canary: Canary, run: Run, previous: Run | None) -> CanaryValue:
    """A run's value of a canary and its change since the run before, not yet stored.

    `reasons` says why it is worth telling: it crossed the threshold (it is below, and the run before was not,
    or there is none), or it fell beyond noise. `InputError` when it cannot be measured.
    """
    from evaluation.drops import change_between, family_of

    evaluation = _evaluation(canary, [run, *([previous] if previous else [])])
    figure = evaluation.runs[run.name].figures[canary.measure]
    value = CanaryValue(
        canary=canary,
        run=run,
        family=family_of(run.name),
        previous=previous,
        **{name: figure[name] for name in ("mean", "low", "high", "queries")},
    )
    before_was_below = False
    if previous is not None:
        now, before = (_by_query(evaluation, one.name, canary.measure) for one in (run, previous))
        change = change_between(now, before, confidence=canary.confidence, samples=SAMPLES, seed=SEED)
        value.difference, value.difference_low, value.difference_high = (
            change.difference,
            change.low,
            change.high,
        )
        before_was_below = _tells(canary, evaluation.runs[previous.name].figures[canary.measure])
        if change.is_drop:
            value.reasons = [DROP]
    if _tells(canary, figure) and not before_was_below:
        value.reasons = [BELOW, *value.reasons]
    return value


def is_below(threshold: float, mean: float | None) -> bool:
    """Whether a value is below a threshold; one that is undefined meets none."""
    return mean is None or mean < threshold


def is_clear(threshold: float, high: float | None) -> bool:
    """Whether the whole interval is below the threshold."""
    return high is not None and high < threshold


def _tells(canary: Canary, figure: Mapping[str, Any]) -> bool:
    """Whether a value is below the threshold, so that people want to hear of it."""
    if not is_below(canary.threshold, figure["mean"]):
        return False
    return not canary.only_clear or figure["mean"] is None or is_clear(canary.threshold, figure["high"])


def _evaluation(canary: Canary, runs: Sequence[Run]) -> Evaluation:
    from evaluation.evaluating import evaluate
    from evaluation.measures import split_name

    k = split_name(canary.measure)[1]
    try:
        return evaluate(
            read_release(canary.release),
            {run.name: _reader(run) for run in runs},
            k or 10,
            [canary.measure],
            queries=queries_of(canary),
            confidence=canary.confidence,
            bootstrap_samples=SAMPLES,
            seed=SEED,
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def _reader(run: Run) -> Callable[[], Any]:
    return lambda: read_stored_run(run).select("query_id", "document_id", "score")


def _by_query(evaluation: Evaluation, run: str, key: str) -> Any:
    """(Q,) values of one measure."""
    from evaluation.measures import split_name

    measure, k = split_name(key)
    found = evaluation.runs[run]
    if k is None:
        return found.whole[measure]
    return found.values[measure][:, evaluation.cutoffs.tolist().index(k)]


def watch_run(run: Run) -> None:
    """Have a new run measured by every canary of its collection; called when it has been imported."""
    if run.collection.canaries.exists():
        start_job(run.collection, "canaries", {"run": run.pk}, run.imported_by)


@job_kind("canaries", can_be_cancelled=False)
def _measure_run(job: Job, report: Report) -> dict[str, Any]:
    """Measure one run by every canary, and tell those who want to hear of it, once."""
    from evaluation.alerts import tell

    collection = job.collection
    runs = list(collection.runs.defer("preflight").order_by("pk"))
    run = next((one for one in runs if one.pk == job.arguments["run"]), None)
    if run is None:
        raise InputError("The run is gone; there is nothing to measure.")
    canaries = list(collection.canaries.select_related("release", "collection").order_by("pk"))
    told, refused = 0, []
    for done, canary in enumerate(canaries):
        report(done / len(canaries), f"Measuring “{run.name}” for “{canary.name}”.")
        try:
            value = measured(canary, run, predecessor(run, runs))
        except InputError as error:
            refused.append(f"{canary.name}: {error}")
            continue
        with transaction.atomic():
            if stored(value) and value.reasons:
                told += len(tell(canary, value, job.created_by))
    messages = "1 message" if told == 1 else f"{told} messages"
    counted = f"{len(canaries)} canar{'y' if len(canaries) == 1 else 'ies'}, {messages}."
    url = reverse("canaries", args=[collection.slug])
    return {"detail": " ".join([f"“{run.name}”: {counted}", *refused]), "url": url}


@job_kind("canary history", can_be_cancelled=False)
def _measure_history(job: Job, report: Report) -> dict[str, Any]:
    """Measure the runs that were there before the canary; nobody is told of them."""
    canary = job.collection.canaries.select_related("release", "collection").get(pk=job.arguments["canary"])
    runs = list(job.collection.runs.filter(pk__lte=job.arguments["until"]).order_by("pk"))
    known = set(canary.values.values_list("run_id", flat=True))
    for done, run in enumerate(runs):
        if run.pk not in known:
            report(done / len(runs), f"Measuring “{run.name}”.")
            stored(measured(canary, run, predecessor(run, runs)))
    return {"detail": f"“{canary.name}”: {len(runs)} runs.", "url": canary.get_absolute_url()}


def stored(value: CanaryValue) -> bool:
    """Store a value; False where there is one already, so that an event is told once."""
    try:
        with transaction.atomic():
            value.save()
    except IntegrityError:
        return False
    return True
