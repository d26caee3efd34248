"""The lock files hold every dependency by hash, agree with each other, and tell nothing of who wrote them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FILES = ("requirements.lock", "requirements-dev.lock", "requirements-bench.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {"requirements.lock": ("build",), "requirements-dev.lock": ("build", "test"),
          "requirements-bench.lock": ("build", "bench")}
# The load generator asks for an older one. Everything else that bumpbot needs is the same beside it.
HELD_BACK = {"rich"}


def pins(name: str) -> dict[str, str]:
    """Distribution -> version of one lock file."""
    found = re.findall(r"^([\w.-]+)==(\S+) \\$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(project): version for project, version in found}


@pytest.mark.parametrize("name", FILES)
class TestEachLock:
    def test_holds_every_line_by_hash_and_nothing_of_a_machine(self, name: str) -> None:
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            assert re.fullmatch(r" *#.*|[\w.-]+==\S+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line), line
            assert not re.search(r"://|(^|\s)/|\bfile:|--(extra-)?index|--find-links", line), line

    def test_satisfies_what_the_project_asks_for(self, name: str) -> None:
        extras = PROJECT["optional-dependencies"]
        asked = PROJECT["dependencies"] + [each for extra in EXTRAS[name] for each in extras[extra]]
        held = pins(name)
        for requirement in map(Requirement, asked):
            version = held.get(canonicalize_name(requirement.name))
            assert version and requirement.specifier.contains(version), str(requirement)


def test_product_and_tests_run_on_the_same_versions() -> None:
    product = pins("requirements.lock")
    assert product and product.items() <= pins("requirements-dev.lock").items()


def test_what_measures_runs_beside_the_same_versions() -> None:
    product, bench = pins("requirements.lock"), pins("requirements-bench.lock")
    assert {name for name, version in product.items() if bench[name] != version} == HELD_BACK


def test_what_is_built_from_sources_is_named_and_built_by_the_locks_own_setuptools() -> None:
    script = (ROOT / ".ci" / "bench").read_text(encoding="utf-8")
    built, = re.findall(r"--no-binary (\S+)", script)
    assert set(built.split(",")) < set(pins("requirements-bench.lock"))
    assert "--no-build-isolation" in script and script.count("pip[@]") == 2 and "--require-hashes --no-deps --only-binary :all:" in script
