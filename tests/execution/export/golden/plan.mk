# Exported by execplan VERSION from .agent/execplans/2026-01-01_parser.md.
# Don't edit it: change the plan, and export it again.

EXECPLAN ?= execplan

.PHONY: all check job-1 job-2 job-3

all: job-3

check:
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest 81f3417f3d7e026bd4efcbcd1c5c4d73e28c1b961767ef91c6582c8b0bfff5f1 --check

# write
job-1: check
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest 81f3417f3d7e026bd4efcbcd1c5c4d73e28c1b961767ef91c6582c8b0bfff5f1

# drop, build
job-2: job-1
	$(EXECPLAN) job 2 -p .agent/execplans/2026-01-01_parser.md --digest a86b9c7952fde10452f024e158fa53c9d45af2e738d1420d6cdf5b2efac3cb6f

# check
job-3: job-2
	$(EXECPLAN) job 3 -p .agent/execplans/2026-01-01_parser.md --digest 27839e8b1194326811ec877ff355e25b2eb72f0f40555cd1a3edc33255eb92a5
