"""What a load needs of Hugging Face and may not fetch is told before a server is started; what may be fetched is nobody's concern."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest

from bot.bench import load
from bot.bench.load import environment, offline
from bot.errors import Missing, Refusal
from bot.model.bench import Machine, Order, Trace
from bot.model.recipe import EvalSpec
from bot.rehearse.engine import model
from tests.bench.load.room import Bench, bench, order

OTHER = "a" * 40


def looked(one: Bench, asked: Order, **env: str) -> None:
    load.prepare(asked, one.machine, dataclasses.replace(one.host, env={**one.host.env, **env}), one.place)


def of(revision: str, **trace: str) -> Order:
    return msgspec.structs.replace(order(trace=Trace(**trace) if trace else None), revision=revision)


class TestWhereNothingMayBeFetched:
    @pytest.mark.parametrize("switch", environment.OFFLINE)
    @pytest.mark.parametrize("value", ["1", "true"])
    def test_a_tokenizer_that_is_not_there_is_told_in_one_line(self, tmp_path: Path, switch: str, value: str) -> None:
        with pytest.raises(Missing) as raised:
            looked(bench(tmp_path), of(OTHER), **{switch: value})
        said = str(raised.value)
        assert f"tokenizer of {model.NAME} at revision {OTHER} is not in {tmp_path / 'hf'}, and {switch} is set" in said
        assert f"hf download {model.NAME} --revision {OTHER}" in said and "\n" not in said

    def test_a_tokenizer_that_is_there_is_enough(self, tmp_path: Path) -> None:
        looked(bench(tmp_path), of(model.REVISION), HF_HUB_OFFLINE="1")

    def test_a_snapshot_without_a_tokenizer_is_none(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        for file in (tmp_path / "hf" / "hub").rglob("snapshots/*/*"):
            file.rename(file.with_name(f"model-{file.suffix}"))
        with pytest.raises(Missing, match="tokenizer"):
            looked(one, of(model.REVISION), HF_HUB_OFFLINE="1")

    def test_a_data_set_of_the_hub_needs_one_in_the_cache(self, tmp_path: Path) -> None:
        one = bench(tmp_path)
        with pytest.raises(Missing, match="no data set is in .*, aimo is one of Hugging Face, and HF_HUB_OFFLINE is set: where the hub"):
            looked(one, of(model.REVISION, dataset="aimo"), HF_HUB_OFFLINE="1")
        looked(one, of(model.REVISION, dataset="spec_bench"), HF_HUB_OFFLINE="1")
        (tmp_path / "hf" / "hub" / "datasets--AI-MO--NuminaMath-TIR").mkdir()
        looked(one, of(model.REVISION, dataset="aimo"), HF_HUB_OFFLINE="1")

    def test_a_model_without_an_organisation_lies_under_its_organisation_s_name(self, tmp_path: Path) -> None:
        model.lay_out(tmp_path)
        name = model.NAME.rpartition("/")[2]
        assert environment.staged(msgspec.structs.replace(of(model.REVISION), model=name), tmp_path)


class TestWhereTheHubMayBeAsked:
    @pytest.mark.parametrize("env", [{}, {"HF_HUB_OFFLINE": "0"}, {"TRANSFORMERS_OFFLINE": ""}])
    def test_nothing_is_said(self, tmp_path: Path, env: dict[str, str]) -> None:
        looked(bench(tmp_path), of(OTHER, dataset="aimo"), **env)

    def test_aiperf_is_not_told_a_no_that_it_reads_as_a_yes(self, tmp_path: Path) -> None:
        made = environment.of(of(OTHER), Machine(), {"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "no"}, tmp_path)
        assert not {*environment.OFFLINE} & made.keys()


class TestAFolderOfTheMachineFile:
    EVAL = msgspec.structs.replace(order(), kind="eval", load=None, eval=EvalSpec(task="t", threshold=0.5))

    @pytest.mark.parametrize(("asked", "key"), [(EVAL, "models"), (EVAL, "tasks"), (order(), "models")])
    def test_that_is_not_there_is_told(self, tmp_path: Path, asked: Order, key: str) -> None:
        with pytest.raises(Refusal, match=f"the folder .*/none is not there: correct `{key}` in the machine file"):
            offline.folders(asked, Machine(**{key: str(tmp_path / "none")}))
        offline.folders(asked, Machine(**{key: str(tmp_path)}))

    def test_that_a_load_does_not_need_may_be_away(self, tmp_path: Path) -> None:
        offline.folders(order(), Machine(tasks=str(tmp_path / "none")))
