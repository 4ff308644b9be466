"""What there is to read about a plan, gathered from the plan, the disk, git, and what others hand over."""

from __future__ import annotations

import os

from execplan.context.unit import INSTRUCTION, MESSAGE, TOOL_RESULT, ContextPack
from execplan.errors import About, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.ask import GIT_UNUSABLE_CODES
from execplan.repo.gathering import files, tree
from execplan.repo.gathering.listing import listing, walked
from execplan.repo.gathering.plan import parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.context.unit import Unit
    from execplan.plan.model import Plan
    from execplan.repo.gathering.listing import Listing
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


class Wanted(NamedTuple):
    """What is asked for besides the plan and what it names."""

    task: str | None = None
    """A task by number, id or words; the next open one unless told."""
    decisions: int = 3
    """How many of the last ones are never left out."""
    files: tuple[str, ...] = ()
    """Paths from the working folder: files that are never left out, and folders to choose from."""
    units: tuple[str, ...] = ()
    """Files with a unit a line."""
    sessions: tuple[str, ...] = ()
    """Logs of agent programs."""


class Gathered(NamedTuple):
    """What was found."""

    pack: ContextPack
    warnings: tuple[str, ...]
    """What was left out, and what was taken out of what is in."""
    model: str
    """The one that the last of the sessions ran with, or nothing."""


def gather(home: Project, ref: PlanRef, plan: Plan, wanted: Wanted) -> Gathered:
    """All that there is to read about a plan, without secrets; raises ExecplanError for what was asked for and can't be had."""
    own = home.display_path(disk_path(ref))
    known, unlisted = _listing(home, home.display_path(home.base) if home.base != home.root else "", own.rpartition("/")[0])
    with About(home.display_path(ref.path)):
        told = parts(plan, known.named, wanted.task, wanted.decisions)
    single, inside = files.asked(home, wanted.files, known)
    had = [own, *[unit.path for unit in single.units]]
    named, left_out = _named(home, told.units, known, had, inside)
    folder = home.plan_artifacts_dir(ref.path, archived=ref.archived)
    kept = files.artifacts(home, folder, ref.path)
    had += [unit.path for unit in named]
    artifacts = [unit for unit in kept.units if unit.path not in had]
    left_out += [trouble.message for trouble in kept.troubles]
    changes, warnings = _changes(home, known, [own, home.display_path(folder)], unlisted)
    units = [*told.units, *single.units, *named, *artifacts, *changes]
    talk, said, model = _sessions(wanted.sessions)
    in_session = [unit.id for unit in talk]
    for file in wanted.units:
        handed = _handed(file, units)
        units += handed
        if any([unit.type in (MESSAGE, TOOL_RESULT) for unit in handed]):
            in_session += [unit.id for unit in handed]
    units = [_referring(unit, known) for unit in _in_order([*units, *talk])]
    pack = ContextPack(
        _plain(ref.id),
        plan.title or ref.id,
        told.task,
        told.purpose,
        tuple(units),
        frozenset([_plain(each) for each in in_session]),
    )
    clean, redacted = _without_secrets(pack)
    lines = (*files.told(left_out), *warnings, *said, *redacted)
    return Gathered(clean, tuple([_plain(line) for line in lines]), model)


def _listing(home: Project, *folders: str) -> tuple[Listing, list[str]]:
    """The files of the repository, and a warning where git can't be asked for them: then a walk finds them."""
    try:
        return listing(home, *folders), []
    except ExecplanError as error:
        if error.code not in GIT_UNUSABLE_CODES:
            raise
        left = "left out: what is not committed; files that git ignores may be in"
        return walked(home, *folders), [f"{left}: {error.message}; {error.hint}"]


def _changes(home: Project, known: Listing, but: Sequence[str], unlisted: Sequence[str]) -> tuple[list[Unit], list[str]]:
    """What differs from the last commit, and warnings; nothing where git can't be asked."""
    if unlisted:
        return [], list(unlisted)
    try:
        return tree.changes(home, known, but)
    except ExecplanError as error:
        if error.code not in GIT_UNUSABLE_CODES:
            raise
        return [], [f"left out: what is not committed: {error.message}; {error.hint}"]


def disk_path(ref: PlanRef) -> str:
    """Where a plan's file lies, with the links in the path of its folder followed."""
    return os.path.join(os.path.realpath(os.path.dirname(ref.path)), os.path.basename(ref.path))


def _named(
    home: Project, units: Sequence[Unit], known: Listing, but: Sequence[str], more: Sequence[str]
) -> tuple[tuple[Unit, ...], list[str]]:
    """The files that parts of the plan name, in the order in which they are named, and others; and what is left out."""
    named = [path for unit in units for path in unit.references]
    text = "\n".join([unit.content for unit in units])
    read = files.read(home, [path for path in dict.fromkeys([*named, *more]) if path not in but])
    ignored = [f"git ignores {path}" for path in files.unlisted(home, text, known) if path not in but]
    return read.units, [*[trouble.message for trouble in read.troubles], *ignored]


def _handed(file: str, units: Sequence[Unit]) -> list[Unit]:
    from execplan.repo.gathering.units import read_units

    return read_units(file, {unit.id for unit in units})


def _sessions(logs: Sequence[str]) -> tuple[list[Unit], list[str], str]:
    """The units of logs, what was not taken from them, and the model of the last one."""
    from execplan.repo.gathering.sessions import read_session, told

    units: list[Unit] = []
    said: list[str] = []
    model = ""
    for at, file in enumerate(dict.fromkeys(logs), start=1):
        session = read_session(file)
        said += told(file, session)
        model = session.model or model
        for unit in session.units:
            units.append(unit._replace(id=f"{at}:{unit.id}") if at > 1 else unit)
    return units, said, model


def _in_order(units: Sequence[Unit]) -> list[Unit]:
    """The units in the order in which they are printed: what was said last comes last."""
    return sorted(units, key=lambda unit: {INSTRUCTION: 0, MESSAGE: 2, TOOL_RESULT: 2}.get(unit.type, 1))


def _referring(unit: Unit, known: Listing) -> Unit:
    """The unit with the files that it names, where that is not known yet; no name in it has bytes that are no UTF-8."""
    named = unit.references or tuple([path for path in known.named(unit.content) if path != unit.path])
    names = tuple([_plain(path) for path in named])
    return unit._replace(id=_plain(unit.id), path=_plain(unit.path), references=names)


def _plain(name: str) -> str:
    """A name that can stand in a document: bytes of it that are no UTF-8 as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def _without_secrets(pack: ContextPack) -> tuple[ContextPack, list[str]]:
    """The pack without secrets, and in which units there were any."""
    from execplan.context.clean import redact_pack
    from execplan.text.redaction import Redaction

    cleaned = redact_pack(pack, Redaction(os.environ, os.environ.keys()).text)
    names = [new.id for old, new in zip(pack.units, cleaned.units, strict=True) if old != new]
    if not names:
        return cleaned, []
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return cleaned, [f"what looks like a secret is taken out of {', '.join(names[:5])}{more}"]
