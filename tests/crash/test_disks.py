"""Promise 2, bad inputs 38 and 41: a disk that is really full or read-only, and artifacts on another file system."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import COUNTED, Folder, Result
from tests.crash.crash_scenario import tree
from tests.crash.faults import has_advice
from tests.crash.scenarios import PARSER, PLANS, READER, SCANNER, SCENES, UNTIDY, Scene, create_repository
from tests.needs import need

pytestmark = pytest.mark.exhaustive

EXECPLAN = f"{shlex.quote(sys.executable)} -m execplan"
READERS: tuple[tuple[str, ...], ...] = (("list",), ("status",), ("show", PARSER), ("next", PARSER), ("lint", READER))
WRITERS: tuple[tuple[str, ...], ...] = (
    ("done", "3", "-p", PARSER),
    ("decide", "Read bytes.", "--why", "Nothing is lost.", "-p", PARSER),
    ("archive", PARSER, "--force", "--reason", "No longer wanted."),
    ("restore", SCANNER),
    ("rename", PARSER, "Build the parser anew"),
    ("lint", "--fix"),
    ("new", "Write the tests of it"),
    ("attach", "README.md", "-p", PARSER),
    ("set", "Plan of Work", "First the scanner.", "-p", PARSER),
    ("undo", "-p", PARSER),
    ("done", "3", "-p", PARSER, "--commit"),
)
FULL = {
    "bytes": ("size=1m", "dd if=/dev/zero of=fill bs=4k 2>/dev/null || true"),
    "files": ("nr_inodes=300", "mkdir fill; (cd fill; seq 300 | xargs touch) 2>/dev/null || true"),
}
"""How a file system is small, and what fills it."""


@pytest.mark.parametrize(
    ("what", "name"),
    [("bytes", name) for name, scene in SCENES.items() if "commit" not in name and not scene.interrupted]
    + [("files", name) for name in ("done", "archive", "new")],
)
def test_38_a_full_disk(tmp_path: Path, what: str, name: str) -> None:
    scene, (options, fill) = SCENES[name], FULL[what]
    repo = scene_repository(tmp_path, scene)
    result = run_in_namespace(
        tmp_path,
        f"cp -a repo small; mount -t tmpfs -o {options} tmpfs repo; cp -a small/. repo; cd repo/.git; {fill}; cd ..; set +e\n"
        f"{shell_line(scene.call)} >/dev/null 2>../refused; echo $?\n"
        f"for verb in list status 'show {PARSER}' lint; do {EXECPLAN} $verb >&2; echo $?; done\n"
        "cp -a . ../full; rm -r .git/fill\n"
        f"{shell_line(scene.call)} >&2; echo $?; cp -a . ../freed",
        repo.env,
    )
    refused = (tmp_path / "refused").read_text()
    lint_exit = str(repo.run("lint").exit)
    assert result.out.split() == ["6", "0", "0", "0", lint_exit, "0"], (refused, result)
    assert "no space left on device" in refused
    assert "free some space" in refused
    assert has_advice(refused), refused
    assert "Traceback" not in refused + result.err
    before = tree(repo.path)
    assert tree(tmp_path / "full") == before
    repo.ok(*scene.call)
    assert tree(tmp_path / "freed") == tree(repo.path) != before


SMALL = {
    "files": ("nr_inodes=2000", "mkdir .git/fill; (cd .git/fill; seq 3000 | xargs touch) 2>/dev/null || true"),
    "bytes": (
        "size=2m",
        "head -c 300000 /dev/zero >.git/room; dd if=/dev/zero of=.git/fill bs=4k 2>/dev/null || true; rm .git/room",
    ),
}
"""How git's own file system is small, and what fills it while the plan can still be written."""


@pytest.mark.parametrize("what", SMALL)
def test_38_git_finds_the_disk_full(tmp_path: Path, what: str) -> None:
    """The disk is named, not another process that would hold `index.lock`, and the edit stays."""
    options, fill = SMALL[what]
    repo = scene_repository(tmp_path, SCENES["done"])
    for number in range(4000 if what == "bytes" else 1):
        (repo.path / f"file-{number:04}-of-many-so-that-the-index-needs-more-room-than-there-is.txt").write_text("x")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Many")
    repo.ok("done", "2", "-p", PARSER, "--commit")
    repo.git("gc", "-q")
    result = run_in_namespace(
        tmp_path,
        f"cp -a repo/.git git; mount -t tmpfs -o {options} tmpfs repo/.git; cp -a git/. repo/.git; cd repo\n"
        f"{fill}; set +e\n"
        f"{EXECPLAN} done 3 -p {PARSER} --commit 2>../refused; echo $?; grep -c 'x. (.*Z)' .agent/execplans/{PARSER}.md",
        repo.env,
    )
    refused = (tmp_path / "refused").read_text()
    assert result.out.split()[0] == "6", (result, refused)
    assert "the disk is full: git" in refused
    assert "the changes are on disk but not committed" in refused
    assert "hint: free some space, then: execplan commit" in refused
    assert "another git process" not in refused


@pytest.mark.parametrize("place", [".", ".git", PLANS])
def test_37_a_read_only_mount(tmp_path: Path, place: str) -> None:
    repo = scene_repository(tmp_path, SCENES["done"])
    repo.plan(UNTIDY, "2026-01-04_untidy")
    repo.ok("done", "2", "-p", PARSER)
    repo.ok("archive", SCANNER, "--force", "--reason", "Not now.")
    before, status = tree(repo.path), repo.git("status", "--porcelain")
    read_outputs = [repo.run(*call).out for call in READERS]
    (tmp_path / "told").mkdir()
    calls = [
        f"{shell_line(call)} >$told/{number}.out 2>$told/{number}.err; echo $? >$told/{number}.exit"
        for number, call in enumerate([*READERS, *WRITERS])
    ]
    result = run_in_namespace(
        tmp_path,
        f"mount --bind repo/{place} repo/{place}; mount -o remount,bind,ro repo/{place}\n"
        f"told=$PWD/told; cd repo; ! touch {place}/written 2>/dev/null; set +e\n" + "\n".join(calls),
        repo.env,
    )
    assert result.exit == 0, result
    for number, call in enumerate([*READERS, *WRITERS]):
        status_of, out, err = [(tmp_path / "told" / f"{number}.{kind}").read_text() for kind in ("exit", "out", "err")]
        if call in READERS:
            assert (int(status_of), out) == (0, read_outputs[number]), (call, err)
        else:
            assert int(status_of) == 6, (call, out, err)
            assert "read-only" in err, (call, err)
            assert has_advice(err), (call, err)
            assert "Traceback" not in err, (call, err)
    assert tree(repo.path) == before
    assert repo.git("status", "--porcelain") == status
    assert repo.run("undo", "-p", PARSER).exit == 0


@pytest.mark.parametrize("name", ["archive", "restore", "rename", "attach"])
def test_41_artifacts_on_another_file_system(tmp_path: Path, name: str) -> None:
    scene = SCENES[name]
    repo = scene_repository(tmp_path, scene)
    copy = Folder(tmp_path / "copy")
    shutil.copytree(repo.path, copy.path, symlinks=True)
    copy.ok(*scene.call)
    result = run_in_namespace(
        tmp_path,
        f"cp -a repo/{PLANS}/artifacts artifacts; mount -t tmpfs tmpfs repo/{PLANS}/artifacts\n"
        f"cp -a artifacts/. repo/{PLANS}/artifacts; cd repo; set +e; {shell_line(scene.call)} >&2; echo $?; cp -a . ../moved",
        repo.env,
    )
    assert result.exit == 0, result
    assert result.out.strip() == "0", result
    # Links that lead out are links still, modes are kept, nothing stays behind: it is as if it were one file system.
    assert tree(tmp_path / "moved") == tree(copy.path)


@pytest.mark.parametrize("name", ["archive", "restore"])
def test_41_killed_on_the_way_to_another_file_system(
    tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    need("strace", "unshare")
    command = [sys.executable, "-m", "tests.crash.other_filesystem", str(tmp_path), name, "10"]
    root = str(Path(__file__).parents[2])
    completed = subprocess.run(
        ["unshare", "-rm", *command],
        env={**os.environ, "PYTHONPATH": root},
        cwd=root,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr.decode()
    report = json.loads(completed.stdout)
    record_property(COUNTED, report["line"])
    assert any("EXDEV" in call_line for call_line in report["calls"]), "all lay on one file system"
    assert not report["bad"], "\n".join(report["bad"])


def run_in_namespace(cwd: Path, script: str, env: dict[str, str] | None = None) -> Result:
    """Run a script where mounts are its own and end with it."""
    need("unshare")
    completed = subprocess.run(
        ["unshare", "-rm", "sh", "-euc", script], cwd=cwd, env=env, capture_output=True, timeout=120, check=False
    )
    return Result(completed.returncode, completed.stdout.decode(), completed.stderr.decode())


def scene_repository(folder: Path, scene: Scene) -> Folder:
    """The repository of a scene."""
    repo = Folder(folder / "repo")
    repo.path.mkdir()
    create_repository(repo, scene)
    return repo


def shell_line(call: tuple[str, ...]) -> str:
    """A call of execplan, for a shell."""
    return f"{EXECPLAN} {shlex.join(call)}"
