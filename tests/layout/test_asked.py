"""The layout's words for what is read before a GPU: faults are told by file, line and key, and the schema refuses the same."""

from __future__ import annotations

import jsonschema_rs
import pytest
import yaml

from bot.errors import BadInput
from bot.layout import load, schema
from tests.layout.test_layout import PRESETS

TAKES = jsonschema_rs.validator_for(schema())
LAUNCHERS = "staging: {launchers: {files: 'runners/launch_{fleet}.sh', facts: {MODEL_PREFIX: .model-prefix}, models: STAGED}}"


def text(said: str) -> str:
    return f"preset: own\npreflight:\n  {said}\n"


@pytest.mark.parametrize("said", [
    "identity: Klaud-Cold", "identity: 'bumpbot[bot]'", "staging: {file: ops/staged.yaml, url: 'https://ops.example.com/staged'}",
    "capacity: {source: runners, limit: 0.9, idle: 0}", "capacity: {source: http, url: 'http://127.0.0.1:8080/loads'}", LAUNCHERS,
    "certify: {file: utils/evals/manifest.yaml}", "artifact-name: 'bench_{recipe}_c{concurrency}_attempt{attempt}'",
    "skip: {capacity: the cluster is ours alone}",
])
def test_what_holds_is_taken_by_both(said: str) -> None:
    load(text(said), presets=PRESETS)
    assert TAKES.is_valid(yaml.safe_load(text(said)))


@pytest.mark.parametrize(("said", "key"), [
    ("identity: 'a b'", "identity"), ("identity: '-a'", "identity"), ("staging: {file: ../x.yaml}", "staging.file"),
    ("staging: {file: 'ops/*.yaml'}", "staging.file"), ("staging: {url: 'http://ops.example.com/x'}", "staging.url"),
    ("staging: {url: 'https://user:secret@ops.example.com/x'}", "staging.url"), ("certify: {file: /etc/x}", "certify.file"),
    ("capacity: {source: http, url: 'ftp://x'}", "capacity.url"), ("capacity: {limit: 1.5}", "limit"),
    ("staging: {launchers: {files: runners/launch.sh}}", "staging.launchers.files"), ("artifact-name: 'x_{image}'", "artifact-name"),
    (LAUNCHERS.replace("MODEL_PREFIX", "MODEL-PREFIX"), "staging.launchers.facts.MODEL-PREFIX"),
    (LAUNCHERS.replace(".model-prefix", "'.a['"), "staging.launchers.facts.MODEL_PREFIX"),
    (LAUNCHERS.replace("STAGED", "'A B'"), "staging.launchers.models"), ("skip: {capasity: x}", "skip.capasity"),
    ("patches: [../x.patch]", "patches.0"), ("scripts: ['{a']", "scripts.0"),
])
def test_what_does_not_is_refused_by_both_at_its_place(said: str, key: str) -> None:
    with pytest.raises(BadInput, match=r"^\.github/bumpbot\.yml:3: preflight\b") as fault:
        load(text(said), presets=PRESETS)
    assert key in str(fault.value)
    assert not TAKES.is_valid(yaml.safe_load(text(said)))


@pytest.mark.parametrize(("said", "reason"), [
    ("capacity: {source: http}", "no address is named"), ("capacity: {url: 'https://x.example.com'}", "is asked by nobody"),
])
def test_two_keys_that_do_not_go_together_are_told(said: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        load(text(said), presets=PRESETS)


def test_off_is_no_word_of_a_layout_since_yaml_reads_a_boolean() -> None:
    with pytest.raises(BadInput, match="`off` is a bool to some readers"):
        load(text("off: {names: x}"), presets=PRESETS)
