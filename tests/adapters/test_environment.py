"""What a guest's generator can see of the environment that we were started with: run in a process of its own, since that
environment is blank for good afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.guests import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows a process's first environment")
TOKEN = "ghs_nobody-shall-read-this"

# The spy reads as whoever runs these tests, and root may read everywhere.
SPY = """
import json, os, sys
def read(pid):
    try:
        return open(f"/proc/{pid}/environ", "rb").read().decode("utf-8", "replace")
    except PermissionError:
        return ""
if "--help" not in sys.argv:
    print(json.dumps([{"image": read(os.getppid())}]))
"""
OURS = """
import ctypes, json, os, subprocess, sys
from bot.adapters.generator import GuestGenerator
from tests.fakes.guests import COMMAND, GLOBS, SCRIPT, Files
library = ctypes.CDLL(None)
library.getenv.restype = ctypes.c_char_p
library.getenv.argtypes = [ctypes.c_char_p]
os.environ["LATER"] = "set by ourselves"
def told():
    child = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    return {"python": os.environ["A_TOKEN"], "c": library.getenv(b"A_TOKEN").decode(),
            "child": json.loads(subprocess.run(child, capture_output=True, check=True).stdout)}
if not GUARDED:
    from bot.adapters import generator
    generator.shut = lambda: None
asked = GuestGenerator(COMMAND, GLOBS, Files({SCRIPT: SPY.encode()}))
seen = [rows[0]["image"] for data in ({}, {"a.yaml": b""}) for rows in asked.rows(data, [()])]
os.environ["LATER"] = "and again"
os.environ["NEW"] = "1"
after = open("/proc/self/environ", "rb").read().strip(bytes(1)).decode() if os.access("/proc/self/environ", os.R_OK) else ""
print(json.dumps({"seen": seen, "after": after, "dumpable": library.prctl(3, 0, 0, 0, 0), **told()}))
"""


def played(tmp_path: Path, *, guarded: bool = True) -> dict[str, Any]:
    text = f"GUARDED = {guarded}\nSPY = {SPY!r}\n{OURS}"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, check=False,
                          env={"PATH": os.environ["PATH"], "A_TOKEN": TOKEN, "EMPTY": "", "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


class TestTheFirstEnvironment:
    def test_is_blank_to_the_generator_and_stays_so(self, tmp_path: Path) -> None:
        found = played(tmp_path)
        assert [text.strip("\0") for text in found["seen"]] == ["", ""]
        assert (found["after"], found["dumpable"]) == ("", 0)

    def test_would_be_read_otherwise(self, tmp_path: Path) -> None:
        assert all(TOKEN in text for text in played(tmp_path, guarded=False)["seen"])

    def test_is_still_ours_and_our_children_s(self, tmp_path: Path) -> None:
        found = played(tmp_path)
        assert (found["python"], found["c"]) == (TOKEN, TOKEN)
        assert {name: found["child"][name] for name in ("A_TOKEN", "EMPTY", "LATER", "NEW", "TMPDIR")} == {
            "A_TOKEN": TOKEN, "EMPTY": "", "LATER": "and again", "NEW": "1", "TMPDIR": str(tmp_path)}
