"""A tokenizer of our own for runs without a GPU: clients load one before they send anything, and nothing may be fetched for it.

1,800 pieces of bytes, learnt from this repository's licence and notice (tests/rehearse/make_model.py makes it again).
"""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).parent
FILES = ("tokenizer.json", "tokenizer_config.json", "config.json")
TOKENIZER = HERE / "tokenizer.json"
NAME = "bumpbot/rehearsal"
REVISION = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"


def lay_out(home: Path, name: str = NAME, revision: str = REVISION) -> Path:
    """Lays the tokenizer into `home` (an HF_HOME) as Hugging Face's cache keeps a model's files, under this repository's name and
    revision (40 hex): with HF_HUB_OFFLINE=1 it is found there, also as `main`. Returns the folder with the files."""
    model = home / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = model / "snapshots" / revision
    snapshot.mkdir(parents=True, exist_ok=True)
    (model / "refs").mkdir(exist_ok=True)
    (model / "refs" / "main").write_text(revision, encoding="utf-8")
    for file in FILES:
        shutil.copyfile(HERE / file, snapshot / file)
    return snapshot
