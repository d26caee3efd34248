"""What a rendered text says: its facts and its shape, read by a CommonMark parser and not by the code under test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable("table")
_parse = lru_cache(maxsize=1024)(PARSER.parse)
NUMBER = re.compile(r"[+-]?\d+(?:[.:/-]\d+)*%?")


def inline(text: str) -> Iterator[Token]:
    """Every inline token, with those nested in links and images."""
    for token in _parse(text):
        yield from token.children or ()


def blocks(text: str) -> list[Token]:
    return _parse(text)


def said(text: str) -> str:
    """The words a reader sees, without code spans."""
    return "\n".join(
        "".join(" " if child.type != "text" else child.content for child in token.children or ()) for token in _parse(text)
        if token.type == "inline"
    )


def facts(text: str) -> dict[str, Counter[str]]:
    """Numbers with sign and percent, code spans, and link targets, each as often as it stands there."""
    tokens = list(inline(text))
    return {
        "numbers": Counter(NUMBER.findall(said(text))),
        "code": Counter(token.content for token in tokens if token.type == "code_inline"),
        "links": Counter(str(token.attrs["href"]) for token in tokens if token.type == "link_open"),
        "headings": Counter(token.tag for token in blocks(text) if token.type == "heading_open"),
    }


def tables(text: str) -> list[list[list[str]]]:
    """Every table as rows of cells, its head first."""
    found: list[list[list[str]]] = []
    for token, following in zip(blocks(text), [*blocks(text)[1:], None], strict=True):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(following.content if following else "")
    return found
