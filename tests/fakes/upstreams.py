"""Upstreams in memory are the rehearsal's own (bot.rehearse.told); beside them the survey made in this process, and ports that
are out of reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.errors import Unreachable
from bot.ports import Tree
from bot.rehearse.told import CommitsTold, UpstreamsTold, UpstreamTold
from bot.upstream.surveys import SURVEYS

__all__ = ["Away", "CommitsTold", "SurveyorHere", "UpstreamTold", "UpstreamsTold"]


class SurveyorHere:
    """Satisfies Surveyor without a child process: sources of tests are small and ours. `unreadable` are globs of paths' ends that no
    survey can read, as if a limit had stopped it."""

    def __init__(self, unreadable: Sequence[str] = ()) -> None:
        self._unreadable = tuple(unreadable)

    def survey(self, name: str, tree: Tree, paths: Sequence[str]) -> Mapping[str, Any]:
        return {path: self._one(name, tree, path) for path in paths}

    def _one(self, name: str, tree: Tree, path: str) -> Any:
        data = tree.read(path)
        if data is None or path.endswith(self._unreadable or ("\0",)):
            return None
        try:
            return SURVEYS[name].read(data, path)
        except (ValueError, SyntaxError, RecursionError):
            return None


class Away:
    """Any port, when the world does not answer."""

    def __getattr__(self, name: str) -> Any:
        def gone(*asked: object, **more: object) -> Any:
            raise Unreachable(f"nothing answers {name}", "try again later")
        return gone
