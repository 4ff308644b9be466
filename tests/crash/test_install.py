"""`install`, killed at the calls that change something: the same command clears away what is left, and `doctor` reports all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crash.bench import Bench, leftovers, tree
from tests.crash.scenes import Scene
from tests.crash.strace import kill
from tests.needs import need

SETTINGS = {"permissions": {"allow": ["Bash(make:*)"]}}
WHATS = ("session-hooks", "guard", "agents", "git-hooks")
FILE = ".claude/settings.json"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A repository in which hooks and AGENTS.md are changed, and not made."""
    need("strace")
    bench = Bench(tmp_path, Scene("install", ("install", *WHATS)))
    bench.back("before")
    bench.repo.write(FILE, json.dumps(SETTINGS))
    bench.repo.write("AGENTS.md", "# Agents\n")
    bench.keep("before")
    bench.undisturbed = bench._watch()
    return bench


def test_killed_and_repeated(bench: Bench) -> None:
    changing = [call for call in bench.undisturbed.calls if call.inside and call.changes]
    assert len(changing) > 20
    met: set[str] = set()
    for call in changing:
        bench.back("before")
        if kill(call, bench.scene.call, bench.repo.path, bench.repo.env, bench.log) is None:
            continue
        bench.settle()
        found = leftovers(tree(bench.repo.path))
        met |= found
        assert found <= _reported(bench), call.shown
        again = bench.run(*bench.scene.call)
        after = tree(bench.repo.path)
        kept = {path: held for path, (_, held) in after.items() if ".displaced-" in path}
        assert again.exit == 0
        assert {path: held for path, held in after.items() if path not in kept} == bench.undisturbed.once, call.shown
        assert kept.keys() <= _reported(bench), call.shown
        for path, held in kept.items():
            assert (bench.repo.path / path).read_bytes() == held
            assert path in again.err
            assert json.loads(held).items() >= SETTINGS.items(), "only what a person, or an earlier step, has written"
    assert len(met) > 1, "no kill left anything, so that nothing was tried"


def _reported(bench: Bench) -> set[str]:
    return {each["path"] for each in bench.run("doctor", "--json").json["data"]["findings"]}
