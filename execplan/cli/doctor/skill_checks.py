"""Doctor checks of the skill and the plugin: intact and up to date."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from execplan.agents.integrations import managed_directory, plugin, skill
from execplan.cli.doctor.doctor_check import Finding, check
from execplan.cli.doctor.integration_checks import NOT_INSTALLED, check_integration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from execplan.agents.integrations.integration_changes import ChangeSet
    from execplan.cli.doctor.doctor_check import DoctorContext
    from execplan.core.project.project import Project


@check("skill")
def check_skill(context: DoctorContext) -> Iterator[Finding | str]:
    """The skill's files are intact and up to date."""
    project, programs = context.project, skill.installed_programs(context.project)
    if not programs:
        yield NOT_INSTALLED
        return
    install = partial(skill.install, project, programs=programs)
    yield from _check_directories(project, skill.NAME, install, partial(skill.uninstall, project, programs=programs))


@check("plugin")
def check_plugin(context: DoctorContext) -> Iterator[Finding | str]:
    """The plugin's files in your data directory are intact and up to date."""
    if not plugin.is_installed():
        yield NOT_INSTALLED
        return
    yield from _check_directories(
        context.project, plugin.NAME, partial(plugin.install, None), partial(plugin.uninstall, None)
    )


def _check_directories(
    project: Project, integration: str, install: Callable[..., ChangeSet], uninstall: Callable[..., ChangeSet]
) -> Iterator[Finding | str]:
    """Yield the problems of an integration, without those of a list whose files have problems too."""
    results = list(check_integration(project, integration, install, uninstall))
    findings = [result for result in results if isinstance(result, Finding)]
    is_list = [os.path.basename(finding.path) == managed_directory.LIST_NAME for finding in findings]
    for result in results:
        if not isinstance(result, Finding):
            yield result
        elif all(is_list) or not is_list[findings.index(result)]:
            is_missing = result.path and not os.path.lexists(os.path.join(project.root, result.path))
            yield result._replace(message="is missing") if is_missing else result
