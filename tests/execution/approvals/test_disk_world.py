"""What an evaluation sees of the disk: through no link, and without leaving anything behind."""

from __future__ import annotations

import hashlib
import os

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.execution.approvals import disk_world
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OTHER, OUTSIDE, State
from tests.conftest import Folder
from tests.crash.crash_scenario import tree


@pytest.fixture
def disk(repo: Folder) -> DiskWorld:
    repo.write("src/app.py", "x = 1\n").chmod(0o755)
    repo.write("../elsewhere/secret.txt", "secret\n")
    (repo.path / "src" / "inner").symlink_to("app.py")
    (repo.path / "out").symlink_to(repo.path.parent / "elsewhere")
    (repo.path / "in").symlink_to("src")
    os.mkfifo(repo.path / "pipe")
    return DiskWorld(project_discovery.find(str(repo.path)))


@pytest.mark.parametrize(
    ("path", "kind", "link"),
    [
        ("src/app.py", FILE, ""),
        ("./src//app.py", FILE, ""),
        ("src", FOLDER, ""),
        (".", FOLDER, ""),
        ("src/", FOLDER, ""),
        ("none.py", ABSENT, ""),
        ("none/deep/er.py", ABSENT, ""),
        ("src/app.py/below", ABSENT, ""),
        ("src/inner", LINK, "app.py"),
        ("pipe", OTHER, ""),
        ("out/secret.txt", OUTSIDE, "out"),
        ("in/app.py", OUTSIDE, "in"),
        ("../elsewhere/secret.txt", OUTSIDE, ""),
        ("src/../README.md", OUTSIDE, ""),
        ("/etc/passwd", OUTSIDE, ""),
    ],
)
def test_states(disk: DiskWorld, path: str, kind: str, link: str) -> None:
    state = disk.state(path)
    assert (state.kind, state.link) == (kind, link)


def test_a_file_has_its_digest_its_mode_and_its_size(disk: DiskWorld) -> None:
    assert disk.state("src/app.py") == State(FILE, hashlib.sha256(b"x = 1\n").hexdigest(), 0o755, "", 6)


def test_a_file_that_is_too_large_has_no_digest(disk: DiskWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_world, "MAX_DIGEST_BYTES", 5)
    assert disk.state("src/app.py") == State(FILE, "", 0o755, "", 6)
    monkeypatch.setattr(disk_world, "MAX_SHOWN_BYTES", 5)
    with pytest.raises(ExecplanError, match="is larger than"):
        disk.read("src/app.py")


@pytest.mark.parametrize(
    "path", ["none.py", "none/x", "src", "src/inner", "out/secret.txt", "pipe", "../elsewhere/secret.txt"]
)
def test_only_a_file_inside_is_read(disk: DiskWorld, path: str) -> None:
    assert disk.read("src/app.py") == b"x = 1\n"
    with pytest.raises(ExecplanError):
        disk.read(path)


def test_what_may_be_written(disk: DiskWorld, repo: Folder) -> None:
    (repo.path / "src" / "app.py").chmod(0o444)
    assert not disk.writable("src/app.py")
    assert disk.writable("src/new.py")
    assert disk.writable("new/deep/er.py")
    assert not disk.writable("out/secret.txt")
    assert not disk.writable("../x")


def test_programs_are_found_as_a_command_finds_them(disk: DiskWorld, repo: Folder) -> None:
    repo.write("tool.sh", "#!/bin/sh\n")
    assert disk.program("sh", ".").path
    assert disk.program("/bin/sh", ".").path
    assert disk.program("./app.py", "src").path
    assert not disk.program("./app.py", ".").path
    assert not disk.program("app.py", "src").path
    assert not disk.program("./tool.sh", ".").path
    assert not disk.program("no-such-program-here", ".").path


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (".git/hooks/pre-commit", True),
        ("vendor/.GIT/config", True),
        (".agent/execplan.toml", True),
        (".agent/.state/locks", True),
        ("web/.agent/Execplan.toml", True),
        (".agent/execplans/artifacts/parser/approvals/x.json", True),
        (".agent/execplans/archive/artifacts/parser/ledger.jsonl", True),
        (".agent/execplans/artifacts/parser/Execution-Plan.json", True),
        (".agent/execplans/artifacts/parser/shot.png", False),
        (".agent/execplans/artifacts/approvals", False),
        (".gitignore", False),
        (".github/workflows/ci.yml", False),
        ("src/.gitkeep", False),
    ],
)
def test_what_is_git_s_or_the_tool_s_own(disk: DiskWorld, path: str, own: bool) -> None:
    assert bool(disk.protected(path)) == own


def test_what_is_filed_by_year_is_the_tool_s_own_too(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", 'archive_artifacts = "old/{year}/files"\n')
    disk = DiskWorld(project_discovery.find(str(repo.path)))
    assert disk.protected("old/2026/files/parser/approvals/x.json")
    assert not disk.protected("old/2026/files/parser/shot.png")


def test_the_machine_is_known(disk: DiskWorld) -> None:
    assert disk.free_bytes() > 0
    assert disk.memory_bytes() > 0


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [("sh", b"if true; then echo; fi\n", b"if true; then\n"), ("bash", b"a=(1 2)\n", b"a=(1 2\n")],
)
def test_scripts_are_parsed_and_not_run(
    disk: DiskWorld, repo: Folder, language: str, good: bytes, bad: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = repo.path / "left"
    monkeypatch.setenv("BASH_ENV", str(repo.write("../env.sh", f"touch {marker}\n")))
    before = tree(repo.path / "src")
    assert disk.syntax(language, good + f"touch {marker}\n: $(touch {marker})\n".encode()) == ""
    assert disk.syntax(language, bad)
    assert tree(repo.path / "src") == before
    assert not marker.exists()


def test_a_parser_that_the_repository_brings_is_not_asked(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = repo.path / "left"
    repo.write("bin/sh", f"#!/bin/sh\ntouch {marker}\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{repo.path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    from execplan.execution.approvals import installed_programs

    installed_programs.find_installed_program.cache_clear()
    assert DiskWorld(project_discovery.find(str(repo.path))).syntax("sh", b"echo\n") == ""
    installed_programs.find_installed_program.cache_clear()
    assert not marker.exists()


def test_a_language_without_a_parser(disk: DiskWorld) -> None:
    assert disk.syntax("ruby", b"BEGIN { exit }") is None


def test_looking_leaves_nothing(disk: DiskWorld, repo: Folder) -> None:
    (repo.path / "pipe").unlink()
    before = tree(repo.path, skip="")
    for path in ("src/app.py", "none", "out/x"):
        disk.state(path)
        disk.writable(path)
    assert tree(repo.path, skip="") == before
