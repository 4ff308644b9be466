"""`install completion`: the files, and what bash, zsh and fish really offer."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import fork_server
from tests.agents.integrations.file_tree import tree
from tests.conftest import Folder
from tests.needs import need
from tests.plans import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

PLACES = {
    "bash": ".local/share/bash-completion/completions/execplan",
    "zsh": ".local/share/zsh/site-functions/_execplan",
    "fish": ".config/fish/completions/execplan.fish",
}
ASK = {
    "bash": 'source "{file}"; COMP_WORDS=({words}); COMP_CWORD={at}; compopt() {{ echo files; }}; '
    '_execplan_completion execplan; printf "%s\\n" "${{COMPREPLY[@]}}"',
    "zsh": "fpath+=({folder}); autoload -Uz compinit; compinit -u -D; words=({words}); CURRENT=$(({at} + 1)); "
    '_path_files() {{ print files }}; compadd() {{ print -rl -- "${{(@P)5}}" }}; '
    '_describe() {{ print -rl -- "${{(@P)3}}" }}; $_comps[execplan]',
    "fish": "complete -C '{line}'",
}


@pytest.fixture
def project(repo: Folder) -> Folder:
    """A repository with a plan, and the command on the path."""
    repo.plan()
    command = Folder(repo.path.parent).write("bin/execplan", f'#!/bin/sh\nexec {fork_server.command(repo.env)} "$@"\n')
    command.chmod(0o755)
    return repo


def offered(folder: Folder, shell: str, *arguments: str, cwd: Path | None = None) -> list[str]:
    """What a shell offers for the last word, without what it says of it; each must be the same in all three."""
    need(shell)
    folder.ok("install", "completion", "--shell", shell)
    file = folder.path.parent / PLACES[shell]
    quoted_line = " ".join(
        [shlex.quote(word) for word in ("execplan", *arguments)]
    )  # as they are typed, with their quotes
    line = " ".join(("execplan", *arguments))
    ask = ASK[shell].format(file=file, folder=file.parent, words=quoted_line, at=len(arguments), line=line)
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": []}[shell]
    run = [shell, *flags, "-c", ask]
    env = {**folder.env, "PATH": f"{folder.path.parent / 'bin'}:{folder.env['PATH']}"}
    completed = subprocess.run(run, cwd=cwd or folder.path, env=env, capture_output=True, check=False, timeout=60)
    assert completed.stderr == b"", (run, completed)
    cut = {"bash": "\0", "zsh": ":", "fish": "\t"}[shell]
    return [output_line.split(cut)[0] for output_line in completed.stdout.decode().splitlines() if output_line]


@pytest.mark.parametrize("shell", PLACES)
def test_commands_options_plans_and_tasks_are_offered(project: Folder, shell: str) -> None:
    from execplan.cli.commands import COMMANDS

    assert offered(project, shell, "") == (sorted(COMMANDS) if shell == "fish" else list(COMMANDS))
    assert offered(project, shell, "unin") == ["uninstall"]
    assert offered(project, shell, "show", "") == ["2026-01-01_parser"]
    assert offered(project, shell, "done", "-p", "2026") == ["2026-01-01_parser"]
    tasks = project.ok("show")["tasks"]
    ids = {state: sorted(task["id"] for task in tasks if task["state"] == state) for state in ("open", "done")}
    assert sorted(offered(project, shell, "done", "")) == ids["open"]
    assert sorted(offered(project, shell, "done", "-p", "parser", "")) == ids["open"]
    assert sorted(offered(project, shell, "reopen", "")) == ids["done"]
    assert offered(project, shell, "done", "2") == ["2"]
    assert offered(project, shell, "done", "--dry") == ["--dry-run"]
    assert offered(project, shell, "install", "completion", "--shell", "z") == ["zsh"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", PLACES)
def test_sections_templates_topics_codes_and_integrations_are_offered(project: Folder, shell: str) -> None:
    def escaped(*names: str) -> list[str]:
        """As a shell inserts them; zsh and fish escape what they insert themselves."""
        return [re.sub(r"([ &])", r"\\\1", name) if shell == "bash" else name for name in names]

    project.plan(CLEAN.partition("## Interfaces and Dependencies")[0])
    assert offered(project, shell, "set", "Pl") == escaped("Plan of Work")
    assert offered(project, shell, "set", "--create", "inter") == escaped("Interfaces and Dependencies")
    assert offered(project, shell, "set", "inter") == []
    assert offered(project, shell, "set", "-p", "parser", "Sur") == escaped("Surprises & Discoveries")
    assert offered(project, shell, "show", "--section", "dec") == escaped("Decision Log")
    assert offered(project, shell, "show", "parser", "--section", "dec") == escaped("Decision Log")
    assert offered(project, shell, "show", "-p", "parser", "--section", "dec") == escaped("Decision Log")
    assert offered(project, shell, "new", "--template", "add-") == ["add-endpoint", "add-tests"]
    assert offered(project, shell, "explain", "exit") == ["exit-codes"]
    assert offered(project, shell, "explain", "EP10") == offered(project, shell, "lint", "--select", "EP10")
    assert "EP109" in offered(project, shell, "lint", "--ignore", "ep10")
    assert offered(project, shell, "lint", "--select", "EP101,EP109,EP10")[0] == "EP101,EP109,EP102"
    assert offered(project, shell, "explain", "no-such-ta") == ["no-such-task"]
    assert {"completion", "guard", "git-hooks"} < set(offered(project, shell, "install", ""))
    assert offered(project, shell, "install", "guard", "g") == ["git-hooks"]
    assert offered(project, shell, "uninstall", "mer") == ["merge-driver"]


def test_an_open_quote_is_left_to_bash(project: Folder) -> None:
    assert offered(project, "bash", "set", "'Plan o") == ["Plan of Work"]


def test_a_repository_s_own_templates_are_offered(project: Folder) -> None:
    project.write(".agent/templates/audit.md", "{# Look for holes. #}\n# {{ title }}\n")
    assert offered(project, "bash", "new", "--template", "a") == ["add-endpoint", "add-tests", "audit"]


def test_sections_of_the_format_are_offered_while_several_plans_are_open(project: Folder) -> None:
    project.plan(CLEAN, "2026-02-02_other")
    assert offered(project, "bash", "set", "Val") == [r"Validation\ and\ Acceptance"]


@pytest.mark.parametrize("shell", PLACES)
def test_where_there_is_nothing_to_offer_nothing_is_printed(project: Folder, shell: str) -> None:
    offered(project, shell, "nonsense", "")  # click offers the verbs; what counts is that there is no trouble
    assert offered(project, shell, "done", "-p", "nonsense", "") == []
    project.write(".agent/execplan.toml", "nonsense = 1\n")
    assert offered(project, shell, "done", "") == []


def test_bash_completes_files_where_no_plan_begins_so(project: Folder) -> None:
    assert offered(project, "bash", "lint", "READ") == ["files"]


def test_the_folder_that_is_named_counts(project: Folder) -> None:
    (project.path / "sub").mkdir()
    project.plan(CLEAN, "2026-02-02_other")
    for arguments in (["-C", str(project.path), "show", "2026-02"], ["show", "-C", "..", "2026-02"]):
        assert offered(project, "bash", *arguments, cwd=project.path / "sub") == ["2026-02-02_other"]


@pytest.mark.parametrize("shell", PLACES)
def test_installing_and_uninstalling_needs_no_project(plain: Folder, shell: str) -> None:
    before = tree(plain.path.parent)
    plain.env["SHELL"] = f"/usr/local/bin/{shell}"
    result = plain.run("install", "completion", "--json").json
    path = plain.path.parent / PLACES[shell]
    assert result["data"]["changes"] == [{"what": "completion", "path": str(path), "action": "made"}]
    assert bool(result["warnings"]) == (shell == "zsh")
    assert (path.read_text().splitlines()[0] == "#compdef execplan") == (shell == "zsh")
    assert plain.ok("install", "completion")["changed"] is False
    plain.env["SHELL"] = "/bin/other"
    assert plain.ok("uninstall", "completion")["changed"] is True
    assert tree(plain.path.parent) == before
    assert plain.ok("uninstall", "completion")["changed"] is False


def test_folders_that_were_there_stay(plain: Folder) -> None:
    (plain.path.parent / ".config" / "fish").mkdir(parents=True)
    before = tree(plain.path.parent)
    plain.ok("install", "completion", "--shell", "fish")
    plain.ok("uninstall", "completion", "--shell", "bash")
    assert (plain.path.parent / PLACES["fish"]).exists()
    plain.ok("uninstall", "completion", "--shell", "fish")
    assert tree(plain.path.parent) == before


def test_the_folders_that_variables_name(plain: Folder) -> None:
    top = plain.path.parent
    plain.env |= {"XDG_DATA_HOME": str(top / "data"), "XDG_CONFIG_HOME": "relative"}
    plain.ok("install", "completion", "--shell", "bash")
    plain.ok("install", "completion", "--shell", "fish")
    assert (top / "data/bash-completion/completions/execplan").exists()
    assert (top / PLACES["fish"]).exists()
    assert len(plain.ok("uninstall", "completion")["changes"]) == 2


def test_a_shell_that_can_not_be_determined(plain: Folder) -> None:
    for shell in ("", "/bin/tcsh"):
        plain.env["SHELL"] = shell
        result = plain.run("install", "completion")
        assert result.exit == 2
        assert "--shell" in result.err


def test_a_file_that_is_not_ours_is_left_alone(plain: Folder) -> None:
    path = plain.write("../" + PLACES["bash"], "mine\n")
    result = plain.run("install", "completion", "--shell", "bash", "--force")
    assert result.exit == 1
    assert plain.ok("uninstall", "completion")["changed"] is False
    assert path.read_text() == "mine\n"


def test_an_edited_script_is_kept(plain: Folder) -> None:
    plain.ok("install", "completion", "--shell", "zsh")
    path = plain.path.parent / PLACES["zsh"]
    path.write_text(path.read_text().replace("local -a response", "local -a response mine"))
    assert "edited by hand" in plain.run("install", "completion", "--shell", "zsh").err
    assert plain.run("uninstall", "completion").exit == 1
    plain.ok("install", "completion", "--shell", "zsh", "--force")
    assert "mine" not in path.read_text()


def test_commands_are_offered_without_loading_them(project: Folder) -> None:
    code = (
        "import sys; from execplan.cli.main import main\n"
        "try: main()\n"
        "finally: print(*[name for name in sys.modules if name.startswith('execplan.cli.commands.')])"
    )
    env = {**project.env, "COMP_WORDS": "execplan ", "COMP_CWORD": "1", "_EXECPLAN_COMPLETE": "bash_complete"}
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=project.path, env=env, capture_output=True, check=False
    )
    lines = completed.stdout.decode().splitlines()
    assert "plain,done" in lines
    assert lines[-1] == ""
