"""A container registry on loopback, and the tag pages that Docker Hub keeps beside one.

It speaks the distribution protocol as registries do: a Bearer challenge whose realm is on the same host, HEAD and GET
of manifests by tag or digest, config blobs, 304 to whoever has the content already, `tags/list` in pages linked by
`Link`. An image is described, not stored (`registry.yaml`); its config and manifests are built from that and are served
under the digest of their bytes.

One exception is stated and not hidden. A scenario may declare the digest that a real tag had; no bytes that we could
make up have that digest. Such a manifest is served under the declared digest, which `declared` lists, and whoever
verifies content must be told by the scenario (`registry: {declared_digests: true}`) not to verify exactly these.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from bot.rehearse.admission import Admission, refusal
from bot.rehearse.hub import hub_page, page_size, platform_of
from bot.rehearse.loopback import Loopback, Reply, Request, json_reply

Digest = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}$")]
Moment = Annotated[datetime, Meta(tz=True)]
PlatformName = Annotated[str, Meta(pattern=r"^[a-z0-9]+/[a-z0-9]+(/[a-z0-9]+)?$")]
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
_LAYER_BYTES = gzip.compress(b"\0" * 1024, mtime=0)
_MANIFEST_PATH = re.compile(r"^/v2/(?P<name>.+)/manifests/(?P<reference>[^/]+)$")
_BLOB_PATH = re.compile(r"^/v2/(?P<name>.+)/blobs/(?P<digest>sha256:[0-9a-f]{64})$")
_TAGS_PATH = re.compile(r"^/v2/(?P<name>.+)/tags/list$")
_HUB_PATH = re.compile(r"^/v2/repositories/(?P<name>.+?)/tags(?:/(?P<tag>[^/]+))?/?$")


class ImageData(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tag holds. `pushed` is when the tag was last moved; `digest` None: that of the bytes served."""

    created: Moment
    pushed: Moment
    platforms: Annotated[tuple[PlatformName, ...], Meta(min_length=1)]
    kind: Literal["index", "manifest"] = "index"
    digest: Digest | None = None
    labels: dict[str, str] = {}
    env: dict[str, str] = {}


Catalogue = dict[str, dict[str, dict[str, ImageData]]]
"""registry.yaml: registry -> repository -> tag -> image."""


class Stored(Struct, frozen=True, kw_only=True):
    media: str
    body: bytes
    digest: str


class Content(Struct, frozen=True, kw_only=True):
    """Everything one image needs to be pulled: the object its tag names, and the objects that one names."""

    top: Stored
    manifests: tuple[Stored, ...]
    blobs: tuple[Stored, ...]


def build(image: ImageData) -> Content:
    """Config, manifest and (for an index) index of a described image; the same description gives the same bytes."""
    manifests, blobs = [], [_stored(LAYER, _LAYER_BYTES)]
    for platform in image.platforms:
        config = _stored(CONFIG, _json(_config(image, platform)))
        blobs.append(config)
        manifests.append(
            _stored(
                MANIFEST,
                _json(
                    {
                        "schemaVersion": 2,
                        "mediaType": MANIFEST,
                        "config": _descriptor(config),
                        "layers": [_descriptor(blobs[0])],
                    }
                ),
            )
        )
    if image.kind == "manifest":
        top = manifests.pop(0)
    else:
        listed = [
            {**_descriptor(made), "platform": platform_of(name)}
            for made, name in zip(manifests, image.platforms, strict=True)
        ]
        top = _stored(INDEX, _json({"schemaVersion": 2, "mediaType": INDEX, "manifests": listed}))
    if image.digest:
        top = Stored(media=top.media, body=top.body, digest=image.digest)
    return Content(top=top, manifests=tuple(manifests), blobs=tuple(blobs))


class LoopbackRegistry:
    """One registry. `counts` tells how often each kind of request was answered; `declared` holds the digests that are
    shown as the scenario declares them and cannot be verified against content; `admission` says who may read."""

    def __init__(self, repositories: Mapping[str, Mapping[str, ImageData]], admission: Admission | None = None) -> None:
        self.admission = admission or Admission()
        self.counts: Counter[str] = Counter()
        self.declared: set[str] = set()
        self._lock = threading.Lock()
        self._tags: dict[str, dict[str, tuple[ImageData, Content]]] = {}
        self._objects: dict[tuple[str, str], Stored] = {}
        self._server = Loopback(self._answer)
        for name, tags in repositories.items():
            self._tags[name] = {}
            for tag, image in tags.items():
                self.push(name, tag, image)

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> str:
        return self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def push(self, repository: str, tag: str, image: ImageData) -> str:
        """Makes or moves a tag and tells its digest. What it named before stays reachable by digest, as on a real
        one."""
        content = build(image)
        with self._lock:
            self._tags.setdefault(repository, {})[tag] = (image, content)
            for stored in (content.top, *content.manifests, *content.blobs):
                self._objects[repository, stored.digest] = stored
            if image.digest:
                self.declared.add(image.digest)
        return content.top.digest

    def _answer(self, request: Request) -> Reply:
        with self._lock:
            return self._route(request)

    def _route(self, request: Request) -> Reply:
        if request.path == "/token":
            self.counts["token"] += 1
            return self.admission.token(request)
        hub = _HUB_PATH.match(request.path)
        if hub and hub["name"] in self._tags:
            self.counts["hub"] += 1
            return hub_page(self.url, hub["name"], self._tags[hub["name"]], hub["tag"], request)
        if request.path.rstrip("/") == "/v2":
            return self._ping(request)
        for kind, pattern, answer in (
            ("manifest", _MANIFEST_PATH, self._manifest),
            ("blob", _BLOB_PATH, self._blob),
            ("tags", _TAGS_PATH, self._tag_list),
        ):
            if found := pattern.match(request.path):
                if refused := self._refused(request, found["name"]):
                    return refused
                self.counts[f"{kind}-{request.method.lower()}" if kind == "manifest" else kind] += 1
                if found["name"] not in self._tags:
                    return _error(404, "NAME_UNKNOWN", "repository name not known to registry")
                return answer(found, request)
        return _error(404, "UNSUPPORTED", "no such route")

    def _refused(self, request: Request, repository: str | None) -> Reply | None:
        scope = f"repository:{repository}:pull" if repository else ""
        if self.admission.admits(request, scope):
            return None
        self.counts["challenge"] += 1
        challenge = f'Bearer realm="{self.url}/token",service="loopback"' + (f',scope="{scope}"' if scope else "")
        return refusal("authentication required", {"WWW-Authenticate": challenge})

    def _ping(self, request: Request) -> Reply:
        return self._refused(request, None) or json_reply({})

    def _manifest(self, found: re.Match[str], request: Request) -> Reply:
        name, reference = found["name"], found["reference"]
        if ":" in reference:
            stored = self._objects.get((name, reference))
        else:
            stored = self._tags[name][reference][1].top if reference in self._tags[name] else None
        if stored is None or stored.media not in (INDEX, MANIFEST):
            return _error(404, "MANIFEST_UNKNOWN", "manifest unknown")
        return _content(stored, stored.media, request)

    def _blob(self, found: re.Match[str], request: Request) -> Reply:
        stored = self._objects.get((found["name"], found["digest"]))
        if stored is None:
            return _error(404, "BLOB_UNKNOWN", "blob unknown to registry")
        return _content(stored, "application/octet-stream", request)

    def _tag_list(self, found: re.Match[str], request: Request) -> Reply:
        """Names in order, `n` a page, from after `last`: the order and the link are those of the distribution spec."""
        name, size = found["name"], page_size(request.query.get("n"), 100)
        names = sorted(tag for tag in self._tags[name] if tag > request.query.get("last", ""))
        page, rest = names[:size], names[size:]
        link = {"Link": f'</v2/{name}/tags/list?n={size}&last={page[-1]}>; rel="next"'} if rest and page else {}
        return json_reply({"name": name, "tags": page}, headers=link)


def _config(image: ImageData, platform: str) -> dict[str, Any]:
    return {
        **platform_of(platform),
        "created": image.created.isoformat().replace("+00:00", "Z"),
        "config": {"Env": [f"{key}={value}" for key, value in image.env.items()], "Labels": dict(image.labels)},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(b"\0" * 1024).hexdigest()]},
    }


def _stored(media: str, body: bytes) -> Stored:
    return Stored(media=media, body=body, digest="sha256:" + hashlib.sha256(body).hexdigest())


def _descriptor(stored: Stored) -> dict[str, Any]:
    return {"mediaType": stored.media, "digest": stored.digest, "size": len(stored.body)}


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _content(stored: Stored, media: str, request: Request) -> Reply:
    """Content with its digest for a validator, and 304 alone for who names it: docker-registry takes it bare or quoted,
    and repeats no header."""
    if request.headers.get("if-none-match") in (stored.digest, f'"{stored.digest}"'):
        return Reply(status=304)
    told = {"Content-Type": media, "Docker-Content-Digest": stored.digest, "ETag": f'"{stored.digest}"'}
    return Reply(body=stored.body, headers=told)


def _error(status: int, code: str, message: str) -> Reply:
    return json_reply({"errors": [{"code": code, "message": message, "detail": None}]}, status=status)
