"""Facts for the checks that rest on forge, fleet and files: everything is well until a story changes one thing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from bot.model.finding import Checked, PlanFinding
from bot.model.image import Candidate, Platform, Reference, Resolved
from bot.model.preflight import Facts
from bot.model.recipe import EvalSpec, Point, Recipe
from bot.model.uses import Uses

NOW = datetime(2026, 9, 10, 6, 40, tzinfo=UTC)
KEY, LABEL = "kimik3-fp4-h200-vllm-agentic", "cluster:h200-dgxc"


def image(text: str = "vllm/vllm-openai:v0.29.0", registry: str = "docker.io") -> Resolved:
    name, _, tag = text.partition("@")[0].rpartition(":")
    reference = Reference(text=text, registry=registry, repository=name.replace("#", "/").removeprefix(f"{registry}/"), tag=tag)
    digest = "sha256:" + "c2914767" * 8
    return Resolved(reference=reference, kind="index", digest=digest,
                    platforms=(Platform(os="linux", architecture="amd64", digest=digest, size=1),))


def point(concurrency: int, *, runner: str = LABEL, task: str = "", recipe: str = KEY, **more: Any) -> Point:
    gate = EvalSpec(task=task, threshold=0.9) if task else None
    made = Point(id=f"{recipe}/{concurrency}/{task}", recipe=recipe, kind="eval" if task else "throughput", image="old",
                 hardware="h200", gpus=8, topology="TP8", workload="8k1k", concurrency=concurrency, runner=runner, fingerprint="f",
                 eval=gate)
    return replace(made, **more)


def recipe(*points: Point, key: str = KEY, **more: Any) -> Recipe:
    made = points or (point(1), point(4), point(16), point(16, task="gsm8k"))
    told = {"prefix": "kimik3", "model": "moonshotai/Kimi-K3", "hardware": "h200", "framework": "vllm", "precision": "fp4"}
    return Recipe(key=key, file="configs/nvidia-master.yaml", image="vllm/vllm-openai:kimi-k3", sites=(), points=made, **told | more)


def facts(*family: Recipe, text: str = "vllm/vllm-openai:v0.29.0", registry: str = "docker.io", **more: Any) -> Facts:
    new = image(text, registry)
    return Facts(now=NOW, family=family or (recipe(),), uses=Uses(engine="vllm"),
                 candidate=Candidate(old=image("vllm/vllm-openai:kimi-k3"), new=new, text=text), **more)


def only(checked: Checked) -> PlanFinding:
    """The one finding that there is."""
    (found,) = checked.findings
    return found


def clean(checked: Checked) -> bool:
    """Whether all was looked at and nothing was found."""
    return checked.findings == () and checked.unknown is None and checked.about is not None
