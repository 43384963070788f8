"""Messages about canaries on their way: told means delivered.

A message is a row. What has not arrived is tried again for a day, with growing pauses, by tasks that the
worker does not see before their time. All messages of one task are sent at once, and each attempt has a
deadline, so that no receiver holds up the worker or another receiver's message. Who dies while sending leaves
the row behind, and `resume_messages` sends it.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Some
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import get_connection, send_mail
from django.db import transaction
from django.utils import timezone
from django_tasks import task

from evaluation.canaries.alerts import News, payload
from evaluation.canaries.webhooks import SECONDS, DeliveryOutcome, post_signed
from evaluation.models import Canary, CanaryDelivery, CanaryNews, Webhook
from pooling.engines.connections import host_of, no_answer
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.letters import HOUR, account, may_send
from pooling.storage.secrets import unseal

logger = logging.getLogger(__name__)

KEPT_UP = timedelta(days=1)
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=2)
# Anyone who has been sending for longer than this has died.
SENDING = timedelta(minutes=1)
# New messages go before those that wait for a receiver that is away.
LATER = -10

# What is too many for this hour is asked for again when it is over.
TOO_MANY = DeliveryOutcome(
    False, "Too many mails in this hour: to this address, or by the account of the canary.", tried=False
)

# Messages of one task, each of which takes a thread.
AT_ONCE = 50

Channel, State = CanaryDelivery.Channel, CanaryDelivery.State
Attempt = Callable[[], DeliveryOutcome]


@dataclass(frozen=True)
class Receiver:
    channel: str
    address: str

    @property
    def name_in_logs(self) -> str:
        """The receiver without its secrets."""
        return host_of(self.address) if self.channel == Channel.WEBHOOK else self.address


def receivers_of(canary: Canary) -> list[Receiver]:
    hooks = [Receiver(Channel.WEBHOOK, canary.webhook_url)] if canary.webhook_url else []
    return [*hooks, *(Receiver(Channel.MAIL, address) for address in canary.mail_to)]


@transaction.atomic
def tell(news: Sequence[News], *, but_not: Some[Receiver] = ()) -> list[CanaryDelivery]:
    """Have one message about one event, these pieces of news, sent to every receiver by the worker."""
    groups: dict[tuple[Receiver, str], list[News]] = defaultdict(list)
    for piece in news:
        for receiver in receivers_of(piece.canary):
            if receiver not in but_not:
                groups[receiver, _signing(piece.canary, receiver)].append(piece)
    _announce_falls(news)
    now, made = timezone.now(), []
    for (receiver, _), pieces in groups.items():
        delivery = CanaryDelivery.objects.create(
            collection=pieces[0].canary.collection,
            channel=receiver.channel,
            receiver=receiver.name_in_logs,
            next_try_at=now,
            give_up_at=now + KEPT_UP,
        )
        CanaryNews.objects.bulk_create(
            CanaryNews(
                delivery=delivery,
                canary=piece.canary,
                value=piece.value,
                reasons=list(piece.reasons),
                trouble=piece.trouble,
            )
            for piece in pieces
        )
        made.append(delivery)
    _hand_over([delivery.pk for delivery in made], now)
    return made


@transaction.atomic
def announce(
    hooks: Sequence[Webhook], event: str, data: Mapping[str, object], *, subject: str = ""
) -> list[CanaryDelivery]:
    """Tell a collection's webhooks by Standard Webhooks (`type`, `timestamp`, `data`), once per `subject`."""
    now, made = timezone.now(), []
    for hook in hooks:
        if subject and hook.deliveries.filter(subject=subject).exists():
            continue
        made.append(
            CanaryDelivery.objects.create(
                collection=hook.collection,
                webhook=hook,
                channel=Channel.WEBHOOK,
                receiver=host_of(hook.url),
                body={"type": event, "timestamp": now.isoformat(), "data": dict(data)},
                subject=subject,
                next_try_at=now,
                give_up_at=now + KEPT_UP,
            )
        )
    _hand_over([delivery.pk for delivery in made], now)
    return made


def hooks_for(collection: Collection, event: str) -> list[Webhook]:
    return [hook for hook in collection.webhooks.select_related("collection") if event in hook.events]


def _announce_falls(news: Sequence[News]) -> None:
    fallen = [piece for piece in news if piece.value is not None and piece.reasons]
    hooks = hooks_for(fallen[0].canary.collection, Webhook.Event.CANARY_FELL) if fallen else []
    for piece in fallen if hooks else []:
        assert piece.value is not None
        subject = f"canary {piece.canary.pk}, value {piece.value.pk}"
        for hook in hooks:
            data = payload([piece], site=hook.site)["alerts"][0]
            announce([hook], Webhook.Event.CANARY_FELL, data, subject=subject)


def _signing(canary: Canary, receiver: Receiver) -> str:
    """A key for each secret, since canaries with other secrets sign their own messages to one webhook."""
    if receiver.channel != Channel.WEBHOOK:
        return ""
    try:
        return unseal(canary.sealed_secret)
    except InputError:
        return canary.sealed_secret


@transaction.atomic
def send_test(canary: Canary) -> list[CanaryDelivery]:
    """Have a test sent to every receiver; `InputError` without one, or while the one before still waits."""
    waiting = CanaryDelivery.objects.filter(
        news__canary=canary, channel=Channel.MAIL, state=State.WAITING, tries=0
    )
    if waiting.exists():
        raise InputError("Mails of this canary are waiting to be sent. Test it when they have gone.")
    sent = tell([News(canary)])
    if not sent:
        raise InputError("This canary has no receivers. Add a webhook or an email address first.")
    return sent


def send_again(delivery: CanaryDelivery) -> None:
    """Try a message that has not arrived at once, and for another day; `InputError` for any other."""
    now = timezone.now()
    waiting = CanaryDelivery.objects.filter(pk=delivery.pk, state__in=(State.WAITING, State.FAILED))
    with transaction.atomic():
        if not waiting.update(state=State.WAITING, next_try_at=now, give_up_at=now + KEPT_UP, ended_at=None):
            raise InputError("This message has been delivered or is being sent.", conflict=True)
        _hand_over([delivery.pk], now)


def resume_messages() -> int:
    """Have every message sent that has not arrived, each at its time; how many there are.

    For when the site starts: nothing that a stopped worker had begun or should have done later is lost. A
    message that is known to the worker already is sent once all the same.
    """
    rows = CanaryDelivery.objects.filter(state__in=(State.WAITING, State.SENDING))
    due: dict[datetime, list[int]] = defaultdict(list)
    for key, at in rows.values_list("pk", "next_try_at"):
        due[at].append(key)
    for at, keys in due.items():
        _hand_over(keys, at)
    return sum(map(len, due.values()))


def _hand_over(deliveries: Sequence[int], at: datetime) -> None:
    """Have messages sent at a time, where the tasks can wait; otherwise only those whose time has come."""
    wait = at > timezone.now()
    if wait and not send_messages.get_backend().supports_defer:
        return
    sender = send_messages.using(run_after=at, priority=LATER) if wait else send_messages
    for start in range(0, len(deliveries), AT_ONCE):
        transaction.on_commit(partial(sender.enqueue, list(deliveries[start : start + AT_ONCE])))


@task(queue_name="messages")
def send_messages(deliveries: list[int]) -> None:
    """Try those of these messages whose time has come, all at once; what does not arrive is put back."""
    claimed = [key for key in deliveries if _claimed(key)]
    rows = (
        CanaryDelivery.objects.filter(pk__in=claimed)
        .order_by("pk")
        .select_related("webhook")
        .prefetch_related(
            "news__canary__collection",
            "news__canary__created_by",
            "news__canary__release",
            "news__value__run",
            "news__value__previous",
            "news__value__reference",
        )
    )
    messages = list(rows)
    later: dict[datetime, list[int]] = defaultdict(list)
    for delivery, outcome in zip(messages, _all_at_once([_attempt(one) for one in messages]), strict=True):
        _note(delivery, outcome)
        if delivery.state == State.WAITING:
            later[delivery.next_try_at].append(delivery.pk)
    for at, keys in later.items():
        _hand_over(keys, at)


def _claimed(delivery: int) -> bool:
    """Take a message for sending, in one statement: of two tasks one gets True."""
    now = timezone.now()
    due = CanaryDelivery.objects.filter(
        pk=delivery, state__in=(State.WAITING, State.SENDING), next_try_at__lte=now
    )
    return bool(due.update(state=State.SENDING, next_try_at=now + SENDING))


def _note(delivery: CanaryDelivery, outcome: DeliveryOutcome) -> None:
    """Store what became of an attempt, and when the next is."""
    now = timezone.now()
    delivery.tries += outcome.tried
    delivery.detail = outcome.detail
    if outcome is TOO_MANY and now < delivery.give_up_at:
        delivery.state = State.WAITING
        delivery.next_try_at = min(now + HOUR, delivery.give_up_at)
    elif outcome.sent or not outcome.tried or now >= delivery.give_up_at:
        delivery.state = State.SENT if outcome.sent else State.FAILED
        delivery.ended_at = now
    else:
        delivery.state = State.WAITING
        delivery.next_try_at = min(now + pause_after(delivery.tries), delivery.give_up_at)
    delivery.save(update_fields=["tries", "detail", "state", "ended_at", "next_try_at", "receiver"])


def pause_after(tries: int) -> timedelta:
    """Twice as long after each try, from half a minute to two hours.

    >>> [pause_after(tries).seconds for tries in (1, 2, 8, 9, 100)]
    [30, 60, 3840, 7200, 7200]
    """
    return min(FIRST_PAUSE * (1 << min(tries - 1, 20)), LONGEST_PAUSE)


def _all_at_once(attempts: Sequence[Attempt]) -> list[DeliveryOutcome]:
    """Carry out all attempts in threads, waiting for none beyond the deadline that each has as well."""
    if not attempts:
        return []
    pool = ThreadPoolExecutor(len(attempts))
    running = [pool.submit(attempt) for attempt in attempts]
    done, _ = wait(running, timeout=SECONDS + 1)
    pool.shutdown(wait=False)
    return [
        _outcome_of(one) if one in done else DeliveryOutcome(False, no_answer(SECONDS)) for one in running
    ]


def _outcome_of(attempt: Future[DeliveryOutcome]) -> DeliveryOutcome:
    try:
        return attempt.result()
    except Exception:
        logger.exception("a message about a canary could not be sent")
        return DeliveryOutcome(False, "Something went wrong; the server log has the details.")


def _attempt(delivery: CanaryDelivery) -> Attempt:
    if delivery.webhook is not None:
        return _to_hook(delivery, delivery.webhook)
    news = [
        News(piece.canary, piece.value, tuple(piece.reasons), piece.trouble) for piece in delivery.news.all()
    ]
    if not news:
        return lambda: DeliveryOutcome(False, "The run it reports on was deleted.", tried=False)
    if delivery.channel == Channel.WEBHOOK:
        return _post(delivery, news)
    return _mail(delivery, news)


def _to_hook(delivery: CanaryDelivery, hook: Webhook) -> Attempt:
    try:
        secret = unseal(hook.sealed_secret)
    except InputError as error:
        problem = str(error)
        return lambda: DeliveryOutcome(False, problem, tried=False)
    delivery.receiver = host_of(hook.url)
    return _signed(hook.url, json.dumps(delivery.body, ensure_ascii=False), secret, delivery)


def _signed(url: str, body: str, secret: str, delivery: CanaryDelivery) -> Attempt:
    allowed, message = settings.WEBHOOK_PRIVATE_NETWORKS, str(delivery.pk)
    content = body.encode()
    return lambda: post_signed(url, content, secret, message=message, allowed=allowed, seconds=SECONDS)


def _post(delivery: CanaryDelivery, news: Sequence[News]) -> Attempt:
    """To the address that one of the canaries has now, if that can be the one it was made for."""
    hooks = [piece.canary for piece in news if piece.canary.webhook_url]
    hooks.sort(key=lambda canary: host_of(canary.webhook_url) != delivery.receiver)
    if not hooks:
        return lambda: DeliveryOutcome(False, "The canary no longer has a webhook.", tried=False)
    url = hooks[0].webhook_url
    delivery.receiver = host_of(url)
    try:
        secret = unseal(hooks[0].sealed_secret)
    except InputError as error:
        problem = str(error)
        return lambda: DeliveryOutcome(False, problem, tried=False)
    content = payload(news)
    about = {"type": f"canary.{content['event']}", "timestamp": delivery.created_at.isoformat()}
    return _signed(url, json.dumps({**about, **content}, ensure_ascii=False), secret, delivery)


def _mail(delivery: CanaryDelivery, news: Sequence[News]) -> Attempt:
    receiver, author = delivery.receiver, news[0].canary.created_by
    if not settings.SENDS_MAIL:
        problem = "The site has no mail server. Set SOUNDINGS_MAIL_URL."
        return lambda: DeliveryOutcome(False, problem, tried=False)
    if not any(receiver in piece.canary.mail_to for piece in news):
        return lambda: DeliveryOutcome(False, "The canary no longer has this address.", tried=False)
    by = account(author) if author else f"collection {delivery.collection_id}"
    # Counted once, however often the mail server is tried.
    if not (delivery.tries or may_send(to=receiver, by=by, about="canaries")):
        return lambda: TOO_MANY
    content = payload(news)
    subject = " ".join(f"{news[0].canary.collection.name}: {content['title']}".split())
    links = list(dict.fromkeys(one["canary"]["url"] for one in content["alerts"]))
    text = "\n".join([content["text"], "", *links])

    def send() -> DeliveryOutcome:
        try:
            send_mail(subject, text, None, [receiver], connection=get_connection(timeout=SECONDS))
        except (OSError, SMTPException) as error:
            return DeliveryOutcome(False, f"The mail server rejected it: {type(error).__name__}.")
        return DeliveryOutcome(True, "The mail server accepted it.")

    return send
