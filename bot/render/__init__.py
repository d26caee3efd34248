"""(template, record) -> text: both languages from one record, the frame of the layout's style, a last check of the bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

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
        self._words = {language: Words(language, glossary) for language in LANGUAGES}
        self._markdown = {language: _environment(templates, self._words[language], plain) for language in LANGUAGES}
        self._bare = {language: _environment(templates, self._words[language], _bare) for language in LANGUAGES}
        self._metrics = metrics
        self._quote(tuple(forbidden))
        self._style, self._forbidden, self._prefix, self._limit = style, tuple(forbidden), prefix, limit

    def _quote(self, forbidden: tuple[str, ...]) -> None:
        """The filter for words of others. One that holds what must not be posted is not repeated: a file's name would else
        keep a whole report back."""
        for language, words in self._words.items():
            def quoted(value: object, words: Words = words) -> Markup:
                return words.word("not-repeated") if fault(str(value), forbidden) else code(value)

            def sighted(value: object, words: Words = words) -> Markup:
                return quoted(seen(value), words)

            self._markdown[language].filters |= {"quoted": quoted, "seen": sighted}

    def title(self, record: Record) -> str:
        """The bilingual title of the pull request, English first; a recipe's name too long for the forge loses its end."""
        text = self._title(record)
        if len(text) > TITLE_LIMIT and isinstance(record, Proposal):
            over = (len(text) - TITLE_LIMIT + 1) // 2 + 1
            text = self._title(replace(record, recipe=f"{record.recipe[:-over]}…"))
        return check(text, self._forbidden)

    def half(self, record: Record, language: str, *, tables: bool = True) -> str:
        """One language alone; without tables each is replaced by a pointer to the one above."""
        drawn = Tables(self._words[language], self._metrics, shown=tables, sighted=self._markdown[language].filters["seen"])
        text = self._markdown[language].get_template(f"{language}/{template(record)}.md").render(_values(record), tables=drawn)
        return _tidy(text)

    def parts(self, record: Record) -> tuple[str, ...]:
        """The finished text, numbered parts where one would be over the forge's limit; no row is lost.

        Raises RuntimeError when the bytes hold a trigger phrase, a mention or a control character: that is a fault of
        ours, and mending it silently would post what nobody wrote.
        """
        folded = self._style == "folded"
        halves = {"en": self.half(record, "en"), "zh": self.half(record, "zh", tables=not folded)}
        text = self._bare["en"].get_template(f"{self._style}.md").render(halves)
        return tuple(check(part, self._forbidden) for part in split(_tidy(text), self._limit))

    def _title(self, record: Record) -> str:
        halves = (self._bare[language].get_template(f"{language}/title.md").render(_values(record)) for language in LANGUAGES)
        return " ".join(f"{self._prefix} {' / '.join(halves)}".split())


def _environment(templates: Mapping[str, str], words: Words, finalize: Any) -> jinja2.Environment:
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
