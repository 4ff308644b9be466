"""The error class for all user-facing errors, with code, message, location, hint and exit status."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any, Final

OK: Final = 0
CHECK_FAILED: Final = 1
USAGE: Final = 2
INPUT: Final = 3
CONFLICT: Final = 4
BUSY: Final = 5
ENVIRONMENT: Final = 6
POLICY: Final = 7
PAUSED: Final = 8
INTERNAL_ERROR: Final = 70
INTERRUPTED: Final = 130
TERMINATED: Final = 143

EXIT_MEANINGS = {
    OK: "success; no findings",
    CHECK_FAILED: "check failed: findings, an unreadable plan among those checked, a plan that can't be archived, an edit of an archived plan, a blocked execution plan, a failed run, a failed check of a task, a question not answered with yes, nothing to undo, a task that someone else has claimed, conflicts left by a merge",
    USAGE: "usage error: an unknown command or option, options that can't be combined, empty text",
    INPUT: "invalid input: an unknown plan or task, an ambiguous name, an unreadable file, invalid settings",
    CONFLICT: "conflict: a file changed during the operation, a digest doesn't match, a run was interrupted in a step, or an approval is stale, expired, altered or used",
    BUSY: "busy: timed out waiting for a lock, another run is active, or a merge or rebase is in progress",
    ENVIRONMENT: "environment: no project, no git, a full disk, a read-only file, a failed git hook",
    POLICY: "not allowed by policy: a path outside the repository, a step or a task's check that is not approved or can't be approved, a task whose check is required, a key that others can read, too few approvers, a signature that does not count, someone else's task when claims are enforced",
    PAUSED: "paused: a run is waiting for an answer",
    INTERNAL_ERROR: "internal error: a bug in execplan; the message shows the path of the report",
    INTERRUPTED: "interrupted with Ctrl-C",
    TERMINATED: "terminated by a signal, such as SIGTERM",
}
"""Explanation of each exit status."""

CODES_BY_EXIT: Final = {
    CHECK_FAILED: (
        "already-claimed another-author archived-plan comment-resolved committed-plan conflicts-left declined "
        "draft-errors edited-block edited-checkpoint foreign-driver has-artifacts index-not-staged is-a-link "
        "ledger-broken lint-errors merge-blocked merge-conflicts must-not-run newer-version no-change not-a-chart "
        "not-a-document not-an-export not-exportable not-finished not-metrics not-ours nothing-claimed "
        "nothing-to-approve nothing-to-redo nothing-to-replan nothing-to-resume nothing-to-roll-back "
        "nothing-to-undo open-run other-source own-worktree partly-staged patch-does-not-apply run-under-way staged-plan "
        "step-overwritten too-large-to-send uncommitted-changes uncommitted-plan undone-otherwise worked-on "
        "worktree-locked wrong-branch"
    ),
    USAGE: (
        "bad-answer bad-character bad-executor bad-metadata invalid-query long-title no-words too-many-words "
        "unknown-filter-value usage"
    ),
    INPUT: (
        "agent-mode ambiguous-approval ambiguous-comment ambiguous-decision ambiguous-heading ambiguous-part "
        "ambiguous-plan ambiguous-run ambiguous-section ambiguous-task ambiguous-worktree bad-api-url bad-baseline "
        "bad-check bad-composition bad-document bad-event bad-file-list bad-folder bad-form bad-front-matter bad-import "
        "bad-job-outputs bad-json bad-key bad-markers bad-patch bad-regex bad-replan bad-rules bad-setting bad-steps "
        "bad-ticket bad-toml bad-transition bad-units bad-yaml branch-exists broken-manifest broken-template "
        "budget-too-small claims-damaged conflict-markers damaged-block dependency-cycle directory-exists "
        "double-unit empty-file form-too-large github-not-found github-rejected half-moved heading-in-body "
        "home-exists intent-damaged journal-damaged loosened-policy metadata-by-hand name-taken no-base-commit "
        "no-check no-commits no-drafting-program no-enhancer no-place no-place-for-purpose no-plan no-projects-listed no-steps "
        "no-such-approval no-such-comment no-such-decision no-such-file no-such-heading no-such-home no-such-item "
        "no-such-job no-such-page no-such-part no-such-plan no-such-project no-such-revision no-such-rule "
        "no-such-run no-such-schema no-such-section no-such-step no-such-task no-text no-title no-worktree "
        "not-a-file not-a-folder not-a-plan not-a-site not-in-revision not-utf-8 nothing-to-attest nul-byte "
        "other-plan own-successor person-required plan-deleted read-only-task rule-failed section-twice "
        "struck-through target-taken task-done too-large two-settings unclosed-fence unclosed-in-body unknown-form unknown-host "
        "unknown-session unknown-setting unknown-template worktree-exists worktree-missing would-break"
    ),
    CONFLICT: (
        "approval-altered approval-expired approval-used changed-since changed-underneath check-changed "
        "digest-differs drifted not-as-then other-digest other-document plan-gone program-changed run-cut-short "
        "stale-approval stale-proposal target-changed task-gone unsaved-document"
    ),
    BUSY: "busy git-busy github-rate-limit run-busy under-way",
    ENVIRONMENT: (
        "backup-altered backup-missing bare-repository branch-not-checked-out detached-head drafting-failed "
        "existing-plans git-failed git-slow git-untrusted github-forbidden github-unauthorized "
        "github-unavailable graphviz-failed ignored-by-git incompatible-executor io-error journal-altered "
        "merge-failed missing-base-commit newer-state no-charts no-dask no-editor no-executor "
        "no-full-text-search no-git no-github-token no-graphviz no-home no-locks no-lsp no-mcp no-repository "
        "no-signing-key no-ssh-keygen no-terminal no-tokenizer no-web not-committed not-on-windows not-signed "
        "port-in-use port-not-allowed read-only run-altered sandbox-missing worker-died"
    ),
    POLICY: (
        "approvers-missing check-denied check-not-approved check-required claimed-task evidence-outside "
        "executor-without-tls hidden-character hooks-outside inferred-steps key-inside link-outside "
        "linked-comments linked-index no-allowed-signers not-approvable not-approved other-project path-outside "
        "plan-ignored program-of-repository protected-path rules-of-repository secret-file signature-not-allowed "
        "stale-page step-not-approved unknown-signer unsafe-key"
    ),
    PAUSED: "paused",
    INTERNAL_ERROR: "bug",
    INTERRUPTED: "interrupted",
    TERMINATED: "terminated",
}
"""The codes of all errors by their exit status; `templates/explain/errors.md` explains them."""


class ExecplanError(Exception):
    """An error to show to the user; any other exception is a bug."""

    hint_label = "hint"
    """Label printed before the hint."""
    explanations: Mapping[str, str] = {}
    """Explanations of candidates, printed for people only."""
    warnings: tuple[str, ...] = ()
    """Warnings about what was done before the error, printed as those of an answer."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        candidates: Sequence[str] = (),
        line: int = 0,
        data: object = None,
        details: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        """Stable error code for programs, such as `no-such-task`."""
        self.message = message
        self.exit = exit_status(code)
        self.hint = hint
        """Suggested next action for the user: a command or an edit."""
        self.candidates = tuple(candidates)
        self.line = line
        """Line number of the problem, counted from 1; 0 if no single line is at fault."""
        self.data = data
        """At exit status 1, the data of the JSON document."""
        self.details = tuple(details)
        """The candidates as JSON objects, where their names alone are not enough to choose one."""

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> ExecplanError:
        """Recreate an error from its stored fields: code, message, hint and candidates."""
        return cls(fields["code"], fields["message"], hint=fields["hint"], candidates=fields["candidates"])

    def add_plan_name(self, name: str) -> None:
        """Add the plan's name to a hint that ends with a command about a plan."""
        from shlex import quote

        _, call, command = self.hint.rpartition("execplan ")
        verb = command.partition(" ")[0]
        if call and command in _WITH_PLAN_ARGUMENT:
            self.hint += f" {quote(name)}"
        elif call and verb in _WITH_PLAN_OPTION:
            self.hint += f" -p {quote(name)}"


def exit_status(code: str) -> int:
    """Return the exit status of an error; an unknown code is a bug."""
    return next((status for status, codes in CODES_BY_EXIT.items() if code in codes.split()), INTERNAL_ERROR)


def usage_error(message: str, hint: str = "", candidates: Sequence[str] = ()) -> ExecplanError:
    """Return the error for arguments or options that a command doesn't accept."""
    return ExecplanError("usage", message, hint=hint, candidates=candidates)


def interrupted_error(signal: str, message: str = "", hint: str = "") -> ExecplanError:
    """Return the error for work that a signal has stopped; the message defaults to what the signal does."""
    if signal == "SIGINT":
        return ExecplanError("interrupted", message or "interrupted", hint=hint)
    return ExecplanError("terminated", message or "terminated", hint=hint)


_WITH_PLAN_ARGUMENT = ("show", "commit", "merge")
"""Commands in hints that take a plan as an argument."""
_WITH_PLAN_OPTION = ("add", "reopen", "reword")
"""Commands at the end of hints, with their arguments, that take a plan with `-p`."""


class ErrorContext:
    """A context manager that adds the file path and the line number to every ExecplanError raised inside it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, ExecplanError) and self.path not in error.message:
            names_line = error.message.startswith(f"line {error.line} ")
            location = f"{self.path}:{error.line}" if error.line and not names_line else self.path
            error.message = f"{location}: {error.message}"
