"""Source text of others, read in limited child processes and remembered by content (SECURITY 12)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from bot.adapters import child
from bot.adapters.store import Store
from bot.adapters.tree import GIT, contents, git_id
from bot.errors import BadInput
from bot.ports import Tree
from bot.upstream.surveys import SURVEYS

FORMAT = 1
MAX_BYTES = 256_000_000
"""Of the file on disk; as much again at most in memory."""
MAX_FILE, MAX_ROW = 8_000_000, 32_000_000
WALL_S = 20.0
"""Seconds for one file; the largest real one takes less than one."""
WORTH = 2_000_000
"""Bytes of source for which another child is worth its start."""
_CODE = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from bot.adapters.child import serve; serve(int(sys.argv[2]))"


class ChildSurveyor:
    """Satisfies the Surveyor port. A file that crashes its child, or is past a limit, is unknown and costs no other file: the rest
    goes to a new child. `folder` None: nothing is kept on disk."""

    def __init__(self, folder: Path | None = None, *, most: int | None = None, wall_s: float = WALL_S,
                 memory: int = child.MEMORY) -> None:
        self._store = Store(folder / f"surveys-{FORMAT}" / "surveys.sqlite", form=FORMAT, max_bytes=MAX_BYTES,
                            max_row=MAX_ROW) if folder else None
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._children = _Children(most or max(1, len(os.sched_getaffinity(0))), wall_s, memory)

    def close(self) -> None:
        """Ends the children; the next survey starts others."""
        self._children.close()

    def survey(self, name: str, tree: Tree, paths: Sequence[str]) -> Mapping[str, Any]:
        """What the survey tells of each file; None for one that is not there or could not be read."""
        asked = list(dict.fromkeys(paths))
        ids = contents(tree, asked)
        try:
            keys = {path: _key(name, ids[path]) for path in asked if path in ids}
            known = self._known(keys.values())
            bodies = {path: known[key] for path, key in keys.items() if key in known}
            lacking = [path for path in asked if path not in bodies]
            if lacking:
                bodies |= self._read(name, tree, lacking, ids)
        finally:
            if self._store:
                self._store.close()
        return {path: msgspec.msgpack.decode(bodies[path])[1] if path in bodies else None for path in asked}

    def _read(self, name: str, tree: Tree, paths: Sequence[str], ids: Mapping[str, str]) -> dict[str, bytes]:
        """The answers for files whose content's id told nothing, as far as they can be read."""
        if (want := getattr(tree, "want", None)) is not None:
            want(paths)
        bodies: dict[str, bytes] = {}
        asked: dict[str, list[tuple[str, bytes]]] = {}
        for path in paths:
            data = _content(tree, path)
            if data is not None:
                asked.setdefault(_key(name, _id(data, ids.get(path))), []).append((path, data))
        known = self._known(asked)
        fresh = {key: files[0] for key, files in asked.items() if key not in known}
        made = self._children.survey(name, fresh) if fresh else {}
        for key, answer in made.items():
            self._keep(key, answer)
        for key, files in asked.items():
            bodies |= {path: made.get(key) or known[key] for path, _ in files}
        for path in bodies.keys() & ids.keys():
            if not ids[path].startswith(GIT):  # the same content may come by another name, so that it is kept by itself too
                self._keep(_key(name, ids[path]), bodies[path])
        return bodies

    def _known(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The answers that are kept."""
        found = {key: self._kept.get(key) for key in keys}
        places = {_place(key): key for key, body in found.items() if body is None} if self._store else {}
        for place, (note, body) in self._store.many(list(places)).items() if self._store and places else ():
            if note == places[place].encode():
                found[places[place]] = body
                self._remember(places[place], body)
                self._store.use(place)
        return {key: body for key, body in found.items() if body}

    def _keep(self, key: str, answer: bytes) -> None:
        """What was past a limit here and now is tried again another time."""
        self._remember(key, answer)
        if self._store and msgspec.msgpack.decode(answer)[0] != "limit" and len(answer) < MAX_ROW - len(key):
            self._store.put(_place(key), key.encode(), answer)

    def _remember(self, key: str, answer: bytes) -> None:
        self._size += len(answer) - len(self._kept.pop(key, b""))
        self._kept[key] = answer
        while self._size > MAX_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])


class _Children:
    """Up to `most` children at once, each with the next file that nobody has."""

    def __init__(self, most: int, wall_s: float, memory: int) -> None:
        self._most, self._wall_s, self._memory = most, wall_s, memory
        self._idle: list[_Child] = []  # they wait for the next question: a start takes a tenth of a second, a walk has ten

    def close(self) -> None:
        while self._idle:
            self._idle.pop().end()

    def survey(self, name: str, files: Mapping[str, tuple[str, bytes]]) -> dict[str, bytes]:
        """The child's answer for each key."""
        waiting: SimpleQueue[tuple[str, str, bytes]] = SimpleQueue()
        for key, (path, data) in sorted(files.items(), key=lambda item: -len(item[1][1])):
            waiting.put((key, path, data))
        made: dict[str, bytes] = {}
        count = min(self._most, len(files), 1 + sum(len(data) for _, data in files.values()) // WORTH)
        others = [threading.Thread(target=self._work, args=(name, waiting, made), daemon=True) for _ in range(count - 1)]
        for thread in others:
            thread.start()
        self._work(name, waiting, made)
        for thread in others:
            thread.join()
        return made

    def _work(self, name: str, waiting: SimpleQueue[tuple[str, str, bytes]], made: dict[str, bytes]) -> None:
        running: _Child | None = None
        try:
            while True:
                key, path, data = waiting.get_nowait()
                running = running or (self._idle.pop() if self._idle else _Child(self._wall_s, self._memory))
                answer = running.ask(msgspec.msgpack.encode((name, path, data)))
                made[key] = answer or msgspec.msgpack.encode(("limit", None))
                # After a failed allocation a child is not what it was.
                if answer is None or msgspec.msgpack.decode(answer)[0] == "limit":
                    running.end()
                    running = None
        except Empty:
            pass
        finally:
            if running:
                self._idle.append(running)


class _Child:
    """One process. It inherits nothing but where its modules lie."""

    def __init__(self, wall_s: float, memory: int) -> None:
        home = str(Path(__file__).resolve().parents[2])
        argv = [sys.executable, "-I", "-B", "-c", _CODE, json.dumps([home, *sys.path]), str(memory)]
        # Where Python itself is a shared library, the loader must still find it.
        env = {name: value for name in ("LD_LIBRARY_PATH",) if (value := os.environ.get(name))}
        self._wall_s = wall_s
        self._process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                         start_new_session=True)

    def ask(self, message: bytes) -> bytes | None:
        """The answer; None where the child did not live to give it, or took too long."""
        late = threading.Timer(self._wall_s, self._process.kill)
        late.daemon = True
        late.start()
        try:
            child.send(self._process.stdin, message)  # type: ignore[arg-type]
            return child.receive(self._process.stdout)  # type: ignore[arg-type]
        except (OSError, ValueError):
            return None
        finally:
            late.cancel()

    def end(self) -> None:
        self._process.kill()
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.stdout.close()  # type: ignore[union-attr]
        self._process.wait()


def _content(tree: Tree, path: str) -> bytes | None:
    try:
        data = tree.read(path)
    except BadInput:  # too large, or damaged: unknown
        return None
    return data if data is not None and len(data) <= MAX_FILE else None


def _id(data: bytes, told: str | None) -> str:
    """What a content is kept under: the id that its tree told, where these bytes have it, else a sum of our own. git does not look
    whether an object of somebody's folder is what it is called, and another repository has the true one."""
    if told is not None and told.startswith(GIT) and told == git_id(data, told):
        return told
    return hashlib.sha256(data).hexdigest()


def _key(name: str, content: str) -> str:
    """What a result depends on: the survey, the grammar of this Python, and the bytes."""
    return f"{name}/{SURVEYS[name].version}/{sys.version_info[0]}.{sys.version_info[1]}/{content}"


def _place(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)
