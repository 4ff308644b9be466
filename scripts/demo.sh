#!/bin/sh
# The main job of the tool in a scratch repository: each command, and what came out.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

tell() {
    printf '\n$'
    for word; do
        case $word in *[\ \;]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
}
run() {
    tell "$@"
    "$@"
}
refused() {
    tell "$@"
    if "$@"; then echo "this should have been refused"; exit 1; else echo "(exit status $?)"; fi
}

run git init -q parser
cd parser
# The repository's own identity, so that the demo needs none of yours.
git config user.name Ann
git config user.email ann@example.org

run execplan init --commit
run execplan install agents git-hooks
git add AGENTS.md
git commit -q -m "Tell agents how to work with plans"
run execplan new --list-templates
run execplan new "Build the line parser" --template feature \
    --purpose "Plans can be read and edited without losing a byte; seen by running make test." \
    --task "Read lines" --task "Build the parser" --task "Write the tests" --commit
plan=$(execplan list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["plans"][0]["path"])')

# The other sections get words of their own: a whole body at a time, or all of them in an editor.
run execplan lint --hook
run execplan set "Context and Orientation" 'The reader is `src/reader.py`; a plan is a markdown file.'
run execplan set "Plan of Work" 'Write the scanner in `src/scan.py`, then the reader on top of it.' --dry-run
fill() { execplan set -q "$1" "$2"; }
fill "Plan of Work" 'Write the scanner in `src/scan.py`, then the reader on top of it.'
fill "Concrete Steps" 'In the root of the repository, `make test` prints `12 passed`.'
fill "Validation and Acceptance" '`make test` passes; a file read and written again has the same bytes.'
fill "Idempotence and Recovery" 'Every step may be run again; nothing outside the repository changes.'
fill "Interfaces and Dependencies" '`read(data: bytes) -> Plan` in `src/reader.py`.'

run execplan next --claim ann
run execplan next --claim bob
run execplan done 1 --as ann
run execplan add "Handle CRLF" --after 2
run execplan decide "Read line by line" --why "A task is a line; a tree would lose where it stands."
run execplan discover "Files without a final newline lose their last line" --evidence "test_last_line failed"
run execplan done 2 --as bob
run execplan split 3 --done "Handle CRLF when reading" --remaining "Handle CRLF when writing"
run execplan reword "write the tests" "Test the reader and the writers"
run execplan undo
run execplan done 4 5
run execplan done 1
refused execplan archive
run execplan explain EP501
printf '12 passed in 0.31s\n' >test.log
run execplan attach test.log --about "All tests pass."
rm test.log
run execplan outcome "Plans are read and written without loss; tables are left for later."
run execplan lint
run execplan show
run execplan commit

run execplan new "Read tables" --task "Go on from $plan" -q --commit
run execplan archive "$plan" --commit
run execplan next
run execplan rename tables "Read tables and lists" --commit
run execplan status
run execplan lint --hook
run execplan restore parser --dry-run
run git log --oneline --stat
printf '\n$ cat the archived plan and its evidence\n'
cat .agent/execplans/archive/*.md .agent/execplans/archive/artifacts/*/execplan-evidence.json
run execplan uninstall agents git-hooks

# Two branches work on one plan, and their work is merged: each task once.
run execplan install merge-driver
git add .gitattributes
git commit -q -m "Merge plans by tasks and entries"
git switch -q -c side
run execplan done 1 --commit
run execplan add "Read nested lists" --commit
git switch -q -
run execplan add "Read wide tables" --commit
run git merge -q --no-edit side
run execplan show --section Progress

# An editor that was open all the while saves its old text over an edit.
tables=$(execplan list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["plans"][0]["path"])')
cp "$tables" ../old.md
run execplan done "wide tables"
cp ../old.md "$tables"
refused execplan doctor
run execplan doctor --fix
run execplan show --section Progress

run execplan uninstall merge-driver

# A plan whose steps a program can carry out: nothing runs yet, and what was approved is exactly what would.
mkdir -p src
printf 'def greet():\n    return "hello"\n' >src/greet.py
echo __pycache__/ >.gitignore
git add -A
git commit -q -m "A greeting"
run execplan new "Say goodbye" -q --task "Write the function" --task "See it work"
cat >../steps.md <<'STEPS'
In the root of the repository:

```python {#farewell type=create_file target=src/farewell.py task="Write the function"}
def part():
    return "goodbye"
```

```diff {#wire type=modify_file target=src/greet.py needs=farewell}
--- a/src/greet.py
+++ b/src/greet.py
@@ -1,2 +1,4 @@
+from farewell import part
+
 def greet():
-    return "hello"
+    return f"hello and {part()}"
```

```sh {#see needs=wire cwd=src expect="hello and goodbye" task="See it work"}
python3 -c 'import greet; print(greet.greet())'
```
STEPS
run execplan set Steps @../steps.md -p goodbye
run execplan compile goodbye
run execplan evaluate goodbye
refused execplan approve goodbye
digest=$(execplan evaluate goodbye --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["digest"][:12])')
run execplan approve goodbye --digest "$digest" --by Ann
run execplan discover "Goodbyes were asked for twice" --evidence "Two letters" -p goodbye
run execplan approve goodbye --check
printf '\n$ echo "# Edited behind the back of the plan." >>src/greet.py\n'
echo "# Edited behind the back of the plan." >>src/greet.py
refused execplan approve goodbye --check
run execplan status
git checkout -q src/greet.py

# What was approved runs: its tasks are ticked, what it printed and what it changed is kept.
run execplan run goodbye
run execplan show goodbye --run 1
run execplan audit goodbye --verify
git add -A
git commit -q -m "Say goodbye"

# One that fails half-way is rolled back.
run execplan new "Shout" -q --task "Shout"
cat >../steps.md <<'STEPS'
```python {#loud type=modify_file target=src/farewell.py lines=2 task="Shout"}
    return "GOODBYE"
```

```sh {#look needs=loud cwd=src expect="HELLO AND GOODBYE"}
python3 -c 'import greet; print(greet.greet())'
```
STEPS
run execplan set Steps @../steps.md -p shout -q
digest=$(execplan evaluate shout --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["digest"][:12])')
run execplan approve shout --digest "$digest" --by Ann
refused execplan run shout
run cat src/farewell.py
run execplan runs
run git status --short
