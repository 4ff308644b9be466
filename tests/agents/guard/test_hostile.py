"""Hostile variations of calls that are planned: none of them is of a step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan.agents.guard import call as kinds
from execplan.agents.guard.call import Call, Edit
from tests.agents.guard.matching import (
    APP,
    CRLF,
    NEW,
    SCRIPT,
    Ground,
    at,
    cmd,
    drop,
    edit,
    hunked,
    hunks,
    put,
    several,
    use,
)

FULL = {"query": "x", "limit": 1, "deep": True}

ARGUMENTS = [
    cmd("make all --force"),
    cmd("make -C / all"),
    cmd("make all all"),
    cmd("make"),
    cmd("make 'all '"),
    cmd("make ALL"),
    cmd("Make all"),
    cmd("make all ''"),
    cmd("make -- all"),
    cmd("make SHELL=/tmp/x all"),
    cmd("make @all"),
    cmd("make '*'"),
    cmd("make a*l"),
    cmd("make al[l]"),
    cmd("make {all,all}"),
    cmd("make $all"),
    cmd('make "$(echo all)"'),
    cmd("make `echo all`"),
    cmd("make $'all'"),
    cmd('make $"all"'),
    cmd("make ~/all"),
    cmd("make all" + " " * 200_000 + "x"),
    cmd('python tools/say.py a b "it\'s"'),
    cmd("python tools/say.py/ 'a b' \"it's\""),
    cmd("python @tools/say.py 'a b' \"it's\""),
    cmd("python =tools/say.py 'a b' \"it's\""),
    cmd("python say.py 'a b' \"it's\""),
    cmd("python ../outside/tools/say.py 'a b' \"it's\""),
    cmd("python out/../tools/say.py 'a b' \"it's\""),
    cmd("python nowhere/../tools/say.py 'a b' \"it's\""),
    cmd("python -m pytest -q tests/test_app.py -p evil"),
    cmd("python -m pytest tests/test_app.py -q"),
    cmd("npm install ./foo/bar"),
    cmd("npm install foo/bar --ignore-scripts=false"),
    cmd("git checkout ./data.txt"),
    cmd("git checkout {root}/data.txt"),
    cmd("git checkout -- data.txt"),
    cmd("git show HEAD~2 'a*b'"),
    cmd("git show HEAD~1 a*b"),
    cmd("pip install -e ./.[dev]"),
    cmd("cp data.txt build/data.txt build"),
    cmd("cp data.txt build/data.txt/"),
    cmd("cp data.txt out/data.txt"),
]
PROGRAMS = [
    cmd("./make all"),
    cmd("/usr/bin/make all"),
    cmd("gmake all"),
    cmd("tool check"),
    cmd("bin/other check"),
    cmd("bin/../bin/tool/ check"),
    cmd("env make all"),
    cmd("sudo make all"),
    cmd("command make all"),
    cmd("exec make all"),
    cmd("time make all"),
    cmd("nice make all"),
    cmd("xargs make all"),
    cmd("sh -c 'make all'"),
    cmd("eval make all"),
    cmd("pip install flask"),
    cmd("sub/pip install flask"),
    cmd("m\u0430ke all"),  # a letter of Cyrillic
    cmd("make\u200b all"),
    cmd("make\ufe0f all"),
    cmd("make\u3164 all"),
    cmd("make \u2800all"),
    cmd("make \u202eall"),
    cmd("make\x00 all"),
    cmd("make\r all"),
    cmd("make\u00a0all"),
    cmd("make \udc80all"),
]
CHAINS = [
    cmd("make all; true"),
    cmd("make all;"),
    cmd("make all && true"),
    cmd("true && make all"),
    cmd("make all || true"),
    cmd("! make all"),
    cmd("make all | tail"),
    cmd("make all |& tail"),
    cmd("make all &"),
    cmd("make all & true"),
    cmd("make all\ntrue"),
    cmd("make all # planned\ntrue"),
    cmd("make all > /dev/null"),
    cmd("make all 2>&1"),
    cmd("make all < /dev/null"),
    cmd("make all <<E\nE"),
    cmd("make all <<< x"),
    cmd("make all >(cat)"),
    cmd("(make all)"),
    cmd("{ make all; }"),
    cmd("if make all; then true; fi"),
    cmd("make() { true; }; make all"),
    cmd("alias make=true\nmake all"),
    cmd("make all", background=True),
    cmd("cd sub && cd .. && make all"),
    cmd("cd . ; make all"),
    cmd("cd . || make all"),
    cmd("cd . && make all && true"),
    cmd("make all && cd ."),
    cmd("pushd . && make all"),
]
FOLDERS = [
    cmd("make all", cwd="{root}/sub"),
    cmd("make all", cwd="/"),
    cmd("make all", cwd="."),
    cmd("make all", cwd="{root}/nowhere"),
    cmd("cd sub && make all"),
    cmd("cd && make all"),
    cmd("cd - && make all"),
    cmd("cd ~ && make all"),
    cmd("cd '' && make all"),
    cmd("cd $HOME && make all"),
    cmd("cd nowhere && make all"),
    cmd("cd -P . && make all"),
    cmd("cd . . && make all"),
    cmd("make part"),
    cmd("cd sub && make part", cwd="{root}/sub"),
    cmd("cd su? && make part"),
    cmd("cd out/../repository && make all"),
    cmd("npm ci"),
    cmd("make all", cwd="{root}/out"),
]
ENVIRONMENT = [
    cmd("PATH=. make all"),
    cmd("LD_PRELOAD=./x.so make all"),
    cmd("MAKEFLAGS=-n make all"),
    cmd("CI=1 make all"),
    cmd("npm test"),
    cmd("CI=2 npm test"),
    cmd("CI=1 NODE_OPTIONS=-r npm test"),
    cmd("CI=0 CI=1 npm test"),
    cmd("CI+=1 npm test"),
    cmd("CI=$CI npm test"),
    cmd("CI=~ npm test"),
    cmd("CI=1; npm test"),
    cmd("export CI=1; npm test"),
    cmd("env CI=1 npm test"),
    cmd("CI=1 cd . && npm test"),
]
SCRIPTS = [
    cmd(SCRIPT.replace("two", "three")),
    cmd(SCRIPT + "true\n"),
    cmd("make one"),
    cmd("make one && make two | tail -1"),
    cmd(SCRIPT, cwd="{root}/sub"),
    cmd("cd . && " + SCRIPT),
    cmd("bash -c 'make one\nmake two | tail -1\n'"),
    cmd("sh -ec 'make one\nmake two | tail -1\n'"),
    cmd("sh -c 'make one\nmake two | tail -1\n' x"),
    cmd(SCRIPT, background=True),
    cmd(SCRIPT[:-1] + "\\\n"),
]
PATTERNS = [
    cmd("make lint fix"),
    cmd("make lint; true"),
    cmd("X=1 make lint"),
    cmd("cd sub && make lint"),
    cmd("make show /etc/passwd"),
    cmd("make show ../outside"),
    cmd("make show --file=/etc/passwd"),
    cmd("make show -C/etc"),
    cmd("make show out/app.py"),
    cmd("make show .git/config"),
    cmd("make show ~root"),
    put("built/made.txt", "any"),
    put("build/../made.txt", "any"),
    put("build", "any", cwd="{root}/sub"),
    drop("build/made.txt"),
]
WRITES = [
    put("src/new.py", NEW + "\n"),
    put("src/new.py", NEW[:-1]),
    put("src/new.py", NEW.replace("pong", "pomg")),
    put("src/new.py", NEW.replace("\n", "\r\n")),
    put("src/new.py", "\ufeff" + NEW),
    put("src/new.py", ""),
    put("src/New.py", NEW),
    put("src/new.py.", NEW),
    put("src/new.py/", NEW),
    put(" src/new.py", NEW),
    put("src/new.py\x00", NEW),
    put("src/n\u0435w.py", NEW),
    put("src/new\u200b.py", NEW),
    put("src/new\u3164.py", NEW),
    put("src/new\ufe0f.py", NEW),
    put("src/./../new.py", NEW),
    put("new.py", NEW),
    put("../src/new.py", NEW),
    put("../outside/src/new.py", NEW),
    put("{root}/../outside/new.py", NEW),
    put("out/new.py", NEW),
    put("out/../src/new.py", NEW),
    put("deep/../new.py", NEW),
    put("~/src/new.py", NEW),
    put("src/" + "a" * 300, NEW),
    put("a/" * 3000 + "new.py", NEW),
    put("", NEW),
    put(".", NEW),
    put("src", NEW),
    put("src/app.py", NEW),
    put("src/app.py", APP.replace("line 3\n", "third\n") + "more\n"),
    put("notes.md", "notes\n"),
    put(".git/hooks/pre-commit", NEW),
    put(".GIT/config", NEW),
    Call(kinds.WRITE, "Write", "{root}", edits=(Edit("src/new.py", kinds.WRITE),)),
    several(put("src/new.py", NEW).edits[0], put("src/other.py", "").edits[0]),
    several(put("src/new.py", NEW).edits[0], edit("src/app.py", "line 3\n", "third\n").edits[0]),
    edit("src/new.py", "", NEW + "x"),
]
EDITS = [
    edit("src/app.py", "line 3\n", "Third\n"),
    edit("src/app.py", "line 3\n", "third"),
    edit("src/app.py", "line 21\n", "first of two\n"),
    edit("src/app.py", "line 5\n", "third\n"),
    edit("src/app.py", "line 3\n", "third\n", "line 30", "line 31"),
    edit("src/app.py", "line", "third"),
    edit("src/app.py", "line", "third", every=True),
    edit("src/app.py", "nothing", "third"),
    edit("src/app.py", "line 3\n", ""),
    edit("out/app.py", "line 3\n", "third\n"),
    edit("src/app.py"),
    hunks("src/app.py", "-line 3\n+third\n+more"),
    hunks("src/app.py", "-line 21\n+first of two\n+second of two", "-line 3\n+third"),
    several(hunked("src/app.py", "-line 3\n+third"), drop("Makefile").edits[0]),
    several(hunked("src/app.py", "-line 3\n+third"), hunked("src/lines.py", "-b\n-c\n+B\n+C")),
    edit("src/lines.py", "b", "B"),
    edit("src/lines.py", "b\nc", "B\nC\nD"),
    edit("crlf.txt", "two\r\n", "zwei\ndrei\n"),
    put("crlf.txt", CRLF.decode().replace("\r\n", "\n").replace("two", "zwei\ndrei")),
    drop("src/app.py"),
    drop("src/lines.py"),
    put("docs/old.md", ""),
    edit("docs/old.md", "old\n", "new\n"),
    drop("docs"),
    drop("docs/old.md/"),
    drop("near.py"),
    drop("docs/Old.md"),
    edit("many/a.py", "a = 1", "a = 3"),
    put("many/b.py", "b = 2\n"),
    put("many/e.py", "d = 2\n"),
    put("many/c.py", ""),
    edit("many/d.py", "d = 1", "d = 2"),
    drop("many/a.py"),
]
REMOVALS = [
    cmd("rm -r docs/old.md"),
    cmd("rm -rf docs"),
    cmd("rm docs/old.md Makefile"),
    cmd("rm docs/*.md"),
    cmd("rm docs/old.md/"),
    cmd("rm -i docs/old.md"),
    cmd("rm ../outside/app.py"),
    cmd("rm docs/old.md && true"),
    cmd("X=1 rm docs/old.md"),
    cmd("rm old.md"),
    cmd("git rm 'docs/*.md'"),
    cmd("git rm ':(glob)docs/old.md'"),
    cmd("git rm 'docs/[a].md'"),
    cmd("rm docs/[a].md"),
    cmd("git rm -r docs/old.md"),
    cmd("git -C . rm docs/old.md"),
    cmd("git rm --cached docs/old.md"),
    cmd("mv many/d.py many/f.py"),
    cmd("mv many/d.py src"),
    cmd("mv many/a.py many/e.py"),
    cmd("mv -f many/d.py many/e.py"),
    cmd("mv many/d.py Makefile"),
    cmd("mv many/e.py many/d.py"),
]
TOOLS = [
    use("mcp__server__search", **{**FULL, "limit": True}),
    use("mcp__server__search", **{**FULL, "deep": 1}),
    use("mcp__server__search", **{**FULL, "limit": "1"}),
    use("mcp__server__search", **{**FULL, "more": None}),
    use("mcp__server__search", query="x", limit=1),
    use("mcp__server__search"),
    use("mcp__other__search", **FULL),
    use("mcp__server__Search", **FULL),
    use("mcp__server____search", **FULL),
    use("mcp__mcp__server__search", **FULL),
    use("other.search", **FULL),
    use("server_search", **FULL),
    use("server", **FULL),
    use("make all"),
    use(""),
]
HOSTILE = [
    *ARGUMENTS,
    *PROGRAMS,
    *CHAINS,
    *FOLDERS,
    *ENVIRONMENT,
    *SCRIPTS,
    *PATTERNS,
    *WRITES,
    *EDITS,
    *REMOVALS,
    *TOOLS,
]

REFUSED = [
    (put("secrets", "x"), "step part denies `write:secrets`"),
    (put("build/../secrets/key", "x"), "step part denies `write:secrets`"),
    (edit("Secrets/key", "a", "b"), "step part denies `write:secrets`"),
    (put("build/key.PEM", "x"), "the plan forbids *.pem, and build/key.PEM is that"),
    (cmd("rm private/x"), "the plan forbids private/, and private/x is that"),
    (cmd("make deploy"), "step part denies `make deploy`"),
    (cmd("cd sub && make deploy now"), "step part denies `make deploy`"),
    (cmd("sudo /usr/bin/make deploy"), "step part denies `make deploy`"),
    (cmd("make all && sh -c 'git push -f'"), "the plan forbids `git push`"),
    (cmd("FOO=$(git push) make all"), "the plan forbids `git push`"),
    (use("mcp__server__drop_all"), "step part denies `tool:server.drop*`"),
    (cmd("make\u200b all"), "it has a character that can't be seen, U+200B (zero width space)"),
    (put("/etc/passwd", "x"), "'/etc/passwd': it leads out of the repository"),
    (put("out/app.py", APP), "'out/app.py': it leads out of the repository"),
    (put(".git/config", "x"), ".git/config is git's own"),
    (put("~/build/x", "x"), "'~/build/x': its path is not the plain name of a file"),
    (
        put("deep/../new.py", NEW),
        "'deep/../new.py': the path means one thing where links are followed, and another where they are not",
    ),
]

NEAREST = [
    (cmd("make all --force"), "build", "the call has the further argument --force"),
    (cmd("make --force all"), "build", "the call has the further argument --force"),
    (cmd("make"), "build", "the call lacks the argument all"),
    (cmd("cd sub && make all"), "build", "the call runs in sub, not in ."),
    (cmd("make part"), "part", "the call runs in ., not in sub"),
    (
        cmd("make all; rm -r src"),
        "build",
        "the call is no plain command (`;`): a step is called by itself, as it is written",
    ),
    (
        cmd("python -m pytest -q tests/test_app.py | tail -3"),
        "test",
        "the call is no plain command (a pipe): a step is called by itself, as it is written",
    ),
    (cmd("timeout 9 python -m pytest -q tests/test_app.py"), "test", "the call runs timeout, not python"),
    (cmd("npm test"), "ci", "the call does not set CI=1 in front of it"),
    (cmd("DEBUG=1 make all"), "build", "the call sets DEBUG, and the step does not"),
    (cmd("npm install foo/baz"), "npm", "argument 2 of the call is foo/baz, not foo/bar"),
    (cmd("./make all"), "build", "the call runs ./make, not make"),
    (cmd("pip install flask"), "venv", "the step installs into .venv, whose pip is to be called by its path"),
    (
        put("src/new.py", NEW.replace("pong", "x")),
        "create",
        "src/new.py would not be as planned: line 2 is another one",
    ),
    (
        edit("src/app.py", "line 21\n", "first of two\n"),
        "modify",
        "src/app.py would not be as planned: line 3 is another one (each place of the diff is changed as a whole, by one edit)",
    ),
    (edit("src/app.py", "line", "x"), "modify", "src/app.py: the text to be replaced stands in 30 places"),
    (drop("src/app.py"), "modify", "the call deletes src/app.py, which the step changes"),
    (put("lib/old.md", "x"), "delete", "the call is about src/old.md, not about docs/old.md alone"),
    (
        use("mcp__server__search", **{**FULL, "limit": 2}),
        "search",
        "what server.search is given is not what is planned: limit",
    ),
    (cmd("curl example.org"), "", "no step is like it"),
]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("call", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_variation_is_of_no_step(call: Call, ground: Ground) -> None:
    found = ground.match(at(call, ground.root))
    assert not found.matches, call
    assert found.refused or found.why


def test_there_are_far_more_than_sixty() -> None:
    assert len({repr(call) for call in HOSTILE}) == len(HOSTILE) > 200


@pytest.mark.parametrize(("call", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_what_the_plan_denies_is_denied_whatever_else_allows_it(call: Call, why: str, ground: Ground) -> None:
    found = ground.match(at(call, ground.root))
    assert (found.matches, found.refused) == ((), why)


@pytest.mark.parametrize(("call", "step", "why"), NEAREST, ids=[why for *_, why in NEAREST])
def test_the_nearest_step_is_named_and_how_the_call_differs(call: Call, step: str, why: str, ground: Ground) -> None:
    found = ground.match(at(call, ground.root))
    assert (found.nearest, found.why) == (step, why)


@pytest.mark.parametrize(
    ("call", "path", "text"),
    [
        (put("src/new.py", NEW), "src/new.py", "somebody else's\n"),
        (put("many/b.py", "b = 1\n"), "many/b.py", "somebody else's\n"),
        (drop("docs/old.md"), "docs/old.md", "somebody else's\n"),
        (cmd("rm docs/old.md"), "docs/old.md", "somebody else's\n"),
        (edit("src/app.py", "line 3\n", "third\n"), "src/app.py", APP + "somebody else's\n"),
        (edit("src/lines.py", "b\nc", "B\nC"), "src/lines.py", "z\na\nb\nc\nd\n"),
        (cmd("mv many/d.py many/e.py"), "many/e.py", "somebody else's\n"),
        (cmd("pip install -e .[dev]"), ".d", "a file that the pattern finds"),
    ],
)
def test_a_file_that_is_not_as_approved_stops_a_call(call: Call, path: str, text: str, tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    assert ground.match(at(call, ground.root)).matches
    (ground.root / path).write_text(text)
    assert not ground.match(at(call, ground.root)).matches


@pytest.mark.parametrize(
    ("call", "link", "to"),
    [
        (put("src/new.py", NEW), "src/new.py", "../../outside/new.py"),
        (put("src/new.py", NEW), "src/new.py", "app.py"),
        (put("src/new.py", NEW), "src", "../outside"),
        (edit("src/app.py", "line 3\n", "third\n"), "src/app.py", "../../outside/app.py"),
        (edit("src/app.py", "line 3\n", "third\n"), "src", "tools"),
        (drop("docs/old.md"), "docs/old.md", "../x"),
        (cmd("rm docs/old.md"), "docs", "../outside"),
        (cmd("cd sub && make part"), "sub", "../outside"),
        (cmd("cd sub && make part"), "sub", "/"),
        (cmd("python ./tools/say.py 'a b' \"it's\""), "tools", "../outside"),
        (cmd("./bin/tool check"), "bin", "../outside"),
        (cmd(".venv/bin/pip install flask"), ".venv", "../outside"),
        (put("build/made.txt", "any"), "build", "../outside"),
        (put("build/made.txt", "any"), "build", ".git"),
    ],
)
def test_a_link_that_was_put_in_place_stops_a_call(call: Call, link: str, to: str, tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    assert ground.match(at(call, ground.root)).matches
    path = ground.root / link
    if os.path.lexists(path):
        path.rename(tmp_path / "moved")
    path.symlink_to(to)
    assert not ground.match(at(call, ground.root)).matches


def test_cd_with_a_search_path_is_refused(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDPATH", str(ground.root / "sub"))
    assert not ground.match(at(cmd("cd sub && make part"), ground.root)).matches
    assert ground.match(at(cmd("cd ./sub && make part"), ground.root)).matches
