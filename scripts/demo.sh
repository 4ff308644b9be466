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
run execplan new "Build the line parser" \
    --purpose "Plans can be read and edited without losing a byte; seen by running make test." \
    --task "Read lines" --task "Build the parser" --task "Write the tests" --commit
plan=$(execplan list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["plans"][0]["path"])')
run execplan next
run execplan done 1 --commit
run execplan add "Handle CRLF" --after 2
run execplan decide "Read line by line" --why "A task is a line; a tree would lose where it stands."
run execplan discover "Files without a final newline lose their last line" --evidence "test_last_line failed"
run execplan done 2 3 "write the tests"
run execplan done 1
refused execplan archive
run execplan explain EP109

# What an author does in an editor: the other sections get words of their own.
python3 - "$plan" <<'EDIT'
import sys
path = sys.argv[1]
text = open(path, encoding="utf-8").read()
words = {
    "Context and Orientation": "The reader is `src/reader.py`; a plan is a markdown file.",
    "Plan of Work": "Write the scanner in `src/scan.py`, then the reader on top of it.",
    "Concrete Steps": "In the root of the repository, `make test` prints `12 passed`.",
    "Validation and Acceptance": "`make test` passes; a file read and written again has the same bytes.",
    "Idempotence and Recovery": "Every step may be run again; nothing outside the repository changes.",
    "Artifacts and Notes": "None were needed.",
    "Interfaces and Dependencies": "`read(data: bytes) -> Plan` in `src/reader.py`.",
}
for name, line in words.items():
    head, mark, tail = text.partition(f"## {name}\n\n")
    text = head + mark + line + tail[tail.index("\n") :]
open(path, "w", encoding="utf-8").write(text)
EDIT
run execplan outcome "Plans are read and written without loss; tables are left for later."
run execplan lint
run execplan show
run execplan commit
run execplan archive --commit
run execplan status
run execplan lint
run git log --oneline --stat
printf '\n$ cat the archived plan\n'
cat .agent/execplans/archive/*.md
