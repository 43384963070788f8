"""Webhooks: signed with a secret that stays here, and led by no name or number into a private network."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from base64 import b64encode
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import tell
from evaluation.canaries.watching import Alerts
from evaluation.canaries.webhooks import (
    ID,
    SIGNATURE,
    TIME,
    post_signed,
    problem_of,
    signature,
)
from evaluation.models import CanaryDelivery
from pooling.engines.connections import AllowedNetworks, RefusedAddressError, refuse_private
from tests.evaluation.canary_cast import LOOPBACK, SECRET, make_canary, receiving
from tests.world import World

TOKEN = "T0/path-that-is-a-password"


def test_a_signature_is_that_of_the_specification() -> None:
    """Secret, message and signature are the example that libraries of the standard are tested with."""
    secret, message = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    signed = signature(secret, message, "1614265330", b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("secret", ["a plain secret of some length", "whsec_not base64!"])
def test_of_any_other_secret_its_own_bytes_are_the_key(secret: str) -> None:
    by_hand = b64encode(hmac.new(secret.encode(), b"msg_1.2.{}", hashlib.sha256).digest()).decode()
    assert signature(secret, "msg_1", "2", b"{}") == f"v1,{by_hand}"


def test_what_arrives_can_be_checked_and_holds_the_secret_nowhere() -> None:
    with receiving() as received:
        assert post_signed(received.url, b'{"a": 1}', SECRET, allowed=LOOPBACK).sent
    ((headers, _),) = received.raw
    assert headers[SIGNATURE] == signature(SECRET, headers[ID], headers[TIME], b'{"a": 1}')
    assert SECRET not in str(headers)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",  # 127 · 2^24 + 1
        "0x7f.1",
        "017700000001",
        "0",
        "169.254.169.254",  # where clouds tell credentials
        "[::ffff:127.0.0.1]",
        "[::1]",
        "localhost",
    ],
)
def test_however_a_private_address_is_written_nothing_is_sent_there(host: str) -> None:
    with receiving() as received:
        port = received.url.rpartition(":")[2].partition("/")[0]
        outcome = post_signed(f"http://{host}:{port}/{TOKEN}", b"{}", SECRET, seconds=2)
    assert not outcome.sent
    assert "SOUNDINGS_WEBHOOK_PRIVATE_NETWORKS" in outcome.detail  # what would allow it
    assert TOKEN not in outcome.detail
    assert received.bodies == []


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let the name server answer with these addresses, one list each time; the names it was asked for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def looked_up(host: Any, port: Any, *rest: Any, **options: Any) -> Any:
        if host != "hooks.example.org":
            return real(host, port, *rest, **options)
        found = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    return asked


def test_a_name_is_looked_up_once_so_it_cannot_lead_elsewhere_a_moment_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = names(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    with receiving() as received:
        url = received.url.replace("127.0.0.1", "hooks.example.org")
        assert post_signed(url, b"{}", SECRET, allowed=LOOPBACK).sent
    assert asked == ["hooks.example.org"]
    assert received.raw[0][0]["Host"].startswith("hooks.example.org:")


def test_one_private_address_among_several_refuses_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, ["127.0.0.1", "10.0.0.7"])
    with receiving() as received:
        url = received.url.replace("127.0.0.1", "hooks.example.org")
        outcome = post_signed(url, b"{}", SECRET, allowed=LOOPBACK)
    assert {"hooks.example.org", "10.0.0.7"} <= set(outcome.detail.replace(",", "").split())
    assert received.bodies == []


@pytest.mark.parametrize("address", ["168.63.129.16", "192.0.0.192", "::ffff:168.63.129.16"])
def test_addresses_of_a_clouds_own_services_are_not_public(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    names(monkeypatch, [address])
    outcome = post_signed("http://hooks.example.org/", b"{}", SECRET, allowed=LOOPBACK)
    assert "not a public address" in outcome.detail


@pytest.mark.parametrize("host", ["a..b", f"{'a' * 64}.example"])
def test_a_host_that_no_name_can_be_is_told_in_a_sentence(host: str) -> None:
    outcome = post_signed(f"http://{host}/", b"{}", SECRET, allowed=LOOPBACK)
    assert (outcome.sent, outcome.detail) == (False, "Unknown host name.")


@pytest.mark.parametrize(
    ("network", "address", "goes"),
    [
        ("10.0.0.0/8", "10.9.9.9", True),
        ("10.0.0.0/8", "::ffff:10.9.9.9", True),  # the same, mapped
        ("10.0.0.0/8", "11.0.0.1", True),  # public anyway
        ("10.0.0.0/8", "192.168.0.1", False),
        ("fd00::/8", "fd00::1", True),
        ("fd00::/8", "fc00::1", False),
        ("::/0", "10.0.0.1", False),  # everything of version 6 is nothing of version 4
    ],
)
def test_an_allowed_network_opens_itself_alone(network: str, address: str, goes: bool) -> None:
    allowed = AllowedNetworks([ipaddress.ip_network(network)], "A_SETTING")
    if goes:
        refuse_private("host", [address], allowed)
        return
    with pytest.raises(RefusedAddressError):
        refuse_private("host", [address], allowed)


@pytest.mark.parametrize(
    "url",
    [
        "https://host/\r\nX-Header: 1",
        "https://host/a b",
        "https://host\t/",
        "http://[::1",
        "https://host:70000/",
        "https://:443/",
        "//host/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://token@host/",
    ],
)
def test_what_could_be_read_in_two_ways_is_no_address(url: str) -> None:
    told = problem_of(url)
    assert told
    assert "token" not in told


@pytest.mark.django_db
def test_a_path_that_is_a_password_is_neither_logged_nor_written_down(
    world: World,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    caplog.set_level("DEBUG")
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    alerts = Alerts(0.7, webhook_url=f"http://127.0.0.1:9/{TOKEN}", secret=SECRET)
    with django_capture_on_commit_callbacks(execute=True):
        tell([News(make_canary(world, alerts))])
    written = [list(CanaryDelivery.objects.values()), list(world.collection.admin_actions.values())]
    assert CanaryDelivery.objects.get().tries == 1
    assert TOKEN not in f"{written} {caplog.text}"
    assert SECRET not in f"{written} {caplog.text} {alerts!r}"
