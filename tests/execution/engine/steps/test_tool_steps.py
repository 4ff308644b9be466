"""A tool of an installed package is called as a command is run: checked before, approved, in the same sandbox, taken back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from execplan.execution.approvals import tool_discovery
from tests.execution.engine.run_repository import RunRepository, steps
from tests.needs import need

POINTS = """\
[execplan.tools]
weather.current = weather_tools.now:current
weather.slow = weather_tools.now:slow
weather.fail = weather_tools.now:fail
weather.write = weather_tools.now:write
weather.later = weather_tools.now:later
weather.broken = weather_tools.missing:gone
shell.run = weather_tools.now:current
nodot = weather_tools.now:current
"""
CODE = """\
from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal

open({mark!r}, "a").write("imported\\\\n") if os.access(os.path.dirname({mark!r}), os.W_OK) else None


def current(city: str, days: int = 1, unit: Literal["C", "F"] = "C", names: tuple[str, ...] = ()) -> dict:
    print("asked for", city)
    return {{"city": city, "days": days, "names": names}}


def slow(seconds: float) -> None:
    time.sleep(seconds)


def fail() -> None:
    Path("half.txt").write_text("half")
    raise RuntimeError("no weather today")


def write(path: Path) -> None:
    path.write_text("written")


async def later(n: int) -> int:
    return n + 1
"""


class ToolRepository(RunRepository):
    """A repository beside an installed package with tools."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        self.site = path.parent / "site"
        self.mark = path.parent / "imported"
        self.install()
        patch.syspath_prepend(str(self.site))
        self.write_user_settings('sandbox = "off"')

    def install(self, version: str = "1.2", code: str = CODE) -> None:
        """Write the package, as pip would have."""
        for old in self.site.glob("*.dist-info/*"):
            old.unlink()
        for old in self.site.glob("*.dist-info"):
            old.rmdir()
        info = f"../site/weather_tools-{version}.dist-info"
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: weather-tools\nVersion: {version}\n")
        self.write(f"{info}/entry_points.txt", POINTS)
        self.write("../site/weather_tools/__init__.py", "")
        self.write("../site/weather_tools/now.py", code.format(mark=str(self.mark)))

    def compile_steps(self, *calls: dict[str, Any]) -> None:
        """Let the execution plan be these calls."""
        self.plan(steps())
        call_steps = [
            {
                "number": number,
                "id": f"s{number}",
                "type": "use_tool",
                "description": "Call it",
                "risk": {"level": "HIGH"},
                **call,
            }
            for number, call in enumerate(calls, 1)
        ]
        document = {
            "schema": "execplan-execution-plan",
            "version": 1,
            "plan_id": self.name,
            "description": "Ask for the weather",
            "intent": {"summary": "Ask", "category": "tools", "risk_level": "HIGH"},
            "steps": call_steps,
        }
        (self.path.parent / "plan.json").write_text(json.dumps(document))
        self.data("compile", self.name, "--from", str(self.path.parent / "plan.json"))

    def approve_steps(self, *calls: dict[str, Any]) -> None:
        """The same, approved."""
        self.compile_steps(*calls)
        self.approve()

    def error_messages(self) -> list[str]:
        """What `evaluate` says is wrong."""
        result = self.type("evaluate", "--json")
        assert result.exit == 1, result
        return [finding["message"] for finding in result.json["data"]["findings"] if finding["level"] == "error"]

    def transcript(self) -> str:
        """What the last step printed."""
        return "".join([path.read_text() for path in sorted(Path(self.last_run().transcripts).iterdir())])


@pytest.fixture
def tool_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToolRepository:
    return ToolRepository(tmp_path / "repo", monkeypatch)


CALL = {"tool": "weather.current", "parameters": {"city": "Bern", "days": 2, "names": ["a"]}}


def test_a_tool_is_called(tool_repo: ToolRepository) -> None:
    tool_repo.approve_steps({**CALL, "expect": 'asked for Bern\n{"city":"Bern","days":2,"names":["a"]}'})
    assert tool_repo.run_plan().status == "completed"
    assert 'weather.current {"city": "Bern"' in tool_repo.transcript()


FENCE = """\
```json {#ask type=use_tool tool=weather.current env="A=b"}
{"city": "Bern"}
```

```text {expect}
asked for Bern
…
```
"""


def test_a_fence_of_the_plan_calls_a_tool(tool_repo: ToolRepository) -> None:
    tool_repo.approve_plan(steps(FENCE))
    (step,) = tool_repo.data("evaluate")["steps"]
    assert tool_repo.run_plan().status == "completed"
    assert step["tool"] == "weather.current"
    assert "EP6" not in tool_repo.type("lint").out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" tool=weather.current", "", "use_tool needs a tool"),
        ("weather.current", "weather", "weather is not a tool name: domain.tool, with one dot"),
        ("weather.current", "file.create", "is in one of execplan's own domains, which no installed tool can use"),
        ('{"city": "Bern"}', '["Bern"]', "its parameters must be a JSON object"),
        ("type=use_tool", "type=use_tool shell", "use_tool doesn't accept shell"),
        ("Bern", "Bern\u202e", "U+202E"),
    ],
)
def test_what_a_fence_may_not_say(tool_repo: ToolRepository, old: str, new: str, message: str) -> None:
    tool_repo.plan(steps(FENCE.replace(old, new, 1)))
    result = tool_repo.type("compile", "--json")
    assert result.exit in (3, 7)
    assert message in str(result.json["error"])


def test_what_a_coroutine_returns(tool_repo: ToolRepository) -> None:
    tool_repo.approve_steps({"tool": "weather.later", "parameters": {"n": 1}, "expect": "2"})
    assert tool_repo.run_plan().status == "completed"


def test_a_tool_that_raises_is_taken_back(tool_repo: ToolRepository) -> None:
    tool_repo.approve_steps({"tool": "weather.fail"})
    finished = tool_repo.run_plan()
    assert finished.status != "completed"
    assert not tool_repo.exists("half.txt")
    assert "RuntimeError: no weather today" in tool_repo.transcript()


def test_a_tool_has_the_time_of_its_step_and_is_tried_again(tool_repo: ToolRepository) -> None:
    retry = {"strategy": "retry", "max_retries": 1, "backoff_ms": 0}
    tool_repo.approve_steps(
        {
            "tool": "weather.slow",
            "parameters": {"seconds": 60},
            "timeout_s": 1,
            "effect": "idempotent",
            "on_failure": retry,
        }
    )
    assert tool_repo.run_plan().status != "completed"
    results = [entry.fields["cause"] for entry in tool_repo.entries() if entry.kind == "result"]
    assert results == ["timeout", "timeout"]


@pytest.mark.parametrize(
    ("tool", "parameters", "message"),
    [
        ("weather.current", {"city": 3}, "weather.current: city: Input should be a valid string"),
        ("weather.current", {"city": "Bern", "days": "2"}, "weather.current: days: Input should be a valid integer"),
        ("weather.current", {"city": "Bern", "unit": "K"}, "weather.current: unit: Input should be 'C' or 'F'"),
        ("weather.current", {"city": "Bern", "day": 2}, "unknown parameter day; did you mean days?"),
        ("weather.current", {}, "weather.current: parameter city is missing"),
        ("weather.curent", {}, "has a tool weather.curent; did you mean weather.current?"),
        ("weather.broken", {}, "weather_tools.missing:gone can't be loaded: ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_is_found_before_anything_runs(
    tool_repo: ToolRepository, tool: str, parameters: dict[str, Any], message: str
) -> None:
    tool_repo.compile_steps({"tool": tool, "parameters": parameters})
    (error,) = tool_repo.error_messages()
    assert message in error
    assert tool_repo.type("approve", "--digest", "0" * 8).exit != 0


def test_without_pydantic_the_extra_is_named(tool_repo: ToolRepository) -> None:
    tool_repo.write("../site/pydantic.py", "raise ImportError")
    tool_repo.compile_steps(CALL)
    (error,) = tool_repo.error_messages()
    assert "is not installed; the extra `tools` contains it" in error


def test_reading_imports_nothing(tool_repo: ToolRepository) -> None:
    tool_repo.approve_steps(CALL)
    tool_repo.mark.unlink(missing_ok=True)
    for command in ("status", "list", "next", "show", "prime"):
        assert tool_repo.type(command).exit == 0
    tool_repo.type("approve", "--check")
    assert tool_repo.type("explain", "tools").exit == 0
    assert not tool_repo.mark.exists()
    assert "weather_tools" not in sys.modules
    tool_repo.run_plan()
    assert tool_repo.mark.exists()
    assert "weather_tools" not in sys.modules


def test_evaluating_lets_a_module_write_nothing(tool_repo: ToolRepository) -> None:
    need("bwrap")
    tool_repo.compile_steps(CALL)
    assert tool_repo.type("evaluate").exit == 0
    assert not tool_repo.mark.exists()


def test_a_module_that_ends_the_process_is_reported(tool_repo: ToolRepository) -> None:
    tool_repo.install(code="import os\nos._exit(3)\n")
    tool_repo.compile_steps(CALL)
    (message,) = tool_repo.error_messages()
    assert message == "weather.current: its module can't be imported: the process ended"


def test_the_names_of_our_own_tools_cannot_be_taken(tool_repo: ToolRepository) -> None:
    tool_repo.plan(steps())
    assert not {"shell.run", "nodot"} & tool_discovery.find_tools(str(tool_repo.path)).keys()
    document = {"steps": [{"tool": "shell.run", "parameters": {"city": "Bern"}}]}
    with pytest.raises(
        AssertionError, match=r"shell\.run is in one of execplan.+own domains and not an installed tool"
    ):
        tool_repo.compile_steps(*document["steps"])


def test_a_repository_brings_no_tools_along(tool_repo: ToolRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tool_repo.path / "vendored"
    tool_repo.site.rename(inside)
    monkeypatch.syspath_prepend(str(inside))
    assert not tool_discovery.find_tools(str(tool_repo.path))


@pytest.mark.parametrize("change", ["code", "version", "gone"])
def test_a_tool_that_changes_after_the_approval(tool_repo: ToolRepository, change: str) -> None:
    tool_repo.approve_steps(CALL)
    bound = tool_repo.approval_data()["programs"]["weather.current (tool)"]
    assert bound["version"] == "weather-tools 1.2"
    assert bound["path"].endswith("/site/weather_tools/now.py")
    if change == "gone":
        tool_repo.write("../site/weather_tools-1.2.dist-info/entry_points.txt", "")
    else:
        tool_repo.install(**({"code": CODE + "\n# changed\n"} if change == "code" else {"version": "1.3"}))
    (line,) = tool_repo.refused(4, "stale-approval", "run")["candidates"]
    reasons = {
        "code": "has different content (",
        "version": "version was weather-tools 1.2 and is now weather-tools 1.3",
        "gone": "and no longer exists",
    }
    assert line.startswith("weather.current (tool): ")
    assert reasons[change] in line


def test_a_tool_is_high_unless_the_users_own_settings_rate_it(tool_repo: ToolRepository) -> None:
    tool_repo.compile_steps(CALL)
    assert tool_repo.data("evaluate")["risk"]["level"] == "HIGH"
    row = '[[execution.risk]]\ntool = "weather.*"\nlevel = "LOW"\nreason = "asks for the weather"\n'
    tool_repo.write(".agent/execplan.toml", row)
    tool_repo.refused(3, "bad-setting", "evaluate")
    tool_repo.write(".agent/execplan.toml", row.replace("LOW", "CRITICAL"))
    assert tool_repo.data("evaluate")["risk"]["level"] == "CRITICAL"


def test_the_users_own_settings_may_lower_it(tool_repo: ToolRepository) -> None:
    row = '[[execution.risk]]\ntool = "weather.*"\nlevel = "LOW"\nreason = "asks for the weather"\n'
    tool_repo.write_user_settings(f'sandbox = "off"\n\n{row}')
    tool_repo.plan(steps(FENCE))
    assert tool_repo.data("evaluate")["risk"]["level"] == "LOW"


def test_a_tool_writes_only_in_the_repository(tool_repo: ToolRepository) -> None:
    need("bwrap")
    tool_repo.write_user_settings('sandbox = "required"')
    outside = tool_repo.site / "outside.txt"
    tool_repo.approve_steps(
        {"tool": "weather.write", "parameters": {"path": "inside.txt"}},
        {"tool": "weather.write", "parameters": {"path": str(outside)}},
    )
    assert tool_repo.run_plan().status != "completed"
    assert not outside.exists()
    outcomes = [entry.fields["ok"] for entry in tool_repo.entries() if entry.kind == "result"]
    assert outcomes == [True, False]


def test_the_tools_that_are_installed_are_listed(tool_repo: ToolRepository) -> None:
    assert "weather.current" in tool_repo.type("explain", "tools").out
    listed = tool_repo.data("explain", "tools")["tools"]
    assert {"tool": "weather.current", "value": "weather_tools.now:current", "from": "weather-tools 1.2"} in listed


def test_the_real_program_finds_them_on_its_path(tool_repo: ToolRepository) -> None:
    tool_repo.approve_steps(CALL)
    result = tool_repo.run("run", tool_repo.name, PYTHONPATH=str(tool_repo.site))
    assert result.exit == 0, result
    tool_repo.compile_steps({"tool": "weather.current", "parameters": {"city": 3}})
    assert tool_repo.run("evaluate", tool_repo.name, PYTHONPATH=str(tool_repo.site)).exit == 1
