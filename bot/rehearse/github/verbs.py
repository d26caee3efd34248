"""What can be done to a pull request, for REST, GraphQL and people alike: state, history line, webhook, in order."""

from __future__ import annotations

from datetime import datetime

from bot.rehearse.github.declare import Account
from bot.rehearse.github.events import Events
from bot.rehearse.github.gitrepo import ZERO, GitRepo
from bot.rehearse.github.state import Comment, Event, Pull, Reaction, Store

MAX_BODY = 65_536


class Refused(Exception):
    """GitHub's 422 (or another status): message and, where it has one, the error entry."""

    def __init__(self, message: str, *, status: int = 422, field: str | None = None, code: str = "custom",
                 resource: str = "PullRequest") -> None:
        super().__init__(message)
        self.message, self.status = message, status
        self.errors = [{"resource": resource, "field": field, "code": code, "message": message}] if field else []


class Verbs:
    """Every change of pull requests, comments and labels; a `Refused` leaves everything as it was."""

    def __init__(self, store: Store, git: GitRepo, events: Events) -> None:
        self.store, self.git, self.events = store, git, events

    def open_pull(
        self, actor: Account, now: datetime, *, title: str, body: str, branch: str, base: str, draft: bool
    ) -> Pull:
        tips = self.git.refs("refs/heads/")
        head, onto = tips.get(f"refs/heads/{branch}"), tips.get(f"refs/heads/{base}")
        for field, value in (("head", head), ("base", onto)):
            if value is None:
                raise Refused("Validation Failed", field=field, code="invalid")
        assert head is not None and onto is not None
        if any(pull.open and pull.branch == branch and pull.base == base for pull in self.store.pulls.values()):
            raise Refused(f"A pull request already exists for {branch}.", field="base")
        if self.git.contains(onto, head):
            raise Refused(f"No commits between {base} and {branch}", field="base")
        number = self.store.next("pull")
        pull = Pull(
            id=2_000_000_000 + number,
            number=number,
            title=title,
            body=limited(body),
            branch=branch,
            head=head,
            base=base,
            base_sha=onto,
            author=actor,
            created=now,
            updated=now,
            draft=draft,
        )
        self.store.pulls[number] = pull
        self.events.pull(pull, "opened", actor, now)
        return pull

    def edit_pull(self, pull: Pull, actor: Account, now: datetime, *, title: str | None = None, body: str | None = None,
                  base: str | None = None) -> None:
        text = pull.body if body is None else limited(body)
        if base is not None and base != pull.base:
            tip = self.git.refs("refs/heads/").get(f"refs/heads/{base}")
            if tip is None:
                raise Refused("Validation Failed", field="base", code="invalid")
            pull.base, pull.base_sha = base, tip
        pull.title = pull.title if title is None else title
        pull.body = text
        pull.updated = now
        self.events.pull(pull, "edited", actor, now)

    def close(self, pull: Pull, actor: Account, now: datetime) -> None:
        """Closing cancels no run."""
        if pull.open:
            pull.open, pull.closed, pull.closed_by, pull.updated = False, now, actor, now
            self.note(pull, "closed", actor, now)
            self.events.pull(pull, "closed", actor, now)

    def reopen(self, pull: Pull, actor: Account, now: datetime) -> None:
        if pull.open:
            return
        tip = self.git.refs("refs/heads/").get(f"refs/heads/{pull.branch}")
        if pull.merged or tip is None:
            raise Refused("state cannot be changed. The branch was merged or deleted.", field="state")
        pull.open, pull.closed, pull.closed_by, pull.updated, pull.head = True, None, None, now, tip
        self.note(pull, "reopened", actor, now)
        self.events.pull(pull, "reopened", actor, now)

    def draft(self, pull: Pull, actor: Account, now: datetime, *, draft: bool) -> None:
        if pull.draft != draft:
            pull.draft, pull.updated = draft, now
            self.note(pull, "convert_to_draft" if draft else "ready_for_review", actor, now)
            self.events.pull(pull, "converted_to_draft" if draft else "ready_for_review", actor, now)

    def label(self, pull: Pull, name: str, actor: Account, now: datetime) -> None:
        """Adds a label; one that is there already causes nothing."""
        if name.lower() in (held.lower() for held in pull.labels):
            return
        pull.labels.append(self.store.label(name).name)
        pull.updated = now
        self.note(pull, "labeled", actor, now, label=name)
        self.events.pull(pull, "labeled", actor, now, label=name)

    def unlabel(self, pull: Pull, name: str, actor: Account, now: datetime) -> None:
        held = next((label for label in pull.labels if label.lower() == name.lower()), None)
        if held is None:
            raise Refused("Label does not exist", status=404)
        pull.labels.remove(held)
        pull.updated = now
        self.note(pull, "unlabeled", actor, now, label=held)
        self.events.pull(pull, "unlabeled", actor, now, label=held)

    def comment(self, pull: Pull, body: str, actor: Account, now: datetime) -> Comment:
        made = Comment(id=self.store.next("comment"), number=pull.number, author=actor, body=limited(body, empty=False),
                       created=now, updated=now)
        self.store.comments[made.id] = made
        pull.updated = now
        self.events.comment(pull, made, "created", actor)
        return made

    def edit_comment(self, comment: Comment, body: str, actor: Account, now: datetime) -> None:
        text = limited(body, empty=False)
        comment.edits += text != comment.body
        comment.body, comment.updated = text, now
        self.events.comment(self.store.pulls[comment.number], comment, "edited", actor)

    def delete_comment(self, comment: Comment, actor: Account) -> None:
        comment.deleted = True
        self.events.comment(self.store.pulls[comment.number], comment, "deleted", actor)

    def react(self, subject: tuple[str, int], content: str, actor: Account, now: datetime) -> tuple[Reaction, bool]:
        """The reaction and whether it is new: the same one twice is one."""
        for held in self.store.reactions:
            if (held.subject, held.author.login, held.content) == (subject, actor.login, content):
                return held, False
        made = Reaction(id=self.store.next("reaction"), subject=subject, author=actor, content=content, created=now)
        self.store.reactions.append(made)
        return made, True

    def merge(self, pull: Pull, actor: Account, now: datetime) -> str:
        """A merge commit on the base; its push is seen like any other, after the pull is closed as merged."""
        tree = self.git.merged_tree(pull.base_sha, pull.head) if pull.open else None
        if tree is None or pull.draft:
            raise Refused("Pull Request is not mergeable", status=405)
        text = f"Merge pull request #{pull.number} from {pull.branch}\n\n{pull.title}"
        who = (actor.login, f"{actor.login}@users.noreply.github.com")
        made = self.git.make_commit(tree, (pull.base_sha, pull.head), text, who, now)
        if not self.git.update_ref(f"refs/heads/{pull.base}", made, pull.base_sha):
            raise Refused("Base branch was modified. Review and try the merge again.", status=405)
        self.merged(pull, made, actor, now)
        return made

    def merged(self, pull: Pull, commit: str, actor: Account, now: datetime) -> None:
        pull.open, pull.closed, pull.merged, pull.updated = False, now, now, now
        pull.merged_by = pull.closed_by = actor
        pull.merge_commit = commit
        self.note(pull, "merged", actor, now, commit=commit)
        self.note(pull, "closed", actor, now)
        self.events.pull(pull, "closed", actor, now)

    def moved(self, ref: str, before: str, after: str, actor: Account, now: datetime) -> None:
        """A branch was pushed: push, then the open pulls it is the head or base of."""
        self.events.push(ref, before, after, actor, now)
        branch = ref.removeprefix("refs/heads/")
        for pull in [pull for pull in self.store.pulls.values() if pull.open]:
            if pull.branch == branch and after == ZERO:
                self.close(pull, actor, now)
            elif pull.branch == branch and after != pull.head:
                pull.head, pull.updated = after, now
                self.events.pull(pull, "synchronize", actor, now, before=before)
            elif pull.base == branch and after != ZERO:
                if self.git.contains(after, pull.head):
                    self.merged(pull, after, actor, now)
                else:
                    pull.base_sha = after

    def note(self, pull: Pull, event: str, actor: Account, now: datetime, *, label: str | None = None,
             commit: str | None = None) -> None:
        self.store.events.append(
            Event(
                id=self.store.next("event"),
                number=pull.number,
                event=event,
                actor=actor,
                created=now,
                label=label,
                commit=commit,
            )
        )


def limited(body: str, *, empty: bool = True) -> str:
    """A body GitHub takes: at most 65,536 characters."""
    if len(body) > MAX_BODY:
        raise Refused(
            "Body is too long (maximum is 65536 characters)", field="body", resource="IssueComment", code="too_long"
        )
    if not empty and not body.strip():
        raise Refused("Body cannot be blank", field="body", resource="IssueComment", code="missing_field")
    return body
