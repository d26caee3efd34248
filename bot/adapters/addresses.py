"""Which machines a request may reach, decided where the connection is made and not where a name was read.

A registry, a token realm or a redirect may name an address inside our network, or a name that resolves to one, or one
thing when it is checked and another when it is connected to. So the guard resolves a name once, refuses every private,
link-local, loopback or otherwise special address, and connects to exactly the address it looked at.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

import httpx

from bot.adapters.http import Busy, trusted
from bot.adapters.waiting import aside
from bot.errors import Refusal

Resolve = Callable[[str, int], Sequence[str]]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_UNICAST = ipaddress.ip_network("2000::/3")


@lru_cache(maxsize=256)
def is_loopback_name(host: str) -> bool:
    """Whether a host as written is this machine: localhost, 127.0.0.0/8 or ::1 (SECURITY.md rule 11)."""
    bare = host.strip("[]").lower()
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False


def system_resolve(host: str, port: int) -> Sequence[str]:
    """Every address of a name, as the machine's resolver tells them."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Busy(f"{host}: the name does not resolve ({error})", "check the name and the network") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def readable(text: str, base: str = "") -> httpx.URL | None:
    """An address that somebody else wrote (seen from `base`), where its host can be read and no login stands in it: httpx
    sends what stands before an `@`, and a registry would choose who we are. None for any other."""
    try:
        found = httpx.URL(base).join(text) if base else httpx.URL(text)
        return None if found.userinfo or not isinstance(found.host, str) else found
    except (httpx.InvalidURL, ValueError):
        return None  # ValueError: also a host that is no IDNA, which httpx notices when it is read


@dataclass
class _Lane:
    """A transport to one name, and whether a request on it waits for its answer."""

    transport: httpx.AsyncBaseTransport
    waits: bool = False


class Guard(httpx.AsyncBaseTransport):
    """A transport that connects to public addresses only, and to loopback when the URL itself names loopback.

    Whether a URL that names loopback may be asked at all is its caller's rule (`may_follow`); the guard sees to it that
    no other name ends there. Each name is looked up once in a guard's life, and each has connections of its own: two
    names at one address would else share one, and the second would be spoken to over the first one's certificate.
    """

    def __init__(self, make: Callable[[str], httpx.AsyncBaseTransport] | None = None,
                 resolve: Resolve = system_resolve) -> None:
        self._make, self._resolve = make or _transport, resolve
        self._lookups: dict[tuple[str, int], asyncio.Task[list[Address]]] = {}
        self._lanes: defaultdict[tuple[str, str, int], list[_Lane]] = defaultdict(list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        scheme, host = request.url.scheme, request.url.host
        port = request.url.port or (443 if scheme == "https" else 80)
        local = is_loopback_name(host)
        if scheme != "https" and not local:
            raise Refusal(f"{host}: plain HTTP", "only a loopback registry is spoken to without TLS")
        addresses = await self._looked_up(host, port)
        wrong = next((a for a in addresses if (not a.is_loopback if local else not _public(a))), None)
        if wrong is not None or not addresses:
            raise Refusal(f"{host} is at {wrong or 'no address'}, which is not asked",
                          "private and local addresses are reached only by a reference that names loopback")
        with self._lane(scheme, host, port) as inner:
            *first, last = list(addresses)
            for address in first:
                try:
                    return await inner.handle_async_request(_pinned(request, address))
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    # A host with an IPv6 address that this machine cannot route to: later requests try that one last.
                    addresses.sort(key=lambda other, dead=address: other == dead)
            return await inner.handle_async_request(_pinned(request, last))

    async def aclose(self) -> None:
        for lane in chain.from_iterable(self._lanes.values()):
            await lane.transport.aclose()

    @contextmanager
    def _lane(self, scheme: str, host: str, port: int) -> Iterator[httpx.AsyncBaseTransport]:
        """The first transport of a name that waits for no answer. Each holds one connection or two: a pool looks at every
        connection that it has, twice a request, and ten together cost a scan an eighth of its time."""
        lanes = self._lanes[scheme, host, port]
        free = next((lane for lane in lanes if not lane.waits), None)
        if free is None:
            lanes.append(free := _Lane(self._make(scheme)))
        free.waits = True
        try:
            yield free.transport
        finally:
            free.waits = False

    async def _looked_up(self, host: str, port: int) -> list[Address]:
        if (host, port) not in self._lookups:
            self._lookups[host, port] = asyncio.create_task(self._look_up(host, port))
        try:
            # Shielded: one request that runs out of time must not take the answer from the others that wait for it.
            return await asyncio.shield(self._lookups[host, port])
        except Busy:
            self._lookups.pop((host, port), None)
            raise

    async def _look_up(self, host: str, port: int) -> list[Address]:
        return [_address(text) for text in await aside(self._resolve, host, port)]


def _transport(scheme: str) -> httpx.AsyncBaseTransport:
    return httpx.AsyncHTTPTransport(verify=trusted() if scheme == "https" else _untrusting(), retries=0)


@cache
def _untrusting() -> ssl.SSLContext:
    """For plain HTTP, which asks for none: a context that knows no authority and so believes no certificate."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def may_follow(from_url: str, to_url: str) -> None:
    """Refuses a redirect (or a second host) that leaves TLS, or that leads a public registry to this machine."""
    here, there = httpx.URL(from_url), httpx.URL(to_url)
    if there.scheme not in ("http", "https") or not there.host:
        raise Refusal(f"{here.host} redirects to a {there.scheme or 'nameless'} address", "only http(s) is followed")
    if is_loopback_name(there.host) and not is_loopback_name(here.host):
        raise Refusal(f"{here.host} redirects to {there.host}", "a public registry never leads to this machine")


def _address(text: str) -> Address:
    return ipaddress.ip_address(text.partition("%")[0])


def _public(address: Address) -> bool:
    """Global unicast; an IPv6 address that wraps an IPv4 one (mapped, 6to4, NAT64) is judged by what it wraps. Others outside
    2000::/3 are none: Python calls site-local ones and the old ways to wrap IPv4 (::127.0.0.1) global."""
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour
        if wrapped is None and address in ipaddress.ip_network("64:ff9b::/96"):
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return _public(wrapped)
        if address not in _UNICAST:
            return False
    return address.is_global and not address.is_multicast


def _pinned(request: httpx.Request, address: Address) -> httpx.Request:
    """The same request to the address that was looked at; Host and the TLS name stay those of the URL."""
    host = request.url.host
    if str(address) == host.strip("[]"):
        return request
    extensions = dict(request.extensions) | ({"sni_hostname": host} if request.url.scheme == "https" else {})
    return httpx.Request(request.method, request.url.copy_with(host=str(address)), headers=request.headers,
                         stream=request.stream, extensions=extensions)
