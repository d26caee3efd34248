"""Whether each part that is pinned beside the engine, and the engine on its kernel wheel, will find what they import.

Only a certain failure of the start stops: an unguarded import on the start path that the present image did answer, of a part whose
pin nobody here may move. What the old engine lacked too ran all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Facts
from bot.model.text import Text
from bot.model.upstream import ImportsChecked, MissingImport
from bot.model.uses import Used
from bot.preflight.words import MOST, count, listed, mended, safe, unknown

MOVED, KERNEL = "moved-module", "engine-regression"
# An option that makes a part import what the engine moved, and the known repair that takes it away (knowledge/repairs.yaml).
_REPAIRS = {"dyn_chat_processor=vllm": "native-chat-processor"}


def check(facts: Facts) -> Checked:
    """What is missing, part by part."""
    if facts.imports is None:
        return unknown(facts, "imports")
    made = [finding for one in facts.imports for finding in _judged(one, facts)]
    unread = [path for one in facts.imports for path in (*one.unread_start, *one.unread)]
    why = None
    if unread:
        why = Text(f"what these files import, or offer, could not be read: {listed(unread)}",
                   f"以下文件导入或提供的内容无法读取：{listed(unread)}")
    elif "imports" in facts.unknown:
        why = unknown(facts, "imports").unknown
    held = mended(facts, "imports", made, lambda subject: _open(subject, facts.imports or (), "imports" in facts.unknown))
    return Checked(check="imports", findings=tuple(made), about=_about(facts.imports), unknown=why, held=held)


def _open(subject: str, told: Sequence[ImportsChecked], partly: bool) -> bool:
    """Whether nobody knows of an earlier blocker (`dynamo 0.8.1 sglang.srt.tracing`), or it is there in other words: another part's
    trouble says nothing of this one, and an image whose kernels fit makes this one no better."""
    part, _, lacks = subject.rpartition(" ")
    same = [one for one in told if _shown(one.consumer).partition(" ")[0] == part.partition(" ")[0]]
    mine = [one for one in same if _shown(one.consumer) == part]
    unread = any(one.unread_start for one in mine)
    still = any(one.kernel and not row.guarded and safe(_asked(row)) == lacks for one in mine for row in one.missing)
    return unread or still or (partly and not same)


def _about(told: Sequence[ImportsChecked]) -> Text:
    if not told:
        return Text("nothing that imports the engine is pinned beside it", "没有与引擎一同固定版本且导入引擎的组件")
    pairs = "; ".join(f"{_shown(one.consumer)} / {_shown(one.provider)}" for one in told[:MOST])
    number, missing = sum(one.counted for one in told), sum(len(one.missing) for one in told)
    return Text(f"{count(number, 'import')} looked at, {missing} missing ({pairs})",
                f"共检查 {number} 处导入，缺少 {missing} 处（{pairs}）")


def _judged(told: ImportsChecked, facts: Facts) -> list[PlanFinding]:
    known = {(row.file, row.module, row.name) for row in told.before or ()}
    fresh = [row for row in told.missing if (row.file, row.module, row.name) not in known]
    rest = [row for row in fresh if not row.typing]
    made: list[PlanFinding] = []
    if told.kernel:
        harmful = [row for row in rest if not row.guarded]
        made += [_of_kernel(told, harmful)] if harmful else []
    else:
        stops = [row for row in rest if row.stops]
        asked = [(row, option) for row in rest if row not in stops and not row.guarded
                 and (option := _option(row, (*facts.uses.options, *(used for _, used in told.asked)))) is not None]
        harmful = stops or [row for row, _ in asked]
        made += [_of_start(told, stops)] if stops else [_of_option(told, asked)] if asked else []
    quiet = [row for row in told.missing if row not in harmful and (row.on_start_path or row in rest)]
    return made + ([_note(told, quiet, known)] if quiet else [])


def _of_start(told: ImportsChecked, rows: Sequence[MissingImport]) -> PlanFinding:
    """The part cannot start. The pin is moved where that may be done, else nothing can be."""
    owned = bool(told.pin and told.pin.owned)
    part, engine, lacks = _shown(told.consumer), _shown(told.provider), _first(rows)
    fits = _shown(told.fits) if told.fits else ""
    if fits:
        says = Text(f"move the pin to {fits}, which imports nothing that {engine} lacks",
                    f"将固定版本改为 {fits}，它不导入 {engine} 所缺少的内容")
    else:
        says = Text(f"pin a version of it that was made for {engine}, or stay on the present image",
                    f"固定一个适配 {engine} 的版本，或保留当前镜像")
    return PlanFinding(
        check="imports", class_=MOVED, action="repair-first" if owned else "stop", evidence=_evidence(rows),
        where=_where(told, rows),
        what=Text(f"{part} imports {lacks} when it starts, and {engine} has it no more",
                  f"{part} 启动时会导入 {lacks}，而 {engine} 中已不存在"),
        next=says, who="maintainer" if owned else "upstream",
        release=None if owned else Release(of="imports", subject=f"{part} {lacks}", says=Text(
            f"the pin of {part} has moved, or an engine has {lacks} again", f"{part} 的固定版本已变，或引擎重新提供 {lacks}")))


def _of_option(told: ImportsChecked, rows: Sequence[tuple[MissingImport, str]]) -> PlanFinding:
    """An option of the recipe makes the part import it: without the option it starts."""
    option = rows[0][1]
    variable = _variable(told, option)
    repair = None if variable else _REPAIRS.get(option)  # the repair takes keys away, and knows no variable
    lacks, part, engine = _first([row for row, _ in rows]), _shown(told.consumer), _shown(told.provider)
    name = "=".join(map(safe, (variable or option).split("=", 1)))
    if variable:
        what = name.partition("=")[0]
        says = Text(f"take the variable {what} away, or pin a version of {part} that was made for {engine}",
                    f"去掉环境变量 {what}，或固定一个适配 {engine} 的 {part} 版本")
    elif repair:
        says = Text(f"the known repair {repair} takes the option away", f"已知修复 {repair} 会去掉该选项")
    else:
        says = Text(f"take the option away, or pin a version of {part} that was made for {engine}",
                    f"去掉该选项，或固定一个适配 {engine} 的 {part} 版本")
    return PlanFinding(
        check="imports", class_=MOVED, action="repair-first", evidence=_evidence([row for row, _ in rows]),
        where=_where(told, [row for row, _ in rows]), repair=repair, next=says, who="bot" if repair else "maintainer",
        what=Text(f"with {name} {part} imports {lacks}, and {engine} has it no more",
                  f"在 {name} 下，{part} 会导入 {lacks}，而 {engine} 中已不存在"))


def _of_kernel(told: ImportsChecked, rows: Sequence[MissingImport]) -> PlanFinding:
    """The engine asks its own kernel wheel for what the version it pins does not have: the image was cut between the two."""
    engine, kernel, lacks = _shown(told.consumer), _shown(told.provider), _first(rows)
    starts = any(row.stops for row in rows)
    if told.fits:
        says = Text(f"take the image {_shown(told.fits)}, whose engine and kernels fit",
                    f"改用镜像 {_shown(told.fits)}，其引擎与内核库匹配")
    else:
        says = Text("take an image that was cut before the change, or after its kernels were released",
                    "改用该变更之前的镜像，或内核库发布之后的镜像")
    action = "repair-first" if told.fits else "note" if not starts else "ask" if told.before is None else "stop"
    return PlanFinding(
        check="imports", class_=KERNEL, action=action, evidence=_evidence(rows), where=_where(told, rows), next=says,
        who="upstream" if action == "stop" else "maintainer", what=Text(f"{engine} imports {lacks}, which {kernel} does not have",
                                    f"{engine} 导入 {lacks}，而 {kernel} 未提供"),
        release=Release(of="imports", subject=f"{engine} {lacks}", says=Text(
            f"an image whose kernels have {lacks}", f"镜像中的内核库提供 {lacks}")) if action == "stop" else None)


def _note(told: ImportsChecked, rows: Sequence[MissingImport], known: set[tuple[str, str, str | None]]) -> PlanFinding:
    """What is missing and keeps nothing from starting: guarded, come to only later, or missing all along."""
    part, engine = _shown(told.consumer), _shown(told.provider)
    old = [row for row in rows if (row.file, row.module, row.name) in known]
    if len(old) == len(rows):
        why = Text("the present image lacks it too and runs", "当前镜像同样缺少且可以运行")
    else:
        why = Text("each is guarded, or not imported when it starts", "均有保护，或启动时不会导入")
    return PlanFinding(
        check="imports", class_=KERNEL if told.kernel else MOVED, action="note", evidence=_evidence(rows), where=_where(told, rows),
        what=Text(f"{part} imports {count(len(rows), 'thing')} that {engine} lacks: {why.en}",
                  f"{part} 导入的 {len(rows)} 项内容 {engine} 并不提供：{why.zh}"),
        next=Text("nothing need be done; look here first if a feature is found missing",
                  "无需处理；若发现功能缺失，请先查看此处"), who="maintainer")


def _option(row: MissingImport, options: Sequence[Used]) -> str | None:
    """The recipe's option under which a row is come to, as `dyn_chat_processor=vllm`; None where no option of it says so. The code
    names the setting without the option's prefix (`config.chat_processor`)."""
    needs = [(name.rpartition(".")[2], value) for name, _, value in (need.partition("=") for need in row.needs)]
    for used in options:
        name = used.name.lstrip("-").replace("-", "_")
        same = [need for need, value in needs if value == used.value and (name == need or name.endswith(f"_{need}"))]
        if used.value is not None and same:
            return f"{name}={used.value}"
    return None


def _variable(told: ImportsChecked, option: str) -> str:
    """The variable and its value by which the recipe sets an option; "" where the command line does."""
    return next((f"{variable}={used.value}" for variable, used in told.asked
                 if f"{used.name.lstrip('-').replace('-', '_')}={used.value}" == option), "")


def _shown(text: str) -> str:
    """Names of a part and its version, each shown safely."""
    return " ".join(safe(word) for word in text.split()[:4])


def _first(rows: Sequence[MissingImport]) -> str:
    return safe(_asked(rows[0]))


def _asked(row: MissingImport) -> str:
    return row.module if row.name is None else f"{row.module}.{row.name}"


def _evidence(rows: Sequence[MissingImport]) -> str:
    """`sglang.srt.tracing at dynamo/sglang/args.py:18`, the first few."""
    shown = [f"{safe(_asked(row))} at {safe(f'{row.file}:{row.line}')}" for row in rows]
    return "; ".join(shown[:4]) + (f" (+{len(shown) - 4})" if len(shown) > 4 else "")


def _where(told: ImportsChecked, rows: Sequence[MissingImport]) -> str:
    return told.pin.at.text if told.pin and not told.kernel else f"{rows[0].file}:{rows[0].line}"
