"""Puts adapters behind ports. Every choice of a real part is made here, and nowhere is anything decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from bot import strict
from bot.adapters.assets import PackagedAssets
from bot.adapters.commits import GitHubCommits
from bot.adapters.kept import FolderBaselines
from bot.adapters.published import ApiSource, PublishedBaselines
from bot.adapters.registry import OciRegistry
from bot.cli import environment
from bot.diagnose import known as known_repairs
from bot.diagnose import signatures
from bot.errors import BadInput
from bot.images import schemes as tag_schemes
from bot.images.schemes import Scheme
from bot.layout import Layout, resolve
from bot.model.result import Baseline
from bot.model.rules import Limits
from bot.model.text import Text
from bot.ports import Clock, Published, Tree
from bot.render import Renderer
from bot.results import load_metrics
from bot.wake.context import Knowledge

LAYOUT_FILE = ".github/bumpbot.yml"
PRESETS = ("own", "inferencex")


class _Glossary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    terms: dict[str, Text]


def knowledge(assets: PackagedAssets) -> Knowledge:
    """All packaged knowledge that a wake needs."""
    known = signatures.load(assets.text("knowledge/signatures.yaml"), file="knowledge/signatures.yaml")
    ids = {signature.id for signature in known}
    return Knowledge(
        schemes=schemes(assets),
        signatures=known,
        repairs=known_repairs.load(assets.text("knowledge/repairs.yaml"), file="knowledge/repairs.yaml", signatures=ids),
        metrics=load_metrics(assets.text("knowledge/metrics.yaml"), file="knowledge/metrics.yaml"),
    )


def registry(clock: Clock) -> OciRegistry:
    """Registries as the person at this machine may ask them, with the answers that were kept."""
    return OciRegistry(clock, credentials=environment.docker_login(), cache=environment.cache())


def commits(clock: Clock) -> GitHubCommits:
    """The history of engines, as a stranger may ask for it, or with GITHUB_TOKEN."""
    return GitHubCommits(clock, base_url=environment.api(), token=environment.word("GITHUB_TOKEN"))


def schemes(assets: PackagedAssets) -> tuple[Scheme, ...]:
    """How tags are read and ordered."""
    return tag_schemes.read(assets.text("knowledge/tags.yaml"), file="knowledge/tags.yaml")


class NoBaselines:
    """Satisfies the Published port where the layout names no source: nothing is published for anybody."""

    def baseline(self, recipe: str, *, model: str, image: str, fingerprint: str) -> Baseline | None:
        return None


def published(clock: Clock, layout: Layout, known: Knowledge, files: Callable[[], Tree]) -> Published:
    """The published baselines that the layout names: a folder of the repository, whose default branch `files` gives, or
    the application's API."""
    url, folder = layout.baselines.url, layout.baselines.folder
    if folder:
        return FolderBaselines(files, folder, known.metrics)
    return PublishedBaselines(ApiSource(clock, base_url=url), known.metrics) if url else NoBaselines()


def renderer(assets: PackagedAssets, layout: Layout, known: Knowledge) -> Renderer:
    """The renderer of a layout's style, with its trigger phrases."""
    templates: dict[str, str] = {}
    for name in assets.names("templates"):
        if name.endswith(".md"):
            templates[name] = assets.text(f"templates/{name}")
        else:
            templates |= {f"{name}/{file}": text for file, text in assets.templates(name)}
    glossary = strict.load(_Glossary, assets.text("knowledge/glossary.yaml"), file="knowledge/glossary.yaml").terms
    return Renderer(templates, glossary, known.metrics, style=layout.style, forbidden=layout.forbidden,
                    prefix=layout.title)


def presets(assets: PackagedAssets) -> Mapping[str, str]:
    """The texts of the presets by name."""
    return {name: assets.text(f"layout/presets/{name}.yml") for name in PRESETS}


def layout_from(assets: PackagedAssets, data: bytes | None, *, file: str) -> Layout:
    """The layout that a repository's default branch states, else the preset `own`."""
    known = presets(assets)
    if data is None:
        return resolve(known["own"], known, file="layout/presets/own.yml")
    try:
        return resolve(data.decode(), known, file=file)
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", f"look at byte {error.start}", file=file) from None


def limits(layout: Layout, **changed: Any) -> Limits:
    """The layout's limits as facts of a bump; `changed` are those a rehearsal's policy sets."""
    own = layout.limits
    base = Limits(
        repairs=own.repairs, infrastructure_retries=own.infrastructure_retries, repeats=own.repeats, gpu_hours=own.gpu_hours,
        gpu_hours_per_day=own.gpu_hours_per_day,
        approve_above=own.approve_above, update_minutes=own.update_minutes,
    )
    return msgspec.structs.replace(base, **{name: value for name, value in changed.items() if value is not None})
