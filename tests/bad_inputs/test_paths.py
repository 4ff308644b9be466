"""Bad inputs 30, 31, 34 and 35: what a path can be."""

from __future__ import annotations

import os
import socket
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from tests.bad_inputs.assertions import WRITERS, checked_output, codes, expect_edit_errors, expect_error, names_in
from tests.plans import CLEAN

if TYPE_CHECKING:
    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive


@pytest.mark.parametrize("kind", ["plain", "repo"])
@pytest.mark.parametrize("shape", ["absolute", "relative", "chain"])
def test_30_link_out_of_the_repository(request: pytest.FixtureRequest, kind: str, shape: str) -> None:
    """A plan that is a is a symbolic link to is neither read nor written."""
    folder: Folder = request.getfixturevalue(kind)
    outside = folder.path.parent / "outside.md"
    outside.write_text(CLEAN, encoding="utf-8")
    path = folder.path / ".agent" / "execplans" / "2026-01-01_parser.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    if shape == "chain":
        (path.parent / "hop.txt").symlink_to(outside)
        path.symlink_to("hop.txt")
    else:
        path.symlink_to(outside if shape == "absolute" else "../../../outside.md")
    expect_edit_errors(folder, path, exit=7, says=("link", ".agent/execplans/2026-01-01_parser.md"))
    for command in (("show",), ("show", "parser"), ("archive",), ("done", "2"), ("done", "2", "--dry-run")):
        error = expect_error(folder, path, *command, exit=7, says=("outside of the repository",))
        assert error["candidates"] == []
    for command in (("list",), ("status",), ("next",), ("lint",), ("lint", str(path))):
        result = folder.run(*command)
        assert result.exit == 1, result
        assert "is a symbolic link to" in checked_output(result) or "is broken" in checked_output(result)
        assert "Read lines" not in result.out
    assert path.is_symlink()
    assert outside.read_bytes() == CLEAN.encode()


@pytest.mark.parametrize("kind", ["plain", "repo"])
def test_31_link_inside_the_repository(request: pytest.FixtureRequest, kind: str) -> None:
    """A link that stays inside: its target is edited, and the link stays a link."""
    folder: Folder = request.getfixturevalue(kind)
    target = folder.write("docs/real plan.md", CLEAN)
    target.chmod(0o640)
    path = folder.path / ".agent" / "execplans" / "2026-01-01_parser.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("../../docs/real plan.md")
    for writer in WRITERS:
        folder.ok(*writer)
        assert path.is_symlink()
    assert os.readlink(path) == "../../docs/real plan.md"
    assert target.stat().st_mode & 0o777 == 0o640
    assert b"[x] (2026-01-01 00:00Z) Build the parser." in target.read_bytes()
    assert names_in(target) == ["real plan.md"]
    assert codes(folder, path) == []


def test_31_link_and_target_are_locked_as_one(plain: Folder) -> None:
    """Writers through the link and through the target lose nothing of each other."""
    path = plain.plan()
    link = plain.path / "link.md"
    link.symlink_to(path)
    calls = [("add", f"Step {number}.", "-p", str((path, link)[number % 2])) for number in range(10)]
    assert [result.exit for result in plain.run_at_once(calls)] == [0] * 10
    assert plain.ok("show")["counts"]["total"] == 13


def test_31_broken_link_and_loop(plain: Folder) -> None:
    """A link to nothing and a link to itself are broken plans."""
    project = plain.path / ".agent" / "execplans"
    project.mkdir(parents=True)
    (project / "gone.md").symlink_to("nowhere.md")
    (project / "loop.md").symlink_to("loop.md")
    for name in ("gone", "loop"):
        for command in (("show", name), ("done", "1", "-p", name), ("archive", name)):
            result = plain.run(*command)
            assert result.exit == 3, result
            assert name in checked_output(result)
    for subcommand in ("list", "status", "lint"):
        result = plain.run(subcommand)
        assert result.exit == 1
        assert "gone" in checked_output(result)
    assert (project / "gone.md").is_symlink()


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "device"])
def test_34_what_is_no_file(plain: Folder, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe, a socket, a folder and a device are refused at once."""
    plain.plan()
    path = plain.path / ".agent" / "execplans" / "odd.md"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        monkeypatch.chdir(path.parent)  # a socket's path has at most 107 bytes
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("odd.md")
    elif kind == "folder":
        path.mkdir()
    target = "/dev/zero" if kind == "device" else str(path)
    begin = monotonic()
    calls: list[tuple[str, ...]] = [("show", target), ("new", "--from", target), ("add", f"@{target}", "-p", "parser")]
    calls += [(*writer, "-p", target) for writer in WRITERS]
    if kind != "device":
        calls += [("show", "odd"), ("archive", "odd"), ("done", "1", "-p", "odd")]
        listed = plain.run("list", "--json")
        assert listed.exit == 1
        assert [plan["state"] for plan in listed.json["data"]["plans"]] == ["active", "broken"]
        assert plain.run("status").exit == plain.run("lint").exit == 1
    for call in calls:
        for flags in ((), ("--json",)):
            result = plain.run(*call, *flags)
            assert result.exit == 3, (call, result)
            assert os.path.basename(target).split(".")[0] in checked_output(result)
    if kind != "folder":
        linted = plain.run("lint", target)
        assert linted.exit == 1
        assert "EP001" in checked_output(linted)
    assert monotonic() - begin < 20
    assert plain.ok("show", "parser")["counts"]["total"] == 3


def test_35_hard_link(plain: Folder) -> None:
    """Other hard links of a plan keep the old text, and a warning says so."""
    path = plain.plan()
    hard_link = plain.path / "other.md"
    os.link(path, hard_link)
    document = plain.run("done", "2", "--json")
    assert document.exit == 0
    assert any("hard link" in warning and path.name in warning for warning in document.json["warnings"])
    assert hard_link.read_bytes() == CLEAN.encode()
    assert b"[x] (2026-01-01 00:00Z) Build" in path.read_bytes()
    assert path.stat().st_nlink == 1
    second_result = plain.run("done", "3")
    assert second_result.exit == 0
    assert "hard link" not in second_result.err


def test_35_hard_link_is_warned_of_in_words(plain: Folder) -> None:
    """The warning goes to standard error, and reading gives none."""
    path = plain.plan()
    os.link(path, plain.path / "other.md")
    assert not plain.run("show", "--json").json["warnings"]
    result = plain.run("add", "Ship it.")
    assert result.exit == 0
    assert "hard link" in result.err
