"""Where each registry is spoken to, and in what the well-known ones differ from the protocol: data, one row each."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
from msgspec import Struct

from bot.adapters.addresses import is_loopback_name, readable
from bot.errors import BadInput, Refusal
from bot.images.reference import HUB


class Host(Struct, frozen=True, kw_only=True):
    """Where a registry is spoken to. `realms`: other hosts its token realm may name; `hub`: the tag API beside it;
    `counts_gets`: a GET of a manifest spends a pull limit and a HEAD does not; `shared_users`: user names behind which
    anybody may stand, so that an answer given to one tells nothing about who may see it."""

    name: str
    api: str
    realms: frozenset[str] = frozenset()
    hub: str | None = None
    counts_gets: bool = False
    shared_users: frozenset[str] = frozenset()

    @property
    def local(self) -> bool:
        return is_loopback_name(httpx.URL(self.api).host)


# To add a registry that is more than "https, its own realm": one row. Registries that need none are listed with a reason,
# so that nobody adds a row that widens where a password may go.
HOSTS: dict[str, Host] = {host.name: host for host in (
    # 100 manifest GETs in six hours for a stranger's address: a scan of a hundred images would spend them all. HEAD is free.
    Host(name=HUB, api="https://registry-1.docker.io", realms=frozenset({"auth.docker.io"}),
         hub="https://hub.docker.com", counts_gets=True),
    Host(name="registry.gitlab.com", api="https://registry.gitlab.com", realms=frozenset({"gitlab.com"})),
    # Realm https://nvcr.io/proxy_auth, challenge without a service. Every key logs in as $oauthtoken. To a token that ran
    # out it answers with a realm at authn.nvidia.com, where a stranger gets nothing: only the challenge of a request
    # without a token is met (session.py), so that other host needs no row and sees no password.
    Host(name="nvcr.io", api="https://nvcr.io", shared_users=frozenset({"$oauthtoken"})),
    # ghcr.io (realm https://ghcr.io/token; lists children that it answers 404 for) and quay.io (realm https://quay.io/v2/auth;
    # 50 or 100 tags a page whatever is asked, always with a Link) are as the protocol says.
)}
_PLAIN = Host(name="", api="")


def host_of(registry: str, override: Mapping[str, str] | None = None) -> Host:
    """How a registry is reached. An override (rehearsals) must name loopback; its credentials are its own, its manners
    those of the registry it stands for."""
    if override and registry in override:
        base = httpx.URL(override[registry])
        if base.scheme != "http" or not is_loopback_name(base.host):
            raise Refusal(f"the stand-in for {registry} is not on loopback", "write http://127.0.0.1:PORT")
        api, known = f"http://{base.netloc.decode()}", HOSTS.get(registry, _PLAIN)
        return Host(name=base.netloc.decode(), api=api, hub=api if known.hub else None, counts_gets=known.counts_gets)
    if registry in HOSTS:
        return HOSTS[registry]
    address = readable(f"http://{registry}")
    if address is None:
        raise BadInput(f"{registry}: a host name that nobody can ask for", "correct the registry of the reference")
    local = is_loopback_name(address.host)
    return Host(name=registry, api=f"{'http' if local else 'https'}://{registry}")
