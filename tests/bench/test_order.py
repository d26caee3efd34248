"""POINT.json and the machine file: read strictly, told kindly, and open to what a newer `matrix` adds."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from bot.bench.order import read_machine, read_order
from bot.errors import BadInput, Refusal
from bot.model.bench import Machine
from tests.fakes.benches import eval_order, order

POINT = msgspec.to_builtins(order())
EVAL = msgspec.to_builtins(eval_order())


def read(value: Any) -> Any:
    return read_order(value if isinstance(value, bytes) else json.dumps(value).encode(), "point.json")


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in POINT.items() if key not in keys}


class TestAPoint:
    @pytest.mark.parametrize("told", [POINT, EVAL])
    def test_is_read_as_matrix_prints_it_alone_or_as_a_list_of_one(self, told: Any) -> None:
        assert msgspec.to_builtins(read(told)) == msgspec.to_builtins(read([told])) == told

    def test_may_begin_with_a_byte_order_mark(self) -> None:
        assert read(b"\xef\xbb\xbf" + json.dumps(POINT).encode()) == order()

    def test_may_carry_keys_of_a_newer_matrix_anywhere(self) -> None:
        trace = {"dataset": "sharegpt", "later": 1}
        told = {**POINT, "later": {"x": [1]}, "gates": {**POINT["gates"], "later": 1},
                "load": {**POINT["load"], "later": 1, "trace": trace}}
        assert read(told).load.trace.dataset == "sharegpt"

    @pytest.mark.parametrize(("told", "key"), [
        ({"id": "\ud800"}, "id"), ({"args": {"a": "x\udfff"}}, "args.a"), ({"args": {"\ud800": 1}}, "args"), ({"weights": "\ud83d"}, "weights")])
    def test_with_half_of_a_letter_names_its_key(self, told: dict[str, Any], key: str) -> None:
        with pytest.raises(BadInput, match=f"{key}.*no Unicode"):
            read({**POINT, **told})

    def test_whose_trace_is_empty_is_no_order_for_a_made_load(self) -> None:
        with pytest.raises(BadInput, match=r"load\.trace\.dataset"):
            read({**POINT, "load": {**POINT["load"], "trace": {}}})

    @pytest.mark.parametrize("key", ["image", "engine", "model", "concurrency", "fingerprint", "gates", "kind"])
    def test_that_lacks_a_key_names_it(self, key: str) -> None:
        with pytest.raises(BadInput, match=f"`{key}` is missing"):
            read(without(key))

    def test_of_a_guest_is_refused_kindly(self) -> None:
        with pytest.raises(Refusal, match="does not say how its server is started"):
            read(without("engine", "model", "args", "env", "load", "gates"))

    def test_among_several_says_how_to_pick_one(self) -> None:
        with pytest.raises(BadInput, match=r"2 points.*--points ID.*own/0123456789ab/c2"):
            read([POINT, EVAL])

    @pytest.mark.parametrize(("value", "why"), [
        (b"", "JSON"), (b"{", "JSON"), (b"\xff", "UTF-8"), ([], "empty list"), ("x", "object"), ([[POINT]], "object"),
        (b'{"id": "a", "id": "b"}', "twice"), (b'{"id": NaN}', "NaN")])
    def test_that_is_none_is_refused_with_its_file(self, value: Any, why: str) -> None:
        with pytest.raises(BadInput, match=why) as raised:
            read(value)
        assert str(raised.value).startswith("point.json:")

    @pytest.mark.parametrize(("key", "value"), [
        ("image", ""), ("image", "-v /:/host x"), ("image", "a b"), ("recipe", "../up"), ("engine", "vllm; rm"), ("model", "a/b/c"),
        ("model", "--x"), ("revision", "../../x\n"), ("concurrency", 0), ("concurrency", 10**9), ("gpus", 0), ("load", None),
        ("eval", {"task": "gsm8k", "threshold": 0.5}), ("args", {"": 1}), ("args", {"--tp": 4}), ("args", {"tp 4": 4}),
        ("env", {"A=B": "c"}), ("id", "../../x"), ("id", "own/../../x"), ("id", "a\nb"), ("id", ""), ("topology", "x\n::error::a|b"),
        ("workload", "chat \u202e@torvalds"), ("workload", "@torvalds"), ("runner", "a`b"), ("hardware", "h200|x"), ("weights", "<b>"),
        ("kv", "x\r"), ("fingerprint", "../x"), ("fingerprint", ""), ("fingerprint", "zz"), ("fingerprint", "F" * 64), ("gpus", 10**18), ("metric", "bogus"), ("revision", "x/../../y"), ("id", "x" * 9999), ("kind", "other"), ("metric", "a b"), ("gates", {"failed_requests": 1.5}),
        *(("load", {**POINT["load"], name: wrong}) for name, wrong in (("requests", 0), ("repeats", 0), ("warmup", -1), ("input", 0),
                                                                       ("output", 0), ("requests", "8")))])
    def test_with_a_value_that_cannot_be_names_its_key(self, key: str, value: Any) -> None:
        with pytest.raises(BadInput) as raised:
            read({**POINT, key: value})
        assert raised.value.key.startswith(key)

    @pytest.mark.parametrize("gate", [{"task": "a b", "threshold": 0.5}, {"task": "gsm8k", "threshold": 90},
                                      {"task": "gsm8k", "threshold": 0.9, "limit": 0}, None])
    def test_of_an_eval_is_looked_at_too(self, gate: Any) -> None:
        with pytest.raises(BadInput) as raised:
            read({**EVAL, "eval": gate})
        assert raised.value.key.startswith("eval")


class TestAMachine:
    @pytest.mark.parametrize("text", [b"", b"# nothing said\n"])
    def test_that_says_nothing_is_a_machine(self, text: bytes) -> None:
        assert read_machine(text, "machine.yml") == Machine()

    @pytest.mark.parametrize(("text", "launcher"), [(b"server: [a]", "process"), (b"server: [a]\nlauncher: docker", "docker"), (b"port: 80", "docker")])
    def test_with_a_command_needs_no_launcher_named(self, text: bytes, launcher: str) -> None:
        assert read_machine(text, "machine.yml").launcher == launcher

    def test_is_read_in_its_own_words(self) -> None:
        told = read_machine(b"launcher: podman\nport: 8000\nstartup-minutes: 90\nmounts: ['/data:/data']\n", "machine.yml")
        assert (told.launcher, told.port, told.startup_minutes, told.mounts) == ("podman", 8000, 90, ("/data:/data",))

    @pytest.mark.parametrize("text", [b"launcher: lxc\n", b"launchr: docker\n", b"port: 0\n", b"startup-minutes: 0\n", b"- docker\n",
                                      b"[", b"launcher: &a docker\nserver: *a\n"])
    def test_that_does_not_hold_is_refused_with_its_line(self, text: bytes) -> None:
        with pytest.raises(BadInput, match=r"^machine.yml:[12]: "):
            read_machine(text, "machine.yml")

    @pytest.mark.parametrize("variable", ['"A=B": x', '"": x', 'A: "x\\0y"', '"--privileged": x', '"A\\nB": x', '"A B": x'])
    def test_whose_variable_no_program_can_be_given_is_refused_with_line_and_key(self, variable: str) -> None:
        with pytest.raises(BadInput, match=r"^machine.yml:3: env\.") as raised:
            read_machine(f"launcher: podman\nenv:\n  {variable}\n".encode(), "machine.yml")
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize(("mount", "why"), [
        ("/tmp:/hf", "models"), ("/tmp:/hf/hub", "models"), ("/tmp://hf/hub/", "models"), ("/tmp:/data/../hf", "models"),
        ("/tmp:/hf/x", "models"), ("/tmp:/", "image"), ("/tmp:/proc", "its own"), ("/tmp:/dev/shm", "its own"), ("/tmp:/first/", "two"),
        ("tmp:/x", "HOST:CONTAINER"), ("/tmp", "HOST:CONTAINER"), ("/tmp:/x:rw", "HOST:CONTAINER")])
    def test_whose_mount_no_container_can_have_is_refused_with_line_and_key(self, mount: str, why: str) -> None:
        with pytest.raises(BadInput, match=r"^machine.yml:4: mounts\.1: ") as raised:
            read_machine(f"launcher: podman\nmounts:\n- /srv:/first\n- '{mount}'\n".encode(), "machine.yml")
        assert why in str(raised.value)

    def test_may_mount_beside_the_models(self) -> None:
        there = ("/srv:/hf2", "/srv/x:/data/hf", "/srv:/opt/dev")
        assert read_machine(f"mounts: {list(there)}".encode(), "machine.yml").mounts == there
