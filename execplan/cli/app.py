"""The command line: a command group that loads each command's module on demand."""

from __future__ import annotations

import signal
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from execplan import __version__
from execplan.cli.answer import Call
from execplan.cli.command_definition import COMMON_OPTIONS, as_option, change_directory, write_command_section
from execplan.cli.commands import COMMAND_GROUPS, COMMANDS
from execplan.cli.error_handler import Terminated, run_with_error_handling
from execplan.errors import OK, USAGE, ExecplanError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
FIRST_STEPS = (
    "execplan init",
    'execplan new "Build the parser" --task "Read lines" --task "Write the tests"',
    "execplan next",
    "execplan done 1",
    "execplan explain",
)


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit status."""
    as_json = "--json" in arguments or "--jsonl" in arguments
    kind = next((argument for argument in arguments if argument in COMMANDS), "execplan")
    signal.signal(signal.SIGTERM, _raise_terminated)
    return run_with_error_handling(lambda: _run_command_group(arguments), as_json=as_json, kind=kind)


def _run_command_group(arguments: list[str]) -> int:
    try:
        status = group.main(arguments, prog_name="execplan", standalone_mode=False)
    except click.UsageError as error:
        raise _usage_error(error) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        raise ExecplanError("usage", error.format_message(), exit=USAGE) from None
    return status if isinstance(status, int) else OK


def _usage_error(error: click.UsageError) -> ExecplanError:
    """Convert a usage error of click into an error with a hint."""
    command_path = error.ctx.command_path if error.ctx is not None else "execplan"
    message = error.format_message().replace("\n", " ")
    hint = f"see {command_path} --help"
    takes_text = _takes_text(error.ctx)
    if isinstance(error, click.NoSuchOption) and takes_text:
        hint += "; put -- before text that starts with a hyphen"
    if "extra argument" in message and takes_text:
        hint += "; put text with spaces in quotes, and name the plan with -p"
    return ExecplanError("usage", message, exit=USAGE, hint=hint)


def _takes_text(ctx: click.Context | None) -> bool:
    """Return whether a command takes free text, which may lack its quotes."""
    return ctx is not None and any([param.name in ("text", "title", "request") for param in ctx.command.params])


def _raise_terminated(number: int, frame: object) -> NoReturn:
    raise Terminated


class LazyCommandGroup(click.Group):
    """A group of commands in which each command has its own module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names in the order of the groups."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command with a name, or return None."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"execplan.cli.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command named by the first argument; for an unknown name, the error suggests similar ones."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from execplan.text.suggestions import closest_names

            close_matches = sorted(closest_names(args[0], COMMANDS), key=lambda name: name[0] != args[0][0])
            hint = f" Did you mean {' or '.join(map(repr, close_matches))}?" if close_matches else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names without loading the commands."""
        from click.shell_completion import CompletionItem

        candidates = [CompletionItem(name, help=line) for name, line in COMMANDS.items() if name.startswith(incomplete)]
        return candidates + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List each command with a one-line summary, without loading the commands."""
        for name, commands in COMMAND_GROUPS.items():
            with formatter.section(name):
                formatter.write_dl(list(commands.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first steps for new users."""
        write_command_section(formatter, "First steps", FIRST_STEPS)


@click.group(
    cls=LazyCommandGroup,
    params=[*COMMON_OPTIONS, as_option()],
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context, /, **flags: Any) -> None:
    """Living plans in a repository: write them, check them, keep them true, file them.

    A plan is a markdown file that a person or an agent can pick up cold and carry to the end.
    """
    actor = flags.pop("actor")
    if actor is not None:
        from execplan.plan_store.author import ActingAs

        ctx.with_resource(ActingAs(actor))
    ctx.obj = Call(**flags)
    if flags["folder"]:
        change_directory(flags["folder"])
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
