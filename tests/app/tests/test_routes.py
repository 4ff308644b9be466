"""What the service answers."""

from __future__ import annotations

from unittest import TestCase

from greeter.routes import answer


class Routes(TestCase):
    """Good requests."""

    def test_ping(self) -> None:
        """It is there."""
        assert answer("GET", "/ping") == (200, "pong")

    def test_greeting(self) -> None:
        """It greets who is named."""
        assert answer("GET", "/greeting?name=Ann") == (200, "hello, Ann")
