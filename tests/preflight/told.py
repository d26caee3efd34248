"""A case as a file tells it, and the plan that the real code makes of it.

A case is layers of plain data, one over the other; what it leaves out a layer says, and `null` takes away. Names of commits are
words: `<sha:NAME>` in any text is the id, made of the name where that is no hexadecimal id itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from bot.adapters.assets import PackagedAssets
from bot.cli.packaged import limits, schemes
from bot.layout import Layout
from bot.layout.load import load
from bot.model.bump import Subject
from bot.model.finding import Checked, PlanFinding
from bot.model.memory import Lesson
from bot.model.preflight import Load, Merge, Staged, Work
from bot.model.settings import Holder, Runner, Unseen
from bot.plan import Sources, plan
from bot.rehearse.told import TreeTold
from bot.upstream import engines
from tests.fakes.fleet import FleetHere, SettingsHere
from tests.fakes.images import ImagesHere, ImageTold
from tests.fakes.neighbours import NeighboursHere
from tests.fakes.published import Measured, PublishedHere
from tests.fakes.upstreams import Away, CommitsTold, SurveyorHere, UpstreamsTold, UpstreamTold

CASES = Path(__file__).parent / "cases"
_SHA = re.compile(r"<sha:([A-Za-z0-9._-]+)>")
_HEX = re.compile(r"[0-9a-f]{7,40}")


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"class_": "class"}):
    """What a record says that planning should have found. `says` are words that stand in the finding's evidence or next."""

    check: str
    class_: str | None
    action: str
    repair: str | None = None
    says: tuple[str, ...] = ()


class Told(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of a case. `without` are facts by which what is expected is not there, `unknown` those by which nobody can tell;
    `refused`: without it the plan ends by a rule of its own. `also` are other findings that hold, check by check."""

    about: str
    recipe: str
    image: str
    now: datetime
    record: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    layout: dict[str, Any] = {}
    files: dict[str, Any] = {}
    entry: dict[str, Any] = {}
    entries: dict[str, dict[str, Any]] = {}
    images: dict[str, ImageTold] = {}
    upstreams: dict[str, dict[str, Any]] = {}
    unreadable: tuple[str, ...] = ()
    away: tuple[str, ...] = ()
    me: str = ""
    holder: Holder = Holder(kind="fine-grained")
    runners: dict[str, tuple[str, ...]] | None = None
    offline: tuple[str, ...] = ()
    staged: tuple[Staged, ...] | None = None
    loads: tuple[Load, ...] | None = None
    work: tuple[Work, ...] | None = None
    merge: Merge | None = None
    measured: Measured | str | None = None
    lessons: tuple[Lesson, ...] | None = None
    expect: Expected | None = None
    also: dict[str, str] = {}
    without: dict[str, Any] = {}
    refused: bool = False
    unknown: dict[str, Any] | None = None


@dataclass(frozen=True)
class Case:
    """One case, or a variation of it."""

    name: str
    data: Mapping[str, Any]

    @property
    def told(self) -> Told:
        return msgspec.convert(_named(self.data), Told, strict=False)

    def but(self, change: Mapping[str, Any]) -> Case:
        """The same with a few facts changed."""
        return Case(self.name, over(self.data, change))

    def subject(self) -> Subject:
        told = self.told
        layout = _layout(told)
        return plan(_sources(told, layout), layout, told.recipe, told.image, limits(layout))

    def checks(self) -> tuple[Checked, ...]:
        return self.subject().plan.checks

    def findings(self) -> tuple[PlanFinding, ...]:
        return tuple(one for check in self.checks() for one in check.findings)


def read(path: Path) -> list[Case]:
    """The cases of a file, with their layers under them: one, or under `cases` several, each a difference from what stands there."""
    own = yaml.safe_load(path.read_text())
    several = own.pop("cases", None)
    if several is None:
        return [Case(path.stem, _layered({}, own))]
    return [Case(name, _layered(own, change)) for name, change in several.items()]


def cases() -> list[Case]:
    """Every case there is."""
    return [one for path in sorted(CASES.rglob("*.yaml")) if path.parent.name != "base" for one in read(path)]


def _layered(*parts: Mapping[str, Any]) -> Mapping[str, Any]:
    data: dict[str, Any] = {}
    for layer in (layer for part in parts for layer in part.get("layers", ())):
        data = over(data, _layer(layer))
    for part in parts:
        data = over(data, {name: value for name, value in part.items() if name != "layers"})
    return data


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are laid one over the other, anything else takes the place of what was there; null removes."""
    found = dict(below)
    for name, value in above.items():
        if isinstance(value, Mapping) and isinstance(found.get(name), Mapping) and not value.get("<new>"):
            found[name] = over(found[name], value)
        elif value is None and name in found and not isinstance(found[name], type(None)) and name not in Told.__struct_fields__ \
                and not _is_file(name):
            del found[name]
        else:
            found[name] = {k: v for k, v in value.items() if k != "<new>"} if isinstance(value, Mapping) else value
    return found


def sha(name: str) -> str:
    """The id of a commit that goes by a name."""
    made = hashlib.sha1(name.encode()).hexdigest()
    return (name + made)[:40] if _HEX.fullmatch(name) else made


@cache
def _layer(name: str) -> Mapping[str, Any]:
    return yaml.safe_load((CASES / "base" / f"{name}.yaml").read_text())


def _is_file(name: str) -> bool:
    return "/" in name and name.endswith((".py", ".toml"))


def _named(value: Any) -> Any:
    if isinstance(value, str):
        return _SHA.sub(lambda found: sha(found[1]), value)
    if isinstance(value, Mapping):
        return {_named(key): _named(part) for key, part in value.items()}
    return [_named(part) for part in value] if isinstance(value, list) else value


def _layout(told: Told) -> Layout:
    assets = PackagedAssets()
    presets = {name: assets.text(f"layout/presets/{name}.yml") for name in ("own", "inferencex")}
    return load(yaml.safe_dump({"version": 1, **told.layout}), file="layout.yml", presets=presets)


def _upstream(name: str, told: Mapping[str, Any]) -> UpstreamTold:
    """Commits by name, oldest first; `after: NAME` puts one behind another that a layer tells."""
    commits: list[tuple[str, dict[str, Any]]] = []
    for key, one in told.get("commits", {}).items():
        place = dict(one)
        behind = place.pop("after", None)
        at = next((n for n, (other, _) in enumerate(commits) if other == behind), len(commits) - 1)
        commits.insert(at + 1, (str(key), place))
    parents = {key: [sha(str(one)) for one in place["parents"]] for key, place in commits if "parents" in place}
    made = [{**place, "sha": sha(key), **({"parents": parents[key]} if key in parents else {}),
             **({"like": sha(place["like"])} if "like" in place else {})} for key, place in commits]
    refs = {part: {ref: sha(str(at)) for ref, at in told[part].items()} for part in ("tags", "branches") if told.get(part)}
    trees = {sha(str(at)): files for at, files in told.get("trees", {}).items()}
    return msgspec.convert({"repository": name, "commits": made, **refs, "trees": trees,
                            "packages": told.get("packages", {})}, UpstreamTold)


def _files(told: Told) -> TreeTold:
    files = {path: text if isinstance(text, str) else yaml.safe_dump(text, sort_keys=False)
             for path, text in told.files.items() if text is not None}
    entries = {**told.entries, **({told.recipe: told.entry} if told.entry else {})}
    for vendor in ("nvidia", "amd"):
        mine = {key: one for key, one in entries.items() if one.get("runner", "").removeprefix("cluster:").startswith("mi") == (vendor == "amd")}
        if mine:
            files[f"configs/{vendor}-master.yaml"] = yaml.safe_dump(mine, sort_keys=False, width=1000)
    return TreeTold(files)


def _sources(told: Told, layout: Layout) -> Sources:
    upstreams = UpstreamsTold([_upstream(name, one) for name, one in told.upstreams.items()])
    runners: Any = Unseen(why="403", needs="Administration: read") if told.runners is None else tuple(
        Runner(name=name, labels=labels, online=name not in told.offline) for name, labels in told.runners.items())
    assets = PackagedAssets()
    ports: dict[str, Any] = {
        "tree": _files(told), "registry": ImagesHere(told.images), "commits": CommitsTold(upstreams),
        "published": PublishedHere(told.measured), "schemes": schemes(assets), "now": told.now.replace(tzinfo=UTC),
        "engines": engines.load(assets.text("knowledge/engines.yaml"), file="knowledge/engines.yaml"), "upstreams": upstreams,
        "surveyor": SurveyorHere(told.unreadable), "fleet": FleetHere(told.staged, told.loads),
        "settings": SettingsHere(told.holder, runners), "me": told.me, "head": sha("head"), "tip": sha("main"),
        "neighbours": NeighboursHere(told.work, told.merge) if told.work is not None else None,
        "lessons": (lambda: told.lessons) if told.lessons is not None else None,
    }
    ports |= {name: Away() for name in told.away}
    known = {field.name for field in fields(Sources)}
    return Sources(**{name: port for name, port in ports.items() if name in known})


__all__ = ["CASES", "Case", "Expected", "Told", "cases", "over", "read", "sha"]
