"""The next revision of what a run does: made from what was found out, stored to be evaluated and approved, and on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.engine import cover, questions, record, revisions, runs
from execplan.engine.course import RunState
from execplan.engine.cover import Cover
from execplan.engine.entries import PAUSED, REPLANNED
from execplan.engine.left import Left
from execplan.engine.opened import never_begun, opened, redaction
from execplan.engine.revising import Made, revise
from execplan.errors import CHANGED, NO, ExecplanError
from execplan.execution import states
from execplan.execution.documents import strict
from execplan.execution.documents.differing import describe_differences
from execplan.execution.documents.document import validate_document, to_bytes
from execplan.execution.model import ExecutionPlan
from execplan.repo import author
from execplan.repo.amend import Options, stop_archived
from execplan.repo.amend import diff as unified
from execplan.repo.execution import store
from execplan.repo.homes import existing
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.book import JournalWriter
    from execplan.engine.course import Question
    from execplan.engine.place import RunPaths
    from execplan.engine.watch import RunObserver
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


_LONGEST = 2000
"""Characters of a reason, as the model of the request has it."""


class Replanned(NamedTuple):
    """A revision that was made, or in a dry run would be."""

    run: str
    revision: int
    document: ExecutionPlan
    digest: str
    """SHA-256 of its bytes."""
    path: str
    """Where it is stored, from the root of the repository."""
    done: tuple[str, ...]
    """The ids of the steps that are not run again."""
    differences: tuple[str, ...]
    """From the revision before, a line each."""
    cover: Cover
    """The approval that covers it, or why a person has to approve it."""
    diff: str
    """Unified, against what is stored, in a dry run only."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """What the run waits for now."""
        if self.cover.given is not None and self.cover.by is not None:
            return questions.covered(self.revision, self.cover.by)
        return questions.approve(self.revision)


def replan_run(
    home: Home,
    ref: Ref,
    place: RunPaths,
    *,
    reason: str,
    failed: Sequence[str],
    information: str | None,
    watch: RunObserver,
    options: Options,
    book: JournalWriter | None = None,
) -> Replanned:
    """Revise what a run does; raises ExecplanError with nothing changed.

    `failed` are ids or numbers of steps that are to count as failed beside those that the run says, `information` is plain
    words or a JSON object whose `steps` take the place of all that is not done. With the book of a run under way it is that
    run which does it, and which pauses behind it; without, the run is paused until the revision is approved.
    """
    if book is not None:
        short = book.redaction.text(reason)[:_LONGEST]
        made = revise(book.course, short, failed, information, book.redaction)
        return _written(home, ref, place, book, made, step=failed[0] if failed else None)
    existing(home)
    stop_archived(home, ref)
    if options.dry_run:
        course = _course(ref, place)
        _stop_unfit(home, ref, place, course)
        made = revise(course, reason, failed, information, redaction())
        return _told(home, ref, place, course, made, diff=True)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    with opened(home, ref, place, watch, f"replan of the run {place.id} of {ref.id}") as own:
        _stop_unfit(home, ref, place, own.course)
        made = revise(own.course, reason, failed, information, own.redaction)
        told = _written(home, ref, place, own, made)
        question = told.question
        own.write(PAUSED, why=question.why, step=None, question=question.words)
        record.save(place, record.record_of(place, made.document, own.course))
        own.ledger.update_anchor()
    return _committed(home, ref, told) if options.commits(home) else told


def _committed(home: Home, ref: Ref, told: Replanned) -> Replanned:
    """Commit what was made with the evidence of the run; raises ExecplanError."""
    from execplan.repo.commit import commit_paths

    folder = home.artifacts_of(ref.path, archived=ref.archived)
    made = commit_paths(home, ref.id, [folder], "replan", f"revision {told.revision} of its steps", {}, None)
    return told._replace(commit=made.digest, warnings=made.warnings)


def _course(ref: Ref, place: RunPaths) -> RunState:
    """How far a run has come; raises ExecplanError."""
    entries = runs.entries_of(place)
    if not entries:
        raise never_begun(ref, place)
    return RunState(revisions.document_of(place, entries), entries)


def _stop_unfit(home: Home, ref: Ref, place: RunPaths, course: RunState) -> None:
    """Refuse a run that has nothing left to be planned, or of which it is not known how it stands; raises ExecplanError."""
    name, run = ref.typed, f"execplan resume {place.number} -p {ref.typed}"
    back = f"execplan rollback {place.number} -p {ref.typed}"
    if course.status in (states.COMPLETED, states.ROLLED_BACK):
        what = f"the run {place.id} is {course.status.replace('_', ' ')}: there is nothing left of it to be planned"
        hint = f"change the plan, and compile it anew: execplan edit {name}; execplan compile {name}"
        raise ExecplanError("nothing-to-replan", what, exit=NO, hint=hint)
    later, _ = runs.last_begun(home, ref)
    if later is not None and later.number > place.number:
        what = f"the run {place.id} was followed by {later.id}, so that nothing more is done by it"
        hint = f"replan the last one, or take this one back: execplan replan -p {name}; {back}"
        raise ExecplanError("nothing-to-replan", what, exit=NO, hint=hint)
    if course.rolling is not None:
        what = f"a rollback of the run {place.id} was cut short"
        raise ExecplanError("run-cut-short", what, exit=CHANGED, hint=f"finish it: {back}")
    steps = [step for step, _ in course.open_attempt()] + [step.id for step, _ in Left.unknown_ends(course)]
    if steps:
        if course.is_agents:
            what = f"{', '.join(steps)} of the run {place.id} is in hand: nobody has said what became of it"
            hint = f"say it first: execplan report {steps[0]} -p {name} --status failed --result 'What went wrong.'"
            raise ExecplanError("run-cut-short", what, exit=CHANGED, hint=hint)
        what = f"the run {place.id} was cut short in {', '.join(steps)}: what that has done has to be found out first"
        raise ExecplanError("run-cut-short", what, exit=CHANGED, hint=f"go on with it, or take it back: {run}; {back}")


def _written(home: Home, ref: Ref, place: RunPaths, book: JournalWriter, made: Made, step: str | None = None) -> Replanned:
    """Keep a revision with the run, store it for the plan, and have it on record; raises ExecplanError.

    Killed in between, the run still goes by the revision before: the next one takes this one's place. Killed before the
    approval that covers it is derived, a person approves it.
    """
    told = _told(home, ref, place, book.course, made, diff=False)
    document = made.document
    before = document.metadata.history[-1]
    data = to_bytes(document)
    revisions.keep(place, document.revision, data)
    store.save(home, ref, lambda: data, Options(commit=False), verb="replan", summary="")
    book.course.document = document
    book.write(
        REPLANNED,
        revision=document.revision,
        document=told.digest,
        reason=before.reason,
        completed=list(before.completed_steps),
        failed=list(before.failed_steps),
        step=step,
        plan_steps=len(document.steps),
        generation_s=made.seconds,
        user=author.login(),
        session=author.session(),
    )
    return told._replace(cover=cover.give(home, ref, place, told.cover))


def _told(home: Home, ref: Ref, place: RunPaths, course: RunState, new: Made, *, diff: bool) -> Replanned:
    """What a revision comes to; raises ExecplanError where it would take the place of what nobody could bring back."""
    made = new.document
    path, data, old = store.path_of(home, ref), to_bytes(made), store.read(home, ref)
    _stop_foreign(home, ref, old, {course.digest, digest(to_bytes(course.document))})
    shown = home.shown(path)
    return Replanned(
        run=place.id,
        revision=made.revision,
        document=made,
        digest=digest(data),
        path=shown,
        done=tuple([step.id for step in made.steps if course.status_of.get(step.id) in states.SUCCESS_STATES]),
        differences=tuple([each for each in describe_differences(course.document, made) if not each.startswith(_OWN)]),
        cover=cover.find(home, ref, place, course, made),
        diff=unified(old or b"", data, shown) if diff else "",
    )


def _stop_foreign(home: Home, ref: Ref, old: bytes | None, run: set[str]) -> None:
    """Refuse to write over a stored document that comes from elsewhere, and not from what the run does."""
    if old is None or digest(old) in run:
        return
    stored, _ = validate_document(strict.read(old).value, ExecutionPlan)
    if stored is None or (stored.source is not None and stored.revision == 1):
        return  # it can be compiled again
    if any([each.sha256 in run for each in stored.metadata.history]):
        return
    shown = home.shown(store.path_of(home, ref))
    raise ExecplanError(
        "other-document",
        f"{shown} is not what the run does: it was imported, composed or revised since",
        exit=CHANGED,
        hint=f"keep it elsewhere, and try again: mv {shown} other.json",
    )


_OWN = ("revision was ", "metadata.history was ")
"""How the differences begin that every revision has."""
