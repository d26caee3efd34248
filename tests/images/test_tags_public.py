"""Tags of public images beside one another: how each pair stands, and why no order is given where none is known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.images.reference import parse
from bot.images.tags import compare, explain, fields
from tests.images.offered import SCHEMES

REPLAY = Path(__file__).parents[3] / "shared" / "inferencex" / "replay"
TURNED: dict[str, Any] = {"older": "newer", "newer": "older", "same": "same", "incomparable": "incomparable"}
A, B = "3ee2df30337a301164c46ae444b76ee67e71c106", "5e35a6f4f9bbc217c599692157ca985c894373f7"

OLDER = [
    # vllm/vllm-openai
    ("v0.11.0rc2", "v0.11.0"), ("v0.11.0rc2", "v0.11.0rc10"), ("v0.10.1", "v0.10.1.1"), ("v0.10.1.1", "v0.10.2"),
    ("v0.9.0.1", "v0.10.0"), ("v0.11.0rc2-cu129-x86_64", "v0.11.0rc6-x86_64-cu129"), ("v0.10.1-gptoss", "v0.10.2-gptoss"),
    ("v0.11.0-aarch64", "v0.11.1-arm64"), ("v0.11.0-x86_64", "v0.11.1-amd64"), ("v0.11.1.dev3", "v0.11.1"),
    ("v0.11.1.dev3", "v0.11.1rc0"),
    # lmsysorg/sglang, rocm/sgl-dev
    ("v0.5.3rc0-cu126", "v0.5.3rc1-cu126"), ("v0.5.3rc0-cu126", "v0.5.3-cu126"), ("v0.5.10", "v0.5.11.post1"), ("v0.5.9", "v0.5.10"),
    ("v0.5.3.post1-cu129-arm64", "v0.5.4-cu129-aarch64"), ("v0.5.3-b200-cu129", "v0.5.4-cu129-b200"),
    ("v0.5.3rc0-rocm630-mi30x", "v0.5.3-rocm630-mi30x"), ("v0.5.3-rocm630-mi30x-srt", "v0.5.4-rocm630-mi30x-srt"),
    ("v0.5.5.post3-rocm700-mi35x-20251113", "v0.5.5.post3-rocm700-mi35x-20251114"), ("v0.5.5-rocm700-mi30x", "v0.5.6-rocm7.0-mi30x"),
    ("nightly-dev-20251030-abc1234f", "nightly-dev-20251101-1bc1234f"), ("v0.5.4-cu13", "v0.5.5-cu13.0.1"),
    ("v0.5.4-npu-a3", "v0.5.5-npu-a3"), ("v0.5.16-cu130-20260730", "v0.5.16-cu130-20260802"),
    ("sglang-0.5.7-rocm700-mi35x-mori-fp4-0122", "sglang-0.5.8-rocm700-mi35x-mori-fp4-0122"),
    # nvcr.io
    ("1.2.0rc6.post2", "1.2.0rc6.post3"), ("1.2.0rc6.post3", "1.2.0rc7"), ("1.1.0rc2", "1.1.0rc2.post1"), ("1.1.0rc2.post1", "1.1.0"),
    ("0.5.1-rc0.pre3", "0.5.1-rc0"), ("0.5.1-rc0.pre1", "0.5.1-rc0.pre3"), ("25.09-py3", "25.10-py3"), ("24.12-py3", "25.01-py3"),
    ("25.09-trtllm-python-py3", "25.10-trtllm-python-py3"), ("12.9.1-cudnn-devel-ubuntu22.04", "13.0.1-devel-cudnn-ubuntu2204"),
    # rocm/vllm, rocm/atom
    ("rocm7.0.0_vllm_0.11.1_20251103", "rocm7.0.0_vllm_0.11.2_20251103"), ("rocm7.0.0_vllm_0.9.2_20251103", "rocm7.0.0_vllm_0.10.1_20250909"),
    ("rocm7.1.1-ubuntu24.04-pytorch2.9-atom0.1.1-MI350x", "rocm7.1.1-ubuntu24.04-pytorch2.9-atom0.1.2-mi350x"),
    ("rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.4_202607091539",
     "rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.4_202607091540"),
    # anybody's
    ("1.2.9", "v1.2.10"), ("9.9", "10.0"), ("1.0.0-rc.1", "1.0.0-rc.10"), ("1.0.0-rc", "1.0.0"), ("1.0.0-alpha.9", "1.0.0-beta.1"),
    ("1.0.0-beta.2", "1.0.0-rc.1"), ("1.0.0-alpha", "1.0.0"), ("1.0.0a1", "1.0.0b1"), ("1.0.0-beta2-cu130", "1.0.0-beta10-cu130"),
    ("3.19-alpine", "3.20-alpine"), ("1.0.0-alpine3.20", "1.1.0-alpine3.20"), ("2.0.0-bookworm", "2.1.0-bookworm"),
    ("2025.1.0", "2025.10.0"), ("2024.12", "2025.1"), ("1.4.0-build7", "1.4.0-build12"), ("1.4.0-7", "1.5.0-2"),
    ("5.0.1-debian12-r4", "5.0.1-debian12-r10"), ("v1.2.3-5-g1a2b3c4", "v1.2.3-12-g9a2b3c4"), ("v1.2.3-1a2b3c4", "v1.2.4-9a2b3c4"),
    ("20251103", "20251104"), ("202511030915", "202511031230"), ("1700000000", "1700000100"), ("1700000000", "20251103"), ("nightly-2025-11-03", "nightly-20251104"),
    ("main-abc1234-1700000000", "main-1bc1234-1700000100"), ("main-20251103-abc1234", "main-20251104-1bc1234"),
    ("v0.5.16-defaced", "v0.5.17-defaced"), ("1.4.0-2041", "1.4.0-10024"), ("v1.2.0-20251103-9", "v1.2.0-20251104-1"), ("900.1", "1234.0"), ("2025.1.0", "2026.0"),
]
SAME = [
    ("1.2", "1.2.0"), ("v1.2.3", "1.2.3"), ("v0.5.4-cu130-arm64", "v0.5.4-aarch64-cuda13.0"), ("25.9-py3", "25.09-py3"),
    ("1.0.0-rc1", "v1.0.0rc1"), (A, A[:12]), ("nightly-2025-11-03", "nightly-20251103"),
]
INCOMPARABLE = [
    ("gptoss", "v0.10.1", "no scheme reads gptoss"), ("v0.10.1-gptoss", "v0.10.2", "variant differs"),
    ("v0.11.0-x86_64", "v0.11.1-aarch64", "arch differs"), ("v0.11.0", "v0.11.1-aarch64", "arch differs"),
    (f"nightly-{A}", f"nightly-{B}", "history"), (f"nightly-{A}", "v0.11.0", "channel differs"),
    (f"nightly-{A}-cu130", f"cu129-nightly-{B}", "cuda differs"),
    ("v0.5.3rc0-cu126", "v0.5.3-cu129", "cuda differs"), ("v0.5.4-cu130", "v0.5.5-cu13.1", "cuda differs"),
    ("v0.5.3-cu129-b200", "v0.5.4-cu129-gb200", "gpu differs"), ("v0.5.3-rocm630-mi30x", "v0.5.4-rocm700-mi30x", "rocm differs"),
    ("v0.5.3-rocm700-mi30x", "v0.5.4-rocm700-mi35x", "gpu differs"), ("v0.5.3-rocm630-mi30x", "v0.5.4-rocm630-mi30x-srt", "variant differs"),
    ("v0.5.4-npu-a2", "v0.5.5-npu-a3", "variant differs"), ("b200-cu129", "b200-cu130", ""), ("dev-cu12", "dev-cu13", "cuda differs"),
    ("dev-cu13", "dev-cu130", "which build"), ("nightly-aarch64", "nightly-arm64", "which build"), ("latest", "stable", "channel differs"),
    ("latest", "v1.0", "channel differs"), ("nightly-dev-20251030-abc", "nightly-dev-20251101-1bc1234f", "no scheme reads"),
    ("nightly-dev-cu13-20251030-abc1234f", "nightly-dev-20251101-1bc1234f", "cuda differs"),
    ("25.09-trtllm-python-py3", "25.10-vllm-python-py3", "variant differs"), ("25.09-py3", "25.10-py3-igpu", "variant differs"), ("25.09-py3", "25.10-py3.12", "variant differs"),
    ("13.0.0-devel-ubuntu22.04", "13.0.1-devel-ubuntu24.04", "os differs"), ("13.0.0-devel-ubuntu22.04", "13.0.1-runtime-ubuntu22.04", "variant"),
    ("rocm6.4.1_vllm_0.10.1_20250909", "rocm7.0.0_vllm_0.11.1_20251103", "rocm differs"),
    ("rocm7.0.0_vllm_0.11.1_20251103", "rocm7.0.0_sglang_0.11.2_20251104", "variant differs"),
    ("rocm7.1.1-ubuntu24.04-pytorch2.9-atom0.1.1-MI350x", "rocm7.1.1-ubuntu24.04-pytorch2.9-atom0.1.2", "gpu differs"),
    ("1.0.0-alpine", "1.1.0", "os differs"), ("1.0.0-alpine", "1.1.0-bookworm", "os differs"), ("1.0.0-alpha.1", "1.1.0-alpine", "os differs"),
    ("2025.1.0", "v2.0", "calendar"), ("2025.11.03", "20251103.1", "calendar"), ("1.4.0", "1.4.0-7", "only one tag has a build"),
    ("v1.2.3-1a2b3c4", "v1.2.3-9a2b3c4", "history"), ("1.2.0", "1.2.0-20251103", "only one tag has a date"),
    ("deadbeef", "cafebabe", "no scheme reads"), ("1234567", "1234568", "history"), ("1a2b3c4", "9a2b3c4", "history"), ("1234567", "20251103", ""),
    ("sha-abc1234", "sha-1bc1234", "history"), ("sha-abc1234", "main-1bc1234", ""), ("pr-123", "pr-124", "no scheme reads"),
    ("main-abc1234-1700000000", "dev-1bc1234-1700000100", "channel differs"),
    ("1.0.0-preview.3", "1.0.0-rc.1", "no scheme reads"), ("v0.5.3-hotfix", "v0.5.3", "variant differs"),
    ("v1", "v2", "no scheme reads"), ("1.0.0-p1", "1.0.0-p2", "variant differs"),
]


def order(a: str, b: str) -> str:
    found = compare(a, b, SCHEMES)
    assert compare(b, a, SCHEMES) == TURNED[found]
    return found


class TestPublicTags:
    @pytest.mark.parametrize(("a", "b"), OLDER)
    def test_follow_one_another_by_number_and_day(self, a: str, b: str) -> None:
        assert order(a, b) == "older", explain(a, b, SCHEMES)

    @pytest.mark.parametrize(("a", "b"), SAME)
    def test_are_the_same_in_two_spellings(self, a: str, b: str) -> None:
        assert order(a, b) == "same", explain(a, b, SCHEMES)

    @pytest.mark.parametrize(("a", "b", "why"), INCOMPARABLE)
    def test_have_no_order_and_a_reason(self, a: str, b: str, why: str) -> None:
        assert order(a, b) == "incomparable" and why in explain(a, b, SCHEMES)[1], explain(a, b, SCHEMES)

    @pytest.mark.parametrize("tag", ["1.0.post" + "9" * 5000, "1." + "9" * 5000, "v1.2.3-" + "a-" * 100 + "b", "1.0.0rc" + "1" * 122])
    def test_longer_than_a_tag_may_be_are_custom_and_raise_nothing(self, tag: str) -> None:
        assert fields(tag, SCHEMES).scheme == "custom"


@pytest.mark.skipif(not REPLAY.is_dir(), reason="the recorded repository lies beside the checkout and is absent")
class TestTheRecordedBumps:
    BUMPS = [json.loads(line) for file in sorted(REPLAY.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()]

    def test_go_forward_or_change_a_label_or_need_history_and_none_is_called_older(self) -> None:
        told: Counter[str] = Counter()
        for bump in self.BUMPS:
            old, new = parse(bump["old_image"]), parse(bump["new_image"])
            if old.name == new.name:
                found, why = explain(str(new.tag), str(old.tag), SCHEMES)
                known = next((reason for reason in (" differs: ", "no scheme reads ", "repository's history") if reason in why), why)
                told[found if found == "newer" else f"{found}: {known}"] += 1
        assert set(told) == {"newer", *(f"incomparable: {why}" for why in (" differs: ", "no scheme reads ", "repository's history"))}
        assert told["newer"] > sum(told.values()) / 2
