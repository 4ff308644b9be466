# Exported by execplan VERSION from .agent/execplans/2026-01-01_parser.md.
# Don't edit it: change the plan, and export it again.

EXECPLAN ?= execplan

.PHONY: all check job-1 job-2 job-3

all: job-3

check:
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest aecf664aeb948ca9d1fdb3acb9581a78872cf402f36df1053a27553320c349ff --check

# write
job-1: check
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest aecf664aeb948ca9d1fdb3acb9581a78872cf402f36df1053a27553320c349ff

# drop, build
job-2: job-1
	$(EXECPLAN) job 2 -p .agent/execplans/2026-01-01_parser.md --digest 1149d8720717e2a792a73a30fc8a6fbb65c557b30aa9be68031076f07b0cbfea

# check
job-3: job-2
	$(EXECPLAN) job 3 -p .agent/execplans/2026-01-01_parser.md --digest 7b4df6c4fd12e73b140808b8ea031d84ca5cb87509d39d842280c553e447f7f1
