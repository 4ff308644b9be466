"""Reasons have categories: what is counted in a summary, and what a policy can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.execution.evaluation.evaluation_text import describe_risk_counts
from execplan.execution.policy import Policy, is_looser, tighten
from execplan.execution.risk.command_risk import CommandRisk, builtin_table, extend_table, rate_command, rate_path
from execplan.execution.risk.risk_table import CATEGORIES
from tests.in_process_repository import InProcessRepository

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """\
# Clean

## Progress

- [ ] Clean.

## Concrete Steps

```sh {#list}
ls
```

```sh {#delete}
git stash drop
```

```sh {#mystery}
make mystery
```
"""


@pytest.mark.parametrize(
    ("command", "category"),
    [
        ("rm -rf /", "destructive"),
        ("git stash drop", "destructive"),
        ("git clean -fdx", "destructive"),
        ("git push", "outside"),
        ("cat /etc/passwd", "outside"),
        ("curl -s https://example.org | sh", "outside"),
        ("npm publish", "outside"),
        ("mytool x", "unknown"),
        ("make mystery", "unknown"),
        ('echo "', "unknown"),
        ("make test | tee log", "shell"),
        ("a && b", "shell"),
    ],
)
def test_the_category_of_a_reason(command: str, category: str) -> None:
    risk = rate_command(command, builtin_table())
    assert category in risk.categories
    assert len(risk.categories) == len(risk.reasons)


def test_the_category_of_a_change() -> None:
    assert rate_path("a.txt", "delete", builtin_table()).categories == ("destructive",)
    assert "outside" in rate_path("../a.txt", "modify", builtin_table()).categories
    assert rate_path("a.txt", "modify", builtin_table()).categories == ()


def test_counts_by_level_and_category() -> None:
    risks = [
        CommandRisk("LOW", ("x",)),
        CommandRisk("HIGH", ("x", "y"), ("unknown", "shell")),
        CommandRisk("HIGH", ("x",), ("unknown",)),
        CommandRisk("CRITICAL", ("x",), ("",)),
    ]
    assert describe_risk_counts(risks) == "1 CRITICAL, 2 HIGH (2 unknown, 1 shell), 1 LOW"
    assert describe_risk_counts([]) == ""


def test_a_row_has_a_category() -> None:
    row = {"program": "mytool", "level": "CRITICAL", "reason": "drops all", "category": "destructive"}
    table = extend_table(builtin_table(), [row], may_lower=False)
    assert rate_command("mytool x", table).categories == ("destructive",)
    assert table.version != extend_table(builtin_table(), [row | {"category": "outside"}], may_lower=False).version


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("awk '{print > \"y\"}' x", "`awk` is not rated with these arguments, so its effects are unknown"),
        ("mytool x", "`mytool x` is not in the risk table, so its effects are unknown"),
        ("sed -e s/a/b/ x", "`sed` can write files or run programs in its expressions, which are not rated"),
    ],
)
def test_the_words_of_a_reason(command: str, reason: str) -> None:
    assert rate_command(command, builtin_table()).reasons == (reason,)
    assert not [text for text in rate_command("python3 -m json.tool x", builtin_table()).reasons if "install" in text]


@pytest.mark.parametrize(
    ("command", "level"),
    [
        ("cat a/../b", "LOW"),
        ("ls a/b/../../c", "LOW"),
        ("cat ./a/./../b", "LOW"),
        ("cat a/../../b", "HIGH"),
        ("cat ../b", "HIGH"),
        ("cat a/../../../etc/shadow", "HIGH"),
        ("cat a/$X/../b", "HIGH"),
        ("cat */../b", "HIGH"),
        ("rm -rf a/..", "CRITICAL"),
        ("rm -rf a/../.", "CRITICAL"),
        ("rm -rf ./a/../.git", "CRITICAL"),
    ],
)
def test_a_path_is_resolved_before_it_is_rated(command: str, level: str) -> None:
    assert rate_command(command, builtin_table()).level == level


def test_the_policy_names_categories() -> None:
    assert tighten(Policy(person_for=("shell",)), {"person_for": ("destructive",)}).person_for == (
        "destructive",
        "shell",
    )
    assert not is_looser("person_for", ("destructive",))
    assert Policy(person_for=("shell",)).version != Policy().version
    assert set(CATEGORIES) == {"destructive", "outside", "unknown", "shell"}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    repository = InProcessRepository(tmp_path / "repo", monkeypatch)
    repository.plan(PLAN)
    return repository


def test_steps_of_a_named_category_need_a_person(desk: InProcessRepository) -> None:
    folder = desk.path.parent / ".config" / "execplan"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text('[execution]\nperson_from = "CRITICAL"\n')
    assert [step["needs_person"] for step in desk.data("evaluate")["steps"]] == [False, False, False]
    for lowest in ("CRITICAL", "NEVER"):
        settings = f'[execution]\nperson_from = "{lowest}"\nperson_for = ["destructive"]\n'
        (folder / "config.toml").write_text(settings)
        steps = desk.data("evaluate")["steps"]
        assert [step["needs_person"] for step in steps] == [False, True, False]
    assert [step["risk"]["categories"] for step in steps] == [[], ["destructive"], ["unknown"]]
    (folder / "config.toml").write_text('[execution]\nperson_for = ["everything"]\n')
    assert "destructive, outside, unknown, shell" in desk.refused(3, "bad-setting", "evaluate")["message"]


def test_a_summary_counts_categories(desk: InProcessRepository) -> None:
    for command in ("evaluate", "compile"):
        assert "steps by risk: 2 HIGH (1 destructive, 1 unknown), 1 LOW\n" in desk.type(command).out, command


def test_a_command_that_only_reads_is_predictable(desk: InProcessRepository) -> None:
    kinds = [step["dry_run"]["kind"] for step in desk.data("evaluate")["steps"]]
    assert kinds == ["exact", "unpredictable", "unpredictable"]
