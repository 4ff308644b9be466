#!/bin/sh
# What an agent is told: whether a plan is due, where it stands, what to read, and how to go on.
. "$(dirname "$0")/story.sh"

quietly 'execplan init --commit'
quietly 'execplan new "Build the parser" --purpose "Plans can be edited without losing a byte." --task "Read lines" --task "Build the parser in src/scan.py" --commit'
mkdir src
printf 'def scan(data):\n    return data.splitlines()\n' >src/scan.py
quietly 'git add -A'
quietly 'git commit -q -m "A scanner"'

say 'AGENTS.md tells agents how to work with plans. The git hook lints the plans that you commit.'
run 'execplan install agents git-hooks'
say 'Check whether a request needs a plan. No AI model is involved.'
run 'execplan triage "Fix a typo in the README"'
run 'execplan triage "Move all sessions to the new database without downtime"'
quietly 'execplan done 1'
quietly 'execplan decide "Read line by line" --why "A task is one line."'
say 'An agent that starts a session reads the state of the plan, in about 1 KB.'
run 'execplan prime'
say 'A context pack contains what to read for the next task, within a token budget.'
run 'execplan context --budget 2000 --explain'
say 'A checkpoint is one page with everything that a newcomer needs to continue.'
run 'execplan checkpoint'
say 'A summary tells people the same in the words of the plan.'
run 'execplan summarize'
