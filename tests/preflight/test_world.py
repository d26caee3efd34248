"""What is gathered of forge, fleet and files, through ports; what refuses or does not answer is unknown, with a word for why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bot.errors import Missing, Refusal, Unreachable
from bot.layout import Layout, load
from bot.model.preflight import Identity, Load, Merge, Staged, Work
from bot.model.settings import App, Holder, Repository, Runner, RunnerGroup, Unseen
from bot.plan.sources import Sources
from bot.plan.world import gather
from bot.preflight.words import why
from bot.recipe.shelf import Shelf
from tests.preflight.worlds import KEY, LABEL, facts

RUNNER = Runner(name="h200-dgxc-slurm_0", labels=(LABEL,), online=True)
LAUNCHER = b'if [[ $MODEL_PREFIX == "glm5.2" ]]; then\n  enroot import -o x docker://$IMAGE\nfi\n'
MASTER = f"{KEY}:\n  image: vllm/vllm-openai:kimi-k3\n  model: moonshotai/Kimi-K3\n  model-prefix: kimik3\n".encode()
FILES = {"configs/m.yaml": MASTER, "runners.yaml": f"labels:\n  {LABEL}: [h200-dgxc-slurm_0, h200-dgxc-slurm_1]\n".encode(),
         "runners/launch_h200-dgxc-slurm.sh": LAUNCHER,
         "certified.yaml": f"certified: [{{recipe: '{KEY[:5]}*', task: gsm8k, framework: lm-eval}}]".encode()}


class Files:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return sorted(path for path in self.files if path.startswith(prefix))


class Forge:
    """A Settings, Fleet and Neighbours port at once; a value that is an exception is raised."""

    def __init__(self, **said: Any) -> None:
        self.said = {"holder": Holder(kind="app", login="bumpbot[bot]"), "runners": (RUNNER,), "runner_groups": (),
                     "app": App(id=1, slug="bumpbot", permissions=dict.fromkeys(("contents", "pull_requests", "issues", "actions"), "write")),
                     "repository": Repository(name="acme/recipes", default_branch="main", private=True), "staged": None, "loads": None,
                     "work": (), "merge": Merge(head="h", base="b")} | said
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def answer(*_: object) -> Any:
            self.asked.append(name)
            found = self.said[name]
            if isinstance(found, Exception):
                raise found
            return found

        return answer


def layout(preflight: str = "") -> Layout:
    return load(f"version: 1\nrecipes: [{{files: configs/*.yaml, key: '*', facts: {{prefix: .model-prefix}}}}]\n"
                f"runners: runners.yaml\npreflight: {{{preflight}}}\n")


def gathered(forge: Forge | None, preflight: str = "", only: Any = None, files: Mapping[str, bytes] = FILES,
             **more: Any) -> tuple[dict[str, Any], dict[str, str]]:
    tree = Shelf(Files(files))
    ports = {"settings": forge, "fleet": forge, "neighbours": forge} if forge else {}
    sources = Sources(tree=tree, registry=None, commits=None, published=None, schemes=(), **{**ports, "me": "bumpbot[bot]", **more})
    told = facts()
    return gather(sources, layout(preflight), tree, told.family, told.candidate, only)


class TestIdentity:
    def test_is_the_forges_own_word_and_not_the_workflows(self) -> None:
        """#3249: the workflow called its bot by one name, and the token was another login."""
        fields, unknown = gathered(Forge(holder=Holder(kind="classic", login="someone", scopes=("repo",))), "identity: Klaud-Cold")
        assert fields["identity"] == Identity(login="someone", wanted="Klaud-Cold") and "identity" not in unknown

    def test_tells_the_rights_that_an_app_lacks(self) -> None:
        fields, _ = gathered(Forge(app=App(id=1, slug="bumpbot", permissions={"contents": "write", "issues": "write"})))
        assert fields["identity"].lacking == ("pull_requests: write", "actions: write")

    @pytest.mark.parametrize(("holder", "lacks"), [
        (Holder(kind="fine-grained", login="ada"), ()), (Holder(kind="classic", login="ada", scopes=("public_repo",)), ("repo",)),
        (Holder(kind="default", login="github-actions[bot]"), ()),
    ])
    def test_takes_nothing_for_lacking_that_nobody_tells(self, holder: Holder, lacks: tuple[str, ...]) -> None:
        assert gathered(Forge(holder=holder, app=Unseen(why="404", needs="x")))[0]["identity"].lacking == lacks

    @pytest.mark.parametrize(("forge", "me", "word"), [
        (Forge(holder=Holder(kind="installation")), "x", "nameless"), (Forge(), "", "no-token"), (None, "x", "no-token"),
        (Forge(holder=Unreachable("x")), "x", "unreachable"),
    ])
    def test_is_unknown_where_the_token_that_acts_is_not_here(self, forge: Forge | None, me: str, word: str) -> None:
        fields, unknown = gathered(forge, me=me)
        assert "identity" not in fields and unknown["identity"] == word


class TestRunners:
    def test_are_the_repositorys_and_those_of_the_groups_that_serve_it(self) -> None:
        other = Runner(name="o", labels=("x",), online=True)
        group = RunnerGroup(id=1, name="g", everywhere=True, public=False, workflows=None, runners=(other,))
        assert gathered(Forge(runner_groups=(group,)))[0]["runners"] == (RUNNER, other)

    @pytest.mark.parametrize(("runners", "open_"), [((RUNNER,), False), ((), True)])
    def test_are_unknown_where_a_label_may_be_in_the_part_that_is_hidden(self, runners: tuple[Runner, ...], open_: bool) -> None:
        hidden = Unseen(why="403", needs="the organisation's Self-hosted runners: read")
        fields, unknown = gathered(Forge(runners=runners, runner_groups=hidden))
        assert fields["runners"] == runners and ("runners" in unknown) is open_

    def test_that_may_not_be_listed_name_the_right(self) -> None:
        hidden = Unseen(why="403", needs="Administration: read")
        fields, unknown = gathered(Forge(runners=hidden, runner_groups=hidden))
        assert "runners" not in fields and why(unknown["runners"]).zh == "令牌无权查看，所需权限：Administration: read"

    def test_are_declared_by_the_runners_file(self) -> None:
        assert gathered(None)[0]["declared_labels"] == {LABEL: ("h200-dgxc-slurm_0", "h200-dgxc-slurm_1")}


LAUNCHERS = "staging: {launchers: {files: 'runners/launch_{fleet}.sh', facts: {MODEL_PREFIX: .model-prefix}}}"


class TestStaging:
    def test_is_what_fleet_and_launcher_say(self) -> None:
        told = Staged(runner="h200-dgxc", images=("x",))
        fields, unknown = gathered(Forge(staged=(told,)), LAUNCHERS)
        assert fields["staged"] == (told, Staged(runner="h200-dgxc-slurm", by_hand=True, source="runners/launch_h200-dgxc-slurm.sh:2"))
        assert "staging" not in unknown

    def test_of_a_launcher_that_imports_names_the_prefix(self) -> None:
        files = {**FILES, "runners/launch_h200-dgxc-slurm.sh": b"enroot import x"}
        assert gathered(Forge(), LAUNCHERS, files=files)[0]["staged"][0].imports == ("kimik3",)

    def test_that_nobody_tells_is_unknown(self) -> None:
        assert gathered(Forge())[1]["staging"] == "not-told"


class TestCapacity:
    def test_is_counted_from_the_forges_own_list(self) -> None:
        busy = Runner(name="b", labels=(LABEL,), online=True, busy=True)
        off = Runner(name="c", labels=(LABEL,), online=False)
        fields, _ = gathered(Forge(runners=(RUNNER, busy, off, busy)), "capacity: {source: runners, limit: 0.5, idle: 2}")
        assert fields["loads"] == (Load(cluster=LABEL, nodes=3, idle=1, source="actions/runners"),)
        assert (fields["capacity_limit"], fields["idle_needed"]) == (0.5, 2)

    def test_of_a_fleet_that_tells_itself_goes_before(self) -> None:
        assert gathered(Forge(loads=()), "capacity: {source: runners}")[0]["loads"] == ()

    @pytest.mark.parametrize(("said", "layout_", "word"), [
        ({}, "", "not-told"), ({"loads": Unreachable("x")}, "", "unreachable"), ({"loads": Refusal("x")}, "", "refused"),
        ({"runners": Unreachable("x")}, "capacity: {source: runners}", "unreachable"),
    ])
    def test_that_nobody_tells_is_unknown(self, said: dict[str, Any], layout_: str, word: str) -> None:
        assert gathered(Forge(**said), layout_)[1]["capacity"] == word


class TestTheRest:
    def test_work_is_that_on_the_family(self) -> None:
        mine, other = Work(kind="pull", name="#1", by="a", recipes=(KEY, "x")), Work(kind="pull", name="#2", by="a", recipes=("x",))
        beside = Work(kind="pull", name="#3", by="a", recipes=("x",), files=(facts().family[0].file,))
        assert gathered(Forge(work=(beside, other)))[0]["work"] == (beside,)
        own = Work(kind="branch", name="bumpbot/x", by="", recipes=(KEY,))
        assert gathered(Forge(work=(mine, other, own)), branch="bumpbot/x")[0]["work"] == (mine,)

    def test_merging_is_asked_once_there_is_a_head(self) -> None:
        assert gathered(Forge())[1]["mergeable"] == "no-head"
        assert gathered(Forge(), head="h", tip="t")[0]["merge"] == Merge(head="h", base="b")
        assert gathered(Forge(merge=Refusal("git on this machine cannot merge without a checkout")), head="h", tip="t")[1][
            "mergeable"] == "old-git"

    def test_certifying_rules_are_the_default_branchs_file(self) -> None:
        (rule,) = gathered(None, "certify: {file: certified.yaml}")[0]["certified"]
        assert (rule.recipe, rule.task, rule.framework, rule.at) == (KEY, "gsm8k", "lm-eval", "certified.yaml")
        assert gathered(None, "certify: {file: gone.yaml}")[1]["certify"] == "missing"
        assert gathered(None, "certify: {file: configs/m.yaml}")[1]["certify"] == "unreadable"

    def test_jobs_carry_the_names_that_the_layout_gives_their_artifacts(self) -> None:
        jobs = gathered(None, "artifact-name: 'bench_{recipe}_c{concurrency}_{task}_attempt{attempt}'")[0]["jobs"]
        assert [job.artifacts for job in jobs][-1] == (f"bench_{KEY}_c16_gsm8k_attempt1",)
        assert [job.task for job in jobs] == ["", "", "", "gsm8k"]

    def test_no_more_is_asked_than_is_wanted(self) -> None:
        forge = Forge()
        fields, unknown = gathered(forge, only={"overlap"})
        assert forge.asked == ["work"] and unknown == {} and "identity" not in fields

    def test_nothing_is_asked_of_a_check_that_is_switched_off(self) -> None:
        forge = Forge(work=Missing("x"))
        assert "overlap" not in gathered(forge, "skip: {overlap: one bot alone works here}")[1] and "work" not in forge.asked
