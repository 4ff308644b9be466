"""Search with a regular expression in a process of its own, which is stopped if it takes too long.

Python's `re` can take years for a short text, and a thread can't be stopped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import file_error
from execplan.core.text.message_parts import shorten

SECONDS: Final = 5
"""Time limit for the files of a step together."""
_PROGRAM: Final = """
import json, re, sys
request = json.load(sys.stdin)
pattern = re.compile(request["pattern"], re.MULTILINE)
found = []
for text in request["texts"]:
    matches = pattern.finditer(text)
    found.append([(match.start(), match.end(), match.expand(request["replacement"])) for match in matches])
json.dump(found, sys.stdout)
"""

Match = tuple[int, int, str]
"""Where a match starts and ends, and the text that replaces it."""


def find_matches(pattern: str, replacement: str, texts: Sequence[str]) -> list[list[Match]]:
    """Return the matches in each text. Raises ExecplanError, also if the time limit is reached."""
    request = {"pattern": pattern, "replacement": replacement, "texts": list(texts)}
    try:
        completed = subprocess.run(  # noqa: S603 - our own interpreter, with the program above
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps(request),
            encoding="ascii",
            capture_output=True,
            timeout=SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        message = f"the regular expression {shorten(pattern, 60)!r} takes longer than {SECONDS} seconds"
        hint = "a repetition of a repetition, such as (a+)+, takes exponential time: write it without one"
        raise ExecplanError("bad-regex", message, hint=hint) from None
    except OSError as error:
        raise file_error(error, sys.executable, "start") from None
    if completed.returncode:
        why = completed.stderr.strip().rpartition("\n")[2] or f"exit status {completed.returncode}"
        raise ExecplanError("bad-regex", f"the regular expression {shorten(pattern, 60)!r} failed: {why}")
    return [[(start, end, new) for start, end, new in matches] for matches in json.loads(completed.stdout)]
