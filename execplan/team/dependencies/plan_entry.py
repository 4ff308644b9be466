"""A plan that a name can mean, and the result of resolving a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ProjectOrigin


class PlanEntry(NamedTuple):
    """A plan of the project, of a nested project, or of another repository."""

    project: Project
    ref: PlanRef
    origin: ProjectOrigin | None = None
    """The other project that the plan is in; None for the own project."""

    @property
    def display_path(self) -> str:
        """Path from the repository root, or an absolute path in another project."""
        return self.project.display_path(self.ref.path) if self.origin is None else self.ref.path

    @property
    def name(self) -> str:
        """ID of the plan, after the name of its project if it is in another one."""
        return self.ref.id if self.origin is None else f"{self.origin.name}:{self.ref.id}"


class Resolution(NamedTuple):
    """The result of resolving a name: one plan, or the reason why there is none."""

    entry: PlanEntry | None
    candidates: tuple[str, ...] = ()
    """Names of the plans that the name could mean, if there are several."""
    unknown_project: str = ""
    """Name of the project, if it is not among the projects of the user."""
    is_task_name: bool = False
    """Whether no plan has the name, and it has the form of a task's name, such as `parser#3`."""

    renamed_to: str = ""
    """ID of the plan that had this full name before it was renamed."""

    @property
    def problem(self) -> str:
        """Why the name is not clear; empty if it is."""
        if self.entry is not None:
            return ""
        if self.unknown_project:
            return f"unknown: your settings list no project {self.unknown_project} that can be read"
        if self.renamed_to:
            return f"the plan was renamed to {self.renamed_to}"
        if self.is_task_name:
            return "no such plan; a plan waits for whole plans, a task waits for a task: write `needs PLAN#TASK` in its text"
        return (
            f"matches {len(self.candidates)} plans: {', '.join(self.candidates[:3])}"
            if self.candidates
            else "no such plan"
        )
