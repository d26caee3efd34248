"""Whether image and checkpoint lie where the launcher of the fleet looks for them: 80 jobs once died seconds after they got their
nodes because one squash file was not there (#2919), and two jobs that fetched one model at once left half of it (#2951)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from bot.model.finding import Act, Checked, PlanFinding, Release
from bot.model.preflight import Facts, Staged
from bot.model.recipe import Recipe
from bot.model.text import Text
from bot.preflight.fleets import asked, fleets, serves
from bot.preflight.words import count, image, listed, safe, unknown

Kind = Literal["image", "model"]
_KINDS: tuple[Kind, ...] = ("image", "model")
_SEPARATORS = re.compile(r"[/:@#+]")
_FILES = re.compile(r"\.(?:sqsh|squashfs|sif|tar|tar\.gz|tgz)$", re.IGNORECASE)
_SCHEME = re.compile(r"^[a-z-]+://", re.IGNORECASE)
_CACHED = re.compile(r"models--([^/]+)--([^/]+)")
_WORDS = {"image": Text("image", "镜像"), "model": Text("model", "模型")}


class Lack(Struct, frozen=True):
    """What one fleet lacks for one recipe. `sure` False: its launcher fetches nothing, and nobody lists what lies there."""

    kind: Kind
    fleet: str
    name: str
    source: str
    seen: str
    sure: bool = True


def check(facts: Facts) -> Checked:
    """Per recipe and label over the fleets that its jobs may land on. Lacking on all of them stops; on some is a note, since a
    job may land elsewhere; where nobody says, nothing is known."""
    if facts.staged is None:
        return unknown(facts, "staging", "not-told")
    told = {(recipe.key, words): _fleets(facts, recipe, words)
            for recipe in facts.family for words in asked(facts, [recipe]).values()}
    if not told:
        return unknown(facts, "staging", "no-points")
    found: dict[tuple[str, ...], PlanFinding] = {}
    for lacks in told.values():
        for kind in _KINDS:
            lacking = [state for state in (lack[kind] for lack in lacks.values()) if isinstance(state, Lack)]
            if lacking:
                found.setdefault((kind, *(one.fleet for one in lacking)), _finding(lacking, of=len(lacks)))
    states = [state for lacks in told.values() for lack in lacks.values() for state in lack.values()]
    names = listed(fleet for lacks in told.values() for fleet in lacks)
    about = Text(f"image and model on {names}", f"{names} 上的镜像与模型")
    held = [f"{fleet} {name}" for recipe in facts.family for (key, _), lacks in told.items() if key == recipe.key
            for fleet, lack in lacks.items() for kind, name in (("image", facts.candidate.text), ("model", recipe.model))
            if lack[kind] is True]
    other = _moved(facts) and any(_tagged(facts, name) for one in facts.staged for name in one.images or ())
    return Checked(check="staging", findings=tuple(found.values()), about=about, held=tuple(dict.fromkeys(held)),
                   unknown=unknown(facts, "staging", "no-digest" if other else "no-list").unknown if None in states else None)


State = Lack | bool | None


def _fleets(facts: Facts, recipe: Recipe, words: Sequence[str]) -> dict[str, dict[Kind, State]]:
    made: dict[str, dict[Kind, State]] = {}
    for fleet in fleets(facts, words):
        said = [one for one in facts.staged or () if serves(one.runner, words, fleet)]
        made[fleet] = {"image": _image(facts, recipe, fleet, said), "model": _model(recipe, fleet, said, _jobs(recipe, words))}
    return made


def _image(facts: Facts, recipe: Recipe, fleet: str, said: Sequence[Staged]) -> State:
    """Whether the candidate is there; None where nobody says."""
    if any(_fetched(_called(recipe) | _spoken(facts), one.imports) for one in said):
        return True
    lists = [one for one in said if one.images is not None]
    names = [name for one in lists for name in one.images or ()]
    wanted = _spellings(facts)
    if any(wanted & _plain(name) for name in names):
        return True
    if any(_tagged(facts, name) for name in names):
        return None if _moved(facts) else True
    if lists:
        return Lack("image", fleet, facts.candidate.text, _source(lists), _none(len(names), "image"))
    hand = [one for one in said if one.by_hand]
    if not hand or _runs_already(facts, recipe):
        return None
    return Lack("image", fleet, facts.candidate.text, _source(hand), "its launcher does not import it", sure=False)


def _model(recipe: Recipe, fleet: str, said: Sequence[Staged], jobs: int) -> State:
    """Whether the checkpoint is there, or one job alone fetches it."""
    lists = [one for one in said if one.models is not None]
    if not lists or not recipe.model:
        return None
    names = [name for one in lists for name in one.models or ()]
    wanted = _called(recipe)
    if any(name.casefold() in wanted or _last(_CACHED.sub(r"\2", name.partition("/snapshots/")[0])) in wanted for name in names):
        return True
    fetching = [one for one in said if _fetched(wanted, one.downloads)]
    if fetching and (jobs < 2 or all(one.locked for one in fetching)):
        return True
    seen = _none(len(names), "model") + (f", and {jobs} jobs would fetch it at once" if fetching else "")
    return Lack("model", fleet, recipe.model, _source(lists), seen)


def _finding(lacking: Sequence[Lack], *, of: int) -> PlanFinding:
    one = lacking[0]
    sure, everywhere = all(lack.sure for lack in lacking), len(lacking) == of
    action: Act = "note" if not everywhere else "stop" if sure else "ask"
    name, fleet, kind = image(one.name), listed(lack.fleet for lack in lacking), _WORDS[one.kind]
    what = Text(f"the {kind.en} {name} is not staged on {fleet}", f"{fleet} 上没有就位的{kind.zh} {name}")
    if not sure:
        what = Text(f"the launcher of {fleet} does not fetch the {kind.en} {name} by itself, and nobody says that it is staged",
                    f"{fleet} 的启动器不会自行获取{kind.zh} {name}，也没有任何来源说明其已就位")
    return PlanFinding(
        check="staging", class_="model-not-staged", action=action, who="operator", where=one.source or "preflight.staging",
        evidence="; ".join(dict.fromkeys(f"{safe(lack.fleet)}: {image(lack.name)}: {lack.seen}" for lack in lacking)), what=what,
        next=Text(f"stage {name} on {fleet}, or let its launcher fetch it under a lock, and say so in the list of what is staged",
                  f"请在 {fleet} 上备妥 {name}，或让其启动器在加锁的情况下获取，并更新就位清单"),
        release=Release(of="staging", subject=f"{one.fleet} {one.name}",
                        says=Text(f"{name} is staged on {fleet}", f"{fleet} 上的 {name} 已就位")))


def _runs_already(facts: Facts, recipe: Recipe) -> bool:
    """Whether a recipe of this repository runs the candidate on such hardware: then it may have been put there."""
    return any(one.hardware.casefold() == recipe.hardware.casefold() for one in facts.siblings)


def _jobs(recipe: Recipe, words: Sequence[str]) -> int:
    asked_for = {word.casefold() for word in words}
    return sum({part.strip().casefold() for part in point.runner.split(",")} == asked_for for point in recipe.points)


def _called(recipe: Recipe) -> set[str]:
    """By what names launchers and operators call a recipe's model. A recipe of our own form has no prefix: `*` alone fits that."""
    prefix = recipe.prefix.casefold()
    short = {prefix, f"{prefix}-{recipe.precision}".casefold()} if prefix else set()
    return {recipe.model.casefold(), _last(recipe.model), recipe.key.casefold(), *short}


def _spoken(facts: Facts) -> set[str]:
    """The candidate's reference as people write it: with and without its digest, with and without its registry."""
    reference = facts.candidate.new.reference
    whole = facts.candidate.text.replace("#", "/").casefold()
    bare = whole.partition("@")[0]
    texts = {whole, bare, bare.rpartition(":")[0] if reference.tag else bare}
    short = {text.removeprefix(f"{reference.registry}/".casefold()) for text in texts}
    return {*texts, *short, *(f"{reference.registry}/{text}".casefold() for text in short)}


def _fetched(names: Iterable[str], globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob.casefold()) for name in names for glob in globs)


def _none(listed: int, noun: str) -> str:
    return f"none of {count(listed, f'staged {noun}')}" if listed else f"no {noun} is listed"


def _spellings(facts: Facts) -> set[str]:
    """How a launcher may call the candidate's file: the whole reference, or that without its registry."""
    reference = facts.candidate.new.reference
    texts = {facts.candidate.text, facts.candidate.text.replace("#", "/")}
    bare = {text.removeprefix(f"{reference.registry}/") for text in texts}
    return {_SEPARATORS.sub("_", text).casefold() for text in (*texts, *bare, *(f"{reference.registry}/{text}" for text in bare))}


def _plain(name: str) -> set[str]:
    """An image's name as files are called: launchers write `_` or `+` for what a file's name may not hold. A file is told by its
    last part, with or without a path; a reference keeps its folders."""
    text = _FILES.sub("", _SCHEME.sub("", name))
    file = text != name or ":" not in text
    return {_SEPARATORS.sub("_", one).casefold() for one in ((text, text.rpartition("/")[2]) if file else (text,))}


def _tagged(facts: Facts, name: str) -> bool:
    """Whether a list names the candidate by its reference. A digest is ours or one of its platforms'; a reference without one is
    its tag: the bot itself pins the digest, and no operator writes it down."""
    text, _, digest = _SCHEME.sub("", name).replace("#", "/").partition("@")
    new = facts.candidate.new
    if digest:
        known = {new.digest, new.reference.digest, *(one.digest for one in new.platforms)}
        return digest in known and text.casefold() in _spoken(facts)
    return ":" in text.rpartition("/")[2] and new.reference.tag is not None and text.casefold() in _spoken(facts)


def _moved(facts: Facts) -> bool:
    """Whether the recipe runs other bytes under the same tag now: which of both a list means, nobody knows."""
    old, new = facts.candidate.old, facts.candidate.new
    if (old.reference.name, old.reference.tag) != (new.reference.name, new.reference.tag):
        return False
    again = facts.candidate.repushed is not None or facts.candidate.was is not None
    return again or (old.reference.digest or old.digest) != new.digest


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2].casefold()


def _source(said: Sequence[Staged]) -> str:
    """Who says so, and when it was true."""
    one = said[0]
    return f"{one.source} ({one.at:%Y-%m-%d %H:%M}Z)" if one.at and one.source else one.source
