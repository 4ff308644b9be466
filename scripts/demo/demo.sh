#!/bin/sh
# The main story: one plan from its first line to the archive.
. "$(dirname "$0")/story.sh"

fill() { quietly "execplan set '$1' '$2'"; }

say 'Set up plans in this repository: a guide, directories and settings in .agent.'
run 'execplan init --commit -q'
say 'Write a plan before the work starts.'
run 'execplan new "Build the parser" --task "Read lines" --task "Write the tests"'
say 'Fill in its sections, in your editor or by command. (The demo fills in the others silently.)'
run 'execplan set "Plan of Work" "Write src/scan.py (new), then a reader on top of it." -q'
fill 'Purpose / Big Picture' 'A plan can be read and edited without losing a byte. `make test` shows it.'
fill 'Context and Orientation' 'Plans are Markdown files. Nothing in this repository reads them yet.'
fill 'Concrete Steps' 'In the root of the repository, `make test` prints `12 passed`.'
fill 'Validation and Acceptance' '`make test` passes. A file that is read and written again has the same bytes.'
fill 'Idempotence and Recovery' 'Every step can be repeated. Nothing outside the repository changes.'
fill 'Artifacts and Notes' 'The output of the tests follows.'
fill 'Interfaces and Dependencies' '`read(data: bytes) -> Plan` in `src/scan.py` (new).'
say 'Ask for the next task, and check it off when it is done.'
run 'execplan next'
mkdir src && touch src/scan.py # the work itself
run 'execplan done 1'
say 'Record what you learn and decide while you work.'
run 'execplan add "Handle CRLF" --after 1 -q'
run 'execplan discover "The last line can lack a newline" --evidence "test_last_line failed" -q'
run 'execplan decide "Read line by line" --why "A task is one line." -q'
run 'execplan done 2 3'
say 'Check the plan against the rules. All tasks are done, but the plan does not say what came of them.'
refused 1 'execplan lint'
say 'Attach the evidence, write down the outcome and check again.'
echo '12 passed in 0.31s' >test.log
run 'execplan attach test.log --about "All tests pass." -q'
rm test.log
run 'execplan outcome "Plans are read and written without loss." -q'
run 'execplan lint'
say 'Commit the plan and nothing else, then archive it. Git keeps its history.'
run 'execplan commit'
run 'execplan archive --commit'
run 'git log --oneline'
