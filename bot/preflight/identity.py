"""Whether the token is the account that the rules want, and may do what a bump needs: seven real waves burnt their slots on a
token of another login (#3249 to #3317), each found only after a draft was open."""

from __future__ import annotations

from bot.model.finding import Checked, PlanFinding, Release
from bot.model.preflight import Facts, Identity
from bot.model.text import Text
from bot.preflight.words import joined, right, safe, unknown

_LAYOUT = "preflight.identity"


def check(facts: Facts) -> Checked:
    """Stops where the login is another one, or rights are known to be lacking. A login is compared whole, without regard to case:
    an App's `name[bot]` is another account than `name`."""
    told = facts.identity
    if told is None or not told.login:
        return unknown(facts, "identity", "no-token" if told is None else "nameless")
    found = tuple(one for one in (_other(told), _lacking(told)) if one)
    return Checked(check="identity", findings=found, about=Text(f"the token acts as {_shown(told.login)}",
                                                               f"令牌所属账号：{_shown(told.login)}"))


def _other(told: Identity) -> PlanFinding | None:
    if told.wanted is None or told.wanted.casefold() == told.login.casefold():
        return None
    mine, wanted = _shown(told.login), _shown(told.wanted)
    return PlanFinding(
        check="identity", class_="credential", action="stop", who="operator", where=_LAYOUT,
        evidence=f"token of {_plain(told.login)}, wanted {_plain(told.wanted)}",
        what=Text(f"the token acts as {mine}, and what it opens must belong to {wanted}",
                  f"令牌属于 {mine}，而其所创建的内容必须归 {wanted} 所有"),
        next=Text(f"give the workflow a token of {wanted}, or correct `{_LAYOUT}` in the layout if {mine} is meant",
                  f"请为工作流提供 {wanted} 的令牌；若本应使用 {mine}，请修正布局中的 `{_LAYOUT}`"),
        release=Release(of="identity", subject=f"login {told.wanted}",
                        says=Text(f"the token acts as {wanted}", f"令牌属于 {wanted}")))


def _lacking(told: Identity) -> PlanFinding | None:
    if not told.lacking:
        return None
    mine, lacks = _shown(told.login), joined(right(one).en for one in told.lacking)
    return PlanFinding(
        check="identity", class_="credential", action="stop", who="operator", where=_plain(told.login),
        evidence=f"{_plain(told.login)} lacks {lacks}",
        what=Text(f"the token of {mine} may not do all that a bump needs: {lacks}", f"{mine} 的令牌缺少更新所需的权限：{lacks}"),
        next=Text("give the account or App these permissions, and accept them where it is installed; `bumpbot doctor` checks them",
                  "请为该账号或 App 授予这些权限，并在安装处接受；可用 `bumpbot doctor` 核对"),
        release=Release(of="identity", subject=f"rights {','.join(told.lacking)}",
                        says=Text(f"the token has {lacks}", f"令牌具备：{lacks}")))


def _plain(login: str) -> str:
    """A login; an App's ends with `[bot]`."""
    return safe(login.removesuffix("[bot]")) + ("[bot]" if login.endswith("[bot]") else "")


def _shown(login: str) -> str:
    return f"`{_plain(login)}`"
