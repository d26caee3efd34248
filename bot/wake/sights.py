"""What a wake that looked at tags remembers: the digest under each, and when we first saw it there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from bot.images.sights import noted, sighted
from bot.ledger import LAST_SCAN, Ledger, canonical, moved_path, seen_path
from bot.model.bump import Bump
from bot.model.image import Look, Reference, Resolved, Sight
from bot.model.ledger import LastScan, Lost, Moved, Seen, Snapshot, Step
from bot.ports import Clock

Writes = Mapping[str, bytes | None]
TRIES = 5


def seen(ledger: Ledger, snapshot: Snapshot, reference: Reference) -> tuple[Sight, ...]:
    """Our sights of the tag that a reference names, oldest first; none where it names no tag that can move."""
    tag = reference.tag or (None if reference.digest else "latest")
    return of_repository(ledger, snapshot, reference).tags.get(tag, ()) if tag else ()


def of_repository(ledger: Ledger, snapshot: Snapshot, reference: Reference) -> Seen:
    """Our sights of every tag of a reference's repository."""
    return _file(ledger, snapshot, seen_path(reference.registry, reference.repository))


class Known(TypedDict):
    """What a scan is told of the past."""

    seen: Callable[[Reference], Seen]
    moved: Callable[[str], datetime | None]


def known(ledger: Ledger, snapshot: Snapshot) -> Known:
    """Our sights of a repository's tags, and when a recipe was last brought to an image of ours. Each file is read once."""
    files: dict[str, Seen] = {}

    def seen(reference: Reference) -> Seen:
        if reference.name not in files:
            files[reference.name] = of_repository(ledger, snapshot, reference)
        return files[reference.name]

    def moved(recipe: str) -> datetime | None:
        found = ledger.load(snapshot, moved_path(recipe), Moved)
        return found.at if found else None

    return Known(seen=seen, moved=moved)


def asked(ledger: Ledger, snapshot: Snapshot, clock: Clock) -> Callable[[Resolved], tuple[Sight, ...]]:
    """What answers a plan's `seen`: our sights of an image's tag, with the look that resolved it."""

    def sights(image: Resolved) -> tuple[Sight, ...]:
        known = seen(ledger, snapshot, image.reference)
        return known if image.reference.digest else noted(known, image.digest, clock.now())

    return sights


def looked(ledger: Ledger, snapshot: Snapshot, looks: Iterable[Look]) -> tuple[Writes, tuple[str, ...]]:
    """(writes, reads) of a step whose wake looked at tags: the file of each repository whose tags hold something new. Two
    wakes cannot both write one; the one that comes second reads the first one's and adds to it."""
    before: dict[str, Seen] = {}
    after: dict[str, Seen] = {}
    for look in looks:
        path = seen_path(look.reference.registry, look.reference.repository)
        if path not in before:
            before[path] = after[path] = _file(ledger, snapshot, path)
        after[path] = sighted(after[path], look.reference.tag or "latest", look.digest, look.at)
    changed = tuple(path for path in sorted(after) if after[path] != before[path])
    return {path: canonical(after[path]) for path in changed}, changed


def remember(ledger: Ledger, looks: Sequence[Look], *, wake: str, scanned: datetime | None = None) -> Snapshot:
    """Writes looks that belong to no bump, each repository's file by itself, and when everything was `scanned`; the ledger as
    it is then. What others changed meanwhile is read again and added to, and nothing new is no commit. After five lost tries
    the looks are left to a later wake: tags that are seen later are only older later."""
    snapshot, left = ledger.tip(), list(looks)
    for _ in range(TRIES):
        writes = {**looked(ledger, snapshot, left)[0], **_last(ledger, snapshot, scanned)}
        if not writes:
            break
        steps = [Step(bump=path, kind="record", entry=path, writes={path: data}, reads=frozenset((path,)))
                 for path, data in writes.items()]
        taken = ledger.record(snapshot, steps, wake=wake)
        snapshot = ledger.tip() if isinstance(taken, Lost) else taken.snapshot
    return snapshot


def _last(ledger: Ledger, snapshot: Snapshot, scanned: datetime | None) -> Writes:
    last = ledger.load(snapshot, LAST_SCAN, LastScan)
    if scanned is None or (last is not None and last.at >= scanned):
        return {}
    return {LAST_SCAN: canonical(LastScan(at=scanned))}


def of_bump(ledger: Ledger, snapshot: Snapshot, bump: Bump) -> tuple[Writes, tuple[str, ...]]:
    """(writes, reads) of a bump's first claim: what its two tags held when it was planned. A reference that pins a digest
    is no look at its tag."""
    candidate = bump.subject.candidate
    images = [image for image in (candidate.old, candidate.new) if image.reference.digest is None]
    return looked(ledger, snapshot, [Look(reference=one.reference, digest=one.digest, at=bump.now) for one in images])


def _file(ledger: Ledger, snapshot: Snapshot, path: str) -> Seen:
    return ledger.load(snapshot, path, Seen) or Seen()
