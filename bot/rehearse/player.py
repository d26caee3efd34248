"""Plays a scenario's story on the loopback GitHub and registries: what runs do, and what people do when.

A run that starts takes the first run of the story that fits it (workflow, event, and action where one is named) and has
not been taken. A run that the story does not foresee gets one hosted job that says so: it passes when somebody else's
push started it, and fails when it was asked for, so that a bot which asks for more than the story holds is seen to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bot.errors import Refusal
from bot.images import reference
from bot.rehearse import declaration as told
from bot.rehearse import happenings
from bot.rehearse.github import (
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
from bot.rehearse.github.triggers import runs_jobs

if TYPE_CHECKING:
    from bot.rehearse.github import LoopbackGitHub
    from bot.rehearse.measured import Measuring
    from bot.rehearse.registry import LoopbackRegistry
    from bot.rehearse.scenario import Scenario

UNFORESEEN = "not in the scenario"


class Script:
    """Says what each run plays. `unforeseen` lists the runs the story does not hold: (workflow, event, action)."""

    def __init__(self, scenario: Scenario, measuring: Measuring | None = None) -> None:
        """`measuring` plays the runs that are measured; a story that has some cannot be played without."""
        self._scenario, self._measuring = scenario, measuring
        self._left = list(scenario.story.runs)
        self.unforeseen: list[tuple[str, str, str | None]] = []

    def __call__(self, workflow: Workflow, cause: Cause, head: str) -> RunScript:
        whole = runs_jobs(workflow, cause)
        run = next((run for run in self._left if _fits(run, workflow, cause)), None)
        if run is None:
            return self._unforeseen(workflow, cause) if whole else RunScript(attempts=(AttemptScript(jobs=()),))
        self._left.remove(run)
        if run.measure:
            if self._measuring is None:
                raise Refusal(f"run {run.id} is measured, and nothing here measures", "play the scenario with --measure")
            return self._measuring.script(run, workflow, cause)
        return RunScript(
            id=run.id,
            attempts=tuple(
                AttemptScript(jobs=tuple(self._job(run, number, job) for job in attempt.jobs if whole or job.always))
                for number, attempt in enumerate(run.attempts, 1)
            ),
        )

    def _unforeseen(self, workflow: Workflow, cause: Cause) -> RunScript:
        self.unforeseen.append((workflow.file, cause.event, cause.action))
        asked = cause.event != "push"
        log = f"The scenario plays no further run of {workflow.file} for {cause.event}."
        job = JobScript(name=UNFORESEEN, conclusion="failure" if asked else "success", log=log)
        return RunScript(attempts=(AttemptScript(jobs=(job,)),))

    def _job(self, run: told.Run, attempt: int, job: told.Job) -> JobScript:
        uploads = tuple(
            Upload(name=name, folder=self._scenario.artifact(run.id, attempt, name)) for name in job.artifacts
        )
        return JobScript(
            name=job.name,
            pool=job.pool,
            gpus=job.gpus,
            minutes=job.minutes,
            conclusion=job.conclusion,
            runner=job.runner,
            artifacts=uploads,
            starts_after_minutes=job.after,
            log=job.log,
        )


def _fits(run: told.Run, workflow: Workflow, cause: Cause) -> bool:
    return run.workflow == workflow.file and run.event == cause.event and run.action in (None, cause.action)


def accounts(declared: told.Declaration, tokens: Mapping[str, str]) -> tuple[Account, ...]:
    """The bot and the workflow token's account with their tokens; people act without one."""
    who = declared.accounts
    people = [
        Account(login=person.login, permission=person.permission, emails=(person.email,),
                kind="app" if person.login.endswith("[bot]") else "user") for person in who.people
    ]
    bot = Account(
        login=who.bot,
        token=tokens["bot"],
        kind="app" if who.bot.endswith("[bot]") else "user",
        permission=who.permission,
        emails=(f"{who.bot}@users.noreply.github.com",),
    )
    default = Account(
        login=who.default, token=tokens["default"], kind="default", emails=(f"{who.default}@users.noreply.github.com",)
    )
    return (bot, default, *people)


def workflows(declared: told.Declaration) -> tuple[Workflow, ...]:
    """The declared workflow files as the loopback GitHub takes them; inputs of a dispatch are free text."""
    return tuple(
        Workflow(
            file=one.file,
            name=one.name,
            labels=one.labels,
            modifiers=one.modifiers,
            drafts=one.drafts,
            run_name=one.run_name,
            unconditional=True,
            concurrency=Concurrency(group=one.group, cancel_in_progress=one.cancel_in_progress) if one.group else None,
            triggers={
                event: Trigger(
                    types=trigger.types,
                    paths=trigger.paths,
                    branches=trigger.branches,
                    inputs={name: Input() for name in trigger.inputs},
                )
                for event, trigger in one.triggers.items()
            },
        )
        for one in declared.workflows
    )


class People:
    """Lets the story's people act, each at the clock's present moment."""

    def __init__(self, scenario: Scenario, hub: LoopbackGitHub, registries: Mapping[str, LoopbackRegistry]) -> None:
        self._scenario, self._hub, self._registries = scenario, hub, registries

    def act(self, event: happenings.Event) -> None:
        """Plays one event. Dispatches are not played here: they are deliveries to the bot and no change of the
        world."""
        if isinstance(event, happenings.Push):
            self._push(event)
        elif isinstance(event, happenings.Open):
            self.open(event)
        elif isinstance(event, happenings.Repush):
            self._repush(event)
        elif not isinstance(event, happenings.Dispatch):
            self._on_pull(event)

    def _push(self, event: happenings.Push) -> None:
        branch = self._branch(event)
        self._hub.person(event.by).push(branch, self._files(event, branch), event.message)

    def _files(self, change: happenings.Change, branch: str) -> dict[str, bytes | None]:
        """The files of a commit on a branch's tip, whole; None: removed."""
        files: dict[str, bytes | None] = {path: text.encode() for path, text in change.write.items()}
        files |= {path: self._present(branch, path) + text.encode() for path, text in change.append.items()}
        files |= {path: replaced(self._present(branch, path), texts, path) for path, texts in change.replace.items()}
        return files | dict.fromkeys(change.remove)

    def before(self, works: Sequence[happenings.Neighbour]) -> None:
        """What people have open when the story begins: nobody hears of it, and no workflow starts."""
        first, events = self._scenario.declared.repository.first_number, self._hub.events
        events.quiet = True
        self._hub.store.start_pulls_at(max(1, first - sum(work.title is not None for work in works)))
        for work in works:
            self.open(work)
        self._hub.store.start_pulls_at(first)
        events.quiet = False

    def open(self, work: happenings.Neighbour) -> None:
        """A branch of one commit on the default branch's tip and, with a title, the pull request for it."""
        base, person = self._scenario.declared.repository.branch, self._hub.person(work.by)
        person.push(work.branch, self._files(work, base), work.message)
        if work.title is not None:
            person.open(work.branch, work.title, body=work.body, draft=work.draft, number=work.number)

    def _branch(self, event: happenings.Push) -> str:
        if event.pull is None:
            return event.branch or self._scenario.declared.repository.branch
        number = self._newest(event) if event.pull == "newest" else event.pull
        found = next((pull.branch for pull in self._hub.pulls() if pull.number == number), None)
        if found is None:
            raise Refusal(
                f"at {event.at:%H:%M} {event.by} would push to pull request #{number}, which is not there",
                "move the event to a later moment of the scenario, or name another",
            )
        return found

    def _present(self, branch: str, path: str) -> bytes:
        tip = self._hub.git.resolve(branch)
        entry = self._hub.git.entry(tip, path) if tip else None
        return self._hub.git.blob(entry[1]) if entry else b""

    def _repush(self, event: happenings.Repush) -> None:
        """The tag now holds the image described under `to`, pushed at the event's moment."""
        from msgspec.structs import replace

        moved = reference.parse(event.image)
        image = self._scenario.registry[moved.registry][moved.repository][event.to]
        self._registries[moved.registry].push(moved.repository, moved.tag or "latest", replace(image, pushed=event.at))

    def _on_pull(self, event: happenings.PullEvent) -> None:
        person, number = self._hub.person(event.by), event.pull if event.pull is not None else self._newest(event)
        if isinstance(event, happenings.Label):
            person.label(number, event.name)
        elif isinstance(event, happenings.Unlabel):
            person.unlabel(number, event.name)
        elif isinstance(event, happenings.Comment):
            person.comment(number, event.body)
        elif isinstance(event, happenings.Close):
            person.close(number)
        elif isinstance(event, happenings.Merge):
            person.merge(number)

    def _newest(self, event: happenings.PullEvent | happenings.Push) -> int:
        bot = self._scenario.declared.accounts.bot
        numbers = [pull.number for pull in self._hub.pulls() if pull.open and pull.author.login == bot]
        if not numbers:
            raise Refusal(
                f"at {event.at:%H:%M} {event.by} would act on a pull request, but none of the bot's is open",
                "move the event to a later moment of the scenario",
            )
        return max(numbers)


def replaced(data: bytes, texts: Mapping[str, str], path: str) -> bytes:
    """A file with each text in the place of the other; Refusal where that one does not stand there exactly once."""
    for old, new in texts.items():
        if (times := data.count(old.encode())) != 1:
            raise Refusal(f"{path} holds {old!r} {times} times, and once is meant", "give enough of the text to tell one place")
        data = data.replace(old.encode(), new.encode())
    return data
