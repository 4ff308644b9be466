"""Makefile for an approved plan: all jobs run in the same directory, where make is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from execplan.execution.export.exported_plan import ExportedJob, ExportedPlan


def makefile(plan: ExportedPlan) -> str:
    """Return the makefile; start it in the root of the repository."""
    names = " ".join([job.name for job in plan.jobs])
    header = "".join([f"# {line}\n" for line in plan.header])
    head = f"{header}\nEXECPLAN ?= execplan\n\n.PHONY: all check {names}\n\nall: {plan.jobs[-1].name}\n"
    rules = [f"check:\n{_recipe(plan, plan.jobs[0])} --check\n", *[_rule(plan, job) for job in plan.jobs]]
    return "\n".join([head, *rules])


def _rule(plan: ExportedPlan, job: ExportedJob) -> str:
    earlier = plan.earlier_job(job)
    return f"# {job.title}\n{job.name}: {earlier.name if earlier is not None else 'check'}\n{_recipe(plan, job)}{plan.parallel_option(job)}\n"


def _recipe(plan: ExportedPlan, job: ExportedJob) -> str:
    return f"\t$(EXECPLAN) {plan.run_arguments(job).replace('$', '$$')}"
