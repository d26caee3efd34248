"""`bumpbot --help` answers at once: what is heavy is imported by the command that needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("pydantic", "rich", "yaml", "jinja2", "httpx", "github", "scipy", "numpy", "requests", "re2", "sqlite3")
PROBE = f"""
import runpy, sys
sys.argv = ["bumpbot", *sys.argv[1:]]
try:
    runpy.run_module("bot", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
print("HEAVY", *sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r})))
"""


def probe(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python at the root of the tree, in a process of its own."""
    argv = [sys.executable, "-c", code, *arguments]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60)


def heavy_after(*arguments: str) -> list[str]:
    """The heavy libraries in memory after one command line."""
    done = probe(PROBE, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.skipif(not (ROOT / "bot" / "cli").exists(), reason="bot/cli does not exist yet")
class TestHelp:
    def test_imports_nothing_heavy(self) -> None:
        assert heavy_after("--help") == []

    @pytest.mark.parametrize("command", ["rehearse", "wake", "compare", "triage", "matrix", "bench", "changelog append",
                                         "ledger show"])
    def test_of_a_command_imports_nothing_heavy_of_ours(self, command: str) -> None:
        # Typer itself reads a command's parameter types with pydantic.
        assert set(heavy_after(*command.split(), "--help")) <= {"pydantic"}

    def test_the_probe_would_see_a_heavy_import(self) -> None:
        done = probe(PROBE.replace("import runpy, sys", "import runpy, sys, yaml"), "--help")
        assert done.stdout.splitlines()[-1] == "HEAVY yaml"
