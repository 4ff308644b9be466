"""Sessions in which the real programs plan under the guard: their models know only what execplan tells them."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from tests.clients.model_server import Reply, Say

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.agent_programs import Workbench
    from tests.clients.conftest import Results
    from tests.clients.model_server import Request, Use
    from tests.in_process_repository import InProcessRepository

LIMIT = 60
"""Maximum number of calls, so that a model that goes in circles ends."""
BLOCKED = ("blocked by PreToolUse hook", "guard did not allow", "hint:", "Traceback")
"""What a model reads of a call that was wrong."""
TEXT = "In the root of the repository, run `cat greeting.txt`: it prints the greeting."
PLACEHOLDERS = re.compile(r"sections? still contains? placeholder text: (.*)$", re.MULTILINE)
PLAN = re.compile(r"\.agent/execplans/(.*?)\.md")
NEXT = re.compile(r"^next: (.*)$", re.MULTILINE)
COMMAND = re.compile(r"execplan [a-z].*$")


class PlanningModel:
    """A model that calls what the last answer suggests as next, with texts of its own."""

    def __init__(self, command: Callable[[str], Use], other_agent: Callable[[int], None]) -> None:
        self.command, self.other_agent = command, other_agent
        self.pending = [
            "execplan new 'Greet people' --purpose 'People are greeted.' --task 'Write the greeting' --task 'Show it'"
        ]
        self.typed: list[str] = []
        self.plan = ""

    def answer(self, request: Request) -> Reply:
        """Answer with the call that follows from the last result."""
        if not self.pending and request.results:
            self.pending = self._suggested(request.results[-1][1])
        if not self.pending or len(self.typed) == LIMIT:
            return Reply([Say("Done.")])
        self.other_agent(len(self.typed))
        self.typed.append(self.pending.pop(0))
        return Reply([self.command(self.typed[-1])])

    def _suggested(self, result: str) -> list[str]:
        """Return what follows from a result: the sections that lint names, or the suggested command."""
        self.plan = self.plan or PLAN.findall(result)[0]
        if names := PLACEHOLDERS.search(result):
            sections = names[1].split(", ")
            sets = [f"execplan set '{name}' '{TEXT}' -p {self.plan}" for name in sections]
            return [*sets, f"execplan lint {self.plan}"]
        if "no findings" in result:
            return [f"execplan next --claim robot -p {self.plan}"]
        suggestions = NEXT.findall(result)
        command = COMMAND.search(suggestions[-1]) if suggestions else None
        if command is None:
            return []
        if " set " in command[0]:
            return [command[0].replace(" - ", f" '{TEXT}' ")]
        if command[0].startswith("execplan outcome"):
            return [command[0].replace("'What works now'", "'People are greeted.'")]
        if command[0].startswith("execplan archive"):
            return [command[0], "git add .agent/execplans && git commit -q -m 'Greet people'"]
        return [command[0]]


def test_an_agent_takes_a_plan_from_new_to_archive(
    bench: Workbench, desk: InProcessRepository, results: Results
) -> None:
    """Beside another agent, which adds a task and records what it finds in the same plan."""

    def other_agent(turn: int) -> None:
        calls = {
            3: ["discover", "Greetings differ", "--evidence", "A list of them"],
            5: ["add", "Translate it"],
            7: ["decide", "Greet in English first", "--why", "Everybody reads it."],
        }
        if turn in calls:
            arguments = [*calls[turn], "-p", "greet-people"]
            subprocess.run(["execplan", *arguments], cwd=desk.path, env=bench.env, check=True, capture_output=True)

    model = PlanningModel(bench.program.command, other_agent)
    session = bench.run(model.answer)
    read = dict([result for request in session.requests for result in request.results])
    wrong = [text for text in read.values() if any([part in text for part in BLOCKED])]
    assert not wrong, wrong
    (archived,) = (desk.path / ".agent/execplans/archive").glob("*greet-people.md")
    text = archived.read_text()
    is_whole = text.count("- [x]") == 3 and all(
        [part in text for part in ("Greetings differ", "Greet in English first")]
    )
    is_committed = "Greet people" in desk.git("log", "--format=%s") and not desk.git(
        "status", "--short", ".agent/execplans"
    )
    results.check("an agent takes a plan from new to archive", "yes" if is_whole and is_committed else "no")
