"""wake and bump as a workflow runs them: everything from the environment, against a GitHub on loopback."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.cli import operate, remote
from bot.ledger import seen_path
from bot.wake.loop import Report
from tests.cli import worlds
from tests.cli.shell import Done, bumpbot


def opened(forge: worlds.Forge, **env: str) -> Done:
    return bumpbot("bump", "toy", "--image", f"{forge.image}:v1.1.0", env={**forge.env, **env})


def woken(forge: worlds.Forge, *argv: str | Path, **env: str) -> Done:
    return bumpbot("wake", *(argv or ("--event", "schedule")), env={**forge.env, **env})


def event(folder: Path, payload: Any) -> Path:
    """A payload's file; text is written as it is."""
    file = folder / "event.json"
    file.write_bytes(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
    return file


def bumps(repo: str | Path) -> list[str]:
    return [row["bump"] for row in bumpbot("--repo", repo, "ledger", "show", "--format", "json").json]


class TestBump:
    def test_goes_from_the_branch_to_the_dispatched_smoke(self, forge: worlds.Forge) -> None:
        done = opened(forge)
        assert (done.code, done.out) == (0, "")
        assert "claim 1: Push" in done.err and "OpenPull" in done.err and "Dispatch" in done.err
        pull, = forge.world.hub.pulls()
        assert pull.draft and f"{forge.image}:v1.1.0" in pull.body
        assert [run.workflow for run in forge.world.hub.runs_made()] == ["smoke.yml"]

    def test_a_second_wake_finds_nothing_to_do(self, forge: worlds.Forge) -> None:
        opened(forge)
        done = woken(forge)
        assert (done.code, done.out) == (0, "")
        assert done.err.splitlines()[-1].endswith(": 0 steps")
        assert woken(forge).line.endswith(": 0 steps"), "the scan of the day was the first wake's"
        assert len(forge.world.hub.runs_made()) == 1

    @pytest.mark.parametrize(("tag", "said"), [("v0.9.0", "is older than"), ("v1.0.0", "already runs"), ("v9", "not there (404)")])
    def test_what_a_rule_or_the_registry_forbids_is_one_line(self, forge: worlds.Forge, tag: str, said: str) -> None:
        done = bumpbot("bump", "toy", "--image", f"{forge.image}:{tag}", env=forge.env)
        assert done.code == 1 and said in done.line
        assert not forge.world.hub.pulls()

    def test_an_unknown_recipe(self, forge: worlds.Forge) -> None:
        done = bumpbot("bump", "ghost", "--image", f"{forge.image}:v1.1.0", env=forge.env)
        assert done.code == 1 and "no recipe ghost" in done.line

    def test_without_an_image_or_with_one_that_does_not_parse(self) -> None:
        assert bumpbot("bump", "toy").code == 2
        assert bumpbot("bump", "toy", "--image", "A B").code == 2


class TestTheEvent:
    def test_of_another_kind_is_a_bad_argument_that_tells_the_others(self, forge: worlds.Forge) -> None:
        done = woken(forge, "--event", "deployment")
        assert done.code == 2
        assert "`deployment`" in done.line and "workflow_run" in done.line

    def test_comes_from_the_workflow_when_none_is_named(self, forge: worlds.Forge, tmp_path: Path) -> None:
        inputs = {"recipe": "toy", "image": f"{forge.image}:v1.1.0"}
        file = event(tmp_path, {"inputs": inputs, "sender": {"login": "ada"}, "repository": {"default_branch": "main"}})
        done = bumpbot("wake", env={**forge.env, "GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_EVENT_PATH": str(file)})
        assert done.code == 0, done.err
        assert len(forge.world.hub.pulls()) == 1

    HINTS = [
        ("push", {"ref": "refs/heads/main", "after": "a" * 40}),
        ("issue_comment", {"issue": {"number": 7}, "comment": {"id": 1, "user": {"login": "ada"}}}),
        ("pull_request_target", {"pull_request": {"number": 7}, "sender": {"login": "ada"}, "action": "opened"}),
        ("pull_request_target", {"pull_request": {"number": 7}, "sender": {"login": "ada"}, "action": "labeled",
                                 "label": {"name": "x"}}),
        ("workflow_run", {"workflow_run": {"id": 5, "path": ".github/workflows/smoke.yml", "head_sha": "a" * 40}}),
        ("workflow_dispatch", {"inputs": None}), ("workflow_dispatch", {"inputs": {"recipe": ""}}),
    ]

    def test_is_a_hint_of_one_of_these_kinds(self, forge: worlds.Forge, tmp_path: Path) -> None:
        for name, payload in self.HINTS:
            done = woken(forge, "--event", name, "--payload", event(tmp_path, payload))
            assert (done.code, done.err.splitlines()[-1]) == (0, "no bump is open"), name

    @pytest.mark.parametrize(("name", "payload", "said"), [
        ("push", b"{", "event.json:1: not JSON"), ("push", b"", "event.json:1: not JSON"), ("push", b"\xff", "not UTF-8"),
        ("push", b"[" * 100_000, "nested too deeply"), ("push", b'{"a": 1, "a": 2}', "a: this key stands twice"),
        ("push", b'{"a": NaN}', "NaN"), ("push", [1], "no JSON object"), ("push", "text", "no JSON object"),
        ("push", {}, "event.json: ref: is missing"), ("push", {"ref": 1}, "event.json: ref: is not a text"),
        ("pull_request_target", {"pull_request": 7}, "event.json: pull_request.number: is missing"),
        ("pull_request_target", {"pull_request": {"number": "7"}}, "pull_request.number: is not a number"),
        ("pull_request_target", {"pull_request": {"number": True}}, "pull_request.number: is not a number"),
        ("issue_comment", {"issue": {"number": 1}, "comment": {"id": 1, "user": "ada"}}, "comment.user.login: is missing"),
        ("workflow_dispatch", {"inputs": {"recipe": ["toy"]}}, "inputs.recipe: is not a text"),
        ("workflow_dispatch", {"inputs": {"recipe": "toy", "image": 1}}, "inputs.image: is not a text"),
    ])
    def test_with_a_payload_that_does_not_hold_is_one_line(self, tmp_path: Path, name: str, payload: Any, said: str) -> None:
        done = bumpbot("wake", "--event", name, "--payload", event(tmp_path, payload))
        assert done.code == 1
        assert said in done.line and "event.json" in done.line

    def test_whose_file_is_a_folder_or_nowhere(self, tmp_path: Path) -> None:
        for place in (tmp_path, tmp_path / "nope"):
            assert bumpbot("wake", "--event", "push", "--payload", place).code == 2

    def test_larger_than_any_payload(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(operate, "PAYLOAD_LIMIT", 10)
        assert "larger than 10 bytes" in bumpbot("wake", "--event", "push", "--payload", event(tmp_path, {"ref": "x" * 20})).line


class TestTheEnvironment:
    @pytest.mark.parametrize(("without", "said"), [
        ("GITHUB_REPOSITORY", "GITHUB_REPOSITORY is not set"), ("BUMPBOT_TOKEN", "BUMPBOT_TOKEN or GITHUB_TOKEN is not set"),
    ])
    def test_that_lacks_something_says_what(self, without: str, said: str) -> None:
        env = {"GITHUB_REPOSITORY": "a/b", "BUMPBOT_TOKEN": "t", without: ""}
        done = bumpbot("wake", "--event", "schedule", env=env)
        assert done.code == 2 and said in done.line

    @pytest.mark.parametrize(("name", "value"), [
        ("GITHUB_REPOSITORY", "recipes"), ("GITHUB_REPOSITORY", "a/b/c"), ("GITHUB_API_URL", "api"), ("GITHUB_SERVER_URL", "ftp://x"),
        ("GITHUB_API_URL", "https://user:secret@host"), ("BUMPBOT_MODE", "go"), ("BUMPBOT_MODE", "Act"),
    ])
    def test_that_holds_nonsense_is_a_bad_argument_and_keeps_its_secrets(self, name: str, value: str) -> None:
        done = bumpbot("wake", "--event", "schedule", env={"GITHUB_REPOSITORY": "a/b", "BUMPBOT_TOKEN": "t", name: value})
        assert done.code == 2
        assert name in done.line and "secret" not in done.line

    def test_a_forge_that_is_not_there_is_the_worlds_fault(self, tmp_path: Path) -> None:
        env = {"GITHUB_REPOSITORY": "a/b", "BUMPBOT_TOKEN": "t", "BUMPBOT_GIT_URL": "http://127.0.0.1:9/a/b.git"}
        done = bumpbot("wake", "--event", "schedule", env=env)
        assert done.code == 3 and done.line

    def test_a_repository_that_is_not_there(self, tmp_path: Path) -> None:
        env = {"GITHUB_REPOSITORY": "a/b", "BUMPBOT_TOKEN": "t", "BUMPBOT_GIT_URL": str(tmp_path / "nope")}
        done = bumpbot("wake", "--event", "schedule", env=env)
        assert done.code == 1 and done.line

    def test_the_layout_is_the_default_branchs_or_the_operators(self, forge: worlds.Forge, tmp_path: Path) -> None:
        other = tmp_path / "layout.yml"
        other.write_text("version: 1\npreset: own\nallow: [registry.example/only/this]\n")
        argv = ("bump", "toy", "--image", f"{forge.image}:v1.1.0")
        assert "only/this" not in bumpbot(*argv, env={**forge.env, "BUMPBOT_MODE": "propose"}).err
        done = bumpbot("--layout", other, *argv, env=forge.env)
        assert done.code == 1 and "list" in done.line

    def test_a_default_branch_that_is_not_there(self, forge: worlds.Forge) -> None:
        done = woken(forge, BUMPBOT_BASE="trunk")
        assert done.code == 1 and "no branch trunk" in done.line

    def test_a_schedule_runs_on_the_default_branch_whatever_its_name(self, forge: worlds.Forge, tmp_path: Path) -> None:
        """Its payload names no repository."""
        told = event(tmp_path, {"schedule": "5 * * * *"})
        done = woken(forge, "--event", "schedule", "--payload", told, GITHUB_REF_NAME="trunk")
        assert done.code == 1 and "no branch trunk" in done.line
        named = event(tmp_path, {"repository": {"default_branch": "main"}})
        assert woken(forge, "--event", "schedule", "--payload", named, GITHUB_REF_NAME="trunk").code == 0

    def test_offline_is_refused(self, forge: worlds.Forge) -> None:
        assert bumpbot("--offline", "wake", "--event", "schedule", env=forge.env).code == 1


class TestTheMode:
    def test_off_looks_at_nothing(self) -> None:
        env = {"BUMPBOT_MODE": "off", "BUMPBOT_GIT_URL": "http://127.0.0.1:9/x", "GITHUB_REPOSITORY": "a/b", "BUMPBOT_TOKEN": "t"}
        done = bumpbot("wake", "--event", "schedule", env=env)
        assert done.code == 0 and "BUMPBOT_MODE is off" in done.line

    @pytest.mark.parametrize("mode", ["off", "observe"])
    def test_off_and_observe_begin_no_bump(self, forge: worlds.Forge, mode: str) -> None:
        done = opened(forge, BUMPBOT_MODE=mode)
        assert done.code == 1 and f"BUMPBOT_MODE is {mode}" in done.line
        assert not forge.world.hub.pulls()

    def test_propose_opens_the_pull_request_and_spends_nothing(self, forge: worlds.Forge) -> None:
        done = opened(forge, BUMPBOT_MODE="propose")
        assert done.code == 0 and "mode propose does not allow it" in done.err
        assert len(forge.world.hub.pulls()) == 1
        assert forge.world.hub.runs_made() == []

    @pytest.mark.parametrize("mode", ["act", ""])
    def test_act_goes_on_and_is_what_an_unset_variable_means(self, forge: worlds.Forge, mode: str) -> None:
        assert opened(forge, BUMPBOT_MODE=mode).code == 0
        assert len(forge.world.hub.runs_made()) == 1


class TestWhereTheLedgerLies:
    def test_in_the_repository_itself_when_nothing_else_is_said(self, forge: worlds.Forge) -> None:
        opened(forge)
        assert len(bumps(forge.world.git_url)) == 1

    def test_is_asked_by_image_and_scan_what_a_wake_saw_before(self, forge: worlds.Forge, tmp_path: Path) -> None:
        place = tmp_path / "ledger.git"
        assert woken(forge, BUMPBOT_LEDGER=str(place)).code == 0
        told = bumpbot("--repo", place, "image", f"{forge.image}:v1.1.0", "--format", "json").json
        seen = json.loads(subprocess.run(["git", "show", f"bumpbot/ledger:{seen_path(*forge.image.split('/', 1))}"], cwd=place,
                                         capture_output=True, check=True).stdout)
        assert told["first_seen"] == seen["tags"]["v1.1.0"][0]["at"] and told["digest"] == seen["tags"]["v1.1.0"][0]["digest"]
        assert bumpbot("--repo", place, "image", f"{forge.image}:v0.9.0", "--format", "json").json["first_seen"] is None

    def test_in_a_folder_that_is_made(self, forge: worlds.Forge, tmp_path: Path) -> None:
        place = tmp_path / "books" / "ledger.git"
        assert opened(forge, BUMPBOT_LEDGER=str(place)).code == 0
        assert len(bumps(place)) == 1
        assert "has no branch bumpbot/ledger" in bumpbot("--repo", forge.world.git_url, "ledger", "show").line

    def test_in_the_repository_that_the_layout_names(self, forge: worlds.Forge, tmp_path: Path,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[str, str | None]] = []
        real = operate.opened

        def noted(address: str, stack: Any, *, name: str = "", token: str | None = None) -> Any:
            asked.append((address, token))
            return real(forge.world.git_url if "private" in address else address, stack, name=name, token=None)

        for room in (operate, remote):
            monkeypatch.setattr(room, "opened", noted)
        other = tmp_path / "layout.yml"
        other.write_text(f"{worlds.LAYOUT.format(name=forge.image)}ledger: acme/private-books\n")
        env = {**forge.env, "BUMPBOT_LEDGER_TOKEN": "for-the-books"}
        assert bumpbot("--layout", other, "wake", "--event", "schedule", env=env).code == 0
        assert asked == [(forge.world.git_url, forge.env["BUMPBOT_TOKEN"]),
                         ("https://github.com/acme/private-books.git", "for-the-books")]

    def test_a_token_goes_to_no_address_that_it_is_not_for(self, forge: worlds.Forge, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[str, str | None]] = []
        real = operate.opened

        def noted(address: str, stack: Any, *, name: str = "", token: str | None = None) -> Any:
            asked.append((address, token))
            return real(forge.world.git_url, stack, name=name, token=None)

        for room in (operate, remote):
            monkeypatch.setattr(room, "opened", noted)
        woken(forge, BUMPBOT_LEDGER="https://elsewhere.example/books.git")
        assert asked[1] == ("https://elsewhere.example/books.git", None)

    def test_a_file_in_its_place_is_one_line(self, forge: worlds.Forge, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        done = woken(forge, BUMPBOT_LEDGER=str(tmp_path / "file"))
        assert done.code == 1 and str(tmp_path / "file") in done.line


class TestAFrozenBump:
    def test_is_told_and_ends_with_one(self, forge: worlds.Forge, tmp_path: Path) -> None:
        opened(forge)
        done = opened(forge, BUMPBOT_LEDGER=str(tmp_path / "empty.git"))
        assert done.code == 1
        assert "frozen: the chain was shortened" in done.err


class TestCtrlC:
    def test_says_that_a_later_wake_finishes(self, forge: worlds.Forge, monkeypatch: pytest.MonkeyPatch) -> None:
        def stopped(*_: object) -> tuple[Report, ...]:
            raise KeyboardInterrupt

        monkeypatch.setattr(operate, "run_wake", stopped)
        done = woken(forge)
        assert done.code == 130
        assert done.err == "what this wake began and did not finish, a later wake finishes\nbumpbot: stopped by you\n"
