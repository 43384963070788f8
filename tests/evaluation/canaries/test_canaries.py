"""Canaries: what a new run is held against, what is told of it and to whom, once, and never of noise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core import mail
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import tell
from evaluation.canaries.regressions import family_of
from evaluation.canaries.watching import Alerts, change_alerts
from evaluation.canaries.webhooks import ID, SIGNATURE, TIME, problem_of, signature
from evaluation.models import Canary, CanaryDelivery, CanaryValue
from pooling.engines.connections import AllowedNetworks, RefusedAddressError, refuse_private
from pooling.interface.problems import InputError
from pooling.jobs.running import start_job
from pooling.models import Job, Run
from tests.evaluation.canaries.test_webhooks import names
from tests.evaluation.canary_cast import (
    LOOPBACK,
    SECRET,
    Receiver,
    import_with_recall,
    make_canary,
    receiving,
)
from tests.world import World


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    with receiving() as received:
        yield received


def new_run(
    world: World, capture: DjangoCaptureOnCommitCallbacks, name: str, whole: int, half: int = 0
) -> Run:
    """Import a run, and let the background do what it has to."""
    with capture(execute=True):
        return import_with_recall(world, name, whole, half)


def canary_of(world: World, capture: DjangoCaptureOnCommitCallbacks, **alerts: object) -> Canary:
    with capture(execute=True):
        return make_canary(world, Alerts(**{"threshold": 0.7, **alerts}))  # type: ignore[arg-type]


def test_a_fall_below_the_threshold_and_beyond_noise_is_told_once(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    canary = canary_of(world, capture, webhook_url=receiver.url, secret=SECRET)
    new_run(world, capture, "dense-v1", 18)
    assert receiver.bodies == []
    run = new_run(world, capture, "dense-v2", 8)

    (told,) = receiver.bodies
    assert told["event"] == "alert"
    assert told["reasons"] == ["below", "drop"]
    assert (told["run"]["name"], told["run"]["family"]) == ("dense-v2", "dense")
    assert told["value"]["mean"] == pytest.approx(0.4)
    assert told["value"]["queries"] == 20
    assert told["clear"] is True
    assert told["change"]["run"] == "dense-v1"
    assert told["change"]["difference"] == pytest.approx(-0.5)
    assert told["change"]["high"] < 0
    assert "below the threshold of 0.7; the whole interval is." in told["text"]
    headers, body = receiver.raw[0]
    assert headers[SIGNATURE] == signature(SECRET, headers[ID], headers[TIME], body)
    # Measured again, it is known already.
    with capture(execute=True):
        start_job(world.collection, "canaries", {"run": run.pk}, None)
    assert len(receiver.bodies) == 1
    assert CanaryValue.objects.filter(canary=canary).count() == 2
    assert CanaryDelivery.objects.get().state == "sent"


def test_a_drop_within_noise_is_not_told(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    canary_of(world, capture, webhook_url=receiver.url, secret=SECRET)
    new_run(world, capture, "dense-v1", 18)
    new_run(world, capture, "dense-v2", 17, 1)  # one query of twenty lost one of its two documents

    value = CanaryValue.objects.get(run__name="dense-v2")
    assert value.difference == pytest.approx(-0.025)
    assert value.difference_high >= 0.0
    assert (value.reasons, receiver.bodies) == ([], [])


def test_a_value_that_stays_below_is_not_told_again_and_families_are_apart(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    canary_of(world, capture, webhook_url=receiver.url, secret=SECRET)
    new_run(world, capture, "sparse", 20)
    for version in (1, 2):
        new_run(world, capture, f"dense-v{version}", 10)

    assert [told["run"]["name"] for told in receiver.bodies] == ["dense-v1"]
    assert receiver.bodies[0]["change"] is None  # the sparse run is of another family


def test_when_asked_for_only_a_clear_crossing_is_told(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    canary_of(world, capture, webhook_url=receiver.url, secret=SECRET, only_clear=True)
    new_run(world, capture, "dense-v1", 13)  # 0.65, with an interval around 0.7
    assert receiver.bodies == []
    new_run(world, capture, "sparse-v1", 2)

    assert [told["run"]["name"] for told in receiver.bodies] == ["sparse-v1"]


def test_of_runs_that_were_there_before_only_what_lasts_is_told(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    from tests.evaluation.canary_cast import make_queries

    make_queries(world)
    new_run(world, capture, "dense-v1", 18)
    new_run(world, capture, "dense-v2", 8)
    canary_of(world, capture, webhook_url=receiver.url, secret=SECRET)

    assert [value.reasons for value in CanaryValue.objects.all()] == [[], ["below", "drop"]]
    # But that the newest is below: nobody would hear of it later.
    assert [told["reasons"] for told in receiver.bodies] == [["below"]]


def test_private_addresses_are_refused_by_default(
    world: World,
    receiver: Receiver,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.WEBHOOK_PRIVATE_NETWORKS = []
    names(monkeypatch, ["127.0.0.1"])
    url = receiver.url.replace("127.0.0.1", "hooks.example.org")  # looked up when it is sent
    canary = canary_of(world, django_capture_on_commit_callbacks, webhook_url=url, secret=SECRET)
    with django_capture_on_commit_callbacks(execute=True):
        tell([News(canary)])

    sent = CanaryDelivery.objects.get()
    assert (sent.state, sent.tries, receiver.bodies) == ("waiting", 1, [])
    assert "not a public address" in sent.detail
    assert "SOUNDINGS_WEBHOOK_PRIVATE_NETWORKS" in sent.detail


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2002:808:808::",
        "2001:0:53aa:64c::f5ff:fffe",
        "64:ff9b:1::808:808",
        "::a00:1",
        "::",
        "fec0::1",
        "ff02::1",
        "100::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
    ],
)
def test_no_address_leads_into_a_private_network(address: str) -> None:
    with pytest.raises(RefusedAddressError):
        refuse_private("host", ["8.8.8.8", address], AllowedNetworks(LOOPBACK[1:], "A_SETTING"))
    refuse_private("host", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"], AllowedNetworks([], "A_SETTING"))


@pytest.mark.parametrize(
    "url",
    ["ftp://host/", "http://", "https://user:word@host/", "http://host:0/", "http://host:x/", "http://h/ä b"],
)
def test_what_is_no_address_of_a_webhook_is_refused(url: str) -> None:
    assert problem_of(url)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST.", "hooks.localhost", "127.1", "127.0.0.1.", "2130706433", "0x7f000001"),
        *("0177.0.0.1", "0", "10.1", "[::1]", "[fe80::1%25eth0]"),
    ],
)
def test_no_spelling_of_a_private_address_is_taken(host: str) -> None:
    refusal = problem_of(f"https://{host}/hook")
    assert refusal
    assert "SOUNDINGS_WEBHOOK_PRIVATE_NETWORKS" in refusal
    assert problem_of("https://127.1/", LOOPBACK) is None
    assert problem_of("https://localhost.example.org/") is None


def test_mail_goes_out_where_there_is_a_mail_server(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.SENDS_MAIL = True
    capture = django_capture_on_commit_callbacks
    canary_of(world, capture, mail_to=["ops@example.org"])
    new_run(world, capture, "dense", 2)

    (letter,) = mail.outbox
    assert letter.to == ["ops@example.org"]
    assert letter.subject == "Harbour: dense on canary “nightly”"
    assert "recall@2 is 0.100" in letter.body
    settings.SENDS_MAIL = False
    new_run(world, capture, "sparse", 2)
    assert "SOUNDINGS_MAIL_URL" in CanaryDelivery.objects.first().detail  # type: ignore[union-attr]


def test_what_cannot_be_watched_is_refused_with_its_field(world: World) -> None:
    make_canary(world)
    for options, alerts, field in [
        ({"measure": "recall"}, {}, "measure"),
        ({"measure": "ndgc@3"}, {}, "measure"),
        ({"tag": "rare"}, {}, "tag"),
        ({"release": "none"}, {}, "release"),
        ({"confidence": 1.0}, {}, "confidence"),
        ({}, {"threshold": 1.5}, "threshold"),
        ({}, {"webhook_url": "ftp://host/"}, "webhook_url"),
        ({}, {"webhook_url": "https://host/"}, "secret"),
        ({}, {"webhook_url": "https://host/", "secret": "short"}, "secret"),
        ({}, {"mail_to": ["nobody"]}, "mail_to"),
        ({"name": "nightly"}, {}, "name"),
    ]:
        with pytest.raises(InputError) as error:
            make_canary(world, Alerts(**{"threshold": 0.7, **alerts}), **{"name": "other", **options})  # type: ignore[arg-type]
        assert list(error.value.fields) == [field]
        assert Canary.objects.count() == 1


def test_the_secret_is_stored_encrypted_and_stays_when_none_is_given(world: World) -> None:
    canary = make_canary(world, Alerts(0.7, webhook_url="https://example.org/hook", secret=SECRET))
    change_alerts(canary, Alerts(0.5, webhook_url="https://example.org/other"), world.ada)
    canary.refresh_from_db()

    from pooling.storage.secrets import unseal

    assert SECRET not in canary.sealed_secret
    assert unseal(canary.sealed_secret) == SECRET
    told = [*Job.objects.values_list("arguments", "detail"), *world.collection.admin_actions.values_list()]
    assert SECRET not in repr(told)


def test_runs_of_one_family_differ_by_their_version() -> None:
    names = ["dense-v2", "dense_2026-11-20", "dense.3", "bm25", "bm25-v3", "e5-base", "42"]
    assert [family_of(name) for name in names] == ["dense", "dense", "dense", "bm25", "bm25", "e5-base", "42"]


def test_a_run_that_nobody_judged_is_told_with_its_coverage_and_claims_no_fall(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    canary_of(world, capture, webhook_url=receiver.url, secret=SECRET, mail_to=["ops@example.org"])
    new_run(world, capture, "dense-v1", 18)
    with capture(execute=True):
        import_with_recall(world, "dense-v2", 0, others=("x-1", "x-2"))

    (told,) = receiver.bodies
    assert told["reasons"] == told["undecided"] == ["below", "drop"]
    assert told["value"]["judged"] == 0.0
    text = told["text"]
    assert "not estimated, judged@2 0.0 %, below the threshold of 0.7" in text
    assert "fell by these labels: recall@2 changed by −0.900" in text
    assert "That may only be its unjudged documents." in text
    assert "Judge them, or check the ids of the run." in text
    assert "No document of its first 2 is judged, such as “x-1”, “x-2”; none of 2 documents looked up" in text
    assert "beyond noise" not in text


def test_a_fall_that_no_label_can_take_back_is_beyond_noise(
    world: World, receiver: Receiver, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    capture = django_capture_on_commit_callbacks
    canary_of(world, capture, webhook_url=receiver.url, secret=SECRET)
    new_run(world, capture, "dense-v1", 20)
    with capture(execute=True):  # one of its two places is unjudged in eight queries, the other is wrong
        import_with_recall(world, "dense-v2", 12, others=("d5", "new"))

    (told,) = receiver.bodies
    assert (told["reasons"], told["undecided"]) == (["below", "drop"], ["below"])
    assert told["value"]["judged"] == pytest.approx(0.8)
    assert "fell beyond noise" in told["text"]


@pytest.mark.parametrize("measure", ["precision@2", "ndcg@2"])
def test_other_measures_are_held_to_their_coverage_too(
    world: World, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, measure: str
) -> None:
    capture = django_capture_on_commit_callbacks
    with capture(execute=True):
        make_canary(world, measure=measure)
    new_run(world, capture, "dense-v1", 20)
    new_run(world, capture, "dense-v2", 8)
    with capture(execute=True):
        import_with_recall(world, "dense-v3", 0, others=("x-1", "x-2"))

    values = CanaryValue.objects.order_by("run_id")
    assert [value.undecided for value in values] == [[], [], ["below", "drop"]]
    assert [value.judged for value in values] == [1.0, 1.0, 0.0]
