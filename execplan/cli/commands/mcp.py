"""The `execplan mcp` command."""

from __future__ import annotations

import os
from importlib.util import find_spec

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.core import features
from execplan.core.errors import ExecplanError


@define_command(
    reads="requests on standard input; plans, as the tools ask for them.",
    writes="answers on standard output; plans, as the commands do that the tools call.",
    examples=("execplan mcp",),
)
def mcp(call: Call) -> Answer:
    """Serve plans to an agent program by the Model Context Protocol.

    Agent programs start it themselves, and stop it by closing its input. Its tools read and write plans, and
    report the results of approved steps; none approves, runs or rolls back steps. Each tool takes the directory of
    a project as the argument `root`, so one entry in your own settings is enough for all repositories.
    """
    if find_spec("mcp") is None:
        raise ExecplanError("no-mcp", "the MCP SDK is not installed", hint=features.load(features.EXTRA_HINT)("mcp"))
    import asyncio
    import gc

    from execplan.agents.toolkit.mcp_server import serve

    gc.enable()  # unlike other commands, this one runs for hours
    asyncio.run(serve(os.getcwd()))
    return Answer({}, "", is_requested=False)
