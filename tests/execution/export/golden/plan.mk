# Exported by execplan VERSION from .agent/execplans/2026-01-01_parser.md.
# Don't edit it: change the plan, and export it again.

EXECPLAN ?= execplan

.PHONY: all check job-1 job-2 job-3

all: job-3

check:
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest 398f72f7eb13691a10f42592083bda6f75bce91851a4a0232cc3d7094bfc7777 --check

# write, drop
job-1: check
	$(EXECPLAN) job 1 -p .agent/execplans/2026-01-01_parser.md --digest 398f72f7eb13691a10f42592083bda6f75bce91851a4a0232cc3d7094bfc7777

# build
job-2: job-1
	$(EXECPLAN) job 2 -p .agent/execplans/2026-01-01_parser.md --digest 9c890dfedb0e184826876264e0373c999e1e2e014f825a9512aaa8d1d9c95f20

# check
job-3: job-2
	$(EXECPLAN) job 3 -p .agent/execplans/2026-01-01_parser.md --digest 7d68e905186ce6c34226551b21cd7ea2e7a223de9946a4c627b36ed39cacb261
