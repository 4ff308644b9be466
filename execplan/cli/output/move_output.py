"""Commands that move or write several plans: the results, one summary, how to commit them all, and old paths elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import NOTHING_TO_COMMIT, Answer, json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.prompts import confirm
from execplan.core.edits.plan_commit import commit_arguments
from execplan.core.errors import OK, ExecplanError
from execplan.core.git.git_commit import uncommitted_files
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import can_ask
from execplan.core.text.message_parts import join_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.cli.answer import Call
    from execplan.core.archive.document_mentions import ConfirmRewrite, Mention
    from execplan.core.archive.plan_move import MoveResult
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.project.project import Project

_MAX_NAMED_FILES = 5
"""Maximum number of files that a warning names."""


links_option = click.option(
    "--rewrite-links/--keep-links",
    "links",
    default=None,
    help="Rewrite the old paths in documents outside the plans. Default: ask on a terminal, otherwise report them.",
)
"""For a command that moves a plan."""


def rewrite_decider(call: Call, links: bool | None, *, has_more: bool = False) -> ConfirmRewrite | None:
    """Return a callback that decides whether to rewrite documents, by option or prompt; None if neither applies.

    With `has_more`, it is called for several plans, and asks only once.
    """
    if links is not None:
        return lambda _: links
    if not can_ask() or call.as_json:
        return None
    answers: list[bool] = []

    def decide(mentions: Sequence[Mention]) -> bool:
        documents = [mention for mention in mentions if mention.is_document]
        if documents and not answers:
            answers.append(_ask_to_rewrite(documents, has_more=has_more))
        return bool(documents) and answers[0]

    return decide


def _ask_to_rewrite(documents: Sequence[Mention], *, has_more: bool) -> bool:
    """List the documents and ask whether to rewrite them, and those about the plans that follow."""
    for document in documents:
        print(f"{printable_line(document.path)}:{document.lines[0]} refers to the old path")
    subject = "this document" if len(documents) == 1 else f"these {len(documents)} documents"
    more = ", and all others that name the moved plans" if has_more else ""
    return confirm(f"Rewrite {subject}{more}?")


class PlanAnswer(NamedTuple):
    """The answer about one of several plans."""

    project: Project
    answer: Answer

    @property
    def changed_files(self) -> list[tuple[Project, str]]:
        """The plan if it was changed, and the files that name it, as absolute paths."""
        data = self.answer.data
        paths = [data["path"], *data.get("followed", ())] if data["changed"] else []
        return [(self.project, os.path.join(self.project.root, path)) for path in paths]


def join_answers(
    answers: Sequence[PlanAnswer],
    headline: str,
    left: Mapping[str, Sequence[str]],
    left_label: str,
    options: WriteOptions,
    *,
    failed: int = OK,
) -> Answer:
    """Combine the answers about several plans into one, with the plans that were left and the reasons.

    `failed` is the exit status if plans were left.
    """
    commits = [answer.data["commit"] for _, answer in answers if answer.data["commit"]]
    data: dict[str, Any] = {
        "plans": [answer.data for _, answer in answers],
        "left": [{"id": name, "reasons": list(reasons)} for name, reasons in left.items()],
        "changed": any([answer.data["changed"] for _, answer in answers]),
        "commit": commits[0] if commits else None,
    }
    if options.dry_run:
        lines = [answer.text for _, answer in answers]
    else:
        plans = [answer.data["path"] for _, answer in answers if answer.data["changed"]]
        followed = [path for _, answer in answers for path in answer.data.get("followed", ())]
        documents = [path for _, answer in answers for path in answer.data.get("rewritten", ())]
        by_user = "" if commits else "; to commit that, use git"
        lines = [headline, *[printable_lines([f"  {path}"]) for path in plans]] if answers else []
        lines += [
            printable_lines([f"rewrote paths in {path}"]) for path in dict.fromkeys(followed) if path not in plans
        ]
        lines += [printable_lines([f"rewrote paths in {path}{by_user}"]) for path in dict.fromkeys(documents)]
        lines += [f"committed {commit[:12]}" for commit in dict.fromkeys(commits)]
        lines += [NOTHING_TO_COMMIT] if options.commit and data["changed"] and not commits else []
    lines += [printable_lines([f"{left_label}: {name}: {'; '.join(reasons)}"]) for name, reasons in left.items()]
    warnings = tuple(dict.fromkeys([line for _, answer in answers for line in answer.warnings]))
    files = [file for plan in answers for file in plan.changed_files]
    next_commands = () if options.dry_run or commits else commit_commands(files)
    is_requested = bool(left) or any([answer.is_requested for _, answer in answers])
    return Answer(data, "\n".join(lines), failed if left else OK, warnings, next_commands, is_requested=is_requested)


def commit_commands(files: Sequence[tuple[Project, str]]) -> tuple[str, ...]:
    """Return the command that commits the plans among some files, given by absolute path; none if all are as git has them."""
    names: list[str] = []
    for project in {project.plans: project for project, _ in files if project.git is not None}.values():
        plans = [
            path
            for owner, path in files
            if owner.plans == project.plans and project.split_plan_path(path)[0] in (project.plans, *project.archives)
        ]
        uncommitted = _find_uncommitted(project, plans) if plans else set()
        names += [
            plan_store.name_in_commands(project, plan_store.ref_for_path(project, path))
            for path in plans
            if project.display_path(path) in uncommitted
        ]
    return (f"execplan commit {commit_arguments(list(dict.fromkeys(names)))}",) if names else ()


def _find_uncommitted(project: Project, paths: Sequence[str]) -> set[str]:
    """Return the paths from the root of those files that git does not have like this; all if git can't tell."""
    names = [project.display_path(path) for path in paths]
    try:
        return set(uncommitted_files(project, names))
    except ExecplanError:
        return set(names)


def move_answer(
    project: Project, moved: MoveResult, options: WriteOptions, unchanged_text: str, rewrite: str | None = ""
) -> Answer:
    """Build the answer of a command that moves a plan; `unchanged_text` is printed if nothing was moved.

    `rewrite` is how to rewrite documents with old paths; with None, such documents are not reported.
    """
    warnings = moved.warnings
    if rewrite is not None:
        warnings += mention_warnings(moved.mentions, rewrite)
    data: dict[str, Any] = {
        **json_fields(moved, "path changed digest commit"),
        "moves": [{"from": old, "to": new} for old, new in moved.moves],
        **json_fields(moved, "followed evidence attestation rewritten"),
        "mentions": [{"path": mention.path, "lines": list(mention.lines)} for mention in moved.mentions],
    }
    if options.dry_run:
        data["diff"] = moved.diff
    files = [(project, os.path.join(project.root, path)) for path in (moved.path, *moved.followed)]
    next_commands = () if options.dry_run or moved.commit else commit_commands(files)
    if not moved.changed:
        text = printable_lines([f"{unchanged_text}: {moved.path}"])
        return Answer(data, text, warnings=warnings, next_commands=next_commands, is_requested=False)
    lines = [] if options.dry_run else list(moved.messages)
    move, rewrite_paths, write = "moved", "rewrote paths in", "wrote"
    if options.dry_run:
        move, rewrite_paths, write = "would move", "would rewrite paths in", "would write"
    lines += [f"{move} {old} to {new}" for old, new in moved.moves]
    lines += [f"{rewrite_paths} {path}" for path in moved.followed]
    by_user = "" if options.dry_run or moved.commit or project.git is None else "; to commit that, use git"
    lines += [f"{rewrite_paths} {path}{by_user}" for path in moved.rewritten]
    lines += [f"{write} {path}" for path in (moved.evidence, moved.attestation) if path]
    if moved.commit:
        lines.append(f"committed {moved.commit[:12]}")
    elif options.commit and not options.dry_run:
        lines.append(NOTHING_TO_COMMIT)
    text = printable_lines(lines, moved.diff)
    return Answer(data, text, warnings=warnings, next_commands=next_commands, is_requested=options.dry_run)


def mention_warnings(mentions: Sequence[Mention], command: str) -> tuple[str, ...]:
    """Return warnings about files that mention an old path; for documents, with the command that rewrites them."""
    documents, other_files = [
        [mention for mention in mentions if mention.is_document is is_document] for is_document in (True, False)
    ]
    warnings = []
    if documents:
        pronoun = "it" if len(documents) == 1 else "them"
        remedy = f"to rewrite {pronoun}: {command}" if command else f"change {pronoun} by hand"
        warnings.append(f"{_format_locations(documents)}; {remedy}")
    if other_files:
        warnings.append(f"{_format_locations(other_files)}; change {'it' if len(other_files) == 1 else 'them'} by hand")
    return tuple(warnings)


def _format_locations(mentions: Sequence[Mention]) -> str:
    locations = [f"{mention.path}:{mention.lines[0]}" for mention in mentions]
    verb = "names" if len(mentions) == 1 else "name"
    return f"{join_first(locations, _MAX_NAMED_FILES)} {verb} the old path"
