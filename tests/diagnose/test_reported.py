"""What logs say of the image that ran: every wording carries its example, and the rest of a log says nothing."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from bot.diagnose.logs import lines
from bot.diagnose.reported import KEPT, Listener, load
from bot.diagnose.signatures import load as load_signatures
from bot.errors import BadInput
from bot.model.result import Reported

KNOWLEDGE = Path(__file__).parents[2] / "bot/knowledge"
WORDS = load((KNOWLEDGE / "reported.yaml").read_text())
SIGNATURES = load_signatures((KNOWLEDGE / "signatures.yaml").read_text(), "signatures.yaml")
IDS = [wording.id for wording in WORDS.wordings]


def heard(text: str | bytes, name: str = "node1_worker_0.log", listener: Listener | None = None) -> tuple[Reported, ...]:
    listener = listener or Listener(WORDS)
    data = text if isinstance(text, bytes) else text.encode()
    for _ in listener.over(name, lines(io.BytesIO(data))):
        pass
    return listener.reported


class TestEveryWording:
    @pytest.mark.parametrize("wording", WORDS.wordings, ids=IDS)
    def test_hears_its_own_example_and_no_other_wording_does(self, wording) -> None:
        assert [(found.id, said) for found, said in WORDS.of(wording.entry.example)] == [(wording.id, wording.entry.says)]

    @pytest.mark.parametrize("wording", WORDS.wordings, ids=IDS)
    def test_is_deaf_where_what_it_says_is_torn_out(self, wording) -> None:
        assert list(WORDS.of(wording.entry.example.replace(wording.entry.says, "?"))) == []

    def test_is_deaf_to_every_known_error(self) -> None:
        assert [said for signature in SIGNATURES for line in signature.example.splitlines() for said in WORDS.of(line)] == []

    def test_of_an_engine_says_a_version(self) -> None:
        assert {wording.kind for wording in WORDS.wordings if wording.engine} == {"version"}
        assert {engine.id for engine in WORDS.engines} == {wording.engine for wording in WORDS.wordings if wording.engine}


class TestALog:
    def test_is_heard_once_for_each_value_at_its_first_line(self) -> None:
        text = "booting\nINFO vLLM API server version 0.29.0\nINFO Initializing a V1 LLM engine (v0.29.0) with config: x\n"
        assert heard(text) == (Reported(kind="version", value="0.29.0", file="node1_worker_0.log", line=2, engine="vllm", node="node1"),)

    def test_in_colours_is_heard_as_well(self) -> None:
        text = "\x1b[36m(APIServer pid=7)\x1b[0m \x1b[97m▀▄▀ █\x1b[0m  version \x1b[97m0.29.0\x1b[0m\n"
        assert [one.value for one in heard(text)] == ["0.29.0"]

    @pytest.mark.parametrize("text", [
        "Successfully installed ai-dynamo-1.3.0 ai-dynamo-runtime-1.3.0\n",
        "vLLM is using nccl==2.28.9\n",
        "this recipe requires SGLang version 0.5.0 or newer\n",
        '{"version": "0.3.12.post1"}\n',
        "ls: a.sqsh vllm_vllm-openai_v0.27.1.sqsh\n",
        "+ enroot import -o /c/x.sqsh docker://vllm/vllm-openai:v0.29.0\n",
        "image vllm/vllm-openai:v0.29.0\n",
        "  nginx-sqsh: \"/c/nginx_1.27.4.img\"\n",
    ])
    def test_says_nothing_by_what_is_no_servers_word(self, text: str) -> None:
        assert heard(text) == ()

    def test_of_a_load_generator_speaks_for_no_engine(self) -> None:
        text = "[TensorRT-LLM] TensorRT LLM version: 1.3.0rc18\npyxis: imported docker image: a/b:c\n"
        assert [one.kind for one in heard(text, "benchmark.out")] == ["image"]

    def test_tells_nodes_apart_only_where_they_differ(self) -> None:
        same, other = "vLLM API server version 0.29.0\n", "vLLM API server version 0.27.1\n"
        listener = Listener(WORDS)
        heard(same, "n1_agg_w0.out", listener)
        heard(same, "n2_agg_w1.out", listener)
        assert [(one.value, one.node) for one in listener.reported] == [("0.29.0", "n1")]
        heard(other, "n3_agg_w2.out", listener)
        assert [(one.value, one.node) for one in listener.reported] == [("0.27.1", "n3"), ("0.29.0", "n1"), ("0.29.0", "n2")]

    @pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe" * 9999, b"x" * 300_000, "版本 ▀▄▀ █ version ?\n".encode() * 9])
    def test_of_rubbish_says_nothing(self, data: bytes) -> None:
        assert heard(data) == ()

    def test_that_claims_a_million_versions_is_heard_out_and_kept_short(self) -> None:
        assert len(heard("".join(f"vLLM API server version 0.{number}.0\n" for number in range(5000)))) == KEPT


class TestAnEntryThatDoesNotHold:
    FILE = "engines:\n  - {{id: vllm, name: vLLM, images: ['a/*']}}\nentries:\n  - {{id: x, {more}}}\n"

    @pytest.mark.parametrize(("more", "why"), [
        ("pattern: 'v (?P<version>{V}', example: v 1.2, says: '1.2'", "RE2"),
        ("pattern: 'v {V}', example: v 1.2, says: '1.2'", "exactly one group"),
        ("pattern: '(?P<word>v) {V}', example: v 1.2, says: v", "exactly one group"),
        ("pattern: 'v (?P<version>{V})', example: w 1.2, says: '1.2'", "example"),
        ("pattern: 'v (?P<version>{V})', example: v 1.2, says: '1.3'", "example"),
        ("engine: other, pattern: 'v (?P<version>{V})', example: v 1.2, says: '1.2'", "no engine"),
    ])
    def test_is_refused_by_its_name(self, more: str, why: str) -> None:
        with pytest.raises(BadInput, match=why) as told:
            load(self.FILE.format(more=more))
        assert "entries.x" in str(told.value)
