"""What the launchers' programs say when they fail, and what it means for the one who reads it.

The wordings are those of docker 20 to 28, podman 4 and 5, enroot 3 and 4 and srun. The first that fits counts: a registry
answers `denied` for a repository that it does not have.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.bench.diary import Word, known
from bot.errors import BumpbotError, Refusal, Unreachable
from bot.strict.words import one_line


class Fault(NamedTuple):
    """`reason` and `hint` may name `{client}`, `{image}` and `{platform}`."""

    pattern: str
    kind: type[BumpbotError]
    reason: str
    hint: str
    word: Word = "launch-failed"


FAULTS = (
    Fault(r"permission denied while trying to connect|docker\.sock.*permission denied", Refusal,
          "this user may not use the daemon of {client}", "add the runner's user to its group, or run rootless podman",
          "launcher-denied"),
    Fault(r"cannot connect to the docker daemon|is the docker daemon running|error during connect|unable to connect to podman",
          Unreachable, "the daemon of {client} does not answer", "start it, and look at its own log",
          "launcher-silent"),
    Fault(r"no space left on device|disk quota exceeded|ENOSPC|not enough space", Refusal,
          "no space left on the disk of {client}", "make room ({client} image prune), then run it again",
          "disk-full"),
    Fault(r"toomanyrequests|pull rate limit|429 too many|error code: 429", Unreachable,
          "the registry's limit of pulls is reached", "log in to it ({client} login), or wait",
          "registry-limit"),
    Fault(r"no matching manifest|no image found in (?:image index|manifest list)|does not match the (?:specified|requested)"
          r"|architecture doesn't match|exec format error", Refusal,
          "{image} has no build for this machine ({platform})", "name an image of this platform, or run it on another machine",
          "image-platform"),
    Fault(r"pull access denied|unauthorized|authentication required|(?:error code: |status code )40[13]|\b40[13] (?:forbidden|"
          r"unauthorized)|no basic auth credentials|(?:incorrect|invalid|bad) (?:username|credentials)|"
          r"requested access to the resource is denied", Refusal,
          "the registry does not give out {image}: no such repository, or only after a login", "look at its name; {client} login",
          "image-denied"),
    Fault(r"manifest unknown|manifest for .* not found|name unknown|repository .* not found|error code: 404|\b404 not found|"
          r"no such image|image not known", Refusal,
          "there is no image {image}", "look at its tag and digest: bumpbot image REF",
          "image-unknown"),
    Fault(r"could not parse digest information", Refusal, "enroot cannot read the manifest of {image}",
          "an index of OCI needs a newer Enroot, or the digest of the manifest for this platform"),
    Fault(r"invalid reference format|invalid image reference|short-name .* did not resolve", Refusal,
          "{client} does not read {image}", "write registry/repository:tag@sha256:..."),
    Fault(r"could not select device driver|unresolvable CDI devices|nvidia-container-cli|failed to inject CDI|custom device|"
          r"stat /dev/(?:kfd|dri)|unknown or invalid runtime name|failed to initialize NVML", Refusal,
          "{client} cannot hand GPUs to a container here", "install the vendor's container toolkit, and try it with a small image",
          "gpu-runtime"),
    Fault(r"port is already allocated|address already in use|ports are not available", Refusal,
          "the port was taken meanwhile", "run it again, or name another port in the machine file",
          "port-taken"),
    Fault(r"bind source path does not exist|statfs \S+: no such file|error mounting|not a directory: unknown", Refusal,
          "a folder of the machine file cannot be mounted", "look at `models` and `mounts` there",
          "mount-missing"),
    Fault(r"executable file not found|command that was not found|no such file or directory: unknown", Refusal,
          "{image} has no such program as its engine starts", "look at the recipe's engine; --server names another command"),
    Fault(r"requires? at least|is already in use by|name .* in use", Refusal,
          "{client} has something of the same name", "remove it, and run it again"),
    Fault(r"invalid partition|invalid account|requested node configuration is not available|invalid generic resource", Refusal,
          "Slurm does not know what it was asked for", "look at `slurm` in the machine file"),
    Fault(r"unable to contact slurm|unable to allocate resources|socket timed out", Unreachable,
          "Slurm gives no resources now", "look at sinfo; try again later",
          "slurm-busy"),
    Fault(r"no such host|connection refused|i/o timeout|network is unreachable|handshake timeout|connection reset|request canceled|"
          r"\bEOF\b|temporary failure|bad gateway|service unavailable|internal server error|error code: 5\d\d|could not resolve|"
          r"failed to connect|timed out|deadline exceeded|no route to host|x509|certificate", Unreachable,
          "the registry of {image} does not answer", "look at the network and at the registry; try again later",
          "registry-silent"),
)
_COMPILED = tuple((re.compile(fault.pattern, re.IGNORECASE), fault) for fault in FAULTS)
MOST = 65_536


def fault(output: str, code: int, *, client: str, image: str, what: str, platform: str = "") -> BumpbotError:
    """What a failed call means. The program's own last line stands in the hint, for whoever knows it better."""
    text = output[-MOST:]
    lines = [line for line in text.splitlines() if line.strip() and "--help'" not in line]
    last = one_line(lines[-1].strip(), 240) if lines else "it said nothing"
    for pattern, one in _COMPILED:
        if pattern.search(text):
            reason = one.reason.format(client=client, image=image, platform=platform or "of another platform")
            return known(one.kind(reason, f"{one.hint.format(client=client)} (it said: {last})"), one.word, client)
    return Refusal(f"{what} failed with exit code {code}", f"look at logs/launch.log (it said: {last})")
