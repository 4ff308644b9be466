"""Scripts of reads: everyday calls are allowed before an approval, and what does more by any construct is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan.agents.guard.guard_context import PlanlessContext
from execplan.agents.guard.guard_decision import GuardDecision, decide
from execplan.agents.guard.typed_command import remove_here_documents
from execplan.execution.permission import ALLOW, DENY
from tests.agents.guard.call_sandbox import CallSandbox
from tests.agents.guard.test_honest_calls import HonestCallRepository
from tests.conftest import Folder

EVERYDAY = Path(__file__).with_name("everyday.txt").read_text().splitlines()
MIN_ALLOWED = 56
SCRIPTS = [
    "wc -l $(git ls-files '*.py')",
    "find . -name '*.py' -exec wc -l {} \\;",
    "find src -name '*.py' -print0 | xargs -0 wc -l",
    "git ls-files '*.py' | xargs -I{} head -3 {}",
    'for f in README.md src/app.py; do wc -l "${f}"; done',
    "git ls-files '*.py' | while read -r f; do wc -l \"$f\"; done",
    "if [ -f README.md ]; then cat README.md; else echo none; fi",
    "cd src && for f in *.py; do wc -l $f; done",
    "cat <<'END'\nrm x; $(rm x)\nEND",
    "cat <<END\nplain text\nEND\nls",
    "execplan set 'Plan of Work' - <<'END'\nFirst `make`, then $X.\n\n- [ ] a\nEND",
    "execplan set Purpose - <<-END && git status\n\tIt works.\n\tEND\n",
]
HOSTILE = [
    "wc $(rm x)", "find . -exec rm {} +", "find . -exec sh -c 'x' \\;", "find . -exec wc {} + -delete", "find . -exec wc {} + -exec rm {} +",
    "find . -name .env -exec cat {} +", "find . -name '.en?' -exec cat {} +", "find . -name .env | xargs cat", "find . -regex '.*/.en.' | xargs cat",
    "git ls-files | grep env | xargs cat", "echo .env | xargs cat", "printf .env | xargs cat", "cat list | xargs cat", "git log -p | xargs cat",
    "ls | xargs rm", "ls | xargs sort", "ls | xargs sh -c", "ls | xargs -I{} sh -c '{}'", "ls | xargs -I wc rm wc", "ls | xargs -a list wc",
    "git ls-files | xargs git diff", "ls | xargs xargs rm", "ls | xargs env rm", "for f in *; do $f; done", "for f in rm; do $f x; done",
    'for f in .env; do cat "$f"; done', 'for f in .en?; do cat "$f"; done', 'for f in src/*.py; do python "$f"; done',
    'for f in a; do wc "$f" > out; done', "for f in a; do ls; done > out", "for f in a; do cat; done < .env", 'while read f; do rm "$f"; done',
    'git ls-files | while read -r f; do rm "$f"; done', "git ls-files | while read -r f; do $f; done", "git ls-files | while read -r PATH; do ls; done",
    "for PATH in .; do ls; done", "for LD_PRELOAD in ./x.so; do ls; done", "for GIT_DIR in sub; do git status; done", "cat $(cat list)", "cat $(echo .env)",
    'cat "$(git ls-files | grep env)"', "echo $(rm x)", 'echo "$(rm x)"', 'echo "${HOME}$(rm x)"', 'echo "$SECRET"', "echo ${X:=$(rm x)}", "echo `rm x`",
    "cat <(rm x)", "cat < <(rm x)", "ls > >(rm x)", "cat <<END\n$(rm x)\nEND", "cat <<END\n`rm x`\nEND", "wc -l < .env", 'for f in x; do wc "$f"; done; rm x',
    "f=x; cat $f", "x=$(rm y)", "if rm x; then ls; fi", "if ls; then rm x; fi", "case x in x) rm x;; esac", "x() { rm y; }; x", "function x { rm y; }", "( rm x )",
    "{ rm x; }", "! rm x", "ls & rm x", "ls |& sh", "wc -l $(find . -delete)", "wc -l $(find . -name x -exec rm {} +)", 'for f in $(rm x); do wc "$f"; done',
    "for wc in rm; do $wc -l; done", "for f in '-o out'; do sort $f; done", 'for f in -oout; do sort "$f"; done', "sed -n 1p $(git ls-files)",
    "sort $(git ls-files)", "printf -v PATH x; ls", "read PATH", "ls | read PATH", "cat $((1))", "for ((;;)); do rm x; done", "select f in a; do rm x; done",
    "cat <<'END'\nx\nEND\nrm x", "cat <<'END'; rm x\nx\nEND", "cat <<'END' | sh\nrm x\nEND", "sh <<'END'\nrm x\nEND", "python3 - <<'END'\nx\nEND",
    "execplan approve - <<'END'\nx\nEND", "execplan set Purpose - <<END\n$(rm x)\nEND", "cat > out <<'END'\nx\nEND", "cat <<'END'\nx\n END\nrm x\nEND\nrm y",
    "cd sub; rm x", "cd / && for f in etc; do wc $f; done", "for f in /etc/passwd; do cat $f; done", "wc $(find / -name x)",
]  # fmt: skip


EXCLUDING = """\
find . -name '*.py' -not -path './.git/*' -exec head -5 {} +
find . -name '*.py' ! -path '*/.git/*' -not -path './.venv/*' | xargs head -5
find . -path ./.git -prune -o -name '*.py' -exec head -5 {} +
""".splitlines()
PRINTING_SECRETS = """\
git grep ''
git grep -n x
git grep -l '^A=x'
git grep -- x
git grep x HEAD
git grep x -- . src
git grep -e x -e y
cd src && git grep x -- ':/'
git log -p
git log -p -2 --oneline
git log -Gx
git log -Sx --format=%h
git log -p --all -- config
git diff
git diff HEAD~1
git diff -Gx --stat
git diff --stat -p
git diff -M HEAD~1
git show HEAD~1
git show -p --stat HEAD~1
git diff-tree -p HEAD~1
git stash show -p
git --no-pager show HEAD~1
git cat-file -p BLOB
git show BLOB
git show --stat BLOB
git diff BLOB HEAD:README.md
git grep x BLOB
find . -type f | xargs cat
find . -type f -exec cat {} +
find . -not -name '*.md' -exec head {} \\;
find . -name '*.py' -o -type f | xargs cat
find . -type f \\( -name '*.py' -o -true \\) | xargs cat
find . ! \\( -name '*.py' \\) | xargs cat
find config | xargs cat
cat $(git ls-files)
cat $(git ls-files config)
git ls-files | xargs grep -n x
git ls-files | grep -v md | xargs cat
git diff --name-only HEAD~1 | xargs cat
for f in $(git ls-files); do head -5 "$f"; done
git ls-files | while read -r f; do cat "$f"; done
cd config && cat $(git ls-files)
ls -A | xargs cat
ls config | xargs cat
grep -r x
grep -rn '' .
grep -nr x src docs .
egrep --recursive x .
fgrep -r x config
grep -rl x .
grep -r --exclude='*.md' x .
grep -r --exclude-dir=src x .
grep -r --exclude='*.md' --include='*.py' x .
cd src && grep -r x ..
ls | grep -r x
for f in a; do echo $f | grep -r x; done
diff -r . src
diff config src
rg x
rg x config
rg -l x | xargs cat
""".splitlines()
PRINTING_NO_SECRETS = """\
git grep x -- '*.py'
git grep x src
git grep x -- src docs
git grep x -- ':!/.env' ':!/config'
git grep x -- . ':(exclude).env' ':^config'
git log -p -1
git log -p -3 -- src
git log -p -- . ':!.env' ':!config'
git log --oneline -10
git log --stat
git diff --stat
git diff --stat HEAD~1
git diff -- src
git diff --name-only
git diff HEAD~1 -- ':!/.env' ':!/config'
git show
git show HEAD
git show --stat HEAD~1
git show HEAD:README.md
git show HEAD~1 -- src
git stash show --stat
git cat-file -p HEAD
git cat-file -t BLOB
find . -type f | xargs wc -l
find src -type f | xargs cat
find . -name '*.py' | xargs cat
find . -name '*.py' -not -path './docs/*' -exec head -3 {} +
find . \\( -name '*.py' -o -name '*.md' \\) -exec head -3 {} +
find . -type f ! -name .env ! -name '*.tfvars' ! -name 'settings' | xargs head
cat $(git ls-files '*.py')
git ls-files src | xargs grep -n x
wc $(git ls-files)
git ls-files | head
ls | xargs wc
grep -rn x src
grep -r x README.md
grep -rn --include='*.py' --exclude='test_*' x .
grep -rn --exclude=.env --exclude-dir=config x .
cd src && grep -rn x
diff -r src docs
grep x README.md
rg x src
rg x -g '!*.tfvars'
rg -t py x
rg --files
""".splitlines()


@pytest.fixture
def tracking(repo: Folder) -> CallSandbox:
    """A repository that tracks files for secrets, with a link to one, which also have changes and a stash."""
    sandbox = CallSandbox(repo)
    for path in ("config/prod.tfvars", "docs/a.md"):
        repo.write(path, "x\n")
    os.symlink(".env", repo.path / "settings")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Second")
    for text in ("x\ny\n", "x\nz\n"):
        for path in (".env", "config/prod.tfvars", "src/app.py"):
            repo.write(path, text)
        repo.git("commit" if text == "x\ny\n" else "stash", *(["-qam", "Third"] if text == "x\ny\n" else ["-q"]))
    repo.write("src/app.py", "x\n")
    repo.git("commit", "-qam", "Fourth")
    for path in (".env", "src/app.py"):
        repo.write(path, "x\n1\n")
    return sandbox


@pytest.fixture
def decided(repo: Folder) -> CallSandbox:
    """A repository without an approval, with a planted git directory in `sub`."""
    sandbox = CallSandbox(repo)
    repo.write("sub/HEAD", "ref: refs/heads/main\n")
    return sandbox


def decision(sandbox: CallSandbox, text: str) -> GuardDecision:
    """The decision before an approval."""
    return decide(sandbox.command(text), PlanlessContext(sandbox.project, "inside", (), ("plans",)), 0.0)


def test_everyday_calls_are_allowed_before_an_approval(decided: CallSandbox) -> None:
    assert len(EVERYDAY) == 60
    denied = {line: found.reason for line in EVERYDAY if (found := decision(decided, line)).kind != ALLOW}
    assert len(EVERYDAY) - len(denied) >= MIN_ALLOWED, denied


def test_everyday_calls_are_allowed_during_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo").mkdir()
    repository = HonestCallRepository(Folder(tmp_path / "repo"), monkeypatch)
    denied = {line: found.reason for line in EVERYDAY if (found := repository.decide(line)).kind != ALLOW}
    assert len(EVERYDAY) - len(denied) >= MIN_ALLOWED, denied
    assert [line for line in HOSTILE if repository.decide(line).kind == ALLOW] == []


def test_scripts_of_reads_are_allowed(decided: CallSandbox) -> None:
    assert {line: found.reason for line in SCRIPTS if (found := decision(decided, line)).kind != ALLOW} == {}


def test_what_find_excludes_is_not_touched(decided: CallSandbox) -> None:
    assert {line: found.reason for line in EXCLUDING if (found := decision(decided, line)).kind != ALLOW} == {}
    for line in ("find . -path './.git/*' -exec rm {} +", "find .git -not -path './.git/*' -exec rm {} +"):
        assert decision(decided, line).kind == DENY


def test_scripts_that_do_more_are_not(decided: CallSandbox) -> None:
    hostile = [*HOSTILE, "cd sub && for f in a; do git status; done", "cd sub; git status"]
    assert [line for line in hostile if decision(decided, line).kind == ALLOW] == []


def test_what_would_print_a_tracked_secret_is_denied(tracking: CallSandbox) -> None:
    blob = tracking.folder.git("rev-parse", "HEAD:.env").strip()
    lines = [line.replace("BLOB", blob) for line in PRINTING_SECRETS]
    assert [line for line in lines if decision(tracking, line).kind == ALLOW] == []
    lines = [line.replace("BLOB", blob) for line in PRINTING_NO_SECRETS]
    assert {line: found.reason for line in lines if (found := decision(tracking, line)).kind != ALLOW} == {}
    assert "exclude it: -- ':!/.env'" in decision(tracking, "git log -p").reason


@pytest.mark.parametrize(
    ("script", "directory"),
    [("wc $(git ls-files)", ""), ("ls | xargs wc", ""), ("cd src && ls | xargs wc", "src"), ("wc $(ls src)", "src")],
)
def test_a_listed_name_is_no_option_of_wc(decided: CallSandbox, script: str, directory: str) -> None:
    """GNU wc prints the names in a file that `--files0-from` names, so all of `.env`."""
    assert decision(decided, script).kind == ALLOW
    path = decided.folder.write(f"{directory}/--files0-from=.env".lstrip("/"), "")
    assert "which `wc` takes for an option" in decision(decided, script).reason
    decided.folder.git("add", "-A")
    path.unlink()
    assert "which `wc` takes for an option" in decision(decided, "wc $(git ls-files)").reason


def test_a_denial_names_the_part(decided: CallSandbox) -> None:
    for text, part in (
        ("ls src; python3 tools/x.py", "`python3 tools/x.py`"),
        ("for f in src/*.py; do rm $f; done", "`rm src/*.py`"),
        ("git status > out", "`>` to out"),
        ("f=1; cat $f", "a command without a program"),
        ("cat $X", "$X"),
        ("ls | xargs rm", "`rm`"),
    ):
        found = decision(decided, text)
        assert (found.kind, part in found.reason) == ("", True), (text, found.reason)


@pytest.mark.parametrize(
    "text",
    [
        "cat <<END\n$x\nEND",
        "cat <<'END'\nx",
        "cat <<'END'\nx\nEND \n",
        "cat 3<<'END'\nx\nEND",
        "cat <<E$D\nx\nE$D",
        "cat $((1<<END))\nEND",
        "cat '<<END'\nx\nEND",
    ],
)
def test_only_literal_here_documents_are_removed(text: str) -> None:
    assert remove_here_documents(text) == text
    assert remove_here_documents("a <<'END' b\n$x\nEND\nc") == "a  b\nc"
