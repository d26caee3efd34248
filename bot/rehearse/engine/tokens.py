"""How the server counts: with a real tokenizer where the library is there, else by a plain rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from bot.errors import BadArguments
from bot.rehearse.engine.model import TOKENIZER

WORDS = (" the", " server", " answers", " every", " request", " at", " a", " known", " pace", " with", " plain", " words")
_PIECE = re.compile(r"\s*\S+")
LOOKED_AT = 20_000
PLAIN = "plain"


class Tokens(Protocol):
    """What the answers need of a tokenizer: every piece that it gives is one token of the answer."""

    words: Sequence[str]

    def count(self, text: str) -> int: ...

    def pieces(self, text: str) -> list[str]: ...

    def text(self, ids: Sequence[int]) -> str: ...


class Plain:
    """Four bytes of a prompt are a token, begun ones too; a word of an answer with the blanks before it is one."""

    words: Sequence[str] = WORDS

    def count(self, text: str) -> int:
        return (len(text.encode("utf-8", "replace")) + 3) // 4

    def pieces(self, text: str) -> list[str]:
        return _PIECE.findall(text) or [text]

    def text(self, ids: Sequence[int]) -> str:
        return ""


class Real:
    """A tokenizer.json of Hugging Face. `words` are tokens that stay one token when the answer is tokenized again, so that a
    client's own count agrees with the server's."""

    def __init__(self, tokenizer: Any) -> None:
        self._made = tokenizer
        self.words = self._whole() or WORDS

    def count(self, text: str) -> int:
        return len(self._made.encode(text, add_special_tokens=False).ids)

    def pieces(self, text: str) -> list[str]:
        found, offsets = [], self._made.encode(text, add_special_tokens=False).offsets
        ends = [end for _, end in offsets]
        begin = 0
        for end in [*ends[:-1], len(text)]:
            if end > begin:
                found.append(text[begin:end])
                begin = end
        return found or [text]

    def text(self, ids: Sequence[int]) -> str:
        return str(self._made.decode(list(ids)))

    def _whole(self) -> list[str]:
        found: list[str] = []
        for number in range(min(self._made.get_vocab_size(), LOOKED_AT)):
            word = self._made.decode([number])
            if re.fullmatch(r" [a-z]{2,12}", word) and self._made.encode(word, add_special_tokens=False).ids == [number]:
                found.append(word)
            if len(found) == 64:
                break
        return found


def load(path: str) -> Tokens:
    """The tokenizer of a file or folder; of anything else (nothing, or a model's name) the one that lies here. The plain rule where
    that is asked for (`plain`), or the library is absent."""
    if path == PLAIN:
        return Plain()
    given = Path(path or TOKENIZER)
    file = given / "tokenizer.json" if given.is_dir() else given
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return Plain()
    try:
        return Real(Tokenizer.from_file(str(file if file.is_file() else TOKENIZER)))
    except Exception as error:  # the library raises plain Exception
        raise BadArguments(f"{file} is no tokenizer: {str(error)[:200]}", "give a tokenizer.json") from None
