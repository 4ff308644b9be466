"""Where a run lies: its evidence among the plan's artifacts, its working state in the folder that is not committed."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.files import file_access
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

_RUNS = "runs"
JOURNAL: Final = "journal.jsonl"
LEDGER: Final = "ledger.jsonl"
LIMIT: Final = 256 << 20
"""Bytes of the longest journal, and of the longest ledger, that is read."""


class RunPaths(NamedTuple):
    """The folders and files of a run; every path is absolute."""

    id: str
    """Its number in the plan, so that runs stand in order whatever a clock says, and eight random digits."""
    folder: str
    """Committed with the plan: journal, document, approval, transcripts, record."""
    state: str
    """Not committed: what a resume and a rollback need beside the journal and the backups, and a copy of the evidence."""
    root: str = ""
    """Of the repository, in which the folder must lie."""

    @property
    def number(self) -> int:
        """Which run of the plan it is, from 1."""
        return int(self.id.partition("-")[0])

    @property
    def copy(self) -> str:
        """The copy of the evidence in the state, which no step removes with the files of the repository."""
        return os.path.join(self.state, "copy")

    @property
    def journal(self) -> str:
        """What happened, an entry a line: the copy, which is written first, unless what was committed goes on behind it."""
        copy_path, artifact_path = self.copy_path(JOURNAL), self.artifact_path(JOURNAL)
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
        """The bytes of the execution plan that is run."""
        return self.trusted_path("execution-plan.json")

    @property
    def approval(self) -> str:
        """The approval that lets it run; a later one of the same digest takes the other file's place."""
        return os.path.join(self.folder, "approval.json")

    @property
    def record(self) -> str:
        """What became of it, for whoever does not read journals."""
        return os.path.join(self.folder, "record.json")

    def artifact_path(self, name: str) -> str:
        """A file of the evidence, among the plan's artifacts."""
        return os.path.join(self.folder, name)

    def copy_path(self, name: str) -> str:
        """Its copy in the state."""
        return os.path.join(self.copy, name)

    def trusted_path(self, name: str) -> str:
        """The one of both to go by: what a step has altered or removed among the artifacts is whole in the copy."""
        copy_path = self.copy_path(name)
        return copy_path if os.path.lexists(copy_path) else self.artifact_path(name)

    @property
    def transcripts(self) -> str:
        """The folder of what the steps printed."""
        return os.path.join(self.folder, "transcripts")


def runs_directory(project: Project, ref: PlanRef) -> str:
    """The folder of a plan's runs."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), _RUNS)


def list_runs(project: Project, ref: PlanRef) -> list[RunPaths]:
    """The runs of a plan, the last one first; raises ExecplanError.

    Two branches may each have one of a number: then the clock tells which of these is the later one.
    """
    from execplan.plan_store import plan_store
    from execplan.project import project_state

    names = [name for name in plan_store.list_entries(runs_directory(project, ref)) if is_run_id(name)]
    state_names = [
        name
        for name in list_directory(project_state.plan_state_dir(project, ref.path))
        if is_run_id(name) and name not in names
    ]
    runs = [get_run_paths(project, ref, name) for name in names]
    if state_names:
        from execplan.engine.run_records.expected_evidence import is_expected

        runs += [
            run
            for run in [get_run_paths(project, ref, name) for name in state_names]
            if is_expected(project, run.copy_path(JOURNAL), run.artifact_path(JOURNAL))
        ]
    numbers = [run.number for run in runs]
    duplicate_numbers = (
        {number for number in numbers if numbers.count(number) > 1} if len(set(numbers)) < len(numbers) else set()
    )

    def sort_key(run: RunPaths) -> tuple[int, str, str]:
        return run.number, _begun_at(run) if run.number in duplicate_numbers else "", run.id

    return sorted(runs, key=sort_key, reverse=True)


def next_run(project: Project, ref: PlanRef) -> RunPaths:
    """The place of a run that is about to begin; raises ExecplanError."""
    last_number = max([run.number for run in list_runs(project, ref)], default=0)
    return get_run_paths(project, ref, f"{last_number + 1:04}-{os.urandom(4).hex()}")


def find_run(project: Project, ref: PlanRef, name: str | None) -> RunPaths:
    """The run that a number, an id or its beginning names, the last one for none; raises ExecplanError."""
    runs = list_runs(project, ref)
    if not runs:
        message = f"{ref.id} was never run"
        raise ExecplanError("no-such-run", message, exit=INPUT, hint=f"execplan run {ref.shell_name}")
    if name is None:
        return runs[0]
    matches = [run for run in runs if run.id == name or str(run.number) == name.lstrip("0")]
    matches = matches or [run for run in runs if name and run.id.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    hint = f"see them: execplan runs {ref.shell_name}"
    candidates = [run.id for run in matches or runs]
    if matches:
        message = f"{len(matches)} runs of {ref.id} could be meant by {name!r}"
        raise ExecplanError("ambiguous-run", message, exit=INPUT, hint=hint, candidates=candidates)
    raise ExecplanError("no-such-run", f"{ref.id} has no run {name!r}", exit=INPUT, hint=hint, candidates=candidates)


def list_directory(folder: str) -> list[str]:
    """What is in a folder of the state; nothing where there is none."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_continuation(copy_path: str, artifact_path: str) -> bool:
    """Whether a journal that is longer than its copy was written in another checkout: the ledger beside it knows the rest."""
    from execplan.text.text_lines import digest

    try:
        copied_bytes, data = (file_access.read(path, LIMIT)[0] for path in (copy_path, artifact_path))
        ledger = file_access.read(os.path.join(os.path.dirname(artifact_path), "..", "..", LEDGER), LIMIT)[0]
    except ExecplanError:
        return False
    rest = (
        data.removeprefix(copied_bytes)[: data.rfind(b"\n") + 1 - len(copied_bytes)]
        if data.startswith(copied_bytes)
        else b""
    )
    lines, first_number = rest.split(b"\n")[:-1], copied_bytes.count(b"\n") + 1
    is_numbered = all([line.startswith(f'{{"n":{number},'.encode()) for number, line in enumerate(lines, first_number)])
    return bool(lines) and is_numbered and all([f'"line":"{digest(line)}"'.encode() in ledger for line in lines])


def _begun_at(run_paths: RunPaths) -> str:
    """When a run was begun, by the first line of its journal, or nothing."""
    try:
        with open(file_access.open_regular(run_paths.journal), "rb") as file:
            return file.readline(1 << 16).partition(b'"at":"')[2].decode("ascii", "replace")[:20]
    except OSError:
        return ""


def get_run_paths(project: Project, ref: PlanRef, name: str) -> RunPaths:
    """The place of a run with this id, whether it is there or not."""
    return RunPaths(
        name, os.path.join(runs_directory(project, ref), name), os.path.join(project.state, _RUNS, name), project.root
    )


def is_run_id(name: str) -> bool:
    """Whether a file is called as a run is."""
    number, dash, rest = name.partition("-")
    return (
        bool(dash) and number.isascii() and number.isdigit() and len(rest) == 8 and not rest.strip("0123456789abcdef")
    )
