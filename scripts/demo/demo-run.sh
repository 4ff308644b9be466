#!/bin/sh
# A plan with runnable steps: evaluate, approve, run, audit and roll back.
service=$(cd "$(dirname "$0")/../../tests/app" && pwd)
. "$(dirname "$0")/story.sh"

quietly 'execplan init --commit'
mkdir src
printf 'def greet():\n    return "hello"\n' >src/greet.py
echo __pycache__/ >.gitignore
quietly 'git add -A'
quietly 'git commit -q -m "A greeting"'
quietly 'execplan new "Say goodbye" --task "Write the function" --task "See it work"'
cat >"../steps.md" <<'STEPS'
```python {#farewell type=create_file target=src/farewell.py task="Write the function"}
def part():
    return "goodbye"
```

```sh {#see needs=farewell cwd=src expect="goodbye" task="See it work"}
python3 -c 'import farewell; print(farewell.part())'
```
STEPS

say 'A step is a code block with attributes in the plan.'
run 'cat "../steps.md"'
run 'execplan set Steps "@../steps.md" -q'
say 'Compile the steps into an execution plan. Nothing runs yet.'
run 'execplan compile -q'
say 'Evaluate it: what each step would do, its risk, and who has to approve it.'
run "execplan evaluate | head -n 2"
digest=$(digest_of goodbye)
say 'Approve what you have read, by its digest. Then run it.'
run "execplan approve --digest $digest --by Ann -q"
run 'execplan run'
say 'The audit log records who approved what, what ran and what changed. Tampering shows.'
run 'execplan audit --verify'
quietly 'git add -A'
quietly 'git commit -q -m "Say goodbye"'

say 'If a file that a step changes is edited after the approval, the plan does not run.'
quietly 'execplan new Shout --task Shout'
cat >"../steps.md" <<'STEPS'
```python {#loud type=modify_file target=src/farewell.py lines=2 task="Shout"}
    return "GOODBYE"
```

```sh {#look needs=loud cwd=src expect="HELLO AND GOODBYE"}
python3 -c 'import farewell; print(farewell.part())'
```
STEPS
quietly 'execplan set Steps "@../steps.md" -p shout'
digest=$(digest_of shout)
quietly "execplan approve shout --digest $digest --by Ann"
run 'echo "# Edited after the approval." >>src/farewell.py'
refused 4 'execplan run shout'
say 'Undo that edit, so that the file is as approved again.'
run 'git checkout -q src/farewell.py'

say 'A run that fails halfway keeps what its steps did, for a revision with replan. A rollback restores the file, so git shows no change. What git cannot see is listed.'
refused 1 'execplan run shout -q'
run 'execplan rollback -p shout'
run 'git status --short src'
run 'execplan runs'

say 'Templates show steps as examples. Without the mark `example` they run: here in a small service.'
quietly 'cp -R "$service"/. .'
quietly 'git add -A'
quietly 'git commit -q -m "A small service"'
for template in crud migration; do
    run "execplan new 'Try $template' --template $template -q"
    quietly "sed -i.bak 's/{example /{/' .agent/execplans/*_try-$template.md && rm .agent/execplans/*.bak"
    digest=$(digest_of "try-$template")
    quietly "execplan approve try-$template --digest $digest"
    run "execplan run try-$template"
done
say 'The migration can be taken back, too.'
run 'execplan rollback -p try-migration -q'
