"""Options that an environment variable sets too, as a part's own parser declares them: `add_argument(group,
flag_name="--dyn-chat-processor", env_var="DYN_CHAT_PROCESSOR")`, `@option("--port", envvar="PORT")`,
`parser.add_argument("--port", default=os.environ.get("PORT"))`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from bot.model.uses import Used
from bot.ports import Tree
from bot.upstream.imports.surveyed import Survey

NAME = "declared"
VERSION = 1
_WORDS = frozenset({"env_var", "envvar", "env", "env_name", "env_key", "environment_variable"})
_READS = re.compile(r"(?:environ\.get|getenv|env_or_default|get_env\w*)$")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{1,80}")
_FLAG = re.compile(r"--[A-Za-z][A-Za-z0-9_.-]{1,80}")
MAX_BYTES = 4_000_000


def survey(data: bytes, path: str) -> dict[str, list[str]]:
    """Each variable with the options that it sets, of one file. SyntaxError, ValueError, RecursionError for what cannot be read."""
    if len(data) > MAX_BYTES:
        raise ValueError("too long to be read")
    if b"--" not in data or b"env" not in data:
        return {}
    made: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(data, filename=path)):
        if isinstance(node, ast.Call):
            names = [text for text in _texts([*node.args, *(word.value for word in node.keywords)]) if _FLAG.fullmatch(text)]
            for variable in _variables(node) if names else ():
                made.setdefault(variable, []).extend(name for name in names if name not in made.get(variable, ()))
    return made


def meant(environment: Sequence[Used], options: Sequence[Used], consumer: Tree, paths: Sequence[str], survey: Survey
          ) -> list[tuple[str, Used]]:
    """The options that these variables set in a part, by variable, each with its value and place. What the command line says too
    counts for more than the variable."""
    if not environment:
        return []
    told: Mapping[str, Any] = survey(NAME, consumer, list(paths))
    given = {used.name for used in options}
    return [(used.name, replace(used, kind="option", name=name)) for used in environment
            for name in dict.fromkeys(name for found in told.values() if found for name in found.get(used.name, ()))
            if name not in given]


def _variables(node: ast.Call) -> Iterator[str]:
    for word in node.keywords:
        if word.arg in _WORDS:
            yield from (text for text in _texts([word.value]) if _VARIABLE.fullmatch(text))
        elif word.arg == "default":
            for inner in ast.walk(word.value):
                if isinstance(inner, ast.Call) and _READS.search(ast.unparse(inner.func)):
                    yield from (text for text in _texts(inner.args[:1]) if _VARIABLE.fullmatch(text))
                elif isinstance(inner, ast.Subscript) and ast.unparse(inner.value).endswith("environ"):
                    yield from (text for text in _texts([inner.slice]) if _VARIABLE.fullmatch(text))


def _texts(nodes: Sequence[ast.expr]) -> list[str]:
    """The literal texts among these, those of a list too."""
    every = [part for node in nodes for part in (node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node])]
    return [node.value for node in every if isinstance(node, ast.Constant) and isinstance(node.value, str)]
