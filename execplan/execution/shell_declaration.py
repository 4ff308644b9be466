"""How a step declares the shell that its command needs, and what to write into the plan for it."""

from __future__ import annotations

from typing import Final

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.shell.command_line import parse_command

PIPEFAIL: Final = "set -o pipefail"
BASH: Final = "bash"
_QUOTED = lazy_pattern(r"""(?<!\$)'[^']*'|(?<!\$)"(?:\\.|[^"\\])*"|\\.""")
_BASH_SYNTAX = lazy_pattern(
    r"(?:^|[\s;&|(])(?:source|pushd|popd|shopt|declare|function|mapfile|let)\s|\[\[|[<>]\(|<<<|&>|\|&|\$'|=\(|"
    r"pipefail|\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}"
)
"""Syntax that POSIX shells don't have, such as dash, which is `sh` on many systems."""
_PIPE_INTO_TEE = lazy_pattern(r"(?<!\|)\|&?\s*(?:\w+=\S*\s+)*tee(?:\s[^|;&]*(?:2?>&\d[^|;&]*)?)?$")


def shell_use(command: str) -> str:
    """Return what a command uses that needs a shell, such as `&&`, or an empty string."""
    command_line = parse_command(command)
    return command_line.shell_reason if command_line.argv is None and not command_line.problem else ""


def needs_bash(command: str) -> bool:
    """Return whether a command uses syntax that `sh` may not have."""
    return hides_failure(command) or _BASH_SYNTAX.search(_QUOTED.sub("''", command)) is not None


def hides_failure(command: str) -> bool:
    """Return whether a command pipes its output into `tee`, whose exit status hides that of the command."""
    return _PIPE_INTO_TEE.search(_QUOTED.sub("''", command).strip()) is not None and PIPEFAIL not in command


def shell_fix(command: str, *, is_inferred: bool = False, is_alone: bool = True) -> str:
    """Return the edit of the plan after which a command can run in a shell.

    `is_alone` is whether the command is the only one of its code block. Otherwise it needs a code block of its own:
    the attribute makes the whole block one script, which continues after a line that fails.
    """
    attribute = f"shell={BASH}" if needs_bash(command) else "shell"
    if is_inferred:
        return f"`execplan compile --annotate` writes it with the attribute `{attribute}`"
    pipefail = f" and the line `{PIPEFAIL}` above it, or `tee` hides a failure" if hides_failure(command) else ""
    if is_alone:
        return f"add `{attribute}` to the attributes of its code block{pipefail}, or run `execplan compile --annotate`"
    return f"move it to a code block of its own, with the attribute `{attribute}`{pipefail}"
