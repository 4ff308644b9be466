"""Detection of commands that do not end on their own: servers, watchers, pagers, editors and prompts for input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.shell import command_table

UNTIL_STOPPED: Final = "runs until it is stopped, or waits for input"
NEVER_ENDS: Final = "runs until it is stopped: a step with `service` can start it"
IN_BACKGROUND: Final = "runs in the background, and nothing would stop it"
_LOCAL_SERVER = lazy_pattern(r"\blocalhost\b|127\.0\.0\.1|0\.0\.0\.0|\[::1\]")
_LONG_RUNNING_SCRIPT = lazy_pattern(
    r"^(?:dev|start|serve|server|watch|preview|storybook|develop|up|studio|repl|shell|console|run-dev|runserver)(?=$|[:_.-])|[:_.-](?:dev|watch|serve|start)$"
)
_FINITE_SCRIPT = lazy_pattern(r"[:_.-](?:build|test|lint|check|typecheck|compile|generate|ci)$")
"""Scripts that are named after a server, and only build or check it."""
_ENDLESS_COMMAND = lazy_pattern(f"(?:{command_table.RUNS_UNTIL_STOPPED})")
_ENDLESS_COMMAND_ALONE = lazy_pattern(f"{command_table.STARTS_SERVER}|{command_table.RUNS_UNTIL_STOPPED_ALONE}")
"""Commands that do not end, except as tools that a runner starts."""
_INTERACTIVE_COMMAND = lazy_pattern(f"(?:{command_table.WAITS_FOR_INPUT})")
_WATCH_FLAG = lazy_pattern(
    r"\s--watch(?:All|-all)?(?=$|\s)|\s--ui(?=$|\s)|\s--open(?=$|\s)|\s--interactive(?=$|\s)|\s--debug-brk"
)
_COMMAND_SEPARATOR = lazy_pattern(r"\|\||&&|[;|]|(?<![>&])&(?![>&])")
_BACKGROUND_OPERATOR = lazy_pattern(r"(?<![>&|])&\s*(?:$|[^&>\d\s])")
_DETACHED_COMMAND = lazy_pattern(command_table.STARTS_DETACHED)
_PIPED_INTERPRETER = lazy_pattern(r"(?<!\|)\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|node|ruby|perl)\s*(?=$|[;&|])")
"""Interpreter that reads the output of another command, and ends with it."""
_RUNNER_SUBCOMMANDS = frozenset("run exec x dlx".split())
_COMMAND_PREFIXES = frozenset((*command_table.COMMAND_PREFIXES, "do", "then"))
_QUICK_FLAGS = frozenset("-d --detach --help --version -h".split())


def starts_detached(line: str) -> bool:
    """Return whether a line visibly starts something in the background and returns at once."""
    return _DETACHED_COMMAND.match(line) is not None


def uses_local_server(line: str) -> bool:
    """Return whether a line connects to a program on this machine."""
    return bool(_LOCAL_SERVER.search(line))


def find_blocking_reason(masked_line: str) -> str:
    """Return why a line, with quotes masked, does not end, runs in the background or asks for input, or empty text."""
    if _BACKGROUND_OPERATOR.search(masked_line):
        return IN_BACKGROUND
    if _WATCH_FLAG.search(masked_line):
        return UNTIL_STOPPED
    masked_line = _PIPED_INTERPRETER.sub(" ", masked_line)
    for command in split_line_commands(masked_line):
        if (
            _ENDLESS_COMMAND.match(command)
            or _ENDLESS_COMMAND_ALONE.match(command)
            or _is_long_running_script(command.split())
        ):
            return UNTIL_STOPPED
        if _INTERACTIVE_COMMAND.match(command):
            return "asks for input"
    return ""


def _is_long_running_script(argv: list[str]) -> bool:
    """Return whether a script runner starts a long-running script or tool: `npm run dev`, `npx vite`."""
    if not argv or argv[0] not in command_table.TASK_RUNNERS:
        return False
    arguments = [word for word in argv[1:] if word[0] != "-" and word not in _RUNNER_SUBCOMMANDS]
    if not arguments or not _QUICK_FLAGS.isdisjoint(argv):
        return False
    if _FINITE_SCRIPT.search(arguments[0]) or (
        len(arguments) > 1 and arguments[0] == "storybook" and arguments[1] == "build"
    ):
        return False
    return _LONG_RUNNING_SCRIPT.search(arguments[0]) is not None or (
        argv[0] in command_table.TOOL_RUNNERS and _ENDLESS_COMMAND.match(" ".join(arguments)) is not None
    )


def split_line_commands(masked_line: str) -> Iterator[str]:
    """Yield the commands of a line without their prefixes: variables, `sudo`, `env`, `time`."""
    for segment in _COMMAND_SEPARATOR.split(masked_line):
        tokens = segment.replace("(", " ").replace(")", " ").split()
        while tokens and ("=" in tokens[0] or tokens[0] in _COMMAND_PREFIXES):
            tokens = tokens[1:]
        yield "" if tokens[:1] == ["timeout"] else " ".join(tokens)
