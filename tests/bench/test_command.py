"""The words that start each engine, and what a recipe may not say in them."""

from __future__ import annotations

import pytest

from bot.bench import command
from bot.errors import Refusal
from tests.bench.launch.worlds import order


def words(engine: str, args=None, **more) -> str:
    return " ".join(command.serve(order(engine=engine, args=args or {}, **more), host="0.0.0.0", port=8000))


class TestEngines:
    @pytest.mark.parametrize("engine, started", [
        ("vllm", "vllm serve zai-org/GLM-5.3-Flash --revision eb9eb208 --host 0.0.0.0 --port 8000"),
        ("sglang", "python3 -m sglang.launch_server --model-path zai-org/GLM-5.3-Flash --revision eb9eb208 --host 0.0.0.0 --port 8000"),
        ("TensorRT-LLM", "trtllm-serve zai-org/GLM-5.3-Flash --host 0.0.0.0 --port 8000"),
        ("atom", "python3 -m atom.entrypoints.openai_server --model zai-org/GLM-5.3-Flash --host 0.0.0.0 --server-port 8000")])
    def test_are_started_as_their_manuals_say(self, engine, started):
        assert words(engine) == started

    def test_a_revision_that_an_engine_cannot_be_told_is_said(self):
        assert "takes no revision" in command.unsaid(order(engine="trtllm"))
        assert command.unsaid(order(engine="vllm")) is None and command.unsaid(order(engine="trtllm", revision="")) is None

    def test_one_that_nobody_knows_is_refused_with_those_that_are_known(self):
        with pytest.raises(Refusal, match="'mystery' is started is not known here: known are atom, sgl, sglang"):
            words("mystery")

    def test_no_revision_no_word(self):
        assert "--revision" not in words("vllm", revision="")


class TestArguments:
    @pytest.mark.parametrize("engine, args, made", [
        ("sglang", {"tp": 4, "ep": 4, "context-length": 32768, "mem-fraction-static": 0.78},
         "--tp 4 --ep 4 --context-length 32768 --mem-fraction-static 0.78"),
        ("sglang", {"enable-mixed-chunk": True, "disable-radix-cache": False, "x": None}, "--enable-mixed-chunk"),
        ("vllm", {"tp": 8, "ep": 8}, "--tensor-parallel-size 8 --enable-expert-parallel"),
        ("vllm", {"ep": 1, "tensor_parallel_size": 2}, "--tensor_parallel_size 2"),
        ("vllm", {"enable-prefix-caching": False, "enable_chunked_prefill": False, "enforce-eager": False},
         "--no-enable-prefix-caching --no-enable-chunked-prefill"),
        ("trtllm", {"tp": 4, "kv_cache_free_gpu_memory_fraction": 0.9}, "--tp_size 4 --kv_cache_free_gpu_memory_fraction 0.9"),
        ("vllm", {"compilation-config.level": 3, "hf-overrides": '{"a": "b c"}'}, '--compilation-config.level 3 --hf-overrides {"a": "b c"}'),
        ("vllm", {"seed": -1, "served-model-name": "--x", "tag": ""}, "--seed=-1 --served-model-name=--x --tag=")])
    def test_are_words_as_the_engine_reads_them(self, engine, args, made):
        assert words(engine, args).partition("8000")[2].strip() == made

    def test_a_value_is_one_word_whatever_it_holds(self):
        assert command.arguments(order(args={"a": "b; rm -rf / $(id)"})) == ("--a", "b; rm -rf / $(id)")

    @pytest.mark.parametrize("name", ["-x", "--host", "a b", "a=b", "", "a\n", "-", "ä", "a--b"])
    def test_a_name_that_is_none_is_refused(self, name):
        with pytest.raises(Refusal, match="no argument's form"):
            words("vllm", {name: 1})

    @pytest.mark.parametrize("name", ["host", "port", "Port", "model", "model_path", "revision", "api-key", "ssl_keyfile", "hf-token",
                                      "server_port", "hos", "mode", "ho", "po", "re", "ap"])
    def test_what_the_machine_decides_is_not_the_recipes_to_say(self, name):
        with pytest.raises(Refusal, match=f"argument {name} is not taken"):
            words("vllm", {name: "x"})

    @pytest.mark.parametrize("value", ["a\x00b", "a\nb", "x" * 40_000])
    def test_a_value_that_cannot_be_one_word_is_refused(self, value):
        with pytest.raises(Refusal, match="too long, or holds what cannot be printed"):
            words("vllm", {"a": value})

    @pytest.mark.parametrize("more", [{"model": "--trust"}, {"model": "a/b/c"}, {"model": "../x"}, {"revision": "-x"}])
    def test_a_model_that_could_be_an_option_is_refused(self, more):
        with pytest.raises(Refusal, match="form"):
            words("vllm", **more)


class TestVariables:
    def test_are_words_and_switches_are_numbers(self):
        env = {"VLLM_USE_V1": True, "B": False, "C": None, "D": 0.5, "E": "a b", "PYTHONHASHSEED": 0}
        assert command.environment(order(env=env), contained=True) == {
            "VLLM_USE_V1": "1", "B": "0", "D": "0.5", "E": "a b", "PYTHONHASHSEED": "0"}

    @pytest.mark.parametrize("name", ["GITHUB_TOKEN", "github_env", "ACTIONS_X", "RUNNER_TEMP", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
                                      "HF_ENDPOINT", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "https_proxy", "DOCKER_HOST"])
    def test_are_refused_in_a_container_too(self, name):
        with pytest.raises(Refusal, match=f"variable {name} is not set: .*: take it out"):
            command.environment(order(env={name: "x"}), contained=True)

    @pytest.mark.parametrize("name", ["LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP", "PATH", "BASH_ENV", "GIT_SSH"])
    def test_that_choose_code_are_refused_only_without_a_container(self, name):
        assert command.environment(order(env={name: "x"}), contained=True) == {name: "x"}
        with pytest.raises(Refusal, match="which code runs"):
            command.environment(order(env={name: "x"}), contained=False)

    @pytest.mark.parametrize("env", [{"A B": 1}, {"A=B": 1}, {"": 1}, {"1A": 1}])
    def test_a_name_that_is_none_is_refused(self, env):
        with pytest.raises(Refusal, match="no variable's form"):
            command.environment(order(env=env), contained=True)
