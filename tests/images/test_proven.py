"""What ran against what was asked for, over the tags that recipes hold today."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.diagnose import reported as wordings
from bot.images.expected import told as told_of
from bot.images.proven import prove
from bot.images.provenance import settle
from bot.images.reference import parse
from bot.images.schemes import read
from bot.model.image import Candidate, Platform, Resolved
from bot.model.result import Proof, Reported

KNOWLEDGE = Path(__file__).parents[2] / "bot/knowledge"
SCHEMES = read((KNOWLEDGE / "tags.yaml").read_text())
WORDS = wordings.load((KNOWLEDGE / "reported.yaml").read_text())
A, B, C = (f"sha256:{letter * 64}" for letter in "abc")
VLLM, ROCM, SGLANG = "vllm/vllm-openai", "vllm/vllm-openai-rocm", "lmsysorg/sglang"
TRT = "nvcr.io/nvidia/tensorrt-llm/release"
REVISION = "org.opencontainers.image.revision"


def image(text: str, digest: str, revision: str | None = None) -> Resolved:
    platform = Platform(os="linux", architecture="amd64", digest=digest.replace("sha256:", "sha256:f")[:71], size=1)
    made = Resolved(reference=parse(text), kind="index", digest=digest, platforms=(platform,),
                    labels={REVISION: revision} if revision else {})
    return settle(made, SCHEMES)


def candidate(old: str, new: str, revision: str | None = None) -> Candidate:
    return Candidate(old=image(old, A), new=image(new, B, revision), text=new)


def said(value: str, kind: str = "", node: str = "", engine: str = "") -> Reported:
    """A report as the logs give it: `vllm 0.29.0`, a digest, an image or a squash file."""
    word, _, rest = value.partition(" ")
    if rest:
        return Reported(kind=kind or "version", value=rest, file="f", engine=word, node=node)
    kind = kind or ("digest" if value.startswith("sha256:") else "image")
    return Reported(kind=kind, value=value, file="f", engine=engine, node=node)


def proof(of: Candidate, *reports: str | Reported, **more: Any) -> Proof:
    heard = [said(one) if isinstance(one, str) else one for one in reports]
    return prove(heard, of, schemes=SCHEMES, engines=WORDS.images, name=WORDS.name, **more)


# old image, candidate, what the logs say, what that proves. Tags are those of real recipes.
ROWS = [
    # releases
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "vllm 0.29.0", "proven"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "vllm 0.27.1", "old"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "vllm 0.28.0", "other"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "vllm 0.29.0rc2", "other"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "vllm 0.29.1.dev3+g0123abc45", "other"),
    (f"{VLLM}:v0.20.1-ubuntu2404", f"{VLLM}:v0.21.0-ubuntu2404", "vllm v0.21.0", "proven"),
    (f"{VLLM}:kimi-k3", f"{VLLM}:v0.29.0", "vllm 0.21.1.dev5+gabc1234de", "other"),
    (f"{VLLM}:v0.29.0", f"{VLLM}:kimi-k3", "vllm 0.29.0", "silent"),
    # release candidates and repaired releases, however they are spelt
    (f"{TRT}:1.3.0rc14", f"{TRT}:1.3.0rc18", "trtllm 1.3.0rc18", "proven"),
    (f"{TRT}:1.3.0rc14", f"{TRT}:1.3.0rc18", "trtllm 1.3.0-rc.18", "proven"),
    (f"{TRT}:1.3.0rc9", f"{TRT}:1.3.0rc14", "trtllm 1.3.0rc9", "old"),
    (f"{TRT}:1.3.0rc22", f"{TRT}:1.3.0rc22.post1", "trtllm 1.3.0rc22", "old"),
    ("nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc18", "nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc24", "trtllm 1.3.0rc24", "proven"),
    (f"{SGLANG}:v0.5.8-cu130", f"{SGLANG}:v0.5.8.post1-cu130", "sglang 0.5.8.post1", "proven"),
    (f"{SGLANG}:v0.5.8-cu130", f"{SGLANG}:v0.5.8.post1-cu130", "sglang 0.5.8", "old"),
    (f"{SGLANG}:v0.5.16-cu130", f"{SGLANG}:v0.5.19.post1-cu130", "sglang 0.5.19.post1", "proven"),
    # nightlies: a commit tells, in whatever length; a version does not
    (f"{VLLM}:nightly-dev-arm64-cu13.0.1-426e59f", f"{VLLM}:nightly-dev-arm64-cu13.0.1-75c2eef", "vllm 0.26.1.dev22+g75c2eef75", "proven"),
    (f"{VLLM}:nightly-dev-arm64-cu13.0.1-426e59f", f"{VLLM}:nightly-dev-arm64-cu13.0.1-75c2eef", "vllm 0.26.1.dev9+g426e59fa1", "old"),
    (f"{VLLM}:nightly-dev-arm64-cu13.0.1-426e59f", f"{VLLM}:nightly-dev-arm64-cu13.0.1-75c2eef", "vllm 0.26.1.dev22", "silent"),
    (f"{VLLM}:v0.25.1", f"{VLLM}:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7", "vllm 0.26.1.dev22+g5e35a6f4f", "proven"),
    (f"{VLLM}:v0.25.1", f"{VLLM}:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7", "vllm 0.26.1.dev22+g5e35a6f4f.d20260801", "proven"),
    (f"{VLLM}:v0.25.1", f"{VLLM}:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7", "vllm 0.25.1", "silent"),
    (f"{ROCM}:nightly-311b3513af33bc29b4acb2fde2e9313e5e9966a0", f"{ROCM}:nightly-09663abde0f50944a8d5ea30120666024b503faa",
     "vllm 0.26.1.dev364+g09663abde.rocm721", "proven"),
    (f"{SGLANG}:nightly-dev-cu13-20260721-8905cbd4", f"{SGLANG}:nightly-dev-cu13-20260805-211ee642", "sglang 0.5.19", "silent"),
    (f"{SGLANG}:nightly-dev-cu13-20260721-8905cbd4", f"{SGLANG}:nightly-dev-cu13-20260805-211ee642", "sglang 0.5.19.dev41+g211ee642a", "proven"),
    (f"{VLLM}:v0.25.1", f"{VLLM}:vllm-x86_64-cu13-0.25.1-7a33ba9", "vllm 0.25.2.dev3+g7a33ba9f1", "proven"),
    # builds of one release: the version is both's
    (f"{ROCM}:v0.25.1", f"{ROCM}:v0.27.1", "vllm 0.27.1+rocm721", "proven"),
    (f"{SGLANG}-rocm:v0.5.16-rocm720-mi35x-20260726", f"{SGLANG}-rocm:v0.5.16-rocm720-mi35x-20260730", "sglang 0.5.16", "shared"),
    (f"{SGLANG}:v0.5.14-cu129", f"{SGLANG}:v0.5.14-cu130", "sglang 0.5.14", "shared"),
    # another maker's tag says nothing of the engine, and another engine nothing of this one
    ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post1", "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post2",
     "trtllm 1.2.0rc6", "silent"),
    ("quay.io/rh-ee-imarkov/llm-d-nokube-vllm:vllm0.25", "quay.io/rh-ee-imarkov/llm-d-nokube-vllm:vllm0.26", "vllm 0.26.1", "proven"),
    ("quay.io/rh-ee-imarkov/llm-d-nokube-vllm:vllm0.25", "quay.io/rh-ee-imarkov/llm-d-nokube-vllm:vllm0.26", "vllm 0.25.1", "old"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "trtllm 1.2.0", "silent"),
    # launchers: digests name bytes, names only contradict
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", B, "proven"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "sha256:f" + "b" * 63, "proven"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", A, "old"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", C, "silent"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", f"{VLLM}:v0.29.0@{C}", "other"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", f"{VLLM}:v0.29.0", "silent"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", f"{VLLM}:v0.27.1", "old"),
    (f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0", "nginx:1.27.4", "silent"),
    (f"{SGLANG}:v0.5.8-cu130", f"{SGLANG}:v0.5.19-cu130", "lmsysorg_sglang_v0.5.8.post1-cu130.sqsh", "other"),
    (f"{SGLANG}:v0.5.8.post1-cu130", f"{SGLANG}:v0.5.19-cu130", "lmsysorg_sglang_v0.5.8.post1-cu130.sqsh", "old"),
    (f"{TRT}:1.3.0rc14", f"{TRT}:1.3.0rc18", "nvidia+tensorrt-llm+release+1.3.0rc14.sqsh", "old"),
    (f"{SGLANG}:v0.5.8-cu130", f"{SGLANG}:v0.5.19-cu130", "nginx_1.27.4.sqsh", "silent"),
]


class TestOneReport:
    @pytest.mark.parametrize(("old", "new", "heard", "expected"), ROWS, ids=[f"{row[1].rpartition(':')[2]}--{row[2]}"[:70] for row in ROWS])
    def test_proves_what_it_proves(self, old: str, new: str, heard: str, expected: str) -> None:
        found = proof(candidate(old, new), heard)
        told = {"proven": ("proven", False), "old": ("stale", True), "other": ("stale", False)}
        assert (found.state, found.old) == told.get(expected, ("unproven", False))
        if expected == "shared":
            assert found.why == "shared" and found.ran

    @pytest.mark.parametrize("heard", ["vllm ", "vllm not-a-version", "vllm 1!!2", "vllm " + "9" * 5000, "vllm 0.29.0\x00", "@@@", "a/b:c@sha256:zz"])
    def test_that_is_garbage_proves_nothing(self, heard: str) -> None:
        assert proof(candidate(f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0"), said(heard)).state == "unproven"


class TestSeveralReports:
    BUMP = candidate(f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0")

    def test_of_which_the_servers_goes_before_the_launchers(self) -> None:
        stale = proof(self.BUMP, B, "vllm_vllm-openai_v0.29.0.sqsh", "vllm 0.27.1")
        assert (stale.state, stale.old, stale.cache, stale.ran) == ("stale", True, "vllm_vllm-openai_v0.29.0.sqsh", "vLLM 0.27.1")
        assert proof(self.BUMP, f"{VLLM}:v0.27.1", "vllm 0.29.0").state == "proven"

    def test_name_the_nodes_on_which_something_else_ran(self) -> None:
        found = proof(self.BUMP, said("vllm 0.29.0", node="n1"), said("vllm 0.27.1", node="n2"), said("vllm 0.29.0", node="n3"))
        assert (found.state, found.nodes, found.of, found.old) == ("conflicting", ("n2",), 3, True)

    def test_that_share_a_version_are_told_apart_by_a_digest(self) -> None:
        bump = candidate(f"{SGLANG}:v0.5.14-cu130", f"{SGLANG}:v0.5.14-cu130")
        assert proof(bump, "sglang 0.5.14").why == "shared"
        assert proof(bump, "sglang 0.5.14", B).state == "proven"
        assert proof(bump, "sglang 0.5.14", A).old

    def test_prove_by_the_builders_label_where_the_tag_says_nothing(self) -> None:
        bump = candidate(f"{VLLM}:kimi-k2", f"{VLLM}:kimi-k3", revision="75c2eef7500000000000000000000000000000aa")
        assert proof(bump, "vllm 0.26.1.dev22+g75c2eef75").state == "proven"
        assert proof(bump, "vllm 0.26.1.dev22+g426e59fa1").state == "unproven"  # a label may be the base image's

    def test_of_nobody_in_particular_may_prove_and_contradict_nothing(self) -> None:
        assert proof(self.BUMP, Reported(kind="version", value="0.29.0", file="f")).state == "proven"
        assert proof(self.BUMP, Reported(kind="version", value="1.3.0", file="f")).state == "unproven"

    def test_say_what_was_looked_for(self) -> None:
        assert proof(self.BUMP).wanted == "0.29.0" and proof(self.BUMP).why == "silent"
        nightly = candidate(f"{VLLM}:v0.27.1", f"{VLLM}:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7")
        assert proof(nightly, "vllm 0.29.0").wanted == "5e35a6f4f" and proof(nightly, "vllm 0.29.0").why == "other-word"


class TestWhatTheHarnessAskedFor:
    BUMP = candidate(f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0")

    def test_is_no_proof_where_a_log_could_tell(self) -> None:
        assert proof(self.BUMP, claims=[f"{VLLM}:v0.29.0"]).state == "unproven"

    def test_must_do_where_the_layout_says_that_logs_cannot(self) -> None:
        assert proof(self.BUMP, claims=[f"{VLLM}:v0.29.0"], trusted=True).state == "claimed"
        assert proof(self.BUMP, claims=[], trusted=True).state == "unproven"

    @pytest.mark.parametrize("tag", ["rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.3"])
    def test_must_do_for_an_engine_whose_words_nobody_knows(self, tag: str) -> None:
        bump = candidate("rocm/atom:rocm7.2.3_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom20260511", f"rocm/atom:{tag}")
        found = proof(bump, claims=[f"rocm/atom:{tag}"])
        assert (found.state, found.why, found.holds) == ("claimed", "harness", True)

    def test_contradicts_where_it_names_another_image(self) -> None:
        found = proof(self.BUMP, claims=[f"{VLLM}:v0.27.1"])
        assert (found.state, found.old, found.why, found.ran) == ("stale", True, "harness", f"{VLLM}:v0.27.1")
        assert proof(self.BUMP, claims=["not an image"]).state == "stale"

    @pytest.mark.parametrize("claim", [f"{VLLM}:v0.27.1", f"docker.io/{VLLM}:v0.28.0", f"{VLLM}:v0.29.0@{A}"])
    def test_against_the_servers_word_leaves_it_open_which_of_the_two_is_true(self, claim: str) -> None:
        found = proof(self.BUMP, "vllm 0.29.0", claims=[claim])
        assert (found.state, found.why, found.ran, found.other) == ("unproven", "disagree", "vLLM 0.29.0", claim)

    @pytest.mark.parametrize("claim", [f"{VLLM}:v0.29.0", f"docker.io/{VLLM}:v0.29.0@{B}", "proxy/other:1", "not an image"])
    def test_beside_the_servers_word_says_nothing_where_it_names_no_other_of_its_images(self, claim: str) -> None:
        assert proof(self.BUMP, "vllm 0.29.0", claims=[claim]).state == "proven"

    def test_with_a_pinned_digest_settles_a_version_that_both_images_share(self) -> None:
        pinned = f"{SGLANG}:v0.5.14-cu130@{B}"
        bump = replace(candidate(f"{SGLANG}:v0.5.14-cu130", pinned), text=pinned)
        assert proof(bump, "sglang 0.5.14", claims=[pinned]).state == "claimed"
        assert proof(bump, "sglang 0.5.14", claims=[f"{SGLANG}:v0.5.14-cu130"]).state == "unproven"
        assert proof(bump, claims=[pinned]).state == "unproven"


class TestANameOfAnImage:
    @pytest.mark.parametrize("text", [f"docker.io/{VLLM}:v0.29.0", f"index.docker.io/{VLLM}:v0.29.0", f"{VLLM}:v0.29.0@{B}"])
    def test_may_be_spelt_in_several_ways(self, text: str) -> None:
        assert proof(candidate(f"{VLLM}:v0.27.1", f"{VLLM}:v0.29.0"), claims=[text], trusted=True).state == "claimed"


SNAPSHOT = Path(__file__).parents[3] / "shared/inferencex/snapshot"
IMAGES = sorted({found for file in SNAPSHOT.rglob("*.y*ml") for found in re.findall(r"image: *[\"']?([a-z0-9.]+[/#][^ \"'\n]+:[^ \"'\n]+)", file.read_text())})


class TestEveryTagOfASnapshot:
    @pytest.mark.skipif(not IMAGES, reason="no snapshot beside this checkout")
    def test_is_proven_by_its_own_word_and_by_no_other_tags(self) -> None:
        told = 0
        for text in IMAGES:
            mine = told_of(image(text, B), text, SCHEMES, WORDS.images)
            if not mine.tells(WORDS.images):
                continue
            told += 1
            word = f"{mine.engine} 9.9.1.dev3+g{mine.commit}" if mine.commit else f"{mine.engine} {mine.version}"
            assert proof(Candidate(old=image("a/b:v1.0.0", A), new=image(text, B), text=text), word).state == "proven", text
            for other in IMAGES:
                theirs = told_of(image(other, B), other, SCHEMES, WORDS.images)
                if theirs.tells(WORDS.images) and (theirs.engine, theirs.version, theirs.commit) != (mine.engine, mine.version, mine.commit):
                    found = proof(Candidate(old=image(text, A), new=image(other, B), text=other), word)
                    assert found.state != "proven" and not found.holds, (text, other)
        assert told > 40
