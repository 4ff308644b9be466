"""A plan that was created is removed, and one that was removed is created again; its text is in the journal."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, NO, ExecplanError
from execplan.plan import reader
from execplan.repo import shelf, state
from execplan.repo.amend import Amended, diff, stop_gone
from execplan.repo.commit import commit_paths
from execplan.repo.edits.entries import CREATE, REMOVE, UNDO
from execplan.repo.edits.journal import Operation, Recording
from execplan.repo.edits.since import check_match
from execplan.repo.moving.move import stop_running
from execplan.repo.moving.transfer import taken
from execplan.repo.operations.choose import describe
from execplan.repo.operations.lines import require_last, texts_of
from execplan.text import disk, files
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.amend import Options
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.operations.choose import Chosen
    from execplan.repo.shelf import Ref


def remove_created(chosen: Chosen, options: Options, command: str) -> Amended:
    """Remove a plan that `new` wrote, or that was brought back; raises ExecplanError, SupersededError."""
    home, ref, step, _ = chosen
    _, text = texts_of(chosen)

    def check(data: bytes) -> None:
        require_last(chosen, command)
        if data != text:
            raise ExecplanError(
                "changed-since",
                f"{home.shown(ref.path)} has changed since it was created",
                exit=CHANGED,
                hint=f"remove it all the same: execplan drop {ref.typed} --force",
            )

    said = f"{'undone' if command == UNDO else 'redone'}: {describe(chosen)}"
    summary = f"{command}, {step.operation.summary}"
    return remove(home, ref, options, command, summary, said, check, step.operation.id)


def remove(
    home: Home,
    ref: Ref,
    options: Options,
    verb: str,
    summary: str,
    said: str,
    check: Callable[[bytes], object],
    undoes: str = "",
) -> Amended:
    """Remove a plan and its empty artifacts directory, with its text in the journal; raises ExecplanError."""
    path = home.shown(ref.path)
    if options.dry_run:
        data = _read(home, ref, options, check)
        return Amended(path, True, digest(data), diff(data, None, path), None, 0, (said,), ())
    if options.commits(home):
        from execplan.repo import git

        git.load()
    stop_running(home, ref)
    made: Committed | None = None
    with state.lock(home, "home", f"{verb} of {ref.id}"), state.lock(home, ref.real, f"{verb} of {ref.id}"):
        stop_gone(home, ref)
        data = _read(home, ref, options, check)
        folder = home.artifacts_of(ref.path, archived=ref.archived)
        files.tidy(ref.path, (data,), within=home.root)
        with Recording(home, ref.path, verb, summary, data, b"", Operation(kind=REMOVE, undoes=undoes)):
            files.remove_empty(folder)
            files.remove(ref.path, data)
            files.remove_empty(folder)
        if options.commits(home):
            title = _title(data)
            made = commit_paths(home, ref.id, [ref.path, folder], verb, summary, {ref.path: data}, title)
    commit, warnings = (made.digest, made.warnings) if made else (None, ())
    return Amended(path, True, digest(data), "", commit, 0, (said,), warnings)


def create_again(chosen: Chosen, options: Options, command: str) -> Amended:
    """Write a plan again that was removed, under its own name; raises ExecplanError, SupersededError."""
    home, ref, step, _ = chosen
    path = home.shown(ref.path)
    data, _ = texts_of(chosen)
    said = f"{'undone' if command == UNDO else 'redone'}: {describe(chosen)}"
    tasks = reader.read(data).tasks
    left = sum(task.mark == " " for task in tasks)
    if os.path.lexists(ref.path):
        raise taken(path)
    if options.dry_run:
        return Amended(path, True, digest(data), diff(b"", data, path), None, left, (said,), ())
    if options.commits(home):
        from execplan.repo import git

        git.load()
    made: Committed | None = None
    summary = f"{command}, {step.operation.summary}"
    with state.lock(home, "home", f"{command} of {ref.id}"), state.lock(home, ref.real, f"{command} of {ref.id}"):
        require_last(chosen, command)
        operation = Operation(kind=CREATE, undoes=step.operation.id)
        with Recording(home, ref.path, command, summary, b"", data, operation):
            if not files.create(ref.path, data, within=home.root, folders=True):
                raise taken(path)
        folder = home.artifacts_of(ref.path, archived=ref.archived)
        files.make_folder(folder, within=home.root)
        if options.commits(home):
            made = commit_paths(home, ref.id, [ref.path, folder], command, summary, {}, _title(data))
    commit, warnings = (made.digest, made.warnings) if made else (None, ())
    return Amended(path, True, digest(data), "", commit, left, (said,), warnings)


def _read(home: Home, ref: Ref, options: Options, check: Callable[[bytes], object]) -> bytes:
    """The plan, if it can be removed; raises ExecplanError."""
    if os.path.islink(ref.path):
        raise ExecplanError(
            "is-a-link", f"{home.shown(ref.path)} is a link", exit=NO, hint="remove the link by hand, with rm"
        )
    data = shelf.open_bytes(home, ref.path)
    check_match(home, ref, options.if_match, data)
    check(data)
    folder = home.artifacts_of(ref.path, archived=ref.archived)
    try:
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    except OSError as error:
        raise disk.trouble(error, folder, "read") from None
    left = [name for name in names if os.path.join(folder, name) != ref.path]
    if left:
        raise ExecplanError(
            "has-artifacts",
            f"{ref.id} has artifacts, which would be left without their plan",
            exit=NO,
            hint=f"move them out of {home.shown(folder)}, then try again",
            candidates=left[:20],
        )
    return data


def _title(data: bytes) -> str | None:
    try:
        return reader.read(data).title
    except ExecplanError:
        return None
