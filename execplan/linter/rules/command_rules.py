"""EP4 rules about commands: where to run them, their expected results, and recovery from destructive ones."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text
from execplan.core.text.markdown_blocks import FENCE
from execplan.linter.plan_paths import (
    DIRECTORY_ANYWHERE_PHRASES,
    DIRECTORY_PHRASES,
    MANUAL_CHECK_PHRASES,
    PROOF_PHRASES,
    RESULT_PHRASES,
    ROOT_PHRASES,
    WARNING_PHRASES,
)
from execplan.linter.rule import WARNING, RuleContext, RuleMatch, on_line, on_span, rule
from execplan.linter.section_content import find_code_blocks, find_commands, is_foreign_language, section_prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan, Section
    from execplan.linter.plan_source import TextSpan

_PREPOSITIONS = ("in", "into", "inside", "within")
_EXPECTATION_ATTRIBUTES = ("{expect}", "expect=", "exit=", "test-after=")
_MAX_COMMANDS = 500
"""Maximum number of possibly destructive commands analyzed per section."""
_FEW_WORDS = 30
"""Number of words from which a section describes the result, so that Concrete Steps may contain the commands."""


def _contains_any(text: str, needles: tuple[str, ...]) -> bool:
    """Return whether a text contains any of the needles; the loop stops at the first, which usually comes early."""
    for needle in needles:  # noqa: SIM110 - `any` asks a list whole, and a generator begins slowly
        if needle in text:
            return True
    return False


def _names_directory(text: str) -> bool:
    """Return whether a line names a directory for commands: `In src/:`, or `in src/,` before them."""
    if "/" not in text:
        return False
    for line in text.split("\n"):
        words = line.lstrip("-*> ").split() if "/" in line and "in" in line else []
        for at, word in enumerate(words[:-1]):
            name = words[at + 1].strip("`*:,")
            is_phrase_end = at == 0 or words[at + 1][-1] in ":,"
            if word in _PREPOSITIONS and is_phrase_end and len(name) > 1 and name[-1] == "/":
                return True
    return False


@rule("EP404", WARNING, in_archive=False)
def missing_working_directory(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan has commands but doesn't say in which directory to run them.

    A reader who has only the plan can be in any directory; in the wrong one, the same commands do something else,
    or nothing. State the directory once: in Concrete Steps, or wherever the plan says how to work on it.

    Bad:
        ## Concrete Steps

            make parser
            make test

        Both print `ok`.
    Good:
        ## Concrete Steps

        In the root of the repository:

            make parser
            make test

        Both print `ok`.
    """
    sections = [section for name in (outline.STEPS, outline.VALIDATION) if (section := plan.section(name)) is not None]
    combined_text = ""
    for section in sections:
        section_text = "\n".join(plan.text.lines[section.body_start : section.end]).casefold()
        if _contains_any(f"{section.title.casefold()}\n{section_text}", DIRECTORY_PHRASES) or _names_directory(
            section_text
        ):
            return
        combined_text += f"{section_text}\n"
    source = context.source.text.encode("ascii", "replace").lower().decode("ascii")  # a third of the time of `casefold`
    if (
        is_foreign_language(combined_text)
        or _contains_any(source, DIRECTORY_ANYWHERE_PHRASES)
        or ("root" in source and _contains_any(source, ROOT_PHRASES))
    ):
        return
    spans = [span for section in sections for span in find_commands(plan, context, section)]
    commands = sorted([span for span in spans if not span.text.startswith("git ")])
    if commands:  # one in a code block is certainly to be run
        first_command = next((span for span in commands if context.source.inert_lines[span.line]), commands[0])
        yield on_span(first_command, "the plan doesn't say in which directory to run this")


@rule("EP405", WARNING, in_archive=False)
def missing_expected_result(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan has commands but doesn't say what to expect when they succeed.

    Running a command isn't enough for a newcomer to tell success from failure. Describe the result in a sentence,
    or show the output.

    Bad:
        ## Validation and Acceptance

        In the root of the repository:

            make test
            make lint
    Good:
        ## Validation and Acceptance

        In the root of the repository, where both exit with 0 and the first prints `12 passed`:

            make test
            make lint
    """
    validation, steps = plan.section(outline.VALIDATION), plan.section(outline.STEPS)
    if validation is not None and _describes_result(plan, context, validation):
        return
    for section in (validation, steps):
        spans = sorted(find_commands(plan, context, section)) if section is not None else []
        if section is None or not spans:
            continue
        if not (
            _describes_result(plan, context, section)
            or _shows_output(plan, section, spans)
            or _describes_proof_elsewhere(plan, context)
        ):
            yield on_span(spans[0], "the plan doesn't say what to expect when this succeeds")
        return


def _describes_result(plan: ParsedPlan, context: RuleContext, section: Section) -> bool:
    """Return whether a section's text describes a result, or is in an unknown language."""
    text = section_prose(plan, context, section)
    return _contains_any(text, RESULT_PHRASES) or is_foreign_language(text)


def _describes_proof_elsewhere(plan: ParsedPlan, context: RuleContext) -> bool:
    """Return whether milestones or the plan's own sections describe the proof that the work is done."""
    other_sections = [
        section
        for section in plan.sections
        if section.name is None or section.name in (outline.WORK, outline.ARTIFACTS)
    ]
    return any(
        [
            _contains_any(f"{section.title.casefold()}\n{section_prose(plan, context, section)}", PROOF_PHRASES)
            for section in other_sections
        ]
    )


def _shows_output(plan: ParsedPlan, section: Section, spans: list[TextSpan]) -> bool:
    """Return whether a code block shows output, or has attributes that state the expected result."""
    command_lines = {span.line for span in spans}
    for block, start, end in find_code_blocks(plan, section):
        if block.kind == FENCE and "{" in block.text and _contains_any(block.text, _EXPECTATION_ATTRIBUTES):
            return True
        lines = [at for at in range(start, end) if plan.text.lines[at].strip()]
        if lines and not command_lines.issuperset(lines):
            return True
    return False


@rule("EP406", WARNING, in_archive=False)
def validation_without_command(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Validation and Acceptance contains no command.

    A statement such as "the tests pass" proves nothing to a reader who doesn't know which tests, and how to run
    them. If the section describes in detail what must be true, the commands can be in Concrete Steps; they can
    always be in milestones. For a manual check, say what to click and what to expect.

    Bad:
        ## Concrete Steps

        Write the scanner, then the reader.

        ## Validation and Acceptance

        All required tests pass and the reader is fast.
    Good:
        ## Concrete Steps

        Write the scanner, then the reader.

        ## Validation and Acceptance

        In the root of the repository `make test` prints `12 passed`.
    """
    section = plan.section(outline.VALIDATION)
    if section is None:
        return
    if next(find_commands(plan, context, section), None) is not None:
        return
    section_text = "\n".join(plan.text.lines[section.body_start : section.end]).casefold()
    if (
        not section_text.strip()
        or _contains_any(section_text, MANUAL_CHECK_PHRASES)
        or is_foreign_language(section_text)
    ):
        return
    has_placeholder = any([section.start <= at < section.end for at in plan.placeholder_lines])
    is_vague = "`" not in section_text and len(section_text.split()) < _FEW_WORDS
    section_names = (
        (None, outline.WORK, outline.PROGRESS) if is_vague else (None, outline.WORK, outline.PROGRESS, outline.STEPS)
    )
    other_sections = [other_section for other_section in plan.sections if other_section.name in section_names]
    has_command_elsewhere = any(
        [next(find_commands(plan, context, other_section), None) for other_section in other_sections]
    )
    if not has_placeholder and not has_command_elsewhere:
        yield on_line(plan, section.start, "no command: say what to run, or what to do by hand, and what to expect")


@rule("EP408", WARNING, in_archive=False)
def risky_without_recovery(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A command destroys something, but Idempotence and Recovery doesn't say how to recover.

    Such a step goes wrong on the second run, or for the second person. Say what it destroys, how to make sure
    beforehand that this is right, and what to do if it was wrong.

    Bad:
        ## Concrete Steps

        In the root of the repository, `git reset --hard origin/main` prints `HEAD is now at` and the commit.

        ## Idempotence and Recovery

        N/A
    Good:
        ## Concrete Steps

        In the root of the repository, `git reset --hard origin/main` prints `HEAD is now at` and the commit.

        ## Idempotence and Recovery

        What was not committed is gone after the reset, so commit or stash it first; `git reflog` finds the old commit.
    """
    recovery = plan.section(outline.RECOVERY)
    if recovery is not None:
        for at in range(recovery.body_start, recovery.notes_start):
            if not is_empty_text(plan.text.lines[at].strip()) and at not in plan.placeholder_lines:
                return
    from execplan.linter.destructive_commands import NEEDLES, describe_loss

    for section in (plan.section(outline.STEPS), plan.section(outline.VALIDATION)):
        if section is not None and _contains_any("\n".join(plan.text.lines[section.body_start : section.end]), NEEDLES):
            spans = [span for span in find_commands(plan, context, section) if _contains_any(span.text, NEEDLES)]
            for span in sorted(spans)[:_MAX_COMMANDS]:
                loss = describe_loss(span.text)
                if loss and not _contains_any(plan.text.lines[span.line].casefold(), WARNING_PHRASES):
                    yield on_span(span, f"{loss}, but {outline.RECOVERY} doesn't say how to recover")
