"""Which machines a request may reach, decided where the connection is made and not where a name was read.

A registry, a token realm or a redirect may name an address inside our network, or a name that resolves to one, or one
thing when it is checked and another when it is connected to. So the guard resolves a name once, refuses every private,
link-local, loopback or otherwise special address, and connects to exactly the address it looked at.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence

import httpx

from bot.adapters.http import Busy
from bot.errors import Refusal

Resolve = Callable[[str, int], Sequence[str]]


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


class Guard(httpx.BaseTransport):
    """A transport that connects to public addresses only, and to loopback when the URL itself names loopback.

    Whether a URL that names loopback may be asked at all is its caller's rule (`may_follow`); the guard sees to it that
    no other name ends there.
    """

    def __init__(self, inner: httpx.BaseTransport | None = None, resolve: Resolve = system_resolve) -> None:
        self._inner = inner or httpx.HTTPTransport(retries=0)
        self._resolve = resolve

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        local = is_loopback_name(host)
        if request.url.scheme != "https" and not local:
            raise Refusal(f"{host}: plain HTTP", "only a loopback registry is spoken to without TLS")
        addresses = [_address(text) for text in self._resolve(host, port)]
        wrong = next((a for a in addresses if (not a.is_loopback if local else not _public(a))), None)
        if wrong is not None or not addresses:
            raise Refusal(f"{host} is at {wrong or 'no address'}, which is not asked",
                          "private and local addresses are reached only by a reference that names loopback")
        for address in addresses[:-1]:
            try:
                return self._inner.handle_request(_pinned(request, address))
            except httpx.ConnectError:
                continue  # a host with an IPv6 address that this machine cannot route to
        return self._inner.handle_request(_pinned(request, addresses[-1]))

    def close(self) -> None:
        self._inner.close()


def may_follow(from_url: str, to_url: str) -> None:
    """Refuses a redirect (or a second host) that leaves TLS, or that leads a public registry to this machine."""
    here, there = httpx.URL(from_url), httpx.URL(to_url)
    if there.scheme not in ("http", "https") or not there.host:
        raise Refusal(f"{here.host} redirects to a {there.scheme or 'nameless'} address", "only http(s) is followed")
    if is_loopback_name(there.host) and not is_loopback_name(here.host):
        raise Refusal(f"{here.host} redirects to {there.host}", "a public registry never leads to this machine")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(text.partition("%")[0])


def _public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Global unicast; an IPv6 address that wraps an IPv4 one (mapped, 6to4, NAT64) is judged by what it wraps."""
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour
        if wrapped is None and address in ipaddress.ip_network("64:ff9b::/96"):
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return _public(wrapped)
    return address.is_global and not address.is_multicast


def _pinned(request: httpx.Request, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> httpx.Request:
    """The same request to the address that was looked at; Host and the TLS name stay those of the URL."""
    host = request.url.host
    if str(address) == host.strip("[]"):
        return request
    extensions = dict(request.extensions) | ({"sni_hostname": host} if request.url.scheme == "https" else {})
    return httpx.Request(request.method, request.url.copy_with(host=str(address)), headers=request.headers,
                         stream=request.stream, extensions=extensions)
