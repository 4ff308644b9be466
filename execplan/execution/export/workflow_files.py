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
    return f"# {job.title}\n{job.name}: {earlier.name if earlier is not None else 'check'}\n{_recipe(plan, job)}{plan.run_options(job)}\n"


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
    is_gated = any([job.job.needs_person for job in plan.jobs])
    workflow = {
        "name": _literal(f"execplan {plan.id}"),
        "on": {"workflow_dispatch": {}},
        "permissions": {"contents": "read"} | ({"actions": "read"} if is_gated else {}),
        "jobs": jobs,
    }
    notes = [f"Reviewers of the environment {plan.environment} let jobs begin; name them in the repository's settings."]
    programs = [f"It installs none of these programs: {', '.join(plan.unknown_programs)}."]
    header = (*plan.header, *(notes if is_gated else ()), *(programs if plan.unknown_programs else ()))
    return write_yaml(header, workflow)


def _job(plan: ExportedPlan, job: ExportedJob) -> dict[str, Any]:
    earlier = plan.earlier_job(job)
    command = f"execplan {plan.run_arguments(job)}"
    options = plan.run_options(job)
    options += f" --load {_in_shell(earlier.outputs_file)}" if earlier is not None else ""
    gate = [_reviewers_check(plan.environment)] if job.job.needs_person else []
    steps: list[dict[str, Any]] = [
        *gate,
        {"uses": "actions/checkout@v6", "with": {"persist-credentials": False}},
        {"uses": "actions/setup-python@v5", "with": {"python-version": "3.x"}},
        {"name": "Install execplan", "run": f"python -m pip install execplan=={plan.version}"},
        *job.setup.steps,
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
        **({"environment": plan.environment} if job.job.needs_person else {}),
        "runs-on": "ubuntu-latest",
        "timeout-minutes": job.minutes,
        "steps": steps,
    }


def _reviewers_check(environment: str) -> dict[str, Any]:
    """Return the step that fails if nobody has to let the job begin: GitHub creates a missing environment without rules."""
    rules = f'gh api "repos/$GITHUB_REPOSITORY/environments/{environment}" --jq ".protection_rules[].type"'
    message = f"the environment {environment} has no required reviewers: add them in Settings, Environments"
    return {
        "name": "Check that the environment has reviewers",
        "run": f"{rules} | grep -qx required_reviewers || {{ echo '::error::{message}'; exit 1; }}",
        "env": {"GH_TOKEN": "${{ github.token }}"},
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
    options = plan.run_options(job)
    needs: list[dict[str, Any]] = []
    move: list[str] = []
    if earlier is not None:
        needs = [{"job": earlier.name, "artifacts": True}]
        # Artifacts arrive in the checkout, where they would be among the files that steps list and pack.
        move = ["OUTPUTS=$(mktemp -d)", f'mv {earlier.outputs_file} "$OUTPUTS"']
        options += f' --load "$OUTPUTS/{earlier.outputs_file}"'
    gate: dict[str, Any] = {"when": "manual", "allow_failure": False} if job.job.needs_person else {}
    return {
        "needs": needs,
        **gate,
        "timeout": f"{job.minutes} minutes",
        "script": [
            f"python -m pip install execplan=={plan.version}",
            *move,
            f"{command} --check",
            f"{command}{options} --save {job.outputs_file}",
        ],
        "artifacts": {"paths": [job.outputs_file]},
    }
