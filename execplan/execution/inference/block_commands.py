"""Commands of a code block, without comments and prompts, and their expected output as a plan states it.

Only stable lines of the output are kept: without times, test counts, machine paths, versions and placeholders. Output
that the text calls an example or allows to differ is ignored. So a run fails only if it breaks a promise of the plan.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.not_runnable import is_clear_command
from execplan.execution.inference.prose_cues import find_cue, split_sentences
from execplan.execution.inference.section_passages import Passage, PassageSentence
from execplan.execution.inference.shell_line import is_continued, join_lines, mask_quotes, split_comment, strip_prompt
from execplan.execution.parsed_steps import StepDraft
from execplan.execution.shell.shell_vocabulary import PLAIN_TEXT_LANGUAGES, PROMPTS, SHELL_LANGUAGES

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
ANY_LINES: Final = "…"
"""Line in an expectation that matches any number of lines, including none."""
_VARIABLE_OUTPUT = lazy_pattern(
    r"\.\.\.|…|<[^<>]*>|\{\w+\}|\[\w[\w ]*\]|\$\{?\w|%\w|≈|~ ?\d|\bN\b|\bX+\b|\bx{2,}\b|\bYYYY|\betc\b|[✓✔✗✘•⚠❯→]|"
    r"\d ?(?:[muµn]?s|secs?|seconds?|min|minutes?|hours?|[kKMG]i?B|bytes|%)(?![a-z])|\d+\.\d+|\d{4}-\d\d|\d\d:\d\d|\b[0-9a-f]{7,}\b|"
    r"(?:^|[\s=:'\"(])(?:~?/|[A-Za-z]:\\)\w|localhost|\b127\.|:\d{4,5}\b|\bv\d|\bpid\b|"
    r"\d.*\b(?:tests?|pass(?:ed)?|fail(?:ed|ures?)?|ok|warnings?|errors?|files?|suites?|cases?|assertions?|items?|checks?|ran|modules?|packages?)\b|"
    r"\b(?:tests?|ran|pass(?:ed)?|total|found|collected|suites?)\b.*\d",
    re.IGNORECASE,
)
"""Text that differs between runs, machines or versions, or is a placeholder."""
_NOISE = lazy_pattern(
    r"\s*(?:#|//|\(|--|ok\s\s|(?:Compiling|Finished|Running|Downloading|Downloaded|Installing|Updating|Resolving|Checking|Building|warning|note|info|debug)\b)",
    re.IGNORECASE,
)
_PROSE = lazy_pattern(r"(?:\S+ ){4,}\S*[a-z]\.$")
_MAX_LINE_LENGTH = 200
_MAX_LINES = 50
"""Maximum number of output lines that are compared."""


_OUTPUT_LANGUAGES = frozenset((*PLAIN_TEXT_LANGUAGES, "console", "output", "log", "terminal"))
"""Languages of a code block that shows output."""
_REDIRECTED = lazy_pattern(r"(?<![\d&])>(?!&)")


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
        if not (line := strip_prompt(line)):
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
    if passage.fence is not None:
        shift = passage.fence.column
    else:
        shift = min([_indentation(line) for line in lines if line.strip()], default=0)
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


class OutputTracker:
    """Tracks the single step of the previous block, whose output the following text or block may show."""

    def __init__(self) -> None:
        self._step_index = -1
        self._location: tuple[int, tuple[int, ...]] = (-1, ())
        """List item and headings that contain the step."""

    def record_step(self, step_index: int, draft: StepDraft, passage: Passage) -> None:
        """Record that a block is this single step, unless the step has its output in a transcript or redirects it."""
        if draft.expect is None and not _REDIRECTED.search(mask_quotes(draft.command) or draft.command):
            self._step_index, self._location = step_index, (passage.item_line, passage.heading_lines)

    def forget(self) -> None:
        """Forget the recorded step, because another command follows."""
        self._step_index = -1

    def match_block(self, plan: ParsedPlan, passage: Passage) -> tuple[int, str] | None:
        """Return the step that prints a block and the stable part of its output.

        Returns None if the block is not certain to be output.
        """
        step_index = self._step_for(passage)
        self.forget()
        lead = passage.context[0] if passage.context else ""
        if step_index < 0 or passage.language not in _OUTPUT_LANGUAGES or not promises_output(lead):
            return None
        if any([line.startswith(PROMPTS) for _, line in passage.lines]):
            return None
        expected = build_expectation(raw_block_lines(plan, passage))
        return (step_index, expected) if expected is not None else None

    def match_sentence(self, passage: Passage, sentence: PassageSentence) -> tuple[int, str] | None:
        """Return the step and the stable output in a sentence after its block: `It prints` and a code span."""
        step_index = self._step_for(passage)
        expected = _sentence_expectation(sentence) if step_index >= 0 else None
        if expected is None:
            return None
        self.forget()
        return step_index, expected

    def _step_for(self, passage: Passage) -> int:
        return self._step_index if self._location == (passage.item_line, passage.heading_lines) else -1


def promises_output(lead: str) -> bool:
    """Return whether a text announces output that is certain, in full or in part."""
    last_sentence = (split_sentences(lead) or [""])[-1].replace("\x01", "")
    return find_cue("promises_output", last_sentence) is not None and find_cue("hedge", last_sentence) is None


def build_expectation(lines: Sequence[str]) -> str | None:
    """Return the expectation for output: its stable lines, with `…` for all others; None if no line is stable."""
    stable_lines = [line.rstrip() if _is_stable(line) else ANY_LINES for line in lines[:_MAX_LINES] if line.strip()]
    if all([line == ANY_LINES for line in stable_lines]):
        return None
    expectation = [ANY_LINES]
    for line in [*stable_lines, ANY_LINES]:
        if line != ANY_LINES or expectation[-1] != ANY_LINES:
            expectation.append(line)
    return "\n".join(expectation)


def _sentence_expectation(sentence: PassageSentence) -> str | None:
    """Return the expectation of a sentence that ends with its only code span, the output."""
    if len(sentence.spans) != 1 or not find_cue("named_output", sentence.shape) or not promises_output(sentence.shape):
        return None
    return build_expectation([sentence.spans[0].code])


def _is_stable(line: str) -> bool:
    """Return whether a line of output appears to be the same in every run."""
    if len(line) > _MAX_LINE_LENGTH or not any([char.isalnum() for char in line]):
        return False
    return not (_VARIABLE_OUTPUT.search(line) or _NOISE.match(line) or _PROSE.search(line))
