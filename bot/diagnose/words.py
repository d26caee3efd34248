"""The words that tell a log's story beside its errors: signs of life, of the end, of readiness; and who wrote the log."""

from __future__ import annotations

import re

import re2

from bot.diagnose.signatures import Role

# What makes a line worth taking apart, beside the signatures. Everything below that looks at lines must be within it.
_WORTH = (
    r"(?i:error|exception|fatal|critical|severe|traceback|failure|fault|impossible|panicked|core dumped|terminate|aborted)|"
    r"[EF]\d{3,4} \d\d:"
)
_END_WORDS = (
    r"SIGTERM|signal 15\b|received exit signal|shutting down|CANCELLED AT|scancel|: Terminated\b|tearing down|teardown|"
    r"Killing (?:remaining|all)|exit code:? 143"
)
_COMPLETED_WORDS = r"benchmark completed successfully|all evals? (?:passed|completed)|(?:PASS|OK): .* = [0-9.]+ \(>="
_READY_WORDS = (
    r"application startup complete|uvicorn running on|the server is fired up|server is (?:ready|healthy)|model is ready|"
    r"starting vllm (?:api )?server|starting server|health check passed"
)
_LIMIT_WORDS = r"DUE TO TIME LIMIT|exceeded the maximum execution time"
ENDED, COMPLETED, READY, LIMIT = (
    re2.compile(f"(?i){words}") for words in (_END_WORDS, _COMPLETED_WORDS, _READY_WORDS, _LIMIT_WORDS)
)
_SIGN_WORDS = f"(?i:{_END_WORDS}|{_COMPLETED_WORDS}|{_READY_WORDS}|{_LIMIT_WORDS})"
SIGNS = re2.compile(_SIGN_WORDS)
WORTH = f"{_WORTH}|{_SIGN_WORDS}"
ALIVE = (" 200", "throughput", "requests", "request completed", "status=", "completed successfully")
PROGRESS = re2.compile(
    r"(?i)\"?POST /v1/\S+.{0,60}\b200\b|status=\"?success|request completed|(?:successful|completed) requests?:?\s+[1-9]|"
    r"benchmark completed successfully|(?:generation throughput|gen throughput \(token/s\)): (?:[1-9]|0\.0*[1-9])"
)
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("frontend", r"frontend|router|ingress|processor"),
        (
            "worker",
            r"(?:^|[_.-])(?:agg|prefill|decode|worker|server|engine|rank)(?:[_.-]?w?\d+)*(?:[_.-]|$)|server_logs?",
        ),
        ("infra", r"etcd|nats"),
        ("eval", r"(?:^|[_.-])(?:evals?|lm[_-]?eval)(?:[_.-]|\d|$)"),
        ("benchmark", r"bench|aiperf|load|client"),
        ("slurm", r"slurm|srun|sbatch|launch"),
    )
)
_NODE = re.compile(
    r"(?P<node>[A-Za-z0-9][A-Za-z0-9.-]*?)_(?:frontend|router|agg|prefill|decode|worker|server|engine|etcd|nats|infra)(?:[_.]|\d|$)"
)
SRUN_NODE = re.compile(r"srun: error: (?P<node>[A-Za-z0-9][A-Za-z0-9.-]{0,80}): tasks? ")


def role_of(name: str) -> Role:
    """Which part of the system wrote a log, from its name; a folder speaks only when the file's own name does not."""
    for part in reversed(name.lower().split("/")):
        for role, pattern in _ROLES:
            if pattern.search(part):
                return role
    return "other"


def node_of(name: str) -> str | None:
    """The machine in front of the role in a file's name, as `cn04_agg_w3.out` has it."""
    found = _NODE.match(name.rsplit("/", 1)[-1])
    return found["node"] if found else None
