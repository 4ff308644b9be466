"""Workflow of GitHub Actions for an approved plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.export.yaml_writer import write_yaml

if TYPE_CHECKING:
    from typing import Any

    from execplan.execution.export.exported_plan import ExportedJob, ExportedPlan

_EXPRESSION = "${{"
_ESCAPED_EXPRESSION = "${{ '${{' }}"
_TEMP_DIRECTORY = "${{ runner.temp }}"
"""Directory for the outputs of jobs: in the checkout, they would be among the files that steps list and pack."""


def github_workflow(plan: ExportedPlan) -> str:
    """Return the workflow, which somebody starts by hand."""
    jobs = {job.name: _job(plan, job) for job in plan.jobs}
    workflow = {
        "name": _literal(f"execplan {plan.id}"),
        "on": {"workflow_dispatch": {}},
        "permissions": {"contents": "read"},
        "jobs": jobs,
    }
    return write_yaml(plan.header, workflow)


def _job(plan: ExportedPlan, job: ExportedJob) -> dict[str, Any]:
    earlier = plan.earlier_job(job)
    command = f"execplan {plan.run_arguments(job)}"
    options = plan.parallel_option(job)
    options += f" --load {_in_shell(earlier.outputs_file)}" if earlier is not None else ""
    steps: list[dict[str, Any]] = [
        {"uses": "actions/checkout@v6", "with": {"persist-credentials": False}},
        {"uses": "actions/setup-python@v5", "with": {"python-version": "3.x"}},
        {"name": "Install execplan", "run": f"python -m pip install execplan=={plan.version}"},
        {"name": "Check that the plan is the approved one", "run": _literal(f"{command} --check")},
    ]
    if earlier is not None:
        steps.append(
            {
                "name": f"Get the outputs of {earlier.name}",
                "uses": "actions/download-artifact@v4",
                "with": {"name": earlier.name, "path": _TEMP_DIRECTORY},
            }
        )
    save = f" --save {_in_shell(job.outputs_file)}"
    steps.append({"name": "Run the steps", "run": _literal(f"{command}{options}{save}")})
    steps.append(
        {
            "name": "Pass on the outputs",
            "uses": "actions/upload-artifact@v4",
            "with": {
                "name": job.name,
                "path": f"{_TEMP_DIRECTORY}/{job.outputs_file}",
                "if-no-files-found": "error",
            },
        }
    )
    needs = {"needs": [earlier.name]} if earlier is not None else {}
    return {
        "name": _literal(f"{job.name}: {job.title}"),
        **needs,
        "runs-on": "ubuntu-latest",
        "timeout-minutes": job.minutes,
        "steps": steps,
    }


def _in_shell(outputs_file: str) -> str:
    """Return the path of a file in the directory for outputs, for a shell."""
    return f'"$RUNNER_TEMP/{outputs_file}"'


def _literal(text: str) -> str:
    """Return a text in which GitHub evaluates no expression."""
    return text.replace(_EXPRESSION, _ESCAPED_EXPRESSION)
