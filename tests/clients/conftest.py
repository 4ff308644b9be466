"""A repository with an approved plan and execplan's hooks, for a session of each real program."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import needs
from tests.clients.agent_programs import PROGRAMS, Workbench, find_version
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from tests.clients.agent_programs import AgentProgram

RESULTS = Path(__file__).with_name("results.toml")
PLAN = """\
# Keep notes

## Progress

- [ ] Keep notes.

## Concrete Steps

```text {execution mode=agent}
An agent does the work.
```

```text {#note type=create_file target=notes.txt task="Keep notes"}
Greet before you ask.
```

```sh {#look needs=note}
git add --intent-to-add notes.txt
```
"""


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> AgentProgram:
    """A real program, in the tests that it is installed for."""
    needs.need("unshare", request.param)
    return PROGRAMS[request.param]()


class Results:
    """The table of results: what is known of the installed version of a program."""

    def __init__(self, name: str) -> None:
        self.name, self.version = name, find_version(name)
        tables: list[dict[str, Any]] = tomllib.loads(RESULTS.read_text())["program"]
        known = [table for table in tables if (table["name"], table["version"]) == (name, self.version)]
        self.expected: dict[str, Any] | None = known[0]["results"] if known else None

    def check(self, scenario: str, result: str) -> None:
        """Expect that the table has this result of a scenario; for an unknown version, that it is the wanted one."""
        wanted = "yes" if self.expected is None else self.expected.get(scenario)
        assert result == wanted, f"{RESULTS.name}: {self.name} {self.version}: {scenario} = {result!r}, not {wanted!r}"


@pytest.fixture
def results(program: AgentProgram) -> Results:
    """The results of the installed version."""
    return Results(program.name)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with a plan of two steps."""
    desk = InProcessRepository(tmp_path / "repo", monkeypatch)
    desk.plan(PLAN)
    desk.commit()
    return desk


@pytest.fixture
def bench(program: AgentProgram, desk: InProcessRepository) -> Workbench:
    """The repository, with the plan approved and all hooks installed that the program has."""
    bench = Workbench(program, desk.path, desk.env)
    if program.integrations:
        installed = desk.type("install", *program.integrations, "--for", program.name)
        assert installed.exit == 0, installed
    program.trust_hooks(desk.path.parent, desk.project()[0])
    desk.approve()
    return bench


@pytest.fixture
def guarded_bench(bench: Workbench) -> Workbench:
    """The same, with a program that the guard knows."""
    bench.need("guard")
    return bench
