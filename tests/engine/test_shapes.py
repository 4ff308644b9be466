"""Journals that somebody else has written in: each is refused as what it is, or read as one that is shorter or says otherwise."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from execplan.engine.recovery.rollback_plan import continue_rollback
from execplan.engine.replanning.run_revisions import load_document
from execplan.engine.run_records.record_builder import build_record
from execplan.engine.run_records.run_summary import load_run_state, read_run_entries, summarize_run
from execplan.errors import ENVIRONMENT, ExecplanError
from tests.engine.running import Bench, steps
from tests.engine.test_run import DROP, FAIL, MAKE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import ExecutionPlan

OTHERS: tuple[Any, ...] = (None, True, -1, "\ud800", [], {"src": 1}, [{}], 10**400)
KINDS = ("read", "other", "settle", "_init__", "begun", "result", "retaken", "rolled_back", "ended", "ticked")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A run that was rolled back by itself."""
    made = Bench(tmp_path / "repo", monkeypatch)
    made.write("fail.sh", "exit 3\n")
    made.approved(steps(MAKE, DROP, FAIL))
    assert made.go().status == "rolled_back"
    return made


def read(bench: Bench, place: RunPaths, document: ExecutionPlan) -> str:
    """Read all that is read of a journal; how it is refused, or nothing."""
    try:
        course = load_run_state(place, read_run_entries(place))
        if course.begin_fields:
            summarize_run(*bench.project(), place)
            course.document = document
            build_record(place, document, course)
            course.open_attempts()
            course.changes()
            if course.open_rollback is not None:
                continue_rollback(course, course.open_rollback, {})
    except ExecplanError as error:
        return error.code
    return ""


def mutants(lines: list[bytes]) -> Iterator[list[Any]]:
    """Journals in which an entry is gone, is of another kind, says less, or says something else."""
    every = [json.loads(line) for line in lines]
    seen = set()
    for number, said in enumerate(every):
        yield [{**each, "n": n} for n, each in enumerate(every[:number] + every[number + 1 :], 1)]
        if said["kind"] in seen:
            continue
        seen.add(said["kind"])
        changed: list[dict[str, Any]] = [{**said, "kind": kind} for kind in KINDS]
        for name, value in said.items():
            changed.append({key: each for key, each in said.items() if key != name})
            changed += [{**said, name: other} for other in OTHERS]
            if isinstance(value, list) and value and isinstance(value[0], dict):
                changed += [{**said, name: [{**value[0], key: other}]} for key in value[0] for other in OTHERS[:3]]
        yield from [[*every[:number], each, *every[number + 1 :]] for each in changed]


def test_none_is_taken_for_a_bug(bench: Bench) -> None:
    place = bench.last()
    with open(place.journal, "rb") as file:
        lines = file.readlines()
    document, codes = load_document(place, read_run_entries(place)), []
    for mutant in mutants(lines):
        with open(place.journal, "wb") as file:
            file.writelines([json.dumps(each).encode() + b"\n" for each in mutant])
        codes.append(read(bench, place, document))
    assert set(codes) == {"", "journal-altered"}
    assert codes.count("journal-altered") > len(codes) / 2


def test_what_is_typed_names_the_line(bench: Bench) -> None:
    place = bench.last()
    with open(place.journal, "rb") as file:
        lines = file.readlines()
    with open(place.journal, "wb") as file:
        file.writelines([lines[0].replace(b'"kind":"begun"', b'"kind":"read"'), *lines[1:]])
    for verb in (("show", bench.name, "--run"), ("resume",), ("rollback",), ("rollback", "--dry-run")):
        bench.refused(ENVIRONMENT, "journal-altered", *verb)
