"""The one write path: lock, read, change, apply, read back and compare, replace, commit when asked."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, INPUT, NO, About, ExecplanError
from execplan.plan import reader
from execplan.plan.change import facts, stop_conflicts, stop_unclosed
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.home import existing
from execplan.text import disk
from execplan.text.edit import apply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.change import Change, Changer
    from execplan.plan.model import Plan
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_TRIES = 5


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
    said: tuple[str, ...]
    summary: str
    warnings: tuple[str, ...]


def amend(home: Home, ref: Ref, changer: Changer, options: Options, *, verb: str) -> Amended:
    """Apply a change to a plan; raises ExecplanError with the file as it was, but for a commit that failed."""
    if not home.exists:
        shelf.open_bytes(home, ref.path)  # what is no file at all is refused as that
        existing(home)
    if ref.archived:
        raise ExecplanError(
            "archived-plan",
            f"{home.shown(ref.path)} is archived: it is a record of what was done",
            exit=NO,
            hint="write down what is new in a plan of its own: execplan new 'Its title'",
        )
    if options.dry_run:
        return _amended(home, ref, *_attempt(home, ref, changer, options), options)
    with state.lock(home, os.path.realpath(ref.path), f"{verb} of {ref.id}"):
        for _ in range(_TRIES):
            old, new, change = _attempt(home, ref, changer, options)
            if new == old:
                return _amended(home, ref, old, new, change, options)
            try:
                linked = disk.replace(ref.path, old, new)
                break
            except disk.ChangedMeanwhileError:
                continue
        else:
            raise disk.changed_underneath(home.shown(ref.path))
        warnings: tuple[str, ...] = (
            (f"{home.shown(ref.path)} had other hard links: they keep the old text",) if linked else ()
        )
        commit = None
        if options.commits(home):
            real = os.path.realpath(ref.path)
            made = commit_paths(home, ref.id, [real], verb, change.summary, {real: old}, change.expected.title)
            commit, warnings = made.digest, warnings + made.warnings
        return _amended(home, ref, old, new, change, options, commit, warnings)


def _attempt(home: Home, ref: Ref, changer: Changer, options: Options) -> tuple[bytes, bytes, Change]:
    """The bytes of the file as it is now, those with the change made, and the change; raises ExecplanError."""
    with About(home.shown(ref.path)):
        old = shelf.open_bytes(home, ref.path)
        check_match(home, ref, old, options)
        return old, *changed(old, changer)


def changed(data: bytes, changer: Callable[[Plan], Change]) -> tuple[bytes, Change]:
    """The bytes with a change made, read back and compared with what was meant; raises ExecplanError."""
    plan = reader.read(data)
    stop_conflicts(plan)
    change = changer(plan)
    if not change.edits:
        return data, change
    for edit in change.edits:
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


def check_match(home: Home, ref: Ref, data: bytes, options: Options) -> None:
    """Refuse when the file is not the one that the caller has seen; raises ExecplanError."""
    if options.if_match and digest(data) != options.if_match.lower():
        raise ExecplanError(
            "digest-differs",
            f"{home.shown(ref.path)} has changed: its digest is {digest(data)}, not {options.if_match}",
            exit=CHANGED,
            hint="read it again: execplan show --json",
        )


def commit_paths(
    home: Home, plan: str, paths: list[str], verb: str, summary: str, before: dict[str, bytes], title: str | None
) -> Committed:
    """Commit our paths, those of the plan with this id; raises ExecplanError."""
    from execplan.repo import git

    words = summary if len(summary) <= 72 else summary[:71].rstrip() + "…"
    name = " ".join(plan.encode("utf-8", "backslashreplace").decode().split())
    message = home.settings.message.format(id=name, summary=words, verb=verb, title=title or name)
    with state.lock(home, "commit", f"{verb} of {plan}"):
        return git.commit(home, paths, message, before)


def digest(data: bytes) -> str:
    """The 64 hex digits of the bytes' SHA-256."""
    from hashlib import sha256

    return sha256(data).hexdigest()


def diff(old: bytes, new: bytes, path: str) -> str:
    """The change of a file as a unified diff, which `git apply` takes; it ends without a line end."""
    from difflib import unified_diff
    from io import BytesIO

    before, after = [[line.decode("utf-8") for line in BytesIO(data)] for data in (old, new)]
    name = path.lstrip("/")
    lines = unified_diff(before, after, f"a/{name}" if old else "/dev/null", f"b/{name}")
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(shown).removesuffix("\n")


def _amended(
    home: Home,
    ref: Ref,
    old: bytes,
    new: bytes,
    change: Change,
    options: Options,
    commit: str | None = None,
    warnings: tuple[str, ...] = (),
) -> Amended:
    path = home.shown(ref.path)
    shown = diff(old, new, path) if options.dry_run and new != old else ""
    return Amended(path, new != old, digest(new), shown, commit, change.said, change.summary, warnings)


class CommittedPlan(NamedTuple):
    """What `commit` did."""

    paths: tuple[str, ...]
    """What was committed, or would be, from the root of the repository."""
    commit: str | None
    digest: str
    warnings: tuple[str, ...]


def commit_plan(home: Home, ref: Ref, words: str | None, *, dry_run: bool) -> CommittedPlan:
    """Commit a plan as it is on disk, its artifacts, and the place that it was moved from; raises ExecplanError."""
    from execplan.repo import git

    existing(home)
    paths = [ref.path, home.artifacts(ref.id, archived=ref.archived)]
    if os.path.islink(ref.path):
        paths.append(os.path.realpath(ref.path))
    if ref.archived:
        paths += [os.path.join(home.plans, os.path.basename(ref.path)), home.artifacts(ref.id)]
    if dry_run:
        data = shelf.open_bytes(home, ref.path)
        return CommittedPlan(tuple(git.pending(home, paths)), None, digest(data), ())
    with state.lock(home, os.path.realpath(ref.path), f"commit of {ref.id}"):
        data = shelf.open_bytes(home, ref.path)
        try:
            title = reader.read(data).title
        except ExecplanError:
            title = None
        made = commit_paths(home, ref.id, paths, "commit", words or "update", {}, title)
    return CommittedPlan(made.paths, made.digest, digest(data), made.warnings)
