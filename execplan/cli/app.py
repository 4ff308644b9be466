"""The command line: a group that loads a verb's file when the verb is called."""

from __future__ import annotations

import signal
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from execplan import __version__
from execplan.cli.answer import Call
from execplan.cli.door import Terminated, behind
from execplan.cli.verb import COMMON, as_option, change_folder, write_commands
from execplan.cli.verbs import GROUPS, VERBS
from execplan.errors import OK, USAGE, ExecplanError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
FIRST_STEPS = (
    "execplan init",
    'execplan new "Build the parser" --task "Read lines" --task "Write the tests"',
    "execplan next",
    "execplan done 1",
    "execplan explain",
)


def run(arguments: list[str]) -> int:
    """Run a command line; its exit status."""
    as_json = "--json" in arguments or "--jsonl" in arguments
    kind = next((each for each in arguments if each in VERBS), "execplan")
    signal.signal(signal.SIGTERM, _terminate)
    return behind(lambda: _run(arguments), as_json=as_json, kind=kind)


def _run(arguments: list[str]) -> int:
    try:
        status = group.main(arguments, prog_name="execplan", standalone_mode=False)
    except click.UsageError as error:
        raise _usage(error) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        raise ExecplanError("usage", error.format_message(), exit=USAGE) from None
    return status if isinstance(status, int) else OK


def _usage(error: click.UsageError) -> ExecplanError:
    """A refusal of how the command was written."""
    verb = error.ctx.command_path if error.ctx is not None else "execplan"
    message = error.format_message().replace("\n", " ")
    hint = f"see {verb} --help"
    takes_text = _takes_words(error.ctx)
    if isinstance(error, click.NoSuchOption) and takes_text:
        hint += "; put -- before text that begins with a dash"
    if "extra argument" in message and takes_text:
        hint += "; put text with spaces in quotes, and name the plan with -p"
    return ExecplanError("usage", message, exit=USAGE, hint=hint)


def _takes_words(ctx: click.Context | None) -> bool:
    """Whether a verb takes words that may have been left without quotes."""
    return ctx is not None and any([each.name in ("text", "title", "request") for each in ctx.command.params])


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated


class Verbs(click.Group):
    """The verbs by group, each in a file of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every verb, in the order of the groups."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of that name."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"execplan.cli.verbs.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the arguments begin with; for an unknown one the nearest is named."""
        if args and args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, n=3, cutoff=0.6)
            near.sort(key=lambda name: name[0] != args[0][0])
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise click.UsageError(f"There is no verb {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs that begin so, without loading them."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=line) for name, line in VERBS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with a line each, without loading them."""
        for name, verbs in GROUPS.items():
            with formatter.section(name):
                formatter.write_dl(list(verbs.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """How to begin."""
        write_commands(formatter, "First steps", FIRST_STEPS)


@click.group(cls=Verbs, params=[*COMMON, as_option()], context_settings=SETTINGS, invoke_without_command=True)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context, /, **given: Any) -> None:
    """Living plans in a repository: write them, check them, keep them true, file them.

    A plan is a markdown file that a person or an agent can pick up cold and carry to the end.
    """
    actor = given.pop("actor")
    if actor is not None:
        from execplan.repo.author import ActingAs

        ctx.with_resource(ActingAs(actor))
    ctx.obj = Call(**given)
    if given["folder"]:
        change_folder(given["folder"])
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
