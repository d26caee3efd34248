"""What the environment says: which repository, with which tokens, how much may be done. Read when asked, never kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bot.errors import BadArguments
from bot.model.mode import Mode

MODES: tuple[Mode, ...] = ("off", "observe", "propose", "act")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


def word(*names: str) -> str | None:
    """The first of these variables that is set and not empty: a workflow writes "" for what it does not know."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def needed(*names: str) -> str:
    """As `word`; BadArguments when none is set."""
    found = word(*names)
    if found is None:
        raise BadArguments(f"{' or '.join(names)} is not set", "a workflow sets it; by hand, export it first")
    return found


def repository() -> str:
    """`owner/name` that is acted on."""
    name = needed("GITHUB_REPOSITORY")
    if not _REPOSITORY.fullmatch(name):
        raise BadArguments(f"GITHUB_REPOSITORY is {name!r}", "write owner/name")
    return name


def api() -> str:
    """The forge's API."""
    return _address("GITHUB_API_URL", "https://api.github.com")


def remote(name: str) -> str:
    """Where git finds a repository `owner/name` of the same forge."""
    return f"{_address('GITHUB_SERVER_URL', 'https://github.com')}/{name}.git"


def cache() -> Path | None:
    """Where answers of registries are kept between commands: BUMPBOT_CACHE, else the user's cache folder. None: nowhere, also
    where BUMPBOT_CACHE says `none`."""
    asked = word("BUMPBOT_CACHE")
    if asked is not None:
        return None if asked == "none" else Path(asked)
    place = word("XDG_CACHE_HOME") or ((home := word("HOME")) and f"{home}/.cache")
    return Path(place) / "bumpbot" if place and Path(place).is_absolute() else None


def login() -> str:
    """The account under which the bot's comments and commits appear."""
    return word("BUMPBOT_LOGIN") or "bumpbot[bot]"


def run() -> str | None:
    """The workflow run that this wake is, as id/attempt."""
    number = word("GITHUB_RUN_ID")
    return f"{number}/{word('GITHUB_RUN_ATTEMPT') or '1'}" if number else None


def mode() -> Mode:
    """BUMPBOT_MODE, read before each effect; a word that is none of the modes stops everything."""
    asked = word("BUMPBOT_MODE") or "act"
    return next((known for known in MODES if known == asked), "off")


def checked_mode() -> Mode:
    """The mode as a wake begins: there a word that is none of them is a fault to be told."""
    asked = word("BUMPBOT_MODE")
    if asked is not None and asked not in MODES:
        raise BadArguments(f"BUMPBOT_MODE is {asked!r}", f"write one of {', '.join(MODES)}")
    return mode()


def _address(name: str, usual: str) -> str:
    found = (word(name) or usual).rstrip("/")
    if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", found):
        raise BadArguments(f"{name} is no address", "write https://host, without user, query or fragment")
    return found
