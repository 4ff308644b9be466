"""The types of steps, and the attributes of a step's code block, `{#build timeout=60}`, each with its JSON field."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

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
READY: Final = "ready"


DEFAULT_TIMEOUT_S: Final = 300
"""Time limit of a step that sets none; in a document, it means that the step sets none."""


class Attribute(NamedTuple):
    """An attribute of a code block, with its field, its kind of value and its help text."""

    name: str
    field: str
    """Field of the JSON step, with `.` between a field and a nested field."""
    kind: str
    about: str
    choices: tuple[str, ...] = ()
    limits: tuple[int, int] | None = None
    """The lowest and the highest number, for a number."""


BY_COMMAND: Final = "command"
BY_EXECPLAN: Final = "files"
BY_TOOL: Final = "tool"
BY_PERSON: Final = "person"


class StepType(NamedTuple):
    """A type of step."""

    tool: str
    """Built-in tool of the type; empty for `use_tool`, which names an agent's or an installed tool."""
    performed_by: str
    """What performs the step: a `command`, a `tool`, a `person`, or execplan itself, which writes `files`."""
    category: str
    """Subject of the work, for the category of an execution plan."""
    verb: str
    """Word with which a description of the step begins."""
    required: tuple[str, ...] = ()
    """Fields that the step must have, besides those that every step has."""
    optional: tuple[str, ...] = ()
    path_action: str = ""
    """What the step does with its target, for the risk of paths; empty if it has no such target."""


_COMMAND_FIELDS = ("argv", "shell", "env", "network", "expect", "exit", "cwd")
STEP_TYPES: dict[str, StepType] = {
    "execute_command": StepType(
        "shell.run", BY_COMMAND, "commands", "Run", ("command",), (*_COMMAND_FIELDS, "service")
    ),
    "create_file": StepType("file.create", BY_EXECPLAN, "files", "Create", ("target", "content"), path_action="create"),
    "modify_file": StepType(
        "file.modify", BY_EXECPLAN, "files", "Change", ("target",), ("patch", "content", "lines"), path_action="modify"
    ),
    "delete_file": StepType("file.delete", BY_EXECPLAN, "files", "Delete", ("target",), path_action="delete"),
    "refactor_code": StepType("code.refactor", BY_EXECPLAN, "files", "Change", ("patch",)),
    "install_package": StepType(
        "package.install", BY_COMMAND, "packages", "Run", ("command",), ("target", *_COMMAND_FIELDS)
    ),
    "replace": StepType("file.replace", BY_EXECPLAN, "files", "Replace", ("replacement",)),
    "copy": StepType(
        "file.copy", BY_EXECPLAN, "files", "Copy", ("from", "target"), ("overwrite",), path_action="create"
    ),
    "move": StepType(
        "file.move", BY_EXECPLAN, "files", "Move", ("from", "target"), ("overwrite",), path_action="create"
    ),
    "use_tool": StepType("", BY_TOOL, "tools", "Call", (), ("parameters", "env", "network", "expect", "cwd")),
    "manual": StepType("manual.confirm", BY_PERSON, "manual", "By hand"),
}
MANUAL: Final = "manual"
REPLACE: Final = "replace"
MOVE: Final = "move"
TRANSFERS = ("copy", MOVE)
FOUND_FILE_TYPES = (REPLACE, *TRANSFERS)
"""Types that work on files which they do not name one by one; the transfers give them other paths."""


def types_performed_by(*performers: str) -> tuple[str, ...]:
    """Return the types that one of these performs: `command`, `tool`, `files` or `person`."""
    return tuple([name for name, step_type in STEP_TYPES.items() if step_type.performed_by in performers])


def types_with_target() -> tuple[str, ...]:
    """Return the types that require a target, the file that they write or delete."""
    return tuple([name for name, step_type in STEP_TYPES.items() if "target" in step_type.required])


TYPES = tuple(STEP_TYPES)
FILE_TYPES = types_performed_by(BY_EXECPLAN)
"""Types of steps that write files themselves."""
LEVELS = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
EXECUTE: Final = "execute_command"
COMMAND_TYPES = types_performed_by(BY_COMMAND)
"""Step types that run a command."""
TOOL: Final = "use_tool"
ALTERNATIVE: Final = "alternative:"
"""Prefix of a strategy that names the step to run in place of a failed one."""
STEP_OUTCOMES = ("succeeded", "failed", "skipped")
"""Conditions on the outcome of another step."""
STRATEGIES = ("fail_fast", "retry", "skip", "replan", "ask")
"""Failure strategies, without that which names an alternative."""
TRIGGERS = ("exit", "timeout", "expectation", "syntax", "test", "limit")
"""Failures to which a strategy can be limited."""
IDEMPOTENT: Final = "idempotent"
"""Effect of a step that may run a second time."""
SHELLS = ("sh", "bash", "dash", "zsh")
EXAMPLE: Final = "example"
"""Mark of a code block that is never compiled."""
EXPECT: Final = "expect"
"""Mark of the code block that shows the expected output of the step above."""
EXECUTION: Final = "execution"
"""Mark of the code block that configures how the whole plan runs."""

ATTRIBUTES = (
    Attribute("id", "id", ID, "The step's ID, written `#id`: a letter, then letters, digits and `_.-`."),
    Attribute("type", "type", CHOICE, "What the step does. Default: it runs a command.", TYPES),
    Attribute(
        "target",
        "target",
        PATH,
        "The file to write or delete; for `copy` and `move`, the new path; for `install_package`, the directory of a virtual environment or Node project.",
    ),
    Attribute("from", "from", PATH, "The file or directory that `copy` or `move` gives the path `target`."),
    Attribute("overwrite", "overwrite", FLAG, "Whether `copy` or `move` may overwrite a file; never a directory."),
    Attribute(
        "paths",
        "replacement.paths",
        PATHS,
        "The files in which `replace` searches: `*` is any text within a name, `**` any directories.",
    ),
    Attribute("count", "replacement.count", COUNT, "How often the text must occur, in all files.", limits=(1, 100_000)),
    Attribute("regex", "replacement.regex", FLAG, "Whether the text is a regular expression."),
    Attribute(
        "tool", "tool", TEXT, "The installed tool that `use_tool` calls, as `domain.tool`: `execplan explain tools`."
    ),
    Attribute("lines", "lines", LINES, "The lines of the target that the code block replaces, as `50-55`."),
    Attribute("action", "action", TEXT, "The change to the target, in a word or two."),
    Attribute("needs", "depends_on", IDS, "Steps that must succeed first."),
    Attribute(
        "timeout",
        "timeout_s",
        SECONDS,
        "Time limit, such as `90`, `5m` or `1h`. Default: the setting `execution.timeout`.",
        limits=(1, 86_400),
    ),
    Attribute(
        "retry", "on_failure.max_retries", COUNT, "Maximum number of retries after the first attempt.", limits=(0, 10)
    ),
    Attribute(
        "backoff",
        "on_failure.backoff_ms",
        MILLISECONDS,
        "Pause before the first retry, such as `500ms` or `2s`; it doubles for each further retry.",
        limits=(0, 3_600_000),
    ),
    Attribute(
        "on-failure",
        "on_failure.strategy",
        STRATEGY,
        "What the run does if the step fails: fail_fast (stop), retry, skip, replan, ask, or alternative:ID (run that step instead).",
    ),
    Attribute(
        "triggers",
        "on_failure.triggers",
        LIST,
        "The failures that `on-failure` applies to, such as exit, exit:N, timeout or expectation; by default all.",
    ),
    Attribute(
        "when",
        "when",
        WHEN,
        "Condition for the step: ID.succeeded, ID.failed, ID.skipped, exists:PATH or missing:PATH.",
    ),
    Attribute("checkpoint", "checkpoint", FLAG, "Whether the run stops after the step and asks."),
    Attribute("effect", "effect", CHOICE, "Whether the step may run a second time.", ("idempotent", "once")),
    Attribute(
        "parallel",
        "parallel",
        FLAG,
        "Whether the step may run at the same time as steps that use none of its paths; a command must declare its `outputs`.",
    ),
    Attribute("cwd", "cwd", PATH, "The working directory, from the root of the repository."),
    Attribute("env", "env", PAIRS, 'Environment variables: `env="CI=1 LANG=C"`.'),
    Attribute(
        "shell",
        "shell",
        CHOICE,
        "Runs the whole code block as one script of this shell; by default, the shell is the block's language, or `sh`.",
        SHELLS,
    ),
    Attribute(
        "service",
        "service",
        READY,
        "Lets the command run for all later steps. The value says when it is ready, within `timeout`: `port:8000`, `http://localhost:8000/PATH`, or `line:TEXT`.",
    ),
    Attribute("network", "network", FLAG, "Whether the step may use the network."),
    Attribute(
        "inputs", "inputs", PATHS, "Files that the step reads; an approval is valid only while they are unchanged."
    ),
    Attribute("outputs", "outputs", PATHS, "Files that must exist after the step."),
    Attribute(
        "expect",
        "expect",
        TEXT,
        "The complete output, with `…` for any text or any lines; or a code block marked `{expect}` below the step.",
    ),
    Attribute("exit", "exit", COUNT, "The exit status that means success.", limits=(0, 255)),
    Attribute(
        "syntax-check",
        "validation.syntax_check",
        FLAG,
        "Whether the written content must be valid syntax; turn it off with `syntax-check=false`.",
    ),
    Attribute("test-after", "validation.test_after", COMMAND, "A command that must succeed after the step."),
    Attribute(
        "rollback", "rollback.enabled", FLAG, "Whether a rollback reverts the step; turn it off with `rollback=false`."
    ),
    Attribute("task", "task", TEXT, "The task in Progress that the step completes: its ID, or part of its text."),
    Attribute(
        "risk",
        "risk.level",
        CHOICE,
        "Raises the step's risk; a level below that of the risk table has no effect.",
        LEVELS,
    ),
    Attribute("confirm", "confirm", FLAG, "Whether the run asks before the step."),
    Attribute("max-invocations", "max_invocations", COUNT, "How often an agent may call the step.", limits=(1, 1000)),
    Attribute(
        "allow",
        "allow",
        LIST,
        "Additional calls allowed to an agent: a command whose words may contain `*`, and a final `...` for any further words; or write:, edit:, delete:PATH, tool:NAME.",
    ),
    Attribute(
        "deny",
        "deny",
        LIST,
        "Calls that no step may make, written as in `allow`; a command also matches longer commands that begin with it.",
    ),
)
ATTRIBUTES_BY_NAME = {attribute.name: attribute for attribute in ATTRIBUTES}

PLAN_ATTRIBUTES = (
    Attribute(
        "mode",
        "mode",
        CHOICE,
        "Who runs the steps: `engine` for execplan itself, `agent` for an agent program under `guard`.",
        ("engine", "agent"),
    ),
    Attribute("max-steps", "constraints.max_steps", COUNT, "Maximum number of steps.", limits=(1, 1000)),
    Attribute(
        "max-duration",
        "constraints.max_duration_s",
        SECONDS,
        "Time limit of a run: `90s`, `30m`, `2h`.",
        limits=(1, 604_800),
    ),
    Attribute("require-sequential", "constraints.require_sequential", FLAG, "Whether steps run only one at a time."),
    Attribute(
        "allow-unplanned",
        "constraints.allow_unplanned",
        FLAG,
        "Whether an agent may make calls that are not in the plan.",
    ),
    Attribute(
        "forbidden-paths", "constraints.forbidden_paths", PATHS, "Files that no step may touch, with `*` for any text."
    ),
    Attribute(
        "forbidden-commands",
        "constraints.forbidden_commands",
        LIST,
        "Commands that no step may run, including longer commands that begin with one of them.",
    ),
    Attribute(
        "timeout",
        "steps.timeout_s",
        SECONDS,
        "Time limit of steps that have no `timeout` of their own.",
        limits=(1, 86_400),
    ),
    Attribute(
        "allow",
        "steps.allow",
        LIST,
        "Additional calls allowed to an agent during every step, written as in a step's `allow`.",
    ),
    Attribute("deny", "steps.deny", LIST, "Calls that an agent may never make, written as in a step's `deny`."),
)
"""Attributes of the `{execution …}` code block, for the whole plan; `steps.` means a field of every step."""


LIMITS = {
    attribute.field.rpartition(".")[2]: attribute.limits
    for attribute in (*ATTRIBUTES, *PLAN_ATTRIBUTES)
    if attribute.limits is not None
}
"""The lowest and the highest number of a field, by its name in JSON."""


def named_alternative(strategy: str) -> str:
    """Return the ID of the alternative step that a failure strategy names, or an empty string."""
    return strategy.removeprefix(ALTERNATIVE) if strategy.startswith(ALTERNATIVE) else ""
