"""Git repositories whose plans and files were committed on certain days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.conftest import Folder, Result

PLANS = ".agents/plans/active"
SETTINGS = f"""\
plans = "{PLANS}"
archive = ".agents/plans/completed"
superseded = ".agents/plans/abandoned"
"""
OUTCOME = "## Outcomes & Retrospective\n\nIt works.\n"
DONE_TASKS = "- [x] (2025-04-20 10:00Z) Write it.\n- [x] (2025-04-21 10:00Z) Test it.\n"
OPEN_TASKS = "- [ ] Write it.\n- [ ] Test it.\n"


def make_plan(title: str, tasks: str, *parts: str, header: str = "", front: str = "") -> str:
    """A plan with these tasks and sections."""
    front_matter = f"---\n{front}---\n\n" if front else ""
    head = f"# {title}\n\n{header}\n\n" if header else f"# {title}\n\n"
    logs = "## Surprises & Discoveries\n\nNone so far.\n\n## Decision Log\n\nNone so far.\n\n"
    outcomes = "" if OUTCOME in parts else "## Outcomes & Retrospective\n\nNone yet.\n\n"
    sections = "".join([f"{part.strip()}\n\n" for part in sorted(parts, key=lambda part: part != OUTCOME)])
    return f"{front_matter}{head}## Progress\n\n{tasks}\n{logs}{outcomes}{sections}"


def promise(*paths: str) -> str:
    """A section that promises files."""
    return "## Interfaces and Dependencies\n\n" + "".join([f"`{path}` has the code.\n" for path in paths])


def add_plan(folder: Folder, name: str, content: str) -> None:
    """Write a plan of the project."""
    folder.write(f"{PLANS}/{name}.md", content)


def commit(folder: Folder, day: str, message: str) -> str:
    """Commit everything on a day, and give the commit."""
    dates = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
    folder.env |= dates
    folder.git("add", "-A")
    folder.git("commit", "-q", "--allow-empty", "-m", message)
    for name in dates:
        del folder.env[name]
    return folder.git("rev-parse", "HEAD").strip()


def merge(folder: Folder, day: str, branch: str, message: str) -> str:
    """Merge a branch into the current one on a day, with a merge commit."""
    dates = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
    folder.env |= dates
    folder.git("merge", "-q", "--no-ff", "-m", message, branch)
    for name in dates:
        del folder.env[name]
    return folder.git("rev-parse", "HEAD").strip()


def stale(folder: Folder) -> dict[str, dict[str, Any]]:
    """The findings of `doctor --stale` by the name of the plan, with their kinds."""
    result: Result = folder.run("doctor", "--stale", "--json")
    assert "Traceback" not in result.err
    findings = {}
    for finding in result.json["data"]["findings"]:
        assert finding["check"] == "stale", finding
        kind, _, message = finding["message"].partition(": ")
        findings[finding["path"].rpartition("/")[2].removesuffix(".md")] = {**finding, "kind": kind, "message": message}
    assert result.exit == (1 if findings else 0)
    return findings
