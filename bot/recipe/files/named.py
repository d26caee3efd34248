"""An image as a file writes it: in one scalar, or in pieces that are filled in one by one.

Helm writes `image: {registry, repository, tag, digest}`, kustomize `images: [{name, newName, newTag, digest}]`, a
Dockerfile `FROM vllm/vllm-openai:${TAG}`. A new image goes into the pieces that hold the old one, or is refused: text
that is no piece never moves, and where two ways of filling them in exist neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal

import yaml
from msgspec import Struct

from bot.errors import BadInput, Refusal
from bot.images import reference
from bot.layout.paths import Path, show

MAX_PARTS = 4  # each multiplies the ways in which a text may fall apart, above all where nothing stands between two
_TEXT, _NULL, _OURS = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null", "tag:yaml.org,2002:"
_KINDS = {"int": "a number", "float": "a number", "bool": "a truth value", "timestamp": "a date"}
_TAG = r"[A-Za-z0-9_.-]+"
_DIGEST = r"sha256:[0-9a-f]{64}"
_HOST = r"(?:localhost|[A-Za-z0-9-]+[.:][A-Za-z0-9.:-]+)"
_NAME = r"[A-Za-z0-9._/:#-]+"
# What a piece may hold, by the parts of a reference that it covers today.
_HOLDS = {"n": _NAME, "t": _TAG, "d": _DIGEST, "nt": r"[^@]+", "td": rf"{_TAG}(?:@{_DIGEST})?", "ntd": r".+"}
Part = Literal["host", "name", "tag", "digest"]
_MARKS: dict[Part, str] = {"host": "", "name": "/", "tag": ":", "digest": "@"}
# The keys that hold an image in parts. The first of a pair that is there counts.
_SPLITS: tuple[dict[Part, tuple[str, ...]], ...] = (
    {"host": ("registry",), "name": ("repository",), "tag": ("tag",), "digest": ("digest",)},
    {"name": ("newName", "name"), "tag": ("newTag",), "digest": ("digest",)})
_ELSEWHERE = re.compile(r"\$[({]|\{\{|\$[A-Za-z_]")


class Hit(Struct, frozen=True):
    """A node found by a path: `steps` lead to it with every wildcard filled in; `key` is None for list items and roots."""

    steps: Path
    node: yaml.Node
    key: yaml.Node | None = None
    parent: yaml.Node | None = None


# A place and what is wrong there, as the file that knows its lines tells it.
Fault = Callable[[Hit, str, str], BadInput]


class Named(Struct, frozen=True):
    """An image, where it is told (`hit`), and its pieces in order: text that stays, and the scalars that hold the rest.

    `bound` says why the pieces cannot be filled in with another image, where that is known; else it is empty. `split` are the
    places of a mapping that holds an image in parts, by what each holds, also those that are empty.
    """

    hit: Hit
    pieces: tuple[str | Hit, ...]
    bound: str = ""
    split: dict[Part, Hit] | None = None

    @property
    def text(self) -> str:
        return "".join(_said(piece) for piece in self.pieces)

    @property
    def whole(self) -> bool:
        """Whether one scalar holds all of it."""
        return self.split is None and len(self.pieces) == 1 and bool(self.parts)

    @property
    def parts(self) -> tuple[Hit, ...]:
        """The scalars that an edit would change, each once."""
        pieces = self.pieces if self.split is None else self.split.values()
        return tuple({piece.steps: piece for piece in pieces if isinstance(piece, Hit)}.values())

    def fill(self, image: str, place: str) -> dict[Path, str]:
        """What each scalar says once the whole, told as standing at `place`, says `image`; an empty one that stays so is left
        out. Refusal where it does not fit, or fits in two ways."""
        if self.bound:
            raise Refusal(self.bound, "give each image a text of its own, or edit it by hand")
        if self.whole:
            return {self.parts[0].steps: image}
        if self.split is not None:
            ways = [_parted(self, self.split, image)] * 2
        elif len(self.parts) > MAX_PARTS or any(
                isinstance(one, Hit) and isinstance(two, Hit) for one, two in pairwise(self.pieces)):
            raise Refusal(f"{place}: {self.text} is pieced together too finely", "write it in fewer parts, or edit it by hand")
        else:
            spelt = next((text for text in (image, _spelt_out(image)) if _filled(self, text, "")), image)
            ways = [_filled(self, spelt, lazy) for lazy in ("", "?")]
        if ways[0] is None or ways[0] != ways[1]:
            shape = "".join(piece if isinstance(piece, str) else f"<{show(piece.steps)}>" for piece in self.pieces)
            how = "does not fit" if ways[0] is None else "fits in two ways into"
            raise Refusal(f"{place}: {image} {how} {shape}", "write the whole image in one place of the file, or edit it by hand")
        return ways[0]


def images_of(hit: Hit, fault: Fault, *, strict: bool = True) -> Iterator[Named]:
    """The image that a node of YAML holds, none where it holds none. BadInput (by `fault`) for one that is no text, or has a part
    that is none (a tag that YAML reads as a number), unless it was only met on the way."""
    try:
        if isinstance(hit.node, yaml.MappingNode):
            yield from _split(hit, fault)
        elif isinstance(hit.node, yaml.ScalarNode) and hit.node.tag != _NULL:
            _refuse_number(hit, fault)
            if strict:
                _refuse_part(hit, fault)
            yield Named(hit, (hit,))
    except BadInput:
        if strict:
            raise


def _refuse_number(hit: Hit, fault: Fault) -> None:
    if hit.node.tag != _TEXT and hit.node.tag.startswith(_OURS):
        kind = _KINDS.get(hit.node.tag.removeprefix(_OURS), "no text")
        raise fault(hit, f"{show(hit.steps)} is {kind}", "put it in quotes")


def _refuse_part(hit: Hit, fault: Fault) -> None:
    """A whole image in the place of a tag would leave the repository beside it as it was."""
    whole = Hit(hit.steps[:-1], hit.parent) if isinstance(hit.parent, yaml.MappingNode) else None
    found = _places(whole) if whole else None
    if whole and found and len(found) > 1 and any(part.node is hit.node for part in found.values()):
        raise fault(hit, f"{show(hit.steps)} is a part of the image that {show(whole.steps) or 'this mapping'} holds",
                    "name that mapping in the layout, not what is inside it")


def elsewhere(text: str) -> bool:
    """Whether a text is filled in by another program (`${IMAGE}`, `{{ .Values.image }}`): no edit may write over it."""
    return _ELSEWHERE.search(text) is not None


def _places(hit: Hit) -> dict[Part, Hit] | None:
    """Where a mapping holds each part of an image, empty places too; None where it holds no image in parts."""
    held = {key.value: Hit((*hit.steps, key.value), node, key, hit.node) for key, node in hit.node.value}
    split = next((split for split in _SPLITS if any(key in held for key in split["name"])), None)
    if split is None:
        return None
    found: dict[Part, Hit] = {}
    for part, keys in split.items():
        there = [held[key] for key in keys if key in held]
        there.sort(key=_is_empty)
        if there:
            found[part] = there[0]
    return found


def _split(hit: Hit, fault: Fault) -> Iterator[Named]:
    found = _places(hit)
    if found is None or _is_empty(found["name"]):
        return
    pieces: list[str | Hit] = []
    for part, mark in _MARKS.items():
        if part in found and not _is_empty(found[part]):
            if not isinstance(found[part].node, yaml.ScalarNode) or found[part].node.tag != _TEXT:
                raise fault(found[part], f"{show(found[part].steps)} is no text", "put it in quotes")
            pieces += [mark, found[part]] if pieces else [found[part]]
    # Kustomize finds an image by its `name`, so that text is a selector and stays.
    if found["name"].steps[-1] == "name":
        pieces[0] = found["name"].node.value
    # Behind a bare `digest:` nothing can be put in place of nothing.
    places = {part: one for part, one in found.items()
              if one.steps[-1] != "name" and one.node.start_mark.index < one.node.end_mark.index}
    if places and any(isinstance(piece, Hit) for piece in pieces):
        yield Named(hit, tuple(pieces), split=places)


def _is_empty(part: Hit) -> bool:
    return isinstance(part.node, yaml.ScalarNode) and (part.node.value == "" or part.node.tag == _NULL)


def _parted(named: Named, places: dict[Part, Hit], image: str) -> dict[Path, str] | None:
    """What each part of a split image says; None where one has no place. The digest of another image never stays: its place is
    emptied."""
    new, old = _apart(image), _apart(named.text)
    said = {part: "" if _is_empty(one) else one.node.value for part, one in places.items()}
    if said.get("host") or ("host" in places and new["host"] and not old["host"]):
        new = new if new["host"] else _apart(_spelt_out(image))
        made = {"host": new["host"], "name": new["path"]}
    else:
        made = {"name": new["host"] + new["mark"] + new["path"]}
    # A part may hold those behind it too: `tag: v1@sha256:...`, `repository: x/y:v1`.
    for part, mark in (("tag", ":"), ("digest", "@")):
        inside = next((name for name in ("tag", "name") if name != part and mark in said.get(name, "").rpartition("/")[2]), None)
        if part in places:
            made[part] = new[part]
        elif new[part] and inside:
            made[inside] += mark + new[part]
        elif new[part]:
            return None
    fixed = old["host"] + old["mark"] + old["path"] if "name" not in places else ""
    if fixed and made.pop("name") != fixed:
        return None
    # A chart puts a tag of its own in the place of an empty one, so that one is never made.
    if any(said.get(part) and not made[part] for part in ("host", "tag") if part in places):
        return None
    whole = {"name": fixed, **made}
    text = "".join(f"{mark if at else ''}{whole[part]}" for at, (part, mark) in enumerate(
        (part, mark) for part, mark in _MARKS.items() if whole.get(part)))
    if text not in (image, _spelt_out(image)):
        return None
    return {places[part].steps: text for part, text in made.items() if text or said[part]}


def _apart(image: str) -> dict[str, str]:
    """The parts of an image's text as it is written: host, the mark behind it, path, tag, digest."""
    name, _, digest = image.partition("@")
    found = re.match(rf"({_HOST})([/#])", name)
    host, mark = (found[1], found[2]) if found else ("", "")
    path, _, tag = name[len(host + mark):].partition(":")
    return {"host": host, "mark": mark, "path": path, "tag": tag, "digest": digest}


def _said(piece: str | Hit) -> str:
    return piece if isinstance(piece, str) else piece.node.value


def _spelt_out(image: str) -> str:
    """The image with its registry, which a file that has a place of its own for it wants."""
    found = reference.parse(image)
    return reference.with_style(found, reference.parse(f"{found.registry}/x")).text


def _filled(named: Named, image: str, lazy: str) -> dict[Path, str] | None:
    """The pieces of `image`, each as long (or, lazily, as short) as can be; None when it does not fit."""
    groups: dict[Path, str] = {}
    pattern, at = "", 0
    for place, piece in enumerate(named.pieces):
        said = _said(piece)
        if isinstance(piece, str):
            pattern += re.escape(piece)
        elif piece.steps in groups:
            pattern += f"(?P={groups[piece.steps]})"
        else:
            groups[piece.steps] = f"p{place}"
            pattern += f"(?P<p{place}>{_holds(named, at, said, lazy)})"
        at += len(said)
    found = re.fullmatch(pattern, image)
    return {steps: found[name] for steps, name in groups.items()} if found else None


def _holds(named: Named, at: int, said: str, lazy: str) -> str:
    whole = named.text
    name, mark, _ = whole.partition("@")
    tail = name.rpartition("/")[2].partition(":")
    bounds = ((0, len(name) - len(tail[1]) - len(tail[2]), "n"), (len(name) - len(tail[2]), len(name), "t"),
              (len(name) + len(mark), len(whole), "d"))
    covers = "".join(letter for start, end, letter in bounds if start < end and at < end and at + len(said) > start)
    if covers == "n" and at == 0 and len(said) < bounds[0][1] and re.fullmatch(_HOST, said):
        return _HOST
    if covers == "d" and not re.fullmatch(_DIGEST, said):
        return re.escape(said)
    held = _HOLDS.get(covers, re.escape(said))
    return held + lazy if held.endswith("+") else held
