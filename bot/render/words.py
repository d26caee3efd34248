"""Words of the records in one language: closed sets from the glossary, open ones with their values, or as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jinja2.runtime import Markup

from bot.model.text import Text
from bot.render.safe import code, plain

_FULL = "。！？"
_STOPS = f".!?{_FULL}"


class Words:
    """The glossary in one language. A term may be a pattern: `note-points-gone:{}` with `{0}` in its texts."""

    def __init__(self, language: str, glossary: Mapping[str, Text]) -> None:
        self._language, self._glossary = language, glossary
        self._patterns = {term: (term.partition("{}")[0], _pattern(term)) for term in glossary if "{}" in term}
        self.comma = {"en": ", ", "zh": "、"}[language]

    def word(self, term: str) -> Markup:
        """The one rendering a term has; KeyError for a term that the glossary lacks, which is a fault of ours."""
        return Markup(self.own(self._glossary[term]))

    def has(self, term: str) -> bool:
        return term in self._glossary

    def told(self, word: str, kind: str) -> Markup:
        """A word of an open set, such as `eval-not-comparable:gsm8k`; one that the glossary lacks is shown as code."""
        term = f"{kind}-{word}"
        if term in self._glossary:
            return self.word(term)
        for pattern, (start, expression) in self._patterns.items():
            if term.startswith(start) and (found := expression.fullmatch(term)):
                return self._filled(pattern, found.groups())
        head, colon, value = word.partition(":")
        if colon and f"{kind}-{head}" in self._glossary:
            return Markup(f"{self.word(f'{kind}-{head}')}{self.aside(code(value))}")
        return code(word)

    def missing(self, reason: str | None, otherwise: str) -> Markup:
        """N/A never stands alone: its reason follows it."""
        return Markup(f"N/A{self.aside(self.told(reason or otherwise, 'missing'))}")

    def aside(self, text: object) -> str:
        """Text in this language's parentheses, ready to follow a word."""
        return f" ({text})" if self._language == "en" else f"（{text}）"

    def own(self, text: Text) -> str:
        return str(getattr(text, self._language))

    def sentence(self, text: Text) -> Markup:
        """A sentence of a diagnosis or a repair, ended as a sentence ends."""
        said = self.own(text).strip()
        ended = said if said.endswith(tuple(_STOPS)) else said + {"en": ".", "zh": "。"}[self._language]
        return plain(ended)

    def settings(self, settings: Mapping[str, str], without: str = "") -> list[tuple[Markup, str]]:
        """Settings by their names in this language, in the order of the glossary; names that it lacks come last."""
        settings = {name: value for name, value in settings.items() if name != without}
        order = [term.removeprefix("setting-") for term in self._glossary if term.startswith("setting-")]
        known = [name for name in order if name in settings]
        return [(self.told(name, "setting"), settings[name]) for name in (*known, *sorted(set(settings) - set(known)))]

    def _filled(self, term: str, values: tuple[str, ...]) -> Markup:
        text = str(self.word(term))
        for index, value in enumerate(values):
            text = text.replace("{" + str(index) + "}", str(code(value)))
        return Markup(text)


def _pattern(term: str) -> re.Pattern[str]:
    return re.compile("(.+)".join(re.escape(part) for part in term.split("{}")), re.DOTALL)
