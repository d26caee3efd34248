"""What a registry holds, over the OCI distribution protocol: HEAD first, content checked against its digest.

A registry is a stranger: it may lie about digests and sizes, page for ever, answer slowly, or send us elsewhere.
Everything is bounded, and what is not proven by its digest is refused. `trust_declared` lifts exactly that last rule,
for rehearsals only: a scenario states the digest a real tag had, and no made-up bytes can have it.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx

from bot.adapters.addresses import Guard, Resolve, may_follow, system_resolve
from bot.adapters.http import Answer, check, fetch, make_client, plain, retry_read
from bot.adapters.registry_auth import Host, Logins, host_of
from bot.errors import BadInput, BumpbotError, Missing, Refusal, Unreachable
from bot.images.reference import valid_digest, valid_tag
from bot.model.image import ImageFacts, Platform, Reference, Resolved
from bot.ports import Clock

INDEX_TYPES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
MANIFEST_TYPES = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
ACCEPT = ", ".join((*INDEX_TYPES, *MANIFEST_TYPES))
REVISION = "org.opencontainers.image.revision"
MAX_MANIFEST, MAX_CONFIG, MAX_TAG_PAGE = 4_194_304, 8_000_000, 8_000_000
MAX_HOPS, MAX_PAGES, MAX_TAGS, MAX_PLATFORMS, MAX_LABEL = 5, 200, 200_000, 200, 8192
PAGE = 1000
# Seconds for one answer, and how many times that for all pages of a listing.
TOTAL_S, MAX_LISTING = 60.0, 5
_NEXT = re.compile(r'<([^<>]{1,4096})>\s*;[^,]*\brel\s*=\s*"?next"?')
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_FACTS = {"cuda": ("CUDA_VERSION",), "rocm": ("ROCM_VERSION",),
          "arch_list": ("TORCH_CUDA_ARCH_LIST", "PYTORCH_ROCM_ARCH")}


class OciRegistry:
    """Satisfies the Registry port for every registry a reference may name.

    `credentials` is Docker's config.json as a mapping; `override` sends a registry's name to loopback (rehearsals).
    """

    def __init__(self, clock: Clock, *, credentials: Mapping[str, Any] | None = None,
                 override: Mapping[str, str] | None = None, trust_declared: bool = False,
                 resolve: Resolve = system_resolve, client: httpx.Client | None = None,
                 total_s: float = TOTAL_S) -> None:
        self._clock, self._override, self._trust = clock, dict(override or {}), trust_declared
        self._client = client or make_client(transport=Guard(resolve=resolve))
        self._logins = Logins(self._client, clock, credentials)
        self._total_s = total_s

    def resolve(self, reference: Reference) -> Resolved:
        """What stands under a reference now. `created`, labels and facts are those of one platform's config
        (linux/amd64 where there is one); they stay unknown when the registry serves no platform at all."""
        host = host_of(reference.registry, self._override)
        digest, body, media = self._top(host, reference)
        manifest = _document(body, f"{reference.name}@{digest}")
        index = _is_index(manifest, media, reference.name)
        platforms = _platforms(manifest, reference.name) if index else ()
        config = self._config(host, reference, platforms) if index else self._config_of(host, reference, manifest)
        if not index:
            system, machine = _word(config, "os"), _word(config, "architecture")
            platforms = (Platform(os=system, architecture=machine, digest=digest, size=len(body)),)
        labels = _labels(manifest, config)
        commit = labels.get(REVISION, "").lower()
        commit = commit if _COMMIT.fullmatch(commit) else None
        return Resolved(
            reference=reference, kind="index" if index else "manifest", digest=digest, platforms=platforms,
            created=_moment(config.get("created")), labels=labels,
            facts=ImageFacts(**_env_facts(config), commit=commit),
            provenance="label" if commit else "none", identity=self._logins.identity(host, _scope(reference)),
            pushed=self._pushed(host, reference))

    def digest(self, reference: Reference) -> str:
        """What a reference names now, by one HEAD, which no pull limit counts; by a GET where HEAD does not tell."""
        host = host_of(reference.registry, self._override)
        return self._told(host, reference) or self._top(host, reference)[0]

    def tags(self, reference: Reference) -> Sequence[str]:
        """Every tag of a repository, in the registry's order. A listing that does not end is an error, never a part."""
        host = host_of(reference.registry, self._override)
        url = f"{host.api}/v2/{reference.repository}/tags/list?n={PAGE}"
        asked: set[str] = set()
        found: list[str] = []
        deadline = time.monotonic() + MAX_LISTING * self._total_s
        while url:
            if time.monotonic() > deadline:
                raise Unreachable(f"{reference.name}: the tag listing takes too long", "try again later")
            if url in asked or len(asked) >= MAX_PAGES:
                raise BadInput(f"{reference.name}: the tag listing does not end after {len(asked)} pages",
                               "the registry pages in a loop; a partial list would hide newer tags")
            asked.add(url)
            answer = self._ask(host, "GET", url, reference, accept="application/json", limit=MAX_TAG_PAGE)
            page = answer.json()
            listed = page.get("tags") if isinstance(page, dict) else None
            if not isinstance(listed, list) and listed is not None or not isinstance(page, dict):
                raise BadInput(f"{plain(url)}: not a tag list", "the registry's answer has no `tags`")
            found += [tag for tag in listed or () if isinstance(tag, str) and valid_tag(tag)]
            if len(found) > MAX_TAGS:
                raise BadInput(f"{reference.name}: more than {MAX_TAGS} tags", "the registry's listing is not believed")
            url = _next_page(answer, host)
        return tuple(dict.fromkeys(found))

    def _top(self, host: Host, reference: Reference) -> tuple[str, bytes, str]:
        told = self._told(host, reference)
        wanted = reference.digest or told
        answer = self._ask(host, "GET", _manifest(host, reference, wanted), reference, accept=ACCEPT, limit=MAX_MANIFEST)
        digest = self._proven(answer.body, wanted or _sha256(answer.body), reference.name)
        return digest, answer.body, answer.headers.get("content-type", "").partition(";")[0].strip().lower()

    def _told(self, host: Host, reference: Reference) -> str:
        """The digest that HEAD tells; "" where a registry answers HEAD without one, or not at all."""
        head = self._ask(host, "HEAD", _manifest(host, reference), reference, accept=ACCEPT, limit=0)
        told = head.headers.get("docker-content-digest", "")
        if head.status == 405 or not valid_digest(told):
            return ""
        if reference.digest and told != reference.digest:
            raise BadInput(f"{reference.name}: asked for {reference.digest}, the registry answers {told}",
                           "the registry is not believed")
        return told

    def _config(self, host: Host, reference: Reference, platforms: Sequence[Platform]) -> dict[str, Any]:
        """The config of linux/amd64, else of the first platform served: ghcr lists children it answers 404 for."""
        for platform in sorted(platforms, key=lambda p: (p.os, p.architecture) != ("linux", "amd64")):
            url = f"{host.api}/v2/{reference.repository}/manifests/{platform.digest}"
            try:
                answer = self._ask(host, "GET", url, reference, accept=ACCEPT, limit=MAX_MANIFEST)
            except Missing:
                continue
            self._proven(answer.body, platform.digest, reference.name)
            return self._config_of(host, reference, _document(answer.body, f"{reference.name}@{platform.digest}"))
        return {}

    def _config_of(self, host: Host, reference: Reference, manifest: Mapping[str, Any]) -> dict[str, Any]:
        digest = _mapping(manifest.get("config")).get("digest")
        if not isinstance(digest, str) or not valid_digest(digest):
            raise BadInput(f"{reference.name}: a manifest without a config", "it is no container image")
        url = f"{host.api}/v2/{reference.repository}/blobs/{digest}"
        answer = self._ask(host, "GET", url, reference, accept="*/*", limit=MAX_CONFIG)
        self._proven(answer.body, digest, reference.name)
        return _document(answer.body, f"{reference.name}@{digest}")

    def _proven(self, body: bytes, digest: str, name: str) -> str:
        algorithm = digest.partition(":")[0]
        if f"{algorithm}:{hashlib.new(algorithm, body).hexdigest()}" != digest and not self._trust:
            raise BadInput(f"{name}: the content served for {digest} has another digest",
                           "the registry is not believed")
        return digest

    def _ask(self, host: Host, method: str, url: str, reference: Reference, *, accept: str, limit: int) -> Answer:
        """One request with whatever login its 401 asks for; what the answer's status means is `check`'s to say."""
        scope, what = _scope(reference), f"{reference.text} at {host.name}"
        for _ in range(3):
            login = self._logins.header(host, scope)
            headers = {"Accept": accept} | ({"Authorization": login} if login else {})
            answer = retry_read(self._clock, lambda headers=headers: self._once(method, url, headers, limit, what))
            if answer.status != 401:
                return answer
            self._logins.answer(host, scope, answer)
        raise Refusal(f"{what}: refused as {self._logins.identity(host, scope)} for {scope}",
                      "check what this login may read, or log in with `docker login`")

    def _once(self, method: str, url: str, headers: Mapping[str, str], limit: int, what: str) -> Answer:
        """Follows redirects with no credentials, whatever host they name; a second challenge is nobody's to ask."""
        answer = fetch(self._client, method, url, headers=headers, limit=limit, total_s=self._total_s)
        bare = {"Accept": headers["Accept"]}
        for _ in range(MAX_HOPS):
            if answer.status not in (301, 302, 303, 307, 308):
                break
            here, there = answer.url, answer.headers.get("location", "")
            target = _join(here, there)
            may_follow(here, target)
            answer = fetch(self._client, method, target, headers=bare, limit=limit, total_s=self._total_s)
            if answer.status == 401:
                raise Refusal(f"{what}: redirected to {httpx.URL(target).host}, which asks for a login", "it gets none")
        passed = answer.status == 401 or (answer.status == 405 and method == "HEAD")
        return answer if passed else check(answer, what, now=self._clock.now().timestamp())

    def _pushed(self, host: Host, reference: Reference) -> datetime | None:
        """When the tag was last pushed, from Docker Hub's tag pages; None where nobody tells. Never stops a resolve."""
        if host.hub is None or reference.tag is None:
            return None
        url = f"{host.hub}/v2/repositories/{reference.repository}/tags/{reference.tag}"
        try:
            told = check(fetch(self._client, "GET", url, limit=MAX_MANIFEST, total_s=self._total_s), plain(url)).json()
        except BumpbotError:
            return None
        return _moment(_mapping(told).get("tag_last_pushed") or _mapping(told).get("last_updated"))


def _manifest(host: Host, reference: Reference, digest: str = "") -> str:
    """Where a manifest is asked for: by digest where one is known, else by tag."""
    return f"{host.api}/v2/{reference.repository}/manifests/{digest or reference.digest or reference.tag or 'latest'}"


def _scope(reference: Reference) -> str:
    return f"repository:{reference.repository}:pull"


def _next_page(answer: Answer, host: Host) -> str:
    found = _NEXT.search(answer.headers.get("link", ""))
    if found is None:
        return ""
    target, api = httpx.URL(_join(answer.url, found[1])), httpx.URL(host.api)
    if (target.scheme, target.netloc) != (api.scheme, api.netloc):
        raise Refusal(f"{host.name} pages its tags on {target.host}", "a Link to another host is not followed")
    return str(target)


def _join(base: str, target: str) -> str:
    try:
        return str(httpx.URL(base).join(target))
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise BadInput(f"{plain(base)}: points to what is no address", "the registry is broken") from None


def _document(body: bytes, name: str) -> dict[str, Any]:
    value = Answer(url=f"oci:{name}", status=200, headers={}, body=body).json()
    if not isinstance(value, dict):
        raise BadInput(f"{name}: not a manifest or config", "the registry's content is broken")
    return value


def _is_index(manifest: Mapping[str, Any], media: str, name: str) -> bool:
    """A document that is both has made two readers pull two images (CVE-2021-41190)."""
    if "manifests" in manifest and ("config" in manifest or "layers" in manifest):
        raise BadInput(f"{name}: a manifest that is index and image at once", "it is not believed")
    kind = manifest.get("mediaType") or media
    if kind in INDEX_TYPES or kind in MANIFEST_TYPES:
        return kind in INDEX_TYPES
    raise BadInput(f"{name}: the manifest type {str(kind)[:100]!r}", "only Docker v2 and OCI images are read")


def _platforms(index: Mapping[str, Any], name: str) -> tuple[Platform, ...]:
    listed = index.get("manifests")
    if not isinstance(listed, list) or len(listed) > MAX_PLATFORMS:
        raise BadInput(f"{name}: not a list of at most {MAX_PLATFORMS} platforms", "the registry's content is broken")
    found = []
    for item in map(_mapping, listed):
        platform, digest, size = _mapping(item.get("platform")), item.get("digest"), item.get("size")
        system, machine = _word(platform, "os"), _word(platform, "architecture")
        if "unknown" in (system, machine) or _mapping(item.get("annotations")).get("vnd.docker.reference.type"):
            continue  # attestations stand beside the images and are none
        if not isinstance(digest, str) or not valid_digest(digest) or not isinstance(size, int) or size < 0:
            raise BadInput(f"{name}: a platform without digest or size", "the registry's content is broken")
        found.append(Platform(os=system, architecture=machine, digest=digest, size=size))
    return tuple(found)


def _labels(manifest: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, str]:
    """Annotations of the manifest, overruled by the labels of the image itself; overlong ones are left out."""
    both = {**_mapping(manifest.get("annotations")), **_mapping(_mapping(config.get("config")).get("Labels"))}
    return {key: value for key, value in both.items() if isinstance(value, str) and len(value) <= MAX_LABEL}


def _env_facts(config: Mapping[str, Any]) -> dict[str, str | None]:
    listed = _mapping(config.get("config")).get("Env")
    pairs = [entry.partition("=") for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else []
    env = {name: value for name, _, value in pairs if value and len(value) <= MAX_LABEL}
    return {fact: next((env[name] for name in names if name in env), None) for fact, names in _FACTS.items()}


def _moment(value: Any) -> datetime | None:
    try:
        made = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if made is None or made.year < 1970:
        return None  # Go's zero time: year 1
    return made.replace(tzinfo=UTC) if made.tzinfo is None else made.astimezone(UTC)


def _word(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) and re.fullmatch(r"[a-z0-9_.-]{1,40}", value) else "unknown"


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sha256(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
