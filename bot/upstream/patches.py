"""Source patches that a recipe carries: which upstream change each stands for, and whether a candidate holds it already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from bot.errors import BumpbotError
from bot.model.upstream import CarriedHeld, Change, Held
from bot.model.uses import Carried, Written
from bot.ports import History
from bot.upstream.contains import holds
from bot.upstream.patchid import patch_id

T = TypeVar("T")
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}"
_URL = re.compile(rf"https?://[^/\s]+/({_NAME})/(?:pull/(\d{{1,9}})|commit/([0-9a-f]{{7,40}}))")
_NUMBERED = re.compile(rf"(?<![\w/.-])({_NAME}|[A-Za-z][A-Za-z0-9._-]{{1,60}})#(\d{{1,9}})\b")
_AT = re.compile(rf"(?<![\w/.-])({_NAME})@([0-9a-f]{{7,40}})\b")
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")
_MAIL = re.compile(r"From ([0-9a-f]{40}) Mon Sep 17 00:00:00 2001")
_SUBJECT = re.compile(r"Subject: .*?((?:\s*\(#\d{1,9}\))+)\s*$")
# A change named as the fault that a patch works around is none that it stands for.
_FAULT = re.compile(r"\b(?:regress\w*|introduced|caused?|broke\w*|since|bug in|breaks|culprit|because of|due to|after)\b",
                    re.IGNORECASE)
_SED_FILE = re.compile(r"(?<![\w./-])(/?[\w.-]+(?:/[\w.-]+)+\.(?:py|pyi|cu|cuh|cpp|h|hpp|json|toml|yaml|yml|sh))\b")
# Where images install or clone an engine: what stands behind is the path in its repository.
_INSTALLED = re.compile(r"^.*?/(?:site-packages|dist-packages|[a-z]+-workspace/[^/]+)/")
_GIT = re.compile(r"diff --git a/(.+) b/\1")  # our own header: both names are the same, and a name may hold blanks
_LIMIT = 4_000_000


def read(data: bytes, at: Written, repository: str = "", folder: str = "") -> Carried:
    """A patch or script as what it names: upstream's pull requests and commits (of `repository` alone, where one is named), the
    files that it changes, and its patch id where it is a diff. `folder` is where modules lie in the repository."""
    text = data[:_LIMIT].decode("utf-8", "replace")
    named = list(_named(text, repository))
    diff = _as_git(text, folder)
    files = [found[1] for line in diff.split("\n") if (found := _GIT.fullmatch(line))]
    if not files:
        files = [_INSTALLED.sub("", path) for path in _SED_FILE.findall(text) if "sed" in text or "patch" in text]
    return Carried(at=at, pulls=_once(int(number) for number, _ in named if number),
                   commits=_once(commit for _, commit in named if commit),
                   patch_id=patch_id(diff.encode()) if diff else None, files=_once(files))


def carried(history: History | None, patches: Sequence[Carried], head: str | None, repository: str) -> tuple[CarriedHeld, ...]:
    """For each patch, whether the candidate built from `head` holds what it stands for. By its patch id it is that very change;
    else by the changes that it names, where every one of them must be there. A patch that names none is unknown."""
    return tuple(CarriedHeld(carried=one, held=_held(history, one, head, repository)) for one in patches)


def _held(history: History | None, one: Carried, head: str | None, repository: str) -> tuple[Held, ...]:
    why = one.at.text
    if one.patch_id:
        change = Change(repository=repository, patch_id=one.patch_id, wanted="must-have", why=why)
        found = _same(history, change, head, one.files)
        if found.holds or not (one.pulls or one.commits):
            return (found,)
    named = [Change(repository=repository, pull=number, wanted="must-have", why=why) for number in one.pulls]
    # A mail's own id is the one that it had where it was made; a pull request says more than that.
    named += [] if named else [Change(repository=repository, commit=commit, wanted="must-have", why=why) for commit in one.commits]
    return tuple(holds(history, change, head) for change in named)


def _same(history: History | None, change: Change, head: str | None, files: Sequence[str]) -> Held:
    """A patch that is not found may still be there in other words: unknown."""
    unknown = Held(change=change, holds=None)
    if history is None or head is None or change.patch_id is None:
        return unknown
    try:
        found = history.same_change(change.patch_id, head, files=files)
        return holds(history, Change(repository=change.repository, commit=found.sha, wanted="must-have", why=change.why),
                     head) if found else unknown
    except BumpbotError:
        return unknown


def _named(text: str, repository: str) -> Iterator[tuple[str, str]]:
    """The pull requests (their numbers, first) and commits (second) that a text names as what it brings."""
    own = repository.lower()
    short = own.rpartition("/")[2]
    for line in text.split("\n"):
        if line[:1] in "+-" and not line.startswith(("+++", "---")) or len(line) > 2000:
            continue
        if mail := _MAIL.match(line):
            yield "", mail[1]
        elif subject := _SUBJECT.match(line):
            yield re.findall(r"\d+", subject[1])[0], ""
        if _FAULT.search(line):
            continue
        yield from (("", commit) for commit in _PICKED.findall(line))
        for found in (*_URL.findall(line), *((name, number, "") for name, number in _NUMBERED.findall(line)),
                      *((name, "", commit) for name, commit in _AT.findall(line))):
            if not own or found[0].lower() in (own, short) or found[0].lower().removesuffix(".git") == own:
                yield found[1], found[2]


def _as_git(text: str, folder: str) -> str:
    """The diffs in a text with git's own header lines and the paths of the repository: from `diff -u`, from a script that holds
    one, or from git. Empty where there is none."""
    out: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        begins = all(line.startswith(sign) for line, sign in zip(lines[at:at + 3], ("--- ", "+++ ", "@@ -"), strict=False))
        at = _file(lines, at, folder, out) if begins and at + 2 < len(lines) else at + 1
    return "".join(f"{line}\n" for line in out)


def _file(lines: Sequence[str], at: int, folder: str, out: list[str]) -> int:
    """One file's part of a diff, from its `---` line; tells where it ends."""
    old, new = (_path(lines[at + step][4:], folder) for step in (0, 1))
    name = new if new != "/dev/null" else old
    out.append(f"diff --git a/{name} b/{name}")
    out += [line for line in _modes(lines, at)]
    out += [f"--- {old if old == '/dev/null' else 'a/' + name}", f"+++ {new if new == '/dev/null' else 'b/' + name}"]
    at += 2
    while at < len(lines) and (hunk := re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", lines[at])):
        before, after = (1 if count is None else int(count) for count in hunk.groups())
        out.append(lines[at])
        at += 1
        while at < len(lines) and (before > 0 or after > 0 or lines[at].startswith("\\ ")):
            before -= lines[at][:1] in ("-", " ", "")
            after -= lines[at][:1] in ("+", " ", "")
            out.append(lines[at] or " ")
            at += 1
    return at


def _modes(lines: Sequence[str], at: int) -> Iterator[str]:
    """git's own lines above `---` that belong to the change's id: a new file, a removed one, a mode."""
    above = []
    while at > 0 and not lines[at - 1].startswith("diff ") and len(above) < 8:
        at -= 1
        above.append(lines[at])
    if at > 0 and lines[at - 1].startswith("diff --git "):
        yield from (line for line in reversed(above) if re.match(r"(?:new file|deleted file|old|new) mode ", line))


def _path(text: str, folder: str) -> str:
    path = text.partition("\t")[0].strip()
    if path == "/dev/null":
        return path
    path = _INSTALLED.sub("", path) if path.startswith("/") or _INSTALLED.match(path) else re.sub(r"^(?:[abciwo]/|\./)", "", path)
    return f"{folder}/{path}" if folder and not path.startswith(f"{folder}/") else path


def _once(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
