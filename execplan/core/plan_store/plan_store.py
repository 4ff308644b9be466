"""Access to the plans of a project: their files, IDs and content."""

from __future__ import annotations

import os

from execplan.core import features
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import ensure_inside
from execplan.core.project.project_discovery import directory_of, related_projects, with_nested_projects
from execplan.core.project.project_settings import FOLDER_LAYOUT, NON_PLAN_FILES, PART_ENDINGS, is_plan_name
from execplan.core.text.message_parts import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.project.project import Project


class PlanRef(NamedTuple):
    """Location of a plan that has not been read yet."""

    id: str
    path: str
    archived: bool

    @property
    def real_path(self) -> str:
        """Return the path of the file with all links resolved.

        Raises ChangedMeanwhileError if directories keep changing.
        """
        return file_access.resolve_path(self.path)

    @property
    def shell_name(self) -> str:
        """Return the plan's name quoted for a shell: its ID, or its path if the ID looks like a flag."""
        return quote_plan_name(self.id, self.path)


class StoredPlan(NamedTuple):
    """A plan that was read, or the error that prevented it."""

    project: Project
    ref: PlanRef
    data: bytes
    plan: ParsedPlan | None
    error: ExecplanError | None

    @property
    def state(self) -> str:
        """Return the state of the plan, one of `model.STATES`."""
        from execplan.core.plan.model import BROKEN

        return self.plan.state(archived=self.ref.archived) if self.plan is not None else BROKEN

    def require_plan(self) -> ParsedPlan:
        """Return the plan; raises the ExecplanError that prevented reading it, with the path of the file."""
        if self.plan is None:
            assert self.error is not None
            with ErrorContext(self.project.display_path(self.ref.path)):
                raise self.error
        return self.plan


def quote_plan_name(name: str, path: str = "") -> str:
    """Quote a plan for a shell: its ID, or its path if the ID would be read as a flag."""
    return quote(path if path and name.startswith("-") else name)


def name_in_commands(project: Project, ref: PlanRef) -> str:
    """Return the name of a plan in suggested commands, quoted for a shell.

    It is the ID, or the path if the ID would be read as a flag, or leads to another plan or to several.
    """
    return quote_plan_name(unique_name(project, ref), project.display_path(ref.path))


def unique_name(project: Project, ref: PlanRef) -> str:
    """Return a plan's ID, or its path if the ID leads to another plan or to several."""
    return project.display_path(ref.path) if has_namesake(project, ref) else ref.id


def has_namesake(project: Project, ref: PlanRef) -> bool:
    """Return whether another plan of the repository has the same ID; an archived one counts only for an archived plan."""
    try:
        members = related_projects(project)
    except ExecplanError:  # wrong settings of another project; commands about this plan don't need it
        members = [project]
    paths = {
        member.plan_file(folder, ref.id)
        for member in members
        for folder in (member.plans, *(member.archives if ref.archived else ()))
    }
    namesakes = [path for path in paths if path != ref.path and os.path.lexists(path)]
    return bool(namesakes) and os.path.lexists(ref.path)  # a plan that is yet to be moved has none


def plan_title(project: Project, ref: PlanRef, title: str | None) -> str | None:
    """Return the title of a plan; of one in its own directory, without `Tasks:` and the like.

    If nothing remains, the title is the directory's name in words.
    """
    if project.is_flat or ref.path in project.files:
        return title
    head, _, rest = (title or "").partition(":")
    if head and not _is_general(project, head):
        return title
    if rest.strip():
        return rest.strip()
    words = ref.id.replace("_", "-").split("-")
    while len(words) > 1 and words[0].isdigit():
        words.pop(0)
    name = " ".join(words)
    return name[:1].upper() + name[1:]


def _is_general(project: Project, title: str) -> bool:
    """Return whether any plan could have a title."""
    from execplan.core.plan.section_roles import TASKS, find_role, part_number

    return find_role(title, project.titles) == TASKS and not part_number(title)


def plan_files(project: Project, *, archive: bool = False) -> list[tuple[str, list[str]]]:
    """Return the directories that contain plans, or archived plans, each with the names of the plan files."""
    folders = [project.plans]
    if archive:
        depth = 3 if "{" in project.settings.archive + project.settings.superseded else 0
        archives = [folder for folder in project.archives if folder not in project.shared_archives]
        folders = [directory for folder in archives for directory in _dated_folders(folder, depth)]
    single_files = [] if archive else [os.path.split(file) for file in project.files if os.path.lexists(file)]
    return [location for folder in folders for location in _plans_in_folder(project, folder)] + [
        (folder, [name]) for folder, name in single_files
    ]


def refs(project: Project, *, archive: bool = False) -> list[PlanRef]:
    """Return the plans in the plans directory or the archive, sorted by name."""
    return [
        PlanRef(project.split_plan_path(path)[1], path, archive)
        for folder, names in plan_files(project, archive=archive)
        for path in [os.path.join(folder, name) for name in names]
    ]


def _plans_in_folder(project: Project, folder: str) -> list[tuple[str, list[str]]]:
    """Return the plan files in a plans directory, grouped by the directory that contains them.

    That is the plans directory itself, or a directory for each plan.
    """
    names = list_entries(folder)
    if project.is_flat:
        return [(folder, [name for name in names if is_plan_name(name)])]
    locations = []
    for name in names:
        directory, file = os.path.split(project.plan_file(folder, name))
        if os.path.lexists(os.path.join(directory, file)):
            locations.append((directory, [file]))
        elif project.settings.layout == FOLDER_LAYOUT and os.path.isdir(directory):
            locations.append((directory, [entry for entry in list_entries(directory) if entry.endswith(f"{name}.md")]))
    return locations


def files_beside(project: Project, ref: PlanRef) -> list[str]:
    """Return the files that belong to a plan by their names, as `parser.progress.md` and `parser.json` to `parser.md`.

    Copies that other programs leave, such as `parser.md.orig`, don't.
    """
    stem = ref.path.removesuffix(".md")
    directory, name = os.path.split(stem)
    if project.plan_artifacts_dir(ref.path, archived=ref.archived) == directory:
        return []  # they are in the plan's own directory
    endings = [entry.removeprefix(name) for entry in list_entries(directory) if entry.startswith(f"{name}.")]
    parts = [ending for ending in endings if ending.lower() in PART_ENDINGS or ".md" not in ending.lower()]
    return [stem + ending for ending in parts if os.path.isfile(stem + ending)]


def _dated_folders(folder: str, depth: int) -> list[str]:
    """Return a directory and those below it that are named by year, month and day."""
    days = [os.path.join(folder, name) for name in list_entries(folder) if depth and not name.strip("0123456789-_.")]
    return [folder, *[directory for day in days if os.path.isdir(day) for directory in _dated_folders(day, depth - 1)]]


def all_refs(project: Project) -> list[PlanRef]:
    """Return all plans, archived ones last."""
    return refs(project) + refs(project, archive=True)


def read_bytes(project: Project, path: str) -> bytes:
    """Read the bytes of a plan. Raises ExecplanError if it can't be read or is a link out of the repository."""
    from execplan.core.plan import reader

    ensure_inside(project, path)
    data, size = file_access.read(path, reader.MAX_BYTES)
    if size > reader.MAX_BYTES:
        raise reader.too_large_error(size)
    return data


def parse(project: Project, data: bytes) -> ParsedPlan:
    """Parse the bytes of a plan of a project; raises ExecplanError if they are not text."""
    from execplan.core.plan import reader

    plan = reader.read(data, project.titles)
    mark_template_text(project, plan)
    return plan


def mark_template_text(project: Project, plan: ParsedPlan) -> None:
    """Mark the text of a plan as placeholder text if it is only a copy of the project's own template."""
    if project.settings.template.endswith(".md"):
        path = os.path.join(project.base, project.settings.template)
        features.load(features.COPIED_TEMPLATE)(plan, path, project.titles)


def parse_or_none(project: Project, data: bytes) -> ParsedPlan | None:
    """Parse the bytes of a plan of a project; return None if they are not text."""
    try:
        return parse(project, data)
    except ExecplanError:
        return None


def load(project: Project, ref: PlanRef) -> StoredPlan:
    """Load a plan, or the error that prevents reading it."""
    data = b""
    try:
        data = read_bytes(project, ref.path)
        return StoredPlan(project, ref, data, parse(project, data), None)
    except ExecplanError as error:
        return StoredPlan(project, ref, data, None, error)


def load_all(project: Project, plans: list[PlanRef]) -> list[StoredPlan]:
    """Load the plans, except those that were moved away after their directory was listed."""
    stored_plans = [load(project, ref) for ref in plans]
    return [
        stored_plan
        for stored_plan in stored_plans
        if stored_plan.error is None or os.path.lexists(stored_plan.ref.path)
    ]


def load_with_nested(project: Project, *, archive: bool = False) -> list[StoredPlan]:
    """Load the plans of a project and of its nested projects, with or without archived plans."""
    projects = with_nested_projects(project)
    return [
        stored_plan
        for member in projects
        for stored_plan in load_all(member, all_refs(member) if archive else refs(member))
    ]


def ref_for_path(project: Project, path: str) -> PlanRef:
    """Return the reference to the plan in a file at any path."""
    path = os.path.abspath(path)
    project = directory_of(project, path)
    folder, name = project.split_plan_path(path)
    return PlanRef(name, path, _is_archive(project, file_access.resolve_path(folder)))


def _is_archive(project: Project, folder: str) -> bool:
    """Return whether a directory contains archived plans."""
    archives = [os.path.realpath(archive) for archive in project.archives]
    if "{" in project.settings.archive + project.settings.superseded:
        while folder != os.path.dirname(folder) and not os.path.basename(folder).strip("0123456789-_."):
            folder = os.path.dirname(folder)
    return folder in archives


def taken_ids(project: Project) -> set[str]:
    """Return the IDs that a new plan can't have: those of plans, archived plans, artifacts, and non-plan files."""
    names = [ref.id for ref in all_refs(project)] + [name.removesuffix(".md") for name in NON_PLAN_FILES]
    for archived in (False, True):
        names += list_entries(project.artifacts_dir("", archived=archived))
    return {normalize_id(name) for name in names}


def free_name(name: str, used_ids: set[str], suffix: str = "") -> str:
    """Return the name with the first number that makes it unused, and the suffix; `used_ids` are normalized."""
    free, number = name + suffix, 1
    while normalize_id(free) in used_ids:
        number += 1
        free = f"{name}-{number}{suffix}"
    return free


def normalize_id(name: str) -> str:
    """Normalize an ID to one case and Unicode form, because file systems may treat such names as equal."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFC", name).casefold()


def slugs(project: Project, plan_id: str) -> set[str]:
    """Return the possible slugs of an ID, normalized, by the name pattern in the settings and by common patterns.

    The number before ` - ` is one, too: `task-3` for `task-3 - Parser`, as Backlog.md names its tasks.
    """
    from execplan.core.project import plan_names

    number, separator, _ = plan_id.partition(" - ")
    names = {*plan_names.extract_slugs(project.settings.name, plan_id), *([number] if separator else [])}
    return {normalize_id(name) for name in names}


def list_entries(folder: str, *, in_order: bool = True) -> list[str]:
    """Return the sorted names in a directory without hidden files; empty if the directory does not exist."""
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
        return sorted(names) if in_order else names
    except FileNotFoundError:
        return []
    except OSError as error:
        raise file_access.file_error(error, folder, "read") from None
