"""Do the same twelve jobs with execplan and other tools, and write the tables of docs/explanation/comparison.md.

`compare_peers.py` installs the tools with npm into a scratch directory and takes about ten minutes; names of tools as
arguments do only these and print their results. `PEERS_DIRECTORY` keeps the installations for the next call.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from peer_jobs import Jobs
from peers import PEERS, ROOT, Peer

PAGE = ROOT / "docs" / "explanation" / "comparison.md"
_BEGIN = "<!-- measurements: written by scripts/compare_peers.py -->\n"
_END = "<!-- /measurements -->\n"
ITEMS = 1_000
"""Items of the large repository."""
_RUNS = 5


def baseline(command: list[str]) -> str:
    """Return the best time of a process that does nothing."""
    times = []
    for _ in range(2 * _RUNS):
        start = time.perf_counter()
        subprocess.run(command, check=True)
        times.append(time.perf_counter() - start)
    return f"{min(times) * 1000:.0f} ms"


def compare(peers: list[Peer], scratch: Path) -> dict[str, dict[str, str]]:
    """Return the results of the tools that can be installed, by name and job."""
    results = {}
    for peer in peers:
        print(f"{peer.name}: install", file=sys.stderr, flush=True)
        if peer.install():
            continue
        print(f"{peer.name} {peer.version()}: work", file=sys.stderr, flush=True)
        start = time.monotonic()
        results[peer.name] = Jobs(peer, scratch / peer.name, ITEMS, _RUNS).all()
        shutil.rmtree(scratch / peer.name)
        print(f"{peer.name}: {time.monotonic() - start:.0f} s", results[peer.name], file=sys.stderr, flush=True)
    return results


def format_tables(peers: list[Peer], results: dict[str, dict[str, str]]) -> str:
    """Return the text between the marks of the page."""
    done = [peer for peer in peers if peer.name in results]
    names = [f"{peer.name} {peer.version()}" for peer in done]
    jobs = next(iter(results.values()))
    python, node = baseline([sys.executable, "-c", "pass"]), baseline(["node", "-e", "0"])
    lines = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d} on {os.cpu_count()} processors ({platform.system()}).",
        f"A process that does nothing takes {python} in Python {platform.python_version()} and {node} in Node.js",
        f"{node_version()}.",
        "",
        f"| job | {' | '.join(names)} |",
        f"|{' --- |' * (len(done) + 1)}",
        f"| *an item is* | {' | '.join([peer.item for peer in done])} |",
        *[f"| {job} | {' | '.join([results[peer.name][job] for peer in done])} |" for job in jobs],
        "",
        *[
            f"{peer.name} was not measured: {peer.missing or 'its package could not be installed.'}"
            for peer in peers
            if peer not in done
        ],
        "",
    ]
    return "\n".join(lines)


def node_version() -> str:
    """Return the version of Node.js."""
    return subprocess.check_output(["node", "--version"], text=True).strip().removeprefix("v")


def main() -> int:
    """Compare, and write the page if all tools took part."""
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        installations = Path(os.environ.get("PEERS_DIRECTORY") or Path(scratch, "installations"))
        chosen = [peer(installations / peer.name) for peer in PEERS if not names or peer.name in names]
        results = compare(chosen, Path(scratch))
        if names:
            return 0
        text = PAGE.read_text(encoding="utf-8")
        head, _, rest = text.partition(_BEGIN)
        PAGE.write_text(head + _BEGIN + "\n" + format_tables(chosen, results) + "\n" + _END + rest.partition(_END)[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
