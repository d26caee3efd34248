"""Docker's own logins: its config file, DOCKER_AUTH_CONFIG in its place, and the helpers that keep passwords for it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.adapters.process import LocalProcess
from bot.cli.environment import word
from bot.cli.output import note
from bot.errors import BadInput, BumpbotError
from bot.strict import json_value

_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Ours, and nobody else's: a helper gets the rest of the environment, as Docker gives it.
_OURS = ("BUMPBOT_", "GITHUB_", "GH_", "ACTIONS_")
LIMIT_S = 10.0


def login() -> Mapping[str, Any] | None:
    """What DOCKER_AUTH_CONFIG or Docker's own config file holds, if there is one: registry credentials go only to the host that
    asks for them."""
    if (text := word("DOCKER_AUTH_CONFIG")) is not None:
        return _read(text, "DOCKER_AUTH_CONFIG")
    home = word("DOCKER_CONFIG")
    place = (Path(home) if home else Path(os.path.expanduser("~/.docker"))) / "config.json"
    try:
        text = place.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot be read: {error}", "correct it, or set DOCKER_CONFIG to another folder", file=str(place)) from None
    return _read(text, str(place))


def helped(helper: str, registry: str) -> tuple[str, str] | None:
    """User and password that `docker-credential-HELPER` keeps for a registry; None where it keeps none. One that cannot be run
    is told on stderr, and we are nobody there."""
    program = f"docker-credential-{helper}"
    if not _HELPER.fullmatch(helper):
        note(f"a credential helper with such a name is not run: {helper[:64]!r}")
        return None
    env = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    try:
        code, out, _ = LocalProcess(out_limit=65_536).run([program, "get"], env=env, stdin=registry.encode(), limit_s=LIMIT_S)
        told = json_value(out.decode("utf-8"), file=program) if code == 0 else None
    except (BumpbotError, ValueError) as error:
        note(f"{program} was not heard, so nobody is logged in at {registry}: {error}")
        return None
    user, secret = (told.get("Username"), told.get("Secret")) if isinstance(told, dict) else (None, None)
    if user == "<token>":
        note(f"{program} keeps an identity token for {registry}, which is not spoken here: log in with a password or access token")
        return None
    return (user, secret) if isinstance(user, str) and isinstance(secret, str) and user and secret else None


def _read(text: str, place: str) -> Mapping[str, Any]:
    found = json_value(text, file=place)
    if not isinstance(found, dict):
        raise BadInput("not a JSON object", "docker login writes it", file=place)
    return found
