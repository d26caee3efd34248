"""One YAML file as bytes, text and nodes with their places: what a byte-exact edit needs to know.

Marks of the C loader count code points of the text, not bytes, and are one short when a byte order mark leads the
text; so the mark is cut off here and put back by the splice, and every place is an index into `text`.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import yaml

from bot.errors import BadInput
from bot.layout.paths import Path, Step, show, steps
from bot.recipe.files.named import Hit, Named, images_of

__all__ = ["Document", "Hit", "Path", "Step", "show", "steps", "value"]

MAX_BYTES = 8_000_000
MAX_NODES = 400_000
MAX_DEPTH = 60
_STR = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


class Document:
    """The parsed file. Equal bytes give equal documents; nothing here changes.

    `doubles` are the mappings in which a key stands twice (PyYAML silently keeps the last): no path leads through one.
    Elsewhere in the file they are reported and borne, since a real recipe has one far from its image. `usual` are the
    paths of the image where nobody named one.
    """

    usual: tuple[str, ...] = (".image",)

    def __init__(self, data: bytes, file: str = "") -> None:
        self.data, self.file = data, file
        self.bom = data.startswith(codecs.BOM_UTF8)
        self.text = _decode(data, file)
        self.roots: tuple[yaml.Node, ...] = self._nodes()
        self.doubles = _doubles(self.roots, self)

    def _nodes(self) -> tuple[yaml.Node, ...]:
        return tuple(_compose(self.text, self.file))

    def again(self, text: str) -> Document:
        """What the same file says with another text: the proof of an edit reads it so."""
        return type(self)(self.encode(text), self.file)

    def line(self, index: int) -> int:
        """The line (from 1, as editors and git count) on which a place of the text stands."""
        return self.text.count("\n", 0, index) + 1

    def span(self, node: yaml.Node) -> tuple[int, int]:
        return node.start_mark.index, node.end_mark.index

    @cached_property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def encode(self, text: str) -> bytes:
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode("utf-8")

    def find(self, path: str | Sequence[Step], *, document: int = 0) -> list[Hit]:
        """Every node a path leads to, in file order; `*` stands for every key or item. Missing steps find nothing."""
        if document >= len(self.roots):
            return []
        return list(self._walk(Hit((), self.roots[document]), steps(path)))

    def _walk(self, at: Hit, path: Path) -> Iterator[Hit]:
        if not path:
            yield at
            return
        step, rest = path[0], path[1:]
        if isinstance(at.node, yaml.MappingNode):
            merged = (Hit((*at.steps, key.value), child, key, at.node) for key, child in at.node.value if key.value == step)
            for child in merged if step == "<<" else self._entries(at, str(step)):
                yield from self._walk(child, rest)
        elif isinstance(at.node, yaml.SequenceNode):
            wanted = int(step) if str(step).isdigit() else None
            for index, child in enumerate(at.node.value):
                if step == "*" or index == wanted:
                    yield from self._walk(Hit((*at.steps, index), child, None, at.node), rest)

    def _entries(self, at: Hit, step: str, taken: frozenset[str] = frozenset()) -> Iterator[Hit]:
        """A mapping's own entries of a name (`*`: all), then those that it merges (`<<: *base`) and does not have itself, by
        the way that leads there: `<<` is a step of it."""
        if id(at.node) in self.doubles:
            raise self.doubles[id(at.node)]
        merged = []
        for key, child in at.node.value:
            if key.tag == _MERGE:
                merged.append(Hit((*at.steps, key.value), child, key, at.node))
            elif step in ("*", key.value) and key.value not in taken:
                yield Hit((*at.steps, key.value), child, key, at.node)
        taken = taken.union(key.value for key, _ in at.node.value) if merged else taken
        parts = [part for hit in merged for part in _bases(hit)]
        if step == "*" or len(parts) < 2:
            for part in parts:
                yield from self._entries(part, step, taken)
                taken |= {key.value for key, _ in part.node.value}
        elif found := [hit for part in parts for hit in self._entries(part, step, taken)]:
            if len({id(hit.node) for hit in found}) > 1:
                # By the specification the first counts; PyYAML 6.0.4 takes the last of most keys, and the first of some.
                raise self.fault(found[0], f"{step} stands in {len(found)} of the mappings that {show(at.steps)} merges",
                                 f"readers differ on which counts: write {step} into {show(at.steps)} itself")
            yield found[0]

    def images(self, path: str | Sequence[Step], *, document: int = 0) -> list[Named]:
        """The images that stand at a path, each whole or in its pieces."""
        hits = self.find(path, document=document)
        if double := next((self.doubles[id(hit.node)] for hit in hits if id(hit.node) in self.doubles), None):
            raise double
        return [named for hit in hits for named in images_of(hit, self.fault)]

    def fault(self, hit: Hit, reason: str, hint: str) -> BadInput:
        """What is wrong at a place, with its line."""
        return BadInput(reason, hint, file=self.file, line=self.line(hit.node.start_mark.index), key=show(hit.steps))

    def many(self, path: str) -> bool:
        """Whether a path may lead to several places, so that what it finds need not all be meant."""
        return "*" in steps(path)

    def scalar(self, path: str | Sequence[Step], *, document: int = 0) -> str | None:
        """The text of the one scalar at a path; None when nothing stands there or it is no scalar."""
        for hit in self.find(path, document=document):
            if isinstance(hit.node, yaml.ScalarNode):
                return hit.node.value
        return None


def value(node: yaml.Node) -> Any:
    """The plain value of a node. Aliases share one object; more than MAX_NODES expanded nodes are refused."""
    if _weigh(node, {}) > MAX_NODES:
        raise BadInput("its aliases unfold to too much", "write the values out", line=node.start_mark.line + 1)
    try:
        return _build(node, yaml.constructor.SafeConstructor(), {})
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise BadInput(f"no plain value: {str(error).splitlines()[0]}", "mend it", line=node.start_mark.line + 1) from None


def _bases(hit: Hit) -> list[Hit]:
    """The mappings that a merge names, one or a list of them."""
    parts = [hit] if not isinstance(hit.node, yaml.SequenceNode) else [
        Hit((*hit.steps, index), child, None, hit.node) for index, child in enumerate(hit.node.value)]
    return [part for part in parts if isinstance(part.node, yaml.MappingNode)]


def _decode(data: bytes, file: str) -> str:
    if len(data) > MAX_BYTES:
        raise BadInput(f"larger than {MAX_BYTES} bytes", "split it", file=file)
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=file) from None
    if text.startswith("\ufeff"):
        raise BadInput("two byte order marks", "keep one at most", file=file, line=1)
    return text


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Composing asks these for every node but an alias: so it is bounded while it runs, and needs no pass of its own."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._count = 0

    def descend_resolver(self, parent: yaml.Node | None, index: Any) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_DEPTH or self._count > MAX_NODES:
            raise _TooMuch(parent.start_mark if parent else None)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        if kind is not yaml.ScalarNode:
            return super().resolve(kind, value, implicit)
        return _tag(value) if implicit[0] else _STR


class _TooMuch(ValueError):
    def __init__(self, mark: yaml.Mark | None) -> None:
        super().__init__("nested too deeply or too large")
        self.mark = mark


@lru_cache(maxsize=1 << 14)
def _tag(plain: str) -> str:
    """What YAML 1.1 takes a plain scalar for. Recipes repeat themselves: a tenth of a master's scalars are distinct."""
    return yaml.resolver.Resolver().resolve(yaml.ScalarNode, plain, (True, False))


def _compose(text: str, file: str) -> Iterator[yaml.Node]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            yield loader.get_node()
    except _TooMuch as error:
        raise BadInput(str(error), "flatten or split it", file=file, line=_line(text, error.mark)) from None
    except (yaml.YAMLError, ValueError) as error:
        raise _not_yaml(error, text, file) from None
    finally:
        loader.dispose()


def _line(text: str, mark: yaml.Mark | None) -> int | None:
    """A mark's line as editors and git count: YAML ends one at U+0085 and U+2028 too."""
    return text.count("\n", 0, mark.index) + 1 if mark else None


def _not_yaml(error: Exception, text: str, file: str) -> BadInput:
    if isinstance(error, yaml.MarkedYAMLError):
        line = _line(text, error.problem_mark or error.context_mark)
        return BadInput(f"not YAML: {error.problem or error.context}", "mend the line", file=file, line=line)
    return BadInput(f"not YAML: {str(error).splitlines()[0]}", "mend it", file=file)


def _doubles(roots: Sequence[yaml.Node], document: Document) -> dict[int, BadInput]:
    """Every mapping with a repeated key, by node, as the refusal to use it. A value that contains itself is refused here."""
    found: dict[int, BadInput] = {}
    seen: set[int] = set()
    open_nodes: set[int] = set()
    stack: list[tuple[yaml.Node, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, leaving = stack.pop()
        if leaving:
            open_nodes.discard(id(node))
        elif id(node) in open_nodes:
            raise BadInput("a value contains itself", "remove the alias", file=document.file,
                           line=document.line(node.start_mark.index))
        elif id(node) not in seen and not isinstance(node, yaml.ScalarNode):
            seen.add(id(node))
            open_nodes.add(id(node))
            stack.append((node, True))
            if isinstance(node, yaml.MappingNode) and (double := _double(node, document)):
                found[id(node)] = double
            stack.extend((child, False) for child in reversed(_children(node)) if not isinstance(child, yaml.ScalarNode))
    return found


def _double(node: yaml.MappingNode, document: Document) -> BadInput | None:
    if len({key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)}) == len(node.value):
        return None
    names: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise BadInput("a key must be a word", "quote it", file=document.file,
                           line=document.line(key.start_mark.index))
        if (key.tag, key.value) in names:
            return BadInput("this key stands twice", "keep one", file=document.file,
                            line=document.line(key.start_mark.index), key=key.value)
        names.add((key.tag, key.value))
    return None


def _children(node: yaml.Node) -> list[yaml.Node]:
    return node.value if isinstance(node, yaml.SequenceNode) else [child for _, child in node.value]


def _weigh(node: yaml.Node, known: dict[int, int]) -> int:
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = 1 + sum(_weigh(part, known) for part in _children(node))
    return known[id(node)]


def _build(node: yaml.Node, scalars: Any, known: dict[int, Any]) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return scalars.construct_object(node)
    if id(node) in known:
        return known[id(node)]
    if isinstance(node, yaml.SequenceNode):
        made: Any = [_build(item, scalars, known) for item in node.value]
    else:
        made, own = {}, set()
        for key, child in node.value:
            built = _build(child, scalars, known)
            if key.tag == _MERGE:
                for base in built if isinstance(built, list) else [built]:
                    made = {**base, **made} if isinstance(base, dict) else made
                continue
            name = scalars.construct_object(key)
            if name in own:
                raise BadInput("this key stands twice", "keep one", line=key.start_mark.line + 1, key=key.value)
            own.add(name)
            made[name] = built
    known[id(node)] = made
    return made
