"""Archives as assets of draft releases of the ledger's repository, one release a bump. A draft has no tag and is seen only by
who may write there."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

import httpx
import msgspec
from msgspec import Struct

from bot.adapters.filing import checked, measured, same
from bot.adapters.github.faults import fold
from bot.adapters.github.reads import VERSION, Api
from bot.adapters.http import fetch, make_client
from bot.errors import BadInput, Conflict, Missing, Refusal
from bot.model.result import Filed
from bot.ports import Clock

LARGEST = 1 << 30
UPLOAD_S = 600.0
ABOUT = "Files kept of this bump: those of the baseline's run, and its evidence.\n\n本次升级保存的文件：基线运行的产物与证据归档。"


class _Asset(Struct, frozen=True):
    id: int
    name: str
    size: int
    state: str = "uploaded"
    digest: str | None = None


class _Release(Struct, frozen=True):
    id: int
    tag_name: str
    draft: bool
    upload_url: str


class GitHubArchive:
    """Satisfies the Archive port over a repository (`owner/name`) with a token that may write its contents."""

    def __init__(self, base_url: str, repository: str, token: str, clock: Clock, *,
                 transport: httpx.BaseTransport | None = None) -> None:
        self._api = Api(base_url, repository, token, clock, transport=transport)
        self._base, self._clock = base_url.rstrip("/"), clock
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": VERSION, "Authorization": f"Bearer {token}"}
        self._client = make_client(transport=transport, headers=headers)
        self._bytes = Api(base_url, repository, token, clock, transport=transport, accept="application/octet-stream")

    def put(self, bump: str, filed: Filed, data: BinaryIO) -> None:
        checked(bump, filed.name)
        whole = data.read(LARGEST + 1)
        same(filed, measured(filed.name, io.BytesIO(whole)))
        self._kept(bump, filed, whole)

    def make(self, bump: str, name: str, fill: Callable[[BinaryIO], None]) -> Filed:
        checked(bump, name)
        with tempfile.TemporaryFile() as stream:
            try:
                fill(stream)
            except OSError as error:
                raise Refusal(f"{name} cannot be made: {error.strerror or error}", "make room on this machine's disk") from None
            stream.seek(0)
            filed = measured(name, stream)
            if filed.size > LARGEST:
                raise BadInput(f"{name} has {filed.size} bytes", f"at most {LARGEST} are kept in one file")
            stream.seek(0)
            self._kept(bump, filed, stream)
        return filed

    def _kept(self, bump: str, filed: Filed, content: bytes | BinaryIO) -> None:
        release = self._release(bump) or self._made(bump)
        known = self._assets(release).get(filed.name)
        if known is None:
            self._send("POST", f"{self._upload(release)}?name={quote(filed.name)}", content, "application/octet-stream")
        elif self._filed(known) != filed:
            raise Conflict(f"{filed.name} is kept for {bump} with other bytes", "look at who wrote it")

    def held(self, bump: str) -> Mapping[str, Filed]:
        checked(bump)
        release = self._release(bump)
        return {name: self._filed(asset) for name, asset in self._assets(release).items()} if release else {}

    def read(self, bump: str, name: str, into: BinaryIO, limit: int) -> int:
        checked(bump, name)
        release = self._release(bump)
        asset = self._assets(release).get(name) if release else None
        if asset is None:
            raise Missing(f"{name} is not kept for {bump}", "see what is: its bump's baseline names its files")
        return self._bytes.download("releases", "assets", asset.id, into=into, limit=limit)

    def _release(self, bump: str) -> _Release | None:
        """The bump's draft, the oldest where two wakes made one each: drafts have no tag that GitHub would keep single."""
        tag = _tag(bump)
        found = [one for data in self._api.listed("releases") if (one := _as(_Release, data)).draft and one.tag_name == tag]
        return min(found, key=lambda one: one.id, default=None)

    def _made(self, bump: str) -> _Release:
        body = {"tag_name": _tag(bump), "name": f"Archive of {bump}", "draft": True, "body": ABOUT}
        path = f"{self._base}{self._api.path('releases')}"
        return _as(_Release, self._send("POST", path, msgspec.json.encode(body), "application/json"))

    def _assets(self, release: _Release) -> dict[str, _Asset]:
        """Assets by name; one whose upload broke off is none, and stands in the way of nothing but its name."""
        found = (_as(_Asset, data) for data in self._api.listed("releases", release.id, "assets"))
        return {asset.name: asset for asset in found if asset.state == "uploaded"}

    def _filed(self, asset: _Asset) -> Filed:
        """Name, size and hash; an older server tells no hash, so the bytes are read."""
        kind, _, digest = (asset.digest or "").partition(":")
        if kind == "sha256":
            return Filed(name=asset.name, size=asset.size, sha256=digest)
        data = io.BytesIO()
        self._bytes.download("releases", "assets", asset.id, into=data, limit=LARGEST)
        return measured(asset.name, io.BytesIO(data.getvalue()))

    def _upload(self, release: _Release) -> str:
        """Where its files are sent: the API's own host, or the one of its uploads, and no other, for the token goes with them."""
        address = release.upload_url.partition("{")[0]
        there, here = urlsplit(address), urlsplit(self._base)
        beside = {here.netloc, here.netloc.replace("api.", "uploads.", 1)}
        if there.scheme != here.scheme or there.netloc not in beside:
            raise Refusal(f"files would go to another host: {there.netloc}", "the forge's answer is not followed")
        return address

    def _send(self, verb: str, url: str, content: bytes | BinaryIO, kind: str) -> Any:
        """One mutation, once; a later wake looks before it tries again."""
        answer = fetch(self._client, verb, url, content=content, headers={"Content-Type": kind}, total_s=UPLOAD_S)
        data = None
        try:
            data = answer.json() if answer.body else None
        except BadInput:
            if 200 <= answer.status < 300:
                raise
        if not 200 <= answer.status < 300:
            raise fold(f"{verb} {urlsplit(url).path}", answer.status, answer.headers, data, now=self._clock.now().timestamp())
        return data


def _tag(bump: str) -> str:
    return f"bumpbot-archive-{bump}"


def _as(kind: Any, data: Any) -> Any:
    try:
        return msgspec.convert(data, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"the forge's answer has another shape: {error}", "look at its status page") from None
