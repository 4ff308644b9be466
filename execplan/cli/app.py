"""The command line: a command group that loads each command's module on demand."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Call
from execplan.cli.command_definition import COMMON_OPTIONS, as_option, change_directory, defined_commands
from execplan.cli.commands import COMMAND_GROUPS, COMMANDS, EVERYDAY_COMMANDS, MODULES, NOT_ON_WINDOWS
from execplan.cli.help_format import HelpContext, write_command_section
from execplan.core.errors import OK, usage_error

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from execplan.cli.command_definition import ExecplanCommand

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_ALL_COMMANDS = "execplan.all_commands"
"""Key in the context of click: whether the help lists all commands and options."""
_EVERYDAY_OPTIONS = ("--version", "--help", "--help-all")
FIRST_STEPS = (
    "execplan init",
    'execplan new "Build the parser" --task "Read lines" --task "Write the tests"',
    "execplan next",
    "execplan done 1",
)


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit status. Raises ExecplanError."""
    try:
        status = group.main(arguments, prog_name="execplan", standalone_mode=False)
    except UnknownCommandError as error:
        raise usage_error(error.message, error.hint, candidates=error.candidates) from None
    except click.UsageError as error:
        from execplan.cli.usage_errors import convert_usage_error

        raise convert_usage_error(error, _command_path(arguments)) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        raise usage_error(error.format_message()) from None
    return status if isinstance(status, int) else OK


def _command_path(arguments: list[str]) -> str:
    """Return the command whose help explains a usage error: the first one that the arguments name."""
    return " ".join(["execplan", *[argument for argument in arguments if argument in COMMANDS][:1]])


class UnknownCommandError(click.UsageError):
    """The error for an unknown command, with the commands that may be meant."""

    def __init__(self, name: str, ctx: click.Context) -> None:
        from execplan.cli.command_synonyms import describe_commands, suggest_commands

        super().__init__(f"unknown command {name!r}", ctx)
        suggestions = suggest_commands(name)
        self.candidates = describe_commands(suggestions)
        self.hint = "list all commands: execplan --help-all"
        if len(suggestions) == 1:
            self.hint = f"use this command, or {self.hint}"
        elif suggestions:
            self.hint = f"use one of these commands, or {self.hint}"


def load_command(name: str) -> ExecplanCommand:
    """Return a command; its module is imported only now."""
    if sys.platform == "win32" and name in NOT_ON_WINDOWS:
        from execplan.core.files.windows_process import windows_error

        raise windows_error(name)
    if name not in defined_commands:
        import_module(f"execplan.cli.commands.{MODULES.get(name, name)}")
    return defined_commands[name]


class LazyCommandGroup(click.Group):
    """A group of commands in which each command has its own module."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names in the order of the groups."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command with a name, or return None."""
        if cmd_name == "help":
            return help_command
        if cmd_name not in COMMANDS:
            return None
        return load_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command named by the first argument; the error for an unknown name suggests commands."""
        if (
            args
            and not args[0].startswith("-")
            and not ctx.resilient_parsing
            and self.get_command(ctx, args[0]) is None
        ):
            raise UnknownCommandError(args[0], ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names without loading the commands."""
        from click.shell_completion import CompletionItem

        candidates = [CompletionItem(name, help=line) for name, line in COMMANDS.items() if name.startswith(incomplete)]
        return candidates + click.Command.shell_complete(self, ctx, incomplete)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, then the options: all of them, or only the everyday ones."""
        self.format_commands(ctx, formatter)
        with formatter.section("Options"):
            formatter.write_dl(
                [
                    record
                    for param in self.get_params(ctx)
                    if (ctx.meta.get(_ALL_COMMANDS) or param.opts[-1] in _EVERYDAY_OPTIONS)
                    and (record := param.get_help_record(ctx))
                ]
            )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List each command with a one-line summary, without loading the commands."""
        for group_name, commands in COMMAND_GROUPS.items():
            rows = [
                (name, line)
                for name, line in commands.items()
                if ctx.meta.get(_ALL_COMMANDS) or name in EVERYDAY_COMMANDS
            ]
            if rows:
                with formatter.section(group_name):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first steps for new users."""
        write_command_section(formatter, "First steps", FIRST_STEPS)


def _print_all_help(ctx: click.Context, param: click.Parameter | None, value: bool) -> None:
    """Print the help with all commands and options, if requested, and exit."""
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL_COMMANDS] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the version, if requested, and exit; in a checkout, with what it has beyond the last release."""
    if value and not ctx.resilient_parsing:
        from execplan.cli.version_text import full_version

        click.echo(f"execplan {full_version()}")
        ctx.exit()


@click.command("help")
@click.argument("command_name", metavar="[COMMAND]", required=False)
@click.option("--all", "all_commands", is_flag=True, help="Show all commands and options.")
@click.pass_context
def help_command(ctx: click.Context, command_name: str | None, all_commands: bool) -> None:
    """Show the help of execplan or of a command."""
    root = ctx.find_root()
    _print_all_help(root, None, all_commands)
    if command_name is None or command_name == "help":
        click.echo(root.get_help())
        return
    _, command, _ = group.resolve_command(root, [command_name])
    assert command is not None
    with HelpContext(command, info_name=command_name, parent=root) as command_ctx:
        click.echo(command.get_help(command_ctx))


@click.group(
    cls=LazyCommandGroup,
    params=[
        *COMMON_OPTIONS,
        as_option(),
        click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_all_help,
            help="Show all commands, including those that run plans, and exit.",
        ),
    ],
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def group(ctx: click.Context, /, **flags: Any) -> None:
    """Plan work in Markdown files that people and agents can resume."""
    actor = flags.pop("actor")
    if actor is not None:
        from execplan.core.plan_store.author import ActingAs

        ctx.with_resource(ActingAs(actor))
    ctx.obj = Call(**flags)
    if flags["folder"]:
        change_directory(flags["folder"])
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
