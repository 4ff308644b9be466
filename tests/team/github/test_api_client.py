"""The client: the path of an Enterprise server, pages, redirects on the same host, and what the token never reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.team.github.api_client import ApiClient
from execplan.team.github.api_endpoint import find_endpoint
from tests.team.github.github_server import TOKEN, Answer, GithubServer, Request, running_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def github() -> Iterator[GithubServer]:
    """A server whose answers the test gives."""
    with running_server() as server:
        yield server


def client(github: GithubServer, path: str = "/api/v3/") -> ApiClient:
    """A client of the server."""
    return ApiClient(find_endpoint({"GITHUB_API_URL": github.url + path, "GITHUB_TOKEN": TOKEN}))


def test_the_path_of_an_enterprise_server(github: GithubServer) -> None:
    def answer(request: Request) -> Answer:
        page = {"/api/v3/a": "/api/v3/a?page=2"}.get(request.url)
        headers = (("Link", f'<{github.url}{page}>; rel="next"'),) if page else ()
        return Answer(200, [{"url": request.url}], headers)

    github.intercept = answer
    with client(github) as api:
        assert list(api.get_all("/a")) == [{"url": "/api/v3/a"}, {"url": "/api/v3/a?page=2"}]


@pytest.mark.parametrize(
    "location",
    [
        "{url}/elsewhere",
        "{url}.evil.example/api/v3/a",
        "//evil.example/api/v3/a",
        "https://evil.example/api/v3/a",
        "http://[",
        "ftp://x/api/v3/",
    ],
)
def test_a_redirect_that_leaves_the_api_is_an_error(github: GithubServer, location: str) -> None:
    target = location.format(url=github.url)
    github.intercept = lambda request: Answer(302, {}, (("Location", target),))
    with client(github) as api, pytest.raises(ExecplanError) as caught:
        api.get("/a")
    assert caught.value.code == "github-unavailable"
    assert len(github.requests) == 1


def test_redirects_in_a_circle_end(github: GithubServer) -> None:
    github.intercept = lambda request: Answer(302, {}, (("Location", request.url),))
    with client(github) as api, pytest.raises(ExecplanError) as caught:
        api.get("/a")
    assert caught.value.code == "github-rejected"


def test_the_token_is_not_in_the_representation(github: GithubServer) -> None:
    assert TOKEN not in repr(find_endpoint({"GITHUB_TOKEN": TOKEN}))


@pytest.mark.parametrize("answer", [Answer(200, {}), Answer(200, [1]), Answer(200, "text"), Answer(200, b"\xff")])
def test_a_list_that_is_none(github: GithubServer, answer: Answer) -> None:
    github.intercept = lambda request: answer
    with client(github) as api, pytest.raises(ExecplanError) as caught:
        list(api.get_all("/a"))
    assert caught.value.code == "github-unavailable"


def test_a_change_is_never_redirected(github: GithubServer) -> None:
    github.intercept = lambda request: Answer(307, {}, (("Location", "/api/v3/b"),))
    with client(github) as api, pytest.raises(ExecplanError) as caught:
        api.send("POST", "/a", {})
    assert caught.value.code == "github-rejected"
    assert len(github.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(422, {"message": f"bad Bearer {TOKEN}"}),
        Answer(401, {"message": "no", "errors": [{"message": TOKEN}, {"field": TOKEN, "code": "x"}]}),
        Answer(403, {"message": "x" * 280 + TOKEN}),
        Answer(422, b'{"message": "' + TOKEN.replace("ghp", "\\u0067hp").encode() + b'"}'),
        Answer(302, {}, (("Location", f"/api/v3/{TOKEN}"),)),
    ],
)
def test_a_server_that_repeats_the_token(github: GithubServer, answer: Answer) -> None:
    github.intercept = lambda request: answer
    with client(github) as api, pytest.raises(ExecplanError) as caught:
        api.get("/a")
    assert TOKEN[:20] not in caught.value.message


def test_an_answer_that_repeats_the_token(github: GithubServer) -> None:
    github.intercept = lambda request: Answer(200, {TOKEN: [f"Bearer {TOKEN}", 1]})
    with client(github) as api:
        assert api.get("/a") == {"[redacted]": ["Bearer [redacted]", 1]}
