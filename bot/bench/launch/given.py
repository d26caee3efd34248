"""Which variables go where: of this process's environment only what is named here, and a token never by its value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from bot.bench import mounts as written
from bot.bench.launch.start import Start
from bot.bench.mounts import INSIDE
from bot.errors import Refusal

TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN")
NEVER = ("GITHUB_", "ACTIONS_", "RUNNER_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_WORLD = (*PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
# What a client of containers or of Slurm needs to find its daemon, logins and folders.
CLIENT = ("HOME", "USER", "LOGNAME", "TMPDIR", "REGISTRY_AUTH_FILE", *_WORLD)
CLIENT_BEGINS = ("DOCKER_", "CONTAINERS_", "CONTAINER_HOST", "CONTAINER_SSHKEY", "XDG_", "ENROOT_", "SLURM_", "MUNGE_", "DBUS_")
# What a server that is a process of this machine finds its libraries and caches with.
PROCESS = ("HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "VIRTUAL_ENV",
           "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE",
           *_WORLD)
# Told to every server: whether models may be fetched. No recipe lifts it.
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
DAEMONS = ("DOCKER_HOST", "CONTAINER_HOST", "CONTAINERD_ADDRESS", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK")
SOCKETS = ("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock")
SCANNED = 20_000
"""Files of a folder that are looked at for a socket before it is mounted."""


def to_client(start: Start) -> dict[str, str]:
    """The environment of docker, podman, enroot and srun themselves."""
    passed = {name: value for name, value in start.host.env.items() if name in CLIENT or name.startswith(CLIENT_BEGINS)}
    return {"LC_ALL": "C", **passed}


def token(env: Mapping[str, str]) -> dict[str, str]:
    """The token for models, under the name that everything reads; empty where there is none."""
    return next(({"HF_TOKEN": env[name]} for name in TOKENS if env.get(name)), {})


def split(values: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(plain, hidden) of what the operator gives a container. Hidden is named alone, and its value is in the client's environment,
    in the place of the client's own where that has one: a proxy with a password stood in the list of processes and in bench.json.
    Plain is what the client itself finds its daemon, logins and folders by, which must stay its own; no secret is among it."""
    own = {name for name in values if name == "PATH" or (name in CLIENT and name not in _WORLD) or name.startswith(CLIENT_BEGINS)}
    return {name: values[name] for name in own}, {name: value for name, value in values.items() if name not in own}


def contained(start: Start, recipe: Mapping[str, str], operator: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(plain, hidden) of all that a container gets: the recipe's variables, over them the operator's and the token for models."""
    secret = {**operator, **token(start.host.env)}
    shown, hidden = split(secret)
    plain = {name: value for name, value in recipe.items() if name not in secret}
    return plain | shown | offline(start, secret) | cache(start), hidden


def of_machine(start: Start) -> dict[str, str]:
    """What the operator gives every server. Refusal for what a workflow's steps alone may have (SECURITY.md 4)."""
    for name in start.machine.env:
        if name.upper().startswith(NEVER):
            raise Refusal(f"the machine file gives {name} to servers, which is the workflow's own", "take it out of `env` there")
    return dict(start.machine.env)


def operators(start: Start) -> dict[str, str]:
    """What the operator says by variables: the machine file's before this process's own."""
    return {**start.host.env, **start.machine.env}


def offline(start: Start, over: Mapping[str, str]) -> dict[str, str]:
    """Both switches as the operator has them, without those that `over` says already. Where one of them is on the other is not
    left to a recipe: Hugging Face reads the second only where the first says nothing."""
    own = {name: value for name in OFFLINE if (value := operators(start).get(name))}
    on = next((value for value in own.values() if value.upper() in ("1", "ON", "YES", "TRUE")), None)
    told = {**({name: on for name in OFFLINE} if on else {}), **own}
    return {name: value for name, value in told.items() if name not in over}


def cache(start: Start) -> dict[str, str]:
    """Where a container finds models that lie here. Its HF_HOME stays its own: in ours lie logins too."""
    return {"HF_HUB_CACHE": INSIDE} if models(start) else {}


def models(start: Start) -> Path | None:
    """The folder of the Hugging Face cache: the machine file's, else this process's own where it is there. Refusal where the
    machine file names one that is not."""
    named = start.machine.models
    if named and not Path(named).is_dir():
        raise Refusal(f"the models' folder {named} is not there", "correct `models` in the machine file")
    folder = named or start.host.env.get("HF_HOME", "")
    return Path(folder).absolute() if folder and Path(folder).is_dir() else None


def mounts(start: Start) -> list[tuple[str, str, bool]]:
    """Folder here, folder there, and whether it may be written: the models' cache may (an image that is not trusted can change
    what lies there), all else is read only. Of the cache it is `hub` alone: beside it lie the logins (`token`, `stored_tokens`).
    Refusal for a folder that is not there, and for a socket, or a folder with one: a daemon's would hand over the machine."""
    for _, reason, hint in written.faults(start.machine.mounts):
        raise Refusal(reason, hint)
    found = [(str(_hub(folder)), INSIDE, True)] if (folder := models(start)) else []
    for here, there in map(written.split, start.machine.mounts):
        if not Path(here).exists():
            raise Refusal(f"the mount {here} is not there", "correct `mounts` in the machine file")
        if _opens(Path(here).resolve(), start.host.env):
            raise Refusal(f"the mount {here} would give a container this machine's daemons", "mount a folder without sockets")
        found.append((here, there, False))
    return found


def _hub(folder: Path) -> Path:
    """The models of a cache; made where it has none yet, since a container's client would make it as root."""
    hub = folder / "hub"
    try:
        hub.mkdir(exist_ok=True)
    except OSError as error:
        raise Refusal(f"{hub}: {error.strerror}", "let `models` in the machine file (HF_HOME) name a cache") from None
    return hub


def _opens(folder: Path, env: Mapping[str, str]) -> bool:
    """Whether a mount of this folder would let a container talk to this machine's daemons, also where their sockets have other
    places than usual: read only hinders no connection."""
    told = [env[name].removeprefix("unix://") for name in DAEMONS if env.get(name, "").startswith(("/", "unix:///"))]
    known = [Path(place) for place in (*SOCKETS, *told, f"/run/user/{os.getuid()}")]
    if _socket(folder) or any(place.resolve().is_relative_to(folder) for place in known):
        return True
    files = (Path(top) / name for top, _, names in os.walk(folder) for name in names)
    return any(map(_socket, islice(files, SCANNED)))


def _socket(file: Path) -> bool:
    try:
        return file.is_socket()
    except OSError:
        return False
