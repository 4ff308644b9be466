"""Extraction of a planned command from a compound command.

The commands before and after it only read, and its output is only discarded, joined or filtered. For example, `cd sub
&& make test 2>&1 | tail -50; echo $?` runs `make test` in `sub` and changes nothing else.
"""

from __future__ import annotations

import os

from execplan.agents.guard.path_resolution import is_unambiguous
from execplan.agents.guard.read_policy import decide_read
from execplan.core.named_tuple import NamedTuple
from execplan.execution.permission import ALLOW
from execplan.execution.shell.command_table import READS_ALL_INPUT
from execplan.execution.shell.reading_commands import find_command_reads
from execplan.execution.shell.shell_parser import ShellParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.guard_context import GuardScope
    from execplan.agents.guard.tool_call import ToolCall
    from execplan.execution.shell.simple_command import SimpleCommand

_MAX_CHARS = 20_000
_PIPES = ("|",)
"""Pipe operators that are supported; `|&` and `&>` have other meanings in some shells."""
_JOINS = frozenset(("&&", "||", ";", "\n", *_PIPES))
_OUTPUT_REDIRECTS = (">", ">>")
_FILTERS = frozenset((*READS_ALL_INPUT, "sed"))
"""Programs that read all of their input; a program that stops earlier also stops the command that writes to it."""
_STOPPING_FLAGS = frozenset("qmlLr")
_STOPPING_OPTIONS = ("--q", "--si", "--m", "--f", "--r")
"""Flags with which `grep` stops at the first match or reads files instead of its input."""
_HARMLESS_SETS = frozenset(("-e", "-u", "-o pipefail", "-eo pipefail", "-eu", "-euo pipefail"))
_STATUS_VARIABLES = frozenset(("$?", "${PIPESTATUS[0]}"))


class CoreCommand(NamedTuple):
    """The core of a compound command, or the reason why there is none."""

    command: str = ""
    """Command that does more than read, with a leading `cd`; empty if it is ambiguous or if nothing surrounds it."""
    reason: str = ""
    """Reason why the core command is ambiguous, or empty."""


class _PipedCommand(NamedTuple):
    """A simple command within a compound command."""

    text: str
    """Text of the command without redirections."""
    argv: tuple[str, ...]
    joiner: str
    """Operator before the command."""


class CompoundReader(ShellParser):
    """Parser that records each simple command as it was typed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.piped_commands: list[_PipedCommand] = []
        self.unsupported = ""
        self.has_redirects = False
        self._joiner = ""
        self._redirect_spans: list[tuple[int, int]] = []
        self._redirect_start, self._descriptor = 0, ""

    def _read_separator(self, char: str) -> str:
        mark = super()._read_separator(char)
        if mark not in _JOINS or (mark != "\n" and (self._joiner or not self.piped_commands)):
            self.unsupported = self.unsupported or f"`{mark}`"
        self._joiner = self._joiner or mark
        return mark

    def _parse_simple_command(self, upstream: tuple[str, ...]) -> list[SimpleCommand]:
        start, raw_count, self._redirect_spans = self.position, len(self.raw_commands), []
        simple_commands = super()._parse_simple_command(upstream)
        if len(self.raw_commands) == raw_count:
            self._handle_keywords()
            return simple_commands
        if not self.raw_commands[-1][0]:
            self.reject("a command without a program")
            return simple_commands
        text, at = "", start
        for begin, end in self._redirect_spans:
            text, at = f"{text}{self.text[at:begin]} ", end
        text = (text + self.text[at : self.position]).strip(" \t")
        self._record_piped_command(text, self.raw_commands[-1][0])
        return simple_commands

    def _handle_keywords(self) -> None:
        """Handle a part without a command, such as `done`."""
        self.reject("a part without a program")

    def _record_piped_command(self, text: str, argv: tuple[str, ...]) -> None:
        """Record a simple command with its text without redirections."""
        self.piped_commands.append(_PipedCommand(text, argv, self._joiner))
        self._joiner = ""

    def reject(self, reason: str) -> None:
        """Record the first part of the text that is not supported."""
        self.unsupported = self.unsupported or reason

    def _match_redirection(self) -> str:
        start = self.position
        mark = super()._match_redirection()
        if mark:
            self._redirect_start, self._descriptor = start, self.text[start : self.position]
        return mark

    def _parse_redirection(
        self,
        operator: str,
        writes: list[str],
        reads: list[str],
        piped_from: list[str],
        commands: list[SimpleCommand],
    ) -> None:
        start, descriptor, target_start = self._redirect_start, self._descriptor, self.position + len(operator)
        super()._parse_redirection(operator, writes, reads, piped_from, commands)
        target = self.text[target_start : self.position].strip(" \t")
        is_output = descriptor in ("", "1", "2") and (
            (operator in _OUTPUT_REDIRECTS and target == "/dev/null") or (operator == ">&" and target in ("1", "2"))
        )
        if not is_output and not (operator == "<" and target == "/dev/null" and descriptor in ("", "0")):
            self._reject_redirection(descriptor, operator, target)
        self.has_redirects = True
        self._redirect_spans.append((start, self.position))

    def _reject_redirection(self, descriptor: str, operator: str, target: str) -> None:
        """Reject a redirection that reads or writes a file."""
        self.reject(f"`{descriptor}{operator}` to {target[:60]}")

    def _handle_reserved_word(self, text: str) -> list[SimpleCommand]:
        self.unsupported = self.unsupported or f"`{text}`"
        return super()._handle_reserved_word(text)

    def _parse_group(self, stop: str, upstream: tuple[str, ...] = ()) -> list[SimpleCommand]:
        self.unsupported = self.unsupported or "`(`"
        return super()._parse_group(stop, upstream)

    def parse_backticks(self) -> list[SimpleCommand]:
        """Return the commands between backticks."""
        self.unsupported = self.unsupported or "`` ` ``"
        return super().parse_backticks()


def extract_core_command(call: ToolCall, scope: GuardScope, read_policy: str) -> CoreCommand:
    """Return the command of a call without the commands around it; `read_policy` is the policy for reading."""
    if len(call.command) > _MAX_CHARS:
        return CoreCommand()
    reader = CompoundReader(call.command.strip(" \t\n"))
    reader.parse_commands()
    if problem := reader.problem or reader.unsupported:
        return CoreCommand(reason=problem if len(reader.piped_commands) > 1 or reader.has_redirects else "")
    piped_commands = reader.piped_commands
    if len(piped_commands) > 1 and _stays_in_directory(piped_commands[0], piped_commands[1].joiner, call.cwd):
        piped_commands = [piped_commands[1]._replace(joiner=""), *piped_commands[2:]]
        if len(piped_commands) == 1 and not reader.has_redirects:
            return CoreCommand(piped_commands[0].text)
    if len(piped_commands) > 1 and piped_commands[0].argv[0] == "cd" and piped_commands[1].joiner == "&&":
        cd_commands = piped_commands[:1]
    else:
        cd_commands = []
    remaining = piped_commands[len(cd_commands) :]
    if len(remaining) == 1 and not reader.has_redirects and not reader.text.endswith(";"):
        return CoreCommand()
    cd_prefix = f"{cd_commands[0].text} && " if cd_commands else ""
    reasons = [_side_effect_reason(piped_command, call, cd_prefix, scope, read_policy) for piped_command in remaining]
    core_indexes = [at for at, reason in enumerate(reasons) if reason]
    if len(core_indexes) != 1:
        programs = " and ".join([f"`{remaining[at].argv[0]}`" for at in core_indexes[:2]])
        return CoreCommand(
            reason=f"{programs} do more than read, and a call can run only one step" if core_indexes else ""
        )
    return _check_core(remaining, core_indexes[0], cd_prefix)


def _stays_in_directory(piped_command: _PipedCommand, joiner: str, cwd: str) -> bool:
    """Check whether a command is a `cd` into the directory where it already is, so that it may also fail."""
    argv = piped_command.argv
    if joiner not in (";", "\n") or argv[0] != "cd" or len(argv) != 2 or not argv[1].startswith("/"):
        return False
    return is_unambiguous(argv[1]) and os.path.realpath(argv[1]) == os.path.realpath(cwd)


def _check_core(piped_commands: Sequence[_PipedCommand], core_index: int, cd_prefix: str) -> CoreCommand:
    """Return the command that does more than read, if the commands around it do not affect it."""
    if piped_commands[core_index].joiner in _PIPES:
        return CoreCommand(reason="it reads the output of another command")
    if cd_prefix and any(
        [piped_command.joiner not in ("&&", *_PIPES) for piped_command in piped_commands[: core_index + 1]]
    ):
        return CoreCommand(reason="it would run in another directory if `cd` fails")
    for piped_command in piped_commands[core_index + 1 :]:
        if piped_command.joiner not in _PIPES:
            break
        if reason := early_exit_reason(piped_command.argv):
            return CoreCommand(reason=reason)
    return CoreCommand(cd_prefix + piped_commands[core_index].text)


def _side_effect_reason(
    piped_command: _PipedCommand, call: ToolCall, cd_prefix: str, scope: GuardScope, read_policy: str
) -> str:
    """Return why a command does more than read or print; empty if it does not."""
    name, args = piped_command.argv[0], piped_command.argv[1:]
    if name == "echo" and prints_status(piped_command.text, args):
        return ""
    if name == "set" and " ".join(args) in _HARMLESS_SETS:
        return ""
    if piped_command.joiner in _PIPES and not early_exit_reason(piped_command.argv):
        return ""
    for text in dict.fromkeys(
        (piped_command.text, cd_prefix + piped_command.text)
    ):  # the directory after `cd` may matter as well
        read_decision = decide_read(call._replace(command=text), scope, read_policy)
        if read_decision.kind != ALLOW:
            return read_decision.reason or "it does more than read"
    return ""


def prints_status(text: str, args: Sequence[str]) -> bool:
    """Check whether `echo` prints only text and the exit status of a command."""
    variable_args = [arg for arg in args if "$" in arg]
    if not variable_args or "`" in text or "\\" in text or "'" in text:
        return False
    for variable in _STATUS_VARIABLES:
        text = text.replace(variable, "0")
    reader = ShellParser(text)
    return (
        bool(reader.parse_commands())
        and not reader.problem
        and not reader.shell_reason
        and len(reader.raw_commands) == 1
    )


def early_exit_reason(argv: Sequence[str]) -> str:
    """Return why a program may stop before it has read all piped input; empty if it does not."""
    name, args = argv[0], argv[1:]
    if name not in _FILTERS:
        if name == "head":
            return f"`{name}` may exit early and so stop the command that writes to it; `tail` doesn't"
        return f"`{name}` after a pipe may do more than read"
    if name in ("grep", "egrep", "fgrep"):
        flag_letters = {char for arg in args if arg[:1] == "-" and arg[:2] != "--" for char in arg}
        if flag_letters & _STOPPING_FLAGS or any([arg.startswith(_STOPPING_OPTIONS) for arg in args]):
            return f"`{name}` may exit early and so stop the command that writes to it"
    return "" if find_command_reads(argv) == () else f"`{name}` after a pipe is not allowed to read anything else"
