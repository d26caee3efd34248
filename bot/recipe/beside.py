"""The images in a file that belongs to recipes and is not told where they stand: a values.yaml, a Dockerfile beside manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from bot.recipe.files.document import Document, Hit, Path
from bot.recipe.files.named import Named, images_of

_MOST_AGAIN = 10_000  # aliases of aliases unfold without end; what is left out then stands in the way of the edit's proof


def images(document: Document, index: int, paths: Sequence[str]) -> Iterator[Named]:
    """What stands at the paths, or without any wherever an image can stand: in a Dockerfile at its usual places, in YAML at
    every value, also by each alias of it: all of them move. A mapping with a key twice is passed over: no edit leads there."""
    where = paths or (document.usual if document.usual != Document.usual else ())
    for path in where:
        yield from document.images(path, document=index)
    if where:
        return
    seen: set[int] = set()
    again = _MOST_AGAIN
    stack: list[Hit] = [Hit((), document.roots[index])]
    while stack:
        hit = stack.pop()
        again -= id(hit.node) in seen
        if id(hit.node) in document.doubles or (id(hit.node) in seen and again < 0):
            continue
        seen.add(id(hit.node))
        split = list(images_of(hit, document.fault, strict=False))
        yield from split
        whole = bool(split)
        stack.extend(reversed([child for child in _children(hit) if not (whole and isinstance(child.node, yaml.ScalarNode))]))


def _children(hit: Hit) -> Iterator[Hit]:
    steps: Path = hit.steps
    if isinstance(hit.node, yaml.MappingNode):
        yield from (Hit((*steps, key.value), node, key, hit.node) for key, node in hit.node.value)
    elif isinstance(hit.node, yaml.SequenceNode):
        yield from (Hit((*steps, at), node, None, hit.node) for at, node in enumerate(hit.node.value))
