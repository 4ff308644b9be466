"""`python -IS tests/fork_client.py SOCKET ARGUMENT…` is `execplan ARGUMENT…`, forked by the server of `tests.fork_server`.

It imports what is built into Python, and so starts in a tenth of the time. The variables that Python reads when it starts
are the server's.
"""

from __future__ import annotations

import posix
import sys
from _signal import SIG_DFL, signal  # type: ignore[import-not-found]  # typeshed knows the one on top of it only
from _socket import AF_UNIX, SCM_RIGHTS, SHUT_WR, SOL_SOCKET, socket

path, *arguments = [argument.encode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
environment = [b"%s=%s" % variable for variable in posix.environ.items()]
request = b"".join([field + b"\0" for field in (posix.getcwdb(), b"%d" % len(arguments), *arguments, *environment)])
server = socket(AF_UNIX)
server.connect(path)
streams = b"".join([number.to_bytes(4, sys.byteorder) for number in range(3)])
sent_count = server.sendmsg([request], [(SOL_SOCKET, SCM_RIGHTS, streams)])
server.sendall(request[sent_count:])
server.shutdown(SHUT_WR)
reply = b""
while chunk := server.recv(100):
    reply += chunk
status = int(reply.split()[1])
if status < 0:
    signal(-status, SIG_DFL)
    posix.kill(posix.getpid(), -status)
posix._exit(status)
