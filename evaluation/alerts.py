"""Messages about canaries: what they say, to whom they go, and what became of each."""

from __future__ import annotations

import json
from datetime import timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Q
from django.utils import timezone

from evaluation.canaries import BELOW, DROP, is_clear
from evaluation.models import Canary, CanaryDelivery, CanaryValue
from evaluation.webhooks import PAUSES, TRIES, Outcome, host_of, post_signed
from pooling.jobs import Report, job_kind, start_job
from pooling.models import Job
from pooling.problems import InputError
from pooling.secrets import unseal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# A message that waits for longer has lost its worker.
LOST_AFTER = timedelta(minutes=10)

Channel, State = CanaryDelivery.Channel, CanaryDelivery.State


def tell(canary: Canary, value: CanaryValue | None, user: User | None) -> list[CanaryDelivery]:
    """Have a message sent to every receiver of a canary by the background worker; without a value, a test."""
    receivers = [(Channel.WEBHOOK, host_of(canary.webhook_url))] if canary.webhook_url else []
    receivers += [(Channel.MAIL, address) for address in canary.mail_to]
    made = []
    for channel, receiver in receivers:
        delivery = CanaryDelivery.objects.create(
            canary=canary, value=value, channel=channel, receiver=receiver
        )
        start_job(canary.collection, "canary message", {"delivery": delivery.pk}, user)
        made.append(delivery)
    return made


def send_again(delivery: CanaryDelivery, user: User | None) -> None:
    """Send a failed or lost message once more; `InputError` for one that arrived or is on its way."""
    lost = Q(state=State.WAITING, created_at__lt=timezone.now() - LOST_AFTER)
    changed = CanaryDelivery.objects.filter(Q(state=State.FAILED) | lost, pk=delivery.pk)
    if not changed.update(state=State.WAITING, detail="", ended_at=None):
        raise InputError("This message has arrived or is on its way; wait a little.", conflict=True)
    start_job(delivery.canary.collection, "canary message", {"delivery": delivery.pk}, user)


@job_kind("canary message", can_be_cancelled=False)
def _send(job: Job, report: Report) -> dict[str, Any]:
    deliveries = CanaryDelivery.objects.select_related(
        "canary__collection", "canary__release", "value__run", "value__previous"
    )
    delivery = deliveries.filter(pk=job.arguments["delivery"], canary__collection=job.collection).first()
    if delivery is None:
        raise InputError("The message is gone; its canary was deleted.")
    canary = delivery.canary
    if delivery.state == State.WAITING:
        report(0.1, f"Sending to {delivery.receiver}.")
        outcome = (_post if delivery.channel == Channel.WEBHOOK else _mail)(delivery)
        delivery.tries += outcome.tries
        delivery.state = State.SENT if outcome.sent else State.FAILED
        delivery.detail, delivery.ended_at = outcome.detail, timezone.now()
        delivery.save(update_fields=["tries", "state", "detail", "ended_at"])
    return {"detail": f"{delivery.receiver}: {delivery.state}.", "url": canary.get_absolute_url()}


def _post(delivery: CanaryDelivery) -> Outcome:
    canary = delivery.canary
    if not canary.webhook_url or host_of(canary.webhook_url) != delivery.receiver:
        return Outcome(False, 0, "The canary has another webhook by now, or none.")
    try:
        secret = unseal(canary.sealed_secret)
    except InputError as error:
        return Outcome(False, 0, str(error))
    body = json.dumps(payload(canary, delivery.value), ensure_ascii=False).encode()
    return post_signed(
        canary.webhook_url,
        body,
        secret,
        headers={"X-Soundings-Delivery": str(delivery.pk)},
        allowed=settings.WEBHOOK_PRIVATE_NETWORKS,
        pause=pause,
    )


def _mail(delivery: CanaryDelivery) -> Outcome:
    if not settings.SENDS_MAIL:
        return Outcome(False, 0, "The site has no mail server; it is set with SOUNDINGS_MAIL_URL.")
    canary = delivery.canary
    said = payload(canary, delivery.value)
    subject = " ".join(f"{canary.collection.name}: {said['title']}".split())
    lines = [said["text"], "", said["canary"]["url"]]
    detail = ""
    for number in range(1, TRIES + 1):
        try:
            send_mail(subject, "\n".join(lines), None, [delivery.receiver])
        except (OSError, SMTPException) as error:
            detail = f"The mail server did not take it: {type(error).__name__}."
        else:
            return Outcome(True, number, "The mail server took it.")
        if number < TRIES:
            pause(PAUSES[number - 1])
    return Outcome(False, TRIES, detail)


def pause(seconds: float) -> None:
    """Wait before the next try."""
    import time

    time.sleep(seconds)


def payload(canary: Canary, value: CanaryValue | None) -> dict[str, Any]:
    """What a webhook gets; `text` and `title` say the same for people."""
    about = {
        "collection": canary.collection.slug,
        "canary": {
            "id": canary.pk,
            "name": canary.name,
            "release": canary.release.name,
            "tag": canary.tag or None,
            "measure": canary.measure,
            "threshold": canary.threshold,
            "confidence": canary.confidence,
            "url": f"{canary.site.rstrip('/')}{canary.get_absolute_url()}",
        },
    }
    if value is None:
        text = f"This is a test of canary “{canary.name}” ({canary.measure}, threshold {canary.threshold:g})."
        return {"event": "test", "title": f"test of canary “{canary.name}”", "text": text, **about}
    before = None
    if value.difference is not None:
        before = {
            "run": value.previous.name if value.previous else None,
            "difference": value.difference,
            "low": value.difference_low,
            "high": value.difference_high,
        }
    return {
        "event": "alert",
        "title": f"{value.run.name} on canary “{canary.name}”",
        "text": " ".join(sentences(canary, value)),
        "reasons": list(value.reasons),
        **about,
        "run": {
            "name": value.run.name,
            "family": value.family,
            "imported_at": value.run.imported_at.isoformat(),
        },
        "value": {name: getattr(value, name) for name in ("mean", "low", "high", "queries")},
        "clear": is_clear(canary.threshold, value.high),
        "change": before,
    }


def sentences(canary: Canary, value: CanaryValue) -> list[str]:
    """Why a value is told, each reason in a sentence with its numbers."""
    from evaluation.wording import decimal, interval, share_in_words

    shown = f"{decimal(value.mean)}{interval({'low': value.low, 'high': value.high})}"
    count = f"{value.queries:,} quer{'y' if value.queries == 1 else 'ies'}"
    said = []
    if BELOW in value.reasons:
        clear = is_clear(canary.threshold, value.high)
        whether = "the whole interval is" if clear else "the interval is not wholly below, so it may be noise"
        said.append(
            f"{value.run.name}: {canary.measure} is {shown} over {count}, below the threshold of "
            f"{canary.threshold:g}; {whether}."
        )
    if DROP in value.reasons:
        before = value.previous.name if value.previous else "the run before"
        ends = interval({"low": value.difference_low, "high": value.difference_high})
        said.append(
            f"{value.run.name} fell beyond noise: {canary.measure} changed by {value.difference:+.3f}{ends} "
            f"since {before} ({share_in_words(canary.confidence)} interval of the paired difference)."
        )
    return said
