"""The one place that fits suggested commands to whoever reads them: a person, or an agent that gave its name.

Commands and hints are made the same for everybody. What is printed passes through here.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from execplan.errors import INPUT, ExecplanError
from execplan.plan import outline
from execplan.plan_store.author import actor_of_call, explicit_actor, session_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Final

    from execplan.plan.model import ParsedPlan

_PERSON_COMMANDS: Final = ("approve", "resume", "rollback")
"""Commands with which a person decides what may be done in the repository."""
NAMED_COMMANDS: Final = ("next", "done", "reopen", "split", "reword", "show", "status")
"""Commands whose result depends on who has claimed a task, and which the guard allows with a name."""
SIGNED_COMMANDS: Final = (
    "add attach comment decide discover note outcome redo reply resolve review revise set undo".split()
)
"""Other commands that record who calls them; they need a name only if it isn't in the environment."""
_CALL: Final = "execplan "
ASK: Final = "ask a person to "
"""The beginning of a suggestion that an agent passes on to a person."""
_READ_ONLY: Final = ("--dry-run", "--list", "--check")


def is_agent() -> bool:
    """Return whether an agent reads the output: it gave its name, or its program says which session this is."""
    return bool(explicit_actor() or session_id())


def require_person(command: str, preview: Callable[[], object] = lambda: None) -> None:
    """Raise ExecplanError if a named agent runs a command with which a person decides.

    `preview` first raises the error that the person would get.
    """
    name = explicit_actor()
    if name is not None:
        preview()
        message = f"only a person can {_verb(command)}, and --as or EXECPLAN_AGENT names an agent: {name}"
        raise ExecplanError("person-required", message, exit=INPUT, hint=ask_person(command))


def ask_person(command: str) -> str:
    """Return the request for a person to run a command, for a reader who may be an agent."""
    return f"{ASK}run: {command}"


def fill_command(section: str, plan: str) -> str:
    """Return the command that writes a section; only a person's editor writes one without a standard name.

    A person types the text; an agent's standard input is empty. `plan` is the name of the plan, quoted for a shell.
    """
    text = "'New text'" if is_agent() else "-"
    return f"execplan set {quote(section)} {text} -p {plan}" if section in outline.NAMES else f"execplan edit {plan}"


def outcome_command(plan: ParsedPlan, name: str) -> str:
    """Return the command that adds an outcome to a plan, whose name is quoted for a shell."""
    option = "" if plan.section(outline.OUTCOMES) is not None else " --create"
    return f"execplan outcome 'What works now' -p {name}{option}"


def fit_commands(commands: Iterable[str]) -> tuple[str, ...]:
    """Return suggested commands in the form for the reader."""
    return tuple([fit_command(command) for command in commands])


def fit_command(command: str) -> str:
    """Return a suggested command in the form for the reader.

    A named agent claims the next task, and gives its name again. What only a person may do, an agent asks for.
    """
    if not is_agent() or not command.startswith(_CALL):
        return command
    verb = _verb(command)
    if verb in _PERSON_COMMANDS:
        return command if _only_reads(command) else ask_person(command)
    name = explicit_actor()
    is_signed = verb in SIGNED_COMMANDS and actor_of_call() and not session_id()  # in a session the guard forbids --as
    if name is None or not (verb in NAMED_COMMANDS or is_signed):
        return command
    options = " --claim" if verb == "next" and not _has_option(command, "--claim", "--release") else ""
    if not _has_option(command, "--as"):
        options += f" --as {quote(name)}"
    return command + options


def fit_hint(hint: str) -> str:
    """Return the hint of an error for the reader; an agent asks a person for what only a person may do."""
    if _CALL not in hint or not is_agent():
        return hint
    return "; ".join([_fit_clause(clause) for clause in hint.split("; ")])


def _fit_clause(clause: str) -> str:
    """Return a part of a hint, such as `or roll it back: execplan rollback 1`, as a request for a person."""
    text, _, command = clause.partition(_CALL)
    if _verb(_CALL + command) not in _PERSON_COMMANDS or _only_reads(command) or "a person" in text:
        return clause
    lead = next((word for word in ("or ", "then ") if text.startswith(word)), "")
    return f"{lead}{ASK}{text[len(lead) :] or 'run: '}{_CALL}{command}"


def _verb(command: str) -> str:
    """Return the name of the command in a command line, which may begin with `execplan -C DIR`."""
    words = command.split(" ")
    return words[3] if words[1:2] == ["-C"] and len(words) > 3 else words[1]


def _only_reads(command: str) -> bool:
    return _has_option(command, *_READ_ONLY)


def _has_option(command: str, *options: str) -> bool:
    return not {*options}.isdisjoint(command.split(" "))
