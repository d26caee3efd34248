"""An image as a file writes it: in one scalar, or in pieces that are filled in one by one.

Helm writes `image: {registry, repository, tag, digest}`, kustomize `images: [{name, newName, newTag, digest}]`, a
Dockerfile `FROM vllm/vllm-openai:${TAG}`. A new image goes into the pieces that hold the old one, or is refused: text
that is no piece never moves, and where two ways of filling them in exist neither is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import yaml
from msgspec import Struct

from bot.errors import BadInput, Refusal
from bot.images import reference
from bot.layout.paths import Path, show

MAX_PARTS = 4  # each multiplies the ways in which a text may fall apart, above all where nothing stands between two
_TEXT = "tag:yaml.org,2002:str"
_TAG = r"[A-Za-z0-9_.-]+"
_DIGEST = r"sha256:[0-9a-f]{64}"
_HOST = r"(?:localhost|[A-Za-z0-9-]+[.:][A-Za-z0-9.:-]+)"
_NAME = r"[A-Za-z0-9._/:#-]+"
# What a piece may hold, by the parts of a reference that it covers today.
_HOLDS = {"n": _NAME, "t": _TAG, "d": _DIGEST, "nt": r"[^@]+", "td": rf"{_TAG}(?:@{_DIGEST})?", "ntd": r".+"}
# The keys that hold an image in pieces: host, name, tag, digest. The first of a pair that is there counts.
_SPLITS = ((("registry",), ("repository",), ("tag",), ("digest",)), ((), ("newName", "name"), ("newTag",), ("digest",)))
_ELSEWHERE = re.compile(r"\$[({]|\{\{|\$[A-Za-z_]")


class Hit(Struct, frozen=True):
    """A node found by a path: `steps` lead to it with every wildcard filled in; `key` is None for list items and roots."""

    steps: Path
    node: yaml.Node
    key: yaml.Node | None = None
    parent: yaml.Node | None = None


class Named(Struct, frozen=True):
    """An image, where it is told (`hit`), and its pieces in order: text that stays, and the scalars that hold the rest.

    `bound` says why the pieces cannot be filled in with another image, where that is known; else it is empty.
    """

    hit: Hit
    pieces: tuple[str | Hit, ...]
    bound: str = ""

    @property
    def text(self) -> str:
        return "".join(_said(piece) for piece in self.pieces)

    @property
    def whole(self) -> bool:
        """Whether one scalar holds all of it."""
        return len(self.pieces) == 1 and bool(self.parts)

    @property
    def parts(self) -> tuple[Hit, ...]:
        """The scalars that an edit would change, each once."""
        return tuple({piece.steps: piece for piece in self.pieces if isinstance(piece, Hit)}.values())

    def fill(self, image: str, place: str) -> dict[Path, str]:
        """What each scalar says once the whole, told as standing at `place`, says `image`. Refusal where it does not fit, or
        fits in two ways."""
        if self.bound:
            raise Refusal(self.bound, "give each image a text of its own, or edit it by hand")
        if self.whole:
            return {self.parts[0].steps: image}
        if len(self.parts) > MAX_PARTS or any(isinstance(one, Hit) and isinstance(two, Hit) for one, two in pairwise(self.pieces)):
            raise Refusal(f"{place}: {self.text} is pieced together too finely", "write it in fewer parts, or edit it by hand")
        spelt = next((text for text in (image, _spelt_out(image)) if _filled(self, text, "")), image)
        ways = [_filled(self, spelt, lazy) for lazy in ("", "?")]
        if ways[0] is None or ways[0] != ways[1]:
            shape = "".join(piece if isinstance(piece, str) else f"<{show(piece.steps)}>" for piece in self.pieces)
            how = "does not fit" if ways[0] is None else "fits in two ways into"
            raise Refusal(f"{place}: {image} {how} {shape}", "write the whole image in one place of the file, or edit it by hand")
        return ways[0]


def images_of(hit: Hit, file: str, *, strict: bool = True) -> Iterator[Named]:
    """The image that a node of YAML holds, none where it holds none. BadInput for one with a part that is no text (a tag that
    YAML reads as a number), unless it was only met on the way."""
    if isinstance(hit.node, yaml.ScalarNode):
        yield Named(hit, (hit,))
    elif isinstance(hit.node, yaml.MappingNode):
        held = {key.value: Hit((*hit.steps, key.value), node, key, hit.node) for key, node in hit.node.value}
        split = next((split for split in _SPLITS if any(key in held for key in split[1])), None)
        if split is not None:
            try:
                yield from _split(hit, held, split, file)
            except BadInput:
                if strict:
                    raise


def elsewhere(text: str) -> bool:
    """Whether a text is filled in by another program (`${IMAGE}`, `{{ .Values.image }}`): no edit may write over it."""
    return _ELSEWHERE.search(text) is not None


def _split(hit: Hit, held: dict[str, Hit], split: tuple[tuple[str, ...], ...], file: str) -> Iterator[Named]:
    pieces: list[str | Hit] = []
    for mark, keys in zip(("", "/", ":", "@"), split, strict=True):
        part = next((held[key] for key in keys if key in held and _filled_in(held[key])), None)
        if part is None:
            continue
        if not isinstance(part.node, yaml.ScalarNode) or part.node.tag != _TEXT:
            raise BadInput(f"{show(part.steps)} is no text", "put it in quotes", file=file,
                           line=part.node.start_mark.line + 1, key=show(part.steps))
        # Kustomize finds an image by its `name`, so that text is a selector and stays.
        pieces += [mark] if pieces else []
        pieces.append(part.node.value if part.steps[-1] == "name" else part)
    if any(key in held and _filled_in(held[key]) for key in split[1]) and any(isinstance(piece, Hit) for piece in pieces):
        yield Named(hit, tuple(pieces))


def _filled_in(part: Hit) -> bool:
    return not isinstance(part.node, yaml.ScalarNode) or part.node.value not in ("", "null", "~")


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
