"""Files for other engines from an approved plan: workflows of GitHub Actions, pipelines of GitLab CI/CD, makefiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from execplan.execution.export.exported_plan import ExportedJob, ExportedPlan

_EXPRESSION = "${{"
_ESCAPED_EXPRESSION = "${{ '${{' }}"
_TEMP_DIRECTORY = "${{ runner.temp }}"
"""Directory for the outputs of jobs: in the checkout, they would be among the files that steps list and pack."""


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


def write_yaml(header: tuple[str, ...], data: dict[str, Any]) -> str:
    """Return data as YAML in the given order, after comment lines without line breaks."""
    import yaml

    comment = "".join([f"# {line}\n" for line in header])
    return comment + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)


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


def gitlab_pipeline(plan: ExportedPlan) -> str:
    """Return the pipeline, which somebody starts by hand."""
    pipeline: dict[str, Any] = {
        "workflow": {"rules": [{"if": '$CI_PIPELINE_SOURCE == "web"'}]},
        "default": {"image": "python:3"},
    }
    pipeline |= {job.name: _gitlab_job(plan, job) for job in plan.jobs}
    return write_yaml(plan.header, pipeline)


def _gitlab_job(plan: ExportedPlan, job: ExportedJob) -> dict[str, Any]:
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
