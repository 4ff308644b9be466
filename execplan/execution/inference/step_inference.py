"""Inference of steps without attributes: commands in code blocks, list items and sentences that say to run them.

Uncertain commands are skipped with a reason: a missing step costs a person one line, a wrong one more.
"""

from __future__ import annotations

from execplan.execution.annotations.info_string import parse_info_string
from execplan.execution.inference.block_commands import (
    BlockLine,
    changes_environment,
    changes_shell,
    is_command_in_block,
    is_harmless_set_option,
    is_status_comment,
    read_block_lines,
    read_output_after,
)
from execplan.execution.inference.cue_matching import find_cue
from execplan.execution.inference.cwd_inference import (
    CwdEstimate,
    CwdTracker,
    LocatedCommand,
    cwd_after_lone_cd,
    named_directory_reason,
    uncertainty_reason,
)
from execplan.execution.inference.directory_mentions import ROOT
from execplan.execution.inference.expected_output import OutputTracker, build_expectation
from execplan.execution.inference.instructions import find_instructions
from execplan.execution.inference.long_running import IN_BACKGROUND, UNTIL_STOPPED, starts_detached, uses_local_server
from execplan.execution.inference.not_runnable import is_clear_command, not_runnable_reason
from execplan.execution.inference.passages import COMMAND_LINES, Passage, find_passages, hide_commands, read_sentences
from execplan.execution.inference.prose_cues import (
    CHOICE,
    ELSEWHERE,
    IS_OUTPUT,
    IS_RECORD,
    KEEPS_RUNNING,
    TO_BE_WRITTEN,
    find_doubt,
    find_doubt_in_context,
    find_doubt_in_tail,
    is_past_record,
)
from execplan.execution.inference.shell_line import mask_quotes, strip_prompt
from execplan.execution.inference.work_kinds import changes_files
from execplan.execution.shell.command_detection import PLAIN_TEXT_LANGUAGES, PROMPTS, SHELL_LANGUAGES
from execplan.execution.shell.command_line import parse_command
from execplan.execution.step_drafts import INFERRED, VALIDATE, WORK, ParsedSteps, SkippedLine, StepDraft
from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.plan.model import ParsedPlan

_WINDOWS_SHELLS = frozenset("powershell ps1 pwsh ps cmd bat batch".split())


class _StepInferrer:
    """Reads sections in order and collects the steps, with the current working directory."""

    def __init__(self, plan: ParsedPlan, annotated_lines: frozenset[int]) -> None:
        self.plan = plan
        self.annotated_lines = annotated_lines
        self.cwd_tracker = CwdTracker(plan)
        self.drafts: list[StepDraft] = []
        self.skipped: list[SkippedLine] = []
        self.phase = WORK
        self.shell_change = ""
        """Reason why later commands may behave differently: a skipped block or item changes the shell for them."""
        self.output_tracker = OutputTracker()
        self.skipped_long_running = False
        """Whether something was skipped that would have to keep running."""

    def read_section(self, name: str, phase: str) -> None:
        """Infer the steps of a section."""
        section = self.plan.section(name)
        if section is None:
            return
        self.phase = phase
        placeholder_lines = set(self.plan.placeholder_lines)
        conflict_lines = set(self.plan.conflict_lines)
        for passage in find_passages(self.plan, section):
            passage_lines = range(passage.start, passage.end)
            self.cwd_tracker.enter_headings(passage.heading_lines)
            if not self.annotated_lines.isdisjoint(passage_lines):
                self._pass_annotated_fence(passage)
                continue
            if not placeholder_lines.isdisjoint(passage_lines) or not conflict_lines.isdisjoint(passage_lines):
                continue
            if passage.kind == COMMAND_LINES:
                self._infer_from_block(passage)
            else:
                self._infer_from_paragraph(passage)

    def _pass_annotated_fence(self, passage: Passage) -> None:
        """Skip an annotated code block, and record its directory: what follows may be meant to run there too."""
        info = parse_info_string(passage.fence.text) if passage.fence is not None else None
        cwd_attribute = info.get("cwd") if info is not None and not info.mark else None
        self.cwd_tracker.record_annotated_fence(passage, cwd_attribute.value if cwd_attribute is not None else ROOT)

    def _skip(self, line: int, text: str, why: str) -> None:
        self.skipped.append(SkippedLine(line, text, why))
        self.skipped_long_running = self.skipped_long_running or why in (
            UNTIL_STOPPED,
            KEEPS_RUNNING,
            IN_BACKGROUND,
            ELSEWHERE,
        )

    def _add_draft(self, start: int, end: int, located: LocatedCommand, needs: tuple[str, ...], item: int) -> str:
        """Record a command as a step and return its ID."""
        command, directory = located.command, located.directory or ROOT
        last_draft = self.drafts[-1] if self.drafts else None
        if (
            last_draft is not None
            and item >= 0
            and last_draft.start >= item
            and (last_draft.command, last_draft.cwd) == (command, directory)
        ):
            return last_draft.id  # an item names what the block after it shows
        step_id = f"inferred-{len(self.drafts) + 1}"
        self.drafts.append(
            StepDraft(INFERRED, self.phase, start, end, step_id, {}, (command,), command, needs, directory)
        )
        return step_id

    # Blocks

    def _infer_from_block(self, passage: Passage) -> None:
        first_line = next(((at, line) for at, line in passage.lines if line), None)
        if first_line is None or self._attach_expectation(self.output_tracker.match_block(self.plan, passage)):
            return
        counts = len(self.drafts), len(self.skipped)
        self._read_block(passage, first_line)
        if (len(self.drafts), len(self.skipped)) == (counts[0] + 1, counts[1]):
            self.output_tracker.record_step(counts[0], self.drafts[-1], passage)

    def _attach_expectation(self, expectation: tuple[int, str] | None) -> bool:
        """Set the expected output of a step, if found; return whether it was."""
        if expectation is not None:
            self.drafts[expectation[0]] = self.drafts[expectation[0]]._replace(expect=expectation[1])
        return expectation is not None

    def _read_block(self, passage: Passage, first_line: tuple[int, str]) -> None:
        if passage.language in _WINDOWS_SHELLS:
            self._skip(*first_line, "is for Windows")
        elif passage.language in SHELL_LANGUAGES | PLAIN_TEXT_LANGUAGES:
            self._read_shell_block(passage)
        else:
            self._skip(*first_line, f"is {passage.language}, no command: give it a type if it is a step")

    def _read_shell_block(self, passage: Passage) -> None:
        """Infer steps from a block in a shell language, or without a language."""
        output_lines = [(at, line) for at, line in passage.lines if line and not line.startswith(PROMPTS)]
        has_prompts = len(output_lines) < len([line for _, line in passage.lines if line])
        lines = read_block_lines(passage, has_prompts=has_prompts)
        commands = [line for line in lines if is_clear_command(line.text)]
        is_mixed = not all([is_command_in_block(line.text, passage, has_prompts, bool(commands)) for line in lines])
        if not commands or is_mixed:
            why = "stands among lines that are no commands" if commands else "is no command: output, a listing or text"
            self._skip_all(commands or lines[:1], why)
        elif why := (
            self._find_block_doubt(passage, lines)
            or find_doubt_in_tail(passage.following_text, [line.text for line in lines])
        ):
            self._skip_all(lines, why)
        elif is_past_record(passage.context, passage.following_text):
            self._skip_all(lines, IS_RECORD)
        else:
            expectations = {
                line.start: build_expectation(read_output_after(self.plan, passage, line.end)) for line in lines
            }
            if has_prompts and output_lines and not any(expectations.values()):
                self._skip(*output_lines[0], "is printed, and no line of it is sure to be the same in every run")
            count = len(self.drafts)
            self._read_commands(passage, lines)
            for at, draft in enumerate(self.drafts[count:] if has_prompts else (), count):
                self.drafts[at] = draft._replace(expect=expectations.get(draft.start))

    def _find_block_doubt(self, passage: Passage, lines: list[BlockLine]) -> str:
        """Return the reason for doubt in the text above a block.

        Commands that edit files may follow a text that says to edit.
        """
        why = find_doubt_in_context(
            passage.context, returns_at_once=all([starts_detached(line.text) for line in lines])
        )
        return "" if why == TO_BE_WRITTEN and all([changes_files(line.text) for line in lines]) else why

    def _skip_all(self, lines: Iterable[BlockLine], why: str) -> None:
        for line in lines:
            self._skip(line.start, line.text, why)

    def _read_commands(self, passage: Passage, lines: list[BlockLine]) -> None:
        """Read the commands of a block, and track the directories that its lines enter."""
        mention = self.cwd_tracker.find_mention(passage)
        start_cwd = cwd = self.cwd_tracker.estimate_cwd(mention)
        previous_directory: str | None = None
        needs: tuple[str, ...] = ()
        skip_reason = self.shell_change
        comment_doubt = ""
        for line in lines:
            command = line.text
            if line.comment:
                comment_doubt = find_doubt(line.comment) if not is_status_comment(line.comment) else ""
                comment_doubt = "" if comment_doubt == IS_OUTPUT else comment_doubt
                cwd = self.cwd_tracker.apply_comment(line.comment, cwd)
            masked_command = mask_quotes(command) or command
            if skip_reason or comment_doubt:
                self._skip(line.start, command, skip_reason or comment_doubt)
            elif masked_command.startswith("cd ") and not any([operator in masked_command for operator in "&;|"]):
                target = command[3:].strip()
                new_directory = (
                    previous_directory if target == "-" else self.cwd_tracker.resolve_cd(target, cwd, start_cwd)
                )
                skip_reason = (
                    "" if new_directory is not None else f"comes behind `{command}`, and where that leads is not sure"
                )
                previous_directory, cwd = cwd.directory, CwdEstimate(new_directory, new_directory, skip_reason)
            elif changes_shell(command):
                if not is_harmless_set_option(command):
                    skip_reason = f"depends on `{command}` in line {line.start + 1}"
                    if changes_environment(command) or all(
                        [changes_shell(other.text) and "&&" not in other.text for other in lines]
                    ):
                        self.shell_change = skip_reason
                    self._skip(line.start, command, "changes the shell that reads it, and a step has its own")
            else:
                located = self.cwd_tracker.locate(command, cwd)
                why = self._skip_reason(located, cwd) or (
                    named_directory_reason(located) if located.command == command and cwd == start_cwd else ""
                )
                if why:
                    self._skip(line.start, command, why)
                    if why.startswith(("has a quote", "has a here", "is a part")):
                        skip_reason = f"comes behind what is not understood in line {line.start + 1}"
                else:
                    needs = (self._add_draft(line.start, line.end, located, needs, passage.item_line),)
        self.cwd_tracker.record_passage(passage, mention, start_cwd, cwd)

    def _skip_reason(self, located: LocatedCommand, cwd: CwdEstimate) -> str:
        """Return why a command is skipped although the text says to run it, or an empty string."""
        why = not_runnable_reason(located.command)
        problem = "" if why else parse_command(located.command).problem
        if problem and not problem.startswith("a character"):  # an invisible character is rejected, not skipped
            why = f"can't be read: {problem}"
        if not why and located.directory is None:
            why = uncertainty_reason(cwd)
        if not why and self.skipped_long_running and uses_local_server(located.command):
            why = "needs what was to be started, and that is not a step"
        return why

    # Sentences

    def _infer_from_paragraph(self, passage: Passage) -> None:
        sentences = list(read_sentences(passage))
        self._attach_expectation(self.output_tracker.match_sentence(passage, sentences[0]) if sentences else None)
        doubt_above = _find_doubt_above(passage)
        is_command_list = (
            bool(passage.context) and find_cue("announces_commands", passage.context[0].lower()) is not None
        )
        is_unintroduced = not passage.context or not passage.context[0].endswith((":", "："))
        seen_commands: set[str] = set()
        for at, sentence in enumerate(sentences):
            next_doubt = find_doubt_in_tail(sentences[at + 1].text) if at + 1 < len(sentences) else ""
            mention = self.cwd_tracker.resolver.find_mention(hide_commands(sentence))
            is_whole_item = passage.starts_item and len(sentences) == 1
            instructions = find_instructions(
                sentence,
                is_whole_item=is_whole_item,
                is_command_list=is_command_list,
                is_unintroduced=is_unintroduced,
                has_directory=mention is not None,
            )
            for span, why in instructions.skipped:
                self._skip(span.start, span.code, why)
            if not instructions.to_run:
                if mention is not None:
                    self.cwd_tracker.remember_mention(mention)
                continue
            current_cwd = self.cwd_tracker.estimate_cwd(None)
            start_cwd = cwd = self.cwd_tracker.estimate_cwd(mention or self.cwd_tracker.find_mention(passage))
            has_cd = False
            needs: tuple[str, ...] = ()
            for span in instructions.to_run:
                command = strip_prompt(span.code)
                located = self.cwd_tracker.locate(command, cwd)
                if command in seen_commands or self._is_annotated_below(passage, located.command):
                    continue
                seen_commands.add(command)
                if located.command == command and (changes_shell(command) or command.startswith("cd ")):
                    why = "changes the shell that reads it, and a step has its own"
                    has_cd = has_cd or command.startswith("cd ")
                    if changes_environment(command):
                        self.shell_change = f"depends on `{command}` in line {span.start + 1}"
                else:
                    why = doubt_above or next_doubt or self.shell_change or self._skip_reason(located, cwd)
                    why = why or (
                        named_directory_reason(located) if located.command == command and cwd == start_cwd else ""
                    )
                if why:
                    self._skip(span.start, span.code, why)
                else:
                    self.output_tracker.forget()
                    needs = (self._add_draft(span.start, span.end, located, needs, passage.item_line),)
            lasting_mention = mention if mention is not None and find_cue("leading_directory", sentence.text) else None
            self.cwd_tracker.record_passage(
                passage,
                lasting_mention,
                *((current_cwd, cwd_after_lone_cd(current_cwd, passage.start)) if has_cd else (start_cwd, cwd)),
            )

    def _is_annotated_below(self, passage: Passage, command: str) -> bool:
        """Return whether an annotated code block in the same item, or right after a paragraph, has the command."""
        lines = self.plan.text.lines
        end = passage.item_end
        if end < 0:
            end = passage.end
            while end < len(lines) and (end in self.annotated_lines or not lines[end].strip()):
                end += 1
        return any([at in self.annotated_lines and lines[at].strip() == command for at in range(passage.end, end)])


def infer_steps(plan: ParsedPlan, annotated_lines: frozenset[int]) -> ParsedSteps:
    """Return the steps that a plan shows without attributes, and the skipped lines that look like steps.

    `annotated_lines` are the lines of code blocks with attributes; nothing is inferred from them.
    """
    inferrer = _StepInferrer(plan, annotated_lines)
    inferrer.read_section(outline.STEPS, WORK)
    inferrer.cwd_tracker.start_section()
    inferrer.read_section(outline.VALIDATION, VALIDATE)
    drafts = sorted(inferrer.drafts, key=lambda draft: draft.start)
    return ParsedSteps(tuple(drafts), tuple(sorted(inferrer.skipped)), ())


def _find_doubt_above(passage: Passage) -> str:
    """Return why commands in a paragraph may not be meant to run: from the text above, or as one of several choices."""
    context = passage.context[:2]
    if (
        not passage.starts_item
        and context
        and context[0].endswith((".", "。"))
        and find_doubt_in_context(context[:1]) == TO_BE_WRITTEN
    ):
        context = context[1:]  # an instruction to write something ends at this paragraph
    return find_doubt_in_context(context) or (CHOICE if find_doubt_in_tail(passage.following_text) == CHOICE else "")
