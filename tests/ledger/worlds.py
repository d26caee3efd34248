"""One ledger over a real bare repository and over git in memory, and a line that can be meddled with."""

from __future__ import annotations

from bot.adapters.git import CommandGit, init_bare
from bot.adapters.process import LocalProcess
from bot.ledger import BRANCH
from tests.fakes.git_memory import MemoryGit, MemoryRemote
from tests.ledger.chains import Writer


class World:
    def __init__(self, kind, folder):
        self.kind, self.folder, self.made, self.memory = kind, folder, 0, MemoryRemote()
        if kind == "git":
            self.bare = init_bare(LocalProcess(), folder / "ledger.git")

    def git(self):
        self.made += 1
        if self.kind == "memory":
            return MemoryGit(self.memory)
        return CommandGit(LocalProcess(), str(self.bare), self.folder / f"cache-{self.made}", name="bumpbot",
                          email="bumpbot@example.org", shallow=[BRANCH])

    def writer(self, seed=None, git=None, **more):
        git = git or self.git()
        return Writer(git, seed=self.made if seed is None else seed, **more)

    def rewind(self, oid):
        """Somebody with rights resets the branch."""
        if self.kind == "memory":
            self.memory.branches[BRANCH] = oid
        else:
            env = {"GIT_CONFIG_GLOBAL": "/dev/null"}
            LocalProcess().run(["git", "-C", str(self.bare), "update-ref", f"refs/heads/{BRANCH}", oid], env=env)


class Meddling:
    """A git whose push is preceded (or replaced) by something."""

    def __init__(self, inner, before):
        self.inner, self.before = inner, list(before)

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def push(self, branch, oid):
        step = self.before.pop(0) if self.before else None
        return self.inner.push(branch, oid) if step is None else step(self.inner, branch, oid)
