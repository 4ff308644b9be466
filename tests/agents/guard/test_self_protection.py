"""Nothing frees an agent from the guard: not our verbs, not a file that decides, by no name and in no program's form, planned or not."""

from __future__ import annotations

import json
import os
import pwd
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
import pytest

import execplan
from execplan.agents.guard import read_policy, self_protection
from execplan.agents.guard.execplan_commands import ALLOWED_COMMANDS, DENIED_COMMANDS, GLOBAL_FLAGS
from execplan.cli.app import load_command
from execplan.cli.commands import COMMANDS as VERBS_OF_ALL
from execplan.execution.permission import ALLOW, DENY
from tests.agents.guard.call_sandbox import CallSandbox

if TYPE_CHECKING:
    from tests.conftest import Folder

COMMANDS = """\
execplan approve
execplan approve 2026-01-01_parser --digest 12345678
execplan --json approve
execplan -C . approve
execplan install guard
execplan uninstall guard --force
execplan init
execplan edit
execplan run
execplan resume --answer go
execplan rollback
execplan guard
execplan done 1 --verify --yes
execplan done 1 --verify -y
execplan archive --force --reason x
execplan archive --rewrite-links
execplan rename x y --rewrite-links
execplan restore x --rewrite-links
execplan set Progress @/etc/passwd
execplan set Progress @.env
execplan merge a b c
execplan attach /etc/passwd
execplan attach .env
execplan attach src/app.py ../x
execplan new X -i
execplan new --from /etc/passwd
execplan new --from .env
execplan undo --any
execplan redo --any
execplan commit --as ann
execplan done 1 --lock-timeout 100
execplan lint --fix --unsafe-fixes
execplan drop 2026-01-01_parser
execplan lint --rules=x.py
execplan lint --baseline x
execplan doctor --fix
execplan audit --accept reason
execplan stats --textfile x
execplan compile --out x
execplan compile --enhance
execplan compile --from /etc/passwd
execplan --unknown approve
execplan -C /tmp show
execplan -C ../other status
execplan board --project ../other
execplan search parser --project . --project /
execplan next --all-projects
execplan stats --all-projects
execplan show /etc/passwd
execplan note x --excerpt @/etc/passwd
execplan note x --excerpt @.env
execplan note x --excerpt @../x
execplan report build --status completed --result x --evidence /etc/passwd
execplan done 1 -p /elsewhere/plan.md
execplan show > .agent/x
execplan show; rm -r .git
EXECPLAN_PLAN=other execplan show
HOME=/tmp execplan show
XDG_CONFIG_HOME=/tmp execplan show
env execplan show
env -i execplan approve
sudo execplan approve
command execplan approve
nohup execplan approve
timeout 5 execplan approve
xargs execplan approve
echo y | execplan approve
yes | execplan approve
sh -c 'execplan approve'
bash -lc "execplan approve"
eval execplan approve
ls $(execplan approve)
ls `execplan approve`
find . -exec execplan approve {} +
(execplan approve)
if true; then execplan approve; fi
execplan approve &
/usr/local/bin/execplan approve
./execplan show
.venv/bin/execplan approve
python -m execplan approve
python3 -m execplan show
python3.11 -I -m execplan approve
python3 -m execplan.cli.app approve
uv run execplan approve
uvx execplan approve
pipx run execplan approve
"execplan" 'approve'
exec\\plan approve
e'x'ecplan approve
python3 -c "import execplan.cli.app as a; a.run(['approve'])"
python3 -c "from execplan import engine"
node -e "require('child_process').exec('execplan approve')"
perl -e 'system("execplan approve")'
script -c "execplan approve"
tmux new 'execplan approve'
claude -p 'do it' --dangerously-skip-permissions
claude mcp add x
codex exec x
npx claude
rm -r .agent
rm -rf .agent/execplans
rm .agent/execplan.toml
mv .agent elsewhere
mv x .agent/execplan.toml
cp x .agent/execplan.toml
cp x ./src/../.agent/execplan.toml
cp x {root}/.agent/execplan.toml
cp x .AGENT/EXECPLAN.TOML
ln -s x .agent/execplan.toml
tee .agent/execplan.toml
echo x > .agent/execplan.toml
echo x >> .claude/settings.json
echo x > .claude/settings.local.json
sed -i s/a/b/ .claude/settings.json
rm -rf .claude
rm .git/hooks/pre-commit
cp x .git/hooks/pre-commit
cp x .git/config
dd of=.git/config
rm -rf .git
mv .git x
cp x .codex/hooks.json
cp x .mcp.json
cp x .agents/skills/execplan/SKILL.md
rm -r .agents/skills
echo x >> .agents/skills/ours/SKILL.md
cp x {user}/.agents/skills/ours/SKILL.md
cp x .agent/templates/plan.md
cp x .agent/execplans/artifacts/2026-01-01_parser/approvals/a.json
cp x .agent/execplans/artifacts/2026-01-01_parser/execution-plan.json
cp x .agent/execplans/artifacts/2026-01-01_parser/ledger.jsonl
rm -r .agent/execplans/artifacts/2026-01-01_parser/runs
cp x {config}/config.toml
cp x {config}/key
rm -r {config}
rm -r {state}
cp x {user}/.claude/settings.json
cp x {user}/.claude.json
cp x {user}/.codex/config.toml
cp x link/settings.json
cp x linked.toml
cp x hard.toml
chmod -R 777 .
rm -rf .
rm -rf ..
git config core.hooksPath x
git config set submodule.x.update '!x'
git config trailer.x.cmd y
git -c remote.origin.vcs=x fetch
git -c 'Interactive.diffFilter=x' add -p
git config --global core.fsmonitor x
git -c core.hooksPath=x commit -m x
git -c alias.x='!sh' x
git --exec-path=. status
git rm -r .agent
git mv .claude x
rm pyproject.toml
git rm pyproject.toml
git restore pyproject.toml
""".splitlines()

FINE = """\
make parser
make test
pytest -q tests
ruff check .
pip install .
cp src/app.py src/other.py
mv src/app.py src/other.py
rm -r build
rm -rf src/build
git add -A
git commit -m "Use execplan approve"
git checkout main
git -c user.name=x commit -m x
git config --get user.name
cat .agent/execplan.toml
cat .claude/settings.json
ls .git/hooks
grep -rn execplan README.md
grep "execplan approve" README.md
python3 -m unittest -q
python3 scripts/x.py --plan .agent/execplans/2026-01-01_parser.md
sh -c 'make parser'
ruff check execplan/agents
echo x > src/out
cargo build --release
execplan
execplan show
execplan show --json 2026-01-01_parser
execplan -q status
execplan --json next
execplan -C src status
execplan board --project . --project src
execplan handoff
execplan handoff 2026-01-01_parser --json
execplan report build -p 2026-01-01_parser --status completed --result 'It is built, and "tested".'
execplan report build -p parser --status failed --result=x --evidence src/app.py
execplan done 1 -p parser
execplan done a1b2 c3d4
execplan add 'Write it' --after 2
execplan decide 'Use a table' --why 'It is shorter.'
execplan discover x --evidence @src/app.py
execplan note x --excerpt @@home
execplan outcome x
execplan reopen 2
execplan split 2 --done a --remaining b
execplan reword 2 'Other words'
execplan replan -p parser --reason 'It is otherwise.'
execplan lint
execplan lint .agent/execplans/2026-01-01_parser.md --json
execplan explain approve
execplan help approve
execplan help --all
execplan --help-all
execplan evaluate
execplan compile --check
execplan audit --verify
execplan runs
execplan schema execution-plan
execplan doctor
execplan next --claim
execplan next 2026-01-01_parser --claim
execplan next --claim -p parser
execplan next --claim=robot --for 2h
execplan next --release robot --to other
execplan show --run
execplan show && execplan next
execplan show 2>/dev/null; execplan next
cd src && execplan show
""".splitlines()


@pytest.fixture
def sandbox(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> CallSandbox:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, repo.env[name])
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    repository = CallSandbox(repo)
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    os.symlink(".claude", repo.path / "link")
    os.symlink(".agent/execplan.toml", repo.path / "linked.toml")
    os.link(repo.path / ".claude/settings.json", repo.path / "hard.toml")
    return repository


def names(sandbox: CallSandbox) -> dict[str, str]:
    user_folder = sandbox.folder.path.parent
    return {
        "root": sandbox.root,
        "user": str(user_folder),
        "config": str(user_folder / ".config/execplan"),
        "state": str(user_folder / "state-home/execplan"),
    }


def fill_names(sandbox: CallSandbox, text: str) -> str:
    for name, value in names(sandbox).items():
        text = text.replace(f"{{{name}}}", value)
    return text


def escape_reason(sandbox: CallSandbox, call: Any) -> str:
    return self_protection.escape_reason(call, sandbox.around, sandbox.project)


def test_a_command_that_would_free_is_told(sandbox: CallSandbox) -> None:
    for line in COMMANDS:
        call = sandbox.command(fill_names(sandbox, line))
        assert escape_reason(sandbox, call), line
        assert not self_protection.is_execplan_call(call, sandbox.around), line


def test_a_directory_with_skills_is_not_moved(sandbox: CallSandbox) -> None:
    (sandbox.folder.path / ".agents/execplans").mkdir(parents=True)
    assert not escape_reason(sandbox, sandbox.command("mv .agents x"))
    (sandbox.folder.path / ".agents/skills").mkdir()
    assert escape_reason(sandbox, sandbox.command("mv .agents x"))
    assert not escape_reason(sandbox, sandbox.command("cat .agents/skills/execplan/SKILL.md"))


def test_other_commands_are_none_of_these(sandbox: CallSandbox) -> None:
    for line in FINE:
        call = sandbox.command(line)
        assert not escape_reason(sandbox, call), (line, escape_reason(sandbox, call))
        assert self_protection.is_execplan_call(call, sandbox.around) == all(
            [command.strip().startswith("execplan") for command in line.removeprefix("cd src && ").split("&&")]
        ), line


def test_what_reads_may_stand_beside_ours(sandbox: CallSandbox) -> None:
    for line in (
        "execplan show | head -5",
        "git status && execplan next",
        "cat README.md | execplan note x --excerpt -",
    ):
        assert read_policy.decide_read(sandbox.command(line), sandbox.around, "inside").kind == ALLOW, line
        assert not escape_reason(sandbox, sandbox.command(line))
    assert (
        read_policy.decide_read(
            sandbox.command("cat .env | execplan note x --excerpt -"), sandbox.around, "inside"
        ).kind
        == DENY
    )


WRITES = """\
.agent/execplan.toml
./.agent/execplan.toml
src/../.agent/execplan.toml
{root}/.agent/execplan.toml
.Agent/ExecPlan.toml
sub/.agent/execplan.toml
.agent/.state/x
.git/config
.git/hooks/pre-commit
.GIT/hooks/pre-push
sub/.git/config
.git
.claude/settings.json
.claude/settings.local.json
.CLAUDE/settings.json
.claude/hooks/x.sh
.claude/skills/x/SKILL.md
.claude/agents/x.md
sub/.claude/settings.json
.codex/hooks.json
.codex/config.toml
.mcp.json
.cursor/hooks.json
.gemini/settings.json
sub/.opencode/plugin/x.js
.vscode/mcp.json
.github/hooks/x.json
.clinerules/hooks/PreToolUse
{user}/.cursor/hooks.json
.agents/skills
.agents/skills/execplan/SKILL.md
.Agents/Skills/x/run.sh
sub/.agents/skills/x/SKILL.md
.agents/plugins/marketplace.json
{user}/.agents/skills/x/SKILL.md
.agent/templates/plan.md
.agent/execplans/artifacts/2026-01-01_parser/execution-plan.json
.agent/execplans/artifacts/2026-01-01_parser/approvals/a.json
.agent/execplans/artifacts/2026-01-01_parser/ledger.jsonl
.agent/execplans/artifacts/2026-01-01_parser/runs/x/journal.jsonl
link/settings.json
link/new.json
linked.toml
hard.toml
{config}/config.toml
{config}/key
{state}/approvals/x.used
{user}/.claude/settings.json
{user}/.claude.json
{user}/.codex/hooks.json
~/.config/execplan/config.toml
~/.claude/settings.json
{program}/agents/guard/own.py
.claude\u200b/settings.json
.agent/execplan.toml\u202e
""".splitlines()


def forms(path: str, cwd: str) -> list[tuple[str, dict[str, Any]]]:
    """A file written, changed and deleted, in the form of each program."""
    claude = {"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse"}
    codex = {**claude, "turn_id": "t", "model": "m", "tool_name": "apply_patch"}
    swap = {"file_path": path, "old_string": "a", "new_string": "b"}
    patches = [f"*** Add File: {path}\n+x", f"*** Update File: {path}\n@@\n-a\n+b", f"*** Delete File: {path}"]
    patches += [f"*** Update File: src/app.py\n*** Move to: {path}\n@@\n-a\n+b"]
    return [
        ("claude", {**claude, "tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}}),
        ("claude", {**claude, "tool_name": "Edit", "tool_input": swap}),
        ("claude", {**claude, "tool_name": "mcp__files__write_file", "tool_input": {"path": path, "content": "x"}}),
        ("claude", {**claude, "tool_name": "NotebookEdit", "tool_input": {"notebook_path": path, "new_source": "x"}}),
        ("any_program", {"tool": "write", "path": path, "content": "x", "cwd": cwd}),
        ("any_program", {"tool": "edit", "path": path, "old": "a", "new": "b", "cwd": cwd}),
        ("any_program", {"tool": "delete", "path": path, "cwd": cwd}),
        ("any_program", {"tool": "tool", "name": "x", "parameters": {"deep": [{"to": path}]}, "cwd": cwd}),
        *[
            ("codex", {**codex, "tool_input": {"command": f"*** Begin Patch\n{patch}\n*** End Patch"}})
            for patch in patches
        ],
    ]


def test_a_file_that_decides_is_never_changed(sandbox: CallSandbox) -> None:
    paths = [fill_names(sandbox, line).replace("{program}", os.path.dirname(execplan.__file__)) for line in WRITES]
    for program, request in [form for path in paths for form in forms(path, sandbox.root)]:
        call = import_module(f"execplan.agents.guard.{program}").read(request)
        assert escape_reason(sandbox, call), request


def test_other_files_may_be_changed(sandbox: CallSandbox) -> None:
    fine = [
        "src/app.py",
        "new.py",
        ".github/workflows/x.yml",
        "docs/.claude.md",
        "src/execplan.toml",
        ".gitignore",
        ".agent/PLANS.md",
    ]
    for path in fine:
        for program, request in forms(path, sandbox.root):
            assert not escape_reason(sandbox, import_module(f"execplan.agents.guard.{program}").read(request)), request


def test_of_a_pyproject_the_settings_stay(sandbox: CallSandbox) -> None:
    text = (sandbox.folder.path / "pyproject.toml").read_text()
    for call in (
        sandbox.edit("pyproject.toml", "'app'", "'application'"),
        sandbox.write("pyproject.toml", text + "\n[tool.other]\nx = 1\n"),
        sandbox.write("pyproject.toml", text.replace("commit = false", "commit  =  false  # no")),
        sandbox.write("sub/pyproject.toml", "[project]\nname = 'sub'\n"),
    ):
        assert not escape_reason(sandbox, call)
    for call in (
        sandbox.edit("pyproject.toml", "commit = false", "commit = true"),
        sandbox.edit("./pyproject.toml", "[tool.execplan]", "[tool.other]"),
        sandbox.edit("pyproject.toml", "'app'\n", "'app'\n[tool.execplan.execution]\nreads = 'none'\n"),
        sandbox.edit("pyproject.toml", "is not there", "x"),
        sandbox.edit("pyproject.toml", "'app'", "'app"),
        sandbox.write("pyproject.toml", "[project]\n"),
        sandbox.write("pyproject.toml", text.replace("[project]", "tool.execplan.x = 1\n[project]")),
        sandbox.write("sub/pyproject.toml", "[tool.execplan]\nplans = 'x'\n"),
        sandbox.write("sub/pyproject.toml", "tool.execplan.plans = 'x'\n"),
        sandbox.write("sub/pyproject.toml", "tool = {execplan = {plans = 'x'}}\n"),
        sandbox.delete("pyproject.toml"),
    ):
        assert escape_reason(sandbox, call), call


def test_the_folder_of_a_call_counts(sandbox: CallSandbox) -> None:
    inner = f"{sandbox.root}/.claude"
    assert escape_reason(sandbox, sandbox.command("cp x settings.json", inner))
    assert escape_reason(sandbox, sandbox.command("cd .claude && cp x settings.json"))
    assert escape_reason(sandbox, sandbox.write("settings.json")._replace(cwd=inner))
    assert not escape_reason(sandbox, sandbox.command("cd src && cp x settings.json"))


def test_who_changes_the_environment_does_not_hide_the_user_from_it(
    sandbox: CallSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = pwd.getpwuid(os.getuid()).pw_dir
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(sandbox.folder.path.parent / "elsewhere"))
    for name in (
        ".config/execplan/key",
        ".local/state/execplan/approvals/x",
        ".claude/settings.json",
        ".codex/hooks.json",
    ):
        assert escape_reason(sandbox, sandbox.write(f"{login}/{name}"))
        assert read_policy.decide_read(sandbox.read(f"{login}/{name}"), sandbox.around, "anywhere").kind == DENY


TOOLS: list[tuple[str, dict[str, object]]] = [
    ("mcp__execplan__approve", {}),
    ("mcp__shell__run", {"command": "execplan approve"}),
    ("mcp__shell__run", {"command": "cd x; execplan uninstall guard"}),
    ("mcp__shell__run", {"argv": ["sh", "-c", "execplan approve"]}),
    ("mcp__files__move", {"from": "x", "to": ".claude/settings.json"}),
    ("mcp__files__write", {"uri": "file://{root}/.claude/settings.json"}),
    ("mcp__files__write", {"uri": "file:///{root}/%2eclaude/settings.json"}),
    ("mcp__files__write", {"uri": "FILE://localhost{root}/%252eclaude/settings.json"}),
    ("mcp__files__write", {"uri": "file:{root}/.claude/settings.json"}),
    ("mcp__files__write", {"uri": "vscode://file{root}/.claude/settings.json"}),
    ("mcp__files__write", {"path": ".claude/settings.json\n"}),
    ("mcp__files__write", {"path": " .agent/execplan.toml "}),
    ("mcp__files__write", {"path": ".agent%2Fexecplan.toml"}),
    ("mcp__files__write", {"path": ".agent\\execplan.toml"}),
    ("mcp__files__write", {"path": "$PWD_OF_TEST/.agent/execplan.toml"}),
    ("mcp__files__write", {"directory": ".agent", "name": "execplan.toml"}),
    ("mcp__files__write", {"name": "execplan.toml", "in": {"directory": ".agent"}}),
    ("mcp__files__write", {"root": "{root}", "directory": ".agent/", "name": "execplan.toml"}),
    ("mcp__files__write", {"directory": "src", "name": "../.agent/execplan.toml"}),
    ("mcp__files__write", {"parts": [".agent", "execplan.toml"]}),
    ("mcp__files__write", {"base": ".agent", "files": ["x", "execplan.toml"]}),
    ("mcp__files__write", {"base": "agent-link", "files": {"execplan.toml": "x = 1"}}),
    ("mcp__files__write", {f"field{number}": f"x{number}" for number in range(40)}),
    ("mcp__git__commit", {"files": {".git/hooks/pre-commit": "x"}}),
    ("PowerShell", {"command": "execplan approve"}),
]


def test_a_tool_does_not_do_it_either(sandbox: CallSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD_OF_TEST", sandbox.root)
    (sandbox.folder.path / "agent-link").symlink_to(".agent")
    for name, arguments in TOOLS:
        filled_arguments = json.loads(json.dumps(arguments).replace("{root}", sandbox.root))
        assert escape_reason(sandbox, sandbox.tool(name, **filled_arguments)), (name, filled_arguments)


def test_other_tools_are_left_alone(sandbox: CallSandbox) -> None:
    for arguments in (
        {"url": "https://example.com/x/.claude/settings.json"},
        {"owner": "ann", "repo": "app", "title": "Write .claude/settings.json", "body": "100% of it\nfails"},
        {"directory": "src", "name": "app.py", "labels": [f"l{number}" for number in range(100)]},
        {"query": "50%", "limit": 3},
    ):
        assert not escape_reason(sandbox, sandbox.tool("mcp__other__do", **arguments)), arguments


def test_every_command_and_every_option_is_decided_upon() -> None:
    """A new one is neither allowed nor kept from agents until somebody says so."""
    assert set(ALLOWED_COMMANDS) & set(DENIED_COMMANDS) == set()
    for name in VERBS_OF_ALL:
        if name not in ALLOWED_COMMANDS:
            assert name in DENIED_COMMANDS, name
            continue
        rules, command = ALLOWED_COMMANDS[name], load_command(name)
        flags = {flag.removesuffix("?"): flag.endswith("?") for flag in rules.flags.split()}
        values = {*rules.value_options.split(), *rules.file_options.split()}
        denied = set(rules.denied_options.split())
        for param in command.params:
            if isinstance(param, click.Option) and param.name not in ("folder", "quiet", "verbose", "as_json"):
                for option in param.opts + param.secondary_opts:
                    assert sum([option in option_set for option_set in (flags, values, denied)]) == 1, (name, option)
                    takes_value = not param.is_flag and not isinstance(param.flag_value, str)
                    assert option in denied or (option in values) == takes_value, (name, option)
                    assert not flags.get(option) or not param.is_flag, (name, option)
        known_options = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
        assert set(flags) | values | denied <= known_options | set(GLOBAL_FLAGS), (
            name,
            (set(flags) | values | denied) - known_options,
        )
