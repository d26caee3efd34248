"""Puts adapters behind ports. Every choice of a real part is made here, and nowhere is anything decided."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from bot import strict
from bot.adapters.assets import PackagedAssets
from bot.adapters.generator import GuestGenerator
from bot.adapters.kept import FolderBaselines
from bot.adapters.published import ApiSource, PublishedBaselines, Source
from bot.adapters.several import SeveralBaselines
from bot.cli.packaged import schemes_of
from bot.diagnose import known as known_repairs
from bot.diagnose import reported, signatures
from bot.layout import Layout
from bot.ledger import Ledger, LedgerBaselines
from bot.model.text import Text
from bot.ports import Clock, Generator, Published, Tree
from bot.render import Renderer
from bot.results import load_metrics
from bot.upstream import engines
from bot.wake.context import Knowledge


class _Glossary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    terms: dict[str, Text]


def knowledge(assets: PackagedAssets) -> Knowledge:
    """All packaged knowledge that a wake needs."""
    names = ("tags", "signatures", "repairs", "metrics", "reported", "engines")
    return _read(*(assets.text(f"knowledge/{name}.yaml") for name in names))


@lru_cache(maxsize=2)
def _read(tags: str, signatures_: str, repairs: str, metrics: str, reported_: str, engines_: str) -> Knowledge:
    """Kept for the very same texts: reading them takes a tenth of a second, and a rehearsal asks for them twice."""
    known = signatures.load(signatures_, file="knowledge/signatures.yaml")
    ids = {signature.id for signature in known}
    return Knowledge(
        schemes=schemes_of(tags),
        signatures=known,
        repairs=known_repairs.load(repairs, file="knowledge/repairs.yaml", signatures=ids),
        metrics=load_metrics(metrics, file="knowledge/metrics.yaml"),
        reported=reported.load(reported_, file="knowledge/reported.yaml"),
        engines=engines.load(engines_, file="knowledge/engines.yaml"),
    )


def published(clock: Clock, layout: Layout, known: Knowledge, files: Callable[[], Tree], ledger: Ledger | None = None,
              api: Source | None = None) -> Published:
    """The published baselines that the layout names, together: the ledger's own results, a folder of the repository, whose
    default branch `files` gives, and the application's API, for which `api` may stand in."""
    said = layout.baselines
    found: dict[str, Published] = {}
    if said.ledger and ledger is not None:
        found["ledger"] = LedgerBaselines(ledger)
    if said.folder:
        found[said.folder] = FolderBaselines(files, said.folder, known.metrics)
    if said.url or api is not None:
        found[said.url or "api"] = PublishedBaselines(api or ApiSource(clock, base_url=said.url), known.metrics)
    return SeveralBaselines(found)


def generator(layout: Layout) -> Callable[[Tree], Generator | None]:
    """Makes the guest's generator with the code of a tree, where the layout names one."""
    if layout.generator != "inferencex":
        return lambda code: None
    return lambda code: GuestGenerator(layout.generator_command, layout.generator_files, code)


def renderer(assets: PackagedAssets, layout: Layout, known: Knowledge) -> Renderer:
    """The renderer of a layout's style, with its trigger phrases."""
    templates: dict[str, str] = {}
    for name in assets.names("templates"):
        if name.endswith(".md"):
            templates[name] = assets.text(f"templates/{name}")
        else:
            templates |= {f"{name}/{file}": text for file, text in assets.templates(name)}
    glossary = _glossary(assets.text("knowledge/glossary.yaml"))
    return Renderer(templates, glossary, known.metrics, style=layout.style, forbidden=layout.forbidden,
                    prefix=layout.title)


@lru_cache(maxsize=2)
def _glossary(text: str) -> dict[str, Text]:
    return strict.load(_Glossary, text, file="knowledge/glossary.yaml").terms
