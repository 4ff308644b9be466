"""Inference of steps from sentences and list items that say to run a command."""

from __future__ import annotations

import re

from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.block_commands import changes_environment, changes_shell
from execplan.execution.inference.cue_table import EXPRESSIONS
from execplan.execution.inference.cwd_inference import cwd_after_lone_cd, named_directory_reason
from execplan.execution.inference.long_running import starts_detached
from execplan.execution.inference.not_runnable import is_clear_command
from execplan.execution.inference.prose_cues import (
    CHOICE,
    NOT_SAID_TO_RUN,
    TO_BE_WRITTEN,
    find_cue,
    find_doubt,
    find_doubt_in_context,
    find_doubt_in_tail,
)
from execplan.execution.inference.section_passages import (
    CodeSpan,
    Passage,
    PassageSentence,
    hide_commands,
    read_sentences,
)
from execplan.execution.inference.shell_line import strip_prompt
from execplan.execution.inference.step_collector import StepCollector

_SPAN_CHAIN = rf"\x01(?:(?:,? {EXPRESSIONS['conjunction']}|[,;+&])\s*(?:again )?\x01)*"
_WHOLE_ITEM = lazy_pattern(rf"[^\w\x01]*({_SPAN_CHAIN})\s*[.;,。]?")
_NUMBER = r"[^\w\x01]*(?:\d+[.)]\s*)?"
_ADVERBS = rf"(?:{EXPRESSIONS['adverb']}[,:]?\s+)*"
_RUN = EXPRESSIONS["run_verb"]
_AFTER_RUN = r"(?:\s+|(?<=[^\x00-\x7f])[:：]?\s*)"
"""What separates the verb from its command; scripts without spaces between words need nothing."""
_RUN_INSTRUCTION = lazy_pattern(
    rf"(?:^|[.:;,]\s|\b(?:and|then)\s){_NUMBER}{_ADVERBS}{_RUN}{_AFTER_RUN}"
    rf"(?:(?:the |all )?(?:[\w/-]+ ){{0,6}}?{EXPRESSIONS['means']}?:?\s*)?({_SPAN_CHAIN})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_RUN_FROM_DIRECTORY = lazy_pattern(
    rf"^{_NUMBER}{_ADVERBS}{EXPRESSIONS['place_preposition']} [^.;:]{{1,60}}?[ ,]{_RUN}\s+({_SPAN_CHAIN})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_COLON_AND_SPANS = rf":\s*({_SPAN_CHAIN})\s*[.;]?$"
_IMPERATIVE = lazy_pattern(rf"^[^\w\x01]*{EXPRESSIONS['imperative']}[\w/ '-]{{0,40}}{_COLON_AND_SPANS}")
"""Instruction at the start of an item, with its command after a colon."""
_LEADING_RUN = lazy_pattern(rf"^{_NUMBER}{_ADVERBS}{_RUN}\b", re.IGNORECASE)
_IN_DIRECTORY = lazy_pattern(
    rf"^[^\w\x01]*{EXPRESSIONS['directory_preposition']} (?:the )?(?:\x01|[\w' -]{{1,40}}){_COLON_AND_SPANS}",
    re.IGNORECASE,
)
_LABELED = lazy_pattern(rf"^[^\w\x01]*[A-Z][\w/ &'()-]{{1,60}}{_COLON_AND_SPANS}")
_CONTINUATION = lazy_pattern(rf"^\s*(?:$|[.;:,)。；：，]|{EXPRESSIONS['continuation']}|[-–—(])", re.IGNORECASE)


class Instructions:
    """The code spans that a sentence says to run, and those that were skipped."""

    def __init__(self, to_run: list[CodeSpan], skipped: list[tuple[CodeSpan, str]]) -> None:
        self.to_run = to_run
        self.skipped = skipped


def find_instructions(
    sentence: PassageSentence, *, is_whole_item: bool, is_command_list: bool, is_unintroduced: bool, has_directory: bool
) -> Instructions:
    """Return the code spans that a sentence says to run, and the skipped commands.

    `is_whole_item`: the sentence is a whole list item. `is_command_list`: the text above calls the list one of
    commands. `is_unintroduced`: no text introduces the list. `has_directory`: the sentence names the directory.
    """
    command_spans = [
        span
        for span in sentence.spans
        if (" " in span.code and is_clear_command(span.code, is_called_command=True)) or is_clear_command(span.code)
    ]
    if not sentence.spans:
        return Instructions([], [])
    chain, rest = "", ""
    match = None
    if is_whole_item:
        match = _match_item(
            sentence.shape,
            is_command_list=is_command_list,
            is_unintroduced=is_unintroduced,
            has_directory=has_directory,
        )
    if match is not None:
        chain = match.group(1)
        first_span = sentence.shape[: match.start(1)].count("\x01")
    elif (match := _RUN_INSTRUCTION.search(sentence.shape) or _RUN_FROM_DIRECTORY.search(sentence.shape)) is not None:
        chain, rest = match.group(1), match.group("rest")
        first_span = sentence.shape[: match.start(1)].count("\x01")
    else:
        return Instructions([], [(span, NOT_SAID_TO_RUN) for span in command_spans])
    chosen_spans = sentence.spans[first_span : first_span + chain.count("\x01")]
    other_spans = [span for span in command_spans if span not in chosen_spans]
    is_called_command = (
        (is_whole_item and bool(is_command_list)) or bool(rest) or _LEADING_RUN.match(sentence.shape) is not None
    )
    if not all([is_clear_command(span.code, is_called_command=is_called_command) for span in chosen_spans]):
        return Instructions(
            [], [(span, "is in a sentence with something that is not a command") for span in command_spans]
        )
    if not _CONTINUATION.match(rest) and not (has_directory and find_cue("directory_continuation", rest)):
        return Instructions(
            [],
            [(span, "is in a sentence that continues in a way that is not understood") for span in command_spans],
        )
    why = find_doubt(sentence.text, returns_at_once=all([starts_detached(span.code) for span in chosen_spans]))
    if why:
        return Instructions([], [(span, why) for span in command_spans])
    return Instructions(
        list(chosen_spans), [(span, "is in a sentence that instructs to run another command") for span in other_spans]
    )


def _match_item(
    shape: str, *, is_command_list: bool, is_unintroduced: bool, has_directory: bool
) -> re.Match[str] | None:
    """Match a whole list item that says to run its code spans; the first group contains them."""
    match = _WHOLE_ITEM.fullmatch(shape)
    if match is None and is_command_list:
        match = _LABELED.search(shape)
    elif match is None and is_unintroduced:
        match = _IMPERATIVE.search(shape)
    if match is None and has_directory:
        match = _IN_DIRECTORY.search(shape)
    return match


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
