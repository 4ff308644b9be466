"""Commands of execplan that an agent may call: they read, report, or write plans, with options that do no more."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final


class AllowedOptions(NamedTuple):
    """The options and operands of a command that an agent may use."""

    flags: str = ""
    """Options without a value; one that ends in `?` may have one, which may also follow it like an operand."""
    value_options: str = ""
    """Options with a value."""
    file_options: str = ""
    """Options whose value is a file that is read."""
    operand_kind: str = ""
    """Kind of the operands: `plan`, `file`, or text if empty."""
    denied_options: str = ""
    """Options that an agent may not use, listed so that each new option requires a decision."""


COMMIT_FLAG: Final = "--commit"
COMMIT_COMMAND: Final = "commit"
_WRITE_FLAGS = f"--dry-run --no-commit {COMMIT_FLAG}"
_PLAN_OPTIONS = "-p --plan"
_PLAN_WRITE_OPTIONS = f"{_PLAN_OPTIONS} --if-match"
_PROJECT_OPTION = "--project"
_ALL_PROJECTS_FLAG = "--all-projects"
"""The flag reads projects outside the repository, which an agent may not read."""
_DENIED_EVERYWHERE = "--lock-timeout"
_DENIED_OPTIONS = f"{_DENIED_EVERYWHERE} --as"
"""Options denied for commands that write.

`--as` is only for claims and the tasks that they protect: an agent signs nothing else with a name of its choice.
"""


def _writing_command(flags: str = "", value_options: str = "", *, denied_options: str = "") -> AllowedOptions:
    """Return the options of a command that writes to a section of a plan.

    The user's settings decide whether a commit follows.
    """
    return AllowedOptions(
        f"{_WRITE_FLAGS} {flags}",
        f"{_PLAN_WRITE_OPTIONS} {value_options}",
        denied_options=f"{_DENIED_OPTIONS} {denied_options}",
    )


def _task_command(flags: str = "", value_options: str = "", *, denied_options: str = "") -> AllowedOptions:
    """Return the options of a command that a claim can block, so that the agent must identify itself."""
    return AllowedOptions(
        f"{_WRITE_FLAGS} {flags}",
        f"{_PLAN_WRITE_OPTIONS} --as {value_options}",
        denied_options=f"{_DENIED_EVERYWHERE} {denied_options}",
    )


ALLOWED_COMMANDS: Mapping[str, AllowedOptions] = {
    "status": AllowedOptions("--all --stalled", f"{_PLAN_OPTIONS} --as --state --sort --limit -n", operand_kind="plan"),
    "board": AllowedOptions("--all --plain", "--as", file_options=_PROJECT_OPTION, denied_options=_ALL_PROJECTS_FLAG),
    "list": AllowedOptions("--all", "--state --as"),
    "show": AllowedOptions("--steps --run? --comments", f"{_PLAN_OPTIONS} --section --as", operand_kind="plan"),
    "next": AllowedOptions(
        "--claim? --release?",
        f"{_PLAN_OPTIONS} --task --for --to --as",
        file_options=_PROJECT_OPTION,
        operand_kind="plan",
        denied_options=f"--lock-timeout --hook {_ALL_PROJECTS_FLAG}",
    ),
    "index": AllowedOptions(f"{_WRITE_FLAGS} --write", denied_options=_DENIED_OPTIONS),
    "search": AllowedOptions(
        value_options=f"{_PLAN_OPTIONS} --limit --matches",
        file_options=_PROJECT_OPTION,
        denied_options=_ALL_PROJECTS_FLAG,
    ),
    "stats": AllowedOptions(
        "--cost",
        value_options=f"{_PLAN_OPTIONS} --format --chart",
        file_options=_PROJECT_OPTION,
        operand_kind="plan",
        denied_options=f"--textfile --svg {_ALL_PROJECTS_FLAG}",
    ),
    "log": AllowedOptions("--decisions", f"{_PLAN_OPTIONS} --since --until --author --limit -n", operand_kind="plan"),
    "diff": AllowedOptions("--text", f"{_PLAN_OPTIONS} --since", operand_kind="plan"),
    "self": AllowedOptions(),
    "graph": AllowedOptions("--all", f"{_PLAN_OPTIONS} --format", operand_kind="plan"),
    "overlaps": AllowedOptions("--check", _PLAN_OPTIONS),
    "lint": AllowedOptions(
        f"{_WRITE_FLAGS} --all --hook --no-cache --staged --diff --statistics --fix",
        f"{_PLAN_WRITE_OPTIONS} --since --select --ignore --profile --format --columns --stdin-filename --level",
        operand_kind="plan",
        denied_options=f"{_DENIED_OPTIONS} --rules --unsafe-fixes --baseline --write-baseline",
    ),
    "changes": AllowedOptions(
        value_options="--since --fail-on --format --select --ignore --profile",
        operand_kind="file",
        denied_options="--rules --no-annotations --no-summary",
    ),
    "doctor": AllowedOptions("--stale", denied_options=f"{_DENIED_OPTIONS} {_WRITE_FLAGS} --fix --restore --forget"),
    "explain": AllowedOptions("--codes"),
    "help": AllowedOptions("--all"),
    "schema": AllowedOptions(),
    "runs": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --state", operand_kind="plan"),
    "audit": AllowedOptions(
        "--verify",
        f"{_PLAN_OPTIONS} --run",
        operand_kind="plan",
        denied_options=f"{_DENIED_OPTIONS} {_WRITE_FLAGS} --accept --attest",
    ),
    "evaluate": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --format --as", operand_kind="plan"),
    "compile": AllowedOptions(
        f"{_WRITE_FLAGS} --check --annotate --compose",
        f"{_PLAN_OPTIONS} --title",
        file_options="--from",
        operand_kind="plan",
        denied_options=f"{_DENIED_OPTIONS} --out --enhance --from-diff --staged --restore",
    ),
    "export": AllowedOptions(
        value_options=f"{_PLAN_OPTIONS} --to --environment",
        operand_kind="plan",
        denied_options=f"{_DENIED_OPTIONS} {_WRITE_FLAGS} --out --force",
    ),
    "prime": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --hook --as", operand_kind="plan"),
    "context": AllowedOptions(
        "--exact --estimate --explain --compare --plain-decision",
        f"{_PLAN_OPTIONS} --task --budget --model --intent --format --experiment --key --item --as",
        file_options="--file --units --session",
        operand_kind="plan",
    ),
    "summarize": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --as --length", operand_kind="plan"),
    "triage": AllowedOptions("--staged", "--since"),
    "checkpoint": AllowedOptions(
        _WRITE_FLAGS, _PLAN_WRITE_OPTIONS, operand_kind="plan", denied_options=f"{_DENIED_OPTIONS} --force"
    ),
    "handoff": AllowedOptions(value_options=f"{_PLAN_OPTIONS} --budget --as", operand_kind="plan"),
    "report": AllowedOptions(
        _WRITE_FLAGS, f"{_PLAN_OPTIONS} --status --result", file_options="--evidence", denied_options=_DENIED_OPTIONS
    ),
    "replan": AllowedOptions(
        _WRITE_FLAGS, f"{_PLAN_OPTIONS} --reason --failed --new-information", denied_options=_DENIED_OPTIONS
    ),
    "add": _writing_command("--create", "--after --before --under --check"),
    "done": _task_command("--verify", denied_options="-y --yes"),
    "reopen": _task_command(),
    "split": _task_command("", "--done --remaining"),
    "reword": _task_command(),
    "decide": _writing_command("--create", "--why --supersedes", denied_options="--author"),
    "discover": _writing_command("--create", "--evidence"),
    "outcome": _writing_command("--create"),
    "note": _writing_command("--create", "--excerpt"),
    "revise": _writing_command(),
    "set": _writing_command("--create", "--meta"),
    "convert": _writing_command("--all"),
    "new": AllowedOptions(
        f"{_WRITE_FLAGS} --list-templates",
        "--purpose --task --template",
        file_options="--from",
        denied_options=f"{_DENIED_OPTIONS} -i --interactive --draft-with --hook",
    ),
    "import": AllowedOptions(
        _WRITE_FLAGS, f"{_PLAN_OPTIONS} --from --title", operand_kind="file", denied_options=_DENIED_OPTIONS
    ),
    "comment": _writing_command(value_options="--on"),
    "reply": _writing_command("--reopen"),
    "resolve": _writing_command(value_options="--reason"),
    "review": AllowedOptions(value_options=_PLAN_OPTIONS, operand_kind="plan", denied_options="--mark --as"),
    "attach": AllowedOptions(
        f"{_WRITE_FLAGS} --create",
        f"{_PLAN_WRITE_OPTIONS} --about",
        operand_kind="file",
        denied_options=_DENIED_OPTIONS,
    ),
    "archive": AllowedOptions(
        f"{_WRITE_FLAGS} --complete --keep-links",
        f"{_PLAN_WRITE_OPTIONS} --as --by --reason",
        operand_kind="plan",
        denied_options=f"{_DENIED_EVERYWHERE} --force --rewrite-links",
    ),
    "restore": AllowedOptions(
        f"{_WRITE_FLAGS} --keep-links",
        f"{_PLAN_WRITE_OPTIONS} --reason",
        operand_kind="plan",
        denied_options=f"{_DENIED_OPTIONS} --rewrite-links",
    ),
    "rename": AllowedOptions(
        f"{_WRITE_FLAGS} --keep-links", _PLAN_WRITE_OPTIONS, denied_options=f"{_DENIED_OPTIONS} --rewrite-links"
    ),
    "undo": AllowedOptions(
        f"{_WRITE_FLAGS} --list", _PLAN_WRITE_OPTIONS, operand_kind="plan", denied_options=f"{_DENIED_OPTIONS} --any"
    ),
    "redo": AllowedOptions(
        _WRITE_FLAGS, _PLAN_WRITE_OPTIONS, operand_kind="plan", denied_options=f"{_DENIED_OPTIONS} --any"
    ),
    COMMIT_COMMAND: AllowedOptions(
        "--all --dry-run", f"{_PLAN_WRITE_OPTIONS} -m --message", operand_kind="plan", denied_options=_DENIED_OPTIONS
    ),
}
"""Commands that an agent may use, with their options, by name; all other commands are denied."""

DENIED_COMMANDS: Mapping[str, str] = {
    "approve": "a person approves",
    "use": "a person chooses the plan that commands mean; name yours with -p",
    "run": "only a person starts a run of the engine; to perform the approved steps yourself: execplan handoff PLAN",
    "job": "only a workflow that a person has exported runs its jobs",
    "resume": "only a person answers a run's questions",
    "rollback": "only a person decides what is rolled back",
    "install": "only a person installs what guards an agent",
    "uninstall": "only a person removes what guards an agent",
    "init": "it writes settings",
    "edit": "it starts an editor",
    "guard": "it decides for the agent program, not for the agent",
    "lsp": "an editor starts the server, not the agent",
    "mcp": "the agent program starts the server, not the agent",
    "serve": "it lets every program on the machine edit plans",
    "merge": "it writes files that are not in any step",
    "drop": "it removes a plan",
    "sync": "it writes to GitHub",
    "site": "it writes files that are not in any step",
    "worktree": "it writes outside the repository, and merges commits that no step made",
}
"""Reasons why the other commands are denied to an agent."""
GLOBAL_FLAGS = ("--json", "-q", "--quiet", "-v", "--verbose", "--help", "--version")
"""Flags that every command accepts, also before its name."""


NAME: Final = "execplan"


def shorten(text: str) -> str:
    """Shorten a text for a reason."""
    return text if len(text) <= 80 else f"{text[:60]}…"
