"""Draft releases and their assets. A draft is seen by those who may push alone, has no tag, and may share its name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bot.rehearse.github.declare import Account
from bot.rehearse.github.objects import fill, moment, node
from bot.rehearse.github.verbs import Refused
from bot.rehearse.github.wire import LEVELS, REPO, Page, Request, Response, route

if TYPE_CHECKING:
    from bot.rehearse.github.hub import LoopbackGitHub

RELEASES = REPO + "/releases"


@dataclass(kw_only=True)
class Asset:
    id: int
    name: str
    kind: str
    data: bytes
    author: Account
    created: datetime

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(kw_only=True)
class Release:
    id: int
    tag: str
    name: str
    body: str
    draft: bool
    author: Account
    created: datetime
    assets: dict[int, Asset] = field(default_factory=dict)


@route("GET", RELEASES)
def releases(hub: LoopbackGitHub, request: Request) -> Page:
    writes = LEVELS.index(request.who.permission) >= LEVELS.index("write")
    found = [one for one in hub.store.releases.values() if writes or not one.draft]
    return Page(sorted(found, key=lambda one: -one.id), lambda one: _release(hub, one))


@route("POST", RELEASES, needs="write")
def make_release(hub: LoopbackGitHub, request: Request) -> Response:
    number = hub.store.next("release")
    made = Release(id=number, tag=request.text("tag_name"), name=request.text("name", required=False),
                   body=request.text("body", required=False), draft=bool(request.fields.get("draft")), author=request.who,
                   created=request.now)
    hub.store.releases[number] = made
    return Response(status=201, value=_release(hub, made))


@route("GET", RELEASES + "/assets/{id}")
def asset(hub: LoopbackGitHub, request: Request) -> Response | dict[str, Any]:
    """Its facts, or, for whoever asks for bytes, an address elsewhere that needs no token."""
    release, found = _asset_of(hub, request)
    if "octet-stream" in request.headers.get("accept", ""):
        return Response(status=302, headers={"Location": f"{hub.url}/_storage/assets/{found.id}-{found.digest}"})
    return _asset(hub, found)


@route("GET", "/_storage/assets/{id}-{digest}", anonymous=True)
def stored_asset(hub: LoopbackGitHub, request: Request) -> Response:
    _, found = _asset_of(hub, request)
    if request.args["digest"] != found.digest:
        raise Refused("Not Found", status=404)
    return Response(headers={"Content-Type": found.kind}, data=found.data)


@route("GET", RELEASES + "/{release}/assets")
def assets(hub: LoopbackGitHub, request: Request) -> Page:
    return Page(list(_release_of(hub, request).assets.values()), lambda one: _asset(hub, one))


@route("POST", RELEASES + "/{release}/assets", needs="write")
def upload(hub: LoopbackGitHub, request: Request) -> Response:
    """A name stands once in a release. GitHub serves this from a host of its own; here it is the same."""
    release, name = _release_of(hub, request), request.query.get("name", "")
    if not name or not request.body:
        raise Refused("Validation Failed", field="name" if not name else "size", code="missing_field", resource="ReleaseAsset")
    if any(held.name == name for held in release.assets.values()):
        raise Refused("Validation Failed", field="name", code="already_exists", resource="ReleaseAsset")
    made = Asset(id=hub.store.next("asset"), name=name, kind=request.headers.get("content-type", ""), data=request.body,
                 author=request.who, created=request.now)
    release.assets[made.id] = made
    return Response(status=201, value=_asset(hub, made))


def _release_of(hub: LoopbackGitHub, request: Request) -> Release:
    if (found := hub.store.releases.get(request.number("release"))) is None:
        raise Refused("Not Found", status=404)
    return found


def _asset_of(hub: LoopbackGitHub, request: Request) -> tuple[Release, Asset]:
    number = request.number("id")
    for release in hub.store.releases.values():
        if number in release.assets:
            return release, release.assets[number]
    raise Refused("Not Found", status=404)


def _release(hub: LoopbackGitHub, one: Release) -> dict[str, Any]:
    url = f"{hub.render.here}/releases/{one.id}"
    return fill("release", url, {
        "id": one.id, "node_id": node("Release", one.id), "tag_name": one.tag, "name": one.name, "body": one.body,
        "draft": one.draft, "target_commitish": hub.render.branch, "author": hub.render.user(one.author),
        "created_at": moment(one.created), "published_at": None, "upload_url": f"{url}/assets{{?name,label}}",
        "html_url": f"{hub.url}/{hub.repository}/releases/tag/untagged-{one.id}",
        "assets": [_asset(hub, held) for held in one.assets.values()]})


def _asset(hub: LoopbackGitHub, one: Asset) -> dict[str, Any]:
    return fill("release-asset", f"{hub.render.here}/releases/assets/{one.id}", {
        "id": one.id, "node_id": node("Asset", one.id), "name": one.name, "content_type": one.kind, "size": len(one.data),
        "digest": f"sha256:{one.digest}", "uploader": hub.render.user(one.author), "created_at": moment(one.created),
        "updated_at": moment(one.created),
        "browser_download_url": f"{hub.url}/{hub.repository}/releases/download/{quote(one.name)}"})
