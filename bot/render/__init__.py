"""(template, record) -> text: both languages from one record, the frame of the layout's style, a last check of the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from bot.model.record import Record, template
from bot.model.text import Text
from bot.render.check import check
from bot.render.columns import Column
from bot.render.filters import filters
from bot.render.split import split
from bot.render.tables import Tables

LANGUAGES = ("en", "zh")
LIMIT = 65_536


class Renderer:
    """Renders records in one style. `templates` maps names such as `en/stop.md` to text; `forbidden` are trigger phrases."""

    def __init__(self, templates: Mapping[str, str], glossary: Mapping[str, Text], metrics: Mapping[str, Column], *,
                 style: str, forbidden: Sequence[str] = (), prefix: str = "", limit: int = LIMIT - 1_000) -> None:
        self._env = jinja2.Environment(
            loader=jinja2.DictLoader(dict(templates)), undefined=jinja2.StrictUndefined, autoescape=False,
            trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False,
        )
        self._glossary, self._metrics = glossary, metrics
        self._style, self._forbidden, self._prefix, self._limit = style, tuple(forbidden), prefix, limit

    def title(self, record: Record) -> str:
        """The bilingual title of the pull request, English first."""
        text = " / ".join(self._half(record, "title", language, tables=True).strip() for language in LANGUAGES)
        return check(f"{self._prefix} {text}".strip(), self._forbidden)

    def half(self, record: Record, language: str, *, tables: bool = True) -> str:
        """One language alone; without tables each is replaced by a pointer to the one above."""
        return self._half(record, template(record), language, tables=tables)

    def parts(self, record: Record) -> tuple[str, ...]:
        """The finished text, numbered parts where one would be over the forge's limit; no row is lost.

        Raises RuntimeError when the bytes hold a trigger phrase, a mention or a control character: that is a fault of
        ours, and mending it silently would post what nobody wrote.
        """
        folded = self._style == "folded"
        frame = self._env.get_template(f"{self._style}.md")
        text = frame.render(en=self.half(record, "en"), zh=self.half(record, "zh", tables=not folded))
        return tuple(check(part, self._forbidden) for part in split(text.strip() + "\n", self._limit))

    def _half(self, record: Record, name: str, language: str, *, tables: bool) -> str:
        env = self._env.overlay()
        env.filters |= filters(language, self._glossary, self._metrics)
        drawn = Tables(language, self._glossary, self._metrics, shown=tables)
        values: dict[str, Any] = {field: getattr(record, field) for field in record.__struct_fields__}
        return env.get_template(f"{language}/{name}.md").render(values, tables=drawn).strip() + "\n"
