"""What a launcher fetches for which recipe, read from its script: a fetch counts unless its conditions are known not to hold."""

from __future__ import annotations

import pytest

from bot.layout.upstream import Launchers
from bot.recipe.conditions import truth
from bot.recipe.launchers import said

KIMI = {"MODEL_PREFIX": "kimik3", "PRECISION": "fp4", "FRAMEWORK": "vllm", "IS_MULTINODE": "true"}
GLM = {**KIMI, "MODEL_PREFIX": "glm5.2", "FRAMEWORK": "dynamo-sglang"}
READ = Launchers(files="launch_{fleet}.sh", models="STAGED_MODELS")
SCRIPT = """#!/usr/bin/bash
set -eo pipefail
if [[ "$IS_MULTINODE" == "true" ]]; then
    # if [[ a comment does not count
    if [[ $FRAMEWORK == "dynamo-sglang" ]]; then SQUASH=/data/a.sqsh; else SQUASH=/data/b.sqsh; fi
    cat > srtslurm.yaml <<EOF
if: this is no block
EOF
    if [[ $MODEL_PREFIX == "glm5.2" ]] && ! unsquashfs -l "$SQUASH" >/dev/null 2>&1; then
        srun bash -c "
            if unsquashfs -l \\"$SQUASH\\" ; then
                exit 0
            fi
            enroot import -o \\"$SQUASH\\" docker://$IMAGE
        "
    fi
else
    STAGED_MODELS=(
        GLM-5-FP8   # since May
        "Kimi-K2.6"
    )
    if unsquashfs -l "$SQUASH" > /dev/null; then
        echo there
    else
        enroot import -o "$SQUASH" docker://$IMAGE
    fi
fi
"""


def read(script: str, known: dict[str, str] = KIMI):
    return said(script.encode(), READ, known)


class TestAFetch:
    def test_under_a_condition_that_the_recipe_does_not_meet_is_not_made(self) -> None:
        """#2919: the launcher imports only where MODEL_PREFIX is glm5.2."""
        assert (read(SCRIPT).fetches, read(SCRIPT).at) == (False, 14)

    @pytest.mark.parametrize("known", [GLM, {**KIMI, "IS_MULTINODE": "false"}, {"IS_MULTINODE": "true"}, {}])
    def test_that_may_be_made_counts(self, known: dict[str, str]) -> None:
        assert read(SCRIPT, known).fetches is True

    @pytest.mark.parametrize("script", [
        "echo nothing here", "if [[ $X == 1 ]]; then\nenroot import x\n", "fi\nenroot import x",
        "if [[ $MODEL_PREFIX == glm5.2 ]]; then\nenroot import x\nfi\nbash \"benchmarks/$SCRIPT\"",
        "if [[ $MODEL_PREFIX == glm5.2 ]]; then enroot import x; fi; sbatch job.slurm",
    ])
    def test_cannot_be_told_where_blocks_or_other_scripts_hide_it(self, script: str) -> None:
        assert read(script).fetches is None

    @pytest.mark.parametrize(("script", "made"), [
        ('case "$MODEL_PREFIX" in\nglm*) enroot import x;;\nesac', True),
        ("if [[ $MODEL_PREFIX == glm5.2 ]]; then :; elif [[ $PRECISION == fp8 ]]; then enroot import x; fi", False),
        ("if [[ $MODEL_PREFIX == kimik3 ]]; then :; else enroot import x; fi", False),
        ("if [[ $MODEL_PREFIX == kimi* ]]; then enroot import x; fi", True),
        ("fetch() {\n  enroot import x\n}\nif [[ $MODEL_PREFIX == glm5.2 ]]; then fetch; fi", True),
        ("if [[ $MODEL_PREFIX == glm5.2 ]] \\\n   || [[ $FRAMEWORK == vllm ]]; then\n  docker pull $IMAGE\nfi", True),
        ("if [[ $MODEL_PREFIX == glm5.2 && $PRECISION == fp4 ]]; then docker run $IMAGE; fi", False),
    ])
    def test_follows_blocks(self, script: str, made: bool) -> None:
        assert read(script).fetches is made


class TestAListOfCheckpoints:
    def test_counts_where_the_recipe_comes_by(self) -> None:
        found = read(SCRIPT, {**KIMI, "IS_MULTINODE": "false"})
        assert (found.models, found.listed_at) == (("GLM-5-FP8", "Kimi-K2.6"), 18)
        assert read(SCRIPT).models is None

    def test_may_stand_on_one_line(self) -> None:
        assert read("STAGED_MODELS=(A 'B' \"C\" $D)").models == ("A", "B", "C")


class TestAHostileScript:
    @pytest.mark.parametrize("script", ["if " * 50_000, "(" * 100_000, "\\\n" * 50_000, "[[ $A == " * 20_000, "<<EOF\n" * 1000, "\x00\xff"])
    def test_ends_and_says_nothing(self, script: str) -> None:
        assert read(script).fetches is None


class TestConditions:
    @pytest.mark.parametrize(("text", "is_"), [
        ('[[ $FRAMEWORK == "vllm" ]]', True), ("[ \"$FRAMEWORK\" = vllm ]", True), ("[[ ${FRAMEWORK:-x} != 'vllm' ]]", False),
        ('[[ $FRAMEWORK == "vllm" && ( $PRECISION == "fp4" || $PRECISION == "fp8" ) ]]', True), ("[[ -z $FRAMEWORK ]]", False),
        ("[[ -n ${FRAMEWORK} ]]", True), ("! [[ $FRAMEWORK == vllm ]]", False), ("[[ $FRAMEWORK == *ll* ]]", True),
        ("[[ $FRAMEWORK == @(a|vllm) ]]", None), ("[[ $OTHER == x ]]", None), ("[[ -f $FRAMEWORK ]]", None),
        ("grep -q x y", None), ("[[ $FRAMEWORK == $PRECISION ]]", None), ("[[ $FRAMEWORK =~ ^v ]]", None),
        ("[[ $FRAMEWORK == sglang ]] && anything", False), ("[[ $FRAMEWORK == vllm ]] || anything", True), ("", None),
    ])
    def test_are_true_false_or_open(self, text: str, is_: bool | None) -> None:
        assert truth(text, KIMI) is is_
