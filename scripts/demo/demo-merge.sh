#!/bin/sh
# Several people work on one plan: claims, undo, branches, and an editor that overwrites an edit.
. "$(dirname "$0")/story.sh"

quietly 'execplan init --commit'
quietly 'execplan new "Read tables" --task "Read rows" --task "Read cells" --task "Write the tests" --commit'
plan=$(execplan list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["data"]["plans"][0]["path"])')

say 'Ann and Bob each claim a task. Nobody gets a task that somebody else works on.'
run 'execplan next --claim --as ann -q'
run 'execplan next --claim --as bob -q'
say 'Ann finishes half of her task, so she splits it.'
run 'execplan split 1 --done "Read plain rows" --remaining "Read merged rows" --as ann'
say 'Undo takes back one operation and leaves the rest of the file alone.'
run 'execplan reword "write the tests" "Write no tests" -q'
run 'execplan undo'
say 'The merge driver merges plans by tasks and entries instead of lines.'
run 'execplan install merge-driver -q'
quietly 'git add -A'
quietly 'git commit -q -m "Merge plans by tasks and entries"'
say 'Two branches add a task in the same place, and one checks off a task.'
quietly 'git switch -q -c side'
run 'execplan add "Read nested tables" --commit -q'
run 'execplan done cells --as bob --commit -q'
quietly 'git switch -q main'
run 'execplan add "Read wide tables" --commit -q'
say 'Git merges them without a conflict.'
run 'git merge -q --no-edit side'
run 'execplan show --section Progress'
say 'An editor saves its old text over a newer edit. The doctor finds the edit, which git does not have either.'
run 'execplan add "Read empty tables" -q'
cp "$plan" ../old.md
run 'execplan done "wide tables" -q'
run "cp ../old.md $plan"
run 'execplan doctor'
run 'execplan doctor --restore tables'
say 'A new title changes the file name and every link to it.'
run 'execplan rename tables "Read tables and lists" -q'
run 'execplan list'
