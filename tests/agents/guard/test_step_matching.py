"""Honest calls, each of the step that it is meant for: other quoting, other ways to the same file, several calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from execplan.agents.guard.tool_call import ToolCall
from tests.agents.guard.matched_plan import (
    CRLF,
    NEW,
    SCRIPT,
    MatchingRepository,
    cmd,
    drop,
    edit,
    hunked,
    hunks,
    several,
    use,
    with_root,
    write_call,
)

FULL = {"query": "x", "limit": 1, "deep": True}
THIRD = ("line 2\nline 3\nline 4\n", "line 2\nthird\nline 4\n")
TWO = ("line 21\n", "first of two\nsecond of two\n")

HONEST: list[tuple[str, *tuple[ToolCall, ...]]] = [
    ("build", cmd("make all")),
    ("build", cmd("  make\tall \n")),
    ("build", cmd("ma\\ke \"al\"'l'")),
    ("build", cmd("make \\\n  all")),
    ("build", cmd("make all  # as planned")),
    ("build", cmd("cd {root} && make all", cwd="/")),
    ("build", cmd("cd .. && make all", cwd="{root}/sub")),
    ("build", cmd("make lint")),
    ("build", cmd("make show")),
    ("build", cmd("make show it all")),
    ("build", write_call("build/made.txt", "any")),
    ("say", cmd('python tools/say.py "a b" it\\\'s')),
    ("say", cmd('python tools/say.py a\\ b "it\'s"')),
    ("say", cmd("python ./tools/say.py 'a b' \"it's\"")),
    ("say", cmd("python {root}/tools/say.py 'a b' \"it's\"")),
    ("test", cmd("python -m pytest -q tests/test_app.py")),
    ("test", cmd("python -m pytest -q sub/../tests/test_app.py")),
    ("test", cmd("python -m pytest -q {root}/tests/test_app.py")),
    ("part", cmd("cd sub && make part")),
    ("part", cmd("cd './sub'&&make part")),
    ("part", cmd("cd {root}/sub/ && make part", cwd="{root}/tools")),
    ("part", cmd("make part", cwd="{root}/sub")),
    ("ci", cmd("CI=1 npm test")),
    ("ci", cmd("CI='1' npm 'test'")),
    ("npm", cmd("npm install 'foo/bar'")),
    ("checkout", cmd("git checkout 'data.txt'")),
    ("script", cmd(SCRIPT)),
    ("script", cmd(f"\n{SCRIPT}\n")),
    ("script", cmd("sh -c 'make one\nmake two | tail -1\n'")),
    ("tool", cmd("bin/tool check")),
    ("tool", cmd("./bin/tool check")),
    ("tool", cmd("{root}/bin/tool check")),
    ("extras", cmd("pip install -e .[dev]")),
    ("extras", cmd("pip install -e '.[dev]'")),
    ("venv", cmd(".venv/bin/pip install flask")),
    ("web", cmd("cd web && npm ci")),
    ("copy", cmd("cp ./data.txt {root}/build/data.txt")),
    ("rev", cmd('git show HEAD~1 "a*b"')),
    ("create", write_call("src/new.py", NEW)),
    ("create", write_call("{root}/src/new.py", NEW)),
    ("create", write_call("./src/../src/new.py", NEW)),
    ("create", write_call("../src/new.py", NEW, cwd="{root}/sub")),
    ("create", write_call("lib/new.py", NEW)),
    ("create", write_call("src/new.py", NEW), write_call("src/new.py", NEW)),
    ("modify", edit("src/app.py", *THIRD, *TWO)),
    ("modify", edit("{root}/src/app.py", *THIRD)),
    ("modify", edit("src/app.py", *THIRD), edit("src/app.py", *TWO)),
    ("modify", edit("src/app.py", *TWO), edit("near.py", *THIRD)),
    ("modify", hunks("src/app.py", " line 2\n-line 3\n+third\n line 4")),
    ("modify", hunks("src/app.py", "-line 3\n+third", "-line 21\n+first of two\n+second of two")),
    ("lines", edit("src/lines.py", "b\nc", "B\nC")),
    ("lines", write_call("src/lines.py", "a\nB\nC\nd\n")),
    ("crlf", edit("crlf.txt", "two\n", "zwei\ndrei\n")),
    ("crlf", edit("crlf.txt", "two\r\n", "zwei\r\ndrei\r\n")),
    ("crlf", write_call("crlf.txt", CRLF.decode().replace("two", "zwei\r\ndrei"))),
    ("crlf", hunks("crlf.txt", "-two\n+zwei\n+drei\n three")),
    ("delete", drop("docs/old.md")),
    ("delete", cmd("rm docs/old.md")),
    ("delete", cmd("rm -f -- {root}/docs/old.md")),
    ("delete", cmd("cd docs && git rm old.md")),
    ("delete", cmd("unlink 'docs/old.md'")),
    (
        "many",
        several(
            hunked("many/a.py", "-a = 1\n+a = 2"),
            write_call("many/b.py", "b = 1\n").edits[0],
            drop("many/c.py").edits[0],
        ),
    ),
    ("many", edit("many/a.py", "a = 1", "a = 2"), drop("many/c.py")),
    ("many", cmd("mv many/d.py many/e.py")),
    ("many", cmd("git mv many/d.py ./many/e.py")),
    ("search", use("mcp__server__search", **FULL)),
    ("search", use("server.search", **FULL)),
    ("search", use("search", **{**FULL, "limit": 1.0})),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> MatchingRepository:
    return MatchingRepository(tmp_path_factory.mktemp("honest"))


def _names(cases: list[tuple[str, *tuple[ToolCall, ...]]]) -> list[str]:
    return [f"{number}-{case[0]}" for number, case in enumerate(cases)]


@pytest.mark.parametrize("case", HONEST, ids=_names(HONEST))
def test_an_honest_call_is_of_its_step(
    case: tuple[str, *tuple[ToolCall, ...]], repository: MatchingRepository, tmp_path: Path
) -> None:
    name, *calls = case
    case_repository = MatchingRepository(tmp_path) if len(calls) > 1 else repository
    assert case_repository.steps(*[with_root(call, case_repository.root) for call in calls]) == [name]


def test_there_are_thirty() -> None:
    assert len({repr(calls) for _, *calls in HONEST}) == len(HONEST) > 30
