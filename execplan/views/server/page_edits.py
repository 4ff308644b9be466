"""The edits that a plan's page offers, made as on the command line, and the forms that pages send for them.

Approving, running, archiving and every other edit stay in the terminal, where a person sees what will happen.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_change import require_blocks, require_lines, require_text
from execplan.core.plan_store import claims
from execplan.core.plan_store.author import actor
from execplan.library.plan_api import Plan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.requests import Request

    from execplan.core.edits.plan_writer import EditResult, WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.review.comment_file import StoredRecord

MAX_BODY_BYTES = 128 * 1024
"""Maximum size of a form: 9 bytes for each character that the fields of a plan's page accept, and the other fields."""
_MAX_DISCARDED_BYTES = 8 * 1024 * 1024
"""How much of a form that is too large is read: a browser shows an answer only after it has sent the form."""
_DISCARD_SECONDS = 2.0
"""Time for which a form that is too large is read."""
_MAX_FIELDS = 20
_READ_SECONDS = 10.0
"""Time within which a browser must send a form."""
_FORM_TYPE = "application/x-www-form-urlencoded"
TOKEN_FIELD = "token"  # noqa: S105 - the name of a field, no secret
_TEXT_LABELS = {"decide": "Decision", "comment": "Comment", "reply": "Reply"}
"""Labels of the text that a form sends, by action."""
DIGEST_FIELD = "digest"
ACTION_FIELD = "action"


async def read_form(request: Request) -> dict[str, str]:
    """Read the fields of a form.

    Raises ExecplanError if it is not a form, or too large. The caller checks its token.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM_TYPE:
        message = f"a form of the type {_FORM_TYPE} is required"
        raise ExecplanError("bad-form", message, hint="submit a form of the plan's page")
    try:
        async with asyncio.timeout(_READ_SECONDS):
            body = await _read_body(request)
    except TimeoutError:
        message = "the form did not arrive in time; nothing was written"
        raise ExecplanError("bad-form", message, hint="submit it again") from None
    return _parse_fields(body)


async def _read_body(request: Request) -> bytes:
    """Read the body of a request; raises ExecplanError if it is too large."""
    body = b""
    chunks = request.stream()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            await _discard(chunks)
            message = f"the text is too large: a form can send {MAX_BODY_BYTES >> 10} KiB; nothing was written"
            raise ExecplanError("form-too-large", message, hint="write it in an editor: execplan edit")
    return body


async def _discard(chunks: AsyncIterator[bytes]) -> None:
    """Read what a browser still sends, within limits."""
    size = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DISCARD_SECONDS):
            async for chunk in chunks:
                size += len(chunk)
                if size > _MAX_DISCARDED_BYTES:
                    return


def ensure_token_matches(fields: Mapping[str, str], token: str) -> None:
    """Raise ExecplanError unless the form has the token, which takes the same time for each wrong one."""
    if not hmac.compare_digest(fields.get(TOKEN_FIELD, "").encode(), token.encode()):
        raise ExecplanError(
            "stale-page",
            "this page was made by an earlier start of the server, or by another site; nothing was written",
            hint="open the plan again, then repeat the edit",
        )


def _parse_fields(body: bytes) -> dict[str, str]:
    """Parse a form; raises ExecplanError if it is malformed or has a field twice."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:  # also UnicodeDecodeError
        pairs = []
    fields = dict(pairs)
    if not pairs or len(fields) != len(pairs):
        message = "this is not a form of a plan's page; nothing was written"
        raise ExecplanError("bad-form", message, hint="submit a form of the plan's page")
    return fields


class PageEdit(NamedTuple):
    """An edit that a page has requested."""

    action: str
    fields: Mapping[str, str]
    digest: str
    """SHA-256 of the plan that the page showed, in 64 hexadecimal digits."""


def entered_texts(fields: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the texts that a person has entered in a form, each with its label."""
    text_label = _TEXT_LABELS.get(fields.get(ACTION_FIELD, ""), "New task")
    labels = {"text": text_label, "why": "Rationale", "on": "Comment on"}
    return [(label, fields[name]) for name, label in labels.items() if fields.get(name)]


def parse_edit(fields: Mapping[str, str]) -> PageEdit:
    """Return the edit that a form requests; raises ExecplanError if it is none that pages offer."""
    action, digest = fields.get(ACTION_FIELD, ""), fields.get(DIGEST_FIELD, "").lower()
    if action not in _EDITS:
        message = f"pages can't make the edit {action[:40]!r}: they offer {', '.join(_EDITS)}"
        raise ExecplanError("bad-form", message, hint="use the command line: execplan --help")
    if len(digest) != 64 or digest.strip("0123456789abcdef"):
        message = "the form doesn't say which version of the plan it was made for; nothing was written"
        raise ExecplanError("bad-form", message, hint="open the plan again, then repeat the edit")
    return PageEdit(action, fields, digest)


def apply_edit(project: Project, ref: PlanRef, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    """Make an edit if the plan is still the one that the page showed, and return messages for the next page.

    Raises ExecplanError as the command of the same name does: at exit status 4, the plan has changed, and the error lists
    what changed. `options` say whether to commit.
    """
    return _EDITS[edit.action](Plan(project, ref), edit, options._replace(if_match=edit.digest))


def _complete_task(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    return _edit_messages(plan.done(_require_field(edit, "task"), options=options))


def _reopen_task(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    return _edit_messages(plan.reopen(_require_field(edit, "task"), options=options))


def _add_task(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    return _edit_messages(plan.add(_require_field(edit, "text"), options=options))


def _add_decision(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    text, rationale = _require_field(edit, "text"), _require_field(edit, "why")
    return _edit_messages(plan.decide(text, why=rationale, options=options))


def _claim_task(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    from execplan.core.edits.digest_check import ensure_digest_matches

    ensure_digest_matches(plan.project, plan.ref, options.if_match)
    name, task = actor(plan.project), _require_field(edit, "task")
    task_id = claims.claim_task(plan.project, plan.ref, name, claims.DEFAULT_HOURS, task)
    return (f"claimed by {name}: {task_id}",)


def _release_task(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    from execplan.core.edits.digest_check import ensure_digest_matches

    ensure_digest_matches(plan.project, plan.ref, options.if_match)
    name, task = actor(plan.project), _require_field(edit, "task")
    task_ids = claims.release_claims(plan.project, plan.ref, name, task)
    released = tuple([f"released by {name}: {task_id}" for task_id in task_ids])
    return released or (f"nothing was released: {name} has no claim on this task",)


def _comment(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    stored = plan.comment(
        _require_lines(edit, "the comment"), on=edit.fields.get("on", "").strip() or None, options=options
    )
    return _comment_messages("commented", stored)


def _reply(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    stored = plan.reply(edit.fields.get("comment", ""), _require_lines(edit, "the reply"), options=options)
    return _comment_messages("replied", stored)


def _resolve(plan: Plan, edit: PageEdit, options: WriteOptions) -> tuple[str, ...]:
    return _comment_messages("resolved", plan.resolve(edit.fields.get("comment", ""), options=options))


_EDITS: dict[str, Callable[[Plan, PageEdit, WriteOptions], tuple[str, ...]]] = {
    "done": _complete_task,
    "reopen": _reopen_task,
    "add": _add_task,
    "claim": _claim_task,
    "release": _release_task,
    "decide": _add_decision,
    "comment": _comment,
    "reply": _reply,
    "resolve": _resolve,
}


def _require_field(edit: PageEdit, name: str) -> str:
    """Return a field's text as one line; raises ExecplanError if it is empty or has disallowed characters."""
    label = {"task": "the task", "why": "the rationale"}.get(name)
    label = label or ("the decision" if edit.action == "decide" else "the new task")
    require = require_text if name == "task" or edit.action == "add" else require_blocks
    return require(edit.fields.get(name, ""), label)


def _require_lines(edit: PageEdit, label: str) -> str:
    """Return the text of a form with its lines; raises ExecplanError if it is empty or has disallowed characters."""
    return "\n".join(require_lines(edit.fields.get("text", ""), label))


def _comment_messages(message: str, stored: StoredRecord) -> tuple[str, ...]:
    committed = (f"committed {stored.commit[:12]}",) if stored.commit else ()
    return (message, *committed, *[f"warning: {warning}" for warning in stored.warnings])


def _edit_messages(result: EditResult) -> tuple[str, ...]:
    committed = (f"committed {result.commit[:12]}",) if result.commit else ()
    return (*result.messages, *committed, *[f"warning: {warning}" for warning in result.warnings])
