"""Shell scripts are read, never run: what a server is started with, and on which branch."""

import pytest

from bot.recipe.uses.scripts import options
from bot.recipe.uses.shell.script import read
from bot.recipe.uses.shell.starts import starts
from bot.recipe.uses.shell.tests import holds, taken

COMMANDS = ["vllm serve", "python3 -m sglang.launch_server", "trtllm-serve"]


def passed(text):
    """The options of the only start, as (name, value, conditional)."""
    (start,) = starts(text, COMMANDS).starts
    return [(name, value, said.conditional) for name, value, said in options(start.words)]


class TestAStartOfAServer:
    def test_spans_lines_and_takes_values_with_and_without_an_equals_sign(self):
        assert passed("vllm serve $MODEL --host 0.0.0.0 \\\n  --max-num-seqs=64 --trust-remote-code > log 2>&1 &\n") == [
            ("--host", "0.0.0.0", False), ("--max-num-seqs", "64", False), ("--trust-remote-code", None, False)]

    def test_knows_the_line_of_each_option(self):
        (start,) = starts("set -x\nvllm serve m \\\n  --a 1 \\\n  --b 2\n", COMMANDS).starts
        assert [(said.text, said.line) for said in start.words if said.text.startswith("--")] == [("--a", 3), ("--b", 4)]

    def test_is_found_behind_a_wrapper_and_an_interpreter_in_a_variable(self):
        assert passed('numactl -N 0 "$PY" -u -m sglang.launch_server --tp 8') == [("--tp", "8", False)]
        assert passed("mpirun -n 1 trtllm-serve $MODEL --tp_size=4") == [("--tp_size", "4", False)]

    def test_is_none_where_a_command_is_only_shown_or_ended(self):
        assert starts('echo "vllm serve"\npkill -f vllm serve\nprintf "%q " vllm serve x\n', COMMANDS).starts == ()

    def test_stands_in_a_text_that_another_shell_runs(self):
        assert passed("bash -c 'vllm serve m --seed 1'") == [("--seed", "1", False)]

    def test_leaves_a_value_open_that_only_the_run_knows(self):
        assert passed("vllm serve m --tensor-parallel-size $TP --seed 3") == [
            ("--tensor-parallel-size", None, False), ("--seed", "3", False)]

    def test_fills_in_a_variable_with_one_sure_value(self):
        assert passed("BS=16\nvllm serve m --block-size $BS") == [("--block-size", "16", False)]

    def test_does_not_trust_a_default_that_the_environment_may_replace(self):
        assert passed("BS=${BS:-16}\nvllm serve m --block-size $BS --x") == [("--block-size", None, False), ("--x", None, False)]

    def test_does_not_pick_one_of_several_values(self):
        script = "if [ $C -gt 8 ]; then\n  U=0.9\nelse\n  U=0.8\nfi\nvllm serve m --gpu-memory-utilization $U"
        assert passed(script) == [("--gpu-memory-utilization", None, False)]


class TestLists:
    def test_are_filled_in_and_added_to(self):
        script = 'A=(--a 1)\nA+=(--b)\nCMD=(vllm serve m "${A[@]}" --c)\n"${CMD[@]}" &\n'
        assert passed(script) == [("--a", "1", False), ("--b", None, False), ("--c", None, False)]

    def test_that_grow_on_a_branch_are_conditional(self):
        script = 'A=()\nif [ "$X" = 1 ]; then\n  A+=(--b 2)\nfi\nvllm serve m "${A[@]}" --c'
        assert passed(script) == [("--b", "2", True), ("--c", None, False)]

    def test_that_grow_behind_a_test_are_conditional(self):
        assert passed('A=()\n[[ $X == 1 ]] && A+=(--b)\nvllm serve m "${A[@]}"') == [("--b", None, True)]

    def test_keep_json_whole(self):
        script = """A=(--speculative-config '{"method": "mtp", "n": 3}')\nvllm serve m "${A[@]}"\n"""
        assert passed(script) == [("--speculative-config", '{"method": "mtp", "n": 3}', False)]


class TestBranches:
    def test_exclude_what_another_arm_set(self):
        script = 'if [ "$X" = 1 ]; then\n  E="--a"\n  vllm serve m $E\nelse\n  E="--b"\nfi\n'
        assert passed(script) == [("--a", None, False)]

    def test_of_a_case_are_conditional(self):
        assert passed('A=()\ncase "$K" in\n  "") ;;\n  x|y) A=(--x 1) ;;\nesac\nvllm serve m "${A[@]}"') == [("--x", "1", True)]

    @pytest.mark.parametrize(("test", "said"), [
        ('[[ $F == "dynamo-sglang" && $M == "dsr1" ]]', True),
        ('[[ $F == "dynamo-trt" && $U == "1" ]]', False),
        ('[[ $F == "dynamo-sglang" && $U == "1" ]]', None),
        ('[[ $F == dynamo-* ]]', True),
        ('[[ ( $F == "a" && $M == "b" ) || $M == "dsr1" ]]', True),
        ('! [[ $M == "dsr1" ]]', False),
        ('grep -q x y', None),
    ])
    def test_are_decided_by_what_is_known_alone(self, test, said):
        assert holds(test, {"F": "dynamo-sglang", "M": "dsr1"}) is said

    def test_of_an_else_hold_where_no_other_does(self):
        commands = read('if [[ $M == "a" ]]; then\n  one\nelif [[ $M == "b" ]]; then\n  two\nelse\n  three\nfi\n')
        assert [taken(command.branches, {"M": "c"}) for command in commands] == [False, False, True]
        assert [taken(command.branches, {}) for command in commands] == [None, None, None]


class TestTheEnvironment:
    def test_is_what_is_exported_and_what_stands_before_the_command(self):
        script = starts("export A=1\nB=2\nexport B\nC=3 vllm serve m\nif x; then\n export D=4\nfi\n", COMMANDS)
        assert [(name, said.text, said.conditional) for name, said in script.environment] == [
            ("A", "1", False), ("B", "2", False), ("D", "4", True)]
        assert [(name, said.text) for name, said in script.starts[0].environment] == [("C", "3")]


class TestAFileThatTheScriptWrites:
    def test_is_found_by_its_name_with_what_is_known_filled_in(self):
        script = starts('F=x.yml\nB=TRTLLM\ncat > $F << EOF\nmoe:\n  backend: $B\n  size: $N\nEOF\ntrtllm-serve m --config=$F\n',
                        COMMANDS)
        (written,) = script.files
        assert (written.target, written.line, written.text) == ("x.yml", 4, "moe:\n  backend: TRTLLM\n  size: $N\n")

    def test_with_a_quoted_end_is_taken_as_it_stands(self):
        assert starts("cat > f <<'EOF'\n$A\nEOF\n", COMMANDS).files[0].text == "$A\n"


class TestWhatCannotBeRead:
    @pytest.mark.parametrize("text", ["vllm serve 'm", 'x="', "cat << EOF\nnever ends\n", "A=(--a", "echo $(("])
    def test_is_said(self, text):
        with pytest.raises(ValueError):
            starts(text, COMMANDS)

    def test_is_no_endless_loop(self):
        assert passed('A="$B"\nB="$A"\nvllm serve m $A --x')[-1] == ("--x", None, False)
