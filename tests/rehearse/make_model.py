"""Makes the tokenizer of the test server's model again: a byte-level BPE, learnt from the licence and the notice.

The same bytes each time, with tokenizers 0.23 (which AIPerf brings along):

    python -m tests.rehearse.make_model [--into DIR]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bot.rehearse.engine.model import HERE

ROOT = Path(__file__).parents[2]
TEXTS = ("LICENSE", "NOTICE")
PIECES = 1800
SPECIAL = ["<pad>", "<s>", "</s>"]
CONFIG = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
          "clean_up_tokenization_spaces": False, "model_max_length": 1_048_576}
MODEL = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": PIECES, "n_positions": 1_048_576}


def main() -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE)
    into = parser.parse_args().into
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=PIECES, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    lines = [line for name in TEXTS for line in (ROOT / name).read_text(encoding="utf-8").splitlines(keepends=True)]
    tokenizer.train_from_iterator(lines, trainer)
    (into / "tokenizer.json").write_text(tokenizer.to_str(pretty=False) + "\n", encoding="utf-8")
    for name, value in (("tokenizer_config.json", CONFIG), ("config.json", MODEL)):
        (into / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
