"""Inference of steps without attributes: commands in code blocks, list items and sentences that say to run them.

Uncertain commands are skipped with a reason: a missing step costs a person one line, a wrong one more.
"""

from __future__ import annotations

from collections.abc import Iterable

from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.execution.annotations.info_string import parse_info_string
from execplan.execution.inference.directory_mentions import ROOT
from execplan.execution.inference.prose_cues import IS_OUTPUT, IS_RECORD, NOT_SAID_TO_RUN
from execplan.execution.inference.section_passages import COMMAND_LINES, Passage, find_passages
from execplan.execution.inference.step_collector import StepCollector
from execplan.execution.parsed_steps import VALIDATE, WORK, ParsedSteps, SkippedLine, StepDraft

_MENTIONS = frozenset((NOT_SAID_TO_RUN, IS_OUTPUT, IS_RECORD))
"""Reasons why a command is no step that need no attention if another step runs it: the text only mentions it."""


def infer_steps(plan: ParsedPlan, annotated_lines: frozenset[int]) -> ParsedSteps:
    """Return the steps that a plan shows without attributes, and the skipped lines that look like steps.

    `annotated_lines` are the lines of code blocks with attributes; nothing is inferred from them.
    """
    collector = StepCollector(plan, annotated_lines)
    _read_section(collector, outline.STEPS, WORK)
    collector.cwd_tracker.start_section()
    _read_section(collector, outline.VALIDATION, VALIDATE)
    drafts = sorted(collector.drafts, key=lambda draft: draft.start)
    return ParsedSteps(tuple(drafts), tuple(sorted(collector.skipped)), ())


def drop_mentions(skipped: Iterable[SkippedLine], drafts: Iterable[StepDraft]) -> list[SkippedLine]:
    """Return the skipped lines without those that only mention the command of a step."""
    commands = {draft.command for draft in drafts}
    return [entry for entry in skipped if entry.text not in commands or entry.why not in _MENTIONS]


def _read_section(collector: StepCollector, name: str, phase: str) -> None:
    """Infer the steps of a section."""
    section = collector.plan.section(name)
    if section is None:
        return
    collector.phase = phase
    placeholder_lines = set(collector.plan.placeholder_lines)
    conflict_lines = set(collector.plan.conflict_lines)
    for passage in find_passages(collector.plan, section):
        passage_lines = range(passage.start, passage.end)
        collector.cwd_tracker.enter_headings(passage.heading_lines)
        if not collector.annotated_lines.isdisjoint(passage_lines):
            _pass_annotated_fence(collector, passage)
            continue
        if not placeholder_lines.isdisjoint(passage_lines) or not conflict_lines.isdisjoint(passage_lines):
            continue
        if passage.kind == COMMAND_LINES:
            from execplan.execution.inference.block_inference import infer_from_block

            infer_from_block(collector, passage)
        else:
            from execplan.execution.inference.sentence_inference import infer_from_paragraph

            infer_from_paragraph(collector, passage)


def _pass_annotated_fence(collector: StepCollector, passage: Passage) -> None:
    """Skip an annotated code block, and record its directory: what follows may be meant to run there too."""
    info = parse_info_string(passage.fence.text) if passage.fence is not None else None
    cwd_attribute = info.get("cwd") if info is not None and not info.mark else None
    collector.cwd_tracker.record_annotated_fence(passage, cwd_attribute.value if cwd_attribute is not None else ROOT)
