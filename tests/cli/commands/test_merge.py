"""`merge BASE OURS THEIRS`: three files into one, or onto standard output."""

from __future__ import annotations

import pytest

from tests.conftest import Folder
from tests.core.git_merge.branches import BOTH, OURS, THEIRS, edited
from tests.plans import CLEAN

PROSE = "Write the scanner, then the reader."


@pytest.fixture
def files(plain: Folder) -> Folder:
    """A folder with three versions, and two that conflict."""
    plain.write("base.md", CLEAN)
    plain.write("ours.md", edited(CLEAN, *OURS))
    plain.write("theirs.md", edited(CLEAN, *THEIRS))
    plain.write("one.md", CLEAN.replace(PROSE, "Scan first."))
    plain.write("two.md", CLEAN.replace(PROSE, "Read first."))
    return plain


def test_standard_output(files: Folder) -> None:
    result = files.run("merge", "base.md", "ours.md", "theirs.md")
    assert (result.exit, result.err) == (0, "")
    assert [result.out.count(phrase) for phrase in BOTH] == [1] * len(BOTH)
    assert sorted(path.name for path in files.path.iterdir()) == ["base.md", "one.md", "ours.md", "theirs.md", "two.md"]
    data = files.ok("merge", "base.md", "ours.md", "theirs.md")
    assert data == {"conflicts": 0, "notes": [], "path": None, "text": result.out, "changed": True}


def test_a_dash_is_standard_output(files: Folder) -> None:
    call = ("merge", "base.md", "ours.md", "theirs.md")
    assert files.run(*call, "-o", "-").out == files.run(*call).out
    assert not (files.path / "-").exists()


@pytest.mark.parametrize("out", ["new.md", "ours.md", "theirs.md"])
def test_out(files: Folder, out: str) -> None:
    text = files.run("merge", "base.md", "ours.md", "theirs.md").out
    data = files.ok("merge", "base.md", "ours.md", "theirs.md", "-o", out)
    assert data == {"conflicts": 0, "notes": [], "path": out, "text": None, "changed": True}
    assert (files.path / out).read_text() == text
    assert files.ok("merge", "base.md", "ours.md", "ours.md", "-o", "ours.md")["changed"] is False


def test_out_keeps_mode_and_link(files: Folder) -> None:
    files.write("real.md", "old\n").chmod(0o640)
    (files.path / "link.md").symlink_to("real.md")
    files.ok("merge", "base.md", "ours.md", "theirs.md", "-o", "link.md")
    assert (files.path / "link.md").is_symlink()
    assert (files.path / "real.md").stat().st_mode & 0o777 == 0o640
    assert "Handle tabs" in (files.path / "real.md").read_text()


def test_conflicts(files: Folder) -> None:
    result = files.run("merge", "base.md", "one.md", "two.md")
    assert result.exit == 1
    assert "<<<<<<< one.md\nScan first.\n=======\nRead first.\n>>>>>>> two.md\n" in result.out
    assert "1 conflict is left between conflict markers" in result.err
    document = files.run("merge", "base.md", "one.md", "two.md", "-o", "out.md", "--json").json
    assert document["ok"] is False
    assert document["error"] is None
    assert document["data"]["conflicts"] == 1
    assert (files.path / "out.md").read_text() == result.out


@pytest.mark.parametrize("base", ["/dev/null", "empty.md"])
def test_no_base(files: Folder, base: str) -> None:
    files.write("empty.md", "")
    result = files.run("merge", base, "ours.md", "theirs.md")
    assert [result.out.count(phrase) for phrase in BOTH] == [1] * len(BOTH)


def test_notes(files: Folder) -> None:
    files.write("wider.md", CLEAN.replace("- [ ] Build the parser.", "- [ ] Build the parser and the printer."))
    result = files.run("merge", "base.md", "ours.md", "wider.md", "--json")
    assert result.exit == 0
    assert result.json["data"]["notes"] == result.json["warnings"]
    assert len(result.json["data"]["notes"]) == 1
    assert result.json["data"]["notes"][0] in files.run("merge", "base.md", "ours.md", "wider.md").err


def test_dry_run(files: Folder) -> None:
    data = files.ok("merge", "base.md", "ours.md", "theirs.md", "-o", "ours.md", "--dry-run")
    assert "+- [ ] Handle tabs" in data["diff"]
    assert (files.path / "ours.md").read_text() == edited(CLEAN, *OURS)
    assert files.run("merge", "base.md", "ours.md", "theirs.md", "-o", "new.md", "--dry-run").out.endswith(
        "would write new.md\n"
    )
    assert not (files.path / "new.md").exists()


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("ours.md", b"caf\xe9\n", "not-utf-8"),
        ("theirs.md", b"a\0b\n", "nul-byte"),
        ("base.md", b"caf\xe9\n", "not-utf-8"),
        ("ours.md", b"", "empty-file"),
        ("theirs.md", b"- [ ] x\n" * 700_000, "too-large"),
        ("theirs.md", None, "no-such-file"),
    ],
)
def test_what_is_no_plan_is_refused_by_name(files: Folder, name: str, data: bytes | None, code: str) -> None:
    path = files.path / name
    path.unlink() if data is None else path.write_bytes(data)
    result = files.run("merge", "base.md", "ours.md", "theirs.md", "-o", "out.md", "--json")
    assert result.exit == 3
    assert result.json["error"]["code"] == code
    assert name in result.json["error"]["message"]
    assert not (files.path / "out.md").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", "out.md"],
        ["base.md", "ours.md"],
        ["base.md", "ours.md", "theirs.md", "one.md"],
        ["base.md", "ours.md", "theirs.md", "--commit"],
        ["base.md", "ours.md", "theirs.md", "--if-match", "0"],
        ["ours.md", "-o", "out.md"],
        ["-q", "--driver", "base.md", "ours.md", "theirs.md", "7", "p.md"],
    ],
)
def test_usage(files: Folder, arguments: list[str]) -> None:
    result = files.run("merge", *arguments)
    assert result.exit == 2
    assert "hint: " in result.err
    assert not (files.path / "out.md").exists()


def test_out_that_cannot_be_written(files: Folder) -> None:
    files.write("out.md", "old\n").chmod(0o444)
    result = files.run("merge", "base.md", "ours.md", "theirs.md", "-o", "out.md")
    assert result.exit == 6
    assert (files.path / "out.md").read_text() == "old\n"
    assert files.run("merge", "base.md", "ours.md", "theirs.md", "-o", "no/out.md").exit == 3


def test_out_that_is_a_plan_waits_for_its_lock(repo: Folder, files: Folder) -> None:
    repo.plan()
    for name in ("base", "ours", "theirs"):
        repo.write(f"{name}.md", (files.path / f"{name}.md").read_bytes())
    messages = repo.run(
        "merge", "base.md", "ours.md", "theirs.md", "-o", ".agent/execplans/2026-01-01_parser.md", "-v"
    ).err
    assert "locked " in messages
    assert "merge into .agent/execplans/2026-01-01_parser.md" in messages
