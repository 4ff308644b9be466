"""A fake model on the loopback interface: it answers each request with what a test says, as server-sent events.

`chat_form`, `content_form`, `messages_form` and `responses_form` read a program's requests and write the answers as its service would.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Say(NamedTuple):
    """The model says something; with nothing else in its answer, its turn ends."""

    text: str


class Use(NamedTuple):
    """The model calls a tool: with an object of arguments, or with the text that a free-form tool takes."""

    name: str
    arguments: dict[str, Any] | str


Action = Say | Use


class Request(NamedTuple):
    """A request to the model."""

    text: str
    """All that the model reads in it, one part a line."""
    results: tuple[tuple[str, str], ...]
    """The results of tool calls in it: the ID of each call, and the text. The fake calls them `call-0`, `call-1` and so on."""
    tools: tuple[str, ...]
    """Names of the tools; none in a request for a title or a summary."""
    is_compaction: bool
    """Whether it asks for a summary of the conversation."""


class Reply(NamedTuple):
    """An answer of the model."""

    actions: Sequence[Action]
    fills_context: bool = False
    """Whether it reports so much text that the program compacts the conversation."""


class WireForm(Protocol):
    """How a program talks to its model."""

    PATH: str
    """End of the path to which it posts its requests."""

    def parse_request(self, body: dict[str, Any]) -> Request:
        """Parse a request."""

    def format_reply(self, reply: Reply, number: int, first_call: int) -> Iterator[dict[str, Any]]:
        """Yield the events of an answer: `number` counts the answers, `first_call` the calls in earlier ones."""


class FakeModel:
    """A server that answers requests until it is closed."""

    def __init__(self, form: WireForm, answer: Callable[[Request], Reply]) -> None:
        self.form, self.answer = form, answer
        self.requests: list[Request] = []
        self._call_count, self._lock = 0, threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one connection."""

            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                """Answer a question about models with none."""
                self._send("application/json", b'{"data":[],"models":[]}')

            def do_HEAD(self) -> None:
                """Answer a question whether there is a service."""
                self._send("application/json", b"")

            def do_POST(self) -> None:
                """Answer a request to the model, and anything else with an empty object."""
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if not self.path.partition("?")[0].endswith(model.form.PATH):
                    self._send("application/json", b'{"input_tokens":1}')
                    return
                self._send("text/event-stream", model.respond(json.loads(body)))

            def log_message(self, format: str, *arguments: object) -> None:
                """Keep quiet."""

            def _send(self, content_type: str, content: bytes) -> None:
                self.send_response(200)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def respond(self, body: dict[str, Any]) -> bytes:
        """Return the events with which a request is answered."""
        request = self.form.parse_request(body)
        with self._lock:
            if not request.tools and not request.is_compaction:
                reply = Reply([Say("Work")])  # a title for the session
            elif request.is_compaction:
                self.requests.append(request)
                reply = Reply([Say("The work goes on.")])
            else:
                self.requests.append(request)
                reply = self.answer(request)
            number, first_call = len(self.requests), self._call_count
            self._call_count += sum([isinstance(action, Use) for action in reply.actions])
        events = self.form.format_reply(reply, number, first_call)
        return "".join([_format_event(event) for event in events]).encode()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


def _format_event(event: dict[str, Any]) -> str:
    """Return an event as it is sent; only some forms name the types of their events."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def scripted(*replies: Sequence[Action] | Reply) -> Callable[[Request], Reply]:
    """Answer with these replies in order, and then with a last word."""
    pending = list(replies)

    def answer(request: Request) -> Reply:
        reply = pending.pop(0) if pending else [Say("Done.")]
        return reply if isinstance(reply, Reply) else Reply(reply)

    return answer
