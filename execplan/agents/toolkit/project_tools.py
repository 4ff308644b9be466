"""The tools that agents use on a project's plans: what an agent may do without a person, and no more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal

from execplan.agents.toolkit.command_process import Document, error_document, run_command
from execplan.agents.toolkit.field_names import name_context_calls, name_document, name_step_calls
from execplan.context.summary.summarization_request import SummaryFormat, SummaryLength
from execplan.core.errors import ExecplanError
from execplan.core.text.pure_paths import is_inside

PlanName = Annotated[str | None, "ID or unique text; default: the only open plan"]
AgentName = Annotated[str | None, "your name, for claims"]


class ProjectTools:
    """The tools for the project in a directory, as async methods that return the documents of commands."""

    def __init__(self, root: str | os.PathLike[str] = ".") -> None:
        self.root = os.path.abspath(root)
        """Absolute path of a directory of the project; plans outside of it can't be named."""

    async def status(
        self, state: Literal["broken", "active", "draft", "complete", "archived", "document"] | None = None
    ) -> Document:
        """List the plans with their states and the next task of each open plan."""
        return await self._run(["status", *_option("--state", state)])

    async def show(self, plan: PlanName = None, section: str | None = None) -> Document:
        """Show a plan: its state, its tasks with IDs, its entries; or the text of one section."""
        return await self._run(["show", *_option("--section", section)], plan)

    async def next_task(self, plan: PlanName = None, *, claim: bool = False, agent: AgentName = None) -> Document:
        """Show the next open task that waits for no other plan. Claim it if others work on the plan too."""
        return await self._run(["next", *(["--claim"] if claim else [])], plan, agent=agent)

    async def new_plan(
        self,
        title: str = "",
        purpose: str | None = None,
        tasks: Sequence[str] = (),
        template: str | None = None,
        markdown: Annotated[str | None, "a complete plan, alone"] = None,
        *,
        commit: bool = False,
    ) -> Document:
        """Create a plan from a template or from complete markdown."""
        if markdown is not None:
            return await self._run(["new", "--from=-", *_commit(commit)], stdin=markdown)
        options = [*_option("--purpose", purpose, is_text=True), *_option("--template", template)]
        options += [option for task in tasks for option in _option("--task", task, is_text=True)]
        return await self._run(["new", *options, *_commit(commit), "--", title])

    async def edit_task(
        self,
        action: Literal["add", "done", "verify", "reopen", "reword", "split"],
        task: Annotated[str, "number (1-3 for several), ID or unique text"] = "",
        text: Annotated[str, "new text; to split, what is done"] = "",
        remaining: Annotated[str, "to split"] = "",
        plan: PlanName = None,
        agent: AgentName = None,
        *,
        commit: bool = False,
    ) -> Document:
        """Add, check off, reopen, reword or split a task; `verify` checks it off if its check passes."""
        if action != "add" and not task:
            hint = "name a task by its number, ID or unique text: see show()"
            return error_document("edit_task", ExecplanError("usage", f"{action} requires `task`", hint=hint))
        operands = {"add": [_escape(text)], "reword": [task, _escape(text)]}.get(action, [task])
        options = ["--done", _escape(text), "--remaining", _escape(remaining)] if action == "split" else []
        command = ["done", "--verify"] if action == "verify" else [action]
        return await self._run([*command, *options, *_commit(commit)], plan, operands=operands, agent=agent)

    async def record(
        self,
        kind: Literal["decision", "discovery", "outcome", "note", "revision"],
        text: str,
        detail: Annotated[str, "rationale of a decision, evidence of a discovery"] = "",
        plan: PlanName = None,
        agent: AgentName = None,
        *,
        commit: bool = False,
    ) -> Document:
        """Record what was decided, found out or achieved."""
        commands = {"decision": "decide", "discovery": "discover", "revision": "revise"}
        detail_option = {"decision": "--why", "discovery": "--evidence"}.get(kind, "--excerpt")
        options = _option(detail_option, detail or None, is_text=True)
        return await self._run(
            [commands.get(kind, kind), *options, *_commit(commit)], plan, operands=[_escape(text)], agent=agent
        )

    async def set_section(
        self, section: str, text: str, plan: PlanName = None, *, create: bool = False, commit: bool = False
    ) -> Document:
        """Replace the body of a section."""
        options = [*(["--create"] if create else []), *_commit(commit)]
        return await self._run(["set", *options], plan, operands=[section, "-"], stdin=text)

    async def lint(self, plan: PlanName = None) -> Document:
        """Check a plan against the rules."""
        return await self._run(["lint"], plan)

    async def context(
        self, plan: PlanName = None, task: Annotated[str | None, "default: the next task"] = None, budget: int = 8000
    ) -> Document:
        """Get what you should read for a task, within a budget of tokens."""
        document = await self._run(["context", *_option("--task", task), f"--budget={budget}"], plan, as_text=True)
        if document["data"] is not None:
            document["data"]["text"] = name_context_calls(document["data"]["text"])
        return document

    async def steps(
        self, view: Literal["instructions", "evaluation"] = "instructions", plan: PlanName = None
    ) -> Document:
        """Get the approved steps with instructions, or the evaluation that a person would approve."""
        if view == "evaluation":
            return await self._run(["evaluate"], plan)
        document = await self._run(["handoff"], plan, as_text=True)
        if document["data"] is not None:
            document["data"]["text"] = name_step_calls(document["data"]["text"])
        return document

    async def report_step(
        self,
        step: str,
        status: Literal["completed", "failed"],
        result: Annotated[str, "what happened"],
        evidence: Annotated[str | None, "the output of the command"] = None,
        plan: PlanName = None,
    ) -> Document:
        """Report the result of an approved step that you ran."""
        options = [f"--status={status}", f"--result={_escape(result)}"]
        options += ["--evidence=-"] if evidence is not None else []
        return await self._run(["report", *options], plan, operands=[step], stdin=evidence or "")

    async def replan(self, reason: str, failed: Sequence[str] = (), plan: PlanName = None) -> Document:
        """Revise the steps of a run that are not done, after you have edited them or one has failed."""
        options = [f"--reason={_escape(reason)}", *[f"--failed={step}" for step in failed]]
        return await self._run(["replan", *options], plan)

    async def summarize(
        self, plan: PlanName = None, form: SummaryFormat = "summary", length: SummaryLength = "brief"
    ) -> Document:
        """Summarize a plan for people."""
        return await self._run(["summarize", f"--as={form}", f"--length={length}"], plan)

    async def archive(
        self,
        plan: PlanName = None,
        ended: Literal["completed", "superseded", "abandoned"] = "completed",
        reason: str | None = None,
        superseded_by: str | None = None,
        *,
        commit: bool = False,
    ) -> Document:
        """Archive a plan that has ended, with its artifacts."""
        options = [f"--as={ended}", *_option("--reason", reason), *_option("--by", superseded_by), "--keep-links"]
        return await self._run(["archive", *options, *_commit(commit)], plan)

    async def _run(
        self,
        arguments: Sequence[str],
        plan: str | None = None,
        *,
        operands: Sequence[str] = (),
        stdin: str = "",
        agent: str | None = None,
        as_text: bool = False,
    ) -> Document:
        """Run a command on a plan of the project."""
        if not self._is_plan_inside(plan):
            message = f"the plan is outside of the project: {plan}"
            error = ExecplanError("path-outside", message, hint="name the plan by its ID")
            return error_document(arguments[0], error)
        separated = ["--", *operands] if operands else []
        command = [arguments[0], *_option("--plan", plan), *arguments[1:], *separated]
        if any(["\0" in argument for argument in command]):
            error = ExecplanError("nul-byte", "an argument contains a NUL byte", hint="remove it")
            return error_document(arguments[0], error)
        document = await run_command(self.root, command, stdin=stdin, agent=agent, as_text=as_text)
        return name_document(document)

    def _is_plan_inside(self, plan: str | None) -> bool:
        """Check whether a plan is named by something other than a path outside of the project."""
        root = os.path.realpath(self.root)
        return plan is None or "/" not in plan or is_inside(os.path.realpath(os.path.join(root, plan)), root)


def _option(name: str, value: str | None, *, is_text: bool = False) -> list[str]:
    """Return an option with its value, or nothing."""
    if value is None:
        return []
    return [f"{name}={_escape(value) if is_text else value}"]


def _commit(commit: bool) -> list[str]:
    return ["--commit"] if commit else []


def _escape(text: str) -> str:
    """Return a text that no command takes for the name of a file or for standard input."""
    if text.startswith("@"):
        return f"@{text}"
    if text == "-":
        return "- "
    return text
