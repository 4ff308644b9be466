"""`doctor` on the skill and the plugin: intact and up to date."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execplan.core.text.text_lines import digest
from tests.cli.doctor.doctor_findings import assert_clean, doctor, only_finding, run_remedy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Folder


@pytest.fixture(params=["skill", "plugin"])
def check(request: pytest.FixtureRequest) -> str:
    """The integration, which has a check of this name."""
    return str(request.param)


@pytest.fixture
def folder(repo: Folder, check: str) -> Path:
    """A folder of files, installed beside a plan."""
    repo.plan()
    repo.ok("install", check)
    return {
        "skill": repo.path / ".agents/skills/execplan",
        "plugin": repo.path.parent / ".local/share/execplan/plugin",
    }[check]


def skill_file(folder: Path) -> Path:
    """The skill in it."""
    (path,) = [path for path in folder.rglob("SKILL.md") if path.parent.name == "execplan"]
    return path


def make_outdated(folder: Path) -> None:
    """Leave what an older version would have installed."""
    path, listing = skill_file(folder), folder / ".execplan.json"
    path.write_text("Older.\n")
    document = json.loads(listing.read_text())
    document["files"][str(path.relative_to(folder))] = digest(b"Older.\n")[:16]
    listing.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")


def message(repo: Folder, check: str) -> str:
    """What the check says."""
    (entry,) = [entry for entry in doctor(repo)["checks"] if entry["name"] == check]
    return str(entry["message"])


def test_up_to_date_and_not_installed(repo: Folder, folder: Path, check: str) -> None:
    assert_clean(repo)
    assert "not installed" not in message(repo, check)
    repo.ok("uninstall", check)
    assert "not installed" in message(repo, check)


def test_out_of_date(repo: Folder, folder: Path, check: str) -> None:
    current = skill_file(folder).read_bytes()
    make_outdated(folder)
    finding = only_finding(repo, check)
    assert "out of date" in finding["message"]
    assert finding["fixable"]
    assert finding["path"].endswith("/SKILL.md")
    doctor(repo, "--fix")
    assert skill_file(folder).read_bytes() == current
    make_outdated(folder)
    run_remedy(repo, only_finding(repo, check)["mend"])
    assert_clean(repo)


def test_a_missing_file(repo: Folder, folder: Path, check: str) -> None:
    skill_file(folder).unlink()
    assert only_finding(repo, check)["message"] == "is missing"
    doctor(repo, "--fix")
    assert_clean(repo)


def test_edited_by_hand_stays(repo: Folder, folder: Path, check: str) -> None:
    skill_file(folder).write_text("Mine.\n")
    assert "edited by hand" in message(repo, check)
    assert doctor(repo, "--fix")["fixed"] == []
    assert skill_file(folder).read_text() == "Mine.\n"


def test_a_damaged_list(repo: Folder, folder: Path, check: str) -> None:
    (folder / ".execplan.json").write_text("{")
    finding = only_finding(repo, check)
    assert (finding["level"], finding["fixable"]) == ("error", False)
    assert "is not a list of installed files" in finding["message"]
