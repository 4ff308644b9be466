"""Rules that compare a plan with its committed version; the comparison is imported on use, because few runs need it."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.model import COMPLETE, DONE, DRAFT
from execplan.core.text.message_parts import format_excess, join_first
from execplan.linter.rule import COMMIT, HINT, HISTORY, WARNING, RuleContext, RuleMatch, on_line, on_span, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_STEM_LENGTH = 5
"""Number of leading letters that make two words equal: parser, parse."""

_MAX_NAMES = 3
"""Maximum number of names in one message."""


@rule("EP212", WARNING, needs=HISTORY)
def undone_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A task that was done when the plan was committed is open again, or missing.

    Somebody overwrote the plan with an old copy, or reopened a task without saying why. Check the task off again,
    or give the reason in an entry that names the task: `execplan discover`, `execplan decide`.

    Before:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [x] (2026-03-08 10:02Z) Write the tests.
    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [ ] Write the tests.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.
        - [ ] Write the tests.

        ## Surprises & Discoveries

        - Observation: The tests of the parser never ran in CI.
          Evidence: The log of run 12 has no line of pytest.
    """
    before = context.history.committed_plan if context.history is not None else None
    if before is None:
        return
    from execplan.core.plan.plan_lookup import normalize_text
    from execplan.linter.plan_comparison import new_entries

    done_before = {normalize_text(task.text) for task in before.tasks if task.state == DONE}
    done_now = {normalize_text(task.text) for task in plan.tasks if task.state == DONE}
    explained_stems = {
        word[:_STEM_LENGTH] for text in new_entries(before, plan, include_discoveries=True) for word in text.split()
    }
    current_texts = set(done_now)
    for task in plan.tasks:
        task_text = normalize_text(task.text)
        current_texts.add(task_text)
        if task_text in done_before and task_text not in done_now and not _is_explained(task_text, explained_stems):
            why = "was done when the plan was committed; nothing explains why it is open again"
            yield on_line(plan, task.box_line, f"task {task.number} {why}")
    current_texts |= {normalize_text(task.text) for _, task in plan.checklists}
    missing_texts = [
        task.text for task in before.tasks if task.state == DONE and normalize_text(task.text) not in current_texts
    ]
    newly_done = done_now - {normalize_text(task.text) for task in before.tasks}
    missing_texts = [text for text in missing_texts if not _is_explained(normalize_text(text), explained_stems)]
    if len(missing_texts) > len(newly_done):  # otherwise the tasks may be the same with different text
        section = plan.section(outline.PROGRESS)
        names = join_first([f"`{_shorten(text)}`" for text in missing_texts], _MAX_NAMES)
        tasks = "tasks that were" if len(missing_texts) > 1 else "a task that was"
        message = f"{tasks} done when the plan was committed {'are' if len(missing_texts) > 1 else 'is'} gone: {names}"
        yield on_line(plan, section.start if section is not None else max(plan.title_line, 0), message)


@rule("EP307", HINT, needs=HISTORY, in_archive=False)
def rewritten_entry(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A log entry was rewritten or removed after it was committed.

    The logs explain how the work evolved, and others have read them and acted on them. Add a new entry that
    corrects the old one; for a decision, use `execplan decide --supersedes`. Adding text at the end of an entry is
    fine.

    Before:
        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    Bad:
        ## Decision Log

        - Decision: Read the file whole.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
    Good:
        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
        - Decision: Read the file whole.
          Rationale: Lines may be wrapped.
          Date/Author: 2026-01-02 / Ann
          Supersedes: Read line by line. (2025-12-30)
    """
    before = context.history.committed_plan if context.history is not None else None
    if before is None or DRAFT in (before.state(), plan.state()):
        return
    from execplan.linter.plan_comparison import rewritten_entries

    for kind, old, line in rewritten_entries(before, plan, outcomes=before.state() == COMPLETE):
        yield on_line(plan, line, f"the committed {kind} `{_shorten(old)}` was rewritten or removed")


@rule("EP308", WARNING, needs=COMMIT, in_archive=False)
def unexplained_change(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan's instructions changed since they were committed, but no decision or revision note says why.

    Work has started on the old text, and whoever continues it must know what is different. Record it with `execplan
    decide` or `execplan revise`. Plans in which no task or every task is done can change freely. So can the living
    sections, `Artifacts and Notes`, and `Context and Orientation`, which describes rather than prescribes. A
    changed path of a plan or changed whitespace doesn't count.

    Before:
        ## Plan of Work

        Write the scanner, then the reader.
    Bad:
        ## Plan of Work

        Write the reader on top of a library.
    Good:
        ## Plan of Work

        Write the reader on top of a library.

        ## Decision Log

        - Decision: Read line by line.
          Rationale: A task is a line.
          Date/Author: 2025-12-30 / Ann
        - Decision: Take a library.
          Rationale: It reads all of CommonMark.
          Date/Author: 2026-01-02 / Ann
    """
    before = context.history.committed_plan if context.history is not None else None
    if before is None or DRAFT in (before.state(), plan.state()):
        return
    from execplan.linter.plan_comparison import changed_sections, new_entries

    if before.state() == COMPLETE or not any([task.state == DONE for task in before.tasks]):
        return
    changed_names = changed_sections(before, plan)
    if changed_names and changed_names != [outline.CONTEXT] and not new_entries(before, plan):
        section = plan.section(changed_names[0])
        other_names = f" (and {', '.join(changed_names[1:])})" if changed_names[1:] else ""
        message = f"{changed_names[0]}{other_names} changed since the plan was committed, but no decision or revision note says why"
        yield on_line(plan, section.start if section is not None else max(plan.title_line, 0), message)


@rule("EP507", HINT, needs=HISTORY, in_archive=False)
def files_changed_since_plan(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Commits changed files that the plan describes since the plan was last edited.

    The plan describes the old files. Before you continue, read the changed files and correct the plan. Only files
    that a code span outside the logs names in full count; a merge counts as one step.

    Bad (changed src/reader.py):
        ## Context and Orientation

        The reader is `src/reader.py`.
    Good (changed src/writer.py):
        ## Context and Orientation

        The reader is `src/reader.py`.
    """
    if context.history is None or not context.history.changed_paths:
        return
    if plan.state() == COMPLETE:
        return
    from execplan.linter.plan_paths import find_named_paths

    named_paths, changed = find_named_paths(plan, context.source), set(context.history.changed_paths)
    paths = [path for path in named_paths if path in changed]
    if paths:
        span = named_paths[paths[0]]
        other_paths = ", ".join(paths[1:_MAX_NAMES])
        suffix = f"; so have {other_paths}{format_excess(len(paths), _MAX_NAMES)}" if other_paths else ""
        message = f"{paths[0]} has changed since the plan's last edit{suffix}"
        yield on_span(span, message)


@rule("EP513", WARNING, needs=HISTORY, in_archive=False)
def shipped_but_open(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Tasks are open, although Git's history shows that the plan's work is done.

    Readers take the plan for work that somebody has to do. Review the commits, check off the tasks, and archive the
    plan. The evidence is the same as that of `execplan doctor --stale`: the plan's pull requests are merged or its
    issues are closed in the main branch, or the files that it promises were created and nobody has worked on the plan
    since. The rule doesn't run with `--staged` and `--since`.

    Bad (shipped pull request #12 is merged):
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [ ] Build the parser.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [ ] Build the parser.
    """
    tasks = plan.unfinished_tasks
    shipped = context.history.shipped if context.history is not None else None
    if shipped is not None and tasks:
        yield on_line(plan, tasks[0].box_line, f"{shipped.evidence}: {shipped.commands}")


def _is_explained(text: str, explained_stems: set[str]) -> bool:
    """Return whether new entries share a long word with a task, or mention a reopening.

    `explained_stems` are the first letters of the words in new entries.
    """
    return "reope" in explained_stems or any(
        [len(word) >= _STEM_LENGTH and word[:_STEM_LENGTH] in explained_stems for word in text.split()]
    )


def _shorten(text: str) -> str:
    return text if len(text) < 60 else text[:57].rstrip() + "…"
