"""Whether the image that ran is the candidate: what servers reported against what the candidate's reference says.

A tag proves nothing about bytes: squash caches are keyed by it, one launcher hard-codes an image, and a bump measured the old
image and was called neutral. A version that the old and the new image share tells them not apart either; then only a commit
or a digest does. The server's word goes before its launcher's, and both before what the harness says it asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from bot.errors import BadInput
from bot.images.expected import Told, named, spellings, squashed, told
from bot.images.reference import parse
from bot.images.spoken import Spoken, commits_agree, fits, spoken
from bot.images.tags import Scheme
from bot.model.image import Candidate
from bot.model.result import Proof, Reported

Weight = Literal["is", "not", "cannot"]
Engines = Mapping[str, Sequence[str]]
_SHOWN = re.compile(r"[A-Za-z0-9_.:/#@+-]{1,300}")


class _Word(Struct, frozen=True, kw_only=True):
    """One report weighed against both images. `server`: the engine's own word, no launcher's; `exact`: more than a version,
    which a nightly may share with the release before it."""

    said: Reported
    new: Weight
    old: Weight
    server: bool
    exact: bool

    @property
    def verdict(self) -> Literal["new", "old", "other"] | None:
        """Whose image it speaks for; None where it tells nothing, or the same of both."""
        if self.new == "is":
            return None if self.old == "is" else "new"
        if self.old == "is" and (self.exact or self.new == "not"):
            return "old"
        return "other" if self.new == "not" else None


def prove(reported: Sequence[Reported], candidate: Candidate, *, schemes: Iterable[Scheme], engines: Engines,
          claims: Iterable[str] = (), trusted: bool = False, name: Callable[[str], str] = str) -> Proof:
    """What the reports of one job prove about the candidate.

    `engines` are those whose version logs can tell, with the repositories whose tags name it; `claims` are the images that the
    harness says it asked for: they count where no log could tell (an engine of which no wording is known, a tag that names
    neither version nor commit), and everywhere where the layout says that its logs do not (`trusted`). `name` spells an engine.
    """
    schemes = tuple(schemes)
    new, old = told(candidate.new, candidate.text, schemes, engines), told(candidate.old, "", schemes, engines)
    words = [_weighed(one, new, old) for one in reported]
    proof = Proof(state="unproven", wanted=new.words, cache=_cache(reported, new, old))
    for rank in (_server, _pulled, _named):
        decided = [word for word in words if rank(word) and word.verdict]
        if decided:
            return _agreed(_of(decided, words, proof, name), claims, new)
    return _without(words, new, old, proof, claims, trusted=trusted or not new.tells(engines), name=name)


def _agreed(proof: Proof, claims: Iterable[str], new: Told) -> Proof:
    """A proof that the results of its own point contradict is none: one of the two names what did not run."""
    others = [claim for claim in sorted(set(claims)) if _image(claim, new) == "not"]
    if proof.state != "proven" or not others:
        return proof
    named_there = others[0] if _SHOWN.fullmatch(others[0]) else ""
    return replace(proof, state="unproven", why="disagree", other=named_there)


def _server(word: _Word) -> bool:
    return word.server


def _pulled(word: _Word) -> bool:
    """A launcher's digest names bytes."""
    return not word.server and "sha256:" in word.said.value


def _named(word: _Word) -> bool:
    """A launcher's image by name: that it is another one is known by it; that it is the bytes meant is not."""
    return not word.server and word.verdict != "new"


def _of(decided: Sequence[_Word], words: Sequence[_Word], proof: Proof, name: Callable[[str], str]) -> Proof:
    against = [word for word in decided if word.verdict != "new"]
    if not against:
        return replace(proof, state="proven", ran=_shown(decided[0].said, name), cache="")
    old = all(word.verdict == "old" for word in against)
    wrong = tuple(sorted({word.said.node for word in against} - {""}))
    nodes = {word.said.node for word in words if word.server} - {""}
    state: Literal["stale", "conflicting"] = "stale" if len(against) == len(decided) else "conflicting"
    return replace(proof, state=state, ran=_shown(against[0].said, name), old=old, nodes=wrong if state == "conflicting" else (),
                   of=len(nodes) if state == "conflicting" else 0)


def _without(words: Sequence[_Word], new: Told, old: Told, proof: Proof, claims: Iterable[str], *, trusted: bool,
             name: Callable[[str], str]) -> Proof:
    """Where no report decides: what the harness asked for, and why that is not enough."""
    asked = sorted(set(claims))
    wrong = [claim for claim in asked if not named(claim, new)]
    if wrong:
        shown = wrong[0] if _SHOWN.fullmatch(wrong[0]) else ""
        return replace(proof, state="stale", ran=shown, why="harness", old=named(wrong[0], old))
    said = [word for word in words if word.server]
    shared = [word for word in said if word.new == word.old == "is"]
    heard = shared or said
    ran = _shown(heard[0].said, name) if heard else ""
    pinned = bool(shared) and new.pinned and all("@" in claim for claim in asked)
    if asked and (trusted or pinned):
        return replace(proof, state="claimed", ran=ran or asked[0], why="pinned" if pinned else "harness", cache="")
    return replace(proof, ran=ran, why="shared" if shared else "other-word" if said else "silent")


def _weighed(said: Reported, new: Told, old: Told) -> _Word:
    if said.kind in ("version", "commit"):
        word = spoken(said)
        exact = word is not None and word.commit is not None
        return _Word(said=said, new=_version(word, new), old=_version(word, old), server=True, exact=exact)
    weigh: Any = _digest if said.kind == "digest" else _image
    return _Word(said=said, new=weigh(said.value, new), old=weigh(said.value, old), server=False, exact=True)


def _version(word: Spoken | None, image: Told) -> Weight:
    """The commit of a tag decides where both tell one; else the version, where the tag names this engine's. A label's commit
    may be its base image's: it can prove, and contradicts nothing."""
    if word is None or (word.engine and image.engine and word.engine != image.engine):
        return "cannot"
    certain = bool(image.engine) and word.engine == image.engine  # whose word it is must be known before it contradicts
    if word.commit and image.commit:
        if commits_agree(word.commit, image.commit):
            return "is"
        if image.tagged:
            return "not" if certain else "cannot"
    if word.version is None or image.version is None:
        return "cannot"
    if fits(word.version, image.version):
        return "is"
    return "not" if certain and not image.tagged else "cannot"


def _digest(digest: str, image: Told) -> Weight:
    return "is" if digest in image.digests else "cannot"


def _image(text: str, image: Told) -> Weight:
    """An image by name. One of another repository is the proxy's or the database's, and says nothing."""
    if text.endswith(".sqsh"):
        return _squash(text, image)
    try:
        reference = parse(text)
    except BadInput:
        return "cannot"
    if reference.name != image.reference.name:
        return "cannot"
    if reference.digest:
        return "is" if reference.digest in image.digests else "not"
    return "is" if reference.tag == image.reference.tag else "not"


def _squash(text: str, image: Told) -> Weight:
    file = squashed(text.removesuffix(".sqsh"))
    if file in spellings(image):
        return "is"
    prefixes = {squashed(name) for name in image.names}
    return "not" if any(file.startswith(f"{prefix}_") for prefix in prefixes) else "cannot"


def _cache(reported: Sequence[Reported], new: Told, old: Told) -> str:
    """The squash file that a launcher used for one of the two images, if it says so."""
    files = [one.value for one in reported if one.value.endswith(".sqsh")]
    return next((file for file in files if _squash(file, new) != "cannot" or _squash(file, old) != "cannot"), "")


def _shown(said: Reported, name: Callable[[str], str]) -> str:
    text = f"{name(said.engine)} {said.value}" if said.engine else said.value
    return text if all(_SHOWN.fullmatch(part) for part in text.split(" ")) else ""
