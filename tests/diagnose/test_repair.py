"""Every repair carries files before and after: only the named keys differ, twice is once, a false guard touches nothing."""

from __future__ import annotations

import pytest

from bot.diagnose.known import load
from bot.diagnose.repair import apply, choose
from bot.errors import BadInput, Refusal
from bot.model.run import Triage
from bot.recipe.files.document import Document
from tests.diagnose.worlds import KNOWLEDGE, SIGNATURES

IDS = {signature.id for signature in SIGNATURES}
TEXT = (KNOWLEDGE / "repairs.yaml").read_text()
REPAIRS = load(TEXT, "repairs.yaml", IDS)
CASES = [(repair, example) for repair in REPAIRS for example in repair.examples]
NAMES = [f"{repair.id}-{n}" for repair in REPAIRS for n, _ in enumerate(repair.examples)]
RECIPE = "recipes/r.yaml"
OLD, NEW = "ba83080ecd31c1ce918559e576d3c5bc9e092ff1", "1" * 40
PIN = f'identity:\n  frameworks:\n    dynamo: "{OLD}"\ndynamo:\n  hash: "{OLD}"\n'.encode()
CHAT = (
    b"frontend:\n  args:\n    dyn-chat-processor: %s\n    tool-call-parser: kimi_k3\n    router-mode: kv\nbackend: {type: vllm}\n"
)


def sick(signature: str, repair: str | None = None) -> Triage:
    return Triage(signature=signature, class_="oom", first_error="x", confidence="sure", repair=repair)


def chosen(signature: str, data: bytes, *, known=None, used=frozenset(), facts=None):
    return choose(sick(signature), REPAIRS, {RECIPE: data}, known, used, facts)


def leaves(data: bytes) -> dict[tuple, str]:
    """Every scalar of a file by its path: what the file says."""
    document, found = Document(data), {}
    for depth in range(1, 8):
        found |= {hit.steps: document.scalar(hit.steps) for hit in document.find(("*",) * depth)}
    return {path: text for path, text in found.items() if text is not None}


class TestEveryEntry:
    @pytest.mark.parametrize(("repair", "example"), CASES, ids=NAMES)
    def test_before_becomes_after_by_the_byte(self, repair, example):
        files = {RECIPE: example.before.encode()}
        plan = choose(sick(repair.for_[0]), [repair], files, None, set(), example.facts)
        assert plan.refused is None and plan.files == (RECIPE,)
        assert apply(plan, files)[RECIPE].decode() == example.after

    @pytest.mark.parametrize(("repair", "example"), CASES, ids=NAMES)
    def test_only_the_named_keys_differ(self, repair, example):
        before, after = leaves(example.before.encode()), leaves(example.after.encode())
        plan = choose(sick(repair.for_[0]), [repair], {RECIPE: example.before.encode()}, None, set(), example.facts)
        differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert differing == {change.path for change in plan.changes}

    @pytest.mark.parametrize(("repair", "example"), CASES, ids=NAMES)
    def test_twice_is_once(self, repair, example):
        plan = choose(sick(repair.for_[0]), [repair], {RECIPE: example.before.encode()}, None, set(), example.facts)
        assert apply(plan, {RECIPE: example.after.encode()}) == {}
        again = choose(sick(repair.for_[0]), [repair], {RECIPE: example.after.encode()}, None, set(), example.facts)
        assert again is None or again.refused

    @pytest.mark.parametrize(("repair", "example"), CASES, ids=NAMES)
    def test_a_false_guard_leaves_the_file_alone(self, repair, example):
        other = example.before.replace("vllm", "other").replace("sglang", "other").replace("hash:", "version:")
        other = other.replace("0.95", "0.5").replace("0.90", "0.5").replace("8192", "8").replace("4096", "8")
        assert choose(sick(repair.for_[0]), [repair], {RECIPE: other.encode()}, None, set(), example.facts) is None

    def test_every_repair_that_a_signature_names_exists_and_is_for_it(self):
        by_id = {repair.id: repair for repair in REPAIRS}
        assert all(signature.id in by_id[signature.repair].for_ for signature in SIGNATURES if signature.repair)


class TestTheSeedsRepairs:
    def test_siblings_that_run_the_native_processor_stay(self):
        assert chosen("vllm-cli-args-moved", CHAT % b'"dynamo"').refused is not None
        files = {"a.yaml": CHAT % b"vllm", "b.yaml": CHAT % b'"dynamo"', "run.sh": b"dyn-chat-processor: vllm"}
        plan = choose(sick("vllm-cli-args-moved"), REPAIRS, files, None, set())
        assert plan.files == ("a.yaml",) and plan.serving_path_changed
        assert [change.words for change in plan.changes] == [
            "frontend.args.dyn-chat-processor: dropped (was vllm)",
            "frontend.args.tool-call-parser: dropped (was kimi_k3)",
        ]

    def test_the_coupled_pin_moves_both_places_together_to_the_commit_that_upstream_names(self):
        plan = chosen("kimi-k3-incomplete-call", PIN, facts={"dynamo-scoped-tool-parsing": NEW})
        assert plan.cost == "smoke+sweep"
        assert apply(plan, {RECIPE: PIN})[RECIPE] == PIN.replace(OLD.encode(), NEW.encode())

    def test_without_that_commit_it_is_named_and_cannot_be_made(self):
        for facts in (None, {}, {"dynamo-scoped-tool-parsing": None}):
            plan = chosen("kimi-k3-incomplete-call", PIN, facts=facts)
            assert plan.id == "dynamo-scoped-tool-parsing" and "dynamo-scoped-tool-parsing" in plan.refused.en
        with pytest.raises(Refusal, match="not known upstream"):
            apply(plan, {RECIPE: PIN})

    def test_a_pin_that_stands_in_one_place_only_is_not_moved_half(self):
        assert chosen("kimi-k3-incomplete-call", b"dynamo:\n  hash: abc\n", facts={"dynamo-scoped-tool-parsing": NEW}) is None


class TestChoosing:
    UTIL = b"backend:\n  type: vllm\n  vllm_config:\n    decode: {gpu-memory-utilization: 0.95}\n  decode_environment: {A: '1'}\n"

    def test_the_next_repair_is_taken_when_one_was_used(self):
        first = chosen("kv-cache-negative", self.UTIL)
        second = chosen("kv-cache-negative", self.UTIL, used={first.id})
        assert {first.id, second.id} == {"skip-cudagraph-memory-estimate", "lower-gpu-memory-utilization"}

    def test_the_one_that_the_signature_prefers_comes_first(self):
        plan = choose(sick("kv-cache-negative", "skip-cudagraph-memory-estimate"), REPAIRS, {RECIPE: self.UTIL}, None, set())
        assert plan.id == "skip-cudagraph-memory-estimate"

    def test_only_known_ones_are_taken(self):
        assert chosen("kv-cache-negative", self.UTIL, known=set()) is None
        assert (
            chosen("kv-cache-negative", self.UTIL, known={"skip-cudagraph-memory-estimate"}).id == "skip-cudagraph-memory-estimate"
        )

    def test_one_out_of_scope_is_named_with_its_reason_and_never_made(self):
        plan = chosen("trtllm-batched-gemm", self.UTIL)
        assert plan.id == "cap-draft-batch" and plan.refused.zh and plan.changes == ()
        with pytest.raises(Refusal, match="maintainer"):
            apply(plan, {RECIPE: self.UTIL})

    def test_an_unknown_error_has_none(self):
        assert choose(Triage(first_error="odd"), REPAIRS, {RECIPE: self.UTIL}, None, set()) is None

    def test_a_head_that_moved_under_the_plan_is_left_alone(self):
        plan = chosen("vllm-cli-args-moved", CHAT % b"vllm")
        assert apply(plan, {RECIPE: CHAT % b"dynamo"}) == {}
        with pytest.raises(Refusal, match="not among"):
            apply(plan, {})

    def test_a_shared_anchor_is_refused_and_not_half_edited(self):
        data = b"backend:\n  type: vllm\n  prefill_environment: &env\n    A: '1'\n  decode_environment: *env\n"
        plan = chosen("kv-cache-negative", data)
        assert plan is None or plan.refused or apply(plan, {RECIPE: data})


class TestBadKnowledge:
    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("for: [vllm-cli-args-moved]", "for: [no-such-line]", "no such signature"),
            ("id: patch-frontend-import", "id: native-chat-processor", "twice"),
            ("scope: out", "scope: in", "refusal"),
            ("serving_path_changed: true", "serving_path: true", "unknown key"),
        ],
    )
    def test_is_told_with_file_line_and_key(self, old, new, says):
        with pytest.raises(BadInput, match=says) as told:
            load(TEXT.replace(old, new, 1), "repairs.yaml", IDS)
        assert told.value.file == "repairs.yaml" and told.value.line
