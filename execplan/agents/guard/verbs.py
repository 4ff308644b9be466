"""Which verbs of execplan an agent may call, and with which options: those that read, and those that keep a plan true."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class AllowedOptions(NamedTuple):
    """What of a verb an agent may use."""

    flags: str = ""
    value_options: str = ""
    """Options with a value."""
    file_options: str = ""
    """Options whose value is a file that is read."""
    operand_kind: str = ""
    """What its words are: `plan`, `file`, or text."""
    required_flag: str = ""
    """A flag without which it does more."""
    denied_options: str = ""
    """The options that are kept from an agent: a new one must be decided upon."""


_WRITE_FLAGS = "--dry-run --no-commit"
_PLAN_OPTIONS = "-p --plan"
_PLAN_WRITE_OPTIONS = f"{_PLAN_OPTIONS} --if-match"
_DENIED_EVERYWHERE = "--commit --lock-timeout"
_DENIED_OPTIONS = f"{_DENIED_EVERYWHERE} --as"
"""`--as` is for claims and the tasks that they protect; an agent signs nothing else with a name that it makes up."""


def _writing_command(flags: str = "", value_options: str = "", *, denied_options: str = "") -> AllowedOptions:
    """A verb that writes into the living sections of a plan; that a commit follows is for the user's settings to say."""
    return AllowedOptions(f"{_WRITE_FLAGS} {flags}", f"{_PLAN_WRITE_OPTIONS} {value_options}", denied_options=f"{_DENIED_OPTIONS} {denied_options}")


def _task_command(flags: str = "", value_options: str = "") -> AllowedOptions:
    """A writer that a claim may stop, so that the agent has to say which one it is."""
    return AllowedOptions(f"{_WRITE_FLAGS} {flags}", f"{_PLAN_WRITE_OPTIONS} --as {value_options}", denied_options=_DENIED_EVERYWHERE)


ALLOWED_COMMANDS: Mapping[str, AllowedOptions] = {
    "status": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --as", operand_kind="plan"),
    "list": AllowedOptions("--all"),
    "show": AllowedOptions("--steps", f"{_PLAN_OPTIONS} --section --run --as", operand_kind="plan"),
    "next": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --claim --task --for --release --to --as", operand_kind="plan", denied_options="--lock-timeout"),
    "stats": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --format", operand_kind="plan", denied_options="--textfile"),
    "lint": AllowedOptions(
        "--hook --no-cache --staged --diff --statistics",
        f"{_PLAN_OPTIONS} --since --select --ignore --profile --format --columns --stdin-filename --level",
        operand_kind="plan",
        denied_options=f"{_DENIED_OPTIONS} --rules --fix --unsafe-fixes --baseline --write-baseline --no-commit --dry-run --if-match",
    ),
    "doctor": AllowedOptions(denied_options=f"{_DENIED_OPTIONS} --fix --forget --no-commit --dry-run"),
    "explain": AllowedOptions(),
    "schema": AllowedOptions(),
    "runs": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --state", operand_kind="plan"),
    "audit": AllowedOptions("--verify", f"{_PLAN_OPTIONS} --run", operand_kind="plan", denied_options=f"{_DENIED_OPTIONS} --accept --no-commit --dry-run"),
    "evaluate": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --format", operand_kind="plan"),
    "compile": AllowedOptions(
        "--check",
        _PLAN_OPTIONS,
        operand_kind="plan",
        required_flag="--check",
        denied_options=f"{_DENIED_OPTIONS} --out --annotate --from --compose --title --enhance --no-commit --dry-run",
    ),
    "prime": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --hook --as", operand_kind="plan"),
    "context": AllowedOptions(
        "--exact --estimate --explain --compare",
        f"{_PLAN_OPTIONS} --task --budget --model --intent --format --experiment --key --item",
        file_options="--file --units --session",
        operand_kind="plan",
    ),
    "summarize": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --as --length", operand_kind="plan"),
    "triage": AllowedOptions("--staged", "--since"),
    "checkpoint": AllowedOptions(_WRITE_FLAGS, _PLAN_WRITE_OPTIONS, operand_kind="plan", denied_options=f"{_DENIED_OPTIONS} --force"),
    "handoff": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --budget", operand_kind="plan"),
    "report": AllowedOptions(_WRITE_FLAGS, f"{_PLAN_OPTIONS} --status --result", file_options="--evidence", denied_options=_DENIED_OPTIONS),
    "replan": AllowedOptions(_WRITE_FLAGS, f"{_PLAN_OPTIONS} --reason --failed --new-information", denied_options=_DENIED_OPTIONS),
    "add": _writing_command("--create", "--after --before --under"),
    "done": _task_command(),
    "reopen": _task_command(),
    "split": _task_command("", "--done --remaining"),
    "reword": _task_command(),
    "decide": _writing_command("--create", "--why --supersedes", denied_options="--author"),
    "discover": _writing_command("--create", "--evidence"),
    "outcome": _writing_command("--create"),
    "note": _writing_command("--create", "--excerpt"),
    "revise": _writing_command(),
}
"""By their names; none that is not here."""

DENIED_COMMANDS: Mapping[str, str] = {
    "approve": "a person approves",
    "run": "the engine's run is a person's to begin",
    "resume": "a person answers what a run asks",
    "rollback": "a person says what is taken back",
    "install": "what guards an agent is a person's to install",
    "uninstall": "what guards an agent is a person's to take away",
    "init": "it writes settings",
    "edit": "it starts an editor",
    "guard": "it decides for the program, not for the agent",
    "archive": "a person files a plan",
    "restore": "a person files a plan",
    "rename": "it gives what was approved another name",
    "commit": "it runs the repository's hooks",
    "merge": "it writes files that no step names",
    "attach": "it writes files that no step names",
    "new": "a second plan makes unclear which one holds",
    "set": "it changes what is planned",
    "undo": "it takes back what others have written",
    "redo": "it takes back what others have written",
    "drop": "it removes a plan",
}
"""Why the others are kept from an agent."""
GLOBAL_FLAGS = ("--json", "-q", "--quiet", "-v", "--verbose", "--help", "--version")
"""Flags that every verb has, in front of it too."""
