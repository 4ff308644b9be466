"""Review comments as text: each with the part of the plan that it is about, its text and its replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, json_fields, written_answer
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import fit_line, paint
from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_anchors import PLAN
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.text.message_parts import format_count, shorten
from execplan.team.advice.conflict_warnings import conflict_commands
from execplan.team.advice.plan_json import plan_json
from execplan.team.review.comment_file import load_threads
from execplan.team.review.comment_threads import REOPEN, REPLY, RESOLVE, match_threads
from execplan.team.review.plan_comments import PlanComments, load_comments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project
    from execplan.team.advice.advice import Advice
    from execplan.team.review.comment_file import StoredRecord
    from execplan.team.review.comment_threads import CommentRecord
    from execplan.team.review.plan_comments import PlacedThread

_ACTIONS = {REPLY: "", RESOLVE: " resolved it", REOPEN: " reopened it"}
_MAX_PART_LENGTH = 100
"""Maximum number of characters of the text of a task or entry."""
_INDENT = 4


def comments_answer(stored_plan: StoredPlan, plan: ParsedPlan, warnings: tuple[str, ...]) -> Answer:
    """Build the answer of `show --comments`."""
    comments, problems = _read_comments(stored_plan, plan)
    data = {**plan_json(stored_plan), "comments": [placed.to_json() for placed in comments.threads]}
    lines = format_comments(comments) or [f"{stored_plan.ref.id}: no comments"]
    name = quote_plan_name(stored_plan.ref.id, stored_plan.ref.path)
    open_ids = [placed.thread.short_id for placed in comments.threads if placed.thread.is_open]
    resolving = tuple([f"execplan resolve {short_id} -p {name}" for short_id in open_ids])
    commands = conflict_commands([stored_plan]) or resolving
    return Answer(data, "\n".join(lines), warnings=(*warnings, *problems), next_commands=commands)


def add_comments(data: dict[str, Any], stored_plan: StoredPlan, plan: ParsedPlan) -> tuple[list[str], tuple[str, ...]]:
    """Add the comments to a plan's data, and return the lines about open ones, and warnings."""
    comments, problems = _read_comments(stored_plan, plan)
    data["comments"] = [placed.to_json() for placed in comments.threads]
    name = quote_plan_name(stored_plan.ref.id, stored_plan.ref.path)
    return format_comments(comments, f"execplan show {name} --comments"), problems


def _read_comments(stored_plan: StoredPlan, plan: ParsedPlan) -> tuple[PlanComments, tuple[str, ...]]:
    """Return the comments of a plan, and warnings about those that can't be read."""
    try:
        comments = load_comments(stored_plan.project, stored_plan.ref, plan)
    except ExecplanError as error:
        return PlanComments(), (f"the comments can't be read: {error.message}",)
    return comments, comments.problems


def format_comments(comments: PlanComments, show_command: str = "") -> list[str]:
    """Return the lines of the open comments with a heading; `show_command` shows the resolved ones.

    Without `show_command`, return all comments, the open ones first.
    """
    open_threads = comments.open_threads
    resolved = [placed for placed in comments.threads if not placed.thread.is_open]
    lines = []
    if open_threads:
        lines += [paint(f"{format_count(len(open_threads), 'open comment')}:", "bold"), *thread_lines(open_threads)]
    if resolved and not show_command:
        heading = f"{format_count(len(resolved), 'resolved comment')}:"
        lines += [*([""] if lines else []), paint(heading, "bold"), *thread_lines(resolved)]
    elif resolved and open_threads:
        lines.append(f"and {format_count(len(resolved), 'resolved comment')}: {show_command}")
    return lines


def thread_lines(threads: Sequence[PlacedThread]) -> list[str]:
    """Return the lines of comments with their replies."""
    lines = []
    for placed in threads:
        lead = f"  {placed.thread.short_id}  "
        first, *rest = fit_line(f"{lead}on {printable_line(_part_text(placed))}", indent=len(lead))
        lines += [paint(lead, "cyan") + first[len(lead) :], *rest]
        lines += _record_lines(placed.thread.comment, "")
        for reply in placed.thread.replies:
            lines += _record_lines(reply, _ACTIONS[reply.kind])
    return lines


def _part_text(placed: PlacedThread) -> str:
    """Describe the part of the plan that a comment is about, with its text."""
    anchor = placed.thread.comment.anchor
    if placed.target is None:
        note = " (stale)" if placed.is_stale else ""
        return f"a {placed.missing_part}{note}: {shorten(anchor.text, _MAX_PART_LENGTH)}"
    target = placed.target
    if anchor.kind == PLAN or target.label.endswith(target.anchor.text):
        return target.label
    return f"{target.label}: {shorten(target.anchor.text, _MAX_PART_LENGTH)}"


def _record_lines(record: CommentRecord, action: str) -> list[str]:
    """Return the lines of a comment or a reply, with its author and date."""
    author = f"{record.author}{action}, {record.time[:10]}"
    text_lines = record.text.splitlines() or [""]
    first = f"{author}: {text_lines[0]}" if text_lines[0] else author
    indents = [_INDENT, *[_INDENT + 2 for _ in text_lines[1:]]]
    return [
        fitted_line
        for indent, line in zip(indents, [first, *text_lines[1:]], strict=True)
        for fitted_line in fit_line(f"{'':{indent}}{printable_line(line)}", indent=_INDENT + 2)
    ]


def stored_answer(stored: StoredRecord, short_id: str, message: str, options: WriteOptions, *commands: str) -> Answer:
    """Build the answer of a command that adds a comment, a reply or a resolution."""
    record = stored.record
    data = {
        "id": record.id if record is not None else None,
        "short_id": short_id or None,
        "comment": (record.to or record.id) if record is not None else None,
        "path": stored.path,
        "changed": record is not None,
        **json_fields(stored, "digest commit"),
    }
    lines = [message]
    if options.dry_run:
        lines = [f"would write {path}" for path in stored.paths] or ["nothing to write"]
    return written_answer(stored, data, lines, commands, dry_run=options.dry_run)


_RESULTS = {REPLY: "replied to", RESOLVE: "resolved", REOPEN: "reopened"}


def thread_answer(
    location: tuple[Project, PlanRef],
    comment: str,
    change: Callable[[Project, PlanRef], StoredRecord],
    options: WriteOptions,
) -> Answer:
    """Change the thread of a comment, named by the beginning of its ID, and build the answer."""
    project, ref = location
    stored = change(project, ref)
    thread = match_threads(load_threads(project, ref), comment)[0]
    result = _RESULTS[stored.record.kind] if stored.record is not None else "nothing changed"
    command = f"execplan show {quote_plan_name(ref.id, ref.path)} --comments"
    answer = stored_answer(stored, thread.short_id, f"{result}: {thread.short_id}", options, command)
    if options.dry_run or any([other.is_open for other in load_threads(project, ref)]):
        return answer
    advice: Advice = features.load(features.PLAN_ADVICE)(plan_store.load(project, ref))
    return answer._replace(next_commands=advice.commands, work=advice.work)
