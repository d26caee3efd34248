"""Whether the artifacts can be uploaded under their names: a name that is too long fails after the measurement, when the GPU-hours
are spent."""

from __future__ import annotations

import re

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.preflight.words import count, safe, unknown

LONGEST = 255
"""Bytes that a file's name may have on the file systems of runners."""
REFUSED = re.compile(r'[":<>|*?\r\n\\/]')
"""What actions/upload-artifact takes in no name."""


def check(facts: Facts) -> Checked:
    """Stops for the first name that is too long and the first that holds what is refused; how many more is counted."""
    names = list(dict.fromkeys(name for job in facts.jobs for name in job.artifacts))
    if not names:
        return unknown(facts, "names", "no-names")
    long = [name for name in names if _size(name) > LONGEST]
    odd = [name for name in names if REFUSED.search(name)]
    found = [*([_long(long)] if long else []), *([_odd(odd)] if odd else [])]
    most = max(map(_size, names))
    return Checked(check="names", findings=tuple(found), about=Text(
        f"{count(len(names), 'artifact name')}, at most {count(most, 'byte')} long", f"{len(names)} 个产物名称，最长 {most} 字节"))


def _size(name: str) -> int:
    return len(name.encode("utf-8", "replace"))


def _long(names: list[str]) -> PlanFinding:
    worst = max(names, key=_size)
    return _finding(names, f"{_size(worst)} bytes, at most {LONGEST}: {safe(worst)}", Text(
        f"an artifact's name would have {_size(worst)} bytes, and a file's may have {LONGEST} (File name too long)",
        f"某产物名称将达 {_size(worst)} 字节，而文件名最多 {LONGEST} 字节（File name too long）"), "length")


def _odd(names: list[str]) -> PlanFinding:
    mark = REFUSED.search(names[0])
    assert mark is not None
    sign = {"\r": "CR", "\n": "LF"}.get(mark[0], mark[0])
    return _finding(names, f"U+{ord(mark[0]):04X} in {safe(names[0])}", Text(
        f"an artifact's name would hold `{sign}`, which upload-artifact refuses",
        f"某产物名称含有 `{sign}`，upload-artifact 不接受该字符"), "characters")


def _finding(names: list[str], evidence: str, what: Text, subject: str) -> PlanFinding:
    more = f" (+{len(names) - 1})" if len(names) > 1 else ""
    return PlanFinding(
        check="names", class_="shared-ci-bug", action="stop", who="maintainer", where="preflight.artifact-name",
        evidence=evidence + more, what=what,
        next=Text("shorten how the workflow calls its artifacts (a hash in place of the list of settings), and correct "
                  "`preflight.artifact-name` in the layout",
                  "请缩短工作流的产物命名（例如以哈希代替设置列表），并同步修正布局中的 `preflight.artifact-name`"),
        release=Release(of="names", subject=subject, says=Text("all artifact names can be uploaded", "所有产物名称均可上传")))
