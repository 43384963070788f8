"""Sending a message to somebody else's server: signed, bounded in time, and never into a private network.

Where a name leads is looked at when the connection is made, and the connection goes to the very address that
was looked at, so that a name cannot lead elsewhere a moment later. Redirects are not followed.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpcore2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SECONDS = 5.0  # for an attempt in all
SIGNATURE, TIME = "X-Soundings-Signature", "X-Soundings-Time"
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Of version 6, only this is handed out to anybody; the rest is local, for several receivers, or for a use of
# its own, as private prefixes of NAT64 (64:ff9b:1::/48), addresses of a site (fec0::/10) or `::10.0.0.1` are.
UNICAST = ipaddress.IPv6Network("2000::/3")
# And within it: protocols' own, Teredo among them, for documentation twice, and 6to4.
SPECIAL = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


class RefusedAddressError(Exception):
    """The receiver lies in a network that messages may not go to; the message says which."""


@dataclass(frozen=True)
class DeliveryOutcome:
    """Whether a message arrived, what was answered or went wrong, and whether anything was tried at all."""

    sent: bool
    detail: str
    tried: bool = True


def problem_of(url: str) -> str | None:
    """Why this cannot be the address of a webhook; None where it can."""
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
    return None


def host_of(url: str) -> str:
    """The host of an address: what a log may show of it."""
    return urlsplit(url).hostname or ""


def refuse_private(host: str, addresses: Sequence[str], allowed: Sequence[Network]) -> None:
    """`RefusedAddressError` when any of a host's addresses is not public and in none of `allowed`."""
    for text in addresses:
        address = ipaddress.ip_address(text.partition("%")[0])
        inner = _inner(address)
        if any(one in network for one in (address, inner) for network in allowed if _same(one, network)):
            continue
        if not _is_public(inner):
            raise RefusedAddressError(
                f"{host} resolves to {text}, which is not a public address. A server administrator can "
                "allow its network with SOUNDINGS_WEBHOOK_PRIVATE_NETWORKS."
            )


def _same(address: Address, network: Network) -> bool:
    return address.version == network.version


def _inner(address: Address) -> Address:
    """The address of version 4 that a mapped or translated one of version 6 leads to, else the address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        return address in UNICAST and not any(address in network for network in SPECIAL)
    return address.is_global and not address.is_multicast


def signature(secret: str, stamp: str, body: bytes) -> str:
    """`sha256=` and the HMAC of the time, a point and the body, in hexadecimal digits.

    >>> signature("secret", "1", b"{}")[:15]
    'sha256=1122767b'
    """
    digest = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"


def post_signed(
    url: str,
    body: bytes,
    secret: str,
    *,
    headers: dict[str, str] | None = None,
    allowed: Sequence[Network] = (),
    seconds: float = SECONDS,
) -> DeliveryOutcome:
    """POST a JSON body once; any 2xx is a success. What the server says beyond its status is not read.

    seconds: for the attempt as a whole, but for looking up the host's name: a server that sends a letter now
    and then gets no more time than one that is silent.
    """
    try:
        status = _post(url, body, secret, headers or {}, allowed=allowed, deadline=time.monotonic() + seconds)
    except RefusedAddressError as error:
        return DeliveryOutcome(False, str(error))
    except Exception as error:
        if not _is_of_the_network(error):
            raise
        return DeliveryOutcome(False, _in_words(error, seconds))
    if 300 <= status < 400:
        return DeliveryOutcome(False, f"HTTP {status}: redirects are not followed; use the final URL.")
    return DeliveryOutcome(200 <= status < 300, f"HTTP {status}")


def no_answer(seconds: float) -> str:
    """What is said of a receiver that took too long."""
    return f"No answer within {seconds:g} seconds."


def _post(
    url: str,
    body: bytes,
    secret: str,
    headers: dict[str, str],
    *,
    allowed: Sequence[Network],
    deadline: float,
) -> int:
    import httpcore2

    stamp = str(int(time.time()))
    sent = {
        **headers,
        "Content-Type": "application/json",
        "User-Agent": "Soundings",
        TIME: stamp,
        SIGNATURE: signature(secret, stamp, body),
        "Host": urlsplit(url).netloc,
        "Content-Length": str(len(body)),
    }
    with (
        httpcore2.ConnectionPool(network_backend=_backend(allowed, deadline)) as pool,
        pool.stream("POST", url, headers=list(sent.items()), content=body) as response,
    ):
        return int(response.status)


def _backend(allowed: Sequence[Network], deadline: float) -> httpcore2.NetworkBackend:
    import httpcore2

    def left() -> float:
        """The seconds that are left."""
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise httpcore2.ReadTimeout
        return seconds

    class Bounded(httpcore2.NetworkStream):
        """A connection on which everything together ends by the deadline."""

        def __init__(self, stream: httpcore2.NetworkStream) -> None:
            self.stream = stream

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return self.stream.read(max_bytes, left())

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self.stream.write(buffer, left())

        def close(self) -> None:
            self.stream.close()

        def start_tls(
            self,
            ssl_context: ssl.SSLContext,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> httpcore2.NetworkStream:
            return Bounded(self.stream.start_tls(ssl_context, server_hostname, left()))

        def get_extra_info(self, info: str) -> Any:
            return self.stream.get_extra_info(info)

    class PublicNetworks(httpcore2.SyncBackend):
        """Connects to public addresses only, and to the one it has looked at."""

        def connect_tcp(
            self, host: str, port: int, timeout: float | None = None, *args: Any, **options: Any
        ) -> httpcore2.NetworkStream:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
            refuse_private(host, addresses, allowed)
            return Bounded(super().connect_tcp(addresses[0], port, left(), *args, **options))

        def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
            raise RefusedAddressError("Messages cannot be sent to a local socket.")

    return PublicNetworks()


def _is_of_the_network(error: Exception) -> bool:
    import httpcore2

    kinds = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError, OSError)
    return isinstance(error, kinds)


def _in_words(error: Exception, seconds: float) -> str:
    import httpcore2

    if isinstance(error, socket.gaierror):
        return "Unknown host name."
    if isinstance(error, httpcore2.TimeoutException):
        return no_answer(seconds)
    if isinstance(error, httpcore2.ProtocolError):
        return "The host does not speak HTTP."
    return f"No connection: {type(error).__name__}."
