"""Advice on what to do next: commands, and work that comes before them."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from execplan.team.worktrees.plan_versions import PlanLocation


class Work(NamedTuple):
    """Work that comes before the next command."""

    description: str
    """For people: `do task 2, Write the tests`."""
    command: str
    """The command for when it is done."""
    task: dict[str, Any] | None = None
    lead: str = "then"
    """What comes between the two for people."""
    editor_command: str = ""
    """The command that a person on a terminal uses instead, if it opens an editor."""
    claim_command: str = ""
    """The command that claims the task first; empty if the author has claimed it."""
    otherwise: str = ""
    """What to do after that, or if this work is not what the plan needs, with its command."""

    def to_text(self, *, with_command: bool = True, in_editor: bool = False) -> str:
        """Return the work with the command for when it is done, and what else to do if this is not what the plan needs.

        `in_editor`: the reader is a person on a terminal, who edits in an editor.
        """
        if in_editor and self.editor_command:
            return f"{self.description}: {self.editor_command}"
        text = f"{self.description}, {self.lead}: {self.command}" if with_command else self.description
        return f"{text}; {self.otherwise}" if self.otherwise else text

    def to_json(self) -> dict[str, Any]:
        """As a document shows it."""
        task = {name: self.task[name] for name in ("id", "number", "text")} if self.task is not None else None
        return {"what": self.description, "task": task, "then": self.command}


class Advice(NamedTuple):
    """The suggested next work and commands for a plan."""

    commands: tuple[str, ...] = ()
    """Suggested commands, most urgent first."""
    work: Work | None = None
    """Work to do before the commands."""
    why: str = ""
    """Reason why the first command is urgent, for people."""

    def at(self, location: PlanLocation | None, name: str) -> Advice:
        """Return the advice for a plan with commands that run where it is worked on; a task is done in its own worktree."""
        if location is None:
            return self
        if location.older_worktree and self.work is not None and self.work.task is not None:
            return Advice((location.enter_command(name),))
        return self.in_directory(location.directory)

    def in_directory(self, directory: str) -> Advice:
        """Return the advice with commands that run in another directory; unchanged if it is empty."""
        if not directory:
            return self
        prefix = f"execplan -C {shlex.quote(os.path.relpath(directory))} "

        def redirect(command: str) -> str:
            if command.startswith("execplan -C "):  # about another project
                return command
            return prefix + command.removeprefix("execplan ") if command else ""

        work = self.work
        if work is not None:
            work = work._replace(
                command=redirect(work.command),
                editor_command=redirect(work.editor_command),
                claim_command=redirect(work.claim_command),
                otherwise=work.otherwise.replace("execplan ", prefix),
            )
        return self._replace(commands=tuple(map(redirect, self.commands)), work=work)
