"""Merges of random branches: ours holds its promises, what scripts/merges.py looks for is found, and git gives the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execplan.core.git_merge import three_way_merge
from execplan.core.plan import reader
from execplan.core.plan.merge.plan_merge import ConflictMarkers
from tests.conftest import Folder, find_corpus
from tests.core.git_merge.branches import OURS, PLAN, THEIRS, edited, git
from tests.plans import CLEAN

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

import merges
from merges import MergeOutcome, Sides

COUNT = 150
EXAMPLES = 24
SIDES = Sides("plan", CLEAN.encode(), edited(CLEAN, *OURS).encode(), edited(CLEAN, *THEIRS).encode(), "")
"""Two branches that git's merge of lines can't bring together."""

GIT_COMMANDS = {
    "merge": ["--no-edit", "side"],
    "rebase": ["side"],
    "cherry-pick": ["--allow-empty", "--keep-redundant-commits", "side"],
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The plans of the corpus; where there is none, the plan of these tests."""
    corpus = find_corpus()
    if corpus is None:
        corpus = tmp_path_factory.mktemp("plans")
        (corpus / "plan.md").write_text(CLEAN)
    return sorted(corpus.rglob("*.md"))


@pytest.mark.exhaustive
def test_ours_holds_what_it_promises(plans: list[Path]) -> None:
    merge_arguments = [(plans[at * 7 % len(plans)], at, merges.SEED) for at in range(COUNT)]
    results = [
        (sides, {"ours": merges.judged(sides, "ours")})
        for sides in (merges.sides(*arguments) for arguments in merge_arguments)
    ]
    assert merges.broken(results) == []
    assert sum(len(sides.commands.split()) for sides, _ in results) > 4 * COUNT


def test_git_and_union_do_not() -> None:
    judged = {method: merges.judged(SIDES, method) for method in merges.WAYS}
    assert judged["git"].conflict
    assert "Progress: Build the parser." in judged["union"].doubled
    assert judged["ours"] == MergeOutcome(conflict=False, lost=[], doubled=[], unreadable="")


def test_what_a_merge_loses_or_doubles_is_found() -> None:
    merged, _ = merges.merged(SIDES, "ours")
    sides = SIDES._replace(ours=SIDES.ours.replace(b"Handle CRLF", b"Handle CRLF q7a1"))
    assert merges.judge(sides, merged, 0).lost == ["q7a1"]
    assert merges.judge(SIDES, merged.replace(b"Read lines.", b"Read."), 0).lost == ["task: Read lines."]
    assert merges.judge(SIDES, merged.replace(b"- [x] (2026-01-01 00:00Z) Build", b"- [ ] Build"), 0).lost == [
        "box: Build the parser."
    ]
    assert merges.judge(SIDES, merged.replace(b"- [ ] Handle tabs\n", b"- [ ] Handle tabs\n" * 2), 0).doubled == [
        "Progress: Handle tabs"
    ]
    assert merges.judge(SIDES, merged + b"\n## Progress\n", 0).unreadable == "Progress twice"
    assert merges.judge(SIDES, b"\xff", 0).unreadable
    judged = MergeOutcome(conflict=True, lost=[], doubled=[], unreadable="")
    assert merges.broken([(SIDES, {"ours": judged})]) == ["conflicts in 100.0 %, more than 5 %"]


def test_the_script(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "plan.md").write_text(CLEAN)
    command = [sys.executable, merges.__file__, str(tmp_path), "--count", "6", "--check"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert completed.returncode == bool(completed.stderr)
    lines = completed.stdout.splitlines()
    assert lines[0].startswith("6 merges ")
    assert [line.split()[0] for line in lines[1:]] == list(merges.WAYS)


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A repository whose plans git merges with our driver."""
    return _repository(tmp_path_factory, driver=True)


@pytest.fixture(scope="module")
def undriven(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A repository whose plans git merges like any other file."""
    return _repository(tmp_path_factory, driver=False)


def _repository(tmp_path_factory: pytest.TempPathFactory, *, driver: bool) -> Folder:
    path = tmp_path_factory.mktemp("merges") / "repo"
    (path / ".agent" / "execplans").mkdir(parents=True)
    folder = Folder(path)
    folder.git("init", "-q", "-b", "main")
    if driver:
        folder.ok("install", "merge-driver")
        folder.git("add", "-A")
    folder.git("commit", "-q", "--allow-empty", "-m", "First")
    return folder


def _branch(folder: Folder, sides: Sides) -> None:
    """Commit the base and its two versions, `side` and `work`, where we are then."""
    folder.git("checkout", "-qf", "-B", "base", "main")
    for branch, content in (("base", sides.base), ("side", sides.theirs), ("work", sides.ours)):
        folder.git("checkout", "-q", "-B", branch, "base")
        folder.write(PLAN, content)
        folder.git("add", "-A")
        folder.git("commit", "-q", "--allow-empty", "-m", "Change")


@pytest.mark.exhaustive
@given(st.data())
@settings(max_examples=EXAMPLES)
def test_real_plans_through_real_git(driven: Folder, plans: list[Path], data: st.DataObject) -> None:
    """Whatever git is told to do with two branches, nothing of either is missing or there twice."""
    path = data.draw(st.sampled_from(plans))
    sides = merges.sides(path, data.draw(st.integers(0, 10_000)))
    git_command = data.draw(st.sampled_from(list(GIT_COMMANDS)))
    _branch(driven, sides)
    completed = git(driven, git_command, *GIT_COMMANDS[git_command])
    result = (driven.path / PLAN).read_bytes()
    if completed.returncode:
        driven.git(git_command, "--abort")
    conflicts = len(reader.read(result).conflict_lines)
    judged = merges.judge(sides, result, conflicts)
    assert (judged.lost, judged.doubled, judged.unreadable) == ([], [], "")
    assert completed.returncode == bool(conflicts), completed.stderr


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_a_plan_is_finished_after_a_merge_as_three_files_are_merged(
    undriven: Folder, plans: list[Path], data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(plans))
    sides = merges.sides(path, data.draw(st.integers(0, 10_000)))
    _branch(undriven, sides)
    if not git(undriven, "merge", "--no-edit", "side").returncode:
        return
    undriven.run("merge", "parser")
    merged = (undriven.path / PLAN).read_bytes()
    undriven.git("merge", "--abort")
    assert (
        merged
        == three_way_merge.merge_versions(
            sides.base, sides.ours, sides.theirs, ConflictMarkers(ours="HEAD", theirs="side")
        ).data
    )
