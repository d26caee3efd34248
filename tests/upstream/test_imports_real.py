"""Real wheels, downloaded by name and version: what a Dynamo of 2026 finds in two engines of that year. Skipped without an index."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.process import LocalProcess
from bot.adapters.wheels import Wheels
from bot.errors import Missing, Unreachable
from tests.cli.shell import Done, bumpbot

Asked = Callable[[str], Done]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """`check-imports` of ai-dynamo 1.1.0 with a version of sglang."""
    folder = tmp_path_factory.mktemp("index")
    index = Wheels(LocalProcess(), folder, os.environ)

    def file(package: str, version: str) -> Path:
        try:
            index.wheel(package, version)
        except (Missing, Unreachable) as error:
            pytest.skip(f"no package index: {error}")
        return next((folder / "wheels").glob(f"{package.replace('-', '_')}-{version}-*.whl"))

    consumer = file("ai-dynamo", "1.1.0")
    return lambda version: bumpbot("check-imports", "--engine", f"sglang={file('sglang', version)}", "--consumer", consumer,
                                   "--format", "json", env={"BUMPBOT_CACHE": str(folder / "cache")})


class TestAiDynamo110:
    def test_misses_nothing_in_sglang_0_5_12(self, asked: Asked) -> None:
        done = asked("0.5.12")
        assert (done.code, done.json) == (0, [])

    def test_cannot_start_with_sglang_0_5_19(self, asked: Asked) -> None:
        done = asked("0.5.19")
        assert done.code == 1
        stops, told = done.json
        assert (stops["module"], stops["name"], stops["file"]) == ("sglang.srt.server_args_config_parser", None, "dynamo/sglang/args.py")
        assert (stops["guarded"], stops["on_start_path"]) == (False, True)
        assert told["module"] == "sglang.srt.disaggregation.encode_server" and told["guarded"] and told["on_start_path"]
