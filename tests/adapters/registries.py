"""Debian's docker-registry on loopback: started, filled over HTTP or by skopeo, and asked what it was asked.

It takes a port of the system's choice and says which on its standard error, so that no port is guessed; its access log
is a file. Images are those that `bot.rehearse.registry.build` makes of a description, so that the same description
has the same digests in every kind of registry, and what we build is read by programs that we did not write.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from bot.rehearse.registry import Content, ImageData, Stored, build

USER, PASSWORD = "bot", "secret"
# `htpasswd -Bbn bot secret`: kept, so that a machine without that program still tests a login.
HTPASSWD = "bot:$2y$05$HJ/a0mHn.YnDCQbRZ9okku7uhWM/9SO6G3/n3c2p.eHSFyngwpnUO\n"
SETTINGS = """version: 0.1
log: {{accesslog: {{disabled: false}}, level: info}}
storage:
  filesystem: {{rootdirectory: {folder}/stored}}
  delete: {{enabled: true}}
  cache: {{blobdescriptor: inmemory}}
http: {{addr: '127.0.0.1:0'}}
{auth}
"""
START_S = 20.0
_LISTENING = re.compile(r'listening on (127\.0\.0\.1:\d+)')
_LOGGED = re.compile(r'"([A-Z]+) (\S+) HTTP/1\.[01]" (\d{3}) ')


class Asked(Struct, frozen=True, kw_only=True):
    """One request that a registry answered; `path` with its query."""

    method: str
    path: str
    status: int


def nobody(repository: str) -> Mapping[str, str]:
    """The headers of a push where nobody has to log in."""
    return {}


class DockerRegistry:
    """One docker-registry with its store below `folder`, between `with` and the end of it.

    `auth` is its settings' `auth` section; `login` gives the headers of a push; `opens` what a reader needs.
    """

    def __init__(self, folder: Path, *, auth: str = "", login: Callable[[str], Mapping[str, str]] = nobody,
                 opens: Literal["anyone", "login", "token"] = "anyone") -> None:
        self.folder, self.opens, self.netloc = folder, opens, ""
        self._auth, self._login = auth, login
        self._held: set[tuple[str, str]] = set()
        self._line: http.client.HTTPConnection | None = None

    def __enter__(self) -> DockerRegistry:
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = self.folder / "config.yml"
        settings.write_text(SETTINGS.format(folder=self.folder, auth=self._auth))
        with open(self.folder / "access.log", "wb") as log:
            self._process = subprocess.Popen(
                ["docker-registry", "serve", str(settings)], stdout=log, stderr=subprocess.PIPE, text=True,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        told, said = threading.Event(), []
        threading.Thread(target=self._listen, args=(told, said), daemon=True).start()
        told.wait(START_S)
        if not self.netloc:
            self._process.kill()
            raise RuntimeError(f"docker-registry did not start: {''.join(said)[-500:]}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()
        self._process.terminate()
        self._process.wait(START_S)

    @property
    def asked(self) -> list[Asked]:
        """Every request so far, from the access log, which is written before an answer ends."""
        lines = (self.folder / "access.log").read_text().splitlines()
        return [Asked(method=found[1], path=found[2], status=int(found[3])) for found in map(_LOGGED.search, lines) if found]

    def push(self, repository: str, tag: str, image: ImageData) -> str:
        """Makes or moves a tag over HTTP, in a few milliseconds, and tells its digest."""
        return self.push_content(repository, tag, build(image))

    def push_content(self, repository: str, tag: str, content: Content) -> str:
        """The same for an image that was built before."""
        for blob in content.blobs:
            self._blob(repository, blob)
        for manifest in content.manifests:
            self.put(repository, manifest.digest, manifest)
        self.put(repository, tag, content.top)
        return content.top.digest

    def lend(self, repository: str, other: str) -> None:
        """Makes all but the tags of one repository known in another, by its links on disk: fifty pushes in one step."""
        stored = self.folder / "stored" / "docker" / "registry" / "v2" / "repositories"
        for part in ("_layers", "_manifests/revisions"):
            shutil.copytree(stored / repository / part, stored / other / part)

    def put(self, repository: str, name: str, manifest: Stored) -> None:
        """One manifest under a tag or its digest; what it names must be there."""
        self._send("PUT", f"/v2/{repository}/manifests/{name}", repository, manifest.body, manifest.media)

    def _blob(self, repository: str, blob: Stored) -> None:
        if (repository, blob.digest) in self._held:
            return
        place = urlsplit(self._send("POST", f"/v2/{repository}/blobs/uploads/", repository)["location"])
        self._send("PUT", f"{place.path}?{place.query}&digest={blob.digest}", repository, blob.body,
                   "application/octet-stream")
        self._held.add((repository, blob.digest))

    def _send(self, method: str, path: str, repository: str, body: bytes = b"", media: str = "") -> dict[str, str]:
        if self._line is None:
            self._line = http.client.HTTPConnection(self.netloc, timeout=START_S)
        self._line.request(method, path, body, {**self._login(repository), **({"Content-Type": media} if media else {})})
        answer = self._line.getresponse()
        said = answer.read()
        assert answer.status in (201, 202), f"{method} {path}: {answer.status} {said[:300]!r}"
        return {name.lower(): value for name, value in answer.getheaders()}

    def _listen(self, told: threading.Event, said: list[str]) -> None:
        """Reads what the registry says to its end (a full pipe would stop it) and hears which port it took."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if not told.is_set() and (found := _LISTENING.search(line)):
                self.netloc = found[1]
                told.set()
            said.append(line)
            del said[:-20]
        told.set()


def write_layout(folder: Path, images: Mapping[str, ImageData]) -> dict[str, str]:
    """An OCI layout on disk with one entry a tag; the tags' digests."""
    blobs, listed, digests = folder / "blobs" / "sha256", [], {}
    blobs.mkdir(parents=True)
    for tag, image in images.items():
        content = build(image)
        for stored in (content.top, *content.manifests, *content.blobs):
            (blobs / stored.digest.removeprefix("sha256:")).write_bytes(stored.body)
        digests[tag] = content.top.digest
        listed.append(_entry(content, tag))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": listed}))
    return digests


def skopeo_copy(folder: Path, tag: str, target: str, *, login: bool = False) -> None:
    """Copies one entry of a layout, every platform of it, to host:port/repository:tag."""
    creds = ["--dest-creds", f"{USER}:{PASSWORD}"] if login else []
    subprocess.run(["skopeo", "--insecure-policy", "copy", "--all", "--quiet", "--dest-tls-verify=false", *creds,
                    f"oci:{folder}:{tag}", f"docker://{target}"], check=True, capture_output=True, timeout=60,
                   env={"PATH": os.environ["PATH"], "HOME": str(folder)})


def _entry(content: Content, tag: str) -> dict[str, Any]:
    return {"mediaType": content.top.media, "digest": content.top.digest, "size": len(content.top.body),
            "annotations": {"org.opencontainers.image.ref.name": tag}}
