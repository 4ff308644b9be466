"""`doctor` on what `install` has added: whole, of today, and able to run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.doctor.doctor_findings import assert_clean, doctor, findings, only_finding, run_remedy
from tests.conftest import Folder

HOOK = ".git/hooks/pre-commit"
CONFIG = ".pre-commit-config.yaml"


def passing_message(folder: Folder, check: str, **env: str) -> str:
    """What a check that found nothing says."""
    (result,) = [entry for entry in doctor(folder, **env)["checks"] if entry["name"] == check]
    assert result["ok"]
    return str(result["message"])


def replace_in_block(path: Path, old: str, new: str) -> None:
    """Put other words into a file, as if it had been installed so."""
    from execplan.agents.integrations import managed_block

    style = managed_block.MARKDOWN if path.suffix == ".md" else managed_block.SHELL
    data = path.read_bytes()
    block = managed_block.find_block(data, style, "")
    assert block is not None
    lines = [line.replace(old, new) for line in block.lines]
    assert lines != list(block.lines)
    path.write_bytes(managed_block.replace_block_lines(data, block, lines, style))


@pytest.fixture
def installed(repo: Folder) -> Folder:
    """A home with every integration."""
    repo.plan()
    repo.write("CLAUDE.md", "# Notes\n")
    repo.ok("install", "agents", "pre-commit", "git-hooks", "completion", "--shell", "bash")
    return repo


def test_installed_and_current(installed: Folder) -> None:
    assert_clean(installed)
    for check in ("agents", "pre-commit", "git-hooks", "completion"):
        assert "not installed" not in passing_message(installed, check)
    installed.ok("uninstall", "agents", "pre-commit", "git-hooks", "completion", "--shell", "bash")
    for check in ("agents", "pre-commit", "git-hooks", "completion"):
        assert "not installed" in passing_message(installed, check)


FILES = {
    "agents": ("AGENTS.md", "plan"),
    "pre-commit": (CONFIG, "--hook"),
    "git-hooks": (HOOK, "--staged"),
}


@pytest.mark.parametrize("check", FILES)
def test_outdated(installed: Folder, check: str) -> None:
    name, old_text = FILES[check]
    path = installed.path / name
    current = path.read_bytes()
    replace_in_block(path, old_text, "--elder")
    finding = only_finding(installed, check)
    assert finding["path"] == name
    assert finding["fixable"]
    doctor(installed, "--fix", "--dry-run")
    assert path.read_bytes() != current
    doctor(installed, "--fix")
    assert path.read_bytes() == current
    replace_in_block(path, old_text, "--elder")
    run_remedy(installed, finding["mend"])
    assert_clean(installed)


@pytest.mark.parametrize("check", FILES)
def test_edited_by_hand_stays(installed: Folder, check: str) -> None:
    path = installed.path / FILES[check][0]
    lines = path.read_text().split("\n")
    lines.insert(next(at for at, line in enumerate(lines) if "execplan:end" in line), "# By hand.")
    text = "\n".join(lines)
    path.write_text(text)
    assert "edited by hand" in passing_message(installed, check)
    assert doctor(installed, "--fix")["fixed"] == []
    assert path.read_text() == text


@pytest.mark.parametrize("check", FILES)
def test_damaged(installed: Folder, check: str) -> None:
    path = installed.path / FILES[check][0]
    path.write_text(
        "".join([line for line in path.read_text().splitlines(keepends=True) if "execplan:end" not in line])
    )
    finding = only_finding(installed, check)
    assert finding["level"] == "error"
    assert "has no end" in finding["message"]
    assert finding["line"]
    assert doctor(installed, "--fix")["findings"]


@pytest.mark.parametrize("check", ["pre-commit", "git-hooks"])
def test_the_python_that_is_named(installed: Folder, check: str) -> None:
    path = installed.path / FILES[check][0]
    replace_in_block(path, sys.executable, "/bin/sh")
    assert_clean(installed)
    replace_in_block(path, "/bin/sh", "/nowhere/python")
    finding = only_finding(installed, check)
    assert finding["level"] == "error"
    assert "which no longer exists or can't run" in finding["message"]
    run_remedy(installed, finding["mend"])
    assert_clean(installed)
    replace_in_block(path, sys.executable, "/nowhere/python")
    doctor(installed, "--fix")
    assert_clean(installed)
    path.write_text(path.read_text().replace(sys.executable, "/nowhere/python"))
    finding = only_finding(installed, check)
    assert not finding["fixable"]
    run_remedy(installed, finding["mend"])
    assert_clean(installed)


def test_a_python_with_an_odd_name_that_goes(repo: Folder) -> None:
    repo.plan()
    python = repo.path.parent / "it's here" / "python 3"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    env = {**repo.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [str(python), "-m", "execplan", "install", "git-hooks", "pre-commit"]
    subprocess.run(command, cwd=repo.path, env=env, capture_output=True, check=True)
    assert_clean(repo)
    python.unlink()
    for finding in doctor(repo)["findings"]:
        assert f"names {python}, which no longer exists or can't run" in finding["message"]
    assert len(doctor(repo)["findings"]) == 2
    assert len(doctor(repo, "--fix")["fixed"]) == 2
    assert_clean(repo)


def test_a_hook_that_somebody_wrote_into(installed: Folder) -> None:
    replace_in_block(installed.path / HOOK, sys.executable, "/nowhere/it's")
    assert "which no longer exists or can't run" in only_finding(installed, "git-hooks")["message"]


def test_agents_in_one_file_of_two(installed: Folder) -> None:
    (installed.path / "CLAUDE.md").write_text("# Notes\n")
    assert only_finding(installed, "agents")["path"] == "CLAUDE.md"
    doctor(installed, "--fix")
    assert_clean(installed)


def test_a_hook_that_git_passes_over(installed: Folder) -> None:
    (installed.path / HOOK).chmod(0o644)
    finding = only_finding(installed, "git-hooks")
    assert "is not executable" in finding["message"]
    run_remedy(installed, finding["mend"])
    assert_clean(installed)


def test_a_hook_in_a_folder_that_git_does_not_look_into(installed: Folder) -> None:
    installed.git("config", "core.hooksPath", "hooks")
    finding = only_finding(installed, "git-hooks")
    assert finding["path"] == HOOK
    assert "core.hooksPath" in finding["message"]
    installed.git("config", "core.hooksPath", "/nowhere/hooks")
    assert only_finding(installed, "git-hooks")["path"] == HOOK


def test_a_hook_that_was_put_aside(repo: Folder) -> None:
    repo.plan()
    hook = repo.write(HOOK, "#!/usr/bin/env python3\nprint()\n")
    hook.chmod(0o755)
    repo.ok("install", "git-hooks")
    assert_clean(repo)
    hook.unlink()
    finding = only_finding(repo, "git-hooks")
    assert finding["path"] == f"{HOOK}.before-execplan"
    doctor(repo, "--fix")
    assert hook.read_text().startswith("#!/usr/bin/env python3")
    assert_clean(repo)
    hook.rename(hook.with_name("pre-commit.before-execplan"))
    repo.write(HOOK, "#!/bin/sh\n").chmod(0o755)
    assert "both are kept" in only_finding(repo, "git-hooks")["message"]


def test_a_hook_that_was_put_in_by_hand(repo: Folder) -> None:
    repo.plan()
    repo.write(CONFIG, "repos:\n- repo: local\n  hooks:\n  - id: execplan-lint\n    entry: x\n")
    repo.write(HOOK, "#!/bin/sh\nexecplan lint --staged\n")
    assert_clean(repo)


def test_completion(installed: Folder) -> None:
    path = installed.path.parent / ".local/share/bash-completion/completions/execplan"
    current = path.read_bytes()
    replace_in_block(path, "execplan", "execplun")
    assert only_finding(installed, "completion")["mend"] == "execplan install completion --shell bash"
    doctor(installed, "--fix")
    assert path.read_bytes() == current
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert "has no end" in only_finding(installed, "completion")["message"]


def test_a_config_that_is_no_yaml(installed: Folder) -> None:
    path = installed.path / CONFIG
    path.write_text("x: [\n" + path.read_text())
    config_findings = findings(installed, "pre-commit")
    assert config_findings


def test_without_git(plain: Folder) -> None:
    plain.plan()
    plain.ok("install", "agents")
    assert_clean(plain)
    assert "no repository" in passing_message(plain, "git-hooks")
