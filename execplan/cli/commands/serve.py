"""The `execplan serve` command."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import click

from execplan.cli.answer import Answer, Call, print_answer
from execplan.cli.bug_report import write_bug_report
from execplan.cli.command_definition import define_command, lock_option
from execplan.core import features
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import OK, ExecplanError
from execplan.core.project import project_discovery

_PACKAGES = ("starlette", "uvicorn")


@define_command(
    reads=(
        "every plan, including archived plans and nested projects, with its artifacts, runs, approvals, audit log and "
        "Git history, again once a file has changed; claims."
    ),
    writes="plans and claims, when you edit them in a page, as the commands do; caches in the git directory.",
    examples=("execplan serve", "execplan serve --open", "execplan serve --port 0", "execplan serve --as Ann --commit"),
)
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), help="Port. Default: 8017; 0: any free port.")
@click.option("--host", metavar="HOST", help="Address to listen on. Default: 127.0.0.1, for this machine only.")
@click.option("--open", "opens_browser", is_flag=True, help="Open the board in your browser.")
@click.option("--dry-run", is_flag=True, help="Check whether the server can start, without starting it.")
@click.option("--commit/--no-commit", default=None, help="Commit each edit of a page, and nothing else.")
@lock_option
def serve(call: Call, port: int | None, host: str | None, opens_browser: bool, options: WriteOptions) -> Answer:
    """Serve plans as web pages that stay up to date.

    The pages show the board, plans, decisions and the archive. They change when an agent or a person edits a plan
    anywhere. In a page you can check off, reopen, add and claim tasks, and record decisions; if the plan has changed
    since the page was loaded, nothing is written, and the page shows what changed. You approve and run plans in the
    terminal.

    Stop the server with Ctrl-C. With --dry-run, only check whether it can start.
    """
    if not all([find_spec(package) for package in _PACKAGES]):
        raise ExecplanError("no-web", "the web server is not installed", hint=features.load(features.EXTRA_HINT)("web"))
    import gc

    from execplan.cli.output.progress_bar import ProgressBar
    from execplan.views.server import server_process
    from execplan.views.server.plan_server import PlanServer
    from execplan.views.server.server_process import run_server

    project = project_discovery.require(os.getcwd())
    host = server_process.DEFAULT_HOST if host is None else host
    listener = server_process.open_listening_socket(host, server_process.DEFAULT_PORT if port is None else port)
    with listener:
        bound_port = listener.getsockname()[1]
        url = server_process.format_url(host, bound_port)
        is_public = not server_process.is_loopback(host)
        warnings = (_public_warning(bound_port),) if is_public else ()
        data = {
            "url": url,
            "host": host,
            "port": bound_port,
            "loopback": not is_public,
            "root": project.root,
        }
        if options.dry_run:
            return Answer(data, f"would serve {project.display_path(project.base) or '.'} at {url}", warnings=warnings)
        server = PlanServer(project.base, options, write_bug_report)
        with ProgressBar("reading plans", is_enabled=not call.quiet and not call.as_json) as bar:
            server.prepare(bar.tick)
        application = server.application(server_process.own_host_names(host), any_address=is_public)
        network_url = server_process.format_network_url(host, bound_port)
        urls = f"{url}, for other machines at {network_url}" if network_url else url
        answer = Answer(data, f"Serving plans at {urls} (stop with Ctrl-C)", warnings=warnings)

        def announce() -> None:
            print_answer(answer, call, "serve")
            sys.stdout.flush()
            if opens_browser:
                import webbrowser

                webbrowser.open(url)

        gc.enable()  # unlike other commands, this one runs for hours
        try:
            run_server(application, server.feed, listener, announce)
        except KeyboardInterrupt:  # the usual way to stop it is no error
            if not (call.as_json or call.quiet):
                click.echo("stopped")
    raise click.exceptions.Exit(OK)  # the answer has been printed already


def _public_warning(port: int) -> str:
    """Return the warning about an address that other machines can reach."""
    return (
        f"every machine that can reach port {port} of this one can read all plans, approvals, transcripts and artifacts, "
        "and edit plans in your name; there is no password and no encryption"
    )
