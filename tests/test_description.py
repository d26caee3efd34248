"""The committed subset of GitHub's REST description is what GitHub published, and nothing else.

The whole description is 13 MB and not committed; .ci/run fetches it with npm, by checksum.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WHOLE = ROOT / ".cache" / "openapi" / "package" / "generated" / "api.github.com.json"
KEPT = ROOT / "tests" / "rehearse" / "openapi"


@pytest.mark.needs("@octokit/openapi")
def test_the_subset_is_cut_from_what_github_published() -> None:
    spec = importlib.util.spec_from_file_location("openapi_make", KEPT / "make.py")
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    kept = json.loads(gzip.decompress((KEPT / "github.json.gz").read_bytes()))
    assert kept == make.subset(json.loads(WHOLE.read_bytes()))
