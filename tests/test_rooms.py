"""The import law of the house, as data, and the reader that enforces it. CONTRIBUTING.md tells it in prose.

Read the tables first: a room missing from LAW may not exist, a library missing from LIBRARIES may not be imported.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BOT = ROOT / "bot"

# ---------------------------------------------------------------------------------------------------- the law

BOTTOM = "model errors strict"
PURE = "images upstream preflight recipe diagnose results baseline verdict budget commands layout doctor"
MIDDLE = "proof plan scan ledger wake"

# What a pure room may be given of the world: files of one revision, and the history of an upstream.
GIVEN = "ports.Tree ports.Commits ports.History"

# room -> the rooms it may import (its own always). A dotted name allows that one module, or that one name.
LAW = {
    "errors": "",
    "model": "",
    "strict": "errors",
    **{room: f"{BOTTOM} {PURE} {GIVEN}" for room in PURE.split()},
    "decide": f"{BOTTOM} {PURE}",
    "render": "model errors",
    "ports": "model errors",
    "proof": f"{BOTTOM} {PURE} decide ports",
    "plan": f"{BOTTOM} {PURE} decide render ports proof",
    "scan": f"{BOTTOM} {PURE} ports",
    "ledger": f"{BOTTOM} {PURE} decide render ports",
    "wake": f"{BOTTOM} {PURE} decide render ports plan scan ledger",
    "adapters": f"{BOTTOM} {PURE} ports",
    # An image's reference as each container tool wants it: podman refuses short names, Enroot writes REGISTRY#REPOSITORY.
    "bench": f"{BOTTOM} results ports images.reference",
    # An independent witness: it knows formats, never what the bot decides or how it acts.
    "rehearse": f"{BOTTOM} images.reference",
    "cli": f"{BOTTOM} {PURE} decide render ports {MIDDLE} adapters bench rehearse",
    "__main__": "cli",
    "__init__": "",
}

# library (as imported) -> modules that may import it, below bot; `x.*` is x and everything in it
LIBRARIES = {
    "msgspec": "*",
    "re2": f"{' '.join(f'{room}.*' for room in PURE.split())} decide.* render.* adapters.* bench.*",
    "packaging": "images.* upstream.* preflight.* diagnose.* recipe.* adapters.*",
    "yaml": "strict recipe.* rehearse.*",
    "markdown_it": "commands",
    "jinja2": "render.*",
    "scipy": "verdict.*",
    "github": "adapters.github.*",
    "requests": "adapters.github.*",  # only its errors: PyGithub lets them through
    "httpx": "adapters.*",
    "aiohttp": "rehearse.engine.*",
    "datasets": "rehearse.engine.tasks.*",  # lm-eval's own, in whose process the task's data is read
    "tokenizers": "rehearse.engine.tokens",  # only where it happens to be: AIPerf brings it
    "tenacity": "adapters.* ledger.* wake.*",
    "typer": "cli.*",
    "rich": "cli.*",
}

# What arguments-in, values-out needs of the standard library; everything else can touch the world or the clock.
# Archives are listed because they open streams that were given; opening a path by name is caught by `open(`.
PURE_STDLIB = """__future__ abc array ast base64 binascii bisect codecs collections contextlib copy csv dataclasses
datetime decimal difflib email.utils enum fnmatch fractions functools gzip hashlib heapq html io itertools json lzma
math operator re statistics string struct tarfile textwrap tokenize tomllib types typing unicodedata urllib.parse
zipfile zlib""".split()
# A path as text: these two never look at a disk.
PURE_NAMES = {"pathlib": {"PurePath", "PurePosixPath"}}
PURE_ROOMS = {*PURE.split(), "decide", "model", "errors", "strict", "render", "ports"}
# `Path` in a signature is a type; ports never make one.
EXTRA_STDLIB = {"ports": {"pathlib"}}
# They act through ports, so that a rehearsal or a test can stand behind every effect.
MIDDLE_FORBIDDEN = """os subprocess socket ssl select signal time asyncio threading multiprocessing shutil tempfile
http urllib.request""".split()

BUILTINS_OF_THE_WORLD = {"open", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
CLOCKS = {"datetime", "date", "datetime.datetime", "datetime.date"}
CLOCK_READERS = {"now", "utcnow", "today"}
# Functions of one shape, told once where the shape is: modules that share it need not repeat it.
SHAPES = {"bot.results": {"sniff", "parse"}}
FILE_LINES = 300
FUNCTION_LINES = 40  # from `def` to the last line, docstring and decorators not counted


# ---------------------------------------------------------------------------------------------------- the reader

@dataclass(frozen=True)
class Import:
    """One imported module (`names` where it was `from module import names`); `lazy` inside a function or type check."""

    module: str
    names: tuple[str, ...]
    line: int
    lazy: bool


def imports_of(tree: ast.Module) -> Iterator[Import]:
    """Every import statement, also those inside functions and under TYPE_CHECKING: a dependence is a dependence."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, lazy = stack.pop()
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, (), node.lineno, lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            yield Import("." * node.level + (node.module or ""), names, node.lineno, lazy)
        inner = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        inner = inner or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        stack.extend((child, inner) for child in ast.iter_child_nodes(node))


def room_of(module: str) -> str:
    """`bot.images.tags` lives in `images`, `bot` itself in `__init__`."""
    return (module.split(".") + ["__init__"])[1]


def inside(module: str, allowed: str) -> bool:
    """Whether `images.tags` is among `images.* strict`."""
    return any(
        pattern in ("*", module) or (pattern.endswith(".*") and f"{module}.".startswith(pattern[:-1]))
        for pattern in allowed.split()
    )


def against_law(module: str, found: Import) -> str | None:
    """Why this import is not allowed there, or None."""
    room, top = room_of(module), found.module.partition(".")[0]
    if found.module.startswith("."):
        return "relative import: write the whole name"
    if top == "bot":
        allowed = [room, *LAW.get(room, "").split()]
        reached = [f"{found.module}.{name}" for name in found.names if name != "__version__"]
        for target in reached if found.names else [found.module]:
            if not any(f"{target}.".startswith(f"bot.{name}.") for name in allowed):
                return f"{room} may not import {target}"
        return None
    if top in sys.stdlib_module_names:
        return against_stdlib(room, found)
    if top not in LIBRARIES:
        return f"{top} is no library of this house"
    return None if inside(module.removeprefix("bot."), LIBRARIES[top]) else f"{top} may not be imported in {room}"


def against_stdlib(room: str, found: Import) -> str | None:
    """Pure rooms keep to a list; the middle keeps away from one."""
    name = found.module
    if room in PURE_ROOMS:
        listed = any(name == known or name.startswith(f"{known}.") for known in PURE_STDLIB)
        textual = name in PURE_NAMES and set(found.names) <= PURE_NAMES[name]
        if listed or textual or name in EXTRA_STDLIB.get(room, ()):
            return None
        return f"{name} can touch the world: {room} is pure"
    if room in MIDDLE.split() and any(name == known or name.startswith(f"{known}.") for known in MIDDLE_FORBIDDEN):
        return f"{name}: {room} acts through ports"
    return None


def violations(module: str, source: str) -> list[str]:
    """Every breach of the law in one module, each with its line. `module` is dotted: `bot.images.tags`."""
    tree = ast.parse(source)
    room = room_of(module)
    found = [] if room in LAW else [f"1: {room} is no room of this house: give it a row in LAW"]
    found += [f"{item.line}: {why}" for item in imports_of(tree) if (why := against_law(module, item))]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "print" and room != "cli":
            found.append(f"{node.lineno}: print belongs to cli")
        if room not in PURE_ROOMS:
            continue
        if isinstance(called, ast.Name) and called.id in BUILTINS_OF_THE_WORLD:
            found.append(f"{node.lineno}: {called.id}() can touch the world: {room} is pure")
        if isinstance(called, ast.Attribute) and called.attr in CLOCK_READERS and ast.unparse(called.value) in CLOCKS:
            found.append(f"{node.lineno}: reads the clock: {room} gets `now` as an argument")
    return found


def size_violations(source: str) -> list[str]:
    """Files and functions that grew past what one sitting reads."""
    lines = source.count("\n") + (not source.endswith("\n"))
    found = [f"1: {lines} lines, fewer than {FILE_LINES} allowed"] if lines >= FILE_LINES else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0]
            has_docstring = ast.get_docstring(node, clean=False) is not None
            docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
            length = (node.end_lineno or 0) - node.lineno + 1 - docstring
            if length >= FUNCTION_LINES:
                found.append(f"{node.lineno}: {node.name} has {length} lines, fewer than {FUNCTION_LINES} allowed")
    return found


def undocumented(source: str, told: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """Public classes and functions of a module that do not say what they answer; `told` are explained elsewhere."""
    tree = ast.parse(source)
    found = [] if ast.get_docstring(tree) or not tree.body else ["1: the module"]
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in tree.body:
        if not isinstance(node, kinds) or node.name.startswith("_") or node.name in told or ast.get_docstring(node):
            continue
        if not (speaks_for_itself(node) if isinstance(node, ast.ClassDef) else is_route(node)):
            found.append(f"{node.lineno}: {node.name}")
    return found


def is_route(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A function behind `@route("GET", ...)`: the line above it says what it answers, GitHub's description the rest."""
    return any(isinstance(each, ast.Call) and ast.unparse(each.func) == "route" for each in node.decorator_list)


def speaks_for_itself(node: ast.ClassDef) -> bool:
    """A protocol (its methods say what they answer), or a record or closed set: its fields name themselves."""
    if any(ast.unparse(base) == "Protocol" for base in node.bases):
        return True
    is_record = bool(node.bases) or any("dataclass" in ast.unparse(each) for each in node.decorator_list)
    silent = [item for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return is_record and all("property" in map(ast.unparse, item.decorator_list) for item in silent)


def modules() -> dict[str, str]:
    """Every Python module below bot/ that is ours: dotted name -> source. Files of scenarios are data."""
    found = {}
    for path in sorted(BOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "scenarios" not in parts:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """One way round that leads back to its start, or an empty list."""
    done: set[str] = set()

    def walk(node: str, trail: list[str]) -> list[str]:
        if node in trail:
            return [*trail[trail.index(node):], node]
        if node in done:
            return []
        for target in sorted(edges.get(node, ())):
            if way := walk(target, [*trail, node]):
                return way
        done.add(node)
        return []

    return next((way for node in sorted(edges) if (way := walk(node, []))), [])


def import_edges(sources: dict[str, str]) -> dict[str, set[str]]:
    """Module -> modules of ours that importing it executes; imports inside functions run later and do not count."""
    edges: dict[str, set[str]] = {}
    for name, source in sources.items():
        edges[name] = set()
        for found in imports_of(ast.parse(source)):
            if found.lazy or found.module.partition(".")[0] != "bot":
                continue
            deeper = {f"{found.module}.{each}" for each in found.names} & set(sources)
            # `from bot.decide import phase` asks for the module, not for what the package's front gathers.
            front = {found.module} if len(deeper) < max(1, len(found.names)) else set()
            edges[name] |= (deeper | front & set(sources)) - {name}
    return edges


def none(room: str, breaches: Callable[[str, str], list[str]]) -> None:
    """Fails with every breach in a room's modules on a line of its own, where an editor can jump to it."""
    ours = {name: source for name, source in MODULES.items() if room_of(name) == room}
    found = [f"{name.replace('.', '/')}.py:{line}" for name, source in ours.items() for line in breaches(name, source)]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


MODULES = modules()


@cache
def edges_of_ours() -> dict[str, set[str]]:
    return import_edges(MODULES)


each_room = pytest.mark.parametrize("room", sorted(set(map(room_of, MODULES))))  # one test a module cost more than its check


# ---------------------------------------------------------------------------------------------------- the tests

class TestTheLaw:
    @each_room
    def test_holds_in_every_module(self, room: str) -> None:
        none(room, violations)

    def test_has_no_import_cycle(self) -> None:
        assert cycle(edges_of_ours()) == []

    def test_points_one_way_between_rooms(self) -> None:
        rooms: dict[str, set[str]] = {}
        for name, reached in edges_of_ours().items():
            rooms.setdefault(room_of(name), set()).update(room_of(target) for target in reached)
        assert cycle({room: reached - {room, "__init__"} for room, reached in rooms.items()}) == []

    def test_names_only_rooms_it_knows(self) -> None:
        named = {name.partition(".")[0] for row in LAW.values() for name in row.split()}
        assert named <= set(LAW)

    def test_main_only_calls_cli(self) -> None:
        tree = ast.parse(MODULES["bot.__main__"])
        assert [found.module for found in imports_of(tree) if found.module != "__future__"] == ["bot.cli"]
        assert "main" in {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


class TestTheShape:
    @each_room
    def test_files_and_functions_stay_short(self, room: str) -> None:
        none(room, lambda name, source: size_violations(source))

    def test_the_median_file_is_read_in_one_sitting(self) -> None:
        sizes = [source.count("\n") for source in MODULES.values() if source.count("\n") > 10]
        assert statistics.median(sizes) <= 160

    @each_room
    def test_public_things_say_what_they_answer(self, room: str) -> None:
        def silent(name: str, source: str) -> list[str]:
            return undocumented(source, next((names for package, names in SHAPES.items() if name.startswith(f"{package}.")), set()))

        none(room, silent)

    def test_both_languages_have_the_same_templates(self) -> None:
        names = {
            language: sorted(path.relative_to(ROOT / "templates" / language).as_posix()
                             for path in (ROOT / "templates" / language).rglob("*") if path.is_file())
            for language in ("en", "zh")
        }
        assert names["en"] == names["zh"] != []


PLANTED = [
    ("bot.images.tags", "import os", "os can touch the world"),
    ("bot.images.tags", "from pathlib import Path", "pathlib can touch the world"),
    ("bot.images.tags", "from os.path import join", "os.path can touch the world"),
    ("bot.verdict.compare", "def f():\n    import random", "2: random can touch the world"),
    ("bot.decide.phase", "if TYPE_CHECKING:\n    from bot.wake import run", "2: decide may not import bot.wake"),
    ("bot.decide.phase", "import bot.adapters.github", "decide may not import bot.adapters.github"),
    ("bot.decide.phase", "from bot import ledger", "decide may not import bot.ledger"),
    ("bot.decide.phase", "from bot.render import text", "decide may not import bot.render"),
    ("bot.decide.phase", "from datetime import datetime\nx = datetime.now()", "reads the clock"),
    ("bot.images.tags", "x = open('f')", "open() can touch the world"),
    ("bot.images.tags", "print('x')", "print belongs to cli"),
    ("bot.adapters.http", "print('x')", "print belongs to cli"),
    ("bot.images.tags", "import httpx", "httpx may not be imported in images"),
    ("bot.wake.act", "import github", "github may not be imported in wake"),
    ("bot.wake.act", "from bot.adapters import github", "wake may not import bot.adapters"),
    ("bot.wake.act", "import time", "acts through ports"),
    ("bot.adapters.registry", "from github import Github", "github may not be imported in adapters"),
    ("bot.adapters.forge", "import jinja2", "jinja2 may not be imported in adapters"),
    ("bot.adapters.forge", "from bot.wake import run", "adapters may not import bot.wake"),
    ("bot.rehearse.world", "from bot.decide import phase", "rehearse may not import bot.decide"),
    ("bot.rehearse.world", "from bot.images import tags", "rehearse may not import bot.images"),
    ("bot.rehearse.world", "import bot.images.choose", "rehearse may not import bot.images.choose"),
    ("bot.results.rows", "import scipy.stats", "scipy may not be imported in results"),
    ("bot.layout.load", "import yaml", "yaml may not be imported in layout"),
    ("bot.images.tags", "import pydantic", "pydantic is no library of this house"),
    ("bot.images.tags", "from . import choose", "relative import"),
    ("bot.model.image", "from bot.errors import BadInput", "model may not import bot.errors"),
    ("bot.recipe.sites", "from bot.ports import Tree, Forge", "recipe may not import bot.ports.Forge"),
    ("bot.recipe.sites", "import bot.ports", "recipe may not import bot.ports"),
    ("bot.helpers", "", "helpers is no room"),
]
ALLOWED = [
    ("bot.images.tags", "from pathlib import PurePosixPath"),
    ("bot.images.tags", "from urllib.parse import quote\nfrom bot.model.image import Reference\nimport re2"),
    ("bot.verdict.compare", "from scipy import stats"),
    ("bot.decide.phase", "from bot import budget\nfrom bot.budget import spent"),
    ("bot.recipe.files.splice", "import yaml\nfrom bot.ports import Tree"),
    ("bot.cli.main", "from bot import __version__, errors"),
    ("bot.adapters.github", "import github"),
    ("bot.adapters.github.forge", "from github import Github"),
    ("bot.adapters.clock", "import time\nfrom datetime import datetime, UTC\nx = datetime.now(UTC)"),
    ("bot.rehearse.registry", "from bot.images.reference import parse\nfrom bot.images import reference\nimport os"),
    ("bot.wake.observe", "from bot.ledger import read\nfrom bot.plan import gather\nfrom bot.ports import Forge"),
    ("bot.cli.wake", "import typer\nfrom bot.adapters import github\nprint('x')"),
]


class TestTheReader:
    @pytest.mark.parametrize(("module", "source", "why"), PLANTED)
    def test_finds_a_planted_breach(self, module: str, source: str, why: str) -> None:
        assert any(why in line for line in violations(module, source)), violations(module, source)

    @pytest.mark.parametrize(("module", "source"), ALLOWED)
    def test_lets_pass_what_the_law_allows(self, module: str, source: str) -> None:
        assert violations(module, source) == []

    def test_finds_long_files_and_functions_and_does_not_count_docstrings(self) -> None:
        assert "300 lines" in size_violations("x = 1\n" * 300)[0]
        assert size_violations("x = 1\n" * 299) == []
        long = "def f():\n" + "    x = 1\n" * 39
        assert size_violations(long) == ["1: f has 40 lines, fewer than 40 allowed"]
        assert size_violations(long.replace("    x = 1\n", '    """Says\n    something."""\n', 1)) == []

    def test_finds_a_silent_public_function(self) -> None:
        assert undocumented('"""M."""\ndef f(): ...\ndef _g(): ...\n') == ["2: f"]
        assert undocumented('"""M."""\nclass A(Struct):\n    x: int\n') == []
        assert undocumented('"""M."""\n@route("GET", "/x")\ndef f(): ...\n@cache\ndef g(): ...\n') == ["5: g"]
        assert undocumented('"""M."""\ndef parse(): ...\n', {"parse"}) == []
        assert undocumented('"""M."""\nclass A:\n    def f(self): ...\n') == ["2: A"]

    def test_finds_a_cycle(self) -> None:
        assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
        assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
        sources = {"bot.a": "from bot.b import x", "bot.b": "def f():\n    from bot.a import y"}
        assert cycle(import_edges(sources)) == []
        back = {"bot.a": "from bot.a.c import x", "bot.a.b": "", "bot.a.c": "from bot.a import b, y"}
        assert cycle(import_edges(back)) == ["bot.a", "bot.a.c", "bot.a"]
        assert cycle(import_edges({**back, "bot.a.c": "from bot.a import b"})) == []
