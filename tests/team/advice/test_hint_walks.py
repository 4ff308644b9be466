"""Hints in every state, for every reader: each can be run as it is printed, and who follows them comes to the end of the plan."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import PAUSED
from tests.cli.approved_plan import FAILS, MAKE, sandbox_off
from tests.commands import check_command
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Result

NO_ROLLBACK = '[execution]\nsandbox = "off"\nrollback_on = []\n'
TASKS = (
    "# Build it\n\nThis ExecPlan is a living document.\n\n## Progress\n\n{}{}## Outcomes & Retrospective\n\nNone yet.\n"
)
LOGS = "## Surprises & Discoveries\n\nNone.\n\n## Decision Log\n\nNone.\n\n"
TWO = TASKS.format("- [ ] Make it.\n- [ ] See it.\n\n", LOGS)
PLAN = TASKS.format("- [ ] Make it.\n- [ ] See it.\n\n", "## Concrete Steps\n\n{}" + LOGS)
CONFLICT = "<<<<<<< ours\n- [ ] See it.\n=======\n- [ ] See all.\n>>>>>>> theirs\n"
SEE = FAILS.replace("nowhere", "made").replace("{#see", '{#see task="See it"')
BROKEN_SEE = SEE.replace("made.py\n```", "nowhere.py\n```")
AGENT_PLAN = PLAN.format("```text {execution mode=agent}\n```\n\n" + MAKE + SEE)
READERS: dict[str, dict[str, str]] = {
    "person": {},
    "named": {"EXECPLAN_AGENT": "agent-1"},
    "session": {"EXECPLAN_SESSION": "s-1"},
    "option": {},
}
VIEWS = (
    "status",
    "next",
    "show",
    "prime",
    "board",
    "list",
    "evaluate",
    "runs",
    "show --run",
    "handoff",
    "lint",
    "compile",
)
_COMMAND = re.compile(r"execplan [^`\n]*")
ASK = "ask a person to run: "


class Desk:
    """A repository in some state, and somebody who reads what is printed there."""

    def __init__(self, repository: InProcessRepository, reader: str) -> None:
        self.repository = repository
        self.reader = reader

    def run(self, arguments: list[str], *, as_person: bool = False) -> Result:
        """Run a command as the reader, or as the person whom the reader asks; standard input is empty."""
        patch = self.repository.patch
        for name in ("EXECPLAN_AGENT", "EXECPLAN_SESSION"):
            patch.delenv(name, raising=False)
        for name, value in ({} if as_person else READERS[self.reader]).items():
            patch.setenv(name, value)
        if self.reader == "option" and not as_person and "--as" not in arguments:
            arguments = ["--as", "agent-1", *arguments]
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        return self.repository.type(*arguments)

    def follow(self, hint: str) -> Result:
        """Do what a hint says, of several ways the first."""
        hint = re.split("; (?:if|or) ", hint)[0]
        if "edit the steps in the plan" in hint or "fix the errors above" in hint:
            self.edit_steps()
        if "so that only see remain" in hint:
            self.remove_step()
        as_person = hint.startswith(ASK)
        command = hint[hint.index("execplan ") :]
        arguments = shlex.split(command)[1:]
        if as_person and arguments[0] == "approve":
            arguments += ["--digest", self.repository.digest()]
        if as_person and arguments[0] == "resume" and "--answer" not in arguments:
            arguments += ["--answer", "go"]
        if arguments[0] == "report":
            self.make_file()
        return self.run(arguments, as_person=as_person)

    def make_file(self) -> None:
        """Do what the step says that creates a file."""
        self.repository.write("src/made.py", "X = 1\n")

    def edit_steps(self) -> None:
        """Correct the step that fails."""
        path = self.repository.path / f".agent/execplans/{NAME}.md"
        path.write_text(path.read_text().replace("src/nowhere.py", "src/made.py"))

    def remove_step(self) -> None:
        """Leave only the second step in the plan."""
        path = self.repository.path / f".agent/execplans/{NAME}.md"
        path.write_text(path.read_text().replace(MAKE, "").replace(" needs=make", ""))

    def state(self) -> str:
        """The content of all files, but of caches and of git's objects."""
        digest = hashlib.sha256()
        for folder, names, files in os.walk(self.repository.path):
            names[:] = sorted(set(names) - {"objects", "standing", "cache", "logs"})
            for file in sorted(files):
                if not file.endswith(("index", ".lock", "facts")):
                    path = os.path.join(folder, file)
                    digest.update(path.encode() + b"\0")
                    with open(path, "rb") as opened:
                        digest.update(opened.read())
        return digest.hexdigest()


def empty(desk: Desk) -> None:
    """No plan."""
    for path in (desk.repository.path / ".agent/execplans").glob("*.md"):
        path.unlink()


def written(text: str, *commands: str) -> Callable[[Desk], None]:
    """A plan with a text, after commands of the reader."""

    def build(desk: Desk) -> None:
        desk.repository.plan(text)
        desk.repository.commit()
        for command in commands:
            as_person = command.startswith("person ")
            result = desk.run(shlex.split(command.removeprefix("person ")), as_person=as_person)
            assert result.exit in (0, 1, 8), (command, result)

    return build


def new(desk: Desk) -> None:
    """A plan that `new` has written."""
    empty(desk)
    assert desk.run(["new", "Build it", "--task", "Make it.", "--task", "See it."]).exit == 0


def sticky_last(desk: Desk) -> None:
    """Two plans, of which the one that `status` lists last is the sticky one."""
    desk.repository.plan(TWO)
    desk.repository.plan(TWO, "2026-01-01_another")
    assert desk.run(["use", NAME]).exit == 0


def archived(desk: Desk) -> None:
    """A finished plan, whose move to the archive is not committed."""
    written(TWO, "done 1", "done 2", "outcome 'It works.'", "person archive")(desk)


def with_document(desk: Desk) -> None:
    """A plan and a file that is not a plan."""
    desk.repository.plan("# Notes on scope\n\n## Notes\n\nText.\n", "2026-01-01_scope")
    written(TWO)(desk)


def several(desk: Desk) -> None:
    """Two plans, of which one is the sticky one."""
    desk.repository.plan(TWO)
    desk.repository.plan(TWO, "2026-01-02_other")
    assert desk.run(["use", NAME]).exit == 0


def waiting(desk: Desk) -> None:
    """A plan that waits for another one."""
    desk.repository.plan(f"---\ndepends_on: 2026-01-02_other\n---\n\n{TWO}")
    desk.repository.plan(TWO, "2026-01-02_other")


def guarded(desk: Desk) -> None:
    """An approved plan in a repository with the guard, which lets no agent run it."""
    written(PLAN.format(MAKE + SEE), "person install guard", "person approve")(desk)


def failed(*commands: str) -> Callable[[Desk], None]:
    """A plan with a failed run, after further commands."""

    def build(desk: Desk) -> None:
        desk.repository.write("../.config/execplan/config.toml", NO_ROLLBACK)
        written(PLAN.format(MAKE + BROKEN_SEE), "person approve", "person run", *commands)(desk)

    return build


def approved_after_rollback(desk: Desk) -> None:
    """A plan whose run was rolled back, and whose corrected steps are approved."""
    failed("person rollback")(desk)
    desk.edit_steps()
    for command in ("compile", "approve"):
        assert desk.run([command], as_person=True).exit == 0, command
    assert f"execplan run {NAME}" in next(hints(desk.run(["next"])))


def replanned(*commands: str) -> Callable[[Desk], None]:
    """A plan with a failed run and a new revision of it, after further commands."""

    def build(desk: Desk) -> None:
        failed()(desk)
        desk.edit_steps()
        for command in ("replan 1 --reason Wrong.", *commands):
            assert desk.run(shlex.split(command), as_person=True).exit == 0, command

    return build


def wrong_file(desk: Desk) -> None:
    """A plan whose first step an agent has done wrong, and which asks for a new revision then."""
    written(AGENT_PLAN.replace("{#make", "{#make on-failure=replan"), "person approve")(desk)
    desk.repository.write("src/made.py", "X = 2\n")
    assert desk.run(shlex.split("report make --status completed --result Made.")).exit == 1


def failed_beside_another(desk: Desk) -> None:
    """A plan whose first step has failed for an agent, while one that does not need it is left."""
    other = MAKE.replace("{#make", "{#other").replace("made.py", "third.py").replace(' task="Make it"', "")
    plan = PLAN.format("```text {execution mode=agent}\n```\n\n" + MAKE + SEE + other)
    written(plan, "person approve")(desk)
    assert desk.run(shlex.split("report make --status failed --result 'No disk.'")).exit == 0
    desk.repository.write("src/third.py", "X = 1\n")


def edited(strategy: str) -> Callable[[Desk], None]:
    """A plan with a paused run, whose steps were edited since then."""

    def build(desk: Desk) -> None:
        steps = MAKE + BROKEN_SEE.replace("{#see", f"{{#see on-failure={strategy}")
        written(PLAN.format(steps), "person approve", "person run")(desk)
        desk.edit_steps()

    return build


def completed_revision_rolled_back(desk: Desk) -> None:
    """A plan with a completed run of a revision that was rolled back."""
    replanned("approve", "resume", "rollback")(desk)


def reported(step: str, asking_step: str) -> Callable[[Desk], None]:
    """A plan whose first step an agent has reported, and whose next one waits for a person."""

    def build(desk: Desk) -> None:
        written(AGENT_PLAN.replace(step, asking_step), "person approve")(desk)
        desk.make_file()
        assert desk.run(shlex.split("report make --status completed --result Made.")).exit == 0

    return build


STATES: dict[str, Callable[[Desk], None]] = {
    "empty": empty,
    "new": new,
    "open": written(TWO),
    "without tasks": written(TASKS.format("None.\n\n", LOGS)),
    "claimed": written(TWO, "next --claim"),
    "claimed by another": written(TWO, "next --claim bob"),
    "reopened after done by another": written(TWO, "next --claim bob", "person done 1 --as bob", "reopen 1"),
    "one done": written(TWO, "done 1"),
    "all done": written(TWO, "done 1", "done 2"),
    "finished without logs": written(TASKS.format("- [x] Make it.\n\n", ""), "outcome 'It works.'"),
    "finished": written(TWO, "done 1", "done 2", "outcome 'It works.'"),
    "abandoned": written(TWO, "archive --as abandoned --reason No."),
    "conflict": written(TWO.replace("- [ ] See it.\n", CONFLICT)),
    "sticky": several,
    "sticky and listed last": sticky_last,
    "archived": archived,
    "beside a document": with_document,
    "several": written(TWO, "person new 'Another plan' --task 'Do it.'"),
    "waiting": waiting,
    "guarded": guarded,
    "performed by an agent": written(AGENT_PLAN, "person approve"),
    "checkpoint of an agent's run": reported("{#make", "{#make checkpoint"),
    "confirmation in an agent's run": reported("{#see", "{#see confirm"),
    "uncompiled": written(PLAN.format(MAKE + SEE)),
    "compiled": written(PLAN.format(MAKE + SEE), "compile"),
    "blocked": written(PLAN.format(MAKE + SEE.replace("ls src/made.py", "ls /etc/../x; rm -rf /")), "compile"),
    "approved": written(PLAN.format(MAKE + SEE), "person approve"),
    "one step run": written(PLAN.format(MAKE + SEE), "person approve", "person run --step make"),
    "completed": written(PLAN.format(MAKE + SEE), "person approve", "person run"),
    "paused": written(PLAN.format(MAKE + SEE.replace("{#see", "{#see confirm")), "person approve", "person run"),
    "failed": failed(),
    "rolled back": failed("person rollback"),
    "approved after rollback": approved_after_rollback,
    "revision": replanned(),
    "approved revision": replanned("approve"),
    "rolled back revision": replanned("rollback"),
    "completed revision rolled back": completed_revision_rolled_back,
    "wrong file of an agent": wrong_file,
    "failed beside another step": failed_beside_another,
    "edited while paused": edited("ask"),
    "edited after a revision": edited("replan"),
}
LASTING = ("blocked", "conflict", "claimed by another")
"""States that only somebody else or an edit ends."""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository of a user without a sandbox."""
    return sandbox_off(InProcessRepository(tmp_path / "desk", monkeypatch))


def hints(result: Result) -> Iterator[str]:
    """Yield the hints of a command's result, first the one to follow."""
    if ready := re.search("Do one of these now, then report it: `(.+?)`", result.out):
        yield f"execplan report {ready[1]} -p {NAME} --status completed --result Done."
    for line in reversed((result.out + result.err).splitlines()):
        if line.startswith(("next: ", "hint: ")) and "execplan " in line:
            yield line.partition(": ")[2]
    _, _, commands = result.out.partition("\nContinue:\n")
    yield from [line.strip() for line in commands.splitlines() if "execplan " in line]


def check_form(hint: str, desk: Desk) -> None:
    """Check that each command in a hint can be typed, and is one for its reader."""
    is_agent = desk.reader != "person"
    for clause in hint.split("; "):
        if "execplan " not in clause or clause.startswith("see execplan"):
            continue
        command = clause[clause.index("execplan ") :]
        check_command(command.replace("PLAN or set EXECPLAN_PLAN", "PLAN"))
        verb = command.split()[1]
        assert not (is_agent and verb in ("edit", "rollback", "resume") and "a person" not in clause), hint
        assert not (not is_agent and (" --as " in command or clause.startswith(ASK + "execplan resume"))), hint
        if (
            desk.reader in ("named", "option")
            and verb in ("next", "done", "show", "reopen")
            and "--release" not in command
        ):
            assert "--as agent-1" in command, hint


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("state", STATES)
def test_each_hint_can_be_run_and_leads_on(repository: InProcessRepository, state: str, reader: str) -> None:
    desk = Desk(repository, reader)
    STATES[state](desk)
    for view in VIEWS:
        result = desk.run(view.split())
        for hint in hints(result):
            check_form(hint, desk)
    followed: list[tuple[str, str]] = []
    result = desk.run(["status"])
    for _ in range(30):
        hint = next(hints(result), "")
        if not hint or result.out.startswith("no ") or " new 'Title'" in hint:
            result = desk.run(["status"])
            hint = next(hints(result), "")
            if not hint or " new 'Title'" in hint or "restore" in hint:
                break
        check_form(hint, desk)
        step = (hint, desk.state())
        if step in followed:
            assert state in LASTING, ("a loop", [hint for hint, _ in followed], result)
            return
        followed.append(step)
        result = desk.follow(hint)
        if hint.startswith(ASK) and result.exit == PAUSED:  # what is printed is for the person, who answers
            result = desk.follow(ASK + next(hints(result)))
        statuses = (0,) if " report " in hint else (0, 1, PAUSED)
        assert result.exit in statuses, ([hint for hint, _ in followed], result)
    else:
        raise AssertionError([hint for hint, _ in followed])
    assert state in LASTING or not (repository.path / f".agent/execplans/{NAME}.md").exists(), followed


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "state", ["completed", "failed", "wrong file of an agent", "edited while paused", "edited after a revision"]
)
def test_all_views_have_the_same_next_command(repository: InProcessRepository, state: str, reader: str) -> None:
    desk = Desk(repository, reader)
    STATES[state](desk)
    views = ("status", "next", "show", "handoff", *(["evaluate"] if state.startswith("edited") else []))
    commands = {view: next(hints(desk.run(view.split()))) for view in views}
    assert len({command.partition("execplan ")[2] for command in commands.values()}) == 1, commands


@pytest.mark.parametrize("reader", READERS)
def test_a_missing_text_is_asked_for_with_a_command_that_can_be_run(
    repository: InProcessRepository, reader: str
) -> None:
    desk = Desk(repository, reader)
    new(desk)
    for command in ("set 'Plan of Work' -", "add -", "decide Why --why -", "outcome - --dry-run", "new --from -"):
        result = desk.run(shlex.split(command))
        hint = next(hints(result))
        check_form(hint, desk)
        assert (result.exit, "-" in hint.split()) == (2, False), result
        if "FILE" not in hint:
            assert desk.follow(hint).exit == 0, hint


@pytest.mark.parametrize("reader", READERS)
def test_all_views_agree_on_the_current_plan(repository: InProcessRepository, reader: str) -> None:
    desk = Desk(repository, reader)
    archived(desk)
    for view, plan in (("status", "--all"), ("next", "--all"), ("list", "--all"), ("prime", NAME)):
        assert f"execplan commit {plan}" in desk.run([view]).out, view
    assert desk.run(["commit", "--all"]).exit == 0
    repository.plan("# Notes on scope\n\n## Notes\n\nText.\n", "2026-01-01_scope")
    for view in ("status", "next", "prime", "add 'Do it.'"):
        result = desk.run(shlex.split(view))
        assert "scope" not in result.out + result.err, view
    sticky_last(desk)
    for view in ("status", "next", "prime"):
        assert "2026-01-01_another" not in "".join(hints(desk.run([view]))), view


@pytest.mark.parametrize("reader", ["named", "option"])
def test_a_named_agent_gets_a_command_to_choose_among_plans(repository: InProcessRepository, reader: str) -> None:
    desk = Desk(repository, reader)
    repository.plan(TWO)
    repository.plan(TWO, "2026-01-02_other")
    command = f"execplan next {NAME} --claim --as agent-1"
    for view in ("next", "next --claim", "prime"):
        result = desk.run(shlex.split(view))
        assert command in result.out + result.err, view
    assert desk.follow(command).exit == 0


def test_commit_after_archive_names_what_is_uncommitted(repository: InProcessRepository) -> None:
    desk = Desk(repository, "person")
    archived(desk)
    repository.plan(TWO, "2026-01-02_other")
    repository.git("add", "--", ".agent/execplans/2026-01-02_other.md")
    repository.git("commit", "-qm", "Other")
    assert next(hints(desk.run(["commit"]))) == "execplan commit --all"
