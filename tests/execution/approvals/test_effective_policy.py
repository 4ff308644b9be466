"""The policy: a user's own settings may loosen it, a repository's only tighten it."""

from __future__ import annotations

import re
import textwrap
import tomllib

import pytest

from execplan.cli.output import help_topics
from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.core.project.setting_table import load_settings_of
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.evaluation.checks.all_checks import CHECKS
from execplan.execution.policy import ROLLBACK_CAUSES, Policy
from execplan.execution.risk.command_risk import rate_command
from tests.conftest import Folder
from tests.plans import CLEAN

USER_SETTINGS = "config/execplan/config.toml"


@pytest.fixture(autouse=True)
def config(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(repo.path / "config"))


def policy_with(repo: Folder, ours: str = "", own: str = "") -> Policy:
    """The policy with these settings under [execution]."""
    repo.write(".agent/execplan.toml", f"[execution]\n{ours}\n")
    repo.write(USER_SETTINGS, f"[execution]\n{own}\n")
    return effective_policy(project_discovery.find(str(repo.path)))


def policy_error(repo: Folder, ours: str = "", own: str = "") -> ExecplanError:
    with pytest.raises(ExecplanError) as raised:
        policy_with(repo, ours, own)
    assert raised.value.exit == 3
    return raised.value


def test_without_settings_it_is_the_built_in_one(repo: Folder) -> None:
    policy = effective_policy(project_discovery.find(str(repo.path)))
    assert policy._replace(table=None) == Policy()
    assert policy.version == Policy().version == policy_with(repo).version


@pytest.mark.parametrize(
    ("ours", "field", "value"),
    [
        ("person_from = 'LOW'", "person_from", "LOW"),
        ("steps = 5", "steps", 5),
        ("files = 5", "files", 5),
        ("megabytes = 5", "megabytes", 5),
        ("seconds = 5", "seconds", 5),
        ("timeout = 5", "timeout", 5),
        ("memory_mb = 5", "memory_mb", 5),
        ("processes = 5", "processes", 5),
        ("file_mb = 5", "file_mb", 5),
        ("output_kb = 5", "output_kb", 5),
        ("sandbox = 'required'", "sandbox", "required"),
        ("checkpoint_interval = 2", "checkpoint_interval", 2),
        ("pin = 'tree'", "pin", "tree"),
    ],
)
def test_a_repository_tightens(repo: Folder, ours: str, field: str, value: object) -> None:
    policy = policy_with(repo, ours)
    assert getattr(policy, field) == value
    assert policy.version != Policy().version
    assert getattr(policy_with(repo, own=ours), field) == value


@pytest.mark.parametrize(
    ("loose", "field", "value"),
    [
        ("person_from = 'HIGH'", "person_from", "HIGH"),
        ("person_from = 'NEVER'", "person_from", "NEVER"),
        ("steps = 101", "steps", 101),
        ("seconds = 86400", "seconds", 86400),
        ("sandbox = 'off'", "sandbox", "off"),
        ("rollback_on = ['failure']", "rollback_on", ("failure",)),
        ("checks = { syntax = false }", "off", ("syntax",)),
        ("memory_mb = 8192", "memory_mb", 8192),
        ("environment = ['JAVA_HOME', 'CI', 'CI']", "environment", ("CI", "JAVA_HOME")),
        ("environment = []", "environment", ()),
        ("notify = 'notify-send done'", "notify", "notify-send done"),
    ],
)
def test_only_a_user_loosens(repo: Folder, loose: str, field: str, value: object) -> None:
    assert getattr(policy_with(repo, own=loose), field) == value
    error = policy_error(repo, ours=loose)
    assert error.code == "loosened-policy"
    assert "config.toml" in error.hint


@pytest.mark.parametrize(
    ("own", "ours", "field", "value"),
    [
        ("person_from = 'NEVER'", "person_from = 'MEDIUM'", "person_from", "MEDIUM"),
        ("steps = 900", "steps = 50", "steps", 50),
        ("steps = 9", "steps = 50", "steps", 9),
        ("sandbox = 'off'", "sandbox = 'auto'", "sandbox", "auto"),
        ("rollback_on = []", f"rollback_on = {list(ROLLBACK_CAUSES)}", "rollback_on", ROLLBACK_CAUSES),
        ("checks = { syntax = false, paths = false }", "checks = { syntax = true }", "off", ("paths",)),
        ("pin = ''", "pin = 'tree'", "pin", "tree"),
    ],
)
def test_the_tighter_of_both_holds(repo: Folder, own: str, ours: str, field: str, value: object) -> None:
    assert getattr(policy_with(repo, ours, own), field) == value


@pytest.mark.parametrize(
    "wrong",
    [
        "steps = 0",
        "steps = true",
        "steps = '5'",
        "steps = 1001",
        "person_from = 'medium'",
        "person_from = 3",
        "sandbox = []",
        "rollback_on = 'failure'",
        "rollback_on = ['fire']",
        "checks = { syntax = 1 }",
        "checks = ['syntax']",
        "risk = { program = 'x' }",
        "memory_mb = 0",
        "output_kb = 100001",
        "environment = 'CI'",
        "environment = ['A=B']",
        "environment = [3]",
        "notify = 3",
    ],
)
def test_a_value_that_is_none(repo: Folder, wrong: str) -> None:
    assert policy_error(repo, ours=wrong).code == "bad-setting"
    assert policy_error(repo, own=wrong).code == "bad-setting"


def test_an_unknown_name_is_refused_with_the_nearest(repo: Folder) -> None:
    for keyword in ("ours", "own"):
        assert policy_error(repo, **{keyword: "step = 5"}).hint == "did you mean steps?"
        error = policy_error(repo, **{keyword: "checks = { sintax = true }"})
        assert (error.code, error.hint) == ("unknown-setting", "did you mean syntax?")


def test_what_is_told_at_the_end_of_a_run_decides_nothing(repo: Folder) -> None:
    assert policy_with(repo, own="notify = 'x'").version == Policy().version


def test_what_commands_get_to_see_is_approved(repo: Folder) -> None:
    assert policy_with(repo, own="environment = ['CI']").version != Policy().version
    assert policy_with(repo, own="environment = []").version == Policy().version


def test_rows_of_risk(repo: Folder) -> None:
    row = "[[execution.risk]]\nprogram = 'deploy'\nlevel = '{}'\nreason = 'it goes live'\n"
    raised = policy_with(repo, row.format("CRITICAL"))
    assert raised.risk_table.version != Policy().risk_table.version
    assert raised.version != Policy().version
    lowered = "[[execution.risk]]\nprogram = 'git'\nlevel = 'LOW'\nreason = 'we trust it'\n"
    assert policy_with(repo, own=lowered).version != Policy().version


def test_the_page_shows_the_defaults(repo: Folder) -> None:
    page = help_topics.topic_text("policy")
    lines = [line.strip().partition("   ")[0] for line in page.splitlines() if re.match(r"    \w+ = ", line)]
    defaults = tomllib.loads("\n".join([re.sub(r"  .*", "", line) for line in lines]))
    policy = Policy()._asdict()
    for name in set(defaults) - {"checks", "notify"}:
        assert defaults[name] == (list(policy[name]) if isinstance(policy[name], tuple) else policy[name]), name
    assert set(defaults) == set(load_settings_of("execution")) - {"risk"}
    assert set(CHECKS) <= set(page.split())


def test_own_settings_know_no_other_table(repo: Folder) -> None:
    repo.write(USER_SETTINGS, "[exection]\n")
    with pytest.raises(ExecplanError, match="unknown setting exection"):
        effective_policy(project_discovery.find(str(repo.path)))


def test_every_verb_refuses_a_repository_that_loosens(repo: Folder) -> None:
    repo.write(".agent/execplan.toml", "[execution]\nsandbox = 'off'\n")
    result = repo.run("list")
    assert result.exit == 3
    assert "a repository can only tighten the policy, but execution.sandbox = 'off'" in result.err


def test_rows_of_risk_as_the_help_topic_prints_them(repo: Folder) -> None:
    page = help_topics.topic_text("risk")
    row = textwrap.dedent(page[page.index("    [[") :].split("\n\n")[0])
    repo.write(".agent/execplan.toml", row)
    assert (
        rate_command("deploy", effective_policy(project_discovery.find(str(repo.path))).risk_table).level == "CRITICAL"
    )
    repo.write(".agent/execplan.toml", "")
    repo.write(USER_SETTINGS, row.replace("CRITICAL", "LOW"))
    assert rate_command("deploy", effective_policy(project_discovery.find(str(repo.path))).risk_table).level == "LOW"


def own_error(repo: Folder) -> str:
    with pytest.raises(ExecplanError) as raised:
        effective_policy(project_discovery.find(str(repo.path)))
    return raised.value.hint


def test_a_setting_outside_its_table_is_refused_with_the_table(repo: Folder) -> None:
    row = "[[risk]]\nprogram = 'deploy'\nlevel = 'CRITICAL'\nreason = 'it goes live'\n"
    repo.write(".agent/execplan.toml", row)
    assert "did you mean execution.risk?" in repo.run("list").err
    repo.write(".agent/execplan.toml", "")
    repo.write(USER_SETTINGS, row)
    assert "did you mean execution.risk? Write [[execution.risk]]" in own_error(repo)
    repo.write(USER_SETTINGS, "steps = 200\n")
    assert "did you mean execution.steps?" in own_error(repo)


def test_the_user_raises_the_limit_of_steps(repo: Folder) -> None:
    lines = "\n".join([f"make test-{number}" for number in range(150)])
    repo.plan(CLEAN.replace("## Validation and", f"```sh {{#a}}\n{lines}\n```\n\n## Validation and"))
    assert repo.run("evaluate").exit == 1
    repo.write(USER_SETTINGS, "[execution]\nsteps = 200\n")
    assert repo.run("evaluate", XDG_CONFIG_HOME=str(repo.path / "config")).exit == 0


def test_backups_are_kept_as_long_as_the_user_says(repo: Folder) -> None:
    assert policy_with(repo, own="backup_days = 3").backup_days == 3
    assert policy_with(repo, own="backup_days = 3").version == Policy().version
    assert policy_error(repo, ours="backup_days = 3").code == "loosened-policy"
