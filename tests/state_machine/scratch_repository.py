"""A scratch repository in which the command is run in this process: as a process of its own would, and a hundred times faster."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from execplan.cli import app, bug_report, error_handler
from execplan.cli.output import help_topics
from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import MOVE
from execplan.core.errors import EXIT_MEANINGS, OK
from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from tests.conftest import ENVIRONMENT

FIELDS = ["schema", "kind", "ok", "data", "error", "warnings", "next"]
PLANS = ".agent/execplans"
ARCHIVE = f"{PLANS}/archive"
REFUSALS = {code: error_help.exit for code, error_help in help_topics.error_help_by_code().items()}
STATE = ("locks", "journal", "operations", "undone", "edit", "claims.json", "claims.lock", "claims.log")
"""What may lie in the folder of what is not committed, by its beginning; a cache has a name of its own."""


class InProcessResult(NamedTuple):
    """How a command ended, and its document."""

    exit: int
    data: dict[str, Any]
    error: dict[str, Any]


class ScratchRepository:
    """A repository below a folder, copied from one that was made once."""

    def __init__(self, template: Path, path: Path) -> None:
        self.path = path
        shutil.copytree(template, path)
        self.project = path / PLANS
        self.env = {**ENVIRONMENT, "HOME": str(path.parent), "XDG_STATE_HOME": str(path.parent / "state-home")}
        self._previous_directory = os.getcwd()
        self._stack = ExitStack()
        self._stack.enter_context(mock.patch.dict(os.environ, self.env, clear=True))
        self._stack.enter_context(mock.patch.object(bug_report, "write_bug_report", _raise))
        os.chdir(path)

    def close(self) -> None:
        """Leave it, and remove it."""
        os.chdir(self._previous_directory)
        self._stack.close()
        shutil.rmtree(self.path)

    def run(self, *arguments: str) -> InProcessResult:
        """Run a command with `--json` and check what holds for every one; whatever is no refusal is raised."""
        out, err = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        command_arguments = ["--json", *arguments]
        with mock.patch.multiple(sys, stdin=stdin, stdout=out, stderr=err):
            status = error_handler.run_with_error_handling(
                lambda: app.run(command_arguments), as_json=True, kind=arguments[0]
            )
            out.flush()
            err.flush()
        printed = out.buffer
        assert isinstance(printed, io.BytesIO)
        document = json.loads(printed.getvalue())
        assert list(document) == FIELDS, document
        assert (document["schema"], document["kind"]) == ("execplan/1", arguments[0])
        assert document["ok"] is (status == OK)
        assert status in EXIT_MEANINGS
        error = document["error"] or {}
        if error:
            assert error["exit"] == status == REFUSALS[error["code"]], error
            assert error["message"], error
            assert error["hint"], error
        assert isinstance(document["data"], dict) or status not in (0, 1), document
        return InProcessResult(status, document["data"] or {}, error)

    def git(self, *arguments: str) -> str:
        """Run git and expect it to work."""
        completed = subprocess.run(["git", *arguments], env=self.env, capture_output=True, check=True, timeout=60)
        return completed.stdout.decode()

    def tree(self) -> dict[str, bytes]:
        """Every file outside git's folder."""
        return self._files(self.path, ".git")

    def state(self) -> dict[str, bytes]:
        """Every file that is kept and not committed."""
        return self._files(self.path / ".git" / "execplan")

    def _files(self, folder: Path, skip: str = "") -> dict[str, bytes]:
        contents = {}
        for directory, folders, names in os.walk(folder):
            folders[:] = sorted([name for name in folders if name != skip])
            for name in names:
                path = Path(directory) / name
                contents[str(path.relative_to(folder))] = path.read_bytes()
        return contents

    def plans(self) -> list[str]:
        """The paths of the plans outside the archive, from the root."""
        return sorted([f"{PLANS}/{path.name}" for path in self.project.glob("*.md")])

    def archived(self) -> list[str]:
        """The paths of the plans in the archive, from the root."""
        return sorted([f"{ARCHIVE}/{path.name}" for path in (self.project / "archive").glob("*.md")])

    def read(self, path: str) -> bytes:
        """The bytes of a plan."""
        return (self.path / path).read_bytes()

    def plan(self, path: str) -> ParsedPlan:
        """What a plan says."""
        return reader.read(self.read(path))

    def check(self) -> None:
        """The verbs that look agree with each other and with the files, and nothing lies about."""
        listed = {plan["path"]: plan for plan in self.run("list", "--all").data["plans"]}
        assert sorted(listed) == sorted(self.plans() + self.archived())
        status = self.run("status").data
        assert sum(status["states"].values()) == len(listed)
        assert [plan["path"] for plan in status["plans"] if plan["state"] == "archived"] == []
        for plan in status["plans"]:
            assert {name: plan[name] for name in listed[plan["path"]]} == listed[plan["path"]]
        for path, listed_plan in listed.items():
            shown_result = self.run("show", path)
            assert shown_result.exit == (3 if listed_plan["state"] == "broken" else 0), (path, shown_result)
            if shown_result.exit:
                continue
            listed_plan.pop("execution")  # `show` tells it with --steps
            listed_plan.pop("worktree")  # there is only one
            assert {name: shown_result.data[name] for name in listed_plan} == listed_plan
            states = [task["state"] for task in shown_result.data["tasks"]]
            assert listed_plan["counts"] == {
                **{state: states.count(state) for state in ("open", "done", "other")},
                "total": len(states),
            }
            assert self.plan(path).text.to_bytes() == self.read(path)
        self._check_files()

    def _check_files(self) -> None:
        for name in self.tree():
            assert not os.path.basename(name).startswith(".execplan-"), name
            assert not name.endswith((".tmp", ".new")), name
        for name in self.state():
            assert name.startswith(STATE) or "cache" in name or "lint" in name, name
            assert not name.endswith((".tmp", ".new")), name
        folder = self.path / ".git" / "execplan" / "journal"
        for path in folder.iterdir() if folder.is_dir() else ():
            for edit in edit_journal.read_entries_from(str(path)):
                before, after = edit.unpack()
                assert edit.is_written, edit.summary
                assert edit.summary
                # the undo of an edit that is on another branch changes nothing here, and can be redone
                assert before != after or edit.kind == MOVE or edit.undoes


def _raise(error: Exception) -> None:
    raise error


def template(path: Path) -> Path:
    """A repository with one commit and a home, to be copied."""
    env = {**ENVIRONMENT, "HOME": str(path.parent)}
    path.mkdir()
    (path / "README.md").write_text("# A project\n", encoding="utf-8")
    (path / PLANS).mkdir(parents=True)
    for command in (["init", "-q", "-b", "main", "--template="], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *command], cwd=path, env=env, check=True, timeout=60)
    return path
