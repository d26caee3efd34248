"""What one of bumpbot's own recipes asks of its engine: `serve.args` and `serve.env` (CONTRACTS 5)."""

from __future__ import annotations

from bot.model.uses import Used
from bot.model.uses import Written as At
from bot.recipe.own import OwnRecipe
from bot.recipe.shelf import Shelf
from bot.recipe.uses.found import Found
from bot.recipe.uses.lined import Leaf, Variant, variants


def read(recipe: OwnRecipe, shelf: Shelf, file: str, found: Found) -> None:
    """`tp: 4` is `--tp 4`, `trust-remote-code: true` the bare option; `false` passes nothing."""
    document = shelf.document(file)
    variant = variants(document)[0] if document and document.roots else Variant(file=file, name="", tree={})
    for name, value in recipe.serve.args.items():
        if value is not False:
            text = None if value is None or value is True else str(value)
            found.options.append(Used(kind="option", name=f"--{name}", value=text, at=_at(variant, file, "args", name)))
    for name, value in recipe.serve.env.items():
        found.environment.append(Used(kind="environment", name=name, value=None if value is None else str(value),
                                      at=_at(variant, file, "env", name)))


def _at(variant: Variant, file: str, part: str, name: str) -> At:
    leaf = variant.find("serve", part, name)
    return At(file=file, line=leaf.line if isinstance(leaf, Leaf) else None, key=f"serve.{part}.{name}")
