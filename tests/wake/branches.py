"""A guest's repository on disk that refuses what GitHub refuses, its maintainers, and bumps on their branches, by real git."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from bot.adapters.git import CommandGit
from bot.adapters.process import LocalProcess
from bot.adapters.tree import CommitTree
from bot.layout import Layout
from bot.layout.records import Changelog, RecipeFiles
from bot.model.action import Push, Result
from bot.model.bump import Bump, Memory, World
from bot.rehearse.github.gitrepo import GitRepo
from bot.rehearse.github.receiving import guard
from bot.wake import observe, pushes, recall
from tests.adapters.gitworlds import raw
from tests.fakes.facts import START, later, pull, subject

MASTER, LOG, FLOW = "configs/master.yaml", "perf-changelog.yaml", ".github/workflows/sweep.yml"
STYLE = Changelog(file=LOG, keys="config-keys", pull="https://github.com/o/r/pull/{number}", flags=("evals-only",))
LAYOUT = Layout(recipes=(RecipeFiles(files=MASTER, key="*"),), changelog=STYLE)
RECIPE = "{0}:\n  image: vllm/vllm-openai:v1\n  conc: [1, 2]\n"
FILES = {MASTER: "".join(RECIPE.format(key) for key in "abc"), FLOW: "on: push\n", "run.sh": "echo\n",
         LOG: '- config-keys:\n    - a\n  description:\n    - "旧"\n  pr-link: https://github.com/o/r/pull/1\n'}


def entry(number: int, key: str = "c") -> str:
    return f'\n- config-keys:\n    - {key}\n  description:\n    - "x"\n  pr-link: https://github.com/o/r/pull/{number}\n'


class Guest:
    """The repository. People's commits reach it past the hook that holds an App back, as they do on GitHub."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.moment, self.caches = folder, START, 0
        self.bare = folder / "guest.git"
        raw(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        guard(self.bare)
        self.git = GitRepo(self.bare)
        self.moves(FILES)

    @property
    def main(self) -> str:
        return self.git.resolve("main") or ""

    def moves(self, files: dict[str, str | None], branch: str = "main") -> str:
        """A person's commit: whole new texts, None removes."""
        tip = self.git.resolve(branch)
        self.moment += timedelta(minutes=1)
        tree = self.git.tree_with(tip, {path: None if text is None else text.encode() for path, text in files.items()})
        oid = self.git.make_commit(tree, (tip,) if tip else (), "m", ("ann", "ann@example.org"), self.moment)
        assert self.git.update_ref(f"refs/heads/{branch}", oid, tip or "0" * 40)
        return oid

    def appends(self, text: str, **files: str | None) -> str:
        """A person's commit that adds to the changelog, and changes the workflow with `flow`."""
        more = {FLOW: files["flow"]} if "flow" in files else {}
        return self.moves({LOG: self.text(self.main, LOG) + text, **more})

    def text(self, commit: str, path: str) -> str:
        found = self.git.entry(commit, path)
        return self.git.blob(found[1]).decode() if found else ""

    def merged(self, head: str) -> dict[str, str]:
        """What main would hold once the branch is merged; empty when it conflicts."""
        tree = self.git.merged_tree(self.main, head)
        return {path: self.text(tree, path) for path in FILES} if tree else {}

    def writer(self) -> CommandGit:
        """A bot's git with a cache of its own, as each run on a fresh machine has."""
        self.caches += 1
        return CommandGit(LocalProcess(), str(self.bare), self.folder / f"cache-{self.caches}", name="bumpbot", email="bot@example.org")


class Branch:
    """One bump of `key`, pull request `number`: its memory, and a new look before each step."""

    def __init__(self, guest: Guest, key: str, number: int) -> None:
        self.guest, self.key, self.number, self.memory = guest, key, number, Memory()
        git = guest.writer()
        self.context: Any = SimpleNamespace(git=git, layout=LAYOUT, tree=lambda oid: CommitTree(git, oid))
        made = subject()
        family = (replace(made.family[0], key=key, file=MASTER, image="vllm/vllm-openai:v1", linked=()),)
        self.subject = replace(made, family=family, rules=replace(made.rules, branch=f"bumpbot/{key}"),
                               candidate=replace(made.candidate, text="vllm/vllm-openai:v2"))

    @property
    def head(self) -> str:
        return self.memory.heads[-1].sha

    def look(self) -> Bump:
        opened = pull(self.head, number=self.number) if self.memory.heads else None
        tip = self.context.git.tip("main")
        bump = Bump(id=self.key, now=START, subject=self.subject, memory=self.memory, world=World(pull=opened, base_tip=tip))
        state = observe._changelog(self.context, bump, tip, opened)
        foreign = observe._foreign(bump, self.context.git.tip(bump.subject.rules.branch) if bump.memory.heads else None)
        return replace(bump, world=replace(bump.world, changelog=state, foreign_head=foreign))

    @property
    def state(self) -> str:
        return self.look().world.changelog

    def does(self, why: str, *, bump: Bump | None = None, at: datetime | None = None) -> str:
        """A commit of ours, remembered; `bump` are facts of an earlier look."""
        bump = bump or self.look()
        action = Push(why=why, expected=bump.head, base_tip=bump.world.base_tip)
        head = pushes.push(self.context, bump, action, at or later(0))
        self.memory = recall.after(bump, (action,), (Result(index=0, ok=True, head=head),))
        return head


def entered(guest: Guest, key: str = "a", number: int = 7) -> Branch:
    """A bump whose entry is on its branch."""
    made = Branch(guest, key, number)
    made.does("proposal")
    made.does("changelog")
    return made
