"""Assembly of a plan's context pack from the plan, the file system, git, and files that the user supplies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from execplan.context.context_pack import ARTIFACT, FILE, INSTRUCTION, MESSAGE, TOOL_RESULT, ContextPack, Unit
from execplan.context.gathering import file_units
from execplan.context.gathering.candidate_files import find_candidates
from execplan.context.gathering.change_units import change_units
from execplan.context.gathering.file_units import FileListing, list_files, walk_files
from execplan.context.gathering.plan_units import PlanUnits, split_plan
from execplan.context.relevance import score_units
from execplan.context.task_intent import classify_intent
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.git.git_query import GIT_SLOW, GIT_UNUSABLE_CODES, tracked_files
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan_store.author import actor
from execplan.core.plan_store.claims import task_claims
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import join_first

_LINE_NUMBER = re.compile(r"^\s*\d+[\t→:]")
"""Line number that a tool prints before each line of a file."""


class GatherOptions(NamedTuple):
    """Context that is requested in addition to the plan and the files that it names."""

    task: str | None = None
    """Number, ID or text of a task; default: the next open task."""
    decision_count: int = 3
    """Number of last decisions that are never left out."""
    paths: tuple[str, ...] = ()
    """Paths from the working directory: files that are never left out, and directories to choose files from."""
    unit_files: tuple[str, ...] = ()
    """Files with one unit per line."""
    session_logs: tuple[str, ...] = ()
    """Session logs of agent programs."""


class GatheredPack(NamedTuple):
    """A gathered context pack, with warnings and the model of its session."""

    pack: ContextPack
    warnings: tuple[str, ...]
    """Messages about what was left out."""
    redacted_ids: Sequence[str]
    """IDs of the units with possible secrets."""
    model: str
    """Model that the last session used, or empty."""

    def warnings_for(self, units: Iterable[Unit]) -> tuple[str, ...]:
        """Return the warnings, and one about what is redacted in the units that are printed."""
        ids = [unit.id for unit in units if unit.id in self.redacted_ids]
        return (*self.warnings, *([f"possible secrets are redacted in {join_first(ids, 5)}"] if ids else []))


def gather_pack(project: Project, ref: PlanRef, plan: ParsedPlan, options: GatherOptions) -> GatheredPack:
    """Gather everything there is to read about a plan, redacted.

    Raises ExecplanError if a requested item is unavailable.
    """
    plan_path = project.display_path(resolved_path(ref))
    listing, listing_warnings = _list_files(
        project,
        project.display_path(project.base) if project.base != project.root else "",
        plan_path.rpartition("/")[0],
    )
    with ErrorContext(project.display_path(ref.path)):
        claims = {task_id: claim.name == actor(project) for task_id, claim in task_claims(project, ref, plan).items()}
        plan_units = split_plan(plan, listing.referenced_files, options.task, options.decision_count, claims)
    requested, directory_paths = file_units.requested_files(project, options.paths, listing)
    included_paths = [plan_path, *[unit.path for unit in requested.units]]
    named_units, omissions = _named_files(project, plan_units.units, listing, included_paths, directory_paths)
    named_units = _add_candidates(project, plan, plan_units, listing, included_paths, named_units)
    artifacts_dir = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    artifacts_read = file_units.artifact_units(project, artifacts_dir, ref.path)
    included_paths += [unit.path for unit in named_units]
    artifact_units = [unit for unit in artifacts_read.units if unit.path not in included_paths]
    omissions += [error.message for error in artifacts_read.errors]
    changed_units, warnings = _uncommitted_changes(
        project, listing, [plan_path, project.display_path(artifacts_dir)], listing_warnings
    )
    units = [*plan_units.units, *requested.units, *named_units, *artifact_units, *changed_units]
    session_units, session_messages, model = _session_units(options.session_logs)
    session_unit_ids = [unit.id for unit in session_units]
    for unit_file in options.unit_files:
        external_units = _read_external_units(unit_file, units)
        units += external_units
        if any([unit.type in (MESSAGE, TOOL_RESULT) for unit in external_units]):
            session_unit_ids += [unit.id for unit in external_units]
    units = [_add_references(unit, listing) for unit in _sort_for_output([*units, *session_units])]
    units = _omit_known(units, frozenset(session_unit_ids))
    pack = ContextPack(
        _escape_invalid_utf8(ref.id),
        plan.title or ref.id,
        plan_units.task,
        plan_units.purpose,
        tuple(units),
        frozenset([_escape_invalid_utf8(unit_id) for unit_id in session_unit_ids]),
    )
    redacted_pack, redacted_ids = _redact(pack)
    lines = (*file_units.format_omissions(omissions), *warnings, *session_messages)
    return GatheredPack(redacted_pack, tuple([_escape_invalid_utf8(line) for line in lines]), redacted_ids, model)


def _list_files(project: Project, *base_directories: str) -> tuple[FileListing, list[str]]:
    """List the repository's files; if git can't be used, walk the directory tree and return a warning.

    If git takes too long to match ignore patterns, only tracked files are listed.
    """
    try:
        return list_files(project, *base_directories), []
    except ExecplanError as error:
        if error.code not in GIT_UNUSABLE_CODES:
            raise
        if error.code == GIT_SLOW:
            listing = FileListing(tracked_files(project), root=project.root, base_directories=base_directories)
            return listing, [f"left out: untracked files and uncommitted changes: {error.message}; {error.hint}"]
        message = "left out: uncommitted changes; files that git ignores may be included"
        return walk_files(project, *base_directories), [f"{message}: {error.message}; {error.hint}"]


def _uncommitted_changes(
    project: Project, listing: FileListing, excluded_paths: Sequence[str], listing_warnings: Sequence[str]
) -> tuple[list[Unit], list[str]]:
    """Return the changes since the last commit, and warnings; no changes if git can't be used."""
    if listing_warnings:
        return [], list(listing_warnings)
    try:
        return change_units(project, listing, excluded_paths)
    except ExecplanError as error:
        if error.code not in GIT_UNUSABLE_CODES:
            raise
        return [], [f"left out: uncommitted changes: {error.message}; {error.hint}"]


def resolved_path(ref: PlanRef) -> str:
    """Return the path of a plan's file, with symbolic links in its directory resolved."""
    return os.path.join(os.path.realpath(os.path.dirname(ref.path)), os.path.basename(ref.path))


def _named_files(
    project: Project,
    units: Sequence[Unit],
    listing: FileListing,
    excluded_paths: Sequence[str],
    extra_paths: Sequence[str],
) -> tuple[tuple[Unit, ...], list[str]]:
    """Read the files that plan units name, in order, and the extra paths; also return messages about omissions."""
    named_paths = [path for unit in units for path in unit.references]
    text = "\n".join([unit.content for unit in units])
    named_files = file_units.read_files(
        project, [path for path in dict.fromkeys([*named_paths, *extra_paths]) if path not in excluded_paths]
    )
    ignored = [
        f"git ignores {path}" for path in file_units.find_unlisted(project, text, listing) if path not in excluded_paths
    ]
    return named_files.units, [*[error.message for error in named_files.errors], *ignored]


def _add_candidates(
    project: Project,
    plan: ParsedPlan,
    plan_units: PlanUnits,
    listing: FileListing,
    excluded_paths: Sequence[str],
    named_units: Sequence[Unit],
) -> tuple[Unit, ...]:
    """Add the files that the plan is probably about to those that it names, and set the affinity of both."""
    pack = ContextPack("", plan.title or "", plan_units.task, plan_units.purpose, plan_units.units)
    named_paths = [unit.path for unit in named_units]
    own_prefixes = project_discovery.owned_path_prefixes(project)
    paths = [path for path in listing.paths.difference(excluded_paths) if not path.startswith(own_prefixes)]
    candidates = find_candidates(project, paths, named_paths, score_units(pack, classify_intent(pack.task)))
    by_path = {candidate.path: candidate for candidate in candidates}
    files = file_units.read_files(project, [*named_paths, *[path for path in by_path if path not in named_paths]])
    return tuple(
        [
            unit._replace(affinity=round(by_path[unit.path].score, 4), origin=by_path[unit.path].reason)
            for unit in files.units
        ]
    )


def _read_external_units(unit_file: str, units: Sequence[Unit]) -> list[Unit]:
    from execplan.context.gathering.external_units import read_units

    return read_units(unit_file, {unit.id for unit in units})


def _session_units(log_files: Sequence[str]) -> tuple[list[Unit], list[str], str]:
    """Return the units of session logs, messages about omissions, and the model of the last session."""
    from execplan.context.gathering.agent_session_logs import format_omissions, read_session_log

    units: list[Unit] = []
    messages: list[str] = []
    model = ""
    for number, log_file in enumerate(dict.fromkeys(log_files), start=1):
        session = read_session_log(log_file)
        messages += format_omissions(log_file, session)
        model = session.model or model
        for unit in session.units:
            units.append(unit._replace(id=f"{number}:{unit.id}") if number > 1 else unit)
    return units, messages, model


def _omit_known(units: Sequence[Unit], session_ids: frozenset[str]) -> list[Unit]:
    """Return the units with a reason to omit those whose lines the session's tools have printed, and files that occur twice."""
    printed = "\n".join([unit.content for unit in units if unit.id in session_ids and unit.type == TOOL_RESULT])
    read_lines = frozenset([_LINE_NUMBER.sub("", line).strip() for line in printed.split("\n")])
    known_units: list[Unit] = []
    first_by_path: dict[str, str] = {}
    for unit in sorted(units, key=lambda unit: not unit.pinned):
        omission = unit.omission
        if not unit.pinned and unit.id not in session_ids and not omission:
            if unit.type in (FILE, ARTIFACT) and unit.path in first_by_path:
                omission = f"{first_by_path[unit.path]} is the same file"
            elif printed and read_lines.issuperset([line.strip() for line in unit.content.split("\n") if line.strip()]):
                omission = "the session has read it"
        if unit.type in (FILE, ARTIFACT) and unit.path:
            first_by_path.setdefault(unit.path, unit.id)
        known_units.append(unit._replace(omission=omission))
    by_id = {unit.id: unit for unit in known_units}
    return [by_id[unit.id] for unit in units]


def _sort_for_output(units: Sequence[Unit]) -> list[Unit]:
    """Sort units in the order in which they are printed: instructions first, the conversation last."""
    return sorted(units, key=lambda unit: {INSTRUCTION: 0, MESSAGE: 2, TOOL_RESULT: 2}.get(unit.type, 1))


def _add_references(unit: Unit, listing: FileListing) -> Unit:
    """Add the files that a unit names, unless it has references already, and escape names that are not valid UTF-8."""
    references = unit.references or tuple(
        [path for path in listing.referenced_files(unit.content) if path != unit.path]
    )
    safe_references = tuple([_escape_invalid_utf8(path) for path in references])
    return unit._replace(
        id=_escape_invalid_utf8(unit.id), path=_escape_invalid_utf8(unit.path), references=safe_references
    )


def _escape_invalid_utf8(name: str) -> str:
    """Return a name that a document can contain, with bytes that are not valid UTF-8 as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def _redact(pack: ContextPack) -> tuple[ContextPack, list[str]]:
    """Redact the secrets in a pack, and return the IDs of the affected units."""
    from execplan.context.context_pack import redact_pack
    from execplan.core.secrets.redaction import Redactor

    redacted = redact_pack(pack, Redactor(os.environ, os.environ.keys()).redact_text)
    return redacted, [
        new_unit.id for old_unit, new_unit in zip(pack.units, redacted.units, strict=True) if old_unit != new_unit
    ]
