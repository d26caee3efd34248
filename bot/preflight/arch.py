"""Whether the new image has code for the recipe's hardware: its list of architectures, and what the chosen kernels assert."""

from __future__ import annotations

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.model.upstream import ArchRefused
from bot.preflight.words import apart, mended, safe, unknown

LISTED = "arch_list"


def check(facts: Facts) -> Checked:
    """Certain ones stop; what concerns one kernel of several is told."""
    if facts.arch is None:
        return unknown(facts, "arch")
    hardware = ", ".join(dict.fromkeys(safe(recipe.hardware) for recipe in facts.family))
    found = tuple(_finding(one) for one in facts.arch)
    # Without the engine's sources only what the image says of itself was looked at.
    open_ = unknown(facts, "arch").unknown if "arch" in facts.unknown else None
    held = mended(facts, "arch", found, lambda subject: open_ is not None and not subject.endswith(f" {LISTED}"))
    return Checked(check="arch", findings=found, unknown=open_, held=held,
                   about=Text(f"architectures for {hardware}", f"{hardware} 的架构支持"))


def _finding(one: ArchRefused) -> PlanFinding:
    hardware = safe(one.hardware)
    listed = one.at == LISTED
    by = f" by {one.commit.sha[:12]}" if one.commit else ""
    if listed:
        beside, zh_beside = ("", "") if one.old_known else (
            "; what the present image is built for is unknown", "；当前镜像为哪些架构构建未知")
        what = Text(f"the image is built for {apart(one.said)}, which leaves {hardware} out{beside}",
                    f"该镜像仅为 {apart(one.said)} 构建，不支持 {hardware}{zh_beside}")
    elif one.hard:
        what = Text(f"the new engine asserts another architecture than {hardware} has", f"新版引擎断言的架构与 {hardware} 不符")
    else:
        what = Text(f"a kernel of the new engine may leave {hardware} out", f"新版引擎的某个内核可能不支持 {hardware}")
    return PlanFinding(check="arch", class_="arch-unsupported", action="stop" if one.hard else "note", what=what, who="upstream",
                       evidence=f"{hardware}: {apart(one.said)}{by}" if listed else f"{hardware}: {safe(one.at)}{by}",
                       where="the image's own list of architectures" if listed else safe(one.at),
                       release=_release(one) if one.hard else None,
                       next=Text(f"choose an image that has code for {hardware}", f"请选择支持 {hardware} 的镜像"))


def _release(one: ArchRefused) -> Release:
    """What an image was built for stays as it is: the recipe's hardware, or the kernel that it chooses, can change."""
    hardware = safe(one.hardware)
    return Release(of="arch", subject=f"{one.hardware} {one.at.rpartition(':')[0] or one.at}", says=Text(
        f"the recipe runs on hardware, or chooses kernels, for which this image has code, unlike now on {hardware}",
        f"配方改用该镜像支持的硬件或内核（目前在 {hardware} 上不支持）"))
