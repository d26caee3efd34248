"""What a server printed of the secrets that it was given stands in no log that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.bench import masked
from bot.bench.host import Place

TOKEN = "hf_abcdefghijklmnop"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "results", tmp_path / "logs")
    made.results.mkdir()
    made.logs.mkdir()
    return made


class TestSecrets:
    def test_are_the_token_what_the_machine_file_calls_so_and_passwords_of_addresses(self) -> None:
        machine = {"NGC_API_KEY": "nvapi-123456", "NCCL_DEBUG": "INFO-INFO", "HTTPS_PROXY": "http://user:p%40ssword@proxy:3128",
                   "SHORT_KEY": "x", "ODD": "http://[::1"}
        assert set(masked.secrets({"HF_TOKEN": TOKEN, "GITHUB_TOKEN": "ghs_never-given"}, machine)) == {
            TOKEN.encode(), b"nvapi-123456", b"p%40ssword", b"p@ssword"}


class TestALog:
    @pytest.mark.parametrize("before", [0, 10, (1 << 20) - 5, (1 << 20) + 3])
    def test_keeps_everything_but_the_secret_wherever_it_stands(self, place: Place, before: int) -> None:
        log = place.logs / "server.log"
        log.write_bytes(b"a" * before + f"HF_TOKEN={TOKEN}\nup\n".encode() + b"b" * 50)
        masked.mask(place, masked.secrets({"HF_TOKEN": TOKEN}, {}))
        assert log.read_bytes() == b"a" * before + b"HF_TOKEN=" + b"*" * len(TOKEN) + b"\nup\n" + b"b" * 50
        assert [path.name for path in place.logs.iterdir()] == ["server.log"]

    def test_without_one_is_not_touched(self, place: Place) -> None:
        log = place.logs / "server.log"
        log.write_text("up")
        before = log.stat().st_mtime_ns
        masked.mask(place, masked.secrets({"HF_TOKEN": TOKEN}, {}))
        assert log.stat().st_mtime_ns == before and log.read_text() == "up"

    def test_longer_secrets_go_before_those_that_they_hold(self, place: Place) -> None:
        (place.logs / "server.log").write_text(f"{TOKEN}-more {TOKEN}")
        masked.mask(place, masked.secrets({"HF_TOKEN": TOKEN}, {"A_KEY": f"{TOKEN}-more"}))
        assert (place.logs / "server.log").read_text() == f"{'*' * (len(TOKEN) + 5)} {'*' * len(TOKEN)}"
