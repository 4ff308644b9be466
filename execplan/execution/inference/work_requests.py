"""Sentences that ask for work which no step does, such as an edit by hand; each paragraph or list item is one request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.attributes import MANUAL
from execplan.execution.documents.written_paths import diff_paths
from execplan.execution.inference.prose_cues import find_cue
from execplan.execution.inference.section_passages import (
    COMMAND_LINES,
    Passage,
    PassageSentence,
    find_passages,
    read_sentences,
)
from execplan.execution.parsed_steps import SkippedLine, StepDraft

ASKS_FOR_WORK: Final = "asks for work that no step does"
_PATH = lazy_pattern(r"[\w@.-]*[/.][\w@./-]*\w")


class WorkRequest(NamedTuple):
    """A paragraph or list item that asks for work."""

    passage: Passage
    section: str
    text: str
    """Its sentences that ask for work, without those that steps do."""
    commands_before: tuple[str, ...] = ()
    """Commands of steps that the passage names before these sentences."""


def find_work_requests(plan: ParsedPlan, drafts: Sequence[StepDraft]) -> list[WorkRequest]:
    """Return the requests in Plan of Work and Concrete Steps that no step does."""
    done = _DoneWork(plan, drafts)
    requests: list[WorkRequest] = []
    for name in (outline.WORK, outline.STEPS):
        section = plan.section(name)
        passages = find_passages(plan, section) if section is not None else []
        unusable = {*plan.placeholder_lines, *plan.conflict_lines}
        for passage, following in zip(passages, [*passages[1:], None], strict=False):
            if passage.kind == COMMAND_LINES or not unusable.isdisjoint(range(passage.start, passage.end)):
                continue
            requests += _find_in_passage(passage, name, done, is_introduction=done.follows(passage, following))
    return requests


def _find_in_passage(
    passage: Passage, section: str, done: _DoneWork, *, is_introduction: bool
) -> Iterator[WorkRequest]:
    """Yield the requests of a passage: a command between two sentences makes two of them."""
    sentences: list[str] = []
    commands: list[str] = []
    for sentence in read_sentences(passage):
        asks_for_more = find_cue("also_changes", sentence.shape) is not None
        asks = (asks_for_more or find_cue("work_request", sentence.shape) is not None) and not done.includes(sentence)
        asks = asks and not (is_introduction and not find_cue("also_runs", sentence.shape))
        step_commands = [span.code for span in sentence.spans if span.code in done.commands]
        for is_request in (False, True) if asks_for_more else (True, False):
            if is_request:
                sentences += [sentence.text] if asks else []
            elif step_commands:
                yield from _join(passage, section, sentences, commands)
                sentences, commands = [], [*commands, *step_commands]
    yield from _join(passage, section, sentences, commands)


def _join(passage: Passage, section: str, sentences: Sequence[str], commands: Sequence[str]) -> Iterator[WorkRequest]:
    if sentences:
        yield WorkRequest(passage, section, " ".join(" ".join(sentences).split()), tuple(commands))


def skipped_requests(requests: Sequence[WorkRequest]) -> Iterator[SkippedLine]:
    """Yield the requests as lines that are no steps."""
    for request in requests:
        yield SkippedLine(request.passage.start, request.text, ASKS_FOR_WORK)


def named_files(text: str) -> list[str]:
    """Return the words of a text that look like paths."""
    return list(dict.fromkeys(_PATH.findall(text)))


class _DoneWork:
    """The work that steps do: their commands, the files that they write, and the texts of manual steps."""

    def __init__(self, plan: ParsedPlan, drafts: Sequence[StepDraft]) -> None:
        self.commands = {draft.command for draft in drafts if draft.command}
        blocks = {(draft.start, draft.end) for draft in drafts}  # each command of a block is a draft
        self._lines = {line for start, end in blocks for line in range(start, end)}
        self._manual_texts = [
            " ".join(" ".join(draft.body).split()) for draft in drafts if draft.attributes.get("type") == MANUAL
        ]
        self._paths: set[str] = set()
        for draft in drafts:
            if "target" in draft.attributes:
                self._paths.add(draft.attributes["target"])
            elif draft.attributes.get("type") == "refactor_code":
                self._paths.update(diff_paths("\n".join(draft.body)))

    def follows(self, passage: Passage, following: Passage | None) -> bool:
        """Return whether a passage introduces the step below it: it ends with a colon, or is in the same list item.

        A passage that names a command says itself what that step does.
        """
        if following is None or self._lines.isdisjoint(range(following.start, following.end)):
            return False
        names_command = any([span.code in self.commands for part in read_sentences(passage) for span in part.spans])
        is_same_item = passage.item_line >= 0 and passage.item_line == following.item_line and not names_command
        return is_same_item or passage.lines[-1][1].rstrip().endswith((":", "："))

    def includes(self, sentence: PassageSentence) -> bool:
        """Return whether a step does what a sentence asks for."""
        text = " ".join(sentence.text.split())
        if any([text in manual_text for manual_text in self._manual_texts]):
            return True
        asks_for_more = find_cue("also_runs", sentence.shape) or find_cue("also_changes", sentence.shape)
        if not asks_for_more and any([span.code in self.commands for span in sentence.spans]):
            return True
        names = named_files(text)
        return any([path in names or path.rpartition("/")[2] in names for path in self._paths])
