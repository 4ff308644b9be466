"""Which verbs of execplan an agent may call, and with which options: those that read, and those that keep a plan true."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Mine(NamedTuple):
    """What of a verb an agent may use."""

    flags: str = ""
    values: str = ""
    """Options with a value."""
    files: str = ""
    """Options whose value is a file that is read."""
    takes: str = ""
    """What its words are: `plan`, `file`, or text."""
    needs: str = ""
    """A flag without which it does more."""
    not_these: str = ""
    """The options that are kept from an agent: a new one must be decided upon."""


_WRITES = "--dry-run --no-commit"
_PLAN = "-p --plan"
_ON_PLAN = f"{_PLAN} --if-match"
_SHARED = "--commit --lock-timeout"
_KEPT = f"{_SHARED} --as"
"""`--as` is for claims and the tasks that they protect; an agent signs nothing else with a name that it makes up."""


def _writer(flags: str = "", values: str = "", *, not_these: str = "") -> Mine:
    """A verb that writes into the living sections of a plan; that a commit follows is for the user's settings to say."""
    return Mine(f"{_WRITES} {flags}", f"{_ON_PLAN} {values}", not_these=f"{_KEPT} {not_these}")


def _on_task(flags: str = "", values: str = "") -> Mine:
    """A writer that a claim may stop, so that the agent has to say which one it is."""
    return Mine(f"{_WRITES} {flags}", f"{_ON_PLAN} --as {values}", not_these=_SHARED)


VERBS: Mapping[str, Mine] = {
    "status": Mine(values=f"{_PLAN} --as", takes="plan"),
    "list": Mine("--all"),
    "show": Mine("--steps", f"{_PLAN} --section --run --as", takes="plan"),
    "next": Mine(values=f"{_PLAN} --claim --task --for --release --to --as", takes="plan", not_these="--lock-timeout"),
    "stats": Mine(values=f"{_PLAN} --format", takes="plan", not_these="--textfile"),
    "lint": Mine(
        "--hook --no-cache --staged --diff --statistics",
        f"{_PLAN} --since --select --ignore --profile --format --columns --stdin-filename --level",
        takes="plan",
        not_these=f"{_KEPT} --rules --fix --unsafe-fixes --baseline --write-baseline --no-commit --dry-run --if-match",
    ),
    "doctor": Mine(not_these=f"{_KEPT} --fix --forget --no-commit --dry-run"),
    "explain": Mine(),
    "schema": Mine(),
    "runs": Mine(values=f"{_PLAN} --state", takes="plan"),
    "audit": Mine("--verify", f"{_PLAN} --run", takes="plan", not_these=f"{_KEPT} --accept --no-commit --dry-run"),
    "evaluate": Mine(values=f"{_PLAN} --format", takes="plan"),
    "compile": Mine(
        "--check",
        _PLAN,
        takes="plan",
        needs="--check",
        not_these=f"{_KEPT} --out --annotate --from --compose --title --enhance --no-commit --dry-run",
    ),
    "prime": Mine(values=f"{_PLAN} --hook --as", takes="plan"),
    "context": Mine(
        "--exact --estimate --explain --compare",
        f"{_PLAN} --task --budget --model --intent --format --experiment --key --item",
        files="--file --units --session",
        takes="plan",
    ),
    "summarize": Mine(values=f"{_PLAN} --as --length", takes="plan"),
    "triage": Mine("--staged", "--since"),
    "checkpoint": Mine(_WRITES, _ON_PLAN, takes="plan", not_these=f"{_KEPT} --force"),
    "handoff": Mine(values=f"{_PLAN} --budget", takes="plan"),
    "report": Mine(_WRITES, f"{_PLAN} --status --result", files="--evidence", not_these=_KEPT),
    "replan": Mine(_WRITES, f"{_PLAN} --reason --failed --new-information", not_these=_KEPT),
    "add": _writer("--create", "--after --before --under"),
    "done": _on_task(),
    "reopen": _on_task(),
    "split": _on_task("", "--done --remaining"),
    "reword": _on_task(),
    "decide": _writer("--create", "--why --supersedes", not_these="--author"),
    "discover": _writer("--create", "--evidence"),
    "outcome": _writer("--create"),
    "note": _writer("--create", "--excerpt"),
    "revise": _writer(),
}
"""By their names; none that is not here."""

KEPT: Mapping[str, str] = {
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
EVERYWHERE = ("--json", "-q", "--quiet", "-v", "--verbose", "--help", "--version")
"""Flags that every verb has, in front of it too."""
