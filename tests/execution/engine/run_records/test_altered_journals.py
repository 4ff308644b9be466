"""Journals that somebody else has written in: each is refused as what it is, or read as one that is shorter or says otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.execution.engine.recovery.rollback_plan import continue_rollback
from execplan.execution.engine.replanning.run_revisions import load_document
from execplan.execution.engine.run_records.record_builder import build_record
from execplan.execution.engine.run_records.run_summary import load_run_state, read_run_entries, summarize_run
from tests.execution.engine.run_repository import RunRepository, steps
from tests.execution.engine.test_run import DROP, FAIL, MAKE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from execplan.execution.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import ExecutionPlan

OTHER_VALUES: tuple[Any, ...] = (None, True, -1, "\ud800", [], {"src": 1}, [{}], 10**400)
KINDS = ("read", "other", "settle", "_init__", "begun", "result", "retaken", "rolled_back", "ended", "ticked")


@pytest.fixture
def run_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRepository:
    """A run that was rolled back by itself."""
    repository = RunRepository(tmp_path / "repo", monkeypatch)
    repository.write("fail.sh", "exit 3\n")
    repository.write_user_settings('rollback_on = ["failure"]')
    repository.approve_plan(steps(MAKE, DROP, FAIL))
    assert repository.run_plan().status == "rolled_back"
    return repository


def read(run_repo: RunRepository, run_paths: RunPaths, document: ExecutionPlan) -> str:
    """Read all that is read of a journal; how it is refused, or nothing."""
    try:
        run_state = load_run_state(run_paths, read_run_entries(run_paths))
        if run_state.begin_fields:
            summarize_run(run_paths)
            run_state.document = document
            build_record(run_paths, document, run_state)
            run_state.open_attempts()
            run_state.changes()
            if run_state.open_rollback is not None:
                continue_rollback(run_state, run_state.open_rollback, {})
    except ExecplanError as error:
        return error.code
    return ""


def mutants(lines: list[bytes]) -> Iterator[list[Any]]:
    """Journals in which an entry is gone, is of another kind, says less, or says something else."""
    entries = [json.loads(line) for line in lines]
    seen_kinds = set()
    for number, entry in enumerate(entries):
        yield [{**other_entry, "n": n} for n, other_entry in enumerate(entries[:number] + entries[number + 1 :], 1)]
        if entry["kind"] in seen_kinds:
            continue
        seen_kinds.add(entry["kind"])
        changed: list[dict[str, Any]] = [{**entry, "kind": kind} for kind in KINDS]
        for name, value in entry.items():
            changed.append({key: field for key, field in entry.items() if key != name})
            changed += [{**entry, name: replacement} for replacement in OTHER_VALUES]
            if isinstance(value, list) and value and isinstance(value[0], dict):
                changed += [
                    {**entry, name: [{**value[0], key: replacement}]}
                    for key in value[0]
                    for replacement in OTHER_VALUES[:3]
                ]
        yield from [[*entries[:number], changed_entry, *entries[number + 1 :]] for changed_entry in changed]


def test_none_is_taken_for_a_bug(run_repo: RunRepository) -> None:
    run_paths = run_repo.last_run()
    with open(run_paths.journal, "rb") as file:
        lines = file.readlines()
    document, codes = load_document(run_paths, read_run_entries(run_paths)), []
    for mutant in mutants(lines):
        with open(run_paths.journal, "wb") as file:
            file.writelines([json.dumps(entry).encode() + b"\n" for entry in mutant])
        codes.append(read(run_repo, run_paths, document))
    assert set(codes) == {"", "journal-altered"}
    assert codes.count("journal-altered") > len(codes) / 2


def test_what_is_typed_names_the_line(run_repo: RunRepository) -> None:
    run_paths = run_repo.last_run()
    with open(run_paths.journal, "rb") as file:
        lines = file.readlines()
    with open(run_paths.journal, "wb") as file:
        file.writelines([lines[0].replace(b'"kind":"begun"', b'"kind":"read"'), *lines[1:]])
    for command in (("show", run_repo.name, "--run"), ("resume",), ("rollback",), ("rollback", "--dry-run")):
        run_repo.refused(ENVIRONMENT, "journal-altered", *command)
