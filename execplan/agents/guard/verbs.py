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
_ON_PLAN = "-p --plan --if-match"
_KEPT = "--commit --lock-timeout"


def _writer(flags: str = "", values: str = "", *, not_these: str = "") -> Mine:
    """A verb that writes into the living sections of a plan; that a commit follows is for the user's settings to say."""
    return Mine(f"{_WRITES} {flags}", f"{_ON_PLAN} {values}", not_these=f"{_KEPT} {not_these}")


VERBS: Mapping[str, Mine] = {
    "status": Mine(takes="plan"),
    "list": Mine("--all"),
    "show": Mine("--steps", "--section --run", takes="plan"),
    "next": Mine(values="--claim --for --release", takes="plan", not_these="--lock-timeout"),
    "stats": Mine(values="--format", takes="plan", not_these="--textfile"),
    "lint": Mine(
        "--hook --no-cache --staged --diff --statistics",
        "--since --select --ignore --profile --format --columns --stdin-filename --level",
        takes="plan",
        not_these=f"{_KEPT} --rules --fix --unsafe-fixes --baseline --write-baseline --no-commit --dry-run --if-match",
    ),
    "doctor": Mine(not_these=f"{_KEPT} --fix --forget --no-commit --dry-run"),
    "explain": Mine(),
    "schema": Mine(),
    "runs": Mine(values="--state", takes="plan"),
    "audit": Mine("--verify", "--run", takes="plan", not_these=f"{_KEPT} --accept --no-commit --dry-run"),
    "evaluate": Mine(values="--format", takes="plan"),
    "compile": Mine(
        "--check",
        "-p --plan",
        takes="plan",
        needs="--check",
        not_these=f"{_KEPT} --out --annotate --from --compose --enhance --no-commit --dry-run",
    ),
    "prime": Mine(values="--hook", takes="plan"),
    "context": Mine(
        "--exact --estimate",
        "--task --budget --model --intent --format --experiment --key",
        files="--file --units --session",
        takes="plan",
    ),
    "summarize": Mine(values="--as --length", takes="plan"),
    "triage": Mine("--staged", "--since"),
    "checkpoint": Mine(_WRITES, "--if-match", takes="plan", not_these=f"{_KEPT} --force"),
    "handoff": Mine(takes="plan"),
    "report": Mine(_WRITES, "-p --plan --status --result", files="--evidence", not_these=_KEPT),
    "replan": Mine(_WRITES, "-p --plan --reason --failed --new-information", not_these=_KEPT),
    "add": _writer("--create", "--after --under"),
    "done": _writer(),
    "reopen": _writer(),
    "split": _writer("", "--done --remaining"),
    "reword": _writer(),
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
}
"""Why the others are kept from an agent."""
EVERYWHERE = ("--json", "-q", "--quiet", "-v", "--verbose", "--help", "--version")
"""Flags that every verb has, in front of it too."""
