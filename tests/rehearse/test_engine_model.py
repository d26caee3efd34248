"""The tokenizer that clients of the test server load: small, complete, and found offline where they look."""

from __future__ import annotations

import json
from pathlib import Path

from bot.rehearse.engine import model


class TestTheTokenizer:
    def test_is_a_small_one_of_bytes(self) -> None:
        made = json.loads(model.TOKENIZER.read_text(encoding="utf-8"))
        assert made["model"]["type"] == "BPE" and made["decoder"]["type"] == "ByteLevel"
        assert len(made["model"]["vocab"]) == 1800
        assert sum((model.HERE / name).stat().st_size for name in model.FILES) < 300_000

    def test_names_its_own_special_pieces(self) -> None:
        told = json.loads((model.HERE / "tokenizer_config.json").read_text())
        vocabulary = json.loads(model.TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"]
        assert {told["bos_token"], told["eos_token"], told["pad_token"]} <= set(vocabulary)
        assert json.loads((model.HERE / "config.json").read_text())["vocab_size"] == len(vocabulary)

    def test_is_laid_out_as_the_hub_keeps_it(self, tmp_path: Path) -> None:
        snapshot = model.lay_out(tmp_path, "acme/toy", "a" * 40)
        assert snapshot == tmp_path / "hub/models--acme--toy/snapshots" / ("a" * 40)
        assert (tmp_path / "hub/models--acme--toy/refs/main").read_text() == "a" * 40
        assert sorted(path.name for path in snapshot.iterdir()) == sorted(model.FILES)

    def test_is_laid_out_twice_without_harm(self, tmp_path: Path) -> None:
        assert model.lay_out(tmp_path) == model.lay_out(tmp_path)
