"""Connections to other people's servers: bounded in time, and never into a private network by accident.

Where a name leads is looked at when the connection is made, and the connection goes to the very address that
was looked at, so that a name cannot lead elsewhere a moment later. Redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpcore2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Of version 6, only this is handed out to anybody; the rest is local, for several receivers, or for a use of
# its own, as private prefixes of NAT64 (64:ff9b:1::/48), addresses of a site (fec0::/10) or `::10.0.0.1` are.
UNICAST = ipaddress.IPv6Network("2000::/3")
# And within it: protocols' own, Teredo among them, for documentation twice, and 6to4.
#: Global by the registry, and yet not public: a cloud's own services, reached from each machine in it, and an
#: address that stands for whatever machine is nearest.
NEAR = tuple(map(ipaddress.IPv4Address, ("168.63.129.16", "192.0.0.192")))
SPECIAL = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


class RefusedAddressError(Exception):
    """The server is in a network that may not be reached; the message says which."""


@dataclass(frozen=True)
class AllowedNetworks:
    networks: Sequence[Network]
    setting: str


class Deadline:
    """When an exchange has to be over. One that is kept for several connections is `set` again for each."""

    def __init__(self, seconds: float) -> None:
        self.set(seconds)

    def set(self, seconds: float) -> None:
        """Begin again: everything has to be over in this many seconds."""
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left; a time-out when there are none."""
        import httpcore2

        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise httpcore2.ReadTimeout
        return seconds


def host_of(url: str) -> str:
    """The host of an address: what a log may show of it."""
    return urlsplit(url).hostname or ""


def refuse_private(host: str, addresses: Sequence[str], allowed: AllowedNetworks) -> None:
    """`RefusedAddressError` when any of a host's addresses is not public and in none of the `allowed`."""
    for text in addresses:
        address = ipaddress.ip_address(text.partition("%")[0])
        inner = _inner(address)
        if any(
            one in network for one in (address, inner) for network in allowed.networks if _same(one, network)
        ):
            continue
        if not _is_public(inner):
            problem = "is not" if host == text else f"resolves to {text}, which is not"
            raise RefusedAddressError(
                f"{host} {problem} a public address. A server administrator can allow its network with "
                f"{allowed.setting}."
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
    return address.is_global and not address.is_multicast and address not in NEAR


def guarded(allowed: AllowedNetworks, deadline: Deadline) -> httpcore2.NetworkBackend:
    """Connects to public and `allowed` addresses alone, with everything over by the deadline."""
    import httpcore2

    left = deadline.left

    class BoundedStream(httpcore2.NetworkStream):
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
            return BoundedStream(self.stream.start_tls(ssl_context, server_hostname, left()))

        def get_extra_info(self, info: str) -> Any:
            return self.stream.get_extra_info(info)

    class PublicNetworks(httpcore2.SyncBackend):
        """Connects to public addresses only, and to the one it has looked at."""

        def connect_tcp(
            self, host: str, port: int, timeout: float | None = None, *args: Any, **options: Any
        ) -> httpcore2.NetworkStream:
            try:
                entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except UnicodeError:  # no name can look like this: a..b, or a part of more than 63 letters
                raise socket.gaierror(socket.EAI_NONAME, "Unknown host name") from None
            addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
            refuse_private(host, addresses, allowed)
            return BoundedStream(super().connect_tcp(addresses[0], port, left(), *args, **options))

        def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore2.NetworkStream:
            raise RefusedAddressError("A local socket is not an address.")

    return PublicNetworks()


def no_answer(seconds: float) -> str:
    return f"No answer within {seconds:g} seconds."


def is_of_the_network(error: Exception) -> bool:
    """True where no answer came; False where something is wrong here."""
    import httpcore2

    kinds = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError, OSError)
    return isinstance(error, kinds)


def in_words(error: Exception, seconds: float) -> str:
    import httpcore2

    if isinstance(error, socket.gaierror):
        return "Unknown host name."
    if isinstance(error, httpcore2.TimeoutException):
        return no_answer(seconds)
    if isinstance(error, httpcore2.ProtocolError):
        return "The host does not speak HTTP."
    return f"No connection: {type(error).__name__}."


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Retry-After in seconds; a date is read as well."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
