"""A tool of an installed package is called as a command is run: checked before, approved, in the same sandbox, taken back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from execplan.approvals import tool_discovery
from tests.engine.running import Bench, steps
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


class Tooled(Bench):
    """A repository beside an installed package with tools."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(path, patch)
        self.site = path.parent / "site"
        self.mark = path.parent / "imported"
        self.install()
        patch.syspath_prepend(str(self.site))
        self.own('sandbox = "off"')

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

    def steps(self, *told: dict[str, Any]) -> None:
        """Let the execution plan be these calls."""
        self.plan(steps())
        made = [
            {
                "number": number,
                "id": f"s{number}",
                "type": "use_tool",
                "description": "Call it",
                "risk": {"level": "HIGH"},
                **each,
            }
            for number, each in enumerate(told, 1)
        ]
        document = {
            "schema": "execplan-execution-plan",
            "version": 1,
            "plan_id": self.name,
            "description": "Ask for the weather",
            "intent": {"summary": "Ask", "category": "tools", "risk_level": "HIGH"},
            "steps": made,
        }
        (self.path.parent / "plan.json").write_text(json.dumps(document))
        self.data("compile", self.name, "--from", str(self.path.parent / "plan.json"))

    def approved_steps(self, *told: dict[str, Any]) -> None:
        """The same, approved."""
        self.steps(*told)
        self.approve()

    def wrong(self) -> list[str]:
        """What `evaluate` says is wrong."""
        result = self.type("evaluate", "--json")
        assert result.exit == 1, result
        return [each["message"] for each in result.json["data"]["findings"] if each["level"] == "error"]

    def transcript(self) -> str:
        """What the last step printed."""
        return "".join([each.read_text() for each in sorted(Path(self.last().transcripts).iterdir())])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tooled:
    return Tooled(tmp_path / "repo", monkeypatch)


CALL = {"tool": "weather.current", "parameters": {"city": "Bern", "days": 2, "names": ["a"]}}


def test_a_tool_is_called(bench: Tooled) -> None:
    bench.approved_steps({**CALL, "expect": 'asked for Bern\n{"city":"Bern","days":2,"names":["a"]}'})
    assert bench.go().status == "completed"
    assert 'weather.current {"city": "Bern"' in bench.transcript()


FENCE = """\
```json {#ask type=use_tool tool=weather.current env="A=b"}
{"city": "Bern"}
```

```text {expect}
asked for Bern
…
```
"""


def test_a_fence_of_the_plan_calls_a_tool(bench: Tooled) -> None:
    bench.approved(steps(FENCE))
    (step,) = bench.data("evaluate")["steps"]
    assert bench.go().status == "completed"
    assert step["tool"] == "weather.current"
    assert "EP6" not in bench.type("lint").out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" tool=weather.current", "", "use_tool needs a tool"),
        ("weather.current", "weather", "is no name of a tool"),
        ("weather.current", "file.create", "is in a domain of execplan's own"),
        ('{"city": "Bern"}', '["Bern"]', "its parameters are a JSON object"),
        ("type=use_tool", "type=use_tool shell", "use_tool has no use for shell"),
        ("Bern", "Bern\u202e", "U+202E"),
    ],
)
def test_what_a_fence_may_not_say(bench: Tooled, old: str, new: str, message: str) -> None:
    bench.plan(steps(FENCE.replace(old, new, 1)))
    result = bench.type("compile", "--json")
    assert result.exit in (3, 7)
    assert message in str(result.json["error"])


def test_what_a_coroutine_returns(bench: Tooled) -> None:
    bench.approved_steps({"tool": "weather.later", "parameters": {"n": 1}, "expect": "2"})
    assert bench.go().status == "completed"


def test_a_tool_that_raises_is_taken_back(bench: Tooled) -> None:
    bench.approved_steps({"tool": "weather.fail"})
    finished = bench.go()
    assert finished.status != "completed"
    assert not bench.there("half.txt")
    assert "RuntimeError: no weather today" in bench.transcript()


def test_a_tool_has_the_time_of_its_step_and_is_tried_again(bench: Tooled) -> None:
    again = {"strategy": "retry", "max_retries": 1, "backoff_ms": 0}
    bench.approved_steps(
        {
            "tool": "weather.slow",
            "parameters": {"seconds": 60},
            "timeout_s": 1,
            "effect": "idempotent",
            "on_failure": again,
        }
    )
    assert bench.go().status != "completed"
    results = [each.fields["cause"] for each in bench.entries() if each.kind == "result"]
    assert results == ["timeout", "timeout"]


@pytest.mark.parametrize(
    ("tool", "parameters", "message"),
    [
        ("weather.current", {"city": 3}, "weather.current: city: Input should be a valid string"),
        ("weather.current", {"city": "Bern", "days": "2"}, "weather.current: days: Input should be a valid integer"),
        ("weather.current", {"city": "Bern", "unit": "K"}, "weather.current: unit: Input should be 'C' or 'F'"),
        ("weather.current", {"city": "Bern", "day": 2}, "there is no parameter day: did you mean days?"),
        ("weather.current", {}, "weather.current: the parameter city is missing"),
        ("weather.curent", {}, "has a tool weather.curent; did you mean weather.current?"),
        ("weather.broken", {}, "weather_tools.missing:gone can't be loaded: ModuleNotFoundError"),
    ],
)
def test_what_is_wrong_is_found_before_anything_runs(
    bench: Tooled, tool: str, parameters: dict[str, Any], message: str
) -> None:
    bench.steps({"tool": tool, "parameters": parameters})
    (found,) = bench.wrong()
    assert message in found
    assert bench.type("approve", "--digest", "0" * 8).exit != 0


def test_reading_imports_nothing(bench: Tooled) -> None:
    bench.approved_steps(CALL)
    bench.mark.unlink(missing_ok=True)
    for verb in ("status", "list", "next", "show", "prime"):
        assert bench.type(verb).exit == 0
    bench.type("approve", "--check")
    assert bench.type("explain", "tools").exit == 0
    assert not bench.mark.exists()
    assert "weather_tools" not in sys.modules
    bench.go()
    assert bench.mark.exists()
    assert "weather_tools" not in sys.modules


def test_evaluating_lets_a_module_write_nothing(bench: Tooled) -> None:
    need("bwrap")
    bench.steps(CALL)
    assert bench.type("evaluate").exit == 0
    assert not bench.mark.exists()


def test_a_module_that_ends_the_process_is_reported(bench: Tooled) -> None:
    bench.install(code="import os\nos._exit(3)\n")
    bench.steps(CALL)
    (found,) = bench.wrong()
    assert found == "weather.current: its module can't be imported: the process ended"


def test_the_names_of_our_own_tools_cannot_be_taken(bench: Tooled) -> None:
    bench.plan(steps())
    assert not {"shell.run", "nodot"} & tool_discovery.find_tools(str(bench.path)).keys()
    document = {"steps": [{"tool": "shell.run", "parameters": {"city": "Bern"}}]}
    with pytest.raises(AssertionError, match=r"shell.run is in a domain of execplan"):
        bench.steps(*document["steps"])


def test_a_repository_brings_no_tools_along(bench: Tooled, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = bench.path / "vendored"
    bench.site.rename(inside)
    monkeypatch.syspath_prepend(str(inside))
    assert not tool_discovery.find_tools(str(bench.path))


@pytest.mark.parametrize("change", ["code", "version", "gone"])
def test_a_tool_that_changes_after_the_approval(bench: Tooled, change: str) -> None:
    bench.approved_steps(CALL)
    bound = bench.kept()["programs"]["weather.current (tool)"]
    assert bound["version"] == "weather-tools 1.2"
    assert bound["path"].endswith("/site/weather_tools/now.py")
    if change == "gone":
        bench.write("../site/weather_tools-1.2.dist-info/entry_points.txt", "")
    else:
        bench.install(**({"code": CODE + "\n# changed\n"} if change == "code" else {"version": "1.3"}))
    (line,) = bench.refused(4, "stale-approval", "run")["candidates"]
    words = {
        "code": "has other bytes",
        "version": "was of weather-tools 1.2, is of weather-tools 1.3",
        "gone": "is gone",
    }
    assert line.startswith("weather.current (tool): ")
    assert words[change] in line


def test_a_tool_is_high_unless_the_users_own_settings_rate_it(bench: Tooled) -> None:
    bench.steps(CALL)
    assert bench.data("evaluate")["risk"]["level"] == "HIGH"
    row = '[[execution.risk]]\ntool = "weather.*"\nlevel = "LOW"\nreason = "asks for the weather"\n'
    bench.write(".agent/execplan.toml", row)
    bench.refused(3, "bad-setting", "evaluate")
    bench.write(".agent/execplan.toml", row.replace("LOW", "CRITICAL"))
    assert bench.data("evaluate")["risk"]["level"] == "CRITICAL"


def test_the_users_own_settings_may_lower_it(bench: Tooled) -> None:
    row = '[[execution.risk]]\ntool = "weather.*"\nlevel = "LOW"\nreason = "asks for the weather"\n'
    bench.own(f'sandbox = "off"\n\n{row}')
    bench.plan(steps(FENCE))
    assert bench.data("evaluate")["risk"]["level"] == "LOW"


def test_a_tool_writes_only_in_the_repository(bench: Tooled) -> None:
    need("bwrap")
    bench.own('sandbox = "required"')
    outside = bench.site / "outside.txt"
    bench.approved_steps(
        {"tool": "weather.write", "parameters": {"path": "inside.txt"}},
        {"tool": "weather.write", "parameters": {"path": str(outside)}},
    )
    assert bench.go().status != "completed"
    assert not outside.exists()
    told = [each.fields["ok"] for each in bench.entries() if each.kind == "result"]
    assert told == [True, False]


def test_the_tools_that_are_installed_are_listed(bench: Tooled) -> None:
    assert "weather.current" in bench.type("explain", "tools").out
    listed = bench.data("explain", "tools")["tools"]
    assert {"tool": "weather.current", "value": "weather_tools.now:current", "from": "weather-tools 1.2"} in listed


def test_the_real_program_finds_them_on_its_path(bench: Tooled) -> None:
    bench.approved_steps(CALL)
    result = bench.run("run", bench.name, PYTHONPATH=str(bench.site))
    assert result.exit == 0, result
    bench.steps({"tool": "weather.current", "parameters": {"city": 3}})
    assert bench.run("evaluate", bench.name, PYTHONPATH=str(bench.site)).exit == 1
