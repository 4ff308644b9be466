"""Models of an execution plan, the compiled form of a plan: validated on input and immutable.

Its fields are those of its JSON. It contains no times, states or results: these are in the record of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, field

from execplan.core.documents.document_model import Model
from execplan.core.text.violation import Violation
from execplan.execution.attributes import BY_COMMAND, BY_TOOL, DEFAULT_TIMEOUT_S, LIMITS, types_performed_by
from execplan.execution.documents import document_rules, field_patterns
from execplan.execution.documents.hidden_characters import ensure_nothing_hidden, step_texts

SCHEMA: Final = "execplan-execution-plan"
VERSION: Final = 1

Version = Annotated[int, Meta(ge=1, le=1)]
"""Version of the document format; a `Literal[1]` would accept true."""
Number = Annotated[int, Meta(ge=1)]
"""Number of a step, a line or a revision, from 1."""
Id = Annotated[str, field_patterns.ID, Meta(max_length=128)]
"""ID of a step: a letter, then letters, digits and `_.-`."""
PlanId = Annotated[str, field_patterns.PLAN_ID, Meta(min_length=1, max_length=255)]
"""ID of a plan: the name of its file and of its artifact directory."""
Path = Annotated[str, field_patterns.LINE, Meta(min_length=1, max_length=1024)]
"""Path from the repository root, with `/` between directories."""
Name = Annotated[str, field_patterns.LINE, Meta(min_length=1, max_length=200)]
"""Name of a person or a session."""
ShortText = Annotated[str, Meta(min_length=1, max_length=2000)]
Digest = Annotated[str, field_patterns.SHA256]
"""SHA-256 digest in hexadecimal form."""
ToolName = Annotated[str, field_patterns.TOOL, Meta(max_length=128)]
"""Name of a tool, `domain.tool`, with exactly one dot."""


Timestamp = Annotated[str, field_patterns.TIMESTAMP]
"""Time in UTC with a precision of seconds, as text, so that equal times have equal bytes."""
Argument = Annotated[str, field_patterns.ARGUMENT, Meta(max_length=131072)]
"""Command-line argument; Linux limits a single one to 131,072 bytes (MAX_ARG_STRLEN)."""
Argv = Annotated[tuple[Argument, ...], Meta(min_length=1, max_length=4096)]
Trigger = Annotated[str, field_patterns.TRIGGER]
"""Failure that triggers a recovery.

It is a wrong exit status (any, or one), the time limit, unexpected output, the syntax check, the test afterwards, or a
resource limit. Without triggers, all of them apply.
"""
Strategy = Annotated[str, field_patterns.STRATEGY]
Service = Annotated[str, field_patterns.LINE, Meta(max_length=2000)]


def _limits(field: str) -> Meta:
    """Return the limits of a number, which its attribute declares."""
    minimum, maximum = LIMITS[field]
    return Meta(ge=minimum, le=maximum)


class Type(StrEnum):
    """What a step does.

    `use_tool` calls a tool that is installed, or in the mode `agent` one of the agent's program. `manual` is work that a
    person does and confirms.
    """

    CREATE = "create_file"
    MODIFY = "modify_file"
    DELETE = "delete_file"
    COMMAND = "execute_command"
    REFACTOR = "refactor_code"
    INSTALL = "install_package"
    REPLACE = "replace"
    COPY = "copy"
    MOVE = "move"
    TOOL = "use_tool"
    MANUAL = "manual"


PROGRAM_TYPES = tuple([Type(name) for name in types_performed_by(BY_COMMAND, BY_TOOL)])
"""Step types that run a program, so that only a run can show their effect."""


class Level(StrEnum):
    """How much harm a step can do."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


class Lines(Model):
    """The lines of the plan that a step was compiled from; they count from 1, and both ends are included."""

    line_start: Number
    line_end: Number


class Source(Model):
    """The plan that the execution plan was compiled from."""

    path: Path
    sha256: Digest
    """SHA-256 of the lines that the steps came from; checking off a task or adding an entry does not change it."""


class Risk(Model):
    """The risk level of a step, and the reasons for it."""

    level: Level
    reasons: tuple[ShortText, ...] = ()


class OnFailure(Model):
    """What happens after a step fails."""

    strategy: Strategy = "fail_fast"
    max_retries: Annotated[int, _limits("max_retries")] = 0
    """How many times a failed step is tried again; it has at most 1 + max_retries attempts."""
    backoff_ms: Annotated[int, _limits("backoff_ms")] = 1000
    """Milliseconds to wait before the first retry; doubled before each further one."""
    triggers: tuple[Trigger, ...] = ()


class When(Model):
    """A condition: how another step ended, or whether a path is there."""

    kind: Literal["succeeded", "failed", "skipped", "exists", "missing"]
    of: Path
    """The ID of the other step, or the path."""


class Validation(Model):
    """What is checked of a step beside its exit status and its output."""

    syntax_check: bool = True
    test_after: Argv | None = None


class Rollback(Model):
    """Whether a rollback of the run reverts the step's changes."""

    enabled: bool = True


class Replacement(Model):
    """A text to find in files, and the text that takes its place."""

    paths: Annotated[tuple[Path, ...], Meta(min_length=1, max_length=100)]
    """The files to search; `*` is any text within a name, and `**` any directories."""
    find: Annotated[str, Meta(min_length=1, max_length=65536)]
    with_: Annotated[str, Meta(max_length=65536)] = ""
    regex: bool = False
    """Whether `find` is a regular expression of Python, in which `^` and `$` match at each line."""
    count: Annotated[int, _limits("count")]
    """How often the text must occur in all files together."""


class Step(Model):
    """A step: a command, a change of a file, or a call of a tool, with what is checked before and after it."""

    number: Number
    id: Id
    type: Type
    tool: ToolName
    description: ShortText
    target: Path | None = None
    lines: tuple[Number, Number] | None = None
    """The lines of the target that the step replaces; they count from 1, and both ends are included."""
    action: ShortText | None = None
    command: Annotated[str, Meta(min_length=1, max_length=131072)] | None = None
    """The command as written in the plan: one line, or with `shell` a script."""
    argv: Argv | None = None
    """The program to run and its arguments; null for a script, and for a line that needs a shell but does not name one."""
    content: str | None = None
    patch: str | None = None
    parameters: dict[str, Any] | None = None
    """The input of the tool; only for the type `use_tool`."""
    depends_on: tuple[Id, ...] = ()
    timeout_s: Annotated[int, _limits("timeout_s")] = DEFAULT_TIMEOUT_S
    on_failure: OnFailure = OnFailure()
    when: When | None = None
    checkpoint: bool = False
    effect: Literal["idempotent", "once"] = "once"
    parallel: bool = False
    cwd: Path = "."
    env: dict[Annotated[str, field_patterns.VARIABLE], Argument] = field(default_factory=dict)
    shell: Literal["sh", "bash", "dash", "zsh"] | None = None
    network: bool = False
    service: Service | None = None
    """When the command is ready; it then runs until the last step after it has ended. Null for other commands."""
    inputs: tuple[Path, ...] = ()
    outputs: tuple[Path, ...] = ()
    expect: str | None = None
    exit: Annotated[int, _limits("exit")] = 0
    validation: Validation = Validation()
    rollback: Rollback = Rollback()
    task: ShortText | None = None
    risk: Risk
    confirm: bool = False
    max_invocations: Annotated[int, _limits("max_invocations")] = 1
    allow: tuple[ShortText, ...] = ()
    deny: tuple[ShortText, ...] = ()
    inferred: bool = False
    phase: Literal["work", "validate"] = "work"
    source: Lines | None = None
    """Null for a step that was imported or made by a program."""
    from_: Path | None = None
    """The file or directory that the step copies or moves to its target."""
    overwrite: bool = False
    """Whether a file at the target is overwritten."""
    replacement: Replacement | None = None
    files: tuple[Path, ...] = ()
    """The files that the step replaces text in, copies or moves, as far as an approval binds them; empty in a document."""

    @property
    def finds_files(self) -> bool:
        """Whether the step works on files that it does not name one by one."""
        return self.replacement is not None or self.from_ is not None

    @property
    def without_place(self) -> Step:
        """The step without what says where it is in the plan, and which files it found."""
        return self.model_copy(update={"number": 1, "source": None, "files": ()})


_LATER_FIELDS: Final = {"from": None, "overwrite": False, "replacement": None}
"""Fields that documents of early versions lack, with their values then."""


class Intent(Model):
    """The purpose of the execution plan, and its overall risk."""

    summary: ShortText
    category: Annotated[str, field_patterns.CATEGORY, Meta(max_length=64)]
    """The kind of work; a compiled plan has `commands`, `files`, `packages` or `mixed`."""
    risk_level: Level


class Constraints(Model):
    """Limits for the whole execution plan."""

    max_steps: Annotated[int, _limits("max_steps")] = 100
    max_duration_s: Annotated[int, _limits("max_duration_s")] | None = None
    require_sequential: bool = False
    allow_unplanned: bool = False
    forbidden_paths: tuple[Path, ...] = ()
    forbidden_commands: tuple[ShortText, ...] = ()


class Revision(Model):
    """An earlier revision: why it was replaced, and which of its steps had completed or failed."""

    revision: Number
    sha256: Digest
    """SHA-256 of the bytes of the earlier document."""
    reason: ShortText
    completed_steps: tuple[Number, ...] = ()
    failed_steps: tuple[Number, ...] = ()
    new_information: dict[str, Any] = field(default_factory=dict)


class Metadata(Model):
    """Information that does not affect any step."""

    history: tuple[Revision, ...] = ()
    """The earlier revisions, oldest first."""
    context: dict[str, Any] = field(default_factory=dict)
    """Any data that the author of the document wants to keep."""


class ExecutionPlan(Model):
    """A complete execution plan: its steps, constraints and metadata."""

    document_name: ClassVar[str] = "execution-plan"

    schema_: Literal["execplan-execution-plan"] = SCHEMA
    version: Version = VERSION
    plan_id: PlanId
    revision: Number = 1
    source: Source | None = None
    """Null for a document that was not compiled from a plan."""
    description: ShortText
    mode: Literal["engine", "agent"] = "engine"
    intent: Intent
    steps: Annotated[tuple[Step, ...], Meta(min_length=1, max_length=1000)]
    constraints: Constraints = Constraints()
    metadata: Metadata = Metadata()

    @property
    def finds_files(self) -> bool:
        """Whether a step works on files that it does not name one by one."""
        return any([step.finds_files for step in self.steps])

    @property
    def selected_tools(self) -> list[str]:
        """Return the tools that the steps call, in order."""
        return [step.tool for step in self.steps]

    @property
    def reasoning(self) -> str:
        """Return how the steps follow from the selected tools, for prompts."""
        return f"Sequential execution of {len(self.selected_tools)} selected tools"

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> Sequence[Violation]:
        """Return the violations of the rules in `plan_rules`."""
        return document_rules.plan_violations(value)

    def model_dump(self) -> dict[str, Any]:
        """Omit the files that an approval binds, and empty fields that older documents lack, so that their bytes stay the same."""
        fields = super().model_dump()
        for step in fields["steps"]:
            del step["files"]
            for name, absent in _LATER_FIELDS.items():
                if step[name] == absent:
                    del step[name]
        return fields

    def ensure_safe(self, label: str) -> None:
        """Raise ExecplanError if a text that the steps run or touch contains hidden characters."""
        ensure_nothing_hidden(label, step_texts([step.model_dump() for step in self.steps]))
