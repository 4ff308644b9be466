"""Inference of steps from sentences and list items that say to run a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.inference.block_commands import changes_environment, changes_shell
from execplan.execution.inference.cue_matching import find_cue
from execplan.execution.inference.cwd_inference import cwd_after_lone_cd, named_directory_reason
from execplan.execution.inference.instructions import find_instructions
from execplan.execution.inference.prose_cues import CHOICE, TO_BE_WRITTEN, find_doubt_in_context, find_doubt_in_tail
from execplan.execution.inference.section_passages import hide_commands, read_sentences
from execplan.execution.inference.shell_line import strip_prompt

if TYPE_CHECKING:
    from execplan.execution.inference.section_passages import Passage
    from execplan.execution.inference.step_collector import StepCollector


def infer_from_paragraph(collector: StepCollector, passage: Passage) -> None:
    """Infer steps from the code spans that the sentences of a paragraph or list item say to run."""
    sentences = list(read_sentences(passage))
    collector.attach_expectation(collector.output_tracker.match_sentence(passage, sentences[0]) if sentences else None)
    doubt_above = _find_doubt_above(passage)
    is_command_list = bool(passage.context) and find_cue("announces_commands", passage.context[0].lower()) is not None
    is_unintroduced = not passage.context or not passage.context[0].endswith((":", "："))
    seen_commands: set[str] = set()
    for at, sentence in enumerate(sentences):
        next_doubt = find_doubt_in_tail(sentences[at + 1].text) if at + 1 < len(sentences) else ""
        mention = collector.cwd_tracker.resolver.find_mention(hide_commands(sentence))
        is_whole_item = passage.starts_item and len(sentences) == 1
        instructions = find_instructions(
            sentence,
            is_whole_item=is_whole_item,
            is_command_list=is_command_list,
            is_unintroduced=is_unintroduced,
            has_directory=mention is not None,
        )
        for span, why in instructions.skipped:
            collector.skip(span.start, span.code, why)
        if not instructions.to_run:
            if mention is not None:
                collector.cwd_tracker.remember_mention(mention)
            continue
        current_cwd = collector.cwd_tracker.estimate_cwd(None)
        start_cwd = cwd = collector.cwd_tracker.estimate_cwd(mention or collector.cwd_tracker.find_mention(passage))
        has_cd = False
        needs: tuple[str, ...] = ()
        for span in instructions.to_run:
            command = strip_prompt(span.code)
            located = collector.cwd_tracker.locate(command, cwd)
            if command in seen_commands or _is_annotated_below(collector, passage, located.command):
                continue
            seen_commands.add(command)
            if located.command == command and (changes_shell(command) or command.startswith("cd ")):
                why = "changes its shell, but each step has its own shell"
                has_cd = has_cd or command.startswith("cd ")
                if changes_environment(command):
                    collector.shell_change = f"depends on `{command}` on line {span.start + 1}"
            else:
                why = doubt_above or next_doubt or collector.shell_change or collector.skip_reason(located, cwd)
                why = why or (
                    named_directory_reason(located) if located.command == command and cwd == start_cwd else ""
                )
            if why:
                collector.skip(span.start, span.code, why)
            else:
                collector.output_tracker.forget()
                needs = (collector.add_draft(span.start, span.end, located, needs, passage.item_line),)
        lasting_mention = mention if mention is not None and find_cue("leading_directory", sentence.text) else None
        collector.cwd_tracker.record_passage(
            passage,
            lasting_mention,
            *((current_cwd, cwd_after_lone_cd(current_cwd, passage.start)) if has_cd else (start_cwd, cwd)),
        )


def _is_annotated_below(collector: StepCollector, passage: Passage, command: str) -> bool:
    """Return whether an annotated code block in the same item, or right after a paragraph, has the command."""
    lines = collector.plan.text.lines
    end = passage.item_end
    if end < 0:
        end = passage.end
        while end < len(lines) and (end in collector.annotated_lines or not lines[end].strip()):
            end += 1
    return any([at in collector.annotated_lines and lines[at].strip() == command for at in range(passage.end, end)])


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
