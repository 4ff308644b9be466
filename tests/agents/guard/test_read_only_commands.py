"""What passes as reading only reads: the table of risks rates it LOW, and what does more by a word does not pass."""

from __future__ import annotations

import os
from shlex import join
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.agents.guard import read_policy
from execplan.agents.guard.command_list import parse_command_list
from execplan.agents.guard.guard_context import GuardScope
from execplan.agents.guard.tool_call import COMMAND, ToolCall
from execplan.execution.permission import ALLOW, ASK, DENY, READ_POLICIES
from execplan.execution.risk.command_risk import LOW, builtin_table, rate_command
from execplan.execution.risk.risk_table import SECRETS
from execplan.execution.shell.command_table import DEVICE_PATHS, FIND_EXPRESSIONS
from execplan.execution.shell.reading_commands import (
    NO_PATHS,
    READ_ONLY_COMMANDS,
    ReadOnlyCommand,
)
from tests.agents.guard.call_sandbox import CallSandbox

STRANGE = """-o -i -e -f -x -c -n -p -z -L -R -O -d --output --output=out --in-place --exec --delete --pre=x --ext-diff -delete -exec -- - a.txt
src/app.py .. HEAD 1,5p 5w x -C -D -s --set --force --all --list --stat -1 -50 --files -name '*.py' ; + {} main~2 --follow --no-index
""".split()
BARE = GuardScope("/", {}, {}, lambda path: "", {}, lambda path, state: None)

if TYPE_CHECKING:
    from tests.conftest import Folder

PASS = """\
ls
ls -la src
ls -la --color=auto src/ 2>/dev/null
cat README.md src/app.py
cat "src/app.py"
head -20 README.md
head -n 5 README.md
tail -n5 README.md
wc -l src/app.py
grep -rn "def main" src
grep -rn --include='*.py' -e one -e two .
grep -n 'a[0-9]*b' src/app.py | head -3
rg --files
rg -n -g '*.py' main src
find . -name '*.py' -not -path './.git/*'
find src -type f -maxdepth 2
find . \\( -name a -o -name b \\) -print
sed -n 1,20p README.md
sed -n '3p;7p' README.md
sort -u README.md | uniq -c | sort -rn
cut -d: -f1 README.md
diff -u README.md src/app.py
stat README.md
file README.md
du -sh .
tree -L 2 src
jq -r '.name' package.json
echo done
printf '%s\\n' one two
pwd
date
date +%s
which python3
uname -a
python3 --version
git status
git status --porcelain=v1 -b
git --no-pager log --oneline -5
git log -n 3 --stat -- src
git diff
git diff --cached --name-only
git diff HEAD~2 -- src/app.py
git show HEAD:src/app.py
git show --stat HEAD
git blame -L 1,5 src/app.py
git grep -n main -- src
git ls-files src
git rev-parse --abbrev-ref HEAD
git branch -vv
git branch --show-current
git stash list
git tag -l
git remote
git remote -v
git config user.name
git config --get user.email
awk '{print $1}' README.md
awk -F'|' 'NR>1 && NR<=5 || $1==2 {print $2; s+=$3} END {print s}' README.md
sed -n '/main/,/^$/p' src/app.py
sed -n '/a/,5p;$p' src/app.py
pip list
pip list --format=json
cd src && ls
cd src && cat app.py | head -2
ls; pwd
ls && git status
cat missing || echo none
cat README.md 2>&1 | wc -l
env ls
time ls
timeout 5 ls
timeout -k 5 30s grep -rn main src
CI=1 ls
PAGER=cat git log -3
wc -l src/*.py
head -5 src/*.p? README.md
grep -n main src/*.py
ls *.md
ls -d */
grep -rn --include=*.py main src
grep -rn --exclude=*.md main src
cd src && wc -l *.py | tail -1
git -C . status
git --no-pager -C . log -3
test -f README.md && cat README.md
[ -f src/app.py ] && wc -l src/app.py
test ! -d build || ls build
"""

NOT_READ_ONLY = (
    r"""
ls > out
ls >> out
ls >| out
ls &> out
ls 2> out
ls 2>&1 > out
ls <> out
cat < .env
cat <<< text
cat << END
cat <(ls)
ls $(rm -r src)
ls `rm -r src`
ls "$(id)"
ls "$HOME"
ls $HOME
ls ${HOME}
ls *
grep -rn --include=*.{py,md} main src
grep -rn --include=[a].py main src
rg --include=*.py main
cat .en[v]
cat .en[vvv]
cat {.env,README.md}
ls *
cat *
cat */app.py
cat src/**/*.py
cat src/[a].py
cat -*.py
sort src/*.py
rg main src/*.py
diff src/*.py
uniq src/*.py
find src/*.py
sed -n 1p src/*.py
git diff src/*.py
jq . src/*.json
file src/*.py
c?t README.md
cat src/*(.)
cat src/*.py~x
cat "src"/*.py
env PATH=. ls
env -i ls
env A=1 ls
timeout x ls
timeout 5 rm x
timeout -s KILL 5 ls
timeout 5 sh -c ls
time -o out ls
LC_ALL=C ls
GIT_PAGER=cat git log
PAGER=less git log
CI=1 rm x
CI=1 PATH=. ls
git -C . -C src log
git -C .. status
git -C
git -C . -c core.pager=sh log
test
test -v x
test a = b
test 1 -eq 1
test -f a -o -f b
test -f README.md -a x
[ -f README.md
[ -f README.md ] ]
[ x -eq 1 ]
command -v
command -v ls rm
command -p ls
command -V ls
cat =ls
ls &
ls & rm src
ls; rm -r src
ls && touch x
ls || touch x
ls | tee out
ls | xargs rm
ls | sh
(ls)
{ ls; }
! ls
if ls; then rm x; fi
for f in a b; do cat $f; done
f() { ls; }; f
A=1 ls
PATH=. ls
LD_PRELOAD=x ls
GIT_EXTERNAL_DIFF=x git diff
sudo ls
command ls
exec ls
eval ls
nohup ls
xargs ls
sh -c ls
bash -c 'ls'
\ls /..$(id)
./ls
/tmp/ls
src/ls
/bin/ls
find . -delete
find . -exec rm {} ;
find . -execdir ls {} +
find . -ok ls {} ;
find . -fprint out
find . -fprintf out %p
find . -fls out
find -L . -name x
find . -files0-from x
find . -newer /etc/passwd
find . -name x -delete
find . -name
fd . -x rm
sed -i s/a/b/ README.md
sed s/a/b/ README.md
sed -n 1p -i README.md
sed -n '/a/w out' README.md
sed -n '/a\\/p;1e id #/p' README.md
sed -n '/a/e' README.md
sed -n 1w\ out README.md
sed -n '1,5w out' README.md
sed -n '1e id' README.md
sed -n -i 1p README.md
sed -ni 1p README.md
sed -n -e 1p README.md
sed -n -f script README.md
sed -n --in-place 1p README.md
sort -o README.md README.md
sort README.md -o out
sort --output=out README.md
sort -no out README.md
sort --compress-program=sh README.md
sort -T /tmp README.md
sort --files0-from=x
uniq README.md out
uniq -c README.md out
tree -o out
tree -R -H .
tree -l
date -s 10:00
date --set=10:00
date 010112002026
file -C -m magic
file -m magic README.md
file -f list
rg --pre=sh x
rg --pre sh x
rg --hostname-bin=sh x
rg -z x
rg -uuu x
rg -L x
rg --follow x
rg --hidden x
rg -f patterns
grep -f patterns README.md
grep -R x .
grep --dereference-recursive x .
grep --fi=x README.md
diff --to-file=x README.md
diff -l README.md src/app.py
jq env
jq -n '$ENV.HOME'
jq -L lib . a
jq --slurpfile a b .
jq -f prog a
jq 'input_filename' a
jq --rawfile a .env . b
bat README.md
less README.md
more README.md
man ls
vi README.md
tee out
awk '{print > "out"}' README.md
awk '{print | "sh"}' README.md
awk 'NR>1{print>"x"}' README.md
awk '/}>/{print > "out"}' README.md
awk 'BEGIN{"id" | getline}'
awk 'BEGIN{ARGV[1]=".env"}1' x
awk -f prog README.md
awk -i x '{print}' README.md
awk 'BEGIN{system("id")}'
xxd README.md out
tar tf a.tar
unzip -l a.zip
ps e
env
printenv
set
export A=1
alias ls=rm
source README.md
. README.md
cd src
cd
cd -
cd src; ls
cd src || ls
cd src && cd .. && ls
ls && cd src
cd src | ls
pushd src && ls
tail -f README.md
head --lines
stat -f %z README.md
yes
git
git commit -m x
git add .
git push
git fetch
git checkout main
git -c core.pager=sh log
git -c core.fsmonitor=./x status
git --paginate log
git -p log
git -C src log
git --git-dir=x log
git --work-tree=/ status
git --exec-path=. log
git --namespace=x log
git --config-env=a=b log
git diff --ext-diff
git diff --output=out
git diff --output out
git diff --no-index a b
git diff --textconv
git log --ext-diff -p
git log --output=out
git log --show-signature
git show --output=out
git grep -O x
git grep --open-files-in-pager=sh x
git grep -f patterns
git grep --no-index x
git branch new
git branch -D main
git branch -d x
git branch -m x
git branch -f x
git branch --edit-description
git branch -u origin/main
git tag v1
git tag -d v1
git tag -s x
git remote add a b
git remote update
git remote show origin
git stash
git stash drop
git stash pop
git worktree add x
git worktree prune
git reflog expire
git reflog delete
git config user.name x
git config http.https://x.extraheader
git config --list
git rev-parse --parseopt
git cat-file --batch
git cat-file --filters HEAD:x
git cat-file --textconv HEAD:x
git blame --contents x y
git blame --ignore-revs-file x y
git ls-files --exclude-from=x
git ls-files -X x
git archive HEAD
git bisect run x
git submodule foreach ls
git show-ref --exclude-existing
git update-index --refresh
git status --pathspec-from-file=x
git stat
git difftool
git log --no-walk=x
python3 -c x
python3 --version x
yarn --version
pnpm --version
cargo --version
rustc --version
go --version
java --version
pip list --index-url=x
pip freeze
npm ls
python3 -V x
node --version -e x
make -n
make --version x
l"""
    "\u200b"
    """s
ls"""
    "\u202e"
    """ src
"""
    "lѕ"
    """
ls \x07
ls 'a
ls "a
ls )
:
exit
wait
type ls
hash -r
"""
    "cat " + "a" * 21000
)
NOT_READ_ONLY_LINES = [line for line in NOT_READ_ONLY.split("\n") if line.strip()]


@pytest.fixture
def sandbox(repo: Folder) -> CallSandbox:
    return CallSandbox(repo)


def kind(sandbox: CallSandbox, text: str, policy: str = "inside", cwd: str = "") -> str:
    return read_policy.decide_read(sandbox.command(text, cwd), sandbox.around, policy).kind


def rated_levels(text: str) -> list[str]:
    """How the table rates each command of a text."""
    parsed = parse_command_list(text, "/")
    assert parsed is not None
    return [rate_command(join(argv), builtin_table()).level for argv in parsed.commands]


def test_what_only_reads_passes_and_is_rated_low(sandbox: CallSandbox) -> None:
    for line in [*PASS.splitlines(), "ls src \\\n  -la", "ls\npwd"]:
        assert kind(sandbox, line) == ALLOW, line
        assert set(rated_levels(line)) == {LOW} or " -C . " in line, (line, rated_levels(line))


def test_where_a_program_is(sandbox: CallSandbox) -> None:
    assert kind(sandbox, "command -v python3") == ALLOW
    assert kind(sandbox, "command -v python3 && ls") == ALLOW


def test_what_does_more_does_not_pass(sandbox: CallSandbox) -> None:
    assert len(NOT_READ_ONLY_LINES) > 200
    for line in NOT_READ_ONLY_LINES:
        assert kind(sandbox, line) == "", line
        assert kind(sandbox, line, "anywhere") == "", line


def flagged(program: str, reads: ReadOnlyCommand) -> list[str]:
    """A command for each flag of a program, with as many words as it takes."""
    operands = (
        ""
        if reads.max_operands == 0
        else " ".join(
            ["word"]
            * max(1, reads.min_operands, min(reads.leading_texts, 1) + 1 if reads.leading_texts != NO_PATHS else 1)
        )
    )
    operands = " ".join(operands.split()[: reads.max_operands])
    flags = [flag.removesuffix("?") for flag in reads.flags.split()]
    flags += [f"{flag} 1" for flag in reads.value_flags.split()]
    flags += [f"{flag}=1" for flag in reads.value_flags.split() if flag.startswith("--")]
    return [f"{program} {flag} {operands}".strip() for flag in ["", *flags]]


COMMANDS = [command_line for name, reads in READ_ONLY_COMMANDS.items() for command_line in flagged(name, reads)]
COMMANDS += [
    f"find src {test} {'1 ' * operand_count}".strip()
    for test, operand_count in FIND_EXPRESSIONS.items()
    if test not in ("(", ")", "!", ",")
]


@pytest.mark.exhaustive
def test_every_flag_that_passes_is_rated_low(sandbox: CallSandbox) -> None:
    wrong = [
        command_line
        for command_line in COMMANDS
        if kind(sandbox, command_line) and set(rated_levels(command_line)) != {LOW}
    ]
    assert not wrong
    assert len([command_line for command_line in COMMANDS if kind(sandbox, command_line)]) > 500


def test_what_must_not_be_read_has_its_pieces(sandbox: CallSandbox) -> None:
    rows = [row for row in builtin_table().rows if row.reading and SECRETS not in row.path]
    assert rows
    for row in rows:
        for path in row.path:
            sample = path.replace("**/", "").replace("*", "x").casefold()
            assert any([piece in sample for piece in DEVICE_PATHS]), path


INSIDE = [
    "README.md",
    "./README.md",
    "src/../README.md",
    "{root}/README.md",
    "src",
    "missing/file",
    "docs/keys.md",
    ".env.example",
]
OUTSIDE = ["/usr/share/doc", "../other", "src/../../other", "out/passwd", "out", "~/notes", "~", "/"]
NEVER = [
    ".docker/config.json", "deploy/prod.env", "infra/prod.tfvars", "kubeconfig", "wp-config.php", "passwords.txt", "~/.gnupg/x",
    ".env", "./.env", "src/../.env", "{root}/.ENV", "env-link", "deploy/id_rsa", "certs/server.pem", ".aws/credentials", "~/.ssh/id_ed25519",
    "{config}/key", "{config}", "{config}/../execplan/key", "key-link", "{state}/approvals", ".git/execplan/x", ".git/EXECPLAN/x",
    ".agent/.state/x", ".agent/execplans/artifacts/2026-01-01_parser/approvals/a.json", "/proc/self/environ", "~/.claude/settings.json", "~/.codex",
]  # fmt: skip


@pytest.fixture
def linked(sandbox: CallSandbox, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Links out of the repository, and names of the user's folders."""
    user_folder = sandbox.folder.path.parent
    names = {
        "root": sandbox.root,
        "config": str(user_folder / ".config/execplan"),
        "state": str(user_folder / "state-home/execplan"),
    }
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, sandbox.folder.env[name])
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for at in (".config/execplan/key", "state-home/execplan/approvals/x"):
        (user_folder / at).parent.mkdir(parents=True)
        (user_folder / at).write_bytes(b"k")
    for name, to in (("out", "/etc"), ("env-link", ".env"), ("key-link", names["config"] + "/key")):
        os.symlink(to, sandbox.folder.path / name)
    return names


@pytest.mark.parametrize(
    "reader", ["Read", "cat", "cat README.md |head -1", "grep -n x", "cd src && cat ../README.md;"]
)
def test_where_a_path_leads_decides(sandbox: CallSandbox, linked: dict[str, str], reader: str) -> None:
    at_cd = reader.startswith("cd ")
    for paths, expected in ((INSIDE, "allow"), (OUTSIDE, "ask"), (NEVER, "deny")):
        for path in [template.format(**linked) for template in paths]:
            if at_cd or (path.startswith("~") and reader != "Read"):
                continue  # a shell would expand it
            call = sandbox.read(path) if reader == "Read" else sandbox.command(f"{reader} {path}")
            decisions = [read_policy.decide_read(call, sandbox.around, policy).kind for policy in READ_POLICIES]
            assert (
                decisions
                == {
                    "allow": [ALLOW, ALLOW, ASK, ""],
                    "ask": [ALLOW, ASK, ASK, ""],
                    "deny": [DENY, DENY, DENY, DENY],
                }[expected]
            ), (reader, path)


def test_a_hard_link_to_a_secret_is_not_read_and_a_package_with_such_a_name_is(sandbox: CallSandbox) -> None:
    os.link(sandbox.folder.path / ".env", sandbox.folder.path / "src/notes.txt")
    os.link(sandbox.folder.path / "README.md", sandbox.folder.path / "src/copy.md")
    sandbox.folder.write("src/credentials/store.py", "x\n")
    decision = read_policy.decide_read(sandbox.command("cat src/notes.txt"), sandbox.around, "anywhere")
    assert (decision.kind, "is a hard link to" in decision.reason) == (DENY, True)
    assert kind(sandbox, "cat src/copy.md") == ALLOW
    assert kind(sandbox, "ls src/credentials") == ALLOW
    assert kind(sandbox, "cat src/credentials/store.py") == ALLOW


def test_the_folder_counts_too(sandbox: CallSandbox, linked: dict[str, str]) -> None:
    assert kind(sandbox, "ls", cwd="/etc") == ASK
    assert kind(sandbox, "cd /etc && cat passwd") == ASK
    assert kind(sandbox, "cd out && cat passwd") == ASK
    assert kind(sandbox, "cd src && cat ../README.md") == ALLOW
    assert kind(sandbox, "cd src && cat ../../x") == ASK
    assert kind(sandbox, "cd src && cat ../.env") == DENY
    assert kind(sandbox, "cd .. && cat repo/README.md | head") == ASK
    assert kind(sandbox, f"cd {linked['config']} && cat key") == DENY


def test_git_of_another_repository_is_not_asked(sandbox: CallSandbox) -> None:
    folder = sandbox.folder.path
    for name in ("HEAD", "objects/x", "refs/x", "config"):
        sandbox.folder.write(f"planted/{name}", "x")
    sandbox.folder.write("inner/.git", "gitdir: ../planted")
    assert kind(sandbox, "git status", cwd=str(folder / "src")) == ALLOW
    for inner in ("planted", "planted/objects", "inner"):
        assert kind(sandbox, "git status", cwd=str(folder / inner)) == ""
        assert kind(sandbox, f"cd {inner} && git status") == ""
        assert kind(sandbox, f"cd {inner} && ls | git log") == ""


@pytest.mark.parametrize("common", ["sub", "elsewhere"])
def test_any_head_may_be_the_git_directory_that_git_uses(sandbox: CallSandbox, common: str) -> None:
    """A real git runs the program that a planted `core.fsmonitor` names."""
    ran = sandbox.folder.path / "ran"
    files = {
        "sub/HEAD": "ref: refs/heads/main\n",
        "sub/commondir": f"../{common}\n",
        f"{common}/objects/x": "",
        f"{common}/refs/x": "",
        f"{common}/config": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
        "sub/config.worktree": f"[core]\n\tworktree = ..\n\tfsmonitor = touch {ran};true\n",
    }
    for name, text in files.items():
        sandbox.folder.write(name, text)
    sandbox.folder.git("-C", "sub", "status")
    assert ran.exists()
    assert kind(sandbox, "cd sub && git status") == ""
    assert kind(sandbox, "git status", cwd=str(sandbox.folder.path / "sub")) == ""
    assert kind(sandbox, "git -C sub status") == ""


def test_a_repository_without_git_has_no_git_to_ask(sandbox: CallSandbox) -> None:
    os.rename(sandbox.folder.path / ".git", sandbox.folder.path / "moved")
    assert kind(sandbox, "git status") == ""


AT_SECRETS = """\
git grep '' -- '.en?'
git log -p -- '.en*'
git grep '' -- '.[e]nv'
git grep '' -- '.e\\nv'
git grep '' -- '????'
git grep '' -- '*env'
git diff HEAD -- ':(glob)**/.e*'
git diff HEAD -- ':(icase).ENV'
git grep '' -- ':(top,icase).E?V'
git grep '' -- ':/.en?'
cd src && git grep '' -- ':/.en?'
git log -p -- 'id_r?a'
git log -p -- 'certs/*.p[e]m'
git log -p -- 'certs/ser*'
git show HEAD:.env
git log -p -L '1,9:.env'
grep -rn --include='.en?' '' .
grep -rn --include='*env' '' .
rg -g '.e*' ''
rg -g '.{e,f}nv' ''
rg -g '*.{pem,py}' ''
cat *.env README.*
""".splitlines()
BESIDES_SECRETS = """\
git grep main -- '*.py'
git log -p -- 'src/*' 'docs/*.md'
git log --oneline -- 'src/test_*'
git diff HEAD -- ':(top)src' ':!src/app.py'
git diff HEAD@{1} -- src
git log -- ':/src'
grep -rn --include='*.py' --include='*.json' main .
rg -g '*.{ts,tsx}' main
rg -g '!*.env' -g '!*.pem' main
""".splitlines()


def test_patterns_are_expanded_before_secrets_are_looked_for(sandbox: CallSandbox) -> None:
    sandbox.folder.write("certs/server.pem", "x")
    sandbox.folder.write("prod.env", "x")
    os.symlink(".env", sandbox.folder.path / "settings-link")
    assert {line: kind(sandbox, line) for line in AT_SECRETS if kind(sandbox, line) != DENY} == {}
    assert {line: kind(sandbox, line) for line in BESIDES_SECRETS if kind(sandbox, line) != ALLOW} == {}
    assert kind(sandbox, "git grep '' -- 'settings-*'") == DENY


@given(st.data())
def test_a_reader_with_a_strange_word_is_rated_low_or_does_not_pass(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([*READ_ONLY_COMMANDS, "find", "sed -n"]))
    arguments = data.draw(st.lists(st.sampled_from(STRANGE), max_size=4))
    text = " ".join([name, *arguments])
    call = ToolCall(COMMAND, "Bash", "/", command=text)
    if (
        read_policy.find_read_paths(call, BARE) is not None and ".." not in arguments
    ):  # which is inside only at the root
        assert set(rated_levels(text)) == {LOW}, text
