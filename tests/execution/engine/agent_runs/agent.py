"""A repository whose plan an agent carries out: what it does, and what it says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.execution.engine.agent_runs import agent_run_lookup
from execplan.execution.engine.agent_runs.agent_start import start_or_resume
from execplan.execution.engine.run_lock import acquire_run_lock
from tests.conftest import Result
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from execplan.execution.engine.agent_runs.agent_run_lookup import AgentRun

HEAD = "# Build the parser\n\n## Progress\n\n- [ ] Write it.\n- [ ] Check it.\n\n## Concrete Steps\n\n"
MAKE = '```python {#make type=create_file target=src/deep/made.py task="Write it"}\nX = 1\n```\n\n'
DROP = "```text {#drop type=delete_file target=src/old.py}\nNobody calls it.\n```\n\n"
COPY = '```sh {#copy needs=make inputs=src/other.py outputs=out.txt task="Check it"}\ncp src/other.py out.txt\n```\n\n'


class Agent(InProcessRepository):
    """An agent at work."""

    def plan_steps(self, *steps: str, approve: bool = True) -> Agent:
        """Let these be the steps, and approve them."""
        self.plan(HEAD + "".join(steps))
        self.commit()
        if approve:
            self.approve("--allow-inferred")
        return self

    def report(self, step: str, status: str = "completed", *options: str, result: str = "As planned.") -> Result:
        """Say what became of a step."""
        return self.type("report", step, "--status", status, "--result", result, *options)

    def report_completed(self, step: str, *options: str, result: str = "As planned.") -> dict[str, Any]:
        """Say that a step is completed, and have it recorded."""
        response = self.report(step, "completed", "--json", *options, result=result)
        assert response.exit == 0, response
        data: dict[str, Any] = response.json["data"]
        return data

    def report_failed(
        self, step: str, status: str = "completed", *options: str, result: str = "As planned."
    ) -> dict[str, Any]:
        """Say something of a step that is found to have failed."""
        response = self.report(step, status, "--json", *options, result=result)
        assert response.exit == (1 if status == "completed" else 0), response
        data: dict[str, Any] = response.json["data"]
        return data

    def report_refused(
        self, exit: int, code: str, step: str, status: str = "completed", *options: str
    ) -> dict[str, Any]:
        """Be refused; nothing is recorded."""
        before = self.entry_kinds()
        error = self.refused(exit, code, "report", step, "--status", status, "--result", "As planned.", *options)
        assert self.entry_kinds() == before
        return error

    def begin(self) -> None:
        """Begin the run as the guard does."""
        project, ref = self.project()
        with acquire_run_lock(project, "test"):
            start_or_resume(project, ref, session="one")

    def last_run(self) -> AgentRun:
        """The run."""
        agent_run = agent_run_lookup.find_last(*self.project())
        assert agent_run is not None
        return agent_run

    def entry_kinds(self) -> list[str]:
        """What stands in its journal, in short; nothing before it has begun."""
        agent_run = agent_run_lookup.find_last(*self.project())
        return [] if agent_run is None else [entry.kind for entry in agent_run.entries]

    def make_file(self, content: str = "X = 1\n") -> Agent:
        """Do the first step."""
        self.write("src/deep/made.py", content)
        return self
