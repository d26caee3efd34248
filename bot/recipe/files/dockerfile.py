"""A Dockerfile read into the same kind of document as YAML, so that one splice and one proof serve both.

Its tree has one scalar for each place that may hold an image, and one for all the text between them: an edit is proved
when the places named say what was wanted and nothing else differs. Paths: `.FROM` (every base image that is no earlier
stage), `.FROM.1` (as stages are counted), `.FROM.name`, `.ARG.NAME`, `.COPY` and `.RUN` (what `--from=` and
`--mount=from=` take from another image).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from bot.errors import BadInput
from bot.recipe.files import dockerlines, dockervars
from bot.recipe.files.dockerlines import Instruction, Word
from bot.recipe.files.dockervars import Leaf
from bot.recipe.files.document import Document, Hit, Path, Step, steps
from bot.recipe.files.named import Named

MAX_BYTES = 1_000_000
MAX_PLACES = 500
_NAME = re.compile(r"(?:docker|container)file(?:[._-].+)?|.+\.(?:docker|container)file", re.IGNORECASE)
_NEVER = (".yaml", ".yml", ".json", ".dockerignore")
_STR, _MAP = "tag:yaml.org,2002:str", "tag:yaml.org,2002:map"
_SECTIONS = ("FROM", "ARG", "COPY", "RUN")


def is_dockerfile(path: str) -> bool:
    """Whether a file is a Dockerfile, by its name (`Dockerfile.cuda`, `serving.Dockerfile`, `Containerfile`)."""
    name = path.rpartition("/")[2]
    return _NAME.fullmatch(name) is not None and not name.lower().endswith(_NEVER)


class Dockerfile(Document):
    """The parsed file. What no builder would take is BadInput; an image that cannot be told is, when it is asked for."""

    usual = (".FROM", ".COPY", ".RUN")

    def _nodes(self) -> tuple[yaml.Node, ...]:
        if len(self.text) > MAX_BYTES:
            raise BadInput(f"larger than {MAX_BYTES} characters", "split it", file=self.file)
        read = dockerlines.read(self.text, self.file)
        self.stages: list[str] = []
        self._images: dict[Path, tuple[str | Leaf, ...] | BadInput] = {}
        self._args = dockervars.Args(read.escape, self.file)
        for instruction in read.instructions:
            _READ.get(instruction.name, lambda *_: None)(self, instruction)
            if len(self.stages) + len(self._images) + len(self._args.leaves) > MAX_PLACES:
                raise BadInput(f"more than {MAX_PLACES} places of images", "split it", file=self.file, line=instruction.line)
        if not self.stages:
            raise BadInput("there is no FROM", "a Dockerfile begins with one", file=self.file)
        self._leaves = {leaf.steps: leaf for leaf in self._args.leaves}
        self._leaves |= {piece.steps: piece for pieces in self._images.values() if isinstance(pieces, tuple)
                         for piece in pieces if isinstance(piece, Leaf)}
        return (self._tree(),)

    def find(self, path: str | Sequence[Step], *, document: int = 0) -> list[Hit]:
        """Every place a path leads to; a stage's name stands for its number."""
        return super().find(self._numbered(steps(path)), document=document)

    def images(self, path: str | Sequence[Step], *, document: int = 0) -> list[Named]:
        """The images at a path, in file order. BadInput where the only ones that could be meant cannot be told."""
        way = self._numbered(steps(path))
        if way[:1] == ("ARG",):
            return [self._argument(hit) for hit in super().find(way, document=document)]
        found = [(at, pieces) for at, pieces in self._images.items()
                 if len(at) >= len(way) and all(want in ("*", have) for want, have in zip(way, at, strict=False))]
        told = [self._named(at, pieces) for at, pieces in found if not isinstance(pieces, BadInput)]
        if not told and found:
            raise next(fault for _, fault in found if isinstance(fault, BadInput))
        return told

    def many(self, path: str) -> bool:
        return super().many(path) or len(steps(path)) < 2

    def _numbered(self, way: Path) -> Path:
        """Steps as the tree has them: sections in capitals, stages by number, numbers as text."""
        if not way:
            return way
        first = str(way[0]).upper()
        rest = [str(step) for step in way[1:]]
        if first == "FROM" and rest and rest[0].lower() in self.stages:
            rest[0] = str(self.stages.index(rest[0].lower()))
        return (first, *rest)

    def _named(self, at: Path, pieces: Sequence[str | Leaf]) -> Named:
        hits = tuple(piece if isinstance(piece, str) else self._hit(piece) for piece in pieces)
        return Named(next((hit for hit in hits if isinstance(hit, Hit)), Hit(at, self.roots[0])), hits, self._bound(at, pieces))

    def _argument(self, hit: Hit) -> Named:
        """An ARG that is asked for by its own name must hold a whole image: with a part of one, FROM is to be named."""
        for at, pieces in self._images.items():
            if not isinstance(pieces, BadInput) and len(pieces) > 1 and any(
                    isinstance(piece, Leaf) and piece.steps == hit.steps for piece in pieces):
                raise BadInput("this ARG is a part of an image", f"name .FROM.{at[-1]} in the layout's `image`", file=self.file,
                               line=self.line(hit.node.start_mark.index), key=str(hit.steps[-1]))
        return Named(hit, (hit,))

    def _bound(self, at: Path, pieces: Sequence[str | Leaf]) -> str:
        """Why these pieces cannot move: another image is made of them too, and is not this one."""
        mine, said = {piece.steps for piece in pieces if isinstance(piece, Leaf)}, _said(pieces)
        for other, parts in self._images.items():
            if other == at or isinstance(parts, BadInput) or _said(parts) == said:
                continue
            shared = next((piece for piece in parts if isinstance(piece, Leaf) and piece.steps in mine), None)
            if shared is not None:
                return (f"{self.file}:{self.line(shared.start)}: {'.'.join(map(str, shared.steps))} is a part of {said} "
                        f"and of {_said(parts)}")
        return ""

    def _hit(self, leaf: Leaf) -> Hit:
        return super().find(leaf.steps)[0]

    def _tree(self) -> yaml.MappingNode:
        start = yaml.Mark(self.file, 0, 0, 0, None, None)
        end = yaml.Mark(self.file, len(self.text), 0, 0, None, None)
        sections: dict[str, list[tuple[yaml.Node, yaml.Node]]] = {name: [] for name in _SECTIONS}
        rest, at = "", 0
        for leaf in sorted(self._leaves.values(), key=lambda leaf: leaf.start):
            mark = [yaml.Mark(self.file, place, self.line(place) - 1, 0, None, None) for place in (leaf.start, leaf.end)]
            # As if in quotes: what YAML would take for a number is text here.
            node = yaml.ScalarNode(_STR, leaf.text, *mark, style='"')
            sections[str(leaf.steps[0])].append((yaml.ScalarNode(_STR, str(leaf.steps[1]), *mark), node))
            rest += f"{self.text[at:leaf.start]}\0{'.'.join(map(str, leaf.steps))}\0"
            at = leaf.end
        entries = [(yaml.ScalarNode(_STR, name, start, start), yaml.MappingNode(_MAP, held, start, end))
                   for name, held in sections.items()]
        entries.append((yaml.ScalarNode(_STR, "", start, start), yaml.ScalarNode(_STR, rest + self.text[at:], start, end)))
        return yaml.MappingNode(_MAP, entries, start, end)

    def _from(self, instruction: Instruction) -> None:
        words = [word for word in instruction.words if not word.text.startswith("--")]
        if len(words) not in (1, 3) or (len(words) == 3 and words[1].text.upper() != "AS"):
            raise BadInput("a FROM that no builder takes", "write FROM image, or FROM image AS name", file=self.file,
                           line=instruction.line)
        number = len(self.stages)
        earlier = [name for name in self.stages if name]
        self.stages.append(words[2].text.lower() if len(words) == 3 else "")
        at: Path = ("FROM", str(number))
        try:
            pieces = self._args.word(words[0], at, instruction.line)
        except BadInput as fault:
            self._images[at] = fault
            return
        if _said(pieces).lower() not in ("scratch", *earlier):
            self._images[at] = pieces

    def _arg(self, instruction: Instruction) -> None:
        if not self.stages:  # inside a stage an ARG is that stage's own, and no FROM reads it
            self._args.declare(instruction)

    def _copy(self, instruction: Instruction) -> None:
        for word in instruction.words:
            if not word.text.startswith("--"):
                return
            if word.text.lower().startswith("--from="):
                self._other("COPY", word.cut(len("--from="), len(word.text)), instruction.line)

    def _run(self, instruction: Instruction) -> None:
        for word in instruction.words:
            if not word.text.startswith("--"):
                return
            if word.text.lower().startswith("--mount="):
                for found in re.finditer(r"(?<=[=,])from=([^,]+)", word.text, re.IGNORECASE):
                    self._other("RUN", word.cut(*found.span(1)), instruction.line)

    def _other(self, section: str, word: Word, line: int) -> None:
        """An image that is only taken from. A stage, by number or name, is none, and variables are not read there."""
        if "$" in word.text or not word.text or word.text.isdigit() or word.text.lower() in self.stages:
            return
        at: Path = (section, str(sum(known[0] == section for known in self._images)))
        try:
            self._images[at] = self._args.word(word, at, line)
        except BadInput as fault:
            self._images[at] = fault


_READ = {"FROM": Dockerfile._from, "ARG": Dockerfile._arg, "COPY": Dockerfile._copy, "RUN": Dockerfile._run}


def _said(pieces: Sequence[str | Leaf]) -> str:
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
