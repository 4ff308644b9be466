"""Facts that rules query besides the plan; answers are recorded, so that a cache can check them again."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.text_lines import Edit

HAS: Final = "has"
ENDS: Final = "ends"
SAME_ID: Final = "same-id"
EVIDENCE: Final = "evidence"
DEPENDENCY: Final = "dependency"
NEED: Final = "need"
CYCLE: Final = "cycle"
COMMENTS: Final = "comments"

_NEVER: Final = 1 << 62


class Clock:
    """The time, in minutes since 1970 in UTC, and the range in which all answers so far stay the same."""

    __slots__ = ("high", "low", "now")

    def __init__(self, now: int) -> None:
        self.now = now
        self.low = -_NEVER
        self.high = _NEVER

    def has_passed(self, minute: int) -> bool:
        """Return whether a minute has begun."""
        if self.now >= minute:
            self.low = max(self.low, minute)
            return True
        self.high = min(self.high, minute)
        return False


class RepositoryTree:
    """The repository's files; paths are relative to its root and use `/`."""

    __slots__ = ("_answer", "answers")

    def __init__(self, answer: Callable[[str, str], object]) -> None:
        self._answer = answer
        self.answers: dict[tuple[str, str], object] = {}
        """Every query with its answer."""

    def has_path(self, path: str) -> bool:
        """Return whether a file or directory with this path exists."""
        return bool(self._ask(HAS, path))

    def has_path_suffix(self, path: str) -> bool:
        """Return whether any tracked file or directory path ends with these parts. Slow the first time in a run."""
        return bool(self._ask(ENDS, path))

    def plan_with_same_id(self, path: str) -> str:
        """Return the path of another plan with the same ID as a plan, including archived ones; empty if none exists."""
        return str(self._ask(SAME_ID, path))

    def archived_digest(self, path: str) -> str:
        """Return the digest that a plan had when it was archived; empty if there is no evidence."""
        return str(self._ask(EVIDENCE, path))

    def dependency_problem(self, name: str) -> str:
        """Return why it is not clear which plan a name means; empty if it is."""
        return str(self._ask(DEPENDENCY, name))

    def need_problem(self, name: str) -> str:
        """Return why it is not clear which task of another plan a name such as `plan#3` means; empty if it is."""
        return str(self._ask(NEED, name))

    def dependency_cycle(self, path: str) -> str:
        """Return the plans and tasks that a plan waits for and that wait for it, as `a -> b -> a`; empty if there are none."""
        return str(self._ask(CYCLE, path))

    def open_comments(self, path: str) -> tuple[tuple[str, str, str, str, int, int, str], ...]:
        """Return the open review comments of a plan: short ID, author, the fields of its `Anchor`, and text.

        Without an ID, the text says why comments can't be read.
        """
        answer = self._ask(COMMENTS, path)
        return answer if isinstance(answer, tuple) else ()

    def is_unchanged(self, kind: str, subject: str, answer: object) -> bool:
        """Return whether a query still has the answer that it had in another run."""
        return self._ask(kind, subject) == answer

    def _ask(self, kind: str, subject: str) -> object:
        question = kind, subject
        if question not in self.answers:
            self.answers[question] = self._answer(kind, subject)
        return self.answers[question]


class OutdatedIndex(NamedTuple):
    """A plan index that differs from what the plans say."""

    path: str
    """Path of the file from the repository root."""
    line: int
    """Line where the index begins, from 0."""
    plan_ids: tuple[str, ...]
    """IDs of the plans whose rows are missing, wrong or left over; empty if only other lines differ."""
    edits: tuple[Edit, ...] = ()
    """Line edits that update the index."""


class ProjectFacts(NamedTuple):
    """Facts about a project, for rules not about a single plan; paths are relative to the repository root."""

    plan_ids: tuple[str, ...] = ()
    """Normalized IDs of all plans, including archived ones."""
    artifact_directories: tuple[tuple[str, str], ...] = ()
    """Normalized ID and path of each artifacts directory."""
    commit_files: tuple[str, ...] = ()
    """Files changed by the next commit, except the project's own; empty if no commit is checked."""
    touches_plan: bool = False
    """Whether the next commit changes a plan."""
    plan_scopes: tuple[tuple[str, frozenset[str]], ...] = ()
    """Path of each plan in progress, and the paths that it names."""
    max_files: int = 0
    """Maximum number of files that a commit may change without a plan; 0 means no limit."""
    triage_reasons: tuple[str, ...] = ()
    """Reasons from triage why the next commit needs a plan; empty if it needs none."""
    outdated_indexes: tuple[OutdatedIndex, ...] = ()
    """Plan indexes that differ from what the plans say, on disk or in the next commit."""


class ShippedWork(NamedTuple):
    """Evidence from Git that the work of a plan is done although tasks are open."""

    evidence: str
    """Sentences about merged pull requests, closed issues and created files, with their commits."""
    commands: str
    """Commands that check the tasks off and archive the plan."""


class GitHistory(NamedTuple):
    """Facts from Git about one plan."""

    committed_plan: ParsedPlan | None = None
    """Committed version of the plan, at HEAD or the given revision; None if it did not exist there."""
    committed_path: str = ""
    """Path of the committed version."""
    was_archived: bool = False
    changed_paths: tuple[str, ...] = ()
    """Tracked paths named in the plan and changed by commits since the last commit that changed the plan."""
    missing_symbols: frozenset[str] = frozenset()
    """Symbols named in the plan that no tracked file contains."""
    shipped: ShippedWork | None = None
    """Evidence that the work of a plan with open tasks is done; None if there is none, or if it was not searched."""
    is_partial: bool = False
    """Whether Git was only queried for the committed version of the plan."""
