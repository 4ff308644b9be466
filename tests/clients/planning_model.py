"""A model that plans: it knows only what execplan tells it, and calls what the last result suggests as next."""

from __future__ import annotations

import ast
import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Protocol

from tests.clients.model_server import Reply, Say, Use

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.clients.model_server import Request

LIMIT = 60
"""Maximum number of calls, and of searches for the tools, so that a model that goes in circles ends."""
AGENT = "robot"
_TEXT = "In the root of the repository, run `cat greeting.txt`: it prints the greeting."
_PLACEHOLDERS = re.compile(r"sections? still contains? placeholder text: (.*)$", re.MULTILINE)
_PLAN = re.compile(r"\.agent/execplans/(.*?)\.md")
_NEXT = re.compile(r"^next: (.*)$", re.MULTILINE)
_COMMAND = re.compile(r"(?:execplan [a-z]|[a-z_]+\().*$")
"""A suggested command, or a suggested call of a tool, such as `next_task(plan='2026-01-01_parser')`."""
_FOUND = re.compile(r'<function>{"name":"(\w+)"')
"""A tool in the result of a search that doesn't add it to the tools, and which can be called then."""


class Door(Protocol):
    """How the model reaches execplan."""

    def open(self, request: Request) -> Use | None:
        """Return what has to be called before anything else; None if nothing has."""

    def call(self, command: str) -> Use:
        """Return the call that does what a command does."""

    def read(self, result: str) -> str:
        """Return the result of such a call as the command prints it."""


class CommandDoor:
    """Commands in the program's shell."""

    def __init__(self, command: Callable[[str], Use]) -> None:
        self.call = command

    def open(self, request: Request) -> None:
        """Return None: a command can be called at once."""

    def read(self, result: str) -> str:
        """Return the result as it is."""
        return result


class ToolDoor:
    """The tools of the MCP server; what execplan has no tool for is a command in the shell."""

    def __init__(self, command: Callable[[str], Use], root: str) -> None:
        self.command, self.root = command, root
        self.waits, self.prefix = 0, ""

    def open(self, request: Request) -> Use | None:
        """Return a search for the tools, and every other time a harmless call, until the program has the tools."""
        self.waits += 1
        names = [*request.tools, *[name for _, text in request.results for name in _FOUND.findall(text)]]
        offers = [name for name in names if name == "edit_task" or ("execplan" in name and name.endswith("edit_task"))]
        if offers or self.waits > 2 * LIMIT:
            self.prefix = "".join(offers[:1]).removesuffix("edit_task")
            return None
        query = "execplan status next_task new_plan edit_task record set_section lint archive"
        maximum = "max_results" if "tool_call" in request.tools else "limit"
        searches = "tool_search" in request.tools and self.waits % 2
        return Use("tool_search", {"query": query, maximum: 12}) if searches else self.command("git status")

    def call(self, command: str) -> Use:
        """Return the call of a tool."""
        if command.endswith(")") and "(" in command.split(" ", 1)[0]:
            tool = ast.parse(command, mode="eval").body
            assert isinstance(tool, ast.Call)
            assert isinstance(tool.func, ast.Name)
            suggested = {str(field.arg): ast.literal_eval(field.value) for field in tool.keywords}
            return self.use(tool.func.id, root=self.root, **suggested)
        words = shlex.split(command)
        if words[0] != "execplan":
            return self.command(command)
        options = _parse_options(words[2:])
        operands, plan = options.pop(""), options.get("-p")
        name, arguments = self._arguments(words[1], operands, options)
        arguments = {"plan": plan[0], **arguments} if plan else arguments
        return self.use(name, root=self.root, **arguments)

    def use(self, name: str, **arguments: Any) -> Use:
        """Return the call of a tool, whose full name is known once the program has offered it."""
        return Use(f"{self.prefix}{name}", arguments)

    @staticmethod
    def _arguments(command: str, operands: Sequence[str], options: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
        """Return the tool of a command, and its arguments apart from the plan."""
        match command:
            case "new":
                return "new_plan", {
                    "title": operands[0],
                    "purpose": options["--purpose"][0],
                    "tasks": options["--task"],
                }
            case "set":
                return "set_section", {"section": operands[0], "text": operands[1]}
            case "next":
                arguments = {"plan": operands[0]} if operands else {}
                return "next_task", {**arguments, "claim": "--claim" in options, "agent": AGENT}
            case "done":
                return "edit_task", {"action": "done", "task": operands[0], "agent": AGENT}
            case "outcome":
                return "record", {"kind": "outcome", "text": operands[0]}
            case _:
                return command, {"plan": operands[0]} if operands else {}

    def read(self, result: str) -> str:
        """Return a document as its command prints it."""
        start = result.find("{")
        try:
            document = json.loads(result[start:]) if start >= 0 else None
        except ValueError:
            document = None
        if not isinstance(document, dict) or "schema" not in document:
            return result
        if document["error"] is not None:
            return f"hint: {document['error']['message']}"
        data = document["data"]
        lines = [str(data.get("path", "")), *document["warnings"]]
        if document["kind"] == "lint":
            findings = data["findings"]
            sections = [finding["message"] for finding in findings if "placeholder text" in finding["message"]]
            names = [message.removesuffix(" still contains placeholder text") for message in sections]
            lines += [f"sections still contain placeholder text: {', '.join(names)}"] if names else []
            lines += ["no findings"] if not findings else []
        suggested = data["do"]["then"] if "do" in data else next(iter(document["next"]), "")
        return "\n".join([*lines, f"next: {suggested}"])


def once_open(door: ToolDoor, calls: Sequence[tuple[str, dict[str, Any]]]) -> Callable[[Request], Reply]:
    """Call tools one after the other as soon as the program offers them."""
    pending = list(calls)

    def answer(request: Request) -> Reply:
        preparation = door.open(request)
        if preparation is None and not pending:
            return Reply([Say("Done.")])
        name, arguments = ("", {}) if preparation is not None else pending.pop(0)
        return Reply([preparation or door.use(name, **arguments)])

    return answer


def _parse_options(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each option; those of the name "" are operands."""
    values: dict[str, list[str]] = {"": []}
    name = ""
    for word in words:
        if word.startswith("-") and word != "-":
            name = word
            values.setdefault(name, [])
        else:
            values[name].append(word)
            name = ""
    return values


class PlanningModel:
    """A model that calls what the last result suggests as next, with texts of its own."""

    def __init__(self, door: Door, other_agent: Callable[[int], None]) -> None:
        self.door, self.other_agent = door, other_agent
        self.pending = [
            "execplan new 'Greet people' --purpose 'People are greeted.' --task 'Write the greeting' --task 'Show it'"
        ]
        self.typed: list[str] = []
        self.plan = ""

    def answer(self, request: Request) -> Reply:
        """Answer with the call that follows from the last result."""
        preparation = self.door.open(request)
        if preparation is not None:
            return Reply([preparation])
        if not self.pending and request.results:
            self.pending = self._suggested(self.door.read(request.results[-1][1]))
        if not self.pending or len(self.typed) == LIMIT:
            return Reply([Say("Done.")])
        self.other_agent(len(self.typed))
        self.typed.append(self.pending.pop(0))
        return Reply([self.door.call(self.typed[-1])])

    def _suggested(self, result: str) -> list[str]:
        """Return what follows from a result: the sections that lint names, or the suggested command."""
        self.plan = self.plan or _PLAN.findall(result)[0]
        if names := _PLACEHOLDERS.search(result):
            sections = names[1].split(", ")
            sets = [f"execplan set '{name}' '{_TEXT}' -p {self.plan}" for name in sections]
            return [*sets, f"execplan lint {self.plan}"]
        if "no findings" in result:
            return [f"execplan next --claim {AGENT} -p {self.plan}"]
        suggestions = _NEXT.findall(result)
        command = _COMMAND.search(suggestions[-1]) if suggestions else None
        if command is None:
            return []
        if " set " in command[0] or command[0].startswith("set_section("):
            return [command[0].replace(" 'New text' ", f" '{_TEXT}' ").replace("text='…'", f"text={_TEXT!r}")]
        if command[0].startswith(("execplan outcome", "record(kind='outcome'")):
            return [command[0].replace("'What works now'", "'People are greeted.'")]
        if command[0].startswith(("execplan archive", "archive(")):
            return [command[0], "git add .agent/execplans && git commit -q -m 'Greet people'"]
        return [command[0]]
