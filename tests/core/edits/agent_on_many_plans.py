"""One of many agents: a process that makes edits of four kinds in several plans, in an order of its own."""

from __future__ import annotations

import random
import sys

from execplan.core.files.file_lock import set_timeout
from execplan.library.project_api import Project
from tests.core.edits.concurrent_editor import PATIENCE

ROUNDS = 6


def marker(agent: int, number: int) -> str:
    """What the edits of a round say."""
    return f"agent {agent:02} round {number:02} was here"


def main(agent: int) -> None:
    """Add a task, check it off, and log a decision and a discovery, in a plan for each round."""
    set_timeout(PATIENCE)
    plans = Project.find(".").plans()
    choice = random.Random(agent)
    for number in range(ROUNDS):
        text, plan = marker(agent, number), choice.choice(plans)
        plan.add(f"Task of {text}.")
        plan.done(f"Task of {text}.")
        plan.decide(f"Choice of {text}.", why="It was one.")
        plan.discover(f"Fact of {text}.", evidence="It was seen.")


if __name__ == "__main__":
    main(int(sys.argv[1]))
