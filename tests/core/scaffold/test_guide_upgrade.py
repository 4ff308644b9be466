"""The guide: a newer one comes into it, and no word that a person wrote is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.core.scaffold.guide_upgrade import merge_newest_guide
from execplan.core.text.text_lines import Text
from tests.conftest import Folder

TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
FIRST = (TEMPLATES / "guides/1.md").read_text(encoding="utf-8")
NEWEST = (TEMPLATES / "PLANS.md").read_text(encoding="utf-8")
VERSION = 5
HEADING = "## Milestones and spikes"
MARK = f"\n<!-- execplan guide {VERSION} -->\n"
TITLE = "# How to write and "
"""The start of the title, which the fourth guide changed."""
REMOVED = "## The shapes"
"""A heading of the first guide, which the fourth one changed."""


def guide(folder: Folder, text: str) -> Path:
    """Put a guide into the home."""
    return folder.write(".agent/PLANS.md", text)


def test_a_new_home_has_the_newest(plain: Folder) -> None:
    plain.ok("init")
    assert (plain.path / ".agent/PLANS.md").read_text(encoding="utf-8") == NEWEST
    assert NEWEST.endswith(MARK)
    assert FIRST != NEWEST
    data = plain.ok("init", "--upgrade")
    assert (data["changed"], data["guide"]["version"], data["guide"]["newest"]) == (False, VERSION, VERSION)


def test_plain_init_only_says_that_a_newer_one_is_there(plain: Folder) -> None:
    path = guide(plain, FIRST)
    plain.ok("init")
    result = plain.run("init", "--json")
    assert result.json["data"]["changed"] is False
    assert "execplan init --upgrade" in result.json["next"]
    assert "execplan init --upgrade" in plain.run("init").out
    assert path.read_text(encoding="utf-8") == FIRST
    plain.ok("init", "--upgrade")
    assert "upgrade" not in plain.run("init").out


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_unedited_guide_becomes_the_newest(plain: Folder, end: str) -> None:
    path = guide(plain, FIRST.replace("\n", end))
    path.chmod(0o640)
    data = plain.ok("init", "--upgrade")
    assert (data["changed"], data["guide"]["version"], data["guide"]["conflicts"]) == (True, 1, [])
    assert path.read_bytes() == NEWEST.replace("\n", end).encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_every_earlier_guide_becomes_the_newest(plain: Folder) -> None:
    guides = sorted((TEMPLATES / "guides").iterdir())
    assert [guide_file.name for guide_file in guides] == [f"{number}.md" for number in range(1, VERSION)]
    for number, guide_file in enumerate(guides, 1):
        path = guide(plain, guide_file.read_text(encoding="utf-8"))
        data = plain.ok("init", "--upgrade")
        assert (data["guide"]["version"], data["guide"]["conflicts"]) == (number, [])
        assert path.read_text(encoding="utf-8") == NEWEST


def test_what_a_person_changed_stays(plain: Folder) -> None:
    own_guide = (
        FIRST.replace(HEADING, "## Our milestones").replace("| plans |", "| our plans |") + "\n## Ours\n\nMore.\n"
    )
    path = guide(plain, own_guide)
    result = plain.run("init", "--upgrade")
    assert result.err == ""
    assert f"upgraded  .agent/PLANS.md  (guide version 1 to {VERSION})" in result.out
    text = path.read_text(encoding="utf-8")
    expected = NEWEST.removesuffix(MARK).replace(HEADING, "## Our milestones").replace("| plans |", "| our plans |")
    assert text == f"{expected}\n## Ours\n\nMore.\n{MARK}"
    assert plain.ok("init", "--upgrade")["changed"] is False
    assert path.read_text(encoding="utf-8") == text


def test_where_both_changed_the_person_is_kept_and_told(plain: Folder) -> None:
    lines = FIRST.split("\n")
    assert lines[0].startswith(TITLE)
    lines[0] = "# How we plan"
    lines.remove(REMOVED)
    path = guide(plain, "\n".join(lines))
    result = plain.run("init", "--upgrade", "--json")
    text = path.read_text(encoding="utf-8").split("\n")
    first, second = result.json["data"]["guide"]["conflicts"]
    assert text[first["line_start"] - 1 : first["line_end"]] == first["kept"] == ["# How we plan"]
    assert first["new"] == ["# How to write and follow an ExecPlan"]
    assert second["kept"] == []
    assert second["new"] == ["## Formats of entries"]
    warnings = result.json["warnings"]
    assert warnings[0].startswith(f".agent/PLANS.md:{first['line_start']}: changed by you and by the new guide")
    assert " ".join([line.strip() for line in first["new"]]) in warnings[0]
    assert "your removal is kept" in warnings[1]
    assert REMOVED not in text
    assert "## Formats of entries" not in text
    repeated = plain.run("init", "--upgrade", "--json").json
    assert (repeated["data"]["changed"], repeated["warnings"]) == (False, [])
    assert path.read_text(encoding="utf-8").split("\n") == text


def test_dry_run_shows_the_change_and_writes_nothing(repo: Folder) -> None:
    path = guide(repo, FIRST)
    repo.ok("init")
    preview = repo.ok("init", "--upgrade", "--dry-run")
    assert path.read_text(encoding="utf-8") == FIRST
    repo.write("change.patch", preview["diff"] + "\n")
    repo.git("apply", "change.patch")
    assert path.read_text(encoding="utf-8") == NEWEST
    assert repo.ok("init", "--upgrade", "--dry-run")["diff"] == ""


def test_an_upgrade_is_committed_alone(repo: Folder) -> None:
    guide(repo, FIRST)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Old")
    repo.write("mine.txt", "staged\n")
    repo.ok("init", "--commit")
    repo.git("add", "mine.txt")
    data = repo.ok("init", "--upgrade", "--commit")
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]
    assert repo.git("show", "--name-only", "--format=%s").split("\n") == [
        f"plan(init): upgrade the guide to version {VERSION}",
        "",
        ".agent/PLANS.md",
        "",
    ]
    assert repo.git("status", "--porcelain") == "A  mine.txt\n"
    assert repo.ok("init", "--upgrade", "--commit")["commit"] is None


def test_a_guide_of_ones_own_is_left(plain: Folder) -> None:
    for text in ("# How we plan\n\nWith pencils.\n", FIRST[:200] + "\n\nNo more.\n" * 40):
        path = guide(plain, text)
        plain.ok("init")
        result = plain.run("init", "--upgrade", "--json")
        assert result.json["data"]["changed"] is False
        assert result.json["warnings"] == [".agent/PLANS.md is your own guide; it was left unchanged"]
        assert path.read_text(encoding="utf-8") == text


def test_the_mark_tells_the_version(plain: Folder) -> None:
    newer = NEWEST.replace(f"guide {VERSION} -->", "guide 9 -->")
    path = guide(plain, newer)
    assert "version 9" in plain.run("init", "--upgrade").err
    assert path.read_text(encoding="utf-8") == newer
    lost = NEWEST.removesuffix(MARK).replace(HEADING, "## Our milestones")
    path = guide(plain, lost)
    assert plain.ok("init", "--upgrade")["changed"] is False
    assert path.read_text(encoding="utf-8") == lost


def test_a_guide_that_can_not_be_read_stops_only_the_upgrade(plain: Folder) -> None:
    path = plain.write(".agent/PLANS.md", b"\xff\xff")
    assert plain.run("init").exit == 0
    assert plain.run("init", "--upgrade").exit == 3
    path.write_bytes(b"")
    assert plain.run("init").exit == 0
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert plain.run("init").exit == 0
    assert plain.run("init", "--upgrade").exit == 7
    path.unlink()
    path.write_text(FIRST, encoding="utf-8")
    path.chmod(0o444)
    assert plain.run("init", "--upgrade").exit == 6
    assert path.read_text(encoding="utf-8") == FIRST
    assert [file.name for file in path.parent.iterdir() if file.name.endswith(".tmp")] == []


def test_ten_upgrades_at_once(plain: Folder) -> None:
    path = guide(plain, FIRST + "\nMine.\n")
    plain.ok("init")
    assert [result.exit for result in plain.run_at_once([("init", "--upgrade")] * 10)] == [0] * 10
    assert path.read_text(encoding="utf-8") == NEWEST.removesuffix(MARK) + "\nMine.\n" + MARK


def test_a_guide_that_changes_meanwhile_is_read_again(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.files import atomic_files
    from execplan.core.project import project_discovery
    from execplan.core.scaffold import guide_upgrade

    path = guide(plain, FIRST)
    replace = atomic_files.replace_if_unchanged

    def late(name: str, old: bytes, new: bytes, within: str) -> bool:
        monkeypatch.setattr(atomic_files, "replace_if_unchanged", replace)
        path.write_text(FIRST.replace(HEADING, "## Our milestones"), encoding="utf-8")
        return replace(name, old, new, within=within)

    monkeypatch.setattr(atomic_files, "replace_if_unchanged", late)
    assert guide_upgrade.upgrade_guide(project_discovery.find(str(plain.path)), WriteOptions()).changed
    assert path.read_text(encoding="utf-8") == NEWEST.replace(HEADING, "## Our milestones")


def test_other_hard_links_are_told(plain: Folder) -> None:
    path = guide(plain, FIRST)
    (plain.path / "other.md").hardlink_to(path)
    assert "other hard links" in plain.run("init", "--upgrade").err
    assert (plain.path / "other.md").read_text(encoding="utf-8") == FIRST


@given(st.data())
def test_no_line_of_a_person_is_lost_and_a_second_time_changes_nothing(data: st.DataObject) -> None:
    lines = FIRST.split("\n")[:-1]
    at = st.integers(0, len(lines) - 1)
    for number in range(data.draw(st.integers(0, 6))):
        index = data.draw(at)
        kind = data.draw(st.sampled_from(["change", "add", "remove"]))
        if kind == "remove":
            lines[index] = ""
        else:
            own_line = f"Mine {number}."
            lines[index] = own_line if kind == "change" else f"{lines[index]}\n{own_line}"
    text = "\n".join(lines) + data.draw(st.sampled_from(["", "\n", "\n\n\n"]))
    once = merge_newest_guide(Text.from_str(text))
    after = once.data.decode().split("\n")
    assert [line for line in after if line.startswith("Mine")] == [
        line for line in text.split("\n") if line.startswith("Mine")
    ]
    assert merge_newest_guide(Text.from_bytes(once.data)).data == once.data
    conflict_lines = {line for conflict in once.conflicts for line in conflict.new}
    assert {line for line in NEWEST.split("\n") if line not in FIRST} <= {*after, *conflict_lines}
