"""Model of the answer that every command prints with `--json`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from execplan.core.documents.document_model import Model
from execplan.core.documents.text_patterns import matching
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.text.violation import Violation


class OpenTask(Model):
    """An open task of a plan that a command could mean."""

    id: str
    text: str


class ClaimedTask(OpenTask):
    """An open task that somebody has claimed."""

    by: str
    until: str


class Candidate(Model):
    """A plan that a command could mean, described so that one can be chosen."""

    id: str
    path: str
    title: str | None
    state: str
    counts: dict[str, int] | None
    changed: str | None
    """The date of the last change, by the plan's timestamps, else by its file."""
    next: OpenTask | None
    """The first open task that nobody has claimed."""
    taken: tuple[ClaimedTask, ...]


class Refusal(Model):
    """Why a command was refused or failed."""

    code: Annotated[str, matching(r"^[a-z][a-z0-9-]*$", "a lowercase letter, then lowercase letters, digits and `-`")]
    """Code of the error; `execplan explain CODE` describes it."""
    exit: Annotated[int, Meta(ge=1, le=255)]
    message: str
    hint: str | None
    candidates: tuple[str | Candidate, ...]
    """What could be meant: names, or for the code `ambiguous-plan` a description of each plan; at most 250."""


class Answer(Model):
    """The JSON document that every command prints with --json."""

    document_name: ClassVar[str] = "answer"

    schema_: Literal["execplan/1"]
    kind: Annotated[str, matching(r"^[a-z][a-z-]*$", "a lowercase letter, then lowercase letters and `-`")]
    """The name of the command."""
    ok: bool
    """True if the exit status is 0."""
    data: dict[str, Any] | None
    """The result of the command; at exit status 1, the findings or the reasons."""
    error: Refusal | None
    warnings: tuple[str, ...]
    next: tuple[str, ...]
    """Suggested next commands."""

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> list[Violation]:
        """Check that an answer with an error is not `ok`, and has data only at exit status 1."""
        error, violations = value.get("error"), []
        if error is not None and value.get("ok") is True:
            violations.append(Violation("/ok", "is true, although there is an error"))
        if error is None and value.get("data") is None:
            violations.append(Violation("/data", "is missing, although there is no error"))
        if isinstance(error, dict) and error.get("exit") not in (OK, CHECK_FAILED) and value.get("data") is not None:
            violations.append(Violation("/data", "is set, although the error is not a failed check"))
        return violations
