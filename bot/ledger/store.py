"""The ledger's branch: read at its tip, changed by pushes that must fast-forward. Who is refused looks again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TypeVar

from bot.errors import BadInput, Broken, Missing, Unreachable
from bot.ledger.chain import decode, encode
from bot.ledger.paths import BRANCH, ONCE, bump_folder, ended_folder, folder_of, number
from bot.model.ledger import Entry, Lost, Snapshot, Step, Stored, Taken
from bot.ports import Clock, Git
from bot.strict import load_json

T = TypeVar("T")
TRIES = 10
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 5.0


def wake_id(random: Random) -> str:
    """A name for one wake: it keeps two writers from making the same commit, which both would take for their own."""
    return f"{random.getrandbits(64):016x}"


class Ledger:
    """One branch of one repository behind the Git port. `random` only jitters the waits between tries."""

    def __init__(self, git: Git, branch: str = BRANCH, *, clock: Clock, random: Random, tries: int = TRIES) -> None:
        self._git, self._branch, self._clock, self._random, self._tries = git, branch, clock, random, tries
        self._known: dict[str, tuple[str, Stored]] = {}

    def tip(self) -> Snapshot:
        """The branch as it is now. Read it before anything else of the world: what is decided rests on it."""
        oid = self._git.tip(self._branch)
        return self._at(oid) if oid else Snapshot(oid=None, paths={})

    def open_bumps(self, snapshot: Snapshot) -> tuple[str, ...]:
        """Ids of the bumps that have not ended, sorted."""
        return tuple(sorted({path.split("/")[1] for path in snapshot.paths if path.startswith("bumps/")}))

    def ended_bumps(self, snapshot: Snapshot) -> tuple[tuple[int, str], ...]:
        """Year and id of the bumps that have, sorted. BadInput names a path that no bump of ours left there."""
        found = set()
        for path in (path for path in snapshot.paths if path.startswith("ended/")):
            parts = path.split("/")
            if len(parts) != 4 or not parts[1].isdecimal():
                raise BadInput("not of an ended bump", "an operator must look who wrote this file", file=path)
            found.add((int(parts[1]), parts[2]))
        return tuple(sorted(found))

    def prepare(self, snapshot: Snapshot) -> None:
        """Before the entries of many bumps are read: their contents then come in one request."""
        if snapshot.oid:
            self._git.entries(snapshot.oid, "bumps")

    def entries(self, snapshot: Snapshot, bump: str) -> tuple[Stored, ...]:
        """A bump's entries by number, open or ended, unchecked (`verify`); BadInput names file and key of a bad one."""
        if snapshot.oid is None:
            return ()
        paths = self._git.entries(snapshot.oid, folder_of(snapshot, bump))
        return tuple(self._entry(snapshot.oid, path, paths[path]) for path in sorted(paths, key=number))

    def _entry(self, oid: str, path: str, blob: str) -> Stored:
        """An entry is written once, so the same object id at the same path was read before."""
        known = self._known.get(path)
        if known is None or known[0] != blob:
            known = self._known[path] = (blob, decode(path, self._read(oid, path)))
        return known[1]

    def load(self, snapshot: Snapshot, path: str, kind: type[T]) -> T | None:
        """A claim, cap, memory or result as its record; None when it does not exist."""
        data = self._git.read(snapshot.oid, path) if snapshot.oid and path in snapshot.paths else None
        return None if data is None else load_json(kind, data, file=path)

    def step(self, snapshot: Snapshot, bump: str, entry: Entry, *, writes: Mapping[str, bytes | None] | None = None,
             reads: Iterable[str] = ()) -> Step:
        """A bump's new entry, with what else changes (claims, caps, memory) and what the decision rested on."""
        folder = folder_of(snapshot, bump)
        path = f"{folder}{entry.n}.json"
        return Step(bump=bump, kind=entry.kind, entry=path, reads=frozenset({folder, *reads}),
                    writes=self._once(snapshot, {**(writes or {}), path: encode(entry, path)}))

    def final_step(self, snapshot: Snapshot, bump: str, entry: Entry, *, year: int,
                   writes: Mapping[str, bytes | None] | None = None, reads: Iterable[str] = ()) -> Step:
        """As `step`, and the bump's folder moves to `ended/<year>/`, byte for byte, with this last entry."""
        return self._moved(snapshot, bump, entry, bump_folder(bump), ended_folder(bump, year), writes, reads)

    def first_step_again(self, snapshot: Snapshot, bump: str, entry: Entry, *, writes: Mapping[str, bytes | None] | None = None,
                         reads: Iterable[str] = ()) -> Step:
        """As `step`, and an ended bump's folder moves back among the open ones, byte for byte, with this entry."""
        return self._moved(snapshot, bump, entry, folder_of(snapshot, bump), bump_folder(bump), writes, reads)

    def _moved(self, snapshot: Snapshot, bump: str, entry: Entry, home: str, away: str,
               writes: Mapping[str, bytes | None] | None, reads: Iterable[str]) -> Step:
        moved: dict[str, bytes | None] = {}
        for path in snapshot.paths:
            if snapshot.oid and path.startswith(home):
                moved |= {path: None, away + path.removeprefix(home): self._read(snapshot.oid, path)}
        path = f"{away}{entry.n}.json"
        return Step(bump=bump, kind=entry.kind, entry=path, reads=frozenset({home, away, *reads}),
                    writes=self._once(snapshot, {**(writes or {}), **moved, path: encode(entry, path)}))

    def claim(self, snapshot: Snapshot, steps: Sequence[Step], *, wake: str) -> Taken | Lost:
        """Before any effect: takes the steps' claims in one commit. Only what is `Taken` may be acted on."""
        return self._swap(snapshot, steps, wake, "claim")

    def record(self, snapshot: Snapshot, steps: Sequence[Step], *, wake: str) -> Taken | Lost:
        """After the effects: stores what came of them. `Lost` means that somebody finished the claim meanwhile."""
        return self._swap(snapshot, steps, wake, "record")

    def _swap(self, snapshot: Snapshot, steps: Sequence[Step], wake: str, kind: str) -> Taken | Lost:
        if any(step.kind != kind for step in steps):
            raise BadInput(f"a {kind} was asked for with an entry of another kind")
        if not steps:
            return Taken(snapshot=snapshot, bumps=())
        base, live, unsure = snapshot, _in_order(steps, set()), None
        written: dict[str, str] = {}
        for attempt in range(self._tries):
            made = self._commit(base, live, wake, kind)
            written |= {step.entry: made.paths[step.entry] for step in live}
            try:
                won, unsure = self._git.push(self._branch, made.oid or ""), None
            except Unreachable as error:  # it may have arrived before the line broke: the tip will tell
                won, unsure = False, error
            if won:
                return _taken(made, steps, live)
            self._pause(attempt)
            base = self.tip()
            ours = [step for step in steps if written.get(step.entry, "") == base.paths.get(step.entry)]
            if ours:  # an entry holds our wake id: its object id is nobody else's
                return _taken(base, steps, ours)
            changed = _changed(snapshot, base)
            live = _in_order(steps, changed)
            if not live:
                moved = (path for path in changed if any(_touches(step, path) for step in steps))
                return Lost(changed=tuple(sorted(moved)), tries=attempt + 1)
        if unsure:
            raise unsure
        return Lost(changed=(), tries=self._tries)

    def _commit(self, base: Snapshot, live: Sequence[Step], wake: str, kind: str) -> Snapshot:
        changes = {path: data for step in live for path, data in step.writes.items()}
        about = live[0].bump if len(live) == 1 else f"{len(live)} bumps"
        message = f"{kind} {about}\n\n{''.join(f'{step.entry}{chr(10)}' for step in live)}wake: {wake}\n"
        parents = [base.oid] if base.oid else []
        return self._at(self._git.commit(parents, changes, message, when=self._clock.now()))

    def _at(self, oid: str) -> Snapshot:
        return Snapshot(oid=oid, paths=self._git.entries(oid))

    def _pause(self, attempt: int) -> None:
        self._clock.sleep(min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**attempt) * self._random.random())

    def _read(self, oid: str, path: str) -> bytes:
        data = self._git.read(oid, path)
        if data is None:
            raise Missing(f"{path} is listed in the ledger and cannot be read", "look again")
        return data

    def _once(self, snapshot: Snapshot, writes: dict[str, bytes | None]) -> Mapping[str, bytes | None]:
        """Entries, memory and results are written once: the same bytes again are no write, others are Broken."""
        kept: dict[str, bytes | None] = {}
        for path, data in writes.items():
            if data is not None and path.startswith(ONCE) and path in snapshot.paths:
                if self._read(snapshot.oid or "", path) != data:
                    raise Broken(f"{path} is written once and holds something else", "look at who wrote it")
                continue
            kept[path] = data
        return kept


def _taken(snapshot: Snapshot, steps: Sequence[Step], ours: Sequence[Step]) -> Taken:
    won = tuple(step.bump for step in ours)
    return Taken(snapshot=snapshot, bumps=won, dropped=tuple(step.bump for step in steps if step.bump not in won))


def _changed(then: Snapshot, now: Snapshot) -> set[str]:
    return {path for path in then.paths.keys() | now.paths.keys() if then.paths.get(path) != now.paths.get(path)}


def _touches(step: Step, path: str) -> bool:
    return path in step.writes or path in step.reads or any(f.endswith("/") and path.startswith(f) for f in step.reads)


def _in_order(steps: Sequence[Step], changed: set[str]) -> list[Step]:
    """The steps that still rest on what they read, each as if those before it had been pushed first."""
    live, moved = [], set(changed)
    for step in steps:
        if not any(_touches(step, path) for path in moved):
            live.append(step)
            moved |= step.writes.keys()
    return live
