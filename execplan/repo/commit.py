"""Commits of plans: which paths, under which message."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.record import NamedTuple
from execplan.repo import shelf, state
from execplan.repo.edits.moved import left_by
from execplan.repo.edits.since import check_match
from execplan.repo.homes import existing
from execplan.repo.placeholders import fill
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.git import Committed
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_LONGEST = 72
"""Characters of a summary, so that a log with one commit a line can be read."""


class CommittedPlan(NamedTuple):
    """What `commit` did."""

    paths: tuple[str, ...]
    """What was committed, or would be, from the root of the repository."""
    commit: str | None
    digest: str
    warnings: tuple[str, ...]


_UNCHANGED = "nothing was changed"


def commit_paths(
    home: Home, plan: str, paths: list[str], verb: str, summary: str, before: dict[str, bytes], title: str | None
) -> Committed:
    """Commit our paths, those of the plan with this id; raises ExecplanError."""
    from execplan.repo import git

    words = summary if len(summary) <= _LONGEST else summary[: _LONGEST - 1].rstrip() + "…"
    name = " ".join(plan.encode("utf-8", "backslashreplace").decode().split())
    message = fill(home.settings.message, {"id": name, "summary": words, "verb": verb, "title": title or name})
    try:
        with state.lock(home, "commit", f"{verb} of {plan}"):
            return git.commit(home, paths, message, before)
    except ExecplanError as error:
        if error.hint.endswith(_UNCHANGED):  # no lock: that is true of it, but not of what was written before
            error.message += f"; {git.KEPT}"
            error.hint = error.hint.removesuffix(_UNCHANGED).removesuffix("; ") or "see what the system reports"
            error.hint += ", then: execplan commit"
        if verb == "init":
            error.hint = error.hint.replace("execplan commit", "execplan init --commit")
        error.name_plan(plan)
        raise


def commit_plan(
    home: Home, ref: Ref, words: str | None, *, dry_run: bool, if_match: str | None = None
) -> CommittedPlan:
    """Commit a plan as it is on disk, its artifacts, and the place that it was moved from; raises ExecplanError."""
    from execplan.repo import git

    existing(home)
    paths = [ref.path, home.artifacts_of(ref.path, archived=ref.archived)]
    if os.path.islink(ref.path):
        paths.append(ref.real)
    if ref.archived:
        paths += [home.file(home.plans, ref.id), home.artifacts(ref.id)]
    paths += [path for path in left_by(home, ref.path) if not os.path.lexists(path)]
    if dry_run:
        data = shelf.open_bytes(home, ref.path)
        check_match(home, ref, if_match, data)
        return CommittedPlan(tuple(git.pending(home, paths)), None, digest(data), ())
    with state.lock(home, ref.real, f"commit of {ref.id}"):
        data = shelf.open_bytes(home, ref.path)
        check_match(home, ref, if_match, data)
        try:
            title = reader.read(data).title
        except ExecplanError:
            title = None
        made = commit_paths(home, ref.id, paths, "commit", words or "update", {}, title)
        data = shelf.open_bytes(home, ref.path) if made.rewritten else data
    return CommittedPlan(made.paths, made.digest, digest(data), made.warnings)
