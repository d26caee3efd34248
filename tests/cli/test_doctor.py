"""`bumpbot doctor` as somebody types it: exit codes, formats, a terminal's width, and a token that nobody ever reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.doctor.checks import CHECKS
from tests.cli.shell import PYTHON, bumpbot
from tests.cli.test_exits import ENV
from tests.doctor.picture import on_terminal, spoil
from tests.doctor.worlds import TOKENS, World, world

KEYS = ["check", "title", "state", "seen", "mend", "at"]
COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(autouse=True)
def an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BUMPBOT_TOKEN", "GITHUB_TOKEN", "GITHUB_REPOSITORY", "BUMPBOT_MODE", "BUMPBOT_LOGIN", "BUMPBOT_LEDGER", "GITHUB_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def mixed(tmp_path: Path) -> Iterator[World]:
    """The repository of the picture: eight things wrong, six hidden from the App."""
    with world(tmp_path) as made:
        spoil(made)
        yield made


class TestExitCodes:
    def test_zero_when_nothing_is_wrong(self, tmp_path: Path) -> None:
        with world(tmp_path) as made:
            assert made.doctor().code == 0

    def test_one_when_something_is(self, mixed: World) -> None:
        done = mixed.doctor()
        assert (done.code, done.line.strip()) == (1, "8 wrong, 6 unknown, 15 good")

    def test_one_when_the_token_does_not_see_the_repository(self, mixed: World) -> None:
        done = mixed.doctor("--format", "json", GITHUB_REPOSITORY="acme/other")
        states = {one["check"]: one["state"] for one in done.json}
        assert (done.code, states.pop("repository")) == (1, "wrong")
        assert set(states.values()) <= {"unknown"}

    def test_one_and_a_line_for_a_token_that_is_none(self, mixed: World) -> None:
        done = mixed.doctor(BUMPBOT_TOKEN="ghs_nobodys-secret")
        assert (done.code, done.out) == (1, "")
        assert "401" in done.line and "ghs_" not in done.line

    @pytest.mark.parametrize("env", [{}, {"GITHUB_REPOSITORY": "acme/recipes"}, {"GITHUB_REPOSITORY": "a b", "GITHUB_TOKEN": "x"}])
    def test_two_without_repository_or_token(self, env: dict[str, str]) -> None:
        done = bumpbot("doctor", env=env)
        assert (done.code, done.out) == (2, "")
        assert done.line

    def test_three_when_the_forge_does_not_answer(self, mixed: World) -> None:
        mixed.hub.stop()
        done = mixed.doctor()
        assert (done.code, done.out) == (3, "")
        assert done.line

    def test_three_when_it_stops_half_way(self, mixed: World) -> None:
        mixed.settings.refused["/labels"] = 502
        mixed.hub.exchanges.clear()  # 502 stands in no description
        assert mixed.doctor().code == 3


class TestWhatIsPrinted:
    def test_is_one_finding_a_check_in_the_order_of_the_table(self, mixed: World) -> None:
        found = mixed.doctor("--format", "json").json
        assert [one["check"] for one in found] == [check.name for check in CHECKS]
        assert all(list(one) == KEYS for one in found)
        assert all(one["mend"] for one in found if one["state"] == "wrong")
        assert all(one["mend"] is None and one["at"] is None for one in found if one["state"] in ("good", "not needed"))

    def test_is_a_table_in_markdown(self, mixed: World) -> None:
        lines = mixed.doctor("--format", "markdown").out.splitlines()
        assert lines[0] == "| state | check | seen | how to mend it |"
        assert len(lines) == len(CHECKS) + 2
        assert any("`gh label create \"bumpbot-handoff\" --repo acme/recipes`" in line for line in lines)

    @pytest.mark.parametrize("format_", ["table", "json", "markdown"])
    @pytest.mark.parametrize("login", TOKENS)
    def test_never_holds_a_token_nor_its_secret(self, mixed: World, login: str, format_: str) -> None:
        mixed.token = login
        for made in (mixed.doctor("--format", format_), mixed.doctor("--format", format_, BUMPBOT_DEBUG="1", GITHUB_REPOSITORY="acme/x")):
            assert not [secret for secret in TOKENS.values() if secret in made.out + made.err or secret[4:] in made.out + made.err]

    def test_holds_no_credentials_of_the_ledger_s_address(self, mixed: World) -> None:
        done = mixed.doctor(BUMPBOT_LEDGER="https://me:ghp_ledgers@git.example/acme/ledger.git?x=ghp_ledgers")
        assert "https://git.example/acme/ledger.git" in done.out
        assert "ghp_ledgers" not in done.out + done.err

    def test_holds_no_control_character_of_what_others_wrote(self, mixed: World) -> None:
        mixed.settings.variables["BUMPBOT_MODE"] = "\x1b[31mred\n\u202e"
        mixed.settings.apps["bumpbot"]["actions_variables"] = "read"
        done = mixed.doctor()
        assert "red" in done.out and "\x1b" not in done.out and "\u202e" not in done.out


class TestOnATerminal:
    def shown(self, made: World, columns: int, tmp_path: Path) -> list[str]:
        env = {**ENV, "TERM": "xterm", "DOCKER_CONFIG": str(tmp_path), **made.env()}
        env.pop("COLUMNS", None)
        code, text = on_terminal([PYTHON, "-m", "bot", "doctor"], env, columns)
        assert code == 1
        text = COLOURS.sub("", text)
        return [line.rstrip() for line in text[text.index("good "):].splitlines()]

    @pytest.mark.parametrize("columns", [80, 120])
    def test_every_line_fits_and_every_address_is_whole(self, mixed: World, columns: int, tmp_path: Path) -> None:
        lines = self.shown(mixed, columns, tmp_path)
        assert max(map(len, lines)) <= columns
        addresses = [one["at"] for one in mixed.doctor("--format", "json").json if one["at"]]
        assert addresses and all(any(line.strip() == address for line in lines) for address in addresses)

    def test_states_stand_in_a_column_of_their_own(self, mixed: World, tmp_path: Path) -> None:
        lines = self.shown(mixed, 80, tmp_path)
        starts = [line.split()[0] for line in lines[:-1] if line and not line.startswith(" ")]
        assert set(starts) == {"good", "wrong", "unknown"} and len(starts) == len(CHECKS)


def test_offline_outside_a_repository_still_answers(tmp_path: Path) -> None:
    done = bumpbot("--offline", "--repo", tmp_path, "doctor", "--format", "json")
    assert done.code == 1  # no workflow is there
    assert {one["check"] for one in done.json if one["state"] == "wrong"} == {"wake", "smoke", "sweep"}
