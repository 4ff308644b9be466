"""The tools that `execplan.agent_tools()` and the MCP server offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.toolkit import planning_tools
from execplan.agents.toolkit.project_tools import ProjectTools
from execplan.agents.toolkit.tool_schema import AgentTool, make_tool

if TYPE_CHECKING:
    import os

PROJECT_TOOLS = (
    "status",
    "show",
    "next_task",
    "new_plan",
    "edit_task",
    "record",
    "set_section",
    "lint",
    "context",
    "steps",
    "report_step",
    "archive",
)
"""Names of the tools on a project's plans, which are those of the MCP server."""


def agent_tools(root: str | os.PathLike[str] = ".") -> list[AgentTool]:
    """Return tools for an agent: those on the plans of the project in a directory, and those that plan by tools.

    They do what an agent may do without a person: none approves, runs or rolls back anything, or changes settings. Each
    is a typed async callable with a JSON Schema; it returns an `execplan/1` document, and raises nothing for an error.
    """
    return [
        *project_tools(root),
        *[
            make_tool(function)
            for function in (
                planning_tools.create_execution_plan,
                planning_tools.replan_execution_plan,
                planning_tools.summarize_text,
            )
        ],
    ]


def project_tools(root: str | os.PathLike[str] = ".") -> list[AgentTool]:
    """Return the tools on the plans of the project in a directory."""
    tools = ProjectTools(root)
    return [make_tool(getattr(tools, name)) for name in PROJECT_TOOLS]
