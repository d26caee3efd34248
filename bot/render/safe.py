"""Values as Markdown that can only be text: whatever a value holds, it is never markup, a new line or a hidden marker.

Records hold names that others chose (tags, tasks, options, errors). A template's `{{ value }}` is made plain here unless a
filter has made it Markdown already, so that forgetting a filter shows a backslash and opens no hole (SECURITY.md 8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from jinja2.runtime import Markup

_SPECIAL = re.compile(r"[\\*\[\]<>~$]|&(?=#?[A-Za-z0-9]+;)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK = re.compile(r"^(?:(?P<bullet>[-+=#])(?=[\s=#+-]|$)|(?P<number>\d{1,9})(?P<after>[.)])(?=\s|$))")
_BARE = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}")
_RUN = re.compile(r"[A-Za-z0-9_.:/+-]+")
# Beside names: what joins them in words of ours. A backtick ends a code span, and a pipe a table's cell.
_FOREIGN = re.compile(r"[^A-Za-z0-9_.:/+\- ,;()\[\]{}=<>#@%*~!?'\"→…^&$]+")
_SEEN = 300
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:/[A-Za-z0-9._~/:,=+-]*)?")


def plain(value: object) -> Markup:
    """Text that renders as itself. RuntimeError for None: a template that prints one forgot to ask."""
    if isinstance(value, Markup):
        return value
    if value is None or isinstance(value, bool):
        raise RuntimeError(f"a template prints {value}: nothing was posted")
    if isinstance(value, (int, float)):
        return Markup(str(value))
    text = _SPECIAL.sub(lambda found: "\\" + found.group(), _one_line(value))
    return Markup(_BLOCK.sub(_unblocked, text))


def code(value: object) -> Markup:
    """A code span, empty for an empty value."""
    text = _one_line(value)
    return Markup(f"`{text}`" if text else "")


def name(value: object) -> Markup:
    """A short name bare where its letters are harmless ones, else as a code span of at most 120 characters."""
    text = str(value)
    return plain(text) if _BARE.fullmatch(text) else code(text if len(text) <= 120 else f"{text[:119]}…")


def seen(value: object) -> str:
    """What a check saw, for a code span: our own words stay, and what they quote only as far as it is the harmless letters of a
    name, at most 120 in a row; anything else is an ellipsis (SECURITY.md 8). The whole stands on the terminal."""
    text = _FOREIGN.sub("…", _one_line(value))
    text = _RUN.sub(lambda run: run.group() if len(run.group()) <= 120 else f"{run.group()[:119]}…", text)
    return text if len(text) <= _SEEN else f"{text[:_SEEN - 1].rstrip()}…"


def link(value: object, url: str) -> Markup:
    """A link without its query; the text alone where the address is none that a forge would have given us."""
    bare = urlsplit(url)._replace(query="", fragment="").geturl() if _plain_url(url) else ""
    return Markup(f"[{plain(value)}]({bare})") if _URL.fullmatch(bare) else plain(value)


def listed(items: Iterable[object], comma: str) -> Markup:
    """Items made plain, with the comma of their language between them."""
    return Markup(comma.join(str(plain(item)) for item in items))


def cell(value: object) -> str:
    """A cell of a table: its pipes escaped once, however many backslashes stood before them."""
    return re.sub(r"\\*\|", r"\\|", str(plain(value)))


def _one_line(value: object) -> str:
    """Without line breaks, without a backtick, which would end a code span, and without the start of a hidden marker: whoever
    looks for one of ours in a comment's bytes asks no parser whether it stands in code."""
    return " ".join(str(value).replace("`", "'").split()).replace("<!--", "<! --")


def _unblocked(found: re.Match[str]) -> str:
    return f"\\{found['bullet']}" if found["bullet"] else f"{found['number']}\\{found['after']}"


def _plain_url(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
