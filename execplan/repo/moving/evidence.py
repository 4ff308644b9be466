"""What is written beside the artifacts of an archived plan: what the plan was, and what belongs to it, by digest."""

from __future__ import annotations

import os

from execplan.clock import PLAIN, now, write_stamp
from execplan.plan import reader
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

FILE = "execplan-evidence.json"
SCHEMA = "execplan/evidence/1"


def evidence(home: Home, ref: Ref, origin: str, path: str, how: str, by: str | None, data: bytes) -> bytes:
    """The evidence of a plan that will be archived at a path as `how`, with these bytes; raises ExecplanError.

    The commit is the one that was checked out, so the one before the archive's own. The artifacts are where the plan
    has them, where it had them before somebody moved its file from `origin`, or where somebody has moved them already.
    """
    import json

    from execplan.repo.git import head
    from execplan.text.lines import digest

    plan = reader.read(data)
    folders = [home.artifacts_of(ref.path, archived=ref.archived), home.artifacts_of(path, archived=True)]
    folders += [home.artifacts_of(origin, archived=False)] if origin else []
    told = {
        "schema": SCHEMA,
        "id": ref.id,
        "path": home.shown(path),
        "title": plan.title,
        "digest": digest(data),
        "commit": head(home),
        "archived": write_stamp(now(), PLAIN).strip("()"),
        "as": how,
        "by": by,
        "counts": plan.counts(),
        "manifest": _manifest(next(filter(os.path.isdir, folders), folders[0]), ref.path),
    }
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def is_evidence(path: str) -> bool:
    """Whether a file is evidence that an archive wrote."""
    return os.path.isfile(path) and f'"schema": "{SCHEMA}"'.encode() in disk.read(path, reader.MAX_BYTES)[0][:200]


def recorded(home: Home, path: str) -> str:
    """The digest that the plan in a file of the archive had when it was archived; nothing where no evidence tells."""
    from execplan.errors import ExecplanError

    file = os.path.join(home.artifacts_of(path, archived=True), FILE)
    try:
        if not is_evidence(file):
            return ""
        import json

        told = json.loads(disk.read(file, reader.MAX_BYTES)[0])
    except (ExecplanError, ValueError, RecursionError):
        return ""
    if not isinstance(told, dict):
        return ""
    return str(told.get("digest", "")) if told.get("id") == home.place(path)[1] else ""


def _manifest(folder: str, plan: str) -> list[dict[str, Any]]:
    """Each file below a folder but the plan's own, by path; what a link says is told, and not followed.

    Raises ExecplanError, also when a part of it can't be read.
    """
    files: list[dict[str, Any]] = []
    if not os.path.isdir(folder):
        return files
    try:
        for place, folders, names in os.walk(folder, onerror=_refuse):
            folders.sort()
            links = [name for name in folders if os.path.islink(os.path.join(place, name))]
            for name in sorted([*names, *links]):
                path = os.path.join(place, name)
                shown = os.path.relpath(path, folder)
                if os.path.islink(path):
                    files.append({"path": shown, "link": os.readlink(path)})
                elif os.path.isfile(path) and shown != FILE and path != plan:
                    files.append({"path": shown, **_digested(path)})
    except OSError as error:
        raise disk.trouble(error, error.filename or folder, "read") from None
    return sorted(files, key=lambda each: str(each["path"]))


def _refuse(error: OSError) -> None:
    raise error


def _digested(path: str) -> dict[str, Any]:
    from hashlib import file_digest

    handle, size = disk.open_file(path)
    with open(handle, "rb") as file:
        return {"bytes": size, "sha256": file_digest(file, "sha256").hexdigest()}
