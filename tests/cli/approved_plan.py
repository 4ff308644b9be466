"""A plan whose steps are run, approved, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.in_process_repository import InProcessRepository

HEAD = "# Build it\n\n## Progress\n\n- [ ] Make it.\n- [ ] See it.\n\n## Concrete Steps\n\n"
MAKE = '```python {#make type=create_file target=src/made.py task="Make it"}\nX = 1\n```\n\n'
SEE = '```sh {#see needs=make task="See it"}\ncat src/made.py\n```\n\n'
ASKS = SEE.replace("#see", "#see confirm")
FAILS = "```sh {#see needs=make}\nls src/nowhere.py\n```\n\n"
SLOW = "```sh {#see needs=make effect=idempotent}\nsleep 30\n```\n\n"


def sandbox_off(desk: InProcessRepository) -> InProcessRepository:
    """The repository of a user who has turned the sandbox off, so that no warning depends on what is installed."""
    desk.write("../.config/execplan/config.toml", '[execution]\nsandbox = "off"\n')
    return desk


def with_approved_plan(desk: InProcessRepository, *steps: str) -> InProcessRepository:
    """The repository with a plan of these steps, approved."""
    desk.plan(HEAD + "".join(steps))
    desk.approve()
    return desk


def run_id(desk: InProcessRepository) -> str:
    """The last run."""
    identifier: str = desk.data("runs")["runs"][0]["id"]
    return identifier
