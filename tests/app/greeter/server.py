"""The service on a port."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from greeter.routes import answer


class Handler(BaseHTTPRequestHandler):
    """Answers requests, and logs each one."""

    def do_GET(self) -> None:
        """Answer."""
        status, body = answer(self.command, self.path)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(f"{body}\n".encode())

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Log a request without its query."""
        path, _, _ = self.path.partition("?")
        print(self.command, path, code)


def serve(port: int) -> None:
    """Serve until the process is terminated."""
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
