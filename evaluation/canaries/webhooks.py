"""Sending a signed message to somebody's server: bounded in time, never into a private network."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from socket import inet_aton, inet_ntoa
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pooling.engines.connections import (
    AllowedNetworks,
    Deadline,
    Network,
    RefusedAddressError,
    guarded,
    in_words,
    is_of_the_network,
    refuse_private,
)

if TYPE_CHECKING:
    import httpcore2

SECONDS = 5.0  # for an attempt in all
# Standard Webhooks (www.standardwebhooks.com), for which there are libraries.
ID, TIME, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
BASE64_SECRET = "whsec_"  # noqa: S105  what a secret begins with whose rest is Base64
PRIVATE_NETWORKS = "SOUNDINGS_WEBHOOK_PRIVATE_NETWORKS"


@dataclass(frozen=True)
class DeliveryOutcome:
    """`detail` is the answer or the error; `tried` is False where nothing was sent."""

    sent: bool
    detail: str
    tried: bool = True


def problem_of(url: str, allowed: Sequence[Network] = ()) -> str | None:
    """Why this cannot be the address of a webhook; None where it can. A host's name is looked up later, but
    for those of this machine.

    allowed: networks that are not public, and may be reached.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "Not a valid URL. Write for instance https://hooks.example.org/soundings."
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return "A webhook URL must begin with https:// or http:// and name a host."
    if parts.username or parts.password:
        return "The URL contains a user name or password. Remove them; messages are signed instead."
    if any(ord(character) <= 32 or ord(character) > 126 for character in url):
        return "The URL contains a space or a non-ASCII character. Percent-encode it."
    try:
        refuse_private(
            parts.hostname, _addresses_of(parts.hostname), AllowedNetworks(allowed, PRIVATE_NETWORKS)
        )
    except RefusedAddressError as error:
        return str(error)
    return None


def _addresses_of(host: str) -> list[str]:
    """What a host is without a look-up: an address in any spelling that connections take, such as 127.1 or
    0x7f000001, or this machine (RFC 6761, 6.3); empty for other names."""
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return ["127.0.0.1"]
    with suppress(ValueError):
        return [str(ip_address(name))]
    with suppress(OSError):
        return [inet_ntoa(inet_aton(name))]
    return []


def signature(secret: str, message: str, stamp: str, body: bytes) -> str:
    """`v1,` and the HMAC of message id, time and body, joined by points, in Base64 (Standard Webhooks).

    The key is what a secret of the form `whsec_…` has in Base64, and of any other the secret itself.

    >>> signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_1", "1614265330", b"{}")[:10]
    'v1,ZztYR0I'
    """
    digest = hmac.new(_key(secret), f"{message}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{b64encode(digest).decode()}"


def _key(secret: str) -> bytes:
    if secret.startswith(BASE64_SECRET):
        try:
            return b64decode(secret.removeprefix(BASE64_SECRET), validate=True)
        except ValueError:
            pass  # it only looks like one
    return secret.encode()


def post_signed(
    url: str,
    body: bytes,
    secret: str,
    *,
    message: str = "",
    allowed: Sequence[Network] = (),
    seconds: float = SECONDS,
) -> DeliveryOutcome:
    """POST a JSON body once; any 2xx is a success. What the server says beyond its status is not read.

    message: its id, the same whenever it is tried again. seconds: for the attempt as a whole, but for
    looking up the host's name: a server that sends a letter now and then gets no more time than one that is
    silent.
    """
    try:
        backend = guarded(AllowedNetworks(allowed, PRIVATE_NETWORKS), Deadline(seconds))
        status = _post(url, body, secret, message, backend=backend)
    except RefusedAddressError as error:
        return DeliveryOutcome(False, str(error))
    except Exception as error:
        if not is_of_the_network(error):
            raise
        return DeliveryOutcome(False, in_words(error, seconds))
    if 300 <= status < 400:
        return DeliveryOutcome(False, f"HTTP {status}: redirects are not followed; use the final URL.")
    return DeliveryOutcome(200 <= status < 300, f"HTTP {status}")


def _post(url: str, body: bytes, secret: str, message: str, *, backend: httpcore2.NetworkBackend) -> int:
    import httpcore2

    stamp = str(int(time.time()))
    sent = {
        "Content-Type": "application/json",
        "User-Agent": "Soundings",
        ID: f"msg_{message}",
        TIME: stamp,
        SIGNATURE: signature(secret, f"msg_{message}", stamp, body),
        "Host": urlsplit(url).netloc,
        "Content-Length": str(len(body)),
    }
    with (
        httpcore2.ConnectionPool(network_backend=backend) as pool,
        pool.stream("POST", url, headers=list(sent.items()), content=body) as response,
    ):
        return int(response.status)
