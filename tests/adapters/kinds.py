"""The kinds of registry that the same stories are told of: ours of rehearsals, Debian's in three ways, one that pages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.registry import OciRegistry
from bot.rehearse.admission import Admission
from bot.rehearse.loopback import Reply, Request
from bot.rehearse.registry import ImageData, LoopbackRegistry
from tests.adapters.fake_registry import FakeClock
from tests.adapters.pager import Pager
from tests.adapters.registries import HTPASSWD, PASSWORD, USER, Asked, DockerRegistry
from tests.adapters.token_issuer import PRIVATE, Issuer

LOGINS = {USER: PASSWORD}
BASIC = {"Authorization": "Basic Ym90OnNlY3JldA=="}


class Rehearsed(LoopbackRegistry):
    """The registry of rehearsals, with a log of what it was asked, as the others have one."""

    opens = "token"

    def __init__(self) -> None:
        super().__init__({}, Admission(LOGINS, (PRIVATE,)))
        self.asked: list[Asked] = []

    @property
    def netloc(self) -> str:
        return self.url.removeprefix("http://")

    @property
    def tokens(self) -> int:
        return self.admission.given

    def spoil_tokens(self, clock: FakeClock) -> None:
        self.admission.run_out()

    def _answer(self, request: Request) -> Reply:
        reply = super()._answer(request)
        self.asked.append(Asked(method=request.method, path=request.path, status=reply.status))
        return reply


class Tokened(DockerRegistry):
    """docker-registry that believes an issuer of ours."""

    def __init__(self, folder: Path, issuer: Issuer) -> None:
        super().__init__(folder, auth=issuer.auth, login=issuer.push_headers, opens="token")
        self._issuer = issuer

    @property
    def tokens(self) -> int:
        return len(self._issuer.given)

    def spoil_tokens(self, clock: FakeClock) -> None:
        """The client forgets its token by its own clock, and the next one it gets has run out for the registry."""
        clock.moment += timedelta(hours=1)
        self._issuer.stale = 1


Kind = Rehearsed | DockerRegistry | Tokened | Pager


def loopback(folder: Path, stack: ExitStack) -> Rehearsed:
    made = Rehearsed()
    made.start()
    stack.callback(made.stop)
    return made


def plain(folder: Path, stack: ExitStack) -> DockerRegistry:
    return stack.enter_context(DockerRegistry(folder))


def htpasswd(folder: Path, stack: ExitStack) -> DockerRegistry:
    folder.mkdir(parents=True)
    (folder / "htpasswd").write_text(HTPASSWD)
    auth = f"auth: {{htpasswd: {{realm: tests, path: {folder}/htpasswd}}}}"
    return stack.enter_context(DockerRegistry(folder, auth=auth, login=lambda repository: BASIC, opens="login"))


def token(folder: Path, stack: ExitStack) -> Tokened:
    issuer = stack.enter_context(Issuer(folder, LOGINS))
    made = Tokened(folder, issuer)
    stack.enter_context(made)
    return made


def paged(folder: Path, stack: ExitStack) -> Pager:
    return stack.enter_context(Pager(plain(folder, stack)))


KINDS: dict[str, Callable[[Path, ExitStack], Kind]] = {
    "loopback": loopback, "plain": plain, "htpasswd": htpasswd, "token": token, "paged": paged}


class Running:
    """The kinds started so far."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        self._kinds: dict[str, Kind] = {}

    def __getitem__(self, name: str) -> Kind:
        if name not in self._kinds:
            self._kinds[name] = KINDS[name](self._folder / name, self._stack)
        return self._kinds[name]


def of(*names: str) -> list[object]:
    """Parameters for stories of these kinds; those that need Debian's registry are skipped where it is absent."""
    needs = pytest.mark.needs("docker-registry")
    return [pytest.param(name, marks=() if name == "loopback" else needs) for name in names]


def described(day: int = 1, **more: object) -> ImageData:
    """An index of two platforms, made and pushed on a day of September."""
    when = datetime(2026, 9, day, 12, tzinfo=UTC)
    return ImageData(**{"created": when, "pushed": when, "platforms": ("linux/amd64", "linux/arm64"), **more})


def reader(kind: Kind, *, user: str = USER, password: str = PASSWORD, clock: FakeClock | None = None) -> OciRegistry:
    """The client with a login in Docker's config; a registry that asks for none never sees it."""
    config = {"auths": {kind.netloc: {"username": user, "password": password}}}
    return OciRegistry(clock or FakeClock(), credentials=config)
