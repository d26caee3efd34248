"""Which commits between two images concern a recipe, and how much.

The rank is read in two parts: its whole number is the strongest place in which one of the recipe's words was touched (the table
below), what stands behind the point orders commits of one place: more words and a title that says so weigh more, a sweep over
hundreds of files less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from bot.model.text import Text
from bot.model.upstream import Commit, Touch
from bot.model.uses import Uses

PLACES: dict[int, Text] = {
    5: Text(en="changes where the engine defines an option or variable of the recipe",
            zh="修改了引擎中定义该配方所用选项或变量之处"),
    4: Text(en="changes a file of a backend or kernel that the recipe uses", zh="修改了该配方所用后端或内核的文件"),
    3: Text(en="changes a file of the recipe's model", zh="修改了该配方模型的文件"),
    2: Text(en="changes a file for the recipe's hardware", zh="修改了该配方硬件的相关文件"),
    1: Text(en="names it in its title only", zh="仅在标题中提及"),
}
SHOWN = 60
_HARDWARE = re.compile(r"(?:g?[bh]\d{2,3}|mi\d{2,3}x?|[al]\d{2,3}s?|rtx\w*|sm_?\d{2,3}[af]?|gfx\w+|hopper|blackwell|ampere|cuda"
                       r"|rocm|hip|nvidia|amd|cdna\d?)")
# Files that no server runs.
_ASIDE = re.compile(r"(?:^|/)(?:tests?|docs?|examples?|benchmarks?|\.github|\.buildkite|scripts|ci)/|\.(?:md|rst|txt|ipynb)$"
                    r"|(?:^|/)test_[^/]*$")
_MODELS = re.compile(r"(?:^|/)models?(?:/|_)")
_NAMES, _FIELD = re.compile(r"[A-Za-z0-9_-]+"), re.compile(r"\s*(\w+)\s*:")
_QUOTED = re.compile(r"""'\w+'|"\w+\"""")
_PIECES = re.compile(r"[a-z]+|\d+", re.IGNORECASE)
_WIDE, _JOINED, _LEAST = 60, 4, 2


class Word(Struct, frozen=True):
    """One word of the recipe, as it is shown, and its letters and digits alone, as it is looked for."""

    shown: str
    squeezed: str
    kind: str  # option, hardware, part


def words_of(uses: Uses) -> tuple[Word, ...]:
    """The recipe's words, each once: options and variables by name, then model, hardware, kernels and backends."""
    named = [Word(used.name, squeeze(used.name), "option") for used in (*uses.options, *uses.environment)]
    other = [Word(text, squeeze(text), "hardware" if _HARDWARE.fullmatch(text.lower()) else "part") for text in uses.words]
    found = {word.squeezed: word for word in reversed((*named, *other)) if len(word.squeezed) >= _LEAST}
    return tuple(reversed(tuple(found.values())))


def squeeze(text: str) -> str:
    """Letters and digits alone, small: `MiniMax-M3` and `minimax_m3` are one word."""
    return "".join(_PIECES.findall(text)).lower()


def ranked(commits: Sequence[Commit], files: Mapping[str, Sequence[str]], uses: Uses,
           lines: Mapping[str, Sequence[str]] | None = None) -> tuple[Touch, ...]:
    """The commits that touch one of the recipe's words, what matters most first, then the newest. `files` are those that each
    commit changed; `lines` those added and removed where the engine defines options, None where nobody could read them."""
    words = words_of(uses)
    if not words:
        return ()
    parts = {word.squeezed: word for word in words if word.kind != "option"}
    options = [word for word in words if word.kind == "option"]
    defined = _definer(options)
    look = lru_cache(maxsize=65536)(lambda path: _in_path(path, parts))
    made = (_touch(commit, files.get(commit.sha, ()), defined((lines or {}).get(commit.sha, ())), look,
                   (*_in_text(commit.title, parts), *defined([commit.title]))) for commit in commits)
    newest = {commit.sha: place for place, commit in enumerate(commits)}
    return tuple(sorted((touch for touch in made if touch), key=lambda touch: (-touch.rank, -newest[touch.commit.sha])))


def why(touch: Touch) -> Text:
    """Why a commit stands where it does, in words."""
    return PLACES[max(1, min(5, int(touch.rank)))]


def _touch(commit: Commit, files: Sequence[str], defined: Collection[Word], look: Callable[[str], tuple[tuple[int, Word], ...]],
           titled: Sequence[Word]) -> Touch | None:
    seen: dict[Word, int] = dict.fromkeys(defined, 5)
    told: list[tuple[int, str]] = []
    for path in files:
        for place, word in look(path):
            seen[word] = max(place, seen.get(word, 0))
            told.append((place, path))
    for word in titled:
        seen.setdefault(word, 1)
    if not seen:
        return None
    best = max(seen.values())
    behind = 0.2 + 0.05 * min(6, len(seen) - 1) + (0.3 if any(seen[word] == best for word in titled) else 0.0)
    words = sorted(seen, key=lambda word: (-seen[word], word.shown))
    shown = [path for _, path in sorted(told, key=lambda each: -each[0])]
    return Touch(commit=commit, words=tuple(word.shown for word in words), files=tuple(dict.fromkeys(shown))[:20],
                 rank=round(best + behind - (0.2 if len(files) > _WIDE else 0.0), 3))


def _in_path(path: str, parts: Mapping[str, Word]) -> tuple[tuple[int, Word], ...]:
    if _ASIDE.search(path):
        return ()
    return tuple((2 if word.kind == "hardware" else 3 if _MODELS.search(path) else 4, word) for word in _in_text(path, parts))


def _in_text(text: str, wanted: Mapping[str, Word]) -> tuple[Word, ...]:
    """The words that stand in a text as pieces of it: `b200` is not in `gb200`, `minimaxm3` is in `minimax_m3.py`."""
    pieces = re.findall(r"[a-z0-9]+", text.lower())
    found: dict[str, Word] = {}
    for start in range(len(pieces)):
        joined = ""
        for piece in pieces[start:start + _JOINED]:
            joined += piece
            if joined in wanted:
                found[joined] = wanted[joined]
    return tuple(found.values())


def _definer(options: Sequence[Word]) -> Callable[[Sequence[str]], tuple[Word, ...]]:
    """Which options stand in lines: a name of several parts wherever it stands whole; one plain word (`model`, `tp`) only as it is
    defined or passed, for it stands everywhere else too."""
    named: dict[str, Word] = {}
    for word in options:
        plain = word.shown.lstrip("-")
        forms = {plain, plain.replace("-", "_"), plain.replace("_", "-")}
        named |= dict.fromkeys(forms if re.search("[-_]", plain) else {f"--{plain}", f"{plain}:", f"'{plain}'", f'"{plain}"'}, word)

    def told(lines: Sequence[str]) -> tuple[Word, ...]:
        pieces = {piece for line in lines for piece in _named(line)}
        return tuple({named[piece].squeezed: named[piece] for piece in pieces & named.keys()}.values())

    return told


def _named(line: str) -> Iterator[str]:
    """What a line may name: pieces without their dashes, with them, a field at its begin (`tp:`), words in quotes."""
    for piece in _NAMES.findall(line):
        yield piece.lstrip("-")
        yield piece
    if field := _FIELD.match(line):
        yield f"{field[1]}:"
    yield from _QUOTED.findall(line)
