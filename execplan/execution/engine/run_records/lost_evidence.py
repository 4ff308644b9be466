"""Evidence of a run that is missing or altered among the artifacts: how it is found and restored.

A step can do that, or a power failure: the files that follow from the journal are not synced.
"""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution import states
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine.journal.journal_entries import RunProgress
from execplan.execution.engine.journal.journal_writer import open_run
from execplan.execution.engine.run_observer import RunObserver
from execplan.execution.engine.run_records import evidence_copies
from execplan.execution.engine.run_records.expected_evidence import is_expected
from execplan.execution.engine.run_records.record_builder import file_record, read_valid_record
from execplan.execution.engine.run_records.run_directories import JOURNAL, RECORD, RunPaths, list_runs
from execplan.execution.engine.run_records.run_summary import read_run_entries
from execplan.execution.engine.stop_reasons import is_rolled_back_after


def list_altered_evidence(run_paths: RunPaths) -> list[str]:
    """List the files of a run that differ from their copies, relative to its directory.

    A difference that the checked-out commit contains is intended and not listed.
    """
    journal_copy = run_paths.state_journal
    if not os.path.lexists(journal_copy):
        return []
    names = [JOURNAL] if evidence_copies.differs_from_kept(run_paths, JOURNAL) else []
    names += evidence_copies.list_altered(run_paths)
    names += [RECORD] if lacks_record(run_paths) else []
    present_names = [name for name in names if os.path.lexists(run_paths.artifact_path(name))]
    changed_paths = (
        _changed_in_git(run_paths.project, [run_paths.artifact_path(name) for name in present_names])
        if present_names
        else set()
    )
    missing_names = [name for name in names if name not in present_names]
    is_on_other_branch = bool(missing_names) and not is_expected(
        run_paths.project, journal_copy, run_paths.artifact_path(missing_names[0])
    )
    return [
        name
        for name in names
        if run_paths.artifact_path(name) in changed_paths or (name in missing_names and not is_on_other_branch)
    ]


def _changed_in_git(project: Project, paths: list[str]) -> set[str]:
    """Return the paths whose current contents are not in Git's index."""
    if project.git is None:
        return set(paths)
    try:
        output = git_query.output(project, "--literal-pathspecs", "ls-files", "-z", "-m", "-o", "--", *paths)
    except ExecplanError:
        return set(paths)
    return {os.path.join(project.root, os.fsdecode(name)) for name in output.split(b"\0") if name}


def restore_lost_evidence(project: Project, ref: PlanRef, observer: RunObserver | None = None) -> None:
    """Restore the evidence of the last run of a plan if a power failure has taken it. Raises ExecplanError."""
    for run_paths in list_runs(project, ref)[:1]:
        if list_altered_evidence(run_paths) and read_run_entries(run_paths):
            restore_evidence(run_paths, observer or RunObserver())


def lacks_record(run_paths: RunPaths) -> bool:
    """Return whether a run has ended and its record is missing or incomplete: it is not synced. Raises ExecplanError."""
    progress = RunProgress()
    for entry in read_run_entries(run_paths):
        progress.advance(entry.kind, entry.fields)
    return progress.status in states.ENDED_RUN_STATES and read_valid_record(run_paths.folder) is None


def restore_evidence(run_paths: RunPaths, observer: RunObserver) -> list[str]:
    """Restore the files of a run among the artifacts, and return warnings. Raises ExecplanError.

    A failed run without a record may have been killed before its rollback, which a resume makes: it gets none.
    """
    with open_run(run_paths, observer, f"restoring run {run_paths.id}") as journal_writer:
        run_state = journal_writer.run_state
        awaits_rollback = (
            run_state.status == states.FAILED
            and run_state.end_entry is not None
            and not os.path.lexists(run_paths.record)
            and is_rolled_back_after(
                run_state.end_entry.fields["cause"], effective_policy(run_paths.project), run_state
            )
        )
        if run_state.status in states.ENDED_RUN_STATES and not awaits_rollback:
            file_record(run_paths, journal_writer)
        return journal_writer.warnings
