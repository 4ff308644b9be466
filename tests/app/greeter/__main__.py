"""Serve, or print the answer to one request: `python3 -m greeter GET /ping`."""

from __future__ import annotations

import sys

from greeter.routes import answer
from greeter.server import serve


def main(arguments: list[str]) -> int:
    """Run the command; the exit status is 1 for a request that is refused."""
    if not arguments:
        serve(8000)
        return 0
    status, body = answer(*arguments)
    print(status, body)
    return int(status >= 400)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
