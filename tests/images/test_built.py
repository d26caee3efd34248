"""Which commit an image tag was built from, as its name and the repository's tags tell."""

from __future__ import annotations

import pytest

from bot.images.built import built
from tests.images.test_tags import SCHEMES

TAGS = {"v0.5.19": "a" * 40, "v0.5.12.post1": "b" * 40, "v1.3.0rc18": "c" * 40, "0.8.1": "d" * 40, "v0.5.10-rc0": "e" * 40}


@pytest.mark.parametrize(("tag", "commit"), [
    ("v0.5.19", "a" * 40), ("v0.5.19-cu130", "a" * 40), ("v0.5.12.post1-cu130", "b" * 40), ("1.3.0rc18", "c" * 40), ("0.8.1", "d" * 40),
    ("v0.5.10rc0-cu130", "e" * 40), ("nightly-" + "12" * 20, "12" * 20), ("nightly-dev-cu13-20260914-4358a161", "4358a161"),
    ("v0.5.19-rocm720-mi30x-20260908", None), ("v9.9.9", None), ("latest", None), ("kimi-k3", None), ("nightly", None),
])
def test_a_tag_tells_its_commit_or_its_release_and_a_dated_build_tells_neither(tag, commit) -> None:
    assert built([tag], SCHEMES, TAGS) == ((tag, commit),)
