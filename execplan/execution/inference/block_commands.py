"""Commands of a code block, with continued lines joined, and comments and prompts removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.not_runnable import is_clear_command
from execplan.execution.inference.shell_line import is_continued, join_lines, mask_quotes, split_comment, strip_prompt
from execplan.execution.shell.shell_vocabulary import PROMPTS, SHELL_LANGUAGES

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.execution.inference.section_passages import Passage

_SHELL_CHANGES = (
    "export ",
    "source ",
    ". ",
    "conda activate",
    "mamba activate",
    "nvm use",
    "eval ",
    "alias ",
    "set ",
    "unset ",
    "pushd",
    "popd",
    "trap ",
    "ulimit",
    "umask",
    "shopt",
    "direnv",
)
_ENVIRONMENT_CHANGES = (
    "export PATH=",
    "source ",
    ". ",
    "conda activate",
    "mamba activate",
    "nvm use",
    "eval ",
    "direnv",
)
_HARMLESS_OPTIONS = ("set -e", "set -u", "set -x", "set -o pipefail")


_ASSIGNMENTS = lazy_pattern(r"(?:[A-Za-z_]\w*=(?:\$\([^()]*\)|[^\s;&|()]*)(?:\s+|;\s*|$))+")


class BlockLine(NamedTuple):
    """A command of a code block, with continued lines joined."""

    start: int
    end: int
    text: str
    comment: str
    """Comment after the command, or in the lines above it."""


def read_block_lines(passage: Passage, *, has_prompts: bool) -> list[BlockLine]:
    """Return the commands of a code block, with continued lines joined and comments removed."""
    block_lines: list[BlockLine] = []
    comment = ""
    at = 0
    while at < len(passage.lines):
        number, line = passage.lines[at]
        at += 1
        if has_prompts and not line.startswith(PROMPTS):
            continue
        line = strip_prompt(line)
        if not line:
            comment = ""
            continue
        if line.startswith("#"):
            comment = f"{comment} {line.lstrip('# ')}".strip()
            continue
        while at < len(passage.lines) and is_continued(line):
            line = join_lines(line, passage.lines[at][1].removeprefix("> ") if has_prompts else passage.lines[at][1])
            at += 1
        line, trailing_comment = split_comment(line)
        end = passage.lines[at - 1][0] + 1
        block_lines.append(BlockLine(number, end, line, f"{comment} {trailing_comment}".strip()))
        comment = ""
    return block_lines


def raw_block_lines(plan: ParsedPlan, passage: Passage) -> list[str]:
    """Return the lines of a block without the indentation of the block itself."""
    lines = [plan.text.lines[at].expandtabs(4) for at, _ in passage.lines]
    shift = (
        passage.fence.column
        if passage.fence is not None
        else min([_indentation(line) for line in lines if line.strip()], default=0)
    )
    return [line[min(shift, _indentation(line)) :].rstrip() for line in lines]


def read_output_after(plan: ParsedPlan, passage: Passage, line: int) -> list[str]:
    """Return the output in a transcript from a line to the next prompt."""
    output: list[str] = []
    for (at, text), raw in zip(passage.lines, raw_block_lines(plan, passage), strict=True):
        if at >= line:
            if text.startswith(PROMPTS):
                break
            output.append(raw)
    return output


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def is_command_in_block(line: str, passage: Passage, has_prompts: bool, near_commands: bool) -> bool:
    """Return whether a line of a block is a command, by its words, or by the block's language and nearby lines."""
    if has_prompts or is_clear_command(line, is_called_command=near_commands) or line.startswith("cd "):
        return True
    return passage.language in SHELL_LANGUAGES and line[:1] not in "[{<|>+-*" and not line[:1].isupper()


def changes_shell(command: str) -> bool:
    """Return whether a command changes the shell that runs it, and so has no effect on the next step."""
    return command.startswith(_SHELL_CHANGES) or _ASSIGNMENTS.fullmatch(mask_quotes(command) or command) is not None


def changes_environment(command: str) -> bool:
    """Return whether a command changes which programs later commands run, in other blocks too."""
    return command.startswith(_ENVIRONMENT_CHANGES) and "&&" not in command


def is_harmless_set_option(command: str) -> bool:
    """Return whether a command only changes how the shell handles failures or traces commands."""
    return command.startswith(_HARMLESS_OPTIONS)


def is_status_comment(comment: str) -> bool:
    """Return whether a comment only reports that something was done."""
    return comment.strip(" .").lower() in ("done", "ok", "passes", "pass")
