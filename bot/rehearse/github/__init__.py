"""GitHub on loopback: a stateful fake of one repository with GitHub's manners, over a real bare git repository.

`bumpbot rehearse` and the tests run against it; nothing in it decides anything.
"""

from bot.rehearse.github.declare import (
    Account,
    AttemptScript,
    Cause,
    Concurrency,
    Input,
    JobScript,
    RunScript,
    Trigger,
    Upload,
    Workflow,
)
from bot.rehearse.github.hub import Exchange, LoopbackGitHub
from bot.rehearse.github.report import CommentMade, JobMade, RunMade

__all__ = [
    "Account",
    "AttemptScript",
    "Cause",
    "CommentMade",
    "Concurrency",
    "Exchange",
    "Input",
    "JobMade",
    "JobScript",
    "LoopbackGitHub",
    "RunMade",
    "RunScript",
    "Trigger",
    "Upload",
    "Workflow",
]
