"""What `bumpbot plan` prints of what planning found: whole, and then exit 1 where a check stops it."""

from __future__ import annotations

import json

import pytest
import typer
from msgspec.structs import replace

from bot.cli import planned
from bot.decide.report import proposal
from bot.layout import Layout, resolve
from bot.model.bump import Bump
from bot.model.finding import Checked, PlanFinding
from bot.model.text import Text
from bot.model.upstream import Commit, Comparison, Sibling, Touch
from tests.fakes.facts import bump
from tests.render.catalogue import renderer

GUEST = "version: 1\nrecipes:\n  - files: a.yaml\n    image: [.image]\nallow: [docker.io/vllm/vllm-openai]\n"
MOVED = PlanFinding(
    check="imports", class_="moved-module", action="stop", evidence="sglang.srt.server_args_config_parser", where="dynamo/sglang/args.py:12",
    next=Text(en="move the pin of dynamo to 1.2.0", zh="将 dynamo 的固定版本改为 1.2.0"), who="maintainer",
    what=Text(en="dynamo 1.1.0 imports what sglang 0.5.19 does not have", zh="dynamo 1.1.0 导入了 sglang 0.5.19 没有的模块"),
)
SAYS = "Fix it, @claude | says the title"
TOUCHING = Touch(commit=Commit(sha="c" * 40, title=SAYS, date="2026-08-21T10:00:00Z", pull=55472), words=("--tp-size",))
COMPARED = Comparison(repository="a/b", base="1" * 40, head="2" * 40, merge_base="1" * 40, ahead=300, behind=0, touching=(TOUCHING,),
                      concerning=13, url="https://github.com/a/b/compare/1...2")


@pytest.fixture(scope="module")
def layout() -> Layout:
    return resolve(GUEST, {})


def facts(*checks: Checked) -> Bump:
    made = bump()
    siblings = (Sibling(recipe="other", image="vllm/vllm-openai:new", same="tag", hardware="gb300", since="PR #7"),)
    plan = replace(made.subject.plan, checks=checks, comparisons=(COMPARED,), diff="--- a\n+++ b\n", pins={"dynamo": "1.1.0"},
                   siblings=siblings)
    return replace(made, subject=replace(made.subject, plan=plan))


def show(format_: str, layout: Layout, found: Bump) -> None:
    planned.show(format_, "r", layout, found, renderer().parts(proposal(found, ended=None))[0])


STOPPED = facts(Checked(check="imports", findings=(MOVED,)), Checked(check="identity", unknown=Text(en="no token", zh="没有令牌")),
                Checked(check="names", about=Text(en="4 names", zh="4 个名称")))


class TestAStop:
    @pytest.mark.parametrize("format_", ["table", "json", "markdown"])
    def test_is_exit_1_after_everything_was_printed_and_says_who_moves(self, format_: str, layout: Layout,
                                                                       capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(typer.Exit) as ended:
            show(format_, layout, STOPPED)
        assert ended.value.exit_code == 1
        out, err = capsys.readouterr()
        assert "+++ b" in out and "server_args_config_parser" in out
        assert "stopped by imports: dynamo 1.1.0 imports" in err and "next (maintainer): move the pin of dynamo to 1.2.0" in err

    def test_is_none_where_the_findings_only_ask(self, layout: Layout, capsys: pytest.CaptureFixture[str]) -> None:
        show("json", layout, facts(Checked(check="imports", findings=(replace(MOVED, action="ask"),))))
        assert capsys.readouterr().err == ""


class TestJson:
    def test_has_findings_in_the_contracts_shape_and_every_check_with_its_result(self, layout: Layout,
                                                                                capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(typer.Exit):
            show("json", layout, STOPPED)
        told = json.loads(capsys.readouterr().out)
        found, = told["findings"]
        assert {key: found[key] for key in ("check", "class", "action", "where", "who")} == {
            "check": "imports", "class": "moved-module", "action": "stop", "where": "dynamo/sglang/args.py:12", "who": "maintainer"}
        assert found["next"] == {"en": "move the pin of dynamo to 1.2.0", "zh": "将 dynamo 的固定版本改为 1.2.0"}
        assert {one["check"]: one["result"] for one in told["checks"]} == {"imports": "stop", "identity": "unknown", "names": "holds"}
        assert told["comparisons"][0]["touching"][0]["commit"]["pull"] == 55472
        assert told["siblings"][0]["recipe"] == "other" and told["pins"] == {"dynamo": "1.1.0"} and told["carried"] == []

    def test_of_a_baseline_that_no_check_looked_at_still_has_its_findings(self, layout: Layout,
                                                                         capsys: pytest.CaptureFixture[str]) -> None:
        made = facts()
        made = replace(made, subject=replace(made.subject, plan=replace(made.subject.plan, missing_baseline="other-topology:TP8")))
        show("json", layout, made)
        assert [one["check"] for one in json.loads(capsys.readouterr().out)["findings"]] == ["roster"]


class TestATerminal:
    def test_shows_titles_which_the_proposal_does_not(self, layout: Layout, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(typer.Exit):
            show("table", layout, STOPPED)
        out = capsys.readouterr().out
        assert f"#55472 {SAYS}" in out and "and 12 more" in out
        with pytest.raises(typer.Exit):
            show("markdown", layout, STOPPED)
        assert "says the title" not in capsys.readouterr().out

    def test_tells_each_finding_in_full_and_what_is_unknown(self, layout: Layout, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(typer.Exit):
            show("table", layout, STOPPED)
        out = capsys.readouterr().out.partition("\nChecks\n")[2]
        assert "imports: stop (moved-module)" in out and "identity: unknown\n  no token" in out and "names: holds\n  4 names" in out
        assert "seen: sglang.srt.server_args_config_parser, in dynamo/sglang/args.py:12" in out
