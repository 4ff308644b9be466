"""A repository in which 13 of 13 active plans are in truth finished, given up or out of date, as real ones were.

The reports that it follows are rjmurillo/ai-agents#3426 and block/proto-fleet#1048: nothing moved plans out of the
directory of active ones, so it filled with plans whose tasks, status lines and files contradicted each other.
"""

from __future__ import annotations

import pytest

from tests.cli.doctor.doctor_findings import run_remedy
from tests.conftest import Folder
from tests.team.staleness.dated_repository import (
    DONE_TASKS,
    OPEN_TASKS,
    OUTCOME,
    SETTINGS,
    add_plan,
    commit,
    make_plan,
    merge,
    promise,
    stale,
)

IN_PROGRESS = "**Status:** In Progress"
LINES = "".join([f"Axis {number}\n" for number in range(30)])
EXPECTED = {
    "01-kit-vendor": ("ready to archive", "execplan archive 01-kit-vendor"),
    "02-knowledge": (
        "ready to archive",
        "execplan outcome 'What was achieved.' -p 02-knowledge, then: execplan archive 02-knowledge",
    ),
    "03-eval-harness": ("ready to archive", "execplan archive 03-eval-harness"),
    "04-iteration-cost": (
        "shipped but not checked off",
        "execplan done 1 2 -p 04-iteration-cost, then: execplan archive 04-iteration-cost",
    ),
    "05-skill-contracts": (
        "contradicting status",
        "execplan done 1 2 -p 05-skill-contracts; if they are not done, correct the status on line 3",
    ),
    "06-retro-fixes": (
        "shipped but not checked off",
        "execplan done 1 2 -p 06-retro-fixes, then: execplan archive 06-retro-fixes",
    ),
    "07-memory-first": (
        "shipped but not checked off",
        "execplan done 1 2 -p 07-memory-first, then: execplan archive 07-memory-first",
    ),
    "08-bundling": (
        "shipped but not checked off",
        "execplan done 1 2 -p 08-bundling, then: execplan archive 08-bundling",
    ),
    "09-guard": ("shipped but not checked off", "execplan done 2 -p 09-guard, then: execplan archive 09-guard"),
    "10-review-axes": ("drifted", "git show {axes}, then: execplan edit 10-review-axes"),
    "11-spec-old": ("superseded", "execplan archive 11-spec-old --as superseded --by 12-spec-new"),
    "12-spec-new": (
        "ready to archive",
        "execplan archive 12-spec-new --force --reason 'The work is done: issue #40 is closed.'",
    ),
    "13-cancelled": ("given up", "execplan archive 13-cancelled --as abandoned --reason 'Abandoned, nobody needs it'"),
}


@pytest.fixture
def thirteen(repo: Folder) -> tuple[Folder, dict[str, str]]:
    """The repository, and the commits that count as evidence."""
    commits = {}
    repo.write(".agent/execplan.toml", SETTINGS)
    repo.write("axes/axes.md", LINES)
    commit(repo, "2025-04-01", "Set up")
    add_plan(
        repo, "01-kit-vendor", make_plan("Vendor the kit", DONE_TASKS, OUTCOME, header=f"{IN_PROGRESS}\nIssue: #1574")
    )
    add_plan(repo, "02-knowledge", make_plan("Integrate knowledge", DONE_TASKS, header=IN_PROGRESS))
    add_plan(
        repo,
        "03-eval-harness",
        make_plan("Evaluate agents", "- [x] Write it.\n- [x] Test it.\n", OUTCOME, front="status: active\npr: 1854\n"),
    )
    add_plan(
        repo,
        "04-iteration-cost",
        make_plan("Reduce the cost", OPEN_TASKS, OUTCOME, front="status: completed\nlinks:\n  pr: '#1884'\n"),
    )
    add_plan(repo, "05-skill-contracts", make_plan("Write contracts", OPEN_TASKS, OUTCOME, header="Status: Done"))
    for name, reference, path in (
        ("06-retro-fixes", "PR: #1965", "src/retro.py"),
        ("07-memory-first", "MR: !31", "src/memory.py"),
        ("08-bundling", "- Tracking issue: #3424", "src/bundle.py"),
        ("09-guard", "", "src/guard.py"),
    ):
        tasks = OPEN_TASKS.replace("- [ ]", "- [x]", 1) if name == "09-guard" else OPEN_TASKS
        add_plan(repo, name, make_plan("Ship it", tasks, promise(path), OUTCOME, header=f"{IN_PROGRESS}\n{reference}"))
    axes = "## Context and Orientation\n\nThe axes are in `axes/axes.md`.\n"
    add_plan(repo, "10-review-axes", make_plan("Merge the axes", DONE_TASKS + OPEN_TASKS, axes, header=IN_PROGRESS))
    add_plan(repo, "11-spec-old", make_plan("Specify", OPEN_TASKS, header=IN_PROGRESS))
    add_plan(
        repo,
        "12-spec-new",
        make_plan("Specify again", "", front="supersedes: [11-spec-old]\nlinks:\n  issue: '40'\n"),
    )
    add_plan(repo, "13-cancelled", make_plan("Never mind", OPEN_TASKS, header="Status: Abandoned, nobody needs it"))
    commit(repo, "2025-05-10", "Plans")
    commits["issue"] = commit(repo, "2025-05-11", "Vendor the kit\n\nFixes #1574, #40")
    commits["squash"] = commit(repo, "2025-05-12", "Evaluate agents (#1854)")
    commits["cost"] = commit(repo, "2025-05-13", "Guards run before a push (#1884)")
    repo.git("checkout", "-q", "-b", "retro")
    repo.write("src/retro.py", "x = 1\n")
    commit(repo, "2025-05-14", "Retro")
    repo.git("checkout", "-q", "main")
    commits["merge"] = merge(repo, "2025-05-15", "retro", "Merge pull request #1965 from team/retro")
    repo.write("src/memory.py", "x = 1\n")
    commits["gitlab"] = commit(
        repo, "2025-05-16", "Merge branch 'memory'\n\nMemory first\n\nSee merge request team/app!31"
    )
    repo.write("src/bundle.py", "x = 1\n")
    commits["closes"] = commit(repo, "2025-05-17", "Bundle commands\n\nCloses: #3424")
    repo.write("src/guard.py", "x = 1\n")
    commits["guard"] = commit(repo, "2025-05-18", "Add the guard")
    (repo.path / "axes/axes.md").unlink()
    commits["axes"] = commit(repo, "2025-05-19", "Remove the axes (#2043)")
    return repo, commits


def test_all_thirteen_are_named_with_the_right_command(thirteen: tuple[Folder, dict[str, str]]) -> None:
    repo, commits = thirteen
    short = {name: digest[:10] for name, digest in commits.items()}
    findings = stale(repo)
    assert {name: (finding["kind"], finding["mend"]) for name, finding in findings.items()} == {
        name: (kind, remedy.format(**short)) for name, (kind, remedy) in EXPECTED.items()
    }
    for name, evidence in (
        ("01-kit-vendor", "the status on line 3 says `In Progress`"),
        ("01-kit-vendor", f"issue #1574 is closed ({short['issue']} Vendor the kit)"),
        ("03-eval-harness", f"pull request #1854 is merged ({short['squash']} Evaluate agents (#1854))"),
        ("03-eval-harness", "the status on line 2 says `active`"),
        ("04-iteration-cost", f"pull request #1884 is merged ({short['cost']}"),
        ("04-iteration-cost", "the status on line 2 says `completed`"),
        ("06-retro-fixes", f"pull request #1965 is merged ({short['merge']}"),
        ("06-retro-fixes", f"src/retro.py exists since {short['merge']}"),
        ("07-memory-first", f"pull request #31 is merged ({short['gitlab']}"),
        ("08-bundling", f"issue #3424 is closed ({short['closes']}"),
        ("09-guard", f"src/guard.py exists since {short['guard']} Add the guard"),
        ("09-guard", "the plan's last edit is of 2025-05-10"),
        ("10-review-axes", f"axes/axes.md was deleted by {short['axes']} Remove the axes (#2043)"),
    ):
        assert evidence in findings[name]["message"], findings[name]


def test_the_commands_settle_them(thirteen: tuple[Folder, dict[str, str]]) -> None:
    """After the printed commands, nothing is left; the plan that describes deleted files is edited by hand."""
    repo, _ = thirteen
    for finding in stale(repo).values():
        run_remedy(repo, finding["mend"].partition(";")[0].replace(", then: ", " && "))
    assert set(stale(repo)) == {"10-review-axes"}
    repo.ok("revise", "The axes are gone.", "-p", "10-review-axes", "--commit")
    assert stale(repo) == {}
