"""What rules may ask that the plan itself does not say; every answer is kept, so that a cache can ask again."""

from __future__ import annotations

from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from execplan.plan.model import ParsedPlan

HAS: Final = "has"
ENDS: Final = "ends"
SAME_ID: Final = "same-id"
EVIDENCE: Final = "evidence"

_NEVER: Final = 1 << 62


class Clock:
    """The time, in minutes since 1970 in UTC, and between which minutes every answer so far stays the same."""

    __slots__ = ("high", "low", "now")

    def __init__(self, now: int) -> None:
        self.now = now
        self.low = -_NEVER
        self.high = _NEVER

    def has_passed(self, minute: int) -> bool:
        """Whether a minute has begun."""
        if self.now >= minute:
            self.low = max(self.low, minute)
            return True
        self.high = min(self.high, minute)
        return False


class RepositoryTree:
    """The repository's files; paths count from its root, with `/` between folders."""

    __slots__ = ("_answer", "answers")

    def __init__(self, answer: Callable[[str, str], object]) -> None:
        self._answer = answer
        self.answers: dict[tuple[str, str], object] = {}
        """Every question with its answer."""

    def has_path(self, path: str) -> bool:
        """Whether there is a file or a folder of this path."""
        return bool(self._ask(HAS, path))

    def has_path_suffix(self, path: str) -> bool:
        """Whether the path of some tracked file or folder ends with these parts; slow the first time in a run."""
        return bool(self._ask(ENDS, path))

    def plan_with_same_id(self, path: str) -> str:
        """The path of another plan with the id of the plan in a file, archived ones too; or nothing."""
        return str(self._ask(SAME_ID, path))

    def archived_digest(self, path: str) -> str:
        """The digest that an archived plan had when it was archived, or nothing where no evidence tells."""
        return str(self._ask(EVIDENCE, path))

    def is_unchanged(self, kind: str, subject: str, answer: object) -> bool:
        """Whether a question has the answer that it had in another run."""
        return self._ask(kind, subject) == answer

    def _ask(self, kind: str, subject: str) -> object:
        question = kind, subject
        if question not in self.answers:
            self.answers[question] = self._answer(kind, subject)
        return self.answers[question]


class ProjectFacts(NamedTuple):
    """A home, for rules that are about no single plan; paths count from the repository's root."""

    plan_ids: tuple[str, ...] = ()
    """The ids of all plans, archived ones too, as they are compared."""
    artifact_directories: tuple[tuple[str, str], ...] = ()
    """Id, as it is compared, and path of each folder of artifacts."""
    commit_files: tuple[str, ...] = ()
    """The files that the next commit changes, without those of the home; none where no commit is judged."""
    touches_plan: bool = False
    """Whether the next commit changes a plan."""
    plan_scopes: tuple[tuple[str, frozenset[str]], ...] = ()
    """The path of each plan that is worked on, and the paths that it names."""
    max_files: int = 0
    """How many files a commit may change without a plan; 0: any number."""
    triage_reasons: tuple[str, ...] = ()
    """Why what the next commit changes calls for a plan, by triage; none where it does not."""


class GitHistory(NamedTuple):
    """What git knows of one plan."""

    committed_plan: ParsedPlan | None = None
    """The plan as it was committed, at HEAD or at the revision that was named; None when it was not there."""
    committed_path: str = ""
    """Where it lay then."""
    was_archived: bool = False
    changed_paths: tuple[str, ...] = ()
    """Tracked paths that commits have changed since the last one that touched the plan, and that it names."""
    missing_symbols: frozenset[str] = frozenset()
    """Of the symbols that it names, those that no tracked file holds."""
    is_partial: bool = False
    """Whether git was asked only for the plan as it was committed."""
