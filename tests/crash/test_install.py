"""`install`, killed at the calls that change something: the same command clears away what is left, and `doctor` reports all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crash.crash_scenario import CrashScenario, leftovers, tree
from tests.crash.scenarios import Scene
from tests.crash.strace import kill
from tests.needs import need

pytestmark = pytest.mark.exhaustive

SETTINGS = {"permissions": {"allow": ["Bash(make:*)"]}}
INTEGRATIONS = ("session-hooks", "stop-gate", "guard", "agents", "git-hooks", "skill")
FILE = ".claude/settings.json"
STRIDE = 2
"""Which of the calls are tried; each one takes half a second."""


@pytest.fixture
def scenario(tmp_path: Path) -> CrashScenario:
    """A repository in which hooks and AGENTS.md are changed, and not made."""
    need("strace")
    scenario = CrashScenario(tmp_path, Scene("install", ("install", *INTEGRATIONS)))
    scenario.restore("before")
    scenario.repo.write(FILE, json.dumps(SETTINGS))
    scenario.repo.write("AGENTS.md", "# Agents\n")
    for folder in (".agents", ".claude"):
        scenario.repo.write(f"{folder}/skills/ours/SKILL.md", "Ours.\n")
    scenario.save("before")
    scenario.undisturbed = scenario._run_undisturbed()
    return scenario


def test_killed_and_repeated(scenario: CrashScenario) -> None:
    changing = [call for call in scenario.undisturbed.calls if call.inside and call.changes]
    assert len(changing) > 20
    all_leftovers: set[str] = set()
    for call in changing[::STRIDE]:
        scenario.restore("before")
        if kill(call, scenario.scene.call, scenario.repo.path, scenario.repo.env, scenario.log) is None:
            continue
        scenario.wait_for_processes()
        remaining = leftovers(tree(scenario.repo.path))
        all_leftovers |= remaining
        assert remaining <= _reported_paths(scenario), call.position
        repeated = scenario.run(*scenario.scene.call)
        after = tree(scenario.repo.path)
        backups = {path: content for path, (_, content) in after.items() if ".displaced-" in path}
        assert repeated.exit == 0
        assert {path: content for path, content in after.items() if path not in backups} == scenario.undisturbed.once, (
            call.position
        )
        assert backups.keys() <= _reported_paths(scenario), call.position
        for path, content in backups.items():
            assert (scenario.repo.path / path).read_bytes() == content
            assert path in repeated.err
            assert json.loads(content).items() >= SETTINGS.items(), (
                "only what a person, or an earlier step, has written"
            )
    assert len(all_leftovers) > 1, "no kill left anything, so that nothing was tried"


def _reported_paths(scenario: CrashScenario) -> set[str]:
    return {finding["path"] for finding in scenario.run("doctor", "--json").json["data"]["findings"]}
