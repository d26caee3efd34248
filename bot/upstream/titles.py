"""What a commit's title and message say of pull requests and of other commits: squashes, cherry-picks, reverts, re-lands.

The words are those that git and GitHub write by themselves; what people write freely is no proof of anything.
"""

from __future__ import annotations

import re

_TAIL = re.compile(r"(?:\s*\(#\d{1,9}\))+\s*$")
_MERGE = re.compile(r"(?:Merge pull request|Auto merge of) #(\d{1,9})\b")
# `[1/N][Bugfix] `, `(chore) `: what repositories put before a title.
_TAGS = re.compile(r"^(?:\s*(?:\[[^\]]{0,40}\]|\([^)#]{0,40}\)))+[\s:]*")
_REVERT = re.compile(r"^reverts?\b[\s:]*", re.IGNORECASE)
_AGAIN = re.compile(r"^(?:re-?(?:land|apply|introduce|do)|cherry-?pick(?:ed)?|back-?port)(?:ing|ed)?\b[\s:]*", re.IGNORECASE)
# Two numbers at the end of such a title are not two pull requests that came with the commit.
_ABOUT = re.compile(r"\b(?:revert|follow[- ]?up|fix(?:es)? for|regression|caused|introduced|part of|supersede)", re.IGNORECASE)
_TAGGED = re.compile(r"^\s*\[[^\]]{0,30}(?:re-?land|re-?apply|cherry-?pick|back-?port|release)[^\]]{0,30}\]", re.IGNORECASE)
_SHORTEST = 12


def pulls(title: str) -> tuple[int, ...]:
    """The pull requests by which a commit came where it is, the last first: `Fix it (#12) (#19)` is #19, the cherry-pick of #12."""
    if merge := _MERGE.match(title):
        return (int(merge[1]),)
    found, text = list[int](), title.rstrip()
    while text.endswith(")"):  # by hand: a whole history's titles are read at once
        text, _, number = text.rpartition("(#")
        if not 1 < len(number) < 11 or not number[:-1].isdecimal():
            break
        found.append(int(number[:-1]))
        text = text.rstrip()
    return tuple(found[:1] if len(found) > 1 and _ABOUT.search(title) else found)


def bare(title: str) -> str:
    """A title without tags, numbers and quotation marks: what a squash, its cherry-pick and its re-land have in common."""
    text = _TAIL.sub("", title).strip()
    while (after := _AGAIN.sub("", _TAGS.sub("", text).strip().strip("\"'")).strip()) != text:
        text = _TAIL.sub("", after).strip()
    return " ".join(text.casefold().split())


def reverts(title: str, other: str) -> bool:
    """Whether a title is `Revert "other"`, as git and GitHub write it."""
    text, wanted = _TAGS.sub("", title).strip(), bare(other)
    return bool(_REVERT.match(text)) and len(wanted) >= _SHORTEST and bare(_REVERT.sub("", text)) == wanted


def is_revert(title: str) -> bool:
    """Whether a title begins as a revert's does."""
    return bool(_REVERT.match(_TAGS.sub("", title).strip()))


def again(title: str, other: str) -> bool:
    """Whether a title says that it is another's, come again: `Reland "..."`, `[cherry-pick] ...`."""
    told = title.strip()
    word = bool(_AGAIN.match(told) or _AGAIN.match(_TAGS.sub("", told).strip()) or _TAGGED.match(told))
    return word and same(title, other)


def stem(title: str) -> str:
    """A title as another commit's message would repeat it."""
    return _TAIL.sub("", title).strip()[:120]


def same(title: str, other: str) -> bool:
    """Whether one title is another's, come again (`Reland "..."`, a cherry-pick); short ones say nothing."""
    return len(bare(other)) >= _SHORTEST and bare(title) == bare(other)
