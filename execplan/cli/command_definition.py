"""Definition of commands: their options, their invocation, and the options that many of them share."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call, print_answer
from execplan.cli.error_handler import printable_line
from execplan.cli.help_format import HelpContext, write_command_section
from execplan.cli.option_rules import OptionRule, ensure_compatible, join_options
from execplan.cli.plan_arguments import PLAN_FLAG, resolve_plan_name, set_aside_leading, takes_leading_plan
from execplan.cli.plan_hints import denied_commands, fit_plan_names, name_plan
from execplan.core import features, trace
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.files.file_lock import DEFAULT_TIMEOUT
from execplan.core.plan_store import implied_plan, plan_selection
from execplan.core.plan_store.hint_reader import fit_hint
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem


class ExecplanCommand(click.Command):
    """A command whose function takes a Call and returns an Answer."""

    context_class = HelpContext
    finishes_moves: bool
    """Whether an interrupted move is finished before the command."""
    may_page: bool
    """Whether long text is shown in a pager on a terminal; never for a command that hooks run."""
    takes_excluded_words: bool
    """Whether `-word` is text, unless its letters are those of options."""
    reads = ""
    writes = ""
    examples: tuple[str, ...] = ()
    option_rules: tuple[OptionRule, ...] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments that begin with a hyphen, such as `- [ ] a task`, as text if no option can look like them."""
        ctx.meta["execplan.typed_command"] = ("execplan", ctx.info_name, *args)  # for hints
        ctx.allow_extra_args = takes_leading_plan(self)
        try:
            super().parse_args(
                ctx, [_TEXT_MARKER + argument if self._is_text(argument) else argument for argument in args]
            )
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # the parser does not set it
            raise
        ctx.params = {name: _strip_marker(value) for name, value in ctx.params.items()}
        ctx.args = [_strip_marker(argument) for argument in ctx.args]
        if ctx.allow_extra_args:
            set_aside_leading(ctx)
        return ctx.args

    def _is_text(self, argument: str) -> bool:
        return _is_text(argument) or (self.takes_excluded_words and self._is_excluded_word(argument))

    def _is_excluded_word(self, argument: str) -> bool:
        """Return whether an argument is a hyphen and a word, which is neither `-qv`, several flags, nor `-Cdir`.

        `-parser` excludes a word, and `-p` is an option.
        """
        if argument[:1] != "-" or len(argument) < 3 or not argument[1].isalpha():
            return False
        options = {name[1]: option for option in self.params for name in option.opts if len(name) == 2}
        first = options.get(argument[1])
        may_be_word = first is None or first.name == "plan" or getattr(first, "is_flag", False)
        return may_be_word and not options.keys() >= {*argument[1:]}

    def invoke(self, ctx: click.Context) -> int:
        """Run the command, print its answer, and return the exit status."""
        parent_call = ctx.obj if isinstance(ctx.obj, Call) else Call()
        values = dict(ctx.params)
        call_options = {name: ctx.params.pop(name) for name in Call._fields}
        call = Call(*[call_options[name] or getattr(parent_call, name) for name in Call._fields])
        if ctx.params.get("jsonl"):
            call = call._replace(as_json=True)
        if call_options["folder"]:
            change_directory(call_options["folder"])
        if call.verbose:
            trace.add_listener(lambda line: print(f"execplan: {printable_line(line)}", file=sys.stderr))
        if ctx.params.get("if_match") is not None:
            hint = name_plan("see the digest: execplan show --json", ctx.params.get("plan") or "PLAN")
            require_digest("--if-match", ctx.params["if_match"], hint)
        if "commit" in ctx.params:
            from execplan.core.edits.plan_writer import WriteOptions

            ctx.params["options"] = WriteOptions(
                ctx.params.pop("commit"), ctx.params.pop("dry_run", False), ctx.params.pop("if_match", None)
            )
        if (actor := ctx.params.pop("actor", None)) is not None:
            from execplan.core.plan_store.author import ActingAs

            ctx.with_resource(ActingAs(actor))
        if (lock_timeout := ctx.params.pop("lock_timeout", None)) is not None:
            from execplan.core.files.file_lock import set_timeout

            set_timeout(lock_timeout)
        if self.finishes_moves:
            project_discovery.finish_moves()
        values["as_json"] = call.as_json
        return print_answer(self._run(ctx, call, values), call, self.name or "", may_page=self.may_page)

    def _run(self, ctx: click.Context, call: Call, values: dict[str, Any]) -> Answer:
        """Run the command and return its answer, which names the sticky plan if the command has written it.

        `values` are the values of all parameters.
        """
        implied_plan.selected.clear()
        plan_selection.named_by_path.clear()
        plan_selection.selected.clear()
        resolve_plan_name(ctx)
        ensure_compatible(ctx, self.option_rules, values | ctx.params)
        assert self.callback is not None
        try:
            answer: Answer = ctx.invoke(self.callback, call, **ctx.params)
        except ExecplanError as error:
            for warning, command in self._other_copies():
                error.warnings += (warning,)
                if (
                    command and error.code == "not-finished"
                ):  # it may be finished there; what else is wrong, is wrong there
                    error.hint = f"go on there: {command}"
            if error.hint and ctx.params.get("plan") and error.code not in _UNKNOWN_PLAN:
                error.hint = name_plan(error.hint, ctx.params["plan"])
            if error.hint:
                # now, while `--as` is known
                error.hint = fit_hint(fit_plan_names(call.folder)(error.hint), denied_commands())
            raise
        if implied_plan.selected and self.writes_plans:
            answer = answer._replace(text=f"{answer.text}\nin the sticky plan {implied_plan.selected[0].id}")
        for warning, command in self._other_copies():
            answer = answer._replace(warnings=(*answer.warnings, warning))
            answer = answer._replace(next_commands=(command,), work=None) if command else answer
        return answer

    def _other_copies(self) -> list[tuple[str, str]]:
        """Return a warning for each selected plan that is worked on in another worktree, and the command that leads there."""
        selected = [] if self.name in _COMMANDS_FOR_ALL_WORKTREES else plan_selection.selected.values()
        plans = [plan for plan in selected if os.path.isdir(f"{plan[0].git}/worktrees")]  # only the main one has it
        return features.load(features.OTHER_COPY)(plans, is_edit=self.writes_plans) if plans else []

    @property
    def writes_plans(self) -> bool:
        """Whether the command writes plans, and so takes a lock."""
        return any([param.name == "lock_timeout" for param in self.params])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command reads and writes, and its examples."""
        formatter.write_paragraph()
        formatter.write_text(f"Reads: {self.reads}")
        formatter.write_text(f"Writes: {self.writes}")
        write_command_section(formatter, "Examples", self.examples)


_UNKNOWN_PLAN = ("no-such-plan", "ambiguous-plan", "plan-deleted", "no-plan", "no-project")
"""Codes of errors after which suggested commands name no plan: the one that was named does not exist."""
_TEXT_MARKER = "\0"
"""Prefix that marks an argument as text; no process argument can contain this character."""


def _is_text(argument: str) -> bool:
    name = argument.lstrip("-").split("=", 1)[0]
    if not argument.startswith("-") or not name:
        return False
    return not name[0].isalnum() or (argument.startswith("--") and any([char.isspace() for char in name]))


def _strip_marker(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_strip_marker(element) for element in value])
    return value.removeprefix(_TEXT_MARKER) if isinstance(value, str) else value


_TASK_ARGUMENTS = ("task", "tasks")
"""Names of arguments that identify tasks; options with these names take a task's text."""

COMMON_OPTIONS = (
    click.Option(["-C", "folder"], metavar="DIR", help="Run as if started in DIR."),
    click.Option(["-q", "--quiet"], is_flag=True, help="Suppress everything except results and errors."),
    click.Option(["-v", "--verbose"], is_flag=True, help="Show what is read, locked and run."),
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document."),
)
"""Options accepted before or after the command name."""

_ADVISING_COMMANDS = ("board", "context", "evaluate", "handoff", "list", "prime", "review", "show", "status", "use")
"""Commands that write no plan, but whose result depends on the author."""
_COMMANDS_FOR_ALL_WORKTREES = ("next", "prime", "status", "worktree")
"""Commands that find the newest version of a plan in any worktree; the others are about the copy in the current one."""
_COMMANDS_WITH_OWN_AS = ("archive",)
"""Commands that write but use `--as` for something else; the author is given before the command name."""


def as_option() -> click.Option:
    """Create the `--as NAME` option, for each command that writes and for use before any command."""
    return click.Option(
        ["--as", "actor"], metavar="NAME", help="Act as NAME. Default: $EXECPLAN_AGENT, or your git name."
    )


defined_commands: dict[str, ExecplanCommand] = {}
"""The commands whose modules were imported, by name."""


def define_command(
    *,
    reads: str,
    writes: str,
    examples: tuple[str, ...],
    finishes_moves: bool = True,
    may_page: bool = False,
    takes_excluded_words: bool = False,
) -> Callable[[Callable[..., Answer]], ExecplanCommand]:
    """Turn a function into an execplan command with the common options."""

    def decorate(function: Callable[..., Answer]) -> ExecplanCommand:
        name = function.__name__.rstrip("_")
        command = click.command(name, cls=ExecplanCommand)(function)
        for param in command.params:
            if param.name in ("plan", "plans", PLAN_FLAG):
                param.type = _CompletedString("plan")
            elif param.name in _TASK_ARGUMENTS and isinstance(param, click.Argument):
                param.type = _CompletedString("task")
        if name in _ADVISING_COMMANDS or (command.writes_plans and name not in _COMMANDS_WITH_OWN_AS):
            command.params.append(as_option())
        command.params += COMMON_OPTIONS
        command.reads, command.writes, command.examples = reads, writes, examples
        command.option_rules = getattr(function, "option_rules", ())
        command.finishes_moves, command.may_page = finishes_moves, may_page
        command.takes_excluded_words = takes_excluded_words
        defined_commands[name] = command
        return command

    return decorate


def complete_with(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a shell completion callback for an argument or option: `shell_complete=complete_with("section")`."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        candidates: list[CompletionItem] = features.load(features.SHELL_COMPLETION)(kind, ctx, param, incomplete)
        return candidates

    return complete


class _CompletedString(click.types.StringParamType):
    """A string parameter type with shell completion for one kind of value."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the completion candidates for an incomplete value."""
        return complete_with(self._kind)(ctx, param, incomplete)


def require_digest(option: str, value: str, hint: str) -> None:
    """Raise ExecplanError unless the value of an option is a complete digest; a prefix is not enough."""
    if len(value) != 64 or value.strip("0123456789abcdefABCDEF"):
        raise usage_error(f"{option} requires a digest of 64 hex digits, not {value!r}", hint)


def _check_seconds(ctx: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Reject `nan`, which passes every range check because it is not less and not greater than any number."""
    if value is not None and value != value:
        raise click.BadParameter("nan is not a number of seconds.", ctx, option)
    return value


create_option = click.option(
    "--create", is_flag=True, help="Add the section if it is missing, at its place in the section order."
)
"""For a command that writes to a section."""
match_option = click.option("--if-match", metavar="DIGEST", help="Write only if the file's SHA-256 is DIGEST.")
"""For a command that writes to one plan."""
lock_option = click.option(
    "--lock-timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    callback=_check_seconds,
    help=f"Lock timeout in seconds (default: {DEFAULT_TIMEOUT:g}).",
)
"""For a command that writes."""
preview_option = click.option("--dry-run", is_flag=True, help="Show the changes and paths without writing them.")
commit_option = click.option("--commit/--no-commit", default=None, help="Commit the written files and nothing else.")
jsonl_option = click.option("--jsonl", is_flag=True, help="Print each record immediately as a line of JSON.")
"""For a command that reports its progress; the last line is the document of `--json`."""


writer_options = join_options(commit_option, preview_option, match_option, lock_option)
"""For a command that writes to a plan."""
new_options = join_options(commit_option, preview_option, lock_option)
"""For a command that creates files."""


def change_directory(directory: str) -> None:
    """Change the working directory; raises ExecplanError."""
    try:
        os.chdir(directory)
    except OSError as error:
        from execplan.core.files.file_access import file_error

        raise file_error(error, directory, "change the directory to") from None
