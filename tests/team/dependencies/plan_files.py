"""Plans that depend on each other, for tests."""

from __future__ import annotations


def plan_text(title: str, *tasks: str, needs: str = "", extra: str = "") -> str:
    """A plan with tasks, such as `x Read lines` for one that is done; `needs` is the value of `depends_on`."""
    front = f"---\ndepends_on: [{needs}]\n---\n\n" if needs else ""
    lines = [f"- [x] (2025-12-30 09:15Z) {task[2:]}" if task.startswith("x ") else f"- [ ] {task}" for task in tasks]
    return (
        f"{front}# {title}\n\nThis ExecPlan is a living document.\n\n## Progress\n\n" + "\n".join(lines) + f"\n{extra}"
    )
