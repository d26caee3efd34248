"""A value that fits a JSON Schema and, where it can, the question: what a guided model answers with."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_SUM = re.compile(r"(?<![\w.])(-?\d{1,12})\s*([-+*/x×])\s*(-?\d{1,12})(?![\w])")
_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "x": operator.mul, "×": operator.mul}
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,6})?(?![\w])")
_QUOTED = re.compile(r"[\"“']([^\"”']{1,60})[\"”']")
_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][a-z]{2,30}\b")
_RESULTS = ("answer", "result", "sum", "total", "value", "product", "difference")
DEPTH = 12


def arithmetic(text: str) -> int | None:
    """The result of the last `a + b` (also - * x /, where it is whole) of a text; None where there is none."""
    found = _SUM.findall(text)
    if not found:
        return None
    left, sign, right = int(found[-1][0]), found[-1][1], int(found[-1][2])
    if sign == "/":
        return left // right if right and left % right == 0 else None
    return _OPERATORS[sign](left, right)


class Filled:
    """Fills schemas from one question: its numbers in order, its quoted words and names, and its result where it is asked."""

    def __init__(self, question: str) -> None:
        self._result = arithmetic(question)
        self._numbers = [float(found) if "." in found else int(found) for found in _NUMBER.findall(question)]
        self._words = [*_QUOTED.findall(question), *_NAME.findall(question)]

    def value(self, schema: Any, name: str = "", root: Any = None, depth: int = 0) -> Any:
        """One value. What a schema does not say is free, so the smallest that fits is taken."""
        root = schema if root is None else root
        if not isinstance(schema, dict) or depth > DEPTH:
            return {} if schema is True else None
        if isinstance(reference := schema.get("$ref"), str):
            return self.value(_within(root, reference), name, root, depth + 1)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return next((each for each in schema["enum"] if each in self._words), schema["enum"][0])
        for union in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(union), list) and schema[union]:
                return self.value(schema[union][0], name, root, depth + 1)
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) and kind else kind
        return self._of(kind or ("object" if "properties" in schema else "string"), schema, name, root, depth)

    def _of(self, kind: str, schema: dict[str, Any], name: str, root: Any, depth: int) -> Any:
        if kind == "object":
            inner = schema.get("properties")
            inner = inner if isinstance(inner, dict) else {}
            return {key: self.value(each, key, root, depth + 1) for key, each in inner.items()}
        if kind == "array":
            count = max(1, int(schema.get("minItems") or 1))
            return [self.value(schema.get("items", {"type": "string"}), name, root, depth + 1) for _ in range(min(count, 64))]
        if kind in ("integer", "number"):
            return self._number(kind, schema, name)
        if kind == "string":
            return self._string(schema)
        return {"boolean": True, "null": None}.get(kind)

    def _number(self, kind: str, schema: dict[str, Any], name: str) -> int | float:
        asks = self._result is not None and any(word in name.lower() for word in _RESULTS)
        value: Any = self._result if asks else self._numbers.pop(0) if self._numbers else 1
        low, high = schema.get("minimum"), schema.get("maximum")
        value = max(value, low) if isinstance(low, (int, float)) else value
        value = min(value, high) if isinstance(high, (int, float)) else value
        return int(value) if kind == "integer" or value == int(value) else value

    def _string(self, schema: dict[str, Any]) -> str:
        word = self._words.pop(0) if self._words else "plain"
        least, most = schema.get("minLength"), schema.get("maxLength")
        word = word.ljust(least, "x") if isinstance(least, int) and 0 < least < 4096 else word
        return word[:most] if isinstance(most, int) and most >= 0 else word


def _within(root: Any, reference: str) -> Any:
    """`#/$defs/Name` of the same schema; None where it leads nowhere."""
    for part in reference.removeprefix("#").strip("/").split("/"):
        root = root.get(part) if isinstance(root, dict) else None
    return root
