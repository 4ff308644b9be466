"""The one place that fits suggested commands to whoever reads them: a person, or an agent that gave its name.

Commands and hints are made the same for everybody. What is printed passes through here.
"""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan_store.author import actor_of_call, explicit_actor, session_id
from execplan.core.text.message_parts import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Final

    from execplan.core.plan.model import ParsedPlan

_PERSON_COMMANDS: Final = ("resume", "rollback")
"""Commands with which a person decides what may be done in the repository; who may approve depends on the policy."""
_RUN: Final = "run"
NAMED_COMMANDS: Final = ("next", "done", "reopen", "split", "reword", "show", "status")
"""Commands whose result depends on who has claimed a task, and which the guard allows with a name."""
SIGNED_COMMANDS: Final = "add attach checkpoint comment decide discover note outcome redo replan reply report resolve review revise set undo".split()
"""Other commands that record who calls them; they need a name only if it isn't in the environment."""
NEW_TEXT: Final = "New text"
"""What suggested commands have in place of a text that their reader writes."""
_CALL: Final = "execplan "
ASK: Final = "ask a person to "
"""The beginning of a suggestion that an agent passes on to a person."""
_READ_ONLY: Final = ("--dry-run", "--list", "--check")
_NAMING: Final = ("--as", "--help", "--hook", "--release")
"""Options of commands that name somebody, or that need nobody's name."""


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
        message = f"only a person can {_verb(command).replace('rollback', 'roll back')}, and --as or EXECPLAN_AGENT names an agent: {name}"
        raise ExecplanError("person-required", message, hint=ask_person(command))


def is_for_person(command: str) -> bool:
    """Return whether a suggested command is one with which a person decides."""
    return command.startswith(_CALL) and _needs_person(command, ())


def ask_person(command: str) -> str:
    """Return the request for a person to run a command, for a reader who may be an agent."""
    return f"{ASK}run: {command}"


def fill_command(section: str, plan: str) -> str:
    """Return the command that writes a section; `plan` is the name of the plan, quoted for a shell."""
    if section == outline.PROGRESS:
        return f"execplan add 'First step' -p {plan}"
    if section == outline.INTRODUCTION:
        return f"execplan edit {plan}"
    return f"execplan set {quote(section)} {quote(NEW_TEXT)} -p {plan}"


def outcome_command(plan: ParsedPlan, name: str) -> str:
    """Return the command that adds an outcome to a plan, whose name is quoted for a shell."""
    option = "" if plan.section(outline.OUTCOMES) is not None else " --create"
    return f"execplan outcome 'What works now' -p {name}{option}"


def fit_commands(commands: Iterable[str], denied: Collection[str] = ()) -> tuple[str, ...]:
    """Return suggested commands in the form for the reader, each of them once; an agent has no use for an editor.

    `denied` names further commands that an agent asks a person to run, such as `commit` or `lint --unsafe-fixes`.
    """
    commands = list(commands)
    without_editor = [command for command in commands if not (command.startswith(_CALL) and _verb(command) == "edit")]
    chosen = without_editor if without_editor and is_agent() else commands
    return tuple(dict.fromkeys([fit_command(command, denied) for command in chosen]))


def fit_command(command: str, denied: Collection[str] = ()) -> str:
    """Return a suggested command in the form for the reader.

    A named agent claims the next task, and gives its name again. What only a person may do, an agent asks for.
    """
    if not is_agent() or not command.startswith(_CALL):
        return command
    verb = _verb(command)
    if verb == _RUN and verb in denied:
        return command if _only_reads(command) else _as_handoff(command)
    if _needs_person(command, denied):
        return ask_person(command)
    claims = verb == "next" and explicit_actor() and not _has_option(command, "--claim", "--release")
    return _sign(f"{command} --claim" if claims else command, is_guarded=bool(denied))


def _sign(command: str, *, is_guarded: bool) -> str:
    """Return a command for an agent, with the name that it gave, and `evaluate` before an approval.

    `evaluate` says whether a person or the policy approves. An agent edits the file itself, whose path `show` prints.
    """
    verb, name = _verb(command), explicit_actor()
    if verb == "edit":
        return command.replace(" edit ", " show ", 1)
    if verb == "approve" and not _only_reads(command):
        return command.partition(" --")[0].replace(" approve", " evaluate", 1)
    # the guard forbids --as, and may be there in a session
    is_signed = verb in SIGNED_COMMANDS and actor_of_call() and not session_id() and not is_guarded
    if name is None or not (verb in NAMED_COMMANDS or is_signed) or _has_option(command, *_NAMING):
        return command
    return f"{command} --as {quote(name)}"


def fit_hint(hint: str, denied: Collection[str] = ()) -> str:
    """Return the hint of an error for the reader, as `fit_commands` does."""
    if _CALL not in hint or not is_agent():
        return hint
    clauses: list[str] = []
    for clause in [_fit_clause(clause, denied) for clause in hint.split("; ")]:
        if clause and not any([earlier.endswith(clause) for earlier in clauses]):  # `evaluate`, then `approve`
            clauses.append(clause)
    return "; ".join(clauses)


def _fit_clause(clause: str, denied: Collection[str]) -> str:
    """Return a part of a hint, such as `or roll it back: execplan rollback 1`, as a request for a person.

    It is empty if it only mentions a command that an agent can't use.
    """
    text, call, arguments = clause.partition(_CALL)
    command = call + arguments
    if not call or "a person" in text:
        return clause
    verb = _verb(command)
    if verb == _RUN and verb in denied and not _only_reads(command):
        return text + _as_handoff(command)
    if not _needs_person(command, denied):
        return text + _sign(command, is_guarded=bool(denied))
    if text and not text.endswith(": "):
        return ""
    if text.endswith(", then: "):
        return text + ask_person(command)
    lead = next((word for word in ("or ", "then ") if text.startswith(word)), "")
    return f"{lead}{ASK}{text[len(lead) :] or 'run: '}{command}"


def _needs_person(command: str, denied: Collection[str]) -> bool:
    """Return whether only a person may run a command, perhaps because a guard denies it or one of its options."""
    verb = _verb(command)
    calls = [verb, *[f"{verb} {word}" for word in command.split(" ") if word.startswith("--")]] if denied else []
    is_denied = verb in _PERSON_COMMANDS or any([call in denied for call in calls])
    return is_denied and not _only_reads(command)


def _as_handoff(command: str) -> str:
    """Return the command with which a guarded agent performs approved steps itself, in place of `run`."""
    words = command.split(" ")
    words[_verb_index(words)] = "handoff"
    return " ".join(words)


def _verb(command: str) -> str:
    """Return the name of the command in a command line, which may begin with `execplan -C DIR`."""
    words = command.split(" ")
    return words[_verb_index(words)]


def _verb_index(words: Sequence[str]) -> int:
    return 3 if words[1:2] == ["-C"] and len(words) > 3 else 1


def _only_reads(command: str) -> bool:
    return _has_option(command, *_READ_ONLY)


def _has_option(command: str, *options: str) -> bool:
    return not {*options}.isdisjoint(command.split(" "))
