"""Pipeline of GitLab CI/CD for an approved plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.export.yaml_writer import write_yaml

if TYPE_CHECKING:
    from typing import Any

    from execplan.execution.export.exported_plan import ExportedJob, ExportedPlan


def gitlab_pipeline(plan: ExportedPlan) -> str:
    """Return the pipeline, which somebody starts by hand."""
    pipeline: dict[str, Any] = {
        "workflow": {"rules": [{"if": '$CI_PIPELINE_SOURCE == "web"'}]},
        "default": {"image": "python:3"},
    }
    pipeline |= {job.name: _job(plan, job) for job in plan.jobs}
    return write_yaml(plan.header, pipeline)


def _job(plan: ExportedPlan, job: ExportedJob) -> dict[str, Any]:
    earlier = plan.earlier_job(job)
    command = f"execplan {plan.run_arguments(job)}"
    options = plan.parallel_option(job)
    needs: list[dict[str, Any]] = []
    move: list[str] = []
    if earlier is not None:
        needs = [{"job": earlier.name, "artifacts": True}]
        # Artifacts arrive in the checkout, where they would be among the files that steps list and pack.
        move = ["OUTPUTS=$(mktemp -d)", f'mv {earlier.outputs_file} "$OUTPUTS"']
        options += f' --load "$OUTPUTS/{earlier.outputs_file}"'
    return {
        "needs": needs,
        "timeout": f"{job.minutes} minutes",
        "script": [
            f"python -m pip install execplan=={plan.version}",
            *move,
            f"{command} --check",
            f"{command}{options} --save {job.outputs_file}",
        ],
        "artifacts": {"paths": [job.outputs_file]},
    }
