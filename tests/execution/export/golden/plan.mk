# Exported by execplan VERSION from .agent/execplans/2026-01-01_parser.md.
# Don't edit it: change the plan, and export it again.

EXECPLAN ?= execplan

.PHONY: all check job-1 job-2 job-3

all: job-3

check:
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest f36c1d99663292b48b8135c191822e99370da55cc452ff33438a05f72811cd06 --check

# write, drop
job-1: check
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest f36c1d99663292b48b8135c191822e99370da55cc452ff33438a05f72811cd06

# build
job-2: job-1
	$(EXECPLAN) job 2 -p .agent/execplans/2026-01-01_parser.md --digest ee1e329a6e08178798ffa6ee59af280222411088c88e4d652c7a5c91212f0070

# check
job-3: job-2
	$(EXECPLAN) job 3 -p .agent/execplans/2026-01-01_parser.md --digest 5655cbbacc21f403ece2db8d1c95e53ae5a97f65684b165e0561cdcf0abe7565
