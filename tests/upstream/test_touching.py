"""Which commits concern a recipe: ranked by where its words were touched, each rank with its reason."""

from __future__ import annotations

import pytest

from bot.model.upstream import Commit
from bot.model.uses import Used, Uses, Written
from bot.upstream.touching import PLACES, ranked, squeeze, why, words_of

AT = Written(file="recipes/x.yaml", line=3)
USES = Uses(engine="vllm", words=("MiniMax-M3", "gb300", "flashinfer_mla", "fp8"),
            options=tuple(Used(kind="option", name=name, value="8", at=AT) for name in ("--tensor-parallel-size", "--tp")),
            environment=(Used(kind="environment", name="VLLM_USE_V1", value="1", at=AT),))


def commit(number: int, title: str = "Tidy") -> Commit:
    return Commit(sha=f"{number:040x}", title=title, date="2026-09-01T00:00:00Z", pull=number)


def rank(*told: tuple[str, list[str], list[str]]):
    """Commits as title, files, changed lines; oldest first."""
    commits = [commit(number, title) for number, (title, _, _) in enumerate(told)]
    return ranked(commits, {one.sha: files for one, (_, files, _) in zip(commits, told, strict=True)}, USES,
                  {one.sha: lines for one, (_, _, lines) in zip(commits, told, strict=True) if lines})


class TestTheRank:
    def test_goes_from_the_option_over_backend_model_and_hardware_to_the_title(self) -> None:
        found = rank(
            ("Speed up fp8 on paper", ["docs/x.md"], []),
            ("A", ["csrc/gb300/tune.json"], []),
            ("B", ["vllm/model_executor/models/minimax_m3.py"], []),
            ("C", ["vllm/v1/attention/backends/flashinfer_mla.py"], []),
            ("D", ["vllm/engine/arg_utils.py"], ["    tensor_parallel_size: int = 2"]),
            ("Nothing of ours", ["vllm/engine/arg_utils.py", "vllm/models/llama.py"], ["    seed: int = 0"]))
        assert [(touch.commit.title[:1], int(touch.rank)) for touch in found] == [("D", 5), ("C", 4), ("B", 3), ("A", 2), ("S", 1)]
        assert [touch.words for touch in found] == [
            ("--tensor-parallel-size",), ("flashinfer_mla",), ("MiniMax-M3",), ("gb300",), ("fp8",)]
        assert [why(touch) for touch in found] == [PLACES[place] for place in (5, 4, 3, 2, 1)]
        assert found[1].files == ("vllm/v1/attention/backends/flashinfer_mla.py",)

    def test_of_one_place_goes_by_words_title_width_and_age(self) -> None:
        kernel = "vllm/kernels/flashinfer_mla.py"
        found = rank(("one", [kernel], []), ("two", [kernel], []), ("FlashInfer MLA", [kernel], []),
                     ("wide", [kernel, *(f"f{number}" for number in range(80))], []), ("more", [kernel, "x/minimax_m3/y.py"], []))
        assert [touch.commit.title for touch in found] == ["FlashInfer MLA", "more", "two", "one", "wide"]

    @pytest.mark.parametrize("line", ["parser.add_argument('--tp', type=int)", "  tp: int = 1", "if 'tp' in args:"])
    def test_sees_an_option_however_it_is_defined(self, line) -> None:
        assert rank(("x", [], [line]))[0].words == ("--tp",)

    @pytest.mark.parametrize(("title", "files", "lines"), [
        ("http and tpu", [], ["https = 1", "tpu: int", "--tp-size", "attp", "args.tp = tp"]),
        ("gb200", ["kernels/b300/x.cu", "kernels/gb3000.cu"], []),
        ("VLLM_USE_V1_NEW", [], ["VLLM_USE_V1_MULTI"]),
        ("x", ["tests/kernels/test_flashinfer_mla.py", "docs/minimax_m3/a.md", ".github/gb300/x.yml"], []),
    ])
    def test_takes_no_part_of_a_word_and_no_test_for_ours(self, title, files, lines) -> None:
        assert rank((title, files, lines)) == ()

    def test_of_a_recipe_without_words_is_empty(self) -> None:
        assert ranked([commit(1, "gb300")], {}, Uses(engine=None)) == ()

    def test_counts_a_variable_where_it_is_defined_and_in_a_title(self) -> None:
        found = rank(("x", ["vllm/envs.py"], ['    "VLLM_USE_V1": lambda: 1,']), ("Drop VLLM_USE_V1", [], []))
        assert [(touch.words, int(touch.rank)) for touch in found] == [(("VLLM_USE_V1",), 5), (("VLLM_USE_V1",), 1)]


class TestTheWords:
    def test_are_each_one_however_spelt(self) -> None:
        assert squeeze("MiniMax-M3") == squeeze("minimax_m3") == "minimaxm3"
        assert [word.shown for word in words_of(USES)] == [
            "--tensor-parallel-size", "--tp", "VLLM_USE_V1", "MiniMax-M3", "gb300", "flashinfer_mla", "fp8"]
