"""Digest of what a job must find: the approved steps, and the files that they use, on any machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from execplan.core.text.pure_paths import do_overlap
from execplan.core.text.text_lines import digest
from execplan.execution.binding import bound_paths
from execplan.execution.export.job_partition import passed_paths
from execplan.execution.world import FILE, FOLDER, LINK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.binding import Binding
    from execplan.execution.export.job_partition import Job
    from execplan.execution.world import State


def job_digest(binding: Binding, jobs: Sequence[Job], number: int) -> str:
    """Return the SHA-256 of the execution plan, the job, and the files that no earlier job writes.

    Of the mode of a file only the executable bit counts, because a checkout depends on the umask. Programs and the
    policy are not part of it: they belong to the machine.
    """
    earlier_outputs = [path for job in jobs[: number - 1] for step in job.steps for path in passed_paths(step)]
    used = dict.fromkeys([path for job in jobs for step in job.steps for path in bound_paths(step)])
    states = {
        path: _portable_state(binding.states[path])
        for path in sorted(used)
        if not any([do_overlap(path, other) for other in earlier_outputs])
    }
    content = {
        "document": binding.document,
        "jobs": [[step.id for step in job.steps] for job in jobs],
        "job": number,
        "states": states,
    }
    return digest(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def _portable_state(state: State) -> list[str]:
    if state.kind == FILE:
        return [state.kind, state.sha256, "x" if state.mode & 0o100 else "-"]
    return [state.kind, state.link if state.kind == LINK else "" if state.kind == FOLDER else state.kind]
