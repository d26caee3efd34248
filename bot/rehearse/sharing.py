"""Two stories of one world hold it once: `shares: NAME` takes what a scenario's folder lacks from the one beside it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from bot import strict
from bot.errors import BadInput, Missing, Refusal
from bot.rehearse.declaration import NAME

FILE = "scenario.yaml"
PARTS = ("repo", "registry.yaml", "baseline.json", "upstream", "machine.yaml")
_NAME = re.compile(NAME)
_KEY = re.compile(r"^shares:[^\n]*\n?", re.MULTILINE)


def parts(folder: Path, shares: str | None) -> dict[str, Path]:
    """Where each part of a scenario is read; BadInput when the folder it shares with is not there or is no scenario.

    A part that neither of the two has is looked for in the scenario's own folder, and missed there.
    """
    beside = _beside(folder, shares) if shares else folder
    return {part: beside / part if not (folder / part).exists() and (beside / part).exists() else folder / part
            for part in PARTS}


def sources(folder: Path) -> tuple[Path, ...]:
    """The folders of which a copy of this scenario is made: its own, and the one that it shares with."""
    shares = _shares(folder / FILE) if (folder / FILE).is_file() else None
    return (folder, _beside(folder, shares)) if shares else (folder,)


def copy(source: Path, target: Path) -> None:
    """Writes a scenario's folder to `target`, to start one's own from; refuses a target that holds anything.

    The copy stands alone: it holds what was shared, and its scenario.yaml no longer says so.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Refusal(f"{target} is not empty", "name a folder that is new or empty; nothing was written")
    if not (source / FILE).is_file():
        raise Missing(f"{source} holds no {FILE}", "name a shipped scenario")
    shares = _shares(source / FILE)
    if shares is None:
        shutil.copytree(source, target, dirs_exist_ok=True)
        return
    shared, text = parts(source, shares), _alone(source / FILE)
    shutil.copytree(source, target, dirs_exist_ok=True)
    for name, place in shared.items():
        if place.is_dir() and not (target / name).exists():
            shutil.copytree(place, target / name)
        elif place.is_file() and not (target / name).exists():
            shutil.copy2(place, target / name)
    (target / FILE).write_text(text, encoding="utf-8", newline="")


def _beside(folder: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise BadInput(f"`{name}` is no name of a scenario", "name the folder beside it that has the parts, without its path")
    own = folder.resolve()
    found = own.parent / name
    if found == own:
        raise BadInput("a scenario cannot share with itself", "name the folder beside it that has the parts")
    if not (found / FILE).is_file():
        raise BadInput(f"no scenario `{name}` lies beside this one",
                       f"put it at {found}, or copy this scenario with `bumpbot rehearse --copy`, which makes it whole")
    if (further := _shares(found / FILE)) is not None:
        raise BadInput(f"`{name}` itself shares with `{further}`", f"write `shares: {further}`: parts are taken from whole folders")
    return found


def _shares(file: Path) -> str | None:
    told, _ = strict.parse(file.read_bytes(), file=str(file))
    found = told.get("shares") if isinstance(told, dict) else None
    return found if isinstance(found, str) else None


def _alone(file: Path) -> str:
    """scenario.yaml without its line `shares:`, everything else as it stands."""
    text = file.read_bytes().decode("utf-8")
    told, without = strict.parse(text, file=str(file))[0], _KEY.sub("", text, count=1)
    try:
        left = strict.parse(without, file=str(file))[0]
    except BadInput:
        left = None
    if left != {key: value for key, value in told.items() if key != "shares"}:
        raise BadInput("cannot be taken out for a copy", "write `shares: NAME` on a line of its own, not indented", file=str(file),
                       key="shares")
    return without
