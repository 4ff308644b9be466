#!/bin/sh
# A coding agent under guard: it may read, and do what an approved plan says.
. "$(dirname "$0")/story.sh"

# Stand in for an agent's program: ask the guard about a call, and print the answer.
call() {
    python3 - "$@" <<'CALL'
import json, os, subprocess, sys
call = {"cwd": os.getcwd(), "tool": sys.argv[1], **dict(field.split("=", 1) for field in sys.argv[2:])}
if "content" in call:
    call["content"] += "\n"
answer = subprocess.run(["execplan", "guard", "--json"], input=json.dumps(call), stdout=subprocess.PIPE, text=True, check=True)
data = json.loads(answer.stdout)["data"]
print(f"{data['decision']}: {data['why']}")
CALL
}

quietly 'execplan init --commit'
quietly 'execplan new "Keep notes" --task "Keep a note" --task "Track it"'
cat >../steps.md <<'STEPS'
```text {execution mode=agent}
An agent does the work.
```

```text {#note type=create_file target=notes.txt task="Keep a note"}
Greet before you ask.
```

```sh {#track needs=note task="Track it"}
git add --intent-to-add notes.txt
```
STEPS
quietly 'execplan set Steps @../steps.md'

say 'The guard is a hook. Claude Code and Codex ask it before every call of a tool.'
run 'execplan install guard --for claude -q'
say 'This plan has two steps for an agent.'
run 'execplan compile -q && execplan evaluate | head -n 2'
say 'Until a person approves the plan, the agent may only read, and write plans. (`call` stands in for its program.)'
run 'call read path=AGENTS.md'
run 'call write path=notes.txt content="Greet before you ask."'
say 'Approve what you have read, by its digest.'
digest=$(digest_of notes)
run "execplan approve --digest $digest --by Ann -q"
say 'The agent reads its instructions. (This is their last line.)'
run 'execplan handoff | tail -n 1'
say 'Now it may do the first step exactly as planned, and nothing else.'
run 'call write path=notes.txt content="Ask at once."'
run 'call command command="git add --intent-to-add notes.txt"'
run 'call command command="execplan approve --yes"'
run 'call write path=notes.txt content="Greet before you ask."'
say 'The agent does the step and reports it. The file must be there as planned. Then the next step is up.'
echo 'Greet before you ask.' >notes.txt
run 'execplan report note --status completed --result "The note is written."'
run 'call command command="git add --intent-to-add notes.txt"'
quietly 'git add --intent-to-add notes.txt'
run 'execplan report track --status completed --result "Git tracks the note."'
say 'The plan shows what is done.'
run 'execplan show'
say 'Remove the guard. The other entries of the hook file stay as they are.'
run 'execplan uninstall guard'
