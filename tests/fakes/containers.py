"""Stand-ins for docker, podman, enroot, srun, scancel and squeue: programs that keep images and containers in a folder.

They take the words that `bot.bench.launch` gives the real ones, refuse any other, and answer as docker 28.2 (daemon 20.10), podman 4.3
and enroot 3.5 do: outputs and exit codes below were taken from the first two and from the third's source. A container really
runs: its image names a program, which is started with the container's words.

`world.json` in their folder is what a test plants: `images` (reference ->
digest, architecture, entry, program), `faults` (command -> what it says and its exit code), `slow` (command -> seconds).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from zlib import crc32

TYPE_CHECKING = False  # of `typing`, whose import would take longer than all else here
if TYPE_CHECKING:
    from typing import Any, NoReturn

SCRIPT = Path(__file__)
NAMES = ("docker", "podman", "enroot", "srun", "scancel", "squeue")
# Options of `create` that take a value, and those that take none.
_VALUED = ("--name", "--label", "--pull", "--publish", "--shm-size", "--cap-drop", "--cap-add", "--security-opt", "--env", "--mount",
           "--device", "--gpus", "--group-add", "--entrypoint", "--log-driver")
_BARE = {"podman": ("--http-proxy=false",), "docker": ()}


class World:
    """The planted world, as a test makes and looks at it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir(parents=True)
        (folder / "containers").mkdir()
        self._said: dict[str, Any] = {"images": {}, "faults": {}, "slow": {}}
        self._keep()

    def install(self, *names: str) -> World:
        for name in names:
            file = self.bin / name
            # Imported, not run by path: so it is compiled once, and a story makes a dozen calls.
            file.write_text(f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(SCRIPT.parent)!r})\n"
                            f"import containers\ncontainers.run({str(self.folder)!r}, {name!r}, sys.argv[1:])\n")
            file.chmod(0o755)
        return self

    def holds(self, reference: str, *, program: list[str], architecture: str | None = None, entry: list[str] | None = None) -> str:
        """An image of the registry; its digest."""
        digest = f"sha256:{_hex((reference, program, architecture, entry))}"
        self._said["images"][reference] = {
            "digest": digest, "architecture": architecture or _architecture(), "entry": entry, "program": program}
        self._keep()
        return digest

    def breaks(self, command: str, says: str, code: int = 1) -> None:
        """From now on a command (`pull`, `create`) fails, with these words."""
        self._said["faults"][command] = [says, code]
        self._keep()

    def slows(self, command: str, seconds: float) -> None:
        self._said["slow"][command] = seconds
        self._keep()

    def calls(self) -> list[list[str]]:
        """Every call so far, its name first."""
        return [json.loads(line)["argv"] for line in _lines(self.folder / "calls")]

    def called(self, *begin: str) -> list[list[str]]:
        return [call for call in self.calls() if call[: len(begin)] == list(begin)]

    def environments(self, *begin: str) -> list[dict[str, str]]:
        """The client's own environment at each such call."""
        found = map(json.loads, _lines(self.folder / "calls"))
        return [one["env"] for one in found if one["argv"][: len(begin)] == list(begin)]

    def containers(self) -> dict[str, dict[str, Any]]:
        return {file.stem: json.loads(file.read_text()) for file in (self.folder / "containers").glob("*.json")}

    def leaves(self, name: str, labels: dict[str, str]) -> None:
        """A container that somebody else made and did not remove."""
        _write(self.folder / "containers" / f"{name}.json", {
            "Id": _hex(name), "labels": labels, "state": {"Status": "exited", "ExitCode": 0}})

    def _keep(self) -> None:
        _write(self.folder / "world.json", self._said)


def _hex(what: object) -> str:
    """Something like the digest of it."""
    return "".join(f"{crc32(f'{part}{what!r}'.encode()):08x}" for part in range(8))


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def _architecture() -> str:
    machine = os.uname().machine
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def _write(file: Path, value: Any) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_text(json.dumps(value))
    part.replace(file)


# ---------------------------------------------------------------------------------------------------- the programs

def fail(code: int, words: str) -> NoReturn:
    print(words, file=sys.stderr)
    sys.exit(code)


class Program:
    """One call of one of the programs."""

    def __init__(self, folder: Path, name: str, words: list[str]) -> None:
        self.folder, self.name, self.words = folder, name, words
        self.world = json.loads((folder / "world.json").read_text())
        with (folder / "calls").open("a") as file:
            file.write(json.dumps({"argv": [name, *words], "env": dict(os.environ)}) + "\n")

    def run(self) -> None:
        command = self.name if self.name in ("srun", "scancel", "squeue") else self.words[0]
        if command == "image":
            command = "image_inspect"
        time.sleep(self.world["slow"].get(command, 0))
        if command in self.world["faults"]:
            says, code = self.world["faults"][command]
            fail(code, says)
        kind = Enroot if self.name == "enroot" else Slurm if self.name in ("srun", "scancel", "squeue") else Containers
        getattr(kind(self), command)(*self.words[0 if command == self.name else 1:])

    def image(self, name: str) -> tuple[str, dict[str, Any]] | None:
        """An image of the registry by a name with a tag or digest."""
        for reference, one in self.world["images"].items():
            if name in (reference, f"{reference.rpartition(':')[0]}@{one['digest']}"):
                return reference, one
        return None

    def file(self, name: str) -> Path:
        return self.folder / "containers" / f"{name}.json"

    def container(self, name: str) -> dict[str, Any] | None:
        for file in (self.folder / "containers").glob("*.json"):
            one = json.loads(file.read_text())
            if name in (file.stem, one["Id"]):
                return {**one, "name": file.stem}
        return None


class Containers:
    def __init__(self, program: Program) -> None:
        self.program, self.podman = program, program.name == "podman"
        self.bad = 125 if self.podman else 1
        self.there = program.folder / f"{program.name}.images"

    def version(self, option: str, template: str) -> None:
        assert (option, template) == ("--format", "{{.Client.OsArch}}" if self.podman else "{{.Server.Os}}/{{.Server.Arch}}")
        print(f"linux/{_architecture()}")

    def pull(self, name: str) -> None:
        found = self.program.image(name)
        if found is None and self.podman:
            print(f"Trying to pull {name}...", file=sys.stderr)
            fail(125, f"Error: initializing source docker://{name}: reading manifest x in {name}: manifest unknown: manifest unknown")
        if found is None:
            fail(1, f"Error response from daemon: manifest for {name} not found: manifest unknown: manifest unknown")
        reference, one = found
        known = json.loads(self.there.read_text()) if self.there.exists() else {}
        _write(self.there, {**known, reference: one})
        if self.podman:
            print(f"Trying to pull {name}...\nGetting image source signatures\nStoring signatures", file=sys.stderr)
            print(self._id(one))
        else:
            print(f"Pulling from x\nDigest: {one['digest']}\nStatus: Downloaded newer image for {name}\n{name}")

    def image_inspect(self, inspect: str, name: str) -> None:
        assert inspect == "inspect"
        known = json.loads(self.there.read_text()) if self.there.exists() else {}
        found = self.program.image(name)
        if found is None or found[0] not in known:
            print("[]")
            fail(self.bad, f"Error: inspecting object: {name}: image not known" if self.podman else
                 f"Error response from daemon: no such image: {name}: No such image: {name}")
        reference, one = found[0], known[found[0]]
        repository = reference.rpartition(":")[0]
        repository = repository if self.podman else repository.removeprefix("docker.io/")
        print(json.dumps([{
            "Id": self._id(one), "Os": "linux", "Architecture": one["architecture"],
            "RepoDigests": [f"{repository}@{one.get('instead', one['digest'])}"], "Config": {"Entrypoint": one["entry"], "Env": ["PATH=/"]}}]))

    def ps(self, *words: str) -> None:
        assert words[:3] == ("--all", "--quiet", "--no-trunc")
        assert all(option == "--filter" for option in words[3::2])
        for file in sorted((self.program.folder / "containers").glob("*.json")):
            one = json.loads(file.read_text())
            if all(self._fits(file.stem, one, wanted) for wanted in words[4::2]):
                print(one["Id"])

    def _fits(self, name: str, one: dict[str, Any], wanted: str) -> bool:
        kind, _, value = wanted.partition("=")
        key, has, exact = value.partition("=")
        return value == f"^{name}$" if kind == "name" else key in one["labels"] and (not has or one["labels"][key] == exact)

    def create(self, *words: str) -> None:
        options: dict[str, list[str]] = {}
        at = 0
        while words[at].startswith("--"):
            if words[at] in _BARE[self.program.name]:
                at += 1
                continue
            assert words[at] in _VALUED, words[at]
            options.setdefault(words[at], []).append(words[at + 1])
            at += 2
        image, *rest = words[at:]
        known = json.loads(self.there.read_text())
        one = next(each for each in known.values() if self._id(each) == image)
        [name] = options["--name"]
        if self.program.container(name):
            fail(125, f'Error: the container name "{name}" is already in use')
        env = dict(self._variable(word) for word in options.get("--env", ()))
        ident = _hex(name)
        _write(self.program.file(name), {
            "Id": ident, "labels": dict(word.split("=", 1) for word in options["--label"]), "env": env,
            "argv": [*one["program"], *options.get("--entrypoint", one["entry"] or ()), *rest],
            "state": {"Status": "created", "ExitCode": 0, "OOMKilled": False, "StartedAt": "0001-01-01T00:00:00Z"}})
        print(ident)

    def _variable(self, word: str) -> tuple[str, str]:
        name, equals, value = word.partition("=")
        return name, value if equals else os.environ[name]

    def start(self, attach: str, name: str) -> None:
        """As attached clients do: the container's output, its exit code, and signals handed on."""
        assert attach == "--attach"
        one = self.program.container(name)
        assert one is not None
        import subprocess

        child = subprocess.Popen(one["argv"], env={"PATH": os.environ["PATH"], **one["env"]}, start_new_session=True)
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        self._state(name, {"Status": "running", "ExitCode": 0, "OOMKilled": False, "StartedAt": "2026-11-30T22:51:05Z"}, child.pid)
        code = child.wait()
        code = code if code >= 0 else 128 - code
        self._state(name, {"Status": "exited", "ExitCode": code, "OOMKilled": code == 137 and "oom" in " ".join(one["argv"]),
                           "StartedAt": "2026-11-30T22:51:05Z"}, None)
        sys.exit(code)

    def _state(self, name: str, state: dict[str, Any], pid: int | None) -> None:
        file = self.program.file(name)
        if file.exists():
            _write(file, {**json.loads(file.read_text()), "state": state, "pid": pid})

    def inspect(self, option: str, template: str, name: str) -> None:
        one = self.program.container(name)
        if one is None:
            fail(self.bad, f"Error: No such object: {name}")
        print(json.dumps(one["state"]) if template == "{{json .State}}" else one["labels"].get("bumpbot.bench", ""))

    def stop(self, option: str, seconds: str, name: str) -> None:
        assert option == "-t"
        one = self.program.container(name)
        if one is None:
            fail(self.bad, f"Error response from daemon: No such container: {name}")
        self._end(name, float(seconds))
        print(name)

    def _end(self, name: str, grace: float) -> None:
        for number, until in ((signal.SIGTERM, time.monotonic() + grace), (signal.SIGKILL, time.monotonic() + grace + 5)):
            one = self.program.container(name) or {}
            if one.get("pid"):
                with suppress(ProcessLookupError):
                    os.killpg(one["pid"], number)
            while time.monotonic() < until and (self.program.container(name) or {}).get("state", {}).get("Status") == "running":
                time.sleep(0.01)

    def rm(self, force: str, name: str) -> None:
        assert force == "--force"
        one = self.program.container(name)
        if one is None:
            sys.exit(print("" if self.podman else f"Error response from daemon: No such container: {name}", file=sys.stderr))
        self._end(one["name"], 0)
        self.program.file(one["name"]).unlink()
        print(name)

    def _id(self, one: dict[str, Any]) -> str:
        ident = _hex(one["digest"])
        return ident if self.podman else f"sha256:{ident}"


class Enroot:
    """A squash file is JSON that names its image; a container a file of its name below `roots`."""

    def __init__(self, program: Program) -> None:
        self.program, self.roots = program, program.folder / "roots"
        self.roots.mkdir(exist_ok=True)

    def __getattr__(self, name: str) -> Any:
        return {"import": self.imported}[name]

    def imported(self, option: str, file: str, uri: str) -> None:
        assert option == "--output" and uri.startswith("docker://"), uri
        registry, hashed, rest = uri.removeprefix("docker://").rpartition("#")
        path, _, tag = rest.partition(":")
        name = f"{registry if hashed else 'docker.io'}/{path}"
        found = self.program.image(f"{name}@{tag}" if tag.startswith("sha256:") else f"{name}:{tag}")
        if Path(file).exists():
            fail(1, f"[ERROR] File already exists: {file}")
        if found is None:
            fail(1, f"[INFO] Querying registry for permission grant\n[ERROR] URL https://x/v2/{path} returned error code: 404 Not Found")
        if found[1]["architecture"] != _architecture():
            print(f"[WARN] Image architecture doesn't match the requested one: {found[1]['architecture']}", file=sys.stderr)
        Path(file).write_text(json.dumps(found[1]))

    def create(self, option: str, name: str, file: str) -> None:
        assert option == "--name"
        _write(self.roots / name, json.loads(Path(file).read_text()))

    def start(self, *words: str) -> None:
        at, env = 0, {}
        while words[at].startswith("--"):
            if words[at] == "--env":
                name, equals, value = words[at + 1].partition("=")
                env[name] = value if equals else os.environ[name]
            assert words[at] in ("--rw", "--rc", "--conf", "--env", "--mount"), words[at]
            at += 1 if words[at] == "--rw" else 2
        name, *rest = words[at:]
        if not (self.roots / name).exists():
            fail(1, f"[ERROR] No such file or directory: {self.roots / name}")
        one = json.loads((self.roots / name).read_text())
        os.execvpe(one["program"][0], [*one["program"], *rest], {"PATH": os.environ["PATH"], **env})

    def remove(self, force: str, name: str) -> None:
        assert force == "--force"
        if not (self.roots / name).exists():
            fail(1, f"[ERROR] No such file or directory: {self.roots / name}")
        (self.roots / name).unlink()


class Slurm:
    def __init__(self, program: Program) -> None:
        self.program = program

    def srun(self, *words: str) -> None:
        at = next(at for at, word in enumerate(words) if not word.startswith("-"))
        os.execvp(words[at], words[at:])

    def scancel(self, target: str) -> None:
        pass

    def squeue(self, *words: str) -> None:
        job = next(word.partition("=")[2] for word in words if word.startswith("--jobs="))
        ours = next(word.partition("=")[2] for call in _lines(self.program.folder / "calls")
                    for word in json.loads(call)["argv"] if word.startswith("--job-name="))
        print(f"{job}.batch batch\n{job}.3 {ours}\n{job}.4 somebody-elses")


def run(folder: str, name: str, words: list[str]) -> None:
    """One call of one program, in the world of this folder."""
    Program(Path(folder), name, words).run()
