"""Whatever the program does, the plan is compiled and stored as without it, and each call is on record."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

from execplan.agents.enhancer.enhancer_settings import load_settings
from execplan.text.text_lines import digest
from tests.agents.enhancer.asking import Asking
from tests.engine.commanding import is_alive, until

if TYPE_CHECKING:
    from pathlib import Path


def test_no_answer(asking: Asking) -> None:
    for how, why in (
        (("fail", "3"), "exit 3: for [redacted]"),
        (("die",), "it was ended by signal 9"),
        (("flood",), "its answer is longer than 512 kilobytes"),
        (("say", ""), "it printed no answer"),
    ):
        told = asking.ask(*how)
        assert (told["ended"], told["reason"]) == ("failed", why)
        assert why in told["warnings"][0]
        assert told["next"] == ["execplan evaluate 2026-01-01_parser"]
        assert not (asking.artifacts / "enhanced.json").exists()
        assert [step["id"] for step in asking.stored()["steps"]] == ["build", "push", "api"]
        first, last = asking.records()[-2:]
        assert (first.kind, last.kind, last.said["ended"], last.said["reason"]) == (
            "enhancing",
            "enhanced",
            "failed",
            why,
        )
    assert asking.approve()["digest"], "everything else works"


def test_an_answer_that_can_not_stand(asking: Asking) -> None:
    for how in (("deaf",), ("say", "Sure! Here is the plan:")):
        told = asking.ask(*how)
        assert (told["ended"], told["reason"]) == ("refused", "its answer can't stand")
        assert told["violations"]
        last = asking.records()[-1]
        assert last.said["reason"] == f"its answer can't stand: {told['violations'][0]}"
        assert last.said["received"] == told["received"]["sha256"]
    assert not (asking.artifacts / "enhanced.json").exists()


def test_what_can_not_be_started(asking: Asking) -> None:
    for command, why in (
        ("no-such-program --now", "there is no program no-such-program"),
        ("/dev/null", "/dev/null can't be started: permission denied"),
    ):
        asking.settings(f'[enhancer]\ncommand = "{command}"\n')
        told = asking.data("compile", "--enhance")["enhanced"]
        assert (told["ended"], told["reason"]) == ("not_sent", why)
        assert "sent " not in asking.run("compile", "--enhance").out
        assert asking.records()[-1].said["program"] == command.split()[0].rpartition("/")[2]


def test_what_takes_too_long_is_ended_with_all_that_it_has_started(asking: Asking) -> None:
    told = asking.ask("wait", more="seconds = 1\n")
    assert (told["ended"], told["reason"]) == ("failed", "it took longer than 1 s")
    assert not is_alive(asking.seen()["pid"])
    assert _left(asking) == []


def test_it_is_interrupted(asking: Asking) -> None:
    asking.name("wait")
    process = asking.start("compile", "--enhance")
    until((asking.folder / "request.json").exists)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert b"Traceback" not in err
    assert not is_alive(asking.seen()["pid"])
    assert asking.records()[-1].said["reason"] == "interrupted by SIGINT"
    assert len(asking.stored()["steps"]) == 3
    assert _left(asking) == []


def test_two_at_once(asking: Asking) -> None:
    asking.name("edit", "steps[0]['timeout_s'] = 20")
    both = [asking.start("compile", "--enhance", "--json") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert json.loads(out)["data"]["enhanced"]["ended"] == "proposed"
    assert sorted([each.kind for each in asking.records()]) == ["enhanced", "enhanced", "enhancing", "enhancing"]
    assert json.loads((asking.artifacts / "enhanced.json").read_text())["answer"]["steps"][0]["timeout_s"] == 20


def test_what_can_not_be_recorded_is_not_sent(asking: Asking) -> None:
    asking.ask("echo")
    (asking.artifacts / "ledger.jsonl").unlink()
    (asking.folder / "request.json").unlink()
    told = asking.ask("echo")
    assert told["ended"] == "not_sent"
    assert "its anchor knows 2 records" in told["reason"]
    assert not (asking.folder / "request.json").exists()


def test_of_a_plan_that_git_ignores_nothing_is_sent(asking: Asking) -> None:
    asking.git("rm", "-q", "--cached", "-r", ".agent")
    asking.write(".gitignore", "/.agent\n")
    told = asking.ask("echo")
    assert (told["ended"], told["reason"].split(",")[0]) == (
        "not_sent",
        "git ignores .agent/execplans/2026-01-01_parser.md",
    )
    assert not (asking.folder / "request.json").exists()


def test_what_it_gets(asking: Asking) -> None:
    folder = asking.path / "bin"
    folder.mkdir()
    asking.patch.setenv("PATH", f"{folder}:.::{os.environ['PATH']}")
    asking.patch.setenv("MODEL_KEY", "for-the-model-only")
    asking.patch.setenv("OTHER_KEY", "not-for-the-model")
    asking.patch.setenv("VIRTUAL_ENV", str(asking.path / ".venv"))
    asking.patch.setenv("GIT_DIR", str(asking.path / ".git"))
    asking.ask("echo", more='environment = ["MODEL_KEY"]\n')
    seen = asking.seen()
    assert seen["there"] == []
    assert not seen["cwd"].startswith(str(asking.path))
    assert not os.path.exists(seen["cwd"])
    assert seen["env"]["MODEL_KEY"] == "for-the-model-only"
    assert not {"OTHER_KEY", "VIRTUAL_ENV", "GIT_DIR"} & set(seen["env"])
    assert str(asking.path) not in json.dumps(seen["env"])
    assert "for-the-model-only" not in (asking.folder / "request.json").read_text()


def test_the_record(asking: Asking) -> None:
    asking.patch.setenv("EXECPLAN_SESSION", "0f1e2d3c")
    told = asking.ask("edit", "steps[0]['timeout_s'] = 20")
    sent = (asking.folder / "request.json").read_bytes()
    first, last = asking.records()
    both = {"program": os.path.basename(sys.executable), "sent": digest(sent), "bytes": len(sent)}
    assert both.items() <= first.said.items() <= last.said.items()
    assert first.said["redactions"] == told["sent"]["redactions"]
    assert first.said["redactions"]["secret"] > 0
    assert last.said["ended"] == "proposed"
    assert last.said["received"] == told["received"]["sha256"]
    assert last.session == "0f1e2d3c"
    lines = asking.type("audit").out.splitlines()
    assert f"{len(sent)} bytes, {digest(sent)[:12]}, to {both['program']}; taken out: " in lines[0]
    assert "proposed by" in lines[1]
    assert asking.type("audit", "--verify").exit == 0


def test_what_it_does_not_go_with(asking: Asking) -> None:
    asking.name("echo")
    for more in ("--check", "--annotate", "--compose", "--out=x.json", "--from=x.json"):
        asking.refused(2, "usage", "compile", "--enhance", more)


def _left(asking: Asking) -> list[str]:
    """Processes that go on with the arguments of the program."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found += [name] * (str(asking.folder).encode() in file.read())
        except OSError:
            continue
    return found


def test_the_user_s_own_settings(asking: Asking, tmp_path: Path) -> None:
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
        (f'command = "{asking.path}/tools/model"', "enhancer-of-repository", 7),
        (f'command = "python3 {asking.path}/tools/model.py"', "enhancer-of-repository", 7),
        (f'command = "{tmp_path}/link"', "enhancer-of-repository", 7),
    ):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(asking.path / "tools")
        asking.settings(f"[enhancer]\n{text}\n")
        asking.refused(status, code, "compile", "--enhance")
        assert not (asking.artifacts / "execution-plan.json").exists()


def test_what_holds_unless_the_settings_say_so(asking: Asking) -> None:
    asking.settings('[enhancer]\ncommand = "x"\n')
    assert load_settings(asking.project()[0]) == (("x",), 60, 512, ())
    asking.settings('[enhancer]\ncommand = "x"\nseconds = 3600\nkilobytes = 5120\n')
    assert load_settings(asking.project()[0])[1:3] == (3600, 5120)


def test_an_answer_that_changes_nothing(asking: Asking) -> None:
    told = asking.ask("echo")
    assert (told["ended"], told["warnings"]) == ("nothing", [])
    assert not (asking.artifacts / "enhanced.json").exists()


def test_a_repository_names_none(asking: Asking) -> None:
    for name, text in (
        (".agent/execplan.toml", '[enhancer]\ncommand = "x"\n'),
        ("pyproject.toml", '[tool.execplan.enhancer]\ncommand = "x"\n'),
    ):
        file = asking.write(name, text)
        error = asking.refused(3, "loosened-policy", "compile", "--enhance")
        assert "enhancer" in error["message"]
        file.unlink()
