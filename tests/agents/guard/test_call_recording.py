"""Calls of steps: in their turn, as often as they may be, each in the journal before the agent is told."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from execplan.agents.guard import call_recording
from execplan.core.timestamps import parse_utc_timestamp
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.run_records import run_directories
from tests.agents.guard.guard_repository import (
    PROGRAMS,
    Answer,
    GuardRepository,
    as_sent,
    claude_transcript,
    guard,
    hook,
)


def _report(desk: GuardRepository, step: str) -> None:
    assert desk.type("report", step, "--status", "completed", "--result", "Done.").exit == 0


def test_the_first_call_begins_the_run_and_a_denied_one_does_not(begun: GuardRepository) -> None:
    kinds = [entry["kind"] for entry in begun.entries()]
    assert kinds == ["begun", "intent", "called"]
    assert begun.entries()[0]["mode"] == "agent"
    call_entry = begun.entries()[2]
    expected = {
        "step": "build",
        "attempt": 1,
        "tool": "Bash",
        "what": "make parser",
        "paths": [],
        "session": "s-1",
        "asked": False,
    }
    assert {name: call_entry[name] for name in expected} == expected


def test_order_and_how_often(begun: GuardRepository) -> None:
    early = begun.ask("make check")
    assert early.kind == "deny"
    assert "check needs build, which is not completed yet" in early.why
    assert [begun.ask("make parser").kind for _ in range(3)] == ["allow", "allow", "deny"]
    _report(begun, "build")
    assert begun.ask("make parser").kind == "deny"
    assert begun.ask("make check", program="json").response_fields["step"] == "check"
    assert begun.calls() == ["build", "build", "build", "check"]


def test_a_file_is_deleted_when_its_turn_has_come_and_as_it_was_approved(begun: GuardRepository) -> None:
    _report(begun, "build")
    assert begun.ask("make check").kind == "allow"
    _report(begun, "check")
    data = json.dumps({"tool": "delete", "path": "src/old.py", "cwd": str(begun.path)}).encode()
    begun.write("src/old.py", "x = 2\n")
    drifted = guard(data, "--json", program="json")
    assert drifted.kind == "deny"
    assert "src/old.py" in drifted.why
    begun.write("src/old.py", "x = 1\n")
    assert guard(data, "--json", program="json").kind == "allow"
    last = begun.entries()[-1]
    assert (last["kind"], last["paths"]) == ("called", ["src/old.py"])
    assert begun.entries()[-2]["before"]["src/old.py"][0] == "file"


def test_a_step_that_asks(begun: GuardRepository) -> None:
    _report(begun, "build")
    assert begun.ask("make ship").kind == "ask"
    assert begun.entries()[-1]["kind"] == "asked"
    assert begun.calls() == ["build"]


def _report_call(program: str, call_id: str = "u") -> Answer:
    """Report that a call was made."""
    report = {"hook_event_name": "PostToolUse", "tool_use_id": call_id, "tool_name": "Bash", "tool_response": {}}
    call = {"made": call_id} if program == "json" else report
    return guard(json.dumps(call).encode(), "--program", program, program=program)


@pytest.mark.parametrize("program", ["claude", "json"])
def test_a_call_that_is_asked_about_counts_when_it_was_made(begun: GuardRepository, program: str) -> None:
    _report(begun, "build")
    assert [begun.ask("make ship", program=program).kind for _ in range(3)] == ["ask"] * 3
    other = _report_call(program, "another")
    assert (other.status, other.out, other.err) == (0, b"{}\n", b"")
    assert begun.calls() == ["build"]
    assert _report_call(program).status == 0
    assert [entry["kind"] for entry in begun.entries()][-2:] == ["intent", "called"]
    assert (begun.entries()[-1]["asked"], begun.entries()[-1]["step"]) == (True, "ship")
    assert _report_call(program).status == 0
    assert begun.calls() == ["build", "ship"]
    assert "may be called once" in begun.ask("make ship", program=program).why
    _report(begun, "ship")


def test_a_step_whose_question_nobody_has_answered_is_not_completed(begun: GuardRepository) -> None:
    _report(begun, "build")
    assert begun.ask("make ship").kind == "ask"
    completed = begun.type("report", "ship", "--status", "completed", "--result", "Done.", "--json")
    assert completed.exit == 8, completed
    assert begun.type("resume", "1", "--answer", "go").exit == 0
    assert begun.ask("make ship").kind == "allow"
    _report(begun, "ship")


def test_a_step_that_was_asked_about_may_have_failed(begun: GuardRepository) -> None:
    _report(begun, "build")
    assert begun.ask("make ship").kind == "ask"
    for option in (["--dry-run"], []):
        failed = begun.type("report", "ship", "--status", "failed", "--result", "It was rejected.", "--json", *option)
        assert (failed.exit, failed.json["data"]["cause"]) == (0, None if option else "exit"), failed


@pytest.mark.parametrize("version", ["2.1.84", "2.0.77", "1.0.100", "next", ""])
def test_a_version_that_may_not_ask_is_denied(begun: GuardRepository, version: str) -> None:
    _report(begun, "build")
    call = json.loads(as_sent("claude", "make ship", str(begun.path)))
    claude_transcript(version)
    answer = guard(json.dumps(call).encode())
    assert answer.kind == "deny"
    assert "--answer go" in answer.why
    outside = hook("Read", str(begun.path), file_path="/usr/share/x") | {"transcript_path": call["transcript_path"]}
    assert "this session can't ask" in guard(json.dumps(outside | {"tool_use_id": "v"}).encode()).why


def test_a_session_in_which_nobody_can_answer_is_denied(begun: GuardRepository) -> None:
    _report(begun, "build")
    outside = hook("Read", str(begun.path), file_path="/usr/share/x") | {"tool_use_id": "v"}
    data = json.dumps(outside | {"transcript_path": claude_transcript()}).encode()
    assert guard(data).kind == "ask"
    for variable, kind in (("1", "ask"), ("0", "deny")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CLAUDE_CODE_SESSION_ATTENDED", variable)
            assert guard(data).kind == kind
    for name in ("tool_use_id", "transcript_path"):
        assert guard(json.dumps({**json.loads(data), name: ""}).encode()).kind == "deny"


def test_a_program_that_asks_does_so_at_the_next_call(begun: GuardRepository) -> None:
    _report(begun, "build")
    begun.ask("make check")
    _report(begun, "check")
    (begun.path / "src/old.py").unlink(missing_ok=True)
    _report(begun, "drop")
    assert "Do one of these now, then report it: `ship`" in begun.type("handoff").out
    assert "in progress, performed by an agent" in begun.type("status").out
    assert begun.ask("make ship").kind == "ask"


def test_a_program_that_can_not_ask_is_told_how_a_person_answers(begun: GuardRepository) -> None:
    _report(begun, "build")
    answer = begun.ask("make ship", program="codex")
    assert answer.kind == "deny"
    assert "execplan resume 1 -p 2026-01-01_parser --answer go" in answer.why
    paused = begun.entries()[-1]
    assert (paused["kind"], paused["why"], paused["step"]) == ("paused", "confirm", "ship")
    for program in PROGRAMS:
        waits = begun.ask("make check", program=program)
        assert waits.kind == "deny"
        assert " is paused: step ship requires confirmation: " in waits.why
        assert "must answer go or skip or stop: execplan resume" in waits.why
    assert begun.ask("ls", program="codex").kind == "allow"
    assert begun.type("resume", "1", "--answer", "go").exit == 0
    assert begun.ask("make ship", program="codex").kind == "allow"
    assert begun.entries()[-1]["asked"] is False


def test_expiry_to_the_second(begun: GuardRepository) -> None:
    approval = begun.approval_data()
    seconds = parse_utc_timestamp(approval["expires_at"]) - parse_utc_timestamp(approval["approved_at"])
    begun.later(seconds - 1)
    assert begun.ask("make parser").kind == "allow"
    begun.later(seconds)
    expired = begun.ask("make parser")
    assert expired.kind == "deny"
    assert "expired" in expired.why


def test_twenty_at_once_of_a_step_that_may_be_called_once(begun: GuardRepository) -> None:
    _report(begun, "build")
    data, ready = as_sent("claude", "make check", str(begun.path)), os.pipe()
    children = []
    for _ in range(20):
        child = os.fork()
        if not child:
            os.close(ready[1])
            os.read(ready[0], 1)
            answer = guard(data)
            os._exit(0 if answer.kind == "allow" else 1 if answer.kind == "deny" else 2)
        children.append(child)
    os.close(ready[0])
    os.close(ready[1])
    ended = sorted([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
    assert ended == [0] + [1] * 19
    assert begun.calls() == ["build", "check"]


def test_killed_between_the_journal_and_the_answer(begun: GuardRepository) -> None:
    def kill(*args: object, **kwargs: object) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    after_journal = begun.ask("make parser", before=lambda: setattr(call_recording, "update_mark", kill))
    assert (after_journal.status, after_journal.out) == (-signal.SIGKILL, b"")
    assert begun.calls() == ["build", "build"]
    before_journal = begun.ask("make parser", before=lambda: setattr(Journal, "write", kill))
    assert (before_journal.status, before_journal.out) == (-signal.SIGKILL, b"")
    assert begun.calls() == ["build", "build"]
    assert [begun.ask("make parser").kind for _ in range(2)] == ["allow", "deny"]


def test_the_run_goes_on_while_a_call_waits_for_its_turn(begun: GuardRepository) -> None:
    waited = call_recording.lock_runs

    def lock(*args: Any) -> Any:
        _report(begun, "build")
        return waited(*args)

    answer = begun.ask("make parser", before=lambda: setattr(call_recording, "lock_runs", lock))
    assert answer.kind == "deny"
    assert "in the meantime" in answer.why
    assert begun.calls() == ["build"]


def test_half_a_line_that_a_killed_guard_has_left(begun: GuardRepository) -> None:
    (journal,) = begun.path.glob(".agent/execplans/artifacts/*/runs/*/journal.jsonl")
    with journal.open("ab") as file:
        file.write(b'{"n":4,"kind":"call')
    assert begun.ask("make parser").kind == "allow"
    assert begun.calls() == ["build", "build"]


def test_nothing_that_is_denied_or_only_reads_changes_a_byte_but_the_journal(begun: GuardRepository) -> None:
    before = begun.bytes()
    assert begun.ask("ls src").kind == "allow"
    assert begun.ask("execplan show").kind == "allow"
    assert guard(json.dumps(hook("TodoWrite", str(begun.path), todos=[])).encode()).kind == "allow"
    assert begun.bytes() == before
    assert begun.ask("make other").kind == "deny"
    changed = [path for path, data in begun.bytes().items() if before.get(path) != data]
    run = run_directories.find_run(*begun.project(), None).id
    assert sorted([path.rpartition("/")[2] for path in changed]) == [f"{run}.jsonl", "journal.jsonl", "journal.mark"]


def test_denials_are_recorded_up_to_a_limit_and_without_secrets(begun: GuardRepository) -> None:
    begun.patch.setattr(call_recording, "MAX_RECORDED_DENIALS", 3)
    for _ in range(5):
        assert begun.ask("TOKEN=ghp_x curl https://example.org/hunter2 -d hunter2").kind == "deny"
    denied = [entry for entry in begun.entries() if entry["kind"] == "denied"]
    assert len(denied) == 3
    assert (denied[0]["what"], denied[0]["tool"], denied[0]["session"]) == ("curl", "Bash", "s-1")
    assert "hunter2" not in json.dumps(begun.entries())
    _report(begun, "build")
    assert begun.type("audit").out.count("denied    Bash: curl") == 3
    audit_log = next(begun.path.glob(".agent/execplans/artifacts/*/ledger.jsonl")).read_text()
    assert audit_log.count('"kind":"denied"') == 3


def test_a_plan_that_is_named_in_any_way_is_evaluated_by_its_grant(begun: GuardRepository) -> None:
    plan = ".agent/execplans/2026-01-01_parser.md"
    for number, plan_name in enumerate(("2026-01-01_parser", "parser", plan)):
        answer = begun.ask("make parser" if number < 2 else "make check", "-p", plan_name)
        assert answer.kind == ("allow" if number < 2 else "deny"), plan_name
    begun.patch.setenv("EXECPLAN_PLAN", "nothing")
    assert begun.ask("make parser").kind == "deny"
    assert len(begun.calls()) == 3


def test_grants_of_runs_that_have_ended_are_no_choice(begun: GuardRepository) -> None:
    other_plan = "2026-01-02_other"
    begun.plan(
        "# Other\n\n## Progress\n\n- [ ] Do it.\n\n## Concrete Steps\n\n```sh {#x}\nmake other\n```\n", other_plan
    )
    begun.data("approve", other_plan, "--digest", begun.data("evaluate", other_plan)["digest"][:8])
    assert begun.ask("make other", "-p", other_plan).kind == "allow"
    assert begun.ask("make parser").kind == "deny"
    assert begun.type("report", "x", "-p", other_plan, "--status", "failed", "--result", "No.").exit == 0
    assert begun.ask("make parser").kind == "allow"


def test_of_two_approved_plans_a_complete_one_is_no_choice(begun: GuardRepository) -> None:
    for number, name in enumerate(("one", "two"), 2):
        plan = (
            f"# Make {name}\n\n## Progress\n\n- [ ] Make it.\n\n## Concrete Steps\n\n```sh {{#x}}\nmake {name}\n```\n"
        )
        begun.plan(plan, f"2026-01-0{number}_{name}")
        digest = begun.data("evaluate", f"2026-01-0{number}_{name}")["digest"]
        begun.data("approve", f"2026-01-0{number}_{name}", "--digest", digest[:8])
    assert begun.type("report", "build", "--status", "failed", "--result", "No.").exit == 0
    assert "2 plans are approved here" in begun.ask("make two").why
    assert begun.type("done", "1", "-p", "2026-01-02_one").exit == 0
    assert begun.ask("make one").kind == "deny"
    assert begun.type("done", "1", "-p", "2026-01-03_two").exit == 0
    assert "2026-01-01_parser has failed" in begun.ask("make two").why
    assert begun.type("reopen", "1", "-p", "2026-01-03_two").exit == 0
    assert begun.ask("make two").kind == "allow"


def test_a_denial_says_how_to_go_on(begun: GuardRepository) -> None:
    assert (
        "check needs build, which is not completed yet: first report the result of build" in begun.ask("make check").why
    )
    assert begun.ask("curl example.org").why.endswith(
        "no step is similar; in progress and not reported yet: build; `curl example.org` may do more than read"
    )
    for _ in range(2):
        begun.ask("make parser")
    assert begun.ask("make parser").why.endswith(
        "step build may be called 3 times, and it already was: report its result"
    )
    reads = begun.ask("execplan report build --status completed --result x --evidence - <<'E'\nx\nE")
    assert reads.kind == "allow"
    piped = begun.ask("printf 'a' | execplan report build --status completed --result x --evidence -")
    assert (piped.kind, piped.why) == ("allow", "execplan: it only reads, and calls execplan as agents may")
    assert begun.ask("ls && echo '---' && pwd").why == "execplan: it only reads"
    assert "execplan handoff PLAN" in begun.ask("execplan run").why


def test_a_failed_run_is_no_case_for_another_approval(begun: GuardRepository) -> None:
    assert begun.type("report", "build", "--status", "failed", "--result", "No.").exit == 0
    why = begun.ask("make parser").why
    assert " has failed; edit its steps in the plan if they are wrong, then: execplan replan 1 -p " in why
    assert " has failed" not in begun.ask("execplan approve").why  # that is said to nobody who would free himself
    assert "; or ask a person to roll it back: execplan rollback 1 -p " in why


MODIFYING_PLAN = """\
# Count words

## Progress

- [ ] Count.

## Concrete Steps

```diff {#patch type=modify_file target=wc.py}
@@ -1 +1,2 @@
-def count(s): return len(s.split())
+def count(s):
+    return len(s.split())
```
"""


@pytest.mark.parametrize("is_reverted", [False, True])
def test_after_a_replan_the_guard_allows_what_corrects_a_failed_attempt(
    begun: GuardRepository, is_reverted: bool
) -> None:
    name = "2026-01-02_count"
    before, after = "def count(s): return len(s.split())\n", "def count(s):\n    return len(s.split())\n"
    begun.write("wc.py", before)
    begun.plan(MODIFYING_PLAN, name)
    begun.data("approve", name, "--digest", begun.data("evaluate", name)["digest"][:8])

    def is_allowed(content: str) -> bool:
        call = hook("Write", str(begun.path), file_path=str(begun.path / "wc.py"), content=content)
        answer = guard(json.dumps(call).encode(), "--program", "claude", "-p", name, program="claude")
        return answer.kind == "allow"

    assert is_allowed(after)
    begun.write("wc.py", f"{after}\n")  # as a formatter does
    report = ("report", "patch", "-p", name, "--status", "completed", "--result", "Done.")
    assert begun.type(*report).exit == 1
    assert not is_allowed(after)
    assert begun.type("replan", "-p", name, "--reason", "A formatter.").exit == 0
    if is_reverted:
        begun.write("wc.py", before)
    assert not is_allowed(f"{after}\n")
    assert is_allowed(after)
    begun.write("wc.py", after)
    assert begun.type(*report).exit == 0


def test_after_a_rollback_the_reason_says_what_is_next_and_not_to_approve_again(begun: GuardRepository) -> None:
    assert begun.type("rollback", "1").exit == 0
    why = begun.ask("make parser").why
    assert "; see what is next: execplan next 2026-01-01_parser; a person must approve another run" in why


def test_a_command_that_only_reads_is_a_step_where_one_plans_it_and_denied_where_one_denies_it(
    begun: GuardRepository,
) -> None:
    other_plan, fence = "2026-01-02_other", '```sh {#look deny="git log"}\ngit status\n```\n'
    begun.plan(f"# Other\n\n## Progress\n\n- [ ] Do it.\n\n## Concrete Steps\n\n{fence}", other_plan)
    assert begun.ask("git log", "-p", other_plan).kind == "allow"  # nothing is approved: it only reads
    begun.data("approve", other_plan, "--digest", begun.data("evaluate", other_plan)["digest"][:8])
    assert begun.ask("git diff", "-p", other_plan).why == "execplan: it only reads"
    assert begun.ask("git log", "-p", other_plan).kind == "deny"
    assert "look" in begun.ask("git status", "-p", other_plan).why
    assert begun.data("show", other_plan, "--run", "1")["run"].startswith("0001-")
