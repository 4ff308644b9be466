"""The one write path: lock, read, change, apply, read back and compare, replace, commit when asked."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, INPUT, NO, About, ExecplanError
from execplan.plan import reader
from execplan.plan.change import facts, stop_conflicts, stop_unclosed
from execplan.plan.model import state_of
from execplan.plan.seek import ids_of
from execplan.record import NamedTuple
from execplan.repo import claims, shelf, state
from execplan.repo.commit import commit_paths
from execplan.repo.edits import journal
from execplan.repo.edits.journal import Operation
from execplan.repo.edits.recovered import Recovery
from execplan.repo.homes import existing
from execplan.text import files
from execplan.text.edit import apply
from execplan.text.hidden import visible
from execplan.text.lines import digest
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.change import Change, Changer, Facts
    from execplan.plan.model import Plan
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


_RECORDS = ("run", "rollback", "merge")
"""Commands that write down what happened elsewhere: enforced claims do not stop them."""


class Options(NamedTuple):
    """What every writer takes."""

    commit: bool | None = None
    """None leaves it to the settings."""
    dry_run: bool = False
    if_match: str | None = None
    """The digest that the file must have."""

    def commits(self, home: Home) -> bool:
        """Whether to commit what is written."""
        return home.settings.commit if self.commit is None else self.commit


class AmendedTask(NamedTuple):
    """A task that an edit is about, as it is now; in a dry run, as it would be."""

    id: str
    number: int
    state: str
    text: str
    was: str | None
    """Its id before the edit; None for a task that is new."""


class Amended(NamedTuple):
    """What became of an edit."""

    path: str
    """From the root of the repository."""
    changed: bool
    digest: str
    """SHA-256 of the file as it is now; in a dry run, as it would be."""
    diff: str
    """Unified, in a dry run only."""
    commit: str | None
    open: int
    """How many tasks are open then."""
    said: tuple[str, ...]
    warnings: tuple[str, ...]
    tasks: tuple[AmendedTask, ...] = ()
    expected: Facts | None = None
    """What the plan says then."""


class Written(NamedTuple):
    """What became of a file."""

    old: bytes
    new: bytes
    change: Change
    warnings: tuple[str, ...]


def amend(
    home: Home,
    ref: Ref,
    changer: Changer,
    options: Options,
    *,
    verb: str,
    beside: tuple[str, ...] = (),
    resolves: bool = False,
    operation: Callable[[], Operation] = Operation,
) -> Amended:
    """Apply a change to a plan; raises ExecplanError with the file as it was, but for a commit that failed.

    `beside` are other files that belong into the same commit; `resolves` says that the change takes conflict markers
    out, also those of an archived plan; `operation` is asked once the change is known, and journaled with it.
    """
    if not home.exists:
        shelf.open_bytes(home, ref.path)  # what is no file at all is refused as that
        existing(home)
    if not resolves:
        stop_archived(home, ref)
    if options.dry_run:
        return _amended(home, ref, rewrite(home, ref, changer, options, verb=verb, resolves=resolves), options)
    if options.commits(home):
        from execplan.repo import git

        git.load()
    with state.lock(home, ref.real, f"{verb} of {ref.id}"):
        stop_gone(home, ref)
        written = rewrite(home, ref, changer, options, verb=verb, resolves=resolves, operation=operation)
        if written.new == written.old or not options.commits(home):
            return _amended(home, ref, written, options)
        real = ref.real
        change = written.change
        made = commit_paths(
            home, ref.id, [real, *beside], verb, change.summary, {real: written.old}, change.expected.title
        )
        return _amended(home, ref, written, options, made)


def stop_archived(home: Home, ref: Ref) -> None:
    """Refuse to change a plan that is in the archive."""
    if ref.archived:
        raise ExecplanError(
            "archived-plan",
            f"{home.shown(ref.path)} is archived: it is a record of what was done",
            exit=NO,
            hint=f"write down what is new in a plan of its own, or take it back: execplan restore {ref.typed}",
        )


def stop_gone(home: Home, ref: Ref) -> None:
    """Refuse when a plan is no longer where it was found, before a lock was had; raises ExecplanError."""
    if not os.path.lexists(ref.path):
        raise ExecplanError(
            "plan-gone",
            f"{home.shown(ref.path)} was moved or removed while this waited for it",
            exit=CHANGED,
            hint="see where it is: execplan list --all",
        )


def rewrite(
    home: Home,
    ref: Ref,
    changer: Changer,
    options: Options,
    *,
    verb: str,
    resolves: bool = False,
    operation: Callable[[], Operation] = Operation,
    begin: Callable[[bytes, bytes, Change], object] | None = None,
) -> Written:
    """Change and journal the file of a plan whose lock is held, or in a dry run only say how; raises ExecplanError.

    A file that changes between read and replace is read again and the change applied to that; `begin` gets the bytes
    before and after just before they are written, and journals them itself.
    """
    shown = home.shown(ref.path)

    def once() -> Written:
        with About(shown):
            old = shelf.open_bytes(home, ref.path)
            if options.if_match is not None:
                from execplan.repo.edits.since import check_match

                check_match(home, ref, options.if_match, old)
            try:
                new, change = changed(old, changer, resolves=resolves)
            except ExecplanError as error:
                error.name_plan(ref.id)
                raise
            warnings = protection.check(old, change)
        if options.dry_run:
            return Written(old, new, change, warnings)
        if begin is not None:
            begin(old, new, change)
        if new == old:
            files.tidy(ref.path, (old,), within=home.root, spare=spare)
            return Written(old, new, change, ())
        if begin is not None:
            linked = files.replace(ref.path, old, new, within=home.root, spare=spare)
        else:
            with journal.Recording(home, ref.path, verb, change.summary, old, new, operation()) as recording:
                linked = files.replace(ref.path, old, new, within=home.root, spare=spare)
            _shorten(home, ref, *recording.grew)
        warnings += (files.still_linked(shown),) if linked else ()
        return Written(old, new, change, warnings + protection.follow(old, change))

    spare = Recovery(home, ref.path)
    enforced = not resolves and verb not in _RECORDS
    with claims.Protection(home, ref, dry_run=options.dry_run, enforced=enforced) as protection:
        written = files.again(once, shown)
    return written._replace(warnings=(*written.warnings, *spare.warnings))


def _shorten(home: Home, ref: Ref, before: int, size: int) -> None:
    """Shorten the journal of a plan that has grown too long; where that fails it stays as it is."""
    if size <= journal.MAX_BYTES:
        return
    from execplan.repo.edits.retention import shorten

    try:
        shorten(home, ref.path, before)
    except (OSError, ExecplanError) as error:
        tell(f"the journal of {ref.id} could not be shortened: {error}")


def tidy(home: Home, ref: Ref, *, verb: str) -> None:
    """Remove what a killed writer has left beside a plan that is not written now; raises ExecplanError."""
    if home.exists and files.is_untidy(ref.path):
        with state.lock(home, ref.real, f"{verb} of {ref.id}"):
            files.tidy(ref.path, within=home.root, spare=Recovery(home, ref.path))


def changed(data: bytes, changer: Callable[[Plan], Change], *, resolves: bool = False) -> tuple[bytes, Change]:
    """The bytes with a change made, read back and compared with what was meant; raises ExecplanError."""
    plan = reader.read(data)
    if not resolves:
        stop_conflicts(plan)
    change = changer(plan)
    if not change.edits:
        return data, change
    for edit in () if change.whole else change.edits:
        stop_unclosed(plan, edit.start)
    text = apply(plan.text, change.edits)
    new = text.to_bytes()
    if len(new) > reader.MAX_BYTES:
        raise reader.too_large(len(new))
    if facts(reader.read_text(text)) != change.expected:
        raise ExecplanError(
            "would-break",
            "these words, at this place, would change more of the plan than they should; nothing was written",
            exit=INPUT,
            hint="say it in other words, or edit the file by hand and run execplan lint",
        )
    return new, change


def diff(old: bytes, new: bytes | None, path: str) -> str:
    """The change of a file, or its removal, as a unified diff, which `git apply` takes; it ends without a line end."""
    from difflib import unified_diff
    from io import BytesIO

    before, after = [[line.decode("utf-8", "backslashreplace") for line in BytesIO(data)] for data in (old, new or b"")]
    name = visible(path.lstrip("/"))
    lines = unified_diff(
        before, after, f"a/{name}" if old else "/dev/null", f"b/{name}" if new is not None else "/dev/null"
    )
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(shown).removesuffix("\n")


def _amended(home: Home, ref: Ref, written: Written, options: Options, made: Committed | None = None) -> Amended:
    path = home.shown(ref.path)
    old, new, change, warnings = written
    shown = diff(old, new, path) if options.dry_run and new != old else ""
    commit, more = (made.digest, made.warnings) if made else (None, ())
    if made and made.rewritten:
        new = shelf.open_bytes(home, ref.path)
    left = [mark for mark, _ in change.expected.tasks].count(" ")
    tasks = _tasks(change)
    said, warnings = change.said, warnings + more
    return Amended(path, new != old, digest(new), shown, commit, left, said, warnings, tasks, change.expected)


def _tasks(change: Change) -> tuple[AmendedTask, ...]:
    """The tasks that a change is about."""
    if not change.tasks:
        return ()
    every = change.expected.tasks
    ids = ids_of([text for _, text in every])
    return tuple([AmendedTask(ids[at], at + 1, state_of(every[at][0]), every[at][1], was) for at, was in change.tasks])
