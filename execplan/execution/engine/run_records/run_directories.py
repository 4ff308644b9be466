"""The directories of a run: its evidence among the plan's artifacts, and its working state, which is not committed."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

RUNS: Final = "runs"
JOURNAL: Final = "journal.jsonl"
RECORD: Final = "record.json"
DOCUMENT: Final = "execution-plan.json"
"""Name of the initial execution plan."""
_AUDIT_LOG: Final = "ledger.jsonl"
LIMIT: Final = 256 << 20
"""Size limit of a journal and of an audit log in bytes."""


class RunPaths(NamedTuple):
    """A run of a plan: its directories and files, all as absolute paths."""

    id: str
    """ID of the run: its number in the plan, which orders runs regardless of the clock, and eight random hex digits."""
    folder: str
    """Directory committed with the plan: journal, document, approval, transcripts, record."""
    state: str
    """Directory that is not committed: marks of programs, and links to the transcripts."""
    project: Project
    plan: str
    """ID of the plan."""
    plan_path: str
    """Absolute path of the plan."""
    is_archived: bool = False
    """Whether the plan is archived, and the run with it."""

    @property
    def ref(self) -> PlanRef:
        """Return the location of the plan; the guard runs without it, and without what it imports."""
        from execplan.core.plan_store.plan_store import PlanRef

        return PlanRef(self.plan, self.plan_path, self.is_archived)

    @property
    def number(self) -> int:
        """Return the number of the run in its plan, from 1."""
        return run_number(self.id)

    @property
    def copy(self) -> str:
        """Return the directory with links to the transcripts, in which an earlier version kept all else, too."""
        return os.path.join(self.state, "copy")

    @property
    def kept_path(self) -> str:
        """Return the path of the file with all that the run keeps besides its journal.

        It is next to the run's directory, and not in it, so that a new run needs no synced directory of its own.
        """
        return f"{self.state}.kept"

    @property
    def state_journal(self) -> str:
        """Return the path of the journal in the state directory, which a step cannot remove with the repository's files.

        An earlier version had it among the copies.
        """
        old_path = self.copy_path(JOURNAL)
        return old_path if os.path.lexists(old_path) else f"{self.state}.jsonl"

    def old_kept_path(self, name: str) -> str:
        """Return the path of the file in which an earlier version kept a content."""
        return os.path.join(self.state if name.endswith(".tree") else self.copy, name)

    @property
    def journal(self) -> str:
        """Return the path of the journal, with one entry per line.

        This is the one in the state directory, which is written first, unless the committed journal continues it.
        """
        copy_path, artifact_path = self.state_journal, self.artifact_path(JOURNAL)
        try:
            size = os.lstat(copy_path).st_size
        except OSError:
            return artifact_path
        try:
            is_longer = os.lstat(artifact_path).st_size > size
        except OSError:
            return copy_path
        return artifact_path if is_longer and _is_continuation(copy_path, artifact_path) else copy_path

    @property
    def document(self) -> str:
        """Return the path of the initial execution plan, for readers who do not read what the run keeps."""
        return self.artifact_path(DOCUMENT)

    @property
    def approval(self) -> str:
        """Return the path of the approval for the run; a later approval of the same digest replaces the file."""
        return os.path.join(self.folder, "approval.json")

    @property
    def record(self) -> str:
        """Return the path of the run's record, for readers who do not read journals."""
        return os.path.join(self.folder, RECORD)

    def artifact_path(self, name: str) -> str:
        """Return the path of an evidence file among the plan's artifacts."""
        return os.path.join(self.folder, name)

    def copy_path(self, name: str) -> str:
        """Return the path of an evidence file in the directory of copies."""
        return os.path.join(self.copy, name)

    @property
    def transcripts(self) -> str:
        """Return the directory with the output of the steps."""
        return os.path.join(self.folder, "transcripts")


def runs_directory(project: Project, ref: PlanRef) -> str:
    """Return the directory with the runs of a plan."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), RUNS)


def list_runs(project: Project, ref: PlanRef) -> list[RunPaths]:
    """List the runs of a plan, last one first. Raises ExecplanError.

    Two branches may each have a run with the same number; then their start times decide the order.
    """
    from execplan.core.plan_store import plan_store
    from execplan.core.project import project_state

    names = [name for name in plan_store.list_entries(runs_directory(project, ref)) if is_run_id(name)]
    state_names = [
        name
        for name in file_access.list_names(project_state.plan_state_dir(project, ref.path))
        if is_run_id(name) and name not in names
    ]
    runs = [get_run_paths(project, ref, name) for name in names]
    if state_names:
        from execplan.execution.engine.run_records.expected_evidence import is_expected

        runs += [
            run
            for run in [get_run_paths(project, ref, name) for name in state_names]
            if is_expected(project, run.state_journal, run.artifact_path(JOURNAL))
        ]
    numbers = [run.number for run in runs]
    if len(set(numbers)) < len(numbers):
        duplicate_numbers = {number for number in numbers if numbers.count(number) > 1}
    else:
        duplicate_numbers = set()

    def sort_key(run: RunPaths) -> tuple[int, str, str]:
        return run.number, _begun_at(run) if run.number in duplicate_numbers else "", run.id

    return sorted(runs, key=sort_key, reverse=True)


def next_run(project: Project, ref: PlanRef) -> RunPaths:
    """Return the paths of a new run that is about to begin. Raises ExecplanError."""
    last_number = max([run.number for run in list_runs(project, ref)], default=0)
    return get_run_paths(project, ref, f"{last_number + 1:04}-{os.urandom(4).hex()}")


def find_run(project: Project, ref: PlanRef, name: str | None) -> RunPaths:
    """Return the run with this number, ID or ID prefix; for None the last one. Raises ExecplanError."""
    runs = list_runs(project, ref)
    if not runs:
        from execplan.execution.approvals.current_plan import lacks_steps

        message, hint = f"{ref.id} was never run", f"see what comes first: execplan next {ref.shell_name}"
        if lacks_steps(project, ref):
            message, hint = f"{message}: it has no steps", "see how to write steps: execplan explain steps"
        raise ExecplanError("no-such-run", message, hint=hint)
    if name is None:
        return runs[0]
    matches = [run for run in runs if run.id == name or str(run.number) == name.lstrip("0")]
    matches = matches or [run for run in runs if name and run.id.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    hint = f"list its runs: execplan runs {ref.shell_name}"
    candidates = [run.id for run in matches or runs]
    if matches:
        message = f"{len(matches)} runs of {ref.id} match {name!r}"
        raise ExecplanError("ambiguous-run", message, hint=hint, candidates=candidates)
    raise ExecplanError("no-such-run", f"{ref.id} has no run {name!r}", hint=hint, candidates=candidates)


def _is_continuation(copy_path: str, artifact_path: str) -> bool:
    """Return whether a journal longer than its copy was continued in another checkout.

    In that case, the audit log next to it contains the additional entries.
    """
    from execplan.core.text.text_lines import digest

    try:
        copied_bytes, data = (file_access.read(path, LIMIT)[0] for path in (copy_path, artifact_path))
        audit_log = file_access.read(os.path.join(os.path.dirname(artifact_path), "..", "..", _AUDIT_LOG), LIMIT)[0]
    except ExecplanError:
        return False
    if data.startswith(copied_bytes):
        rest = data.removeprefix(copied_bytes)[: data.rfind(b"\n") + 1 - len(copied_bytes)]
    else:
        rest = b""
    lines, first_number = rest.split(b"\n")[:-1], copied_bytes.count(b"\n") + 1
    is_numbered = all([line.startswith(f'{{"n":{number},'.encode()) for number, line in enumerate(lines, first_number)])
    return bool(lines) and is_numbered and all([f'"line":"{digest(line)}"'.encode() in audit_log for line in lines])


def _begun_at(run_paths: RunPaths) -> str:
    """Return the time in the first line of a run's journal; empty if there is none."""
    try:
        with open(file_access.open_regular(run_paths.journal), "rb") as file:
            return file.readline(1 << 16).partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    except OSError:
        return ""


def get_run_paths(project: Project, ref: PlanRef, name: str) -> RunPaths:
    """Return the paths of the run with this ID, existing or not."""
    folder, state = os.path.join(runs_directory(project, ref), name), os.path.join(project.state, RUNS, name)
    return RunPaths(name, folder, state, project, *ref)


def run_number(run_id: str) -> int:
    """Return the number of a run in its plan, from 1."""
    return int(run_id.partition("-")[0])


def is_run_id(name: str) -> bool:
    """Return whether a file name has the form of a run ID."""
    number, dash, rest = name.partition("-")
    return (
        bool(dash) and number.isascii() and number.isdigit() and len(rest) == 8 and not rest.strip("0123456789abcdef")
    )
