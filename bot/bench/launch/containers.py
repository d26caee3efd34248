"""A server in a container of Docker or Podman: pulled by digest, looked at, created, started, followed; stopped and removed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

import msgspec

from bot.bench import command
from bot.bench.diary import known
from bot.bench.host import Server
from bot.bench.launch import faults, given, gpus, image, leftovers
from bot.bench.launch.clients import Client
from bot.bench.launch.server import Followed, ended
from bot.bench.launch.start import Start, tail
from bot.errors import Missing, Refusal, Unreachable
from bot.model.bench import Launched
from bot.model.image import Reference
from bot.ports import Running

SHARED_MEMORY = "32g"
"""What workers talk over; a limit, and no memory is taken by it. In its place images ask for the machine's own IPC."""
STOP_S, FOLLOW_S, LATE_S, SLOW_S, UP_S = 3.0, 0.5, 8.0, 20.0, 120.0
# A daemon makes what it was asked for, also when its client was stopped meanwhile (a signal during `create` left containers in four
# of seven tries): the client may end by itself first. Whoever stops a job gives ten seconds for all.
CREATED_S = 4.0
# Entry points that only prepare and then run what they are given (NVIDIA's sets up a newer CUDA on an older driver); any other
# is a command of its own and is replaced.
WRAPPERS = ("nvidia_entrypoint.sh", "tini", "dumb-init", "docker-init", "catatonit")


class _Image(msgspec.Struct, rename="pascal"):
    id: str
    os: str = ""
    architecture: str = ""
    repo_digests: tuple[str, ...] | None = None
    config: dict[str, Any] | None = None

    @property
    def entry(self) -> tuple[str, ...]:
        words = (self.config or {}).get("Entrypoint") or ()
        return tuple(words) if isinstance(words, (list, tuple)) else (str(words),)


class _State(msgspec.Struct, rename="pascal"):
    status: str = ""
    exit_code: int = 0
    o_o_m_killed: bool = msgspec.field(default=False, name="OOMKilled")
    started_at: str = ""

    @property
    def began(self) -> bool:
        return bool(self.started_at) and not self.started_at.startswith("0001-")


def begin(start: Start, client: Client) -> Server:
    """The server of the order in a container that runs; see `launch.begin`."""
    if not start.host.programs.found(client.name):
        raise Missing(f"{client.name} is not installed", "install it, or name another launcher in the machine file or --launcher")
    return _Container(start, client).begin()


@dataclass
class _Container:
    start: Start
    client: Client
    platform: str = ""
    certain: bool = True
    """Whether nothing more can come of what was asked of the daemon: False while it creates."""
    follower: Running | None = None
    env: dict[str, str] = field(default_factory=dict)

    def begin(self) -> Server:
        start = self.start
        self.env = given.to_client(start)
        self.platform = self._answers()
        inside = start.port if start.port >= 1024 else start.port + 8000  # below, only with a capability that it has not
        words = command.serve(start.order, host="0.0.0.0", port=inside)
        chosen = gpus.choose(start.order, start.host, given.operators(start))
        passed, values = self._environment(chosen)
        mounts = given.mounts(start)
        self._removes_leftovers()
        there, digest, notes = self._pulled(image.parsed(start.order.image))
        start.stack.callback(self.gone)
        argv = [self.client.name, "create", "--name", start.name, *leftovers.labelled({leftovers.LABEL: leftovers.owner()}),
                "--pull", "never", "--publish", f"127.0.0.1:{start.port}:{inside}", "--shm-size", SHARED_MEMORY,
                # It is followed from its start: the daemon's own copy of what it prints has no bound, and nobody reads it.
                "--log-driver", "none",
                # As root without this an image cannot write into a cache that is another user's.
                "--cap-drop", "ALL", "--cap-add", "DAC_OVERRIDE", "--security-opt", "no-new-privileges", *self.client.also,
                *self.client.gpus(chosen), *_mounted(mounts), *passed, *_entered(there, words)]
        self.certain = False
        code, said = start.called(argv, {**self.env, **values}, what=f"{self.client.name} create", limit_s=UP_S,
                                  patience_s=CREATED_S)
        self.certain = True
        if code:
            self._failed(said, code, "create")
        notes = (*notes, *chosen.notes, *filter(None, [command.unsaid(start.order)]))
        self._up()
        assert self.follower is not None
        return Followed(Launched(
            launcher=self.client.name, image=start.order.image, digest=digest, image_id=there.id, name=start.name,  # type: ignore[arg-type]
            command=tuple(argv), url=start.url, gpus=chosen.numbers, notes=notes), self.follower, self.why)

    def _answers(self) -> str:
        """The platform of the daemon's machine, which shows that there is one that answers."""
        try:
            code, out, err = self.start.asked(
                [self.client.name, "version", "--format", self.client.platform], self.env, limit_s=SLOW_S)
        except Unreachable:
            raise known(Unreachable(f"the daemon of {self.client.name} does not answer", "look at its log; start it anew"),
                        "launcher-silent", self.client.name) from None
        if code or not out:
            self._failed(f"{out}\n{err}", code, "version")
        return out.splitlines()[0].strip()

    def _environment(self, chosen: gpus.Chosen) -> tuple[list[str], dict[str, str]]:
        """Options, and the values that the client has in its own environment: the operator's and the token are named alone, so
        that they stand in no list of processes and no log."""
        start = self.start
        recipe, named = command.environment(start.order, contained=True), chosen.rest(given.of_machine(start))
        plain, hidden = given.contained(start, recipe, named)
        options = [word for name, value in sorted(plain.items()) for word in ("--env", f"{name}={value}")]
        return [*options, *(word for name in sorted(hidden) for word in ("--env", name))], hidden

    def _removes_leftovers(self) -> None:
        code, out, _ = self.start.asked(leftovers.listing(self.client.name), self.env, limit_s=SLOW_S)
        for container in out.split() if not code else ():
            failed, label, _ = self.start.asked(leftovers.label_of(self.client.name, container), self.env, limit_s=SLOW_S)
            if not failed and leftovers.gone(label):
                self.start.told(f"removing the container {container[:12]} of a bench that was killed")
                self.start.asked([self.client.name, "rm", "--force", container], self.env, limit_s=60)

    def _pulled(self, wanted: Reference) -> tuple[_Image, str | None, tuple[str, ...]]:
        name, said = image.pulled_by(wanted), ""
        # What is there under its digest is there whole; a registry counts each question, and a machine may have none.
        there = self._look(name) if wanted.digest else None
        if there is None:
            self.start.told(f"pulling {name}")
            code, said = self.start.called([self.client.name, "pull", name], self.env, what=f"pulling {name}",
                                           limit_s=self.start.machine.startup_minutes * 60)
            if code:
                self._failed(said, code, "pull")
            there = self._look(name)
        if there is None:
            raise Refusal(f"{self.client.name} pulled {name} and does not have it", "look at logs/launch.log")
        digest, notes = image.digest_of(wanted, there.repo_digests or (), said)
        built = f"{there.os}/{there.architecture}"
        if there.architecture and built != self.platform:
            raise known(Refusal(f"{self.start.order.image} is built for {built}, and this machine is {self.platform}",
                                "name an image of this platform, or run it on another machine"), "image-platform", self.platform)
        return there, digest, notes

    def _look(self, name: str) -> _Image | None:
        code, out, _ = self.start.asked([self.client.name, "image", "inspect", name], self.env, limit_s=60)
        try:
            return None if code else msgspec.json.decode(out, type=list[_Image])[0]
        except (msgspec.DecodeError, IndexError):
            raise Refusal(f"{self.client.name} describes {name} in a way that is not known here", "look at its version") from None

    def _up(self) -> None:
        """Starts the container with its output into the server's log, and waits until it runs or has run."""
        start, clock = self.start, self.start.host.clock
        self.follower = start.host.programs.start([self.client.name, "start", "--attach", start.name], log=start.server_log,
                                                  env=self.env)
        begun = clock.now()
        while True:
            over = self.follower.ended()
            state = self.state()
            if state is not None and state.began and (state.status != "created"):
                return
            if over is not None:
                self._failed(tail(start.server_log), over, "start")
            if (clock.now() - begun).total_seconds() > UP_S:
                raise known(Unreachable(f"{self.client.name} did not start the container within {UP_S:g} s",
                                        "look at the daemon's log"), "launcher-silent", self.client.name)
            clock.sleep(0.1)

    def state(self) -> _State | None:
        """What the daemon says of the container now; None where it does not."""
        with suppress(Unreachable, msgspec.DecodeError):
            code, out, _ = self.start.host.programs.run(
                [self.client.name, "inspect", "--format", "{{json .State}}", self.start.name], env=self.env, limit_s=SLOW_S)
            return None if code else msgspec.json.decode(out, type=_State)
        return None

    def why(self, code: int) -> str:
        """How the container ended, by the daemon's word where it has one."""
        state = self.state()
        if state is None:
            return f"the container is gone ({ended(code)})"
        if state.status == "running":
            return f"{self.client.name} follows it no longer ({ended(code)})"
        return f"{ended(state.exit_code)}{', killed because it took more memory than there was' if state.o_o_m_killed else ''}"

    def gone(self) -> None:
        """Stops and removes, whatever was done of it. Refusal where the daemon does not: the next start removes it then."""
        name = self.client.name
        if self.follower is not None and self.follower.ended() is None:
            self._tried([name, "stop", "-t", f"{STOP_S:g}", self.start.name], STOP_S + LATE_S)
            self.follower.stop(FOLLOW_S)
        for attempt in range(3):
            removed = self._tried([name, "rm", "--force", self.start.name], LATE_S)
            # A daemon may still be creating what a client, stopped on the way, had asked for: it is looked for twice.
            if removed and (self.certain or (attempt and not self._left())):
                return
            self.start.host.clock.sleep(0.3)
        if not self._left() and not self.certain:
            self.start.told(f"{name} was asked for the container {self.start.name} and may still make it: "
                            f"{name} rm --force {self.start.name}, or the next bench on this machine")
        elif self._left():
            raise Refusal(f"the container {self.start.name} could not be removed",
                          f"{name} rm --force {self.start.name}; the next bench on this machine tries it again")

    def _tried(self, argv: Sequence[str], limit_s: float) -> bool:
        with suppress(Unreachable):
            code, _, err = self.start.asked(argv, self.env, limit_s)
            return not code or "no such container" in err.lower() or "no container with" in err.lower()
        return False

    def _left(self) -> bool:
        """Whether a container of this bench may still be there."""
        with suppress(Unreachable):
            mine = f"{leftovers.LABEL}={leftovers.owner()}"
            code, out, _ = self.start.asked(
                [*leftovers.listing(self.client.name, mine), "--filter", f"name=^{self.start.name}$"], self.env, LATE_S)
            return bool(code or out)
        return True

    def _failed(self, said: str, code: int, what: str) -> NoReturn:
        raise faults.fault(said, code, client=self.client.name, image=self.start.order.image, platform=self.platform,
                           what=f"{self.client.name} {what}")


def _mounted(mounts: Sequence[tuple[str, str, bool]]) -> list[str]:
    """By `--mount`: `--volume` makes a folder that is not there, as root."""
    return [word for here, there, written in mounts
            for word in ("--mount", f"type=bind,source={here},target={there}{'' if written else ',readonly'}")]


def _entered(there: _Image, words: Sequence[str]) -> list[str]:
    """The image by its id (a tag may move meanwhile), and the server's words, past an entry point of its own."""
    kept = not there.entry or (len(there.entry) == 1 and there.entry[0].rpartition("/")[2] in WRAPPERS)
    return [there.id, *words] if kept else ["--entrypoint", words[0], there.id, *words[1:]]


