"""A repository whose plan an agent carries out: what it does, and what it says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.engine.agent_runs import agent_run_lookup
from execplan.engine.agent_runs.agent_start import start_or_resume
from execplan.engine.run_lock import acquire_run_lock
from tests.conftest import Result
from tests.repo.approving import Desk

if TYPE_CHECKING:
    from execplan.engine.agent_runs.agent_run_lookup import AgentRun

HEAD = "# Build the parser\n\n## Progress\n\n- [ ] Write it.\n- [ ] Check it.\n\n## Concrete Steps\n\n"
MAKE = '```python {#make type=create_file target=src/deep/made.py task="Write it"}\nX = 1\n```\n\n'
DROP = "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```\n\n"
COPY = '```sh {#copy needs=make inputs=src/other.py outputs=out.txt task="Check it"}\ncp src/other.py out.txt\n```\n\n'


class Agent(Desk):
    """An agent at work."""

    def planned(self, *steps: str, approve: bool = True) -> Agent:
        """Let these be the steps, and approve them."""
        self.plan(HEAD + "".join(steps))
        self.commit()
        if approve:
            self.approve("--allow-inferred")
        return self

    def report(self, step: str, status: str = "completed", *more: str, result: str = "As planned.") -> Result:
        """Say what became of a step."""
        return self.type("report", step, "--status", status, "--result", result, *more)

    def done(self, step: str, *more: str, result: str = "As planned.") -> dict[str, Any]:
        """Say that a step is completed, and have it recorded."""
        found = self.report(step, "completed", "--json", *more, result=result)
        assert found.exit == 0, found
        data: dict[str, Any] = found.json["data"]
        return data

    def fails(self, step: str, status: str = "completed", *more: str, result: str = "As planned.") -> dict[str, Any]:
        """Say something of a step that is found to have failed."""
        found = self.report(step, status, "--json", *more, result=result)
        assert found.exit == 1, found
        data: dict[str, Any] = found.json["data"]
        return data

    def no(self, exit: int, code: str, step: str, status: str = "completed", *more: str) -> dict[str, Any]:
        """Be refused; nothing is recorded."""
        before = self.kinds()
        error = self.refused(exit, code, "report", step, "--status", status, "--result", "As planned.", *more)
        assert self.kinds() == before
        return error

    def begin(self) -> None:
        """Begin the run as the guard does."""
        project, ref = self.project()
        with acquire_run_lock(project, "test"):
            start_or_resume(project, ref, session="one")

    def run_(self) -> AgentRun:
        """The run."""
        found = agent_run_lookup.find_last(*self.project())
        assert found is not None
        return found

    def kinds(self) -> list[str]:
        """What stands in its journal, in short; nothing before it has begun."""
        found = agent_run_lookup.find_last(*self.project())
        return [] if found is None else [each.kind for each in found.entries]

    def make(self, content: str = "X = 1\n") -> Agent:
        """Do the first step."""
        self.write("src/deep/made.py", content)
        return self
