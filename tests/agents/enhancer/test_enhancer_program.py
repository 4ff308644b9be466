"""Whatever the program does, the plan is compiled and stored as without it, and each call is on record."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

from execplan.agents.enhancer.enhancement_request import load_settings
from execplan.core.text.text_lines import digest
from tests.agents.enhancer.enhancer_repository import EnhancerRepository
from tests.execution.engine.command_folder import is_alive, until

if TYPE_CHECKING:
    from pathlib import Path


def test_no_answer(asking: EnhancerRepository) -> None:
    for behavior, failure, why in (
        (("fail", "3"), "exit", "exit 3: for [redacted]"),
        (("die",), "exit", "it was ended by signal 9"),
        (("flood",), "too_long", "its answer is longer than 512 kilobytes"),
        (("say", ""), "empty", "it printed no answer"),
    ):
        enhanced = asking.ask(*behavior)
        assert (enhanced["ended"], enhanced["failure"], enhanced["reason"]) == ("failed", failure, why)
        assert why in enhanced["warnings"][0]
        assert enhanced["next"] == ["execplan evaluate 2026-01-01_parser"]
        assert not (asking.artifacts / "enhanced.json").exists()
        assert [step["id"] for step in asking.stored()["steps"]] == ["build", "push", "api"]
        first, last = asking.records()[-2:]
        assert last.said["failure"] == failure
        assert (first.kind, last.kind, last.said["ended"], last.said["reason"]) == (
            "enhancing",
            "enhanced",
            "failed",
            why,
        )
    assert asking.approve()["digest"], "everything else works"


def test_an_answer_that_can_not_stand(asking: EnhancerRepository) -> None:
    for behavior in (("deaf",), ("say", "Sure! Here is the plan:")):
        enhanced = asking.ask(*behavior)
        assert (enhanced["ended"], enhanced["reason"]) == ("refused", "its answer is invalid")
        assert enhanced["failure"] == asking.records()[-1].said["failure"] == "invalid"
        assert enhanced["violations"]
        last = asking.records()[-1]
        assert last.said["reason"] == f"its answer is invalid: {enhanced['violations'][0]}"
        assert last.said["received"] == enhanced["received"]["sha256"]
    assert not (asking.artifacts / "enhanced.json").exists()


def test_what_can_not_be_started(asking: EnhancerRepository) -> None:
    for command, why in (
        ("no-such-program --now", "program not found: no-such-program"),
        ("/dev/null", "/dev/null can't be started: permission denied"),
    ):
        asking.settings(f'[enhancer]\ncommand = "{command}"\n')
        enhanced = asking.data("compile", "--enhance")["enhanced"]
        assert (enhanced["ended"], enhanced["failure"], enhanced["reason"]) == ("not_sent", "not_started", why)
        assert "sent " not in asking.run("compile", "--enhance").out
        assert asking.records()[-1].said["program"] == command.split()[0].rpartition("/")[2]


def test_what_takes_too_long_is_ended_with_all_that_it_has_started(asking: EnhancerRepository) -> None:
    enhanced = asking.ask("wait", extra_settings="seconds = 1\n")
    assert (enhanced["ended"], enhanced["failure"]) == ("failed", "timeout")
    assert enhanced["reason"] == "it took longer than 1 s"
    assert not is_alive(asking.observed_process()["pid"])
    assert _running_processes(asking) == []


def test_it_is_interrupted(asking: EnhancerRepository) -> None:
    asking.configure_program("wait")
    process = asking.start("compile", "--enhance")
    until((asking.folder / "request.json").exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert b"Traceback" not in err
    assert not is_alive(asking.observed_process()["pid"])
    assert asking.records()[-1].said["reason"] == "interrupted by SIGINT"
    assert len(asking.stored()["steps"]) == 3
    assert _running_processes(asking) == []


def test_two_at_once(asking: EnhancerRepository) -> None:
    asking.configure_program("edit", "steps[0]['timeout_s'] = 20")
    both = [asking.start("compile", "--enhance", "--json") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert json.loads(out)["data"]["enhanced"]["ended"] == "proposed"
    assert sorted([record.kind for record in asking.records()]) == ["enhanced", "enhanced", "enhancing", "enhancing"]
    assert json.loads((asking.artifacts / "enhanced.json").read_text())["answer"]["steps"][0]["timeout_s"] == 20


def test_what_can_not_be_recorded_is_not_sent(asking: EnhancerRepository) -> None:
    asking.ask("echo")
    (asking.artifacts / "ledger.jsonl").unlink()
    (asking.folder / "request.json").unlink()
    enhanced = asking.ask("echo")
    assert (enhanced["ended"], enhanced["failure"]) == ("not_sent", "unrecorded")
    assert "its anchor refers to record 2" in enhanced["reason"]
    assert not (asking.folder / "request.json").exists()


def test_of_a_plan_that_git_ignores_nothing_is_sent(asking: EnhancerRepository) -> None:
    asking.git("rm", "-q", "--cached", "-r", ".agent")
    asking.write(".gitignore", "/.agent\n")
    enhanced = asking.ask("echo")
    assert (enhanced["ended"], enhanced["reason"].split(";")[0]) == (
        "not_sent",
        "git ignores .agent/execplans/2026-01-01_parser.md",
    )
    assert not (asking.folder / "request.json").exists()


def test_what_it_gets(asking: EnhancerRepository) -> None:
    folder = asking.path / "bin"
    folder.mkdir()
    asking.patch.setenv("PATH", f"{folder}:.::{os.environ['PATH']}")
    asking.patch.setenv("MODEL_KEY", "for-the-model-only")
    asking.patch.setenv("OTHER_KEY", "not-for-the-model")
    asking.patch.setenv("VIRTUAL_ENV", str(asking.path / ".venv"))
    asking.patch.setenv("GIT_DIR", str(asking.path / ".git"))
    asking.ask("echo", extra_settings='environment = ["MODEL_KEY"]\n')
    observed = asking.observed_process()
    assert observed["there"] == []
    assert not observed["cwd"].startswith(str(asking.path))
    assert not os.path.exists(observed["cwd"])
    assert observed["env"]["MODEL_KEY"] == "for-the-model-only"
    assert not {"OTHER_KEY", "VIRTUAL_ENV", "GIT_DIR"} & set(observed["env"])
    assert str(asking.path) not in json.dumps(observed["env"])
    assert "for-the-model-only" not in (asking.folder / "request.json").read_text()


def test_the_record(asking: EnhancerRepository) -> None:
    asking.patch.setenv("EXECPLAN_SESSION", "0f1e2d3c")
    enhanced = asking.ask("edit", "steps[0]['timeout_s'] = 20")
    request = (asking.folder / "request.json").read_bytes()
    first, last = asking.records()
    common_fields = {"program": os.path.basename(sys.executable), "sent": digest(request), "bytes": len(request)}
    assert common_fields.items() <= first.said.items() <= last.said.items()
    assert first.said["redactions"] == enhanced["sent"]["redactions"]
    assert first.said["redactions"]["secret"] > 0
    assert last.said["ended"] == "proposed"
    assert last.said["received"] == enhanced["received"]["sha256"]
    assert last.session == "0f1e2d3c"
    lines = asking.type("audit").out.splitlines()
    assert f"{len(request)} bytes, {digest(request)[:12]}, to {common_fields['program']}; redacted: " in lines[0]
    assert "proposed by" in lines[1]
    assert asking.type("audit", "--verify").exit == 0


def test_options_that_exclude_it(asking: EnhancerRepository) -> None:
    asking.configure_program("echo")
    for option in ("--check", "--annotate", "--compose", "--out=x.json", "--from=x.json"):
        asking.refused(2, "usage", "compile", "--enhance", option)


def _running_processes(asking: EnhancerRepository) -> list[str]:
    """Processes that go on with the arguments of the program."""
    process_ids = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                process_ids += [name] * (str(asking.folder).encode() in file.read())
        except OSError:
            continue
    return process_ids


def test_the_user_s_own_settings(asking: EnhancerRepository, tmp_path: Path) -> None:
    error = asking.refused(3, "no-enhancer", "compile", "--enhance")
    assert "[enhancer]" in error["hint"]
    for text, code, status in (
        ("command = 3", "bad-setting", 3),
        ("command = ''", "bad-setting", 3),
        ('command = "a \'b"', "bad-setting", 3),
        ("seconds = 5", "bad-setting", 3),
        ('command = "x"\nseconds = 0', "bad-setting", 3),
        ('command = "x"\nseconds = 3601', "bad-setting", 3),
        ('command = "x"\nseconds = true', "bad-setting", 3),
        ('command = "x"\nkilobytes = 9999', "bad-setting", 3),
        ('command = "x"\nenvironment = ["A B"]', "bad-setting", 3),
        ('comand = "x"', "unknown-setting", 3),
        (f'command = "{asking.path}/tools/model"', "program-of-repository", 7),
        (f'command = "python3 {asking.path}/tools/model.py"', "program-of-repository", 7),
        (f'command = "{tmp_path}/link"', "program-of-repository", 7),
    ):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(asking.path / "tools")
        asking.settings(f"[enhancer]\n{text}\n")
        asking.refused(status, code, "compile", "--enhance")
        assert not (asking.artifacts / "execution-plan.json").exists()


def test_what_holds_unless_the_settings_say_so(asking: EnhancerRepository) -> None:
    asking.settings('[enhancer]\ncommand = "x"\n')
    assert load_settings(asking.project()[0]) == (("x",), 60, 512, ())
    asking.settings('[enhancer]\ncommand = "x"\nseconds = 3600\nkilobytes = 5120\n')
    assert load_settings(asking.project()[0])[1:3] == (3600, 5120)


def test_an_answer_that_changes_nothing(asking: EnhancerRepository) -> None:
    enhanced = asking.ask("echo")
    assert (enhanced["ended"], enhanced["failure"], enhanced["warnings"]) == ("nothing", None, [])
    assert not (asking.artifacts / "enhanced.json").exists()


def test_a_repository_names_none(asking: EnhancerRepository) -> None:
    for name, text in (
        (".agent/execplan.toml", '[enhancer]\ncommand = "x"\n'),
        ("pyproject.toml", '[tool.execplan.enhancer]\ncommand = "x"\n'),
    ):
        file = asking.write(name, text)
        error = asking.refused(3, "loosened-policy", "compile", "--enhance")
        assert "enhancer" in error["message"]
        file.unlink()
