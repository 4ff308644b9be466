"""The plans in a home."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.named_tuple import NamedTuple
from execplan.plan import reader
from execplan.plan.model import BROKEN, ParsedPlan
from execplan.project.project import ensure_inside
from execplan.project.project_discovery import with_nested_projects
from execplan.project.project_settings import FOLDER_LAYOUT, NON_PLAN_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.project.project import Project


class PlanRef(NamedTuple):
    """A plan's place, before it is read."""

    id: str
    path: str
    archived: bool

    @property
    def real_path(self) -> str:
        """Where its file lies, behind every link; raises ChangedMeanwhileError where folders keep changing places."""
        return file_access.resolve_path(self.path)

    @property
    def shell_name(self) -> str:
        """As it can be typed in a shell: its id; its path where the id would be taken for a flag."""
        return quote_plan_name(self.id, self.path)


class StoredPlan(NamedTuple):
    """A plan as it was read, or why it could not be."""

    project: Project
    ref: PlanRef
    data: bytes
    plan: ParsedPlan | None
    error: ExecplanError | None

    @property
    def state(self) -> str:
        """One of the five states."""
        return self.plan.state(archived=self.ref.archived) if self.plan is not None else BROKEN


def quote_plan_name(name: str, path: str = "") -> str:
    """Quote a plan for a shell: its ID, or its path if the ID would be read as a flag."""
    from shlex import quote

    return quote(path if path and name.startswith("-") else name)


def plan_files(project: Project, *, archive: bool = False) -> list[tuple[str, list[str]]]:
    """The folders in which plans lie, or archived ones, each with the names of their files."""
    folders = [project.plans]
    if archive:
        depth = 3 if "{" in project.settings.archive + project.settings.superseded else 0
        folders = [directory for folder in project.archives for directory in _dated_folders(folder, depth)]
    return [location for folder in folders for location in _plans_in_folder(project, folder)]


def refs(project: Project, *, archive: bool = False) -> list[PlanRef]:
    """The plans of the plans folder by name, or those of the archive."""
    return [
        PlanRef(project.split_plan_path(path)[1], path, archive)
        for folder, names in plan_files(project, archive=archive)
        for path in [os.path.join(folder, name) for name in names]
    ]


def _plans_in_folder(project: Project, folder: str) -> list[tuple[str, list[str]]]:
    """The files of the plans in a folder of plans, with the folder in which they lie: it, or one of each plan's own."""
    names = list_entries(folder)
    if project.is_flat:
        return [(folder, [name for name in names if name.endswith(".md") and name.lower() not in NON_PLAN_FILES])]
    locations = []
    for name in names:
        directory, file = os.path.split(project.plan_file(folder, name))
        if os.path.lexists(os.path.join(directory, file)):
            locations.append((directory, [file]))
        elif project.settings.layout == FOLDER_LAYOUT and os.path.isdir(directory):
            locations.append((directory, [entry for entry in list_entries(directory) if entry.endswith(f"{name}.md")]))
    return locations


def _dated_folders(folder: str, depth: int) -> list[str]:
    """A folder, and those below it that are named by a year, a month and a day."""
    days = [os.path.join(folder, name) for name in list_entries(folder) if depth and not name.strip("0123456789-_.")]
    return [folder, *[directory for day in days if os.path.isdir(day) for directory in _dated_folders(day, depth - 1)]]


def all_refs(project: Project) -> list[PlanRef]:
    """All plans, those of the archive last."""
    return refs(project) + refs(project, archive=True)


def read_bytes(project: Project, path: str) -> bytes:
    """The bytes of a plan; a link that leads out of the repository is refused. Raises ExecplanError."""
    ensure_inside(project, path)
    data, size = file_access.read(path, reader.MAX_BYTES)
    if size > reader.MAX_BYTES:
        raise reader.too_large_error(size)
    return data


def load(project: Project, ref: PlanRef) -> StoredPlan:
    """The plan, or what keeps it from being read."""
    data = b""
    try:
        data = read_bytes(project, ref.path)
        return StoredPlan(project, ref, data, reader.read(data), None)
    except ExecplanError as error:
        return StoredPlan(project, ref, data, None, error)


def load_all(project: Project, plans: list[PlanRef]) -> list[StoredPlan]:
    """Each of the plans, but for those that were moved away since their folder was listed."""
    stored_plans = [load(project, ref) for ref in plans]
    return [
        stored_plan
        for stored_plan in stored_plans
        if stored_plan.error is None or os.path.lexists(stored_plan.ref.path)
    ]


def load_with_nested(project: Project, *, archive: bool = False) -> list[StoredPlan]:
    """The plans of a home and of those that its settings name, with the archive or without."""
    projects = with_nested_projects(project)
    return [
        stored_plan
        for member in projects
        for stored_plan in load_all(member, all_refs(member) if archive else refs(member))
    ]


def ref_for_path(project: Project, path: str) -> PlanRef:
    """The plan in a file, which may lie anywhere."""
    path = os.path.abspath(path)
    folder, name = project.split_plan_path(path)
    return PlanRef(name, path, _is_archive(project, os.path.realpath(folder)))


def _is_archive(project: Project, folder: str) -> bool:
    """Whether a folder holds archived plans."""
    archives = [os.path.realpath(archive) for archive in project.archives]
    if "{" in project.settings.archive + project.settings.superseded:
        while folder != "/" and not os.path.basename(folder).strip("0123456789-_."):
            folder = os.path.dirname(folder)
    return folder in archives


def taken_ids(project: Project) -> set[str]:
    """Every id that a new plan may not have: of plans and artifacts, archived too, and of files that are no plans."""
    names = [ref.id for ref in all_refs(project)] + [name.removesuffix(".md") for name in NON_PLAN_FILES]
    for archived in (False, True):
        names += list_entries(project.artifacts_dir("", archived=archived))
    return {normalize_id(name) for name in names}


def free_name(name: str, used_ids: set[str], suffix: str = "") -> str:
    """The name, or the name with the first number that makes it free, and what it ends with; taken are ids as compared."""
    free, number = name + suffix, 1
    while normalize_id(free) in used_ids:
        number += 1
        free = f"{name}-{number}{suffix}"
    return free


def normalize_id(name: str) -> str:
    """An id without case and in one Unicode form: what file systems may take for the same name."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFC", name).casefold()


def list_entries(folder: str, *, in_order: bool = True) -> list[str]:
    """What is in a folder, by name; hidden files are left out, and a folder that is not there is empty."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
        return sorted(names) if in_order else names
    except FileNotFoundError:
        return []
    except OSError as error:
        raise file_access.file_error(error, folder, "read") from None
