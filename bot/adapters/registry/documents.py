"""Reading manifests, indexes and configs: each shape checked, each number bounded, what is not said left unknown."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot.adapters.http import Answer
from bot.errors import BadInput
from bot.images.reference import valid_digest
from bot.model.image import Platform

INDEX_TYPES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
MANIFEST_TYPES = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
ACCEPT = ", ".join((*INDEX_TYPES, *MANIFEST_TYPES))
REVISION = "org.opencontainers.image.revision"
MAX_PLATFORMS, MAX_LABEL = 200, 8192
# Characters of all labels together: they are kept with a bump for ever.
MAX_LABELS = 65_536
_STANDARD = "org.opencontainers.image."
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_FACTS = {"cuda": ("CUDA_VERSION",), "rocm": ("ROCM_VERSION",),
          "arch_list": ("TORCH_CUDA_ARCH_LIST", "PYTORCH_ROCM_ARCH")}


def document(body: bytes, name: str) -> dict[str, Any]:
    """A manifest, index or config as a mapping; BadInput where it is none."""
    value = Answer(url=f"oci:{name}", status=200, headers={}, body=body).json()
    if not isinstance(value, dict):
        raise BadInput(f"{name}: not a manifest or config", "the registry's content is broken")
    return value


def is_index(manifest: Mapping[str, Any], media: str, name: str) -> bool:
    """A document that is both has made two readers pull two images (CVE-2021-41190)."""
    if "manifests" in manifest and ("config" in manifest or "layers" in manifest):
        raise BadInput(f"{name}: a manifest that is index and image at once", "it is not believed")
    kind = manifest.get("mediaType") or media
    if kind in INDEX_TYPES or kind in MANIFEST_TYPES:
        return kind in INDEX_TYPES
    raise BadInput(f"{name}: the manifest type {str(kind)[:100]!r}", "only Docker v2 and OCI images are read")


def platforms_of(index: Mapping[str, Any], name: str) -> tuple[Platform, ...]:
    """The platforms that an index lists, attestations left out; as it lists them, whether or not they are served."""
    listed = index.get("manifests")
    if not isinstance(listed, list) or len(listed) > MAX_PLATFORMS:
        raise BadInput(f"{name}: not a list of at most {MAX_PLATFORMS} platforms", "the registry's content is broken")
    found = []
    for item in map(mapping, listed):
        platform, digest, size = mapping(item.get("platform")), item.get("digest"), item.get("size")
        system, machine = word(platform, "os"), word(platform, "architecture")
        if "unknown" in (system, machine) or mapping(item.get("annotations")).get("vnd.docker.reference.type"):
            continue  # attestations stand beside the images and are none
        if not isinstance(digest, str) or not valid_digest(digest) or type(size) is not int or size < 0:
            raise BadInput(f"{name}: a platform without digest or size", "the registry's content is broken")
        found.append(Platform(os=system, architecture=machine, digest=digest, size=size))
    return tuple(found)


def labels_of(manifest: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, str]:
    """Annotations of the manifest, overruled by the labels of the image itself; overlong ones are left out. Where
    there are more than anybody reads, those that mean the same on every image are kept first."""
    both = {**mapping(manifest.get("annotations")), **mapping(mapping(config.get("config")).get("Labels"))}
    told = {key: value for key, value in both.items() if isinstance(value, str) and len(value) <= MAX_LABEL}
    left, kept = MAX_LABELS, set[str]()
    for key in sorted(told, key=lambda key: (not key.startswith(_STANDARD), key)):
        if (size := len(key) + len(told[key])) <= left:
            left -= size
            kept.add(key)
    return {key: value for key, value in told.items() if key in kept}


def commit_of(labels: Mapping[str, str]) -> str | None:
    """The commit that the labels name, if it has the form of one."""
    commit = labels.get(REVISION, "").lower()
    return commit if _COMMIT.fullmatch(commit) else None


def proven(body: bytes, digest: str, name: str, *, size: int | None = None) -> None:
    """Refuses bytes that are not those their digest, or the size stated beside it, names."""
    algorithm = digest.partition(":")[0]
    if f"{algorithm}:{hashlib.new(algorithm, body).hexdigest()}" != digest:
        raise BadInput(f"{name}: the content served for {digest} has another digest", "the registry is not believed")
    if size is not None and size != len(body):
        raise BadInput(f"{name}: {digest} has {len(body)} bytes, not the {size} stated for it", "the registry is not believed")


def env_facts(config: Mapping[str, Any]) -> dict[str, str | None]:
    """What the environment of an image says: CUDA, ROCm, the architectures compiled for; None where it does not."""
    listed = mapping(config.get("config")).get("Env")
    pairs = [entry.partition("=") for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else []
    env = {name: value for name, _, value in pairs if value and len(value) <= MAX_LABEL}
    return {fact: next((env[name] for name in names if name in env), None) for fact, names in _FACTS.items()}


def moment(value: Any) -> datetime | None:
    """A time as registries write it, in UTC; None for what is none."""
    try:
        made = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if made is None or not 1970 <= made.year < 9999:
        return None  # Go's zero time is in year 1; the end of year 9999 is after the end of all times in other zones
    return made.replace(tzinfo=UTC) if made.tzinfo is None else made.astimezone(UTC)


def word(values: Mapping[str, Any], key: str) -> str:
    """A name of an operating system or architecture; "unknown" for anything else."""
    value = values.get(key)
    return value if isinstance(value, str) and re.fullmatch(r"[a-z0-9_.-]{1,40}", value) else "unknown"


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def sha256(body: bytes) -> str:
    """The digest of some bytes."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
