"""What a task's text says it needs from other plans: `needs parser#3`, or several: `needs parser#t1b2c3, docs#2`."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple

_WORD = "needs"
_OPENING, _CLOSING = "(`[*_", ")`].:;*_"


class TaskNeed(NamedTuple):
    """A task of another plan that must be done first."""

    plan: str
    """Name of the plan, as written."""
    task: str
    """ID or number of the task."""

    @property
    def name(self) -> str:
        """The need as written, such as `parser#3`."""
        return f"{self.plan}#{self.task}"


def read_task_needs(text: str) -> tuple[TaskNeed, ...]:
    """Return the needs in a task's text.

    A reference to an issue of another repository, such as `needs owner/name#12`, is none: a plan's path ends with `.md`.
    """
    if "#" not in text or _WORD not in text.lower():
        return ()
    needs: list[TaskNeed] = []
    is_open = False
    for word in text.split():
        bare = word.strip(_OPENING + _CLOSING + ",")
        if bare.lower() == _WORD:
            is_open = True
        elif is_open and (need := _parse_need(bare)) is not None:
            needs.append(need)
            is_open = word.endswith(",")
        else:
            is_open = (is_open and bare.lower() == "and") or (bool(needs) and bare.lower() == "and")
    return tuple(dict.fromkeys(needs))


def _parse_need(word: str) -> TaskNeed | None:
    plan, _, task = word.partition("#")
    is_task = task.isascii() and task.replace("-", "").isalnum()
    is_plan = bool(plan) and ("/" not in plan or plan.endswith(".md"))
    return TaskNeed(plan, task) if is_task and is_plan else None
