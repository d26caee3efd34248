"""What the checks share when they speak: what is safe to show, how lists are cut, and why something is not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bot.model.finding import Check, Checked, PlanFinding
from bot.model.preflight import Facts
from bot.model.text import Text

MOST = 5
"""How many of a list are named: nobody reads the forty-first file that conflicts."""
_NOT_SHOWN = re.compile(r"[^A-Za-z0-9_.:/+-]+")
_LONGEST = 120
# `@sha256:` is no mention (SECURITY 8), and a reference without its `@` is none that anybody could fetch. Before a digit `#` would
# be a link, so only a registry of enroot's spelling keeps it.
_REFERENCE = re.compile(r"[A-Za-z0-9_.:/+-]{1,120}(?:#[A-Za-z][A-Za-z0-9_.:/+-]{0,119})?(?:@sha256:[0-9a-f]{64})?")
_PERMISSION = re.compile(r"[A-Za-z][A-Za-z_ -]{0,60}: (?:read|write)")

# Why a check could not look, as `Facts.unknown` says it: a word, and perhaps a value behind a colon.
_WHY: dict[str, Text] = {
    "not-asked": Text("nothing was given here that could be asked", "此处没有可供查询的来源"),
    "not-told": Text("the layout names no source for it", "布局未指定其来源"),
    "no-token": Text("the token that acts was not given to this command", "未向此命令提供实际执行操作的令牌"),
    "nameless": Text("the forge does not say whose token this is", "代码托管平台未说明该令牌属于谁"),
    "unreachable": Text("the source did not answer", "来源没有应答"),
    "unreadable": Text("what the source says cannot be read", "来源给出的内容无法读取"),
    "missing": Text("the source is not there", "来源不存在"),
    "refused": Text("the source refuses to answer", "来源拒绝应答"),
    "needs": Text("the token may not look at it; it needs", "令牌无权查看，所需权限："),
    "old-git": Text("the git on this machine is too old to merge without a checkout (2.38 can)",
                    "本机的 git 版本过旧，无法在不检出的情况下试合并（2.38 起支持）"),
    "truncated": Text("there was more than is read", "内容超出读取上限"),
    "no-points": Text("nobody says which points the recipe has", "无法得知该配置有哪些测点"),
    "no-engine": Text("nobody knows which engine this image runs", "无法得知该镜像运行的是哪个引擎"),
    "no-smoke": Text("the layout runs no smoke", "布局未设冒烟测试"),
    "no-list": Text("nobody lists what is staged there", "没有关于该处已就位内容的清单"),
    "no-digest": Text("the list names the tag that the recipe runs, and the candidate is other bytes under the same tag",
                      "清单只列出了标签，而候选是同一标签下的另一份内容"),
    "no-load": Text("nobody says how busy these machines are", "无法得知这些机器的占用情况"),
    "no-evals": Text("nobody says which evals the jobs run", "无法得知各作业运行哪些评测"),
    "no-names": Text("the layout does not say how artifacts are called", "布局未说明产物如何命名"),
    "not-registered-here": Text("the runners file does not name the label, and the forge's own list could not be read",
                                "运行器文件未定义该标签，且无法读取代码托管平台的运行器列表"),
}
_OTHERWISE = Text("it could not be looked at", "未能查看")


# What a forge calls the right to look, as `Unseen.needs` says it in English words of ours.
_NEEDS = {
    "the organisation's Self-hosted runners: read": Text("the organisation's Self-hosted runners: read",
                                                         "组织的 Self-hosted runners: read"),
    "the App's owner, or a public App": Text("the App's owner, or a public App", "App 的所有者，或公开的 App"),
}


def safe(text: str) -> str:
    """Somebody else's text as it may stand on the forge (SECURITY 8): letters, digits and `_.:/+-`, at most 120 of them."""
    return _NOT_SHOWN.sub("_", text)[:_LONGEST]


def image(text: str) -> str:
    """An image's reference, whole where it is one, digest and all, so that it can be copied; anything else as `safe` has it."""
    return text if _REFERENCE.fullmatch(text) else safe(text)


def shape(text: str) -> str:
    """A topology: `2P(TP8) x 1D(TP8/EP8)` holds blanks and brackets of our own between its parts."""
    return re.sub(r"[^A-Za-z0-9_.:/+() -]+", "_", text)[:_LONGEST]


def count(number: int, noun: str) -> str:
    """`1 node`, `3 nodes`: English alone needs it."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def joined(shown: Iterable[str], comma: str = ", ", most: int = MOST) -> str:
    """What is safe to show already, side by side; what is left out is counted."""
    every = list(dict.fromkeys(shown))
    said = comma.join(every[:most])
    return f"{said} (+{len(every) - most})" if len(every) > most else said


def listed(names: Iterable[str], most: int = MOST) -> str:
    """Names side by side, shown safely; what is left out is counted."""
    return joined((safe(name) for name in dict.fromkeys(names)), most=most)


def apart(words: str) -> str:
    """A list that stands in one text (`self-hosted,h100`, `8.0 9.0;10.0+PTX`), its words safely and apart."""
    return ", ".join(safe(word) for word in re.split(r"[\s,;]+", words) if word)


def why(word: str) -> Text:
    """A reason of `Facts.unknown` in both languages; a value behind the colon is shown safely, and rights in words."""
    name, _, value = word.partition(":")
    said, value = _WHY.get(name, _OTHERWISE), value.strip()
    if not value or name not in _WHY:
        return said
    told = _rights(value) if name == "needs" else Text(safe(value), safe(value))
    return Text(f"{said.en} {told.en}", f"{said.zh}{told.zh}")


def right(name: str) -> Text:
    """A forge's permission (`Administration: read`) in both languages; the forge's own pages name it in English."""
    found = name if _PERMISSION.fullmatch(name) else safe(name)
    return _NEEDS.get(name) or Text(found, found)


def _rights(needs: str) -> Text:
    """`Administration: read and the organisation's Self-hosted runners: read`."""
    told = [right(one) for one in dict.fromkeys(part.strip() for part in needs.split(" and "))]
    return Text(" and ".join(one.en for one in told), "，以及".join(one.zh for one in told))


def unknown(facts: Facts, check: Check, otherwise: str = "not-asked") -> Checked:
    """A check that could not be made: as the facts say why, else for this reason."""
    return Checked(check=check, unknown=why(facts.unknown.get(check, otherwise)))


def mended(facts: Facts, check: Check, found: Iterable[PlanFinding],
           open_: Callable[[str], bool] = lambda subject: False) -> tuple[str, ...]:
    """Subjects of earlier blockers that this check has looked at again, with these facts, and does not find any more: known also
    where something else could not be read. `open_` tells of which of them nobody knows."""
    again = {one.release.subject for one in found if one.release is not None}
    asked = (one.release.subject for one in facts.lessons if one.release is not None and one.release.of == check)
    return tuple(dict.fromkeys(subject for subject in asked if subject not in again and not open_(subject)))


def bare(label: str) -> str:
    """A fleet's name from its label: `cluster:h200-dgxc` is `h200-dgxc`."""
    return label.strip().removeprefix("cluster:").casefold()
