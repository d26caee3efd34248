"""Where the recipes of a layout stand, and what kept others from being found. One bad file hides no other's recipes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import yaml
from msgspec import Struct, field

from bot.errors import BadInput, Refusal
from bot.layout.globs import fitting
from bot.layout.records import Layout, RecipeFiles
from bot.recipe.files.dockerfile import Dockerfile, is_dockerfile
from bot.recipe.files.document import Document, Hit, Path, steps
from bot.recipe.files.named import Named


class Home:
    """Where one recipe stands: file, document, the node that is the recipe, and the layout's entry it came by."""

    __slots__ = ("document", "entry", "file", "hit", "index", "key")

    def __init__(self, key: str, file: str, document: Document, index: int, hit: Hit, entry: RecipeFiles) -> None:
        self.key, self.file, self.document, self.index, self.hit, self.entry = key, file, document, index, hit, entry

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of its image, from the recipe: the layout's, or the file's usual ones where the layout names none."""
        return self.document.usual if self.entry.image == Document.usual else self.entry.image

    @property
    def line(self) -> int:
        return self.document.line(self.hit.node.start_mark.index)

    @property
    def lone(self) -> bool:
        """Whether no other recipe can have a site of this one: neither a linked file nor a variable is shared."""
        return not isinstance(self.document, Dockerfile) and not (self.entry.linked and self.entry.linked.files)

    def find(self, path: str) -> list[Hit]:
        """Nodes at a path that starts at the recipe; their steps start at the document's root."""
        return self.document.find((*self.hit.steps, *steps(path)), document=self.index)

    def images(self, path: str) -> list[Named]:
        """The images at such a path."""
        return self.document.images((*self.hit.steps, *steps(path)), document=self.index)

    def text(self, path: str) -> str | None:
        return next((hit.node.value for hit in self.find(path) if isinstance(hit.node, yaml.ScalarNode)), None)

    def bare(self) -> bool:
        """Whether nothing stands where an image should: a Service beside its Deployment."""
        try:
            return not any(self.images(path) or (self.find(path) and not isinstance(self.document, Dockerfile))
                           for path in self.paths)
        except BadInput:
            return False  # there is something, and it is at fault


class Gathered(Struct):
    """The recipes of a layout by name, in file order; names that several have, and names that hold no image; the files that
    cannot be read; where in each file a recipe stands, whatever its name; and what is told of entries that find nothing."""

    homes: dict[str, Home] = field(default_factory=dict)
    clashes: dict[str, BadInput] = field(default_factory=dict)
    bare: dict[str, Home] = field(default_factory=dict)
    broken: dict[str, BadInput] = field(default_factory=dict)
    places: dict[str, list[tuple[int, Path]]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)

    def missing(self, key: str, layout: Layout, read: Callable[[str], bytes | None]) -> BadInput | Refusal:
        """Why there is no recipe of that name."""
        if key in self.clashes:
            return self.clashes[key]
        if key in self.bare:
            home = self.bare[key]
            return BadInput("this recipe names no image", f"expected at {', '.join(home.paths)}", file=home.file, line=home.line,
                            key=key)
        literal = any(entry.key == key for entry in layout.recipes)
        for file, fault in self.broken.items():
            if literal or _of_path(file) == key or key.encode() in (read(file) or b""):
                return Refusal(f"the recipe {key} cannot be read: {fault.reason}", fault.hint)
        return Refusal(f"no recipe is called {key}", "")


def gather(layout: Layout, paths: Callable[[str], Sequence[str]], document: Callable[[str], Document | None]) -> Gathered:
    """Reads every file that the layout's globs find."""
    found = Gathered()
    for entry in layout.recipes:
        files, where = fitting(entry.globs, paths), ", ".join(entry.globs)
        made = [home for file in files for home in _read(found, layout, entry, file, document)]
        # Where nothing generates a matrix, documents stand beside each other that are no recipes.
        bare = {id(home) for home in made if (layout.generator == "none" or _literal(entry.key)) and home.bare()}
        for home in made:
            found.places.setdefault(home.file, []).append((home.index, home.hit.steps))
            _place(found, home, id(home) in bare)
        if not files:
            found.empty.append(f"no file fits {where}")
        elif not made and not found.broken.keys() & set(files):
            found.empty.append(f"no recipe is in the files of {where}: nothing stands at {entry.key}")
        elif made and len(bare) == len(made):
            found.empty.append(f"no recipe is in the files of {where}: no image stands at {', '.join(made[0].paths)}")
    for key in found.homes:
        found.bare.pop(key, None)
    return found


def _read(found: Gathered, layout: Layout, entry: RecipeFiles, file: str,
          document: Callable[[str], Document | None]) -> list[Home]:
    made: list[Home] = []
    try:
        source = document(file)
        if isinstance(source, Dockerfile) and layout.generator != "none":
            raise BadInput(f"a Dockerfile is no recipe that the generator `{layout.generator}` makes points of",
                           "name it in the `linked: {files: []}` of recipes whose image it shares", file=file)
        for index in range(len(source.roots) if source else 0):
            assert source is not None
            made += _recipes_of(source, index, entry, file)
        if layout.generator == "own" and not made:  # such a file is a recipe and nothing else
            raise BadInput("no recipe stands here: nothing is at " + entry.key, "name it", file=file)
    except BadInput as fault:
        found.broken[file] = fault
    return made


def _place(found: Gathered, home: Home, bare: bool) -> None:
    if bare:
        found.bare.setdefault(home.key, home)
    elif home.key in found.homes or home.key in found.clashes:
        other = found.homes.pop(home.key, None)
        hint = "name one file, or write the path of the name: .metadata.name" if _literal(home.entry.key) else \
            "keep one, or let the layout's `files` find only one"
        said = f"the recipe {home.key} stands in {other.file if other else 'other files'} too"
        found.clashes.setdefault(home.key, BadInput(said, hint, file=home.file, line=home.line, key=home.key))
    else:
        found.homes[home.key] = home


def _recipes_of(document: Document, index: int, entry: RecipeFiles, file: str) -> Iterator[Home]:
    root = Hit((), document.roots[index])
    if _literal(entry.key):
        if not isinstance(document, Dockerfile) and document.scalar(f".{entry.key}", document=index) is not None:
            raise BadInput(f"`key: {entry.key}` would be the recipe's own name", f"write the path .{entry.key} in the layout",
                           file=file, key=entry.key)
        yield Home(entry.key, file, document, index, root, entry)
    elif isinstance(document, Dockerfile):
        stated = None if "*" in steps(entry.key) else document.scalar(entry.key)
        yield Home(stated or _of_path(file), file, document, index, root, entry)
    elif "*" in steps(entry.key):
        for hit in document.find(entry.key, document=index):
            if hit.key is not None and isinstance(hit.node, yaml.MappingNode):
                yield Home(str(hit.steps[-1]), file, document, index, hit, entry)
    else:
        name = document.scalar(entry.key, document=index)
        if name == "":
            raise BadInput("the recipe's name is empty", "write it", file=file, key=entry.key)
        if name is not None:
            yield Home(name, file, document, index, root, entry)


def _literal(key: str) -> bool:
    """Whether a layout's `key` is the recipe's name itself, and no path to it."""
    return not key.startswith(".") and key != "*"


def _of_path(file: str) -> str:
    """The name of a recipe that states none: `docker/serving/Dockerfile` is docker-serving-Dockerfile."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", file).strip("-")


def opened(data: bytes, file: str) -> Document:
    """The file as a document, by its name. BadInput when it is no YAML, or no Dockerfile."""
    return (Dockerfile if is_dockerfile(file) else Document)(data, file)
