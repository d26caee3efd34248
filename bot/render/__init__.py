"""(template, record) -> text: both languages from one record, the frame of the layout's style, a last check of the bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jinja2
from jinja2.runtime import Markup
from msgspec.structs import replace

from bot.model.record import Proposal, Record, template
from bot.model.text import Text
from bot.render.check import check, fault
from bot.render.columns import Column
from bot.render.filters import filters
from bot.render.safe import code, plain, seen
from bot.render.split import split
from bot.render.tables import Tables
from bot.render.words import Words

LANGUAGES = ("en", "zh")
LIMIT = 65_536
TITLE_LIMIT = 256


class Renderer:
    """Renders records in one style. `templates` maps names such as `en/stop.md` to text; `forbidden` are trigger phrases."""

    def __init__(self, templates: Mapping[str, str], glossary: Mapping[str, Text], metrics: Mapping[str, Column], *,
                 style: str, forbidden: Sequence[str] = (), prefix: str = "", limit: int = LIMIT - 1_000) -> None:
        texts, terms = tuple(templates.items()), tuple(glossary.items())
        self._written = {language: _language(language, texts, terms, tuple(forbidden)) for language in LANGUAGES}
        self._metrics = metrics
        self._style, self._forbidden, self._prefix, self._limit = style, tuple(forbidden), prefix, limit

    def title(self, record: Record) -> str:
        """The bilingual title of the pull request, English first; a recipe's name too long for the forge loses its end."""
        text = self._title(record)
        if len(text) > TITLE_LIMIT and isinstance(record, Proposal):
            over = (len(text) - TITLE_LIMIT + 1) // 2 + 1
            text = self._title(replace(record, recipe=f"{record.recipe[:-over]}…"))
        return check(text, self._forbidden)

    def half(self, record: Record, language: str, *, tables: bool = True) -> str:
        """One language alone; without tables each is replaced by a pointer to the one above."""
        written = self._written[language]
        drawn = Tables(written.words, self._metrics, shown=tables, sighted=written.markdown.filters["seen"])
        text = written.markdown.get_template(f"{language}/{template(record)}.md").render(_values(record), tables=drawn)
        return _tidy(text)

    def parts(self, record: Record) -> tuple[str, ...]:
        """The finished text, numbered parts where one would be over the forge's limit; no row is lost.

        Raises RuntimeError when the bytes hold a trigger phrase, a mention or a control character: that is a fault of
        ours, and mending it silently would post what nobody wrote.
        """
        folded = self._style == "folded"
        halves = {"en": self.half(record, "en"), "zh": self.half(record, "zh", tables=not folded)}
        text = self._written["en"].bare.get_template(f"{self._style}.md").render(halves)
        return tuple(check(part, self._forbidden) for part in split(_tidy(text), self._limit))

    def _title(self, record: Record) -> str:
        halves = (written.bare.get_template(f"{language}/title.md").render(_values(record))
                  for language, written in self._written.items())
        return " ".join(f"{self._prefix} {' / '.join(halves)}".split())


class _Written(NamedTuple):
    """What one language is written with."""

    words: Words
    markdown: jinja2.Environment
    bare: jinja2.Environment


@lru_cache(maxsize=8)
def _language(language: str, templates: tuple[tuple[str, str], ...], glossary: tuple[tuple[str, Text], ...],
              forbidden: tuple[str, ...]) -> _Written:
    """Kept for the very same texts and phrases and for no others: compiling takes a tenth of a second a language, and what
    is compiled may hold words of the glossary."""
    words = Words(language, dict(glossary))
    written = _Written(words, _environment(templates, words, plain), _environment(templates, words, _bare))
    written.markdown.filters |= _quoting(words, forbidden)
    return written


def _quoting(words: Words, forbidden: tuple[str, ...]) -> dict[str, Callable[[object], Markup]]:
    """The filters for words of others. One that holds what must not be posted is not repeated: a file's name would else
    keep a whole report back."""
    def quoted(value: object) -> Markup:
        return words.word("not-repeated") if fault(str(value), forbidden) else code(value)

    return {"quoted": quoted, "seen": lambda value: quoted(seen(value))}


def _environment(templates: tuple[tuple[str, str], ...], words: Words, finalize: Any) -> jinja2.Environment:
    """Every `{{ }}` passes `finalize`: in Markdown a value that no filter made Markdown is made plain text."""
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(dict(templates)), undefined=jinja2.StrictUndefined, autoescape=finalize is plain,
        finalize=finalize, trim_blocks=True, lstrip_blocks=True,
    )
    environment.filters |= filters(words)
    environment.tests["term"] = words.has
    return environment


def _values(record: Record) -> dict[str, Any]:
    return {field: getattr(record, field) for field in record.__struct_fields__}


def _bare(value: object) -> str:
    """A title is no Markdown, and a frame's halves are finished."""
    return str(value)


def _tidy(text: str) -> str:
    """What a condition of a template leaves behind: blanks at the end of lines, and more than one empty line."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"
