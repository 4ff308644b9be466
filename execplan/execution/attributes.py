"""Attributes of a step's code block, `{#build needs=fetch timeout=60}`, each with its field of the JSON step."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ID: Final = "id"
IDS: Final = "ids"
FLAG: Final = "flag"
COUNT: Final = "count"
SECONDS: Final = "seconds"
MILLISECONDS: Final = "milliseconds"
PATH: Final = "path"
PATHS: Final = "paths"
LIST: Final = "list"
TEXT: Final = "words"
COMMAND: Final = "command"
PAIRS: Final = "pairs"
LINES: Final = "lines"
CHOICE: Final = "choice"
WHEN: Final = "when"
STRATEGY: Final = "strategy"


class Attribute(NamedTuple):
    """An attribute of a code block, with its field, its kind of value and its help text."""

    name: str
    field: str
    """Field of the JSON step, with `.` between a field and a nested field."""
    kind: str
    about: str
    choices: tuple[str, ...] = ()


TYPES = ("execute_command", "create_file", "modify_file", "delete_file", "refactor_code", "install_package", "use_tool")
LEVELS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
EXECUTE: Final = "execute_command"
COMMAND_TYPES = (EXECUTE, "install_package")
"""Step types that run a command."""
TOOL: Final = "use_tool"
ALTERNATIVE: Final = "alternative:"
"""Prefix of a strategy that names the step to run in place of a failed one."""
STEP_OUTCOMES = ("succeeded", "failed", "skipped")
"""Conditions on the outcome of another step."""
SHELLS = ("sh", "bash", "dash", "zsh")
EXAMPLE: Final = "example"
"""Mark of a code block that is never compiled."""
EXPECT: Final = "expect"
"""Mark of the code block that shows the expected output of the step above."""
EXECUTION: Final = "execution"
"""Mark of the code block that configures how the whole plan runs."""

ATTRIBUTES = (
    Attribute("id", "id", ID, "Its name, written `#id`: a letter, then letters, digits and `_.-`."),
    Attribute("type", "type", CHOICE, "What it does; without it, it runs a command.", TYPES),
    Attribute(
        "target",
        "target",
        PATH,
        "The file that it writes or deletes; of `install_package` the folder of a virtual environment or Node project.",
    ),
    Attribute("tool", "tool", TEXT, "The installed tool that `use_tool` calls, as `domain.tool`: `explain tools`."),
    Attribute("lines", "lines", LINES, "Which lines of the target the fence gives anew, as `50-55`."),
    Attribute("action", "action", TEXT, "What is done to the target, in a word or two."),
    Attribute("needs", "depends_on", IDS, "Steps that must have succeeded before."),
    Attribute("timeout", "timeout_s", SECONDS, "How long it may take: `90`, `90s`, `5m`, `1h`."),
    Attribute("retry", "on_failure.max_retries", COUNT, "How often it is tried again after the first attempt."),
    Attribute(
        "backoff",
        "on_failure.backoff_ms",
        MILLISECONDS,
        "The pause before a retry: `500ms`, `2s`; each further one is twice as long.",
    ),
    Attribute("on-failure", "on_failure.strategy", STRATEGY, "fail_fast, retry, skip, replan, ask or alternative:ID."),
    Attribute(
        "triggers", "on_failure.triggers", LIST, "Which failures that is for: exit, exit:N, timeout, expectation, …"
    ),
    Attribute("when", "when", WHEN, "A condition: ID.succeeded, ID.failed, ID.skipped, exists:PATH or missing:PATH."),
    Attribute("checkpoint", "checkpoint", FLAG, "Whether the run stops behind it and asks."),
    Attribute("effect", "effect", CHOICE, "Whether it may be run a second time.", ("idempotent", "once")),
    Attribute(
        "parallel",
        "parallel",
        FLAG,
        "Whether it may run beside others that share no path with it; a command only with outputs.",
    ),
    Attribute("cwd", "cwd", PATH, "The folder that it runs in, from the root of the repository."),
    Attribute("env", "env", PAIRS, 'Variables that it is given: `env="CI=1 LANG=C"`.'),
    Attribute(
        "shell",
        "shell",
        CHOICE,
        "That the fence is one script; alone, for the shell that is its language, else `sh`.",
        SHELLS,
    ),
    Attribute("network", "network", FLAG, "Whether it may use the network."),
    Attribute("inputs", "inputs", PATHS, "Files that it reads; an approval holds only while they stay as they are."),
    Attribute("outputs", "outputs", PATHS, "Files that it must have made."),
    Attribute(
        "expect",
        "expect",
        TEXT,
        "All that it prints, with `…` for any text, or for any lines; or a fence marked `{expect}` below it.",
    ),
    Attribute("exit", "exit", COUNT, "The exit status that is success."),
    Attribute(
        "syntax-check",
        "validation.syntax_check",
        FLAG,
        "Whether what it writes must parse; `syntax-check=false` if not.",
    ),
    Attribute("test-after", "validation.test_after", COMMAND, "A command that must succeed behind it."),
    Attribute("rollback", "rollback.enabled", FLAG, "Whether a rollback takes it back; `rollback=false` if not."),
    Attribute("task", "task", TEXT, "The task of Progress that it completes: its id, or words of it."),
    Attribute(
        "risk", "risk.level", CHOICE, "Raises its risk; one that is lower than the table's changes nothing.", LEVELS
    ),
    Attribute("confirm", "confirm", FLAG, "Whether the run asks before it."),
    Attribute("max-invocations", "max_invocations", COUNT, "How often an agent may call it."),
    Attribute(
        "allow",
        "allow",
        LIST,
        "Further calls of an agent: a command, its words with `*`, a last `...` for any more; or write:, edit:, delete:PATH, tool:NAME.",
    ),
    Attribute(
        "deny", "deny", LIST, "Calls that no step may make, written as for `allow`; a command is one that begins so."
    ),
)
ATTRIBUTES_BY_NAME = {attribute.name: attribute for attribute in ATTRIBUTES}

PLAN_ATTRIBUTES = (
    Attribute(
        "mode",
        "mode",
        CHOICE,
        "Who runs the steps: `engine` for execplan itself, `agent` for an agent's program under `guard`.",
        ("engine", "agent"),
    ),
    Attribute("max-steps", "constraints.max_steps", COUNT, "How many steps the plan may have."),
    Attribute("max-duration", "constraints.max_duration_s", SECONDS, "How long a run may take: `90s`, `30m`, `2h`."),
    Attribute("require-sequential", "constraints.require_sequential", FLAG, "Whether no two steps run at once."),
    Attribute(
        "allow-unplanned", "constraints.allow_unplanned", FLAG, "Whether an agent may make calls outside the plan."
    ),
    Attribute(
        "forbidden-paths", "constraints.forbidden_paths", PATHS, "Files that no step may touch, with `*` for any text."
    ),
    Attribute(
        "forbidden-commands",
        "constraints.forbidden_commands",
        LIST,
        "Commands that no step may run: those that begin so.",
    ),
    Attribute("timeout", "steps.timeout_s", SECONDS, "How long a step may take that has no `timeout` of its own."),
    Attribute(
        "allow", "steps.allow", LIST, "Further calls of an agent during every step, written as `allow` of a step."
    ),
    Attribute("deny", "steps.deny", LIST, "Calls that an agent may never make, written as `deny` of a step."),
)
"""Attributes of the `{execution …}` code block, for the whole plan; `steps.` means a field of every step."""


def named_alternative(strategy: str) -> str:
    """Return the ID of the alternative step that a failure strategy names, or an empty string."""
    return strategy.removeprefix(ALTERNATIVE) if strategy.startswith(ALTERNATIVE) else ""
