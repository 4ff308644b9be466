"""Inference of steps from code blocks and bare command lines."""

from __future__ import annotations

from execplan.execution.inference.block_commands import (
    BlockLine,
    build_expectation,
    changes_environment,
    changes_shell,
    is_command_in_block,
    is_harmless_set_option,
    is_status_comment,
    read_block_lines,
    read_output_after,
)
from execplan.execution.inference.cwd_inference import CwdEstimate, named_directory_reason
from execplan.execution.inference.long_running import starts_detached
from execplan.execution.inference.not_runnable import is_clear_command
from execplan.execution.inference.prose_cues import (
    IS_OUTPUT,
    IS_RECORD,
    TO_BE_WRITTEN,
    find_doubt,
    find_doubt_in_context,
    find_doubt_in_tail,
    is_past_record,
)
from execplan.execution.inference.section_passages import Passage
from execplan.execution.inference.shell_line import mask_quotes
from execplan.execution.inference.step_collector import StepCollector
from execplan.execution.inference.work_kinds import changes_files
from execplan.execution.shell.shell_vocabulary import PLAIN_TEXT_LANGUAGES, PROMPTS, SHELL_LANGUAGES

_WINDOWS_SHELLS = frozenset("powershell ps1 pwsh ps cmd bat batch".split())


def infer_from_block(collector: StepCollector, passage: Passage) -> None:
    """Infer steps from a code block or lines of commands, unless it shows the output of the step before."""
    first_line = next(((at, line) for at, line in passage.lines if line), None)
    if first_line is None or collector.attach_expectation(
        collector.output_tracker.match_block(collector.plan, passage)
    ):
        return
    counts = len(collector.drafts), len(collector.skipped)
    _read_block(collector, passage, first_line)
    if (len(collector.drafts), len(collector.skipped)) == (counts[0] + 1, counts[1]):
        collector.output_tracker.record_step(counts[0], collector.drafts[-1], passage)


def _read_block(collector: StepCollector, passage: Passage, first_line: tuple[int, str]) -> None:
    if passage.language in _WINDOWS_SHELLS:
        collector.skip(*first_line, "is for Windows")
    elif passage.language in SHELL_LANGUAGES | PLAIN_TEXT_LANGUAGES:
        _read_shell_block(collector, passage)
    else:
        collector.skip(*first_line, f"is {passage.language}, not a command: give it a type if it is a step")


def _read_shell_block(collector: StepCollector, passage: Passage) -> None:
    """Infer steps from a block in a shell language, or without a language."""
    output_lines = [(at, line) for at, line in passage.lines if line and not line.startswith(PROMPTS)]
    has_prompts = len(output_lines) < len([line for _, line in passage.lines if line])
    lines = read_block_lines(passage, has_prompts=has_prompts)
    commands = [line for line in lines if is_clear_command(line.text)]
    is_mixed = not all([is_command_in_block(line.text, passage, has_prompts, bool(commands)) for line in lines])
    if not commands or is_mixed:
        why = "is among lines that are not commands" if commands else "is not a command, but output, a listing or text"
        collector.skip_all(commands or lines[:1], why)
    elif why := (
        _find_block_doubt(passage, lines) or find_doubt_in_tail(passage.following_text, [line.text for line in lines])
    ):
        collector.skip_all(lines, why)
    elif is_past_record(passage.context, passage.following_text):
        collector.skip_all(lines, IS_RECORD)
    else:
        expectations = {
            line.start: build_expectation(read_output_after(collector.plan, passage, line.end)) for line in lines
        }
        if has_prompts and output_lines and not any(expectations.values()):
            collector.skip(*output_lines[0], "is output, and none of its lines is certain to be the same in every run")
        count = len(collector.drafts)
        _read_commands(collector, passage, lines)
        for at, draft in enumerate(collector.drafts[count:] if has_prompts else (), count):
            collector.drafts[at] = draft._replace(expect=expectations.get(draft.start))


def _find_block_doubt(passage: Passage, lines: list[BlockLine]) -> str:
    """Return the reason for doubt in the text above a block.

    Commands that edit files may follow a text that says to edit.
    """
    why = find_doubt_in_context(passage.context, returns_at_once=all([starts_detached(line.text) for line in lines]))
    return "" if why == TO_BE_WRITTEN and all([changes_files(line.text) for line in lines]) else why


def _read_commands(collector: StepCollector, passage: Passage, lines: list[BlockLine]) -> None:
    """Read the commands of a block, and track the directories that its lines enter."""
    mention = collector.cwd_tracker.find_mention(passage)
    start_cwd = cwd = collector.cwd_tracker.estimate_cwd(mention)
    previous_directory: str | None = None
    needs: tuple[str, ...] = ()
    skip_reason = collector.shell_change
    comment_doubt = ""
    for line in lines:
        command = line.text
        if line.comment:
            comment_doubt = find_doubt(line.comment) if not is_status_comment(line.comment) else ""
            comment_doubt = "" if comment_doubt == IS_OUTPUT else comment_doubt
            cwd = collector.cwd_tracker.apply_comment(line.comment, cwd)
        masked_command = mask_quotes(command) or command
        if skip_reason or comment_doubt:
            collector.skip(line.start, command, skip_reason or comment_doubt)
        elif masked_command.startswith("cd ") and not any([operator in masked_command for operator in "&;|"]):
            target = command[3:].strip()
            new_directory = (
                previous_directory if target == "-" else collector.cwd_tracker.resolve_cd(target, cwd, start_cwd)
            )
            skip_reason = (
                "" if new_directory is not None else f"comes after `{command}`, which leads to an uncertain directory"
            )
            previous_directory, cwd = cwd.directory, CwdEstimate(new_directory, new_directory, skip_reason)
        elif changes_shell(command):
            if not is_harmless_set_option(command):
                skip_reason = f"depends on `{command}` on line {line.start + 1}"
                if changes_environment(command) or all(
                    [changes_shell(other.text) and "&&" not in other.text for other in lines]
                ):
                    collector.shell_change = skip_reason
                collector.skip(line.start, command, "changes its shell, but each step has its own shell")
        else:
            located = collector.cwd_tracker.locate(command, cwd)
            why = collector.skip_reason(located, cwd) or (
                named_directory_reason(located) if located.command == command and cwd == start_cwd else ""
            )
            if why:
                collector.skip(line.start, command, why)
                if why.startswith(("has a quote", "has a here", "is a part")):
                    skip_reason = f"comes after line {line.start + 1}, which can't be parsed"
            else:
                needs = (collector.add_draft(line.start, line.end, located, needs, passage.item_line),)
    collector.cwd_tracker.record_passage(passage, mention, start_cwd, cwd)
