"""The words that start a server, engine by engine, and the environment that a recipe may give it.

A recipe comes from a pull request: each of its arguments becomes one or two words, never a part of a shell's line, and what the
machine decides (address, port, model, revision, GPUs, tokens) is not the recipe's to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bot.errors import Refusal
from bot.model.bench import Order, Scalar

Words = tuple[str, ...]


class Unfit(Refusal):
    """What stands in a recipe's `serve` and is not a recipe's to say; `place` is where there (`args` or `env`, and the name)."""

    def __init__(self, where: str, name: str, reason: str, hint: str) -> None:
        super().__init__(reason, hint)
        self.place = ("serve", where, name)


_ARGUMENT = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,119}")
LONGEST = 32_768
"""Characters of one value; the kernel ends the whole command line not far above it."""


class Engine(Struct, frozen=True, kw_only=True):
    """How one engine is started. `model` None: the model is the first word after `start`; `revision` None: it takes none.
    `short` are names of recipes that the engine spells another way; a name ending in `?` is a flag, set for any value above 1.
    `negated` are the switches that it has on where nothing is said, so that `false` must be (`--no-...`)."""

    start: Words
    model: str | None
    host: str = "--host"
    port: str = "--port"
    revision: str | None = "--revision"
    short: Mapping[str, str] = {}
    negated: frozenset[str] = frozenset()


_VLLM = Engine(
    start=("vllm", "serve"), model=None,
    short={"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "dp": "data-parallel-size",
           "ep": "enable-expert-parallel?"},
    negated=frozenset({"enable-prefix-caching", "enable-chunked-prefill", "async-scheduling", "use-tqdm-on-load"}))
_SGLANG = Engine(start=("python3", "-m", "sglang.launch_server"), model="--model-path")
# `trtllm-serve MODEL`: its options are spelled with `_`, and the revision of a model is none of them in every release.
_TRTLLM = Engine(start=("trtllm-serve",), model=None, revision=None,
                 short={"tp": "tp_size", "pp": "pp_size", "ep": "ep_size"})
# `--server-port` is the address of its HTTP; `--port` is what its workers talk over.
_ATOM = Engine(start=("python3", "-m", "atom.entrypoints.openai_server"), model="--model", port="--server-port", revision=None,
               short={"tp": "tensor-parallel-size", "dp": "data-parallel-size", "ep": "enable-expert-parallel?"})
ENGINES: Mapping[str, Engine] = {
    "vllm": _VLLM, "vllm-omni": _VLLM, "sglang": _SGLANG, "sgl": _SGLANG, "trtllm": _TRTLLM, "trt": _TRTLLM,
    "tensorrt-llm": _TRTLLM, "tensorrt_llm": _TRTLLM, "atom": _ATOM,
}
_PLAIN = Engine(start=(), model=None)

# Names of arguments, without what the machine or the point says; and what would make the server ask for a key or a certificate
# that no client here has. A beginning of one counts as it: argparse takes beginnings.
RESERVED: Mapping[str, str] = {
    **dict.fromkeys(("host", "port", "server-port", "server-name", "uds", "fastapi-root-path", "root-path"),
                    "the machine chooses the server's address"),
    **dict.fromkeys(("model", "model-path", "revision"), "the recipe's `model` says it"),
    **dict.fromkeys(("api-key", "admin-api-key", "ssl-keyfile", "ssl-certfile", "ssl-ca-certs", "ssl-keyfile-password"),
                    "clients here have neither keys nor certificates"),
    "hf-token": "a token is never part of a command line",
}

_MACHINE, _SECRET, _OURS = "the machine decides it", "a recipe holds no secrets", "it belongs to whoever runs this"
# Whole names, and beginnings (`GITHUB_*`).
FORBIDDEN: Mapping[str, str] = {
    **dict.fromkeys(("GITHUB_*", "ACTIONS_*", "RUNNER_*", "BUMPBOT_*", "SLURM_*", "SBATCH_*", "SRUN_*", "DOCKER_*", "CONTAINERS_*",
                     "CONTAINER_HOST", "ENROOT_*", "PYXIS_*", "AWS_*", "AZURE_*", "GOOGLE_*", "NGC_*", "INPUT_*", "CI"), _OURS),
    **dict.fromkeys(("HF_TOKEN", "HF_TOKEN_PATH", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HUGGINGFACE_TOKEN",
                     "GH_TOKEN", "WANDB_API_KEY", "OPENAI_API_KEY", "VLLM_API_KEY"), _SECRET),
    # The token would follow the endpoint to another host.
    **dict.fromkeys(("HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_XET_*", "TRANSFORMERS_CACHE",
                     "CUDA_VISIBLE_DEVICES", "NVIDIA_*", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                     "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
                     "CURL_CA_BUNDLE"), _MACHINE),
}
# Of a server that is a process of this machine, what decides which code runs.
FORBIDDEN_HERE: Mapping[str, str] = dict.fromkeys(
    ("LD_*", "DYLD_*", "PYTHON*", "PATH", "HOME", "USER", "LOGNAME", "SHELL", "IFS", "ENV", "BASH*", "TMPDIR", "XDG_*",
     "GCONV_PATH", "GLIBC_*", "MALLOC_*", "LOCPATH", "NODE_*", "PERL*", "RUBY*", "JAVA_*", "GIT_*", "SSH_*", "CC", "CXX", "NVCC_*",
     "CUDA_HOME", "VIRTUAL_ENV", "CONDA_*", "PIP_*", "UV_*"), "on a machine without a container it would decide which code runs")


def serve(order: Order, *, host: str, port: int) -> Words:
    """The words of the order's server inside its image, listening there. Refusal for an engine that is not known, and for an
    argument that is not a recipe's to give."""
    engine = ENGINES.get(order.engine.lower())
    if engine is None:
        raise Refusal(f"how {_shown(order.engine)} is started is not known here",
                      f"known are {', '.join(sorted(ENGINES))}; or name its command with --server")
    checked(order)
    words = [*engine.start, *((engine.model,) if engine.model else ()), order.model]
    if engine.revision and order.revision:
        words += [engine.revision, order.revision]
    return (*words, engine.host, host, engine.port, str(port), *arguments(order, engine))


def unsaid(order: Order) -> str | None:
    """What the engine cannot be told of the order, as one line; None where it can be told everything."""
    engine = ENGINES.get(order.engine.lower())
    if engine is not None and engine.revision is None and order.revision:
        return f"{order.engine} takes no revision of a model: it serves what the cache or the hub has as the newest"
    return None


def checked(order: Order) -> None:
    """Refusal for a model or revision that could be taken for an option."""
    for what, text, grammar in (("model", order.model, _MODEL), ("revision", order.revision or "-", _REVISION)):
        if text != "-" and not grammar.fullmatch(text):
            raise Refusal(f"the {what} {_shown(text)} has no {what}'s form", "write it as the model hub does")


def arguments(order: Order, engine: Engine | None = None) -> Words:
    """The recipe's arguments as words. True is a flag, null is left out, and so is false where the engine has it so."""
    engine = engine or ENGINES.get(order.engine.lower(), _PLAIN)
    words: list[str] = []
    for name, value in order.args.items():
        _allowed(name)
        spelled = engine.short.get(name, name)
        if spelled.endswith("?"):
            spelled, value = spelled[:-1], value is True or (isinstance(value, (int, float)) and value > 1)
        words += _words(name, spelled, value, engine)
    return tuple(words)


def _words(name: str, spelled: str, value: Scalar, engine: Engine) -> Sequence[str]:
    if value is None or value is False:
        off = spelled.replace("_", "-")
        return (f"--no-{off}",) if value is False and off in engine.negated else ()
    if value is True:
        return (f"--{spelled}",)
    text = _text(value)
    if len(text) > LONGEST or not text.isprintable():
        raise Unfit("args", name, f"the argument {name}: its value is too long, or holds what cannot be printed", "shorten it")
    return (f"--{spelled}={text}",) if text.startswith("-") or not text else (f"--{spelled}", text)


def _allowed(name: str) -> None:
    if not _ARGUMENT.fullmatch(name):
        raise Unfit("args", name, f"the argument {_shown(name)} has no argument's form",
                    "write it without dashes before: context-length")
    plain = name.lower().replace("_", "-").replace(".", "-")
    for taken, why in RESERVED.items():
        # One letter is the beginning of several options of every engine, which argparse refuses itself.
        if plain == taken or (len(plain) > 1 and taken.startswith(plain)):
            raise Unfit("args", name, f"the recipe's argument {name} is not taken: {why}", "take it out of serve.args")


def environment(order: Order, *, contained: bool) -> dict[str, str]:
    """The recipe's variables. Refusal for a name that is not a recipe's to set; `contained`: the server has an image of its
    own, so that a path to libraries means that image's."""
    made = {}
    for name, value in order.env.items():
        if not _VARIABLE.fullmatch(name):
            raise Unfit("env", name, f"the variable {_shown(name)} has no variable's form", "letters, digits and `_`")
        why = _forbidden(name, FORBIDDEN) or ("" if contained else _forbidden(name, FORBIDDEN_HERE))
        if why:
            raise Unfit("env", name, f"the recipe's variable {name} is not set: {why}", "take it out of serve.env")
        if value is None:
            continue
        # Engines read switches of the environment as numbers: `int("true")` is the end of vLLM.
        text = str(int(value)) if isinstance(value, bool) else _text(value)
        if len(text) > LONGEST or not text.isprintable():
            raise Unfit("env", name, f"the variable {name}: its value is too long, or holds what cannot be printed", "shorten it")
        made[name] = text
    return made


def _forbidden(name: str, table: Mapping[str, str]) -> str:
    upper = name.upper()
    return next((why for taken, why in table.items()
                 if upper == taken or (taken.endswith("*") and upper.startswith(taken[:-1]))), "")


def _text(value: Scalar) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _shown(text: str) -> str:
    return repr(text[:80])
