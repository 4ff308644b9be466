"""A rollback: the files of a run, its folders and its ticks are as they were before it; done again when it was cut short."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from execplan.engine import record, revisions, runs
from execplan.engine.alone import alone, at_work
from execplan.engine.begin import hinting
from execplan.engine.course import RunState
from execplan.engine.cut import bench_of, result_of
from execplan.engine.entries import (
    ENDED,
    REOPENED,
    RESTORED,
    RESULT,
    ROLLBACK,
    ROLLED_BACK,
    change_json,
    performed_from,
    performed_json,
)
from execplan.engine.files.restore import RETRY_HINT, ensure_restorable, restore
from execplan.engine.opened import never_begun, opened
from execplan.engine.undoable import only_of, steps_of, stop_done
from execplan.engine.undoing import going_on, undoing
from execplan.engine.watch import RolledBack
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.execution.world import ABSENT, FOLDER
from execplan.repo import author, shelf
from execplan.repo.amend import stop_archived
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from execplan.engine.book import JournalWriter
    from execplan.engine.course import Attempt
    from execplan.engine.files.restore import RestoreResult
    from execplan.engine.place import RunPaths
    from execplan.engine.steps.bench import RunContext
    from execplan.engine.undoing import Undoing
    from execplan.engine.watch import RunObserver
    from execplan.execution.model import Step
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def rollback(
    home: Home,
    ref: Ref,
    place: RunPaths,
    *,
    step: str | None,
    automatic: str,
    watch: RunObserver,
    options: Options,
    book: JournalWriter | None = None,
) -> RolledBack:
    """Take back what a run, or one step of it, has changed; raises ExecplanError with nothing touched, or where a disk fails.

    `automatic`: the cause, where nobody asked for it. `book`: of a run under way, whose lock is held; who has it files the
    run. A rollback that was cut short is finished first.
    """
    if book is not None:
        with _named(ref, place, step):
            return _Rollback(home, ref, place, book, watch).go(step, automatic)
    existing(home)
    stop_archived(home, ref)
    if options.dry_run:
        with _named(ref, place, step):
            return _would(home, ref, place, step, watch)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    before = shelf.open_bytes(home, ref.path)
    with (
        _named(ref, place, step),
        hinting(f"then finish it: execplan rollback {place.number} -p {ref.typed}"),
        opened(home, ref, place, watch, f"rollback of the run {place.id} of {ref.id}") as own,
    ):
        done = _Rollback(home, ref, place, own, watch).go(step, automatic)
        record.save(place, record.record_of(place, own.course.document, own.course))
        own.ledger.update_anchor()
        done = done._replace(warnings=(*own.warnings, *done.warnings))
        return _committed(home, ref, place, done, before) if options.commits(home) else done


@contextmanager
def _named(ref: Ref, place: RunPaths, step: str | None) -> Iterator[None]:
    """Name the run in the command that does it again."""
    try:
        yield
    except ExecplanError as error:
        if error.hint == RETRY_HINT:
            error.hint += f" {place.id} -p {ref.typed}" + (f" --step {step}" if step else "")
        raise


class _Rollback:
    """Of one run; the lock of runs is held."""

    def __init__(self, home: Home, ref: Ref, place: RunPaths, book: JournalWriter, watch: RunObserver) -> None:
        self.home, self.ref, self.place, self.book = home, ref, place, book
        self.course = book.course
        self.steps = steps_of(place, book.course)
        self.bench = bench_of(home, ref, place, book.course, watch)
        self.begun = False

    def go(self, step: str | None, automatic: str) -> RolledBack:
        """Do it; raises ExecplanError."""
        only = only_of(self.ref, self.place, self.course, self.steps, step)
        if self.course.rolling is not None:
            self.begun = True
            done = self._do(going_on(self.course, self.course.rolling, self.steps), automatic)
            if done.whole or (only is not None and only in done.steps):
                return done
        stop_done(self.ref, self.place, self.course, only)
        for name, attempt in self.course.open_attempt():
            _tidy(self.bench, attempt.before)
            self.book.write(RESULT, **_cut(self.bench, self.steps[name], attempt, self.course, keep=True))
        return self._do(undoing(self.course, self.steps, only, self.bench.ground.state), automatic)

    def _do(self, todo: Undoing, automatic: str) -> RolledBack:
        """Restore the files, then reopen the tasks, with an entry for each; raises ExecplanError."""

        def tell(path: str, digest: str) -> None:
            self.book.write(RESTORED, path=path, displaced=digest)

        files = restore(
            self.bench.ground,
            self.bench.store,
            todo.changes,
            todo.folders,
            tell,
            completed_paths=todo.done,
            is_retry=todo.again,
            on_begin=lambda: self._begin(todo, automatic),
        )
        told, warnings = _told(self.bench, todo, files), self._reopen(todo)
        self.book.write(
            ROLLED_BACK,
            steps=list(todo.steps),
            restored=list(files.restored),
            removed=list(files.removed),
            whole=todo.whole,
        )
        self.begun = False
        return told._replace(warnings=tuple(warnings))

    def _begin(self, todo: Undoing, automatic: str) -> None:
        """Say what is about to be done; a run that has no end has one now."""
        if self.begun:
            return
        if todo.whole and self.course.status not in states.ENDED_RUN_STATES:
            seconds, why = self.course.seconds or 0, "it was rolled back before its end"
            self.book.write(ENDED, status=states.FAILED, cause="cancellation", reason=why, seconds=seconds)
        self.book.write(
            ROLLBACK,
            steps=list(todo.steps),
            automatic=automatic,
            user=author.login(),
            session=author.session(),
            changes=[change_json(each) for each in todo.changes],
            folders=list(todo.folders),
            undone_not=list(todo.left),
            whole=todo.whole,
        )

    def _reopen(self, todo: Undoing) -> list[str]:
        """Reopen the tasks that the steps have ticked; what could not be done."""
        from execplan.engine import ticks

        warnings = []
        for step, task, transcript in todo.ticks:
            marked = ticks.reopen(self.home, self.ref, self.course.document, step, task, transcript)
            if marked.warning:
                warnings.append(marked.warning)
            else:
                self.book.write(REOPENED, step=step, task=task)
        return warnings


def _would(home: Home, ref: Ref, place: RunPaths, step: str | None, watch: RunObserver) -> RolledBack:
    """What a rollback would do, of a run that nobody is at work with; raises ExecplanError as it would."""
    if at_work(home):
        with alone(home, "rollback"):  # refuses, naming who is
            pass
    if not (entries := runs.entries_of(place)):
        raise never_begun(ref, place)
    course = RunState(revisions.document_of(place, entries), entries)
    steps = steps_of(place, course)
    only = only_of(ref, place, course, steps, step)
    bench = bench_of(home, ref, place, course, watch)
    if course.rolling is not None:
        todo = going_on(course, course.rolling, steps)
    else:
        stop_done(ref, place, course, only)
        for name, attempt in course.open_attempt():
            performed = performed_from(_cut(bench, steps[name], attempt, course, keep=False))
            course.attempts[name][-1] = attempt._replace(performed=performed)
        todo = undoing(course, steps, only, bench.ground.state)
    ensure_restorable(bench.ground, bench.store, todo.changes, todo.folders, completed_paths=todo.done, is_retry=todo.again)
    gone = [each.path for each in todo.changes if each.before.kind == ABSENT]
    back = [each.path for each in todo.changes if each.before.kind != ABSENT]
    from execplan.engine.files.restore import RestoreResult

    return _told(bench, todo, RestoreResult(tuple(back), (*gone, *todo.folders), ()))


def _cut(bench: RunContext, step: Step, attempt: Attempt, course: RunState, *, keep: bool) -> dict[str, Any]:
    """What the entry says that ends an attempt of which nobody has said how it ended; raises ExecplanError."""
    if not course.is_agents:
        return result_of(bench, step, attempt)
    from execplan.engine.agent.left import interrupted_result

    return {"step": step.id, "attempt": attempt.number, **performed_json(interrupted_result(bench, step, attempt, course, keep=keep))}


def _told(bench: RunContext, todo: Undoing, files: RestoreResult) -> RolledBack:
    """What is told of it."""
    left = [f"{folder}: something else is in it" for folder in files.remaining_folders]
    kept = [f"{path}: {bench.home.shown(bench.store.path(digest))}" for path, digest in files.backed_up]
    return RolledBack(
        bench.place.id,
        todo.steps,
        files.restored,
        files.removed,
        tuple([task for _, task, _ in todo.ticks]),
        tuple(kept),
        (*todo.left, *left),
        todo.whole,
    )


def _tidy(bench: RunContext, paths: Collection[str]) -> None:
    """Remove what a killed writer has left beside the files of a step."""
    for path in paths:
        if bench.ground.state(path.rpartition("/")[0] or ".").kind == FOLDER:
            bench.ground.remove_temporary(path)


def _committed(home: Home, ref: Ref, place: RunPaths, done: RolledBack, before: bytes) -> RolledBack:
    """Commit the plan and what is kept of the run; raises ExecplanError."""
    from execplan.plan import reader
    from execplan.repo.commit import commit_paths

    real = ref.real
    paths = [real, home.artifacts_of(ref.path, archived=ref.archived)]
    title = reader.read(shelf.open_bytes(home, ref.path)).title
    made = commit_paths(home, ref.id, paths, "rollback", f"roll back the run {place.id}", {real: before}, title)
    return done._replace(commit=made.digest, warnings=(*done.warnings, *made.warnings))
