"""What a family asks of its engine, from recipes, linked files and scripts of both kinds of repositories."""

import pytest

from bot.adapters.assets import PackagedAssets
from bot.layout.load import load
from bot.recipe.read import read
from bot.recipe.uses import uses
from bot.rehearse.told import TreeTold
from bot.upstream import engines

ASSETS = PackagedAssets()
ENGINES = engines.load(ASSETS.text("knowledge/engines.yaml"), file="engines.yaml")
GUEST = load(ASSETS.text("layout/presets/inferencex.yml"))
OWN = load(ASSETS.text("layout/presets/own.yml"))
RUNNERS = "labels: {h200: [h200-dgxc_0], gb200: [gb200-nv_0, gb200-nv_1]}\nhardware: {}\n"
MASTER = """case:
  image: {image}
  model: deepseek-ai/DeepSeek-R1-0528
  model-prefix: dsr1
  runner: {runner}
  precision: fp8
  framework: {framework}
{more}  multinode: {multinode}
  scenarios:
    fixed-seq-len:
    - isl: 1024
      osl: 1024
      search-space:
"""
SINGLE = MASTER + "      - {{ tp: 8, conc-list: [4], spec-decoding: none }}\n"
LINKED = MASTER + """      - spec-decoding: none
        conc-list: [4]
        prefill: {{num-worker: 1, tp: 4, ep: 1, dp-attn: false, additional-settings: ["CONFIG_FILE={file}"]}}
        decode: {{num-worker: 1, tp: 4, ep: 1, dp-attn: false}}
"""
HERE = "benchmarks/multi_node/srt-slurm-recipes/x.yaml"


def guest(master, files, elsewhere=None):
    tree = TreeTold({"configs/nvidia-master.yaml": master, "configs/amd-master.yaml": "{}\n", "configs/runners.yaml": RUNNERS, **files})
    return uses(tree, GUEST, (read(tree, GUEST, "case"),), ENGINES, elsewhere)


def single(script, name="dsr1_fp8_h200_sglang", **more):
    master = SINGLE.format(image="lmsysorg/sglang:v0.5.19-cu130", runner="h200", framework="sglang", more="", multinode="false")
    return guest(master, {f"benchmarks/single_node/fixed_seq_len/{name}.sh": script, **more})


def linked(text, file="recipes/x.yaml", more="  disagg: true\n  kv-p2p-transfer: nixl\n", others=None, elsewhere=None):
    master = LINKED.format(image="lmsysorg/sglang:v0.5.19-cu130", runner="gb200", framework="dynamo-sglang", more=more,
                           multinode="true", file=file)
    return guest(master, {**({HERE: text} if text else {}), **(others or {})}, elsewhere)


def told(found):
    return [(one.name, one.value, one.at.text, one.role) for one in found]


class TestAnOwnRecipe:
    def test_passes_its_arguments_and_variables(self):
        text = """name: case
image: lmsysorg/sglang:v0.5.19
engine: {name: sglang, source: https://github.com/sgl-project/sglang}
model: {repo: Qwen/Qwen3-8B, weights: fp8}
hardware: {gpu: h200, gpus: 4}
serve:
  args:
    tp: 4
    trust-remote-code: true
    disable-radix-cache: false
  env: {SGLANG_X: 1}
workload: {kind: chat, output: 256, requests: {1: 8}}
"""
        tree = TreeTold({"recipes/case.yaml": text})
        found = uses(tree, OWN, (read(tree, OWN, "case"),), ENGINES)
        assert found.engine == "sglang"
        assert told(found.options) == [("--tp", "4", "recipes/case.yaml:8", ""), ("--trust-remote-code", None, "recipes/case.yaml:9", "")]
        assert told(found.environment) == [("SGLANG_X", "1", "recipes/case.yaml:11", "")]
        assert {"h200", "fp8", "qwen3-8b"} <= set(found.words)


class TestAScript:
    START = "python3 -m sglang.launch_server --tp $TP --attention-backend flashinfer"

    def test_of_the_framework_comes_before_the_one_without(self):
        found = single(self.START + " --a", **{"benchmarks/single_node/fixed_seq_len/dsr1_fp8_h200.sh": self.START + " --b"})
        assert [one.name for one in found.options] == ["--tp", "--attention-backend", "--a"]
        assert "flashinfer" in found.words

    def test_without_the_framework_is_taken_where_there_is_no_other(self):
        assert [one.name for one in single(self.START, "dsr1_fp8_h200").options] == ["--tp", "--attention-backend"]

    def test_of_another_speculation_is_another_recipes(self):
        assert single(self.START, "dsr1_fp8_h200_mtp").options == ()

    def test_passes_on_a_branch_what_not_every_start_has(self):
        found = single(f"if [ $A ]; then\n  {self.START} --a\nelse\n  {self.START}\nfi\n")
        assert {one.name: one.conditional for one in found.options} == {"--tp": False, "--attention-backend": False, "--a": True}

    def test_that_starts_nothing_or_cannot_be_read_is_unread(self):
        assert single("./run.sh").unread == (
            "benchmarks/single_node/fixed_seq_len/dsr1_fp8_h200_sglang.sh: no start of the server that can be read",)
        assert "never ends" in single("echo 'x").unread[0]

    def test_carries_the_patches_that_it_names(self):
        patch = "# vllm-project/vllm#51171\ndiff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
        others = {"benchmarks/single_node/fix.patch": patch, "benchmarks/single_node/other.patch": patch}
        found = single(f"patch -p1 < fix.patch\n{self.START}", **others)
        assert [one.at.file for one in found.carried] == ["benchmarks/single_node/fix.patch"]


class TestALinkedFile:
    TEXT = """dynamo: {hash: 81d0555ee23519cea80a42b4fe824e30368b7300, install: true}
frontend:
  type: dynamo
  args: {router-mode: kv, no-kv-events: true}
backend:
  type: sglang
  prefill_environment: {SGLANG_A: "1"}
  sglang_config:
    prefill:
      tensor-parallel-size: 4
      disable-radix-cache: true
      skip-tokenizer-init: false
    decode:
      tensor-parallel-size: 8
      deepep-config: '{"x": 1}'
"""

    def test_tells_each_process_apart(self):
        found = linked(self.TEXT)
        assert told(one for one in found.options if one.program == "dynamo.sglang") == [
            ("--tensor-parallel-size", "4", f"{HERE}:10", "prefill"), ("--disable-radix-cache", None, f"{HERE}:11", "prefill"),
            ("--tensor-parallel-size", "8", f"{HERE}:14", "decode"), ("--deepep-config", '{"x": 1}', f"{HERE}:15", "decode")]
        assert [one.name for one in found.options if one.program == "dynamo.frontend"] == ["--router-mode", "--no-kv-events"]
        assert told(found.environment) == [("SGLANG_A", "1", f"{HERE}:7", "prefill")]

    def test_pins_its_part_where_a_repair_may_change_it(self):
        (pin,) = linked(self.TEXT).pins
        assert (pin.commit, pin.version, pin.at.line, pin.owned) == ("81d0555ee23519cea80a42b4fe824e30368b7300", None, 1, True)

    def test_may_call_a_version_a_wheel(self):
        (pin,) = linked(self.TEXT.replace("hash: 81d0555ee23519cea80a42b4fe824e30368b7300", "wheel: 1.5.0.dev20260910")).pins
        assert (pin.version, pin.wheel) == ("1.5.0.dev20260910", None)

    def test_has_variants_of_which_the_named_one_counts(self):
        text = "base:\n" + "".join(f"  {line}\n" for line in self.TEXT.splitlines()) + (
            "zip_override_tp:\n  backend: {sglang_config: {decode: {tensor-parallel-size: [16, 32]}}}\n"
            "override_other:\n  backend: {sglang_config: {decode: {x: 1}}}\n")
        found = linked(text, file="recipes/x.yaml:zip_override_tp[1]")
        assert [one.value for one in found.options if one.name == "--tensor-parallel-size"] == ["4", "32"]
        assert not [one for one in found.options if one.name == "--x"]

    def test_that_is_no_yaml_is_unread_or_refused_and_never_empty(self):
        assert linked(self.TEXT).unread == ()


class TestARecipeElsewhere:
    """The recipe file is in a repository that the launcher clones (CONTRACT 2.2)."""

    LAUNCHER = """if [[ $FRAMEWORK == "dynamo-vllm" ]]; then
    git clone https://github.com/NVIDIA/srt-slurm.git "$D"
    git checkout v1
elif [[ $FRAMEWORK == "dynamo-sglang" && $MODEL_PREFIX == "dsr1" ]]; then
    git clone https://github.com/NVIDIA/srt-slurm.git "$D"
    cd "$D"
    git checkout sa-submission
else
    git clone --branch main --single-branch https://github.com/NVIDIA/srt-slurm.git "$D"
fi
"""

    def look(self, launcher, elsewhere=None, more=""):
        others = {"runners/launch_gb200-nv.sh": launcher}
        return linked("", others=others, elsewhere=elsewhere, more="  disagg: true\n  kv-p2p-transfer: nixl\n" + more)

    def test_is_read_at_the_revision_that_the_launcher_clones(self):
        asked = []

        def elsewhere(source, ref):
            asked.append((source, ref))
            return TreeTold({"recipes/x.yaml": "dynamo: {version: 0.8.1}\n"})

        (pin,) = self.look(self.LAUNCHER, elsewhere).pins
        assert asked == [("https://github.com/NVIDIA/srt-slurm", "sa-submission")]
        assert (pin.version, pin.owned) == ("0.8.1", False)

    def test_is_unknown_where_the_launcher_chooses_by_what_only_a_run_knows(self):
        found = self.look(self.LAUNCHER.replace('$MODEL_PREFIX == "dsr1"', '$POWER == "1"'), lambda source, ref: TreeTold({}))
        assert found.pins[0].text == "dynamo ?"
        assert "several revisions" in found.unread[0]

    def test_has_the_pin_of_the_router_that_the_master_names(self):
        (pin,) = self.look(self.LAUNCHER, more='  router: {name: dynamo-router, version: "0.8.0"}\n').pins
        assert (pin.version, pin.owned, pin.at.line) == ("0.8.0", False, 10)

    @pytest.mark.parametrize("launcher", ["", "git clone 'x", "git clone https://github.com/o/other.git\n"])
    def test_is_told_as_unread_where_no_launcher_says(self, launcher):
        found = self.look(launcher, lambda source, ref: TreeTold({"recipes/x.yaml": "dynamo: {version: 9}"}))
        assert found.unread
        assert found.pins[0].version is None
