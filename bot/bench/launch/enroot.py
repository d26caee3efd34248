"""A server in an Enroot container, alone or as one task of Slurm.

Plain Enroot and no plugin of Slurm in both cases, so that import, creation and removal are the same words. The classic fault of
such machines is a squash file that is kept under its tag: a tag that was pushed anew is never looked at again. Here the file bears
the digest, and one without a digest is thrown away after its use.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from bot.bench import command
from bot.bench.host import Server
from bot.bench.launch import faults, given, gpus, image, slurm
from bot.bench.launch.server import Followed, ended
from bot.bench.launch.start import Start
from bot.errors import Missing, Refusal, Unreachable
from bot.model.bench import Launched
from bot.model.image import Reference
from bot.ports import Running

STOP_S, REMOVE_S, CREATE_S = 3.0, 60.0, 1800.0
# Enroot's own start script would put the image's entry point before our words.
RC = '#!/bin/sh\nexec "$@"\n'
# Enroot mounts what the image's own /etc/fstab names (any folder of this user's), and sets what its /etc/environment says with this
# client's variables filled in. No switch of it leaves them out, in 3.0 to 4.1; but its configuration script is read by the shell
# that would read them, before it does. One that reads them in another way is not started.
CONFIG = '''if ! declare -F common::envsubst > /dev/null || [ -z "${ENROOT_ROOTFS:-}" ]; then
    echo "this enroot reads the image's own fstab in a way that is not known here" >&2
    exit 1
fi
eval "bumpbot_$(declare -f common::envsubst)"
common::envsubst() {
    case "$1" in
        "${ENROOT_ROOTFS}"/*) ;;
        *) bumpbot_common::envsubst "$@" ;;
    esac
}
'''
UNNAMED = "enroot tells no digest: the image was imported by its tag"


def begin(start: Start) -> Server:
    """The server of the order in an Enroot container; see `launch.begin`."""
    if not start.host.programs.found("enroot"):
        raise Missing("enroot is not installed", "install it, or name another launcher in the machine file or --launcher")
    return _Container(start).begin()


@dataclass
class _Container:
    start: Start
    env: dict[str, str] = field(default_factory=dict)
    batch: bool = False
    running: Running | None = None

    def begin(self) -> Server:
        start = self.start
        self.env, self.batch = given.to_client(start), slurm.used(start)
        words = command.serve(start.order, host="127.0.0.1", port=start.port)
        # Slurm hands out GPUs itself.
        chosen = gpus.Chosen() if self.batch else gpus.choose(start.order, start.host, given.operators(start))
        options, values = self._options(chosen)
        wanted = image.parsed(start.order.image)
        file = self._imported(wanted)
        start.stack.callback(self.gone)
        code, said = start.called(["enroot", "create", "--name", start.name, str(file)], self.env, what="enroot create",
                                  limit_s=CREATE_S)
        if code:
            self._failed(said, code, "create")
        argv = [*(slurm.words(start) if self.batch else ()), "enroot", "start", "--rw", "--rc", str(self._script(".rc", RC)),
                "--conf", str(self._script(".conf", CONFIG)), *options, start.name, *words]
        start.noted(f"$ {' '.join(argv)}")
        self.running = start.host.programs.start(argv, log=start.server_log, env={**self.env, **values})
        notes = tuple(filter(None, [*chosen.notes, command.unsaid(start.order), None if wanted.digest else UNNAMED]))
        return Followed(Launched(launcher="enroot", image=start.order.image, digest=wanted.digest, name=start.name,
                                 command=tuple(argv), url=start.url, gpus=chosen.numbers,
                                 notes=notes), self.running, ended)

    def _options(self, chosen: gpus.Chosen) -> tuple[list[str], dict[str, str]]:
        """Options of `enroot start`, and the values of variables that are only named."""
        start = self.start
        recipe, named = command.environment(start.order, contained=True), chosen.rest(given.of_machine(start))
        plain, hidden = given.contained(start, recipe, named)
        if chosen.ids:
            plain["NVIDIA_VISIBLE_DEVICES" if chosen.vendor == "nvidia" else "ROCR_VISIBLE_DEVICES"] = ",".join(chosen.ids)
        mounts = given.mounts(start)
        options = [word for name, value in sorted(plain.items()) for word in ("--env", f"{name}={value}")]
        options += [word for name in sorted(hidden) for word in ("--env", name)]
        for here, there, written in mounts:
            if set(here + there) & set(" \t\n"):
                raise Refusal(f"enroot mounts no path with blanks: {here}", "move it, or use another launcher")
            options += ["--mount", f"{here}:{there}:none:x-create=auto,rbind,{'rw' if written else 'ro'}"]
        return options, hidden

    def _imported(self, wanted: Reference) -> Path:
        """The image's squash file: the one of its digest where that is whole, else imported beside it and then put in place."""
        start, folder = self.start, _cache(self.start)
        which = (wanted.digest or start.name).replace(":", "-")
        file = folder / f"{hashlib.sha256(wanted.name.encode()).hexdigest()[:12]}-{which}.sqsh"
        if wanted.digest and file.is_file():
            start.told(f"{start.order.image} is here already")
            return file
        part = file.with_name(f"{file.stem}.{os.getpid()}.part")
        start.stack.callback(_without, part)
        if not wanted.digest:
            start.stack.callback(_without, file)
        uri = image.imported_by(wanted)
        start.told(f"importing {uri}")
        code, said = start.called(["enroot", "import", "--output", str(part), uri], self.env, what=f"importing {uri}",
                                  limit_s=start.machine.startup_minutes * 60)
        if code or "architecture doesn't match" in said:
            self._failed(said, code, "import")
        if not part.is_file():
            raise Refusal(f"enroot imported {uri} and left no file", "look at logs/launch.log")
        part.replace(file)
        return file

    def _script(self, suffix: str, text: str) -> Path:
        made, path = tempfile.mkstemp(prefix="bumpbot-", suffix=suffix)
        self.start.stack.callback(_without, Path(path))
        with os.fdopen(made, "w", encoding="utf-8") as file:
            file.write(text)
        return Path(path)

    def gone(self) -> None:
        """Stops the server and removes the container. Refusal where that could not be done."""
        if self.running is not None:
            self.running.stop(STOP_S)
            if self.batch:
                with suppress(Unreachable):
                    slurm.cancelled(self.start, self.env)
        left = "it did not answer"
        with suppress(Unreachable):
            code, _, err = self.start.asked(["enroot", "remove", "--force", self.start.name], self.env, REMOVE_S)
            if not code or "no such file or directory" in err.lower():
                return
            left = f"exit code {code}"
        raise Refusal(f"the container {self.start.name} could not be removed ({left})", f"enroot remove --force {self.start.name}")

    def _failed(self, said: str, code: int, what: str) -> NoReturn:
        raise faults.fault(said, code, client="enroot", image=self.start.order.image, what=f"enroot {what}",
                           platform=os.uname().machine)


def _cache(start: Start) -> Path:
    """Where squash files are kept. Refusal where none can be."""
    env = start.host.env
    home = env.get("XDG_CACHE_HOME") or (f"{env['HOME']}/.cache" if env.get("HOME") else tempfile.gettempdir())
    folder = Path(home) / "bumpbot" / "squash"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{folder}: {error.strerror}", "set XDG_CACHE_HOME to a folder with room for images") from None
    return folder


def _without(file: Path) -> None:
    with suppress(OSError):
        file.unlink()
