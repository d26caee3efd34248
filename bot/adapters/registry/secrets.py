"""Whose user and password is whose, as Docker's config.json says it: a credential helper for a registry, one for all, `auths`."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.errors import BadInput
from bot.images.reference import HUB, HUB_NAMES

Secret = tuple[str, str]
Helper = Callable[[str, str], Secret | None]
"""(the helper's name, the registry as Docker calls it) -> user and password; None where it keeps none."""
_HUB_AS_DOCKER_CALLS_IT = "https://index.docker.io/v1/"


class Secrets:
    """User and password of a registry. A helper is asked at most once a registry, and for none that nobody asks about."""

    def __init__(self, config: Mapping[str, Any], helper: Helper | None = None) -> None:
        self._auths, self._helper, self._asked = _auths(config), helper, dict[str, Secret | None]()
        named, store = config.get("credHelpers"), config.get("credsStore")
        self._helpers = {_name(key): name for key, name in (named if isinstance(named, Mapping) else {}).items()}
        self._store = store if isinstance(store, str) else ""

    def of(self, registry: str) -> Secret | None:
        """None: we are nobody there."""
        if registry not in self._asked:
            self._asked[registry] = self._kept_elsewhere(registry) or self._auths.get(registry)
        return self._asked[registry]

    def _kept_elsewhere(self, registry: str) -> Secret | None:
        name = self._helpers.get(registry) or self._store
        if self._helper is None or not isinstance(name, str) or not name:
            return None
        return self._helper(name, _HUB_AS_DOCKER_CALLS_IT if registry == HUB else registry)


def _auths(config: Mapping[str, Any]) -> dict[str, Secret]:
    entries = config.get("auths")
    pairs = entries.items() if isinstance(entries, Mapping) else ()
    return {_name(key): secret for key, entry in pairs if isinstance(entry, Mapping) and (secret := _secret(entry)) is not None}


def _name(key: object) -> str:
    name = re.sub(r"^https?://", "", str(key)).partition("/")[0].lower()
    return HUB if name in HUB_NAMES else name


def _secret(entry: Mapping[str, Any]) -> Secret | None:
    user, password = entry.get("username"), entry.get("password")
    if isinstance(entry.get("auth"), str) and entry["auth"]:
        try:
            user, _, password = base64.b64decode(entry["auth"], validate=True).decode("utf-8").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            raise BadInput("an `auth` in Docker's config is not base64", "run `docker login` again") from None
    return (user, password) if isinstance(user, str) and isinstance(password, str) and user and password else None
