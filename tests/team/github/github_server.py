"""A server on loopback that behaves like GitHub's REST API for issues and projects, and checks every request."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.team.github.api_checker import Operation, find_operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKEN = "ghp_" + "T0kenOfTheTests" * 2
OWNER, NAME = "octocat", "hello"
TIME = "2026-01-01T00:00:00Z"
URL_FIELDS = (
    "archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url compare_url contents_url "
    "contributors_url deployments_url downloads_url events_url forks_url git_commits_url git_refs_url git_tags_url "
    "hooks_url issue_comment_url issue_events_url issues_url keys_url labels_url languages_url merges_url milestones_url "
    "notifications_url pulls_url releases_url stargazers_url statuses_url subscribers_url subscription_url tags_url "
    "teams_url trees_url url html_url clone_url git_url ssh_url svn_url"
).split()


class Request(NamedTuple):
    """A request that the server got."""

    method: str
    url: str
    body: Any
    token: str


class Answer(NamedTuple):
    """What the server answers."""

    status: int
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


class GithubServer:
    """The state of a repository and a project, the requests so far, and what was wrong with them."""

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.items: dict[int, dict[str, Any]] = {}
        self.fields = [_text_field(11, "Plan state"), _text_field(12, "Plan progress"), _text_field(13, "Notes")]
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.page_size = 100
        self.full_name = f"{OWNER}/{NAME}"
        self.has_issues = True
        self.drops_labels = False
        self.intercept: Callable[[Request], Answer | None] = lambda request: None
        """Answers a request in place of the server, if it returns an answer."""
        self.url = ""

    @property
    def writes(self) -> list[Request]:
        """The requests that change something."""
        return [request for request in self.requests if request.method != "GET"]

    def add_issue(self, title: str, body: str | None, labels: list[str], state: str = "open") -> dict[str, Any]:
        """Add an issue, as a person would."""
        number = len(self.issues) + 1
        user = _user()
        base = f"{self.url}/repos/{self.full_name}/issues/{number}"
        self.issues[number] = {
            "id": 1000 + number,
            "node_id": f"I_{number}",
            "number": number,
            "title": title,
            "body": body,
            "labels": [_label(name) for name in labels],
            "state": state,
            "state_reason": None,
            "user": user,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "locked": False,
            "comments": 0,
            "closed_at": None,
            "created_at": TIME,
            "updated_at": TIME,
            "author_association": "OWNER",
            "html_url": f"https://github.example/{self.full_name}/issues/{number}",
            "url": base,
            "repository_url": f"{self.url}/repos/{self.full_name}",
            **{f"{name}_url": f"{base}/{name}" for name in ("labels", "comments", "events")},
        }
        return self.issues[number]

    def answer(self, operation: Operation, request: Request) -> Answer:
        """Return the answer to a request that is right."""
        arguments = operation.arguments
        if "owner" in arguments and f"{arguments['owner']}/{arguments['repo']}" != self.full_name:
            return Answer(404, {"message": "Not Found"})
        kind = f"{operation.method} {operation.path.split('/{project_number}')[-1].split('/{repo}')[-1]}"
        if "project_number" in arguments:
            if arguments["project_number"] != "7":
                return Answer(404, {"message": "Not Found"})
            return self._answer_project(kind, request, int(arguments.get("item_id", 0)))
        if "issue_number" in arguments:
            return self._answer_issue(kind, request, int(arguments["issue_number"]), arguments.get("name", ""))
        if kind == "GET ":
            return Answer(200, self._repository())
        if kind == "GET /issues":
            label = parse_qs(urlsplit(request.url).query)["labels"][0]
            issues = [issue for issue in self.issues.values() if label in [entry["name"] for entry in issue["labels"]]]
            return self._page(request, issues)
        assert kind == "POST /issues", kind
        labels = [] if self.drops_labels else request.body.get("labels", [])
        return Answer(201, self.add_issue(request.body["title"], request.body.get("body"), labels))

    def _answer_issue(self, kind: str, request: Request, number: int, label_name: str) -> Answer:
        if number not in self.issues:
            return Answer(404, {"message": "Not Found"})
        issue = self.issues[number]
        if kind == "PATCH /issues/{issue_number}":
            issue.update(request.body)
        elif kind == "POST /issues/{issue_number}/labels":
            names = [label["name"] for label in issue["labels"]]
            issue["labels"] += [_label(name) for name in request.body["labels"] if name not in names]
            return Answer(200, issue["labels"])
        elif kind == "DELETE /issues/{issue_number}/labels/{name}":
            remaining = [label for label in issue["labels"] if label["name"] != label_name]
            if len(remaining) == len(issue["labels"]):
                return Answer(404, {"message": "Label does not exist"})
            issue["labels"] = remaining
            return Answer(200, remaining)
        return Answer(200, issue)

    def _answer_project(self, kind: str, request: Request, item_id: int) -> Answer:
        if kind == "GET /fields":
            return self._page(request, self.fields)
        if kind == "GET /items":
            return self._page(request, list(self.items.values()))
        if kind == "POST /items":
            (issue,) = [issue for issue in self.issues.values() if issue["id"] == request.body["id"]]
            item: dict[str, Any] = {
                "id": 500 + len(self.items),
                "content_type": "Issue",
                "content": issue,
                "fields": [],
                "created_at": TIME,
                "updated_at": TIME,
                "archived_at": None,
            }
            self.items[item["id"]] = item
            return Answer(201, {name: value for name, value in item.items() if name not in ("fields", "content")})
        assert kind == "PATCH /items/{item_id}", kind
        stored_item: dict[str, Any] = self.items[item_id]
        for field in request.body["fields"]:
            (definition,) = [definition for definition in self.fields if definition["id"] == field["id"]]
            value = {"raw": field["value"], "html": field["value"]}
            if definition["data_type"] == "single_select":
                (option,) = [option for option in definition["options"] if option["id"] == field["value"]]
                value = {"id": option["id"], "name": option["name"]}
            others = [other for other in stored_item["fields"] if other["id"] != field["id"]]
            kept = {name: definition[name] for name in ("id", "name", "data_type")}
            stored_item["fields"] = [*others, {**kept, "value": value}]
        return Answer(200, stored_item)

    def _page(self, request: Request, entries: list[dict[str, Any]]) -> Answer:
        query = parse_qs(urlsplit(request.url).query)
        page = int(query.get("page", ["1"])[0])
        end = page * self.page_size
        headers: tuple[tuple[str, str], ...] = ()
        if end < len(entries):
            url = f"{self.url}{urlsplit(request.url).path}?" + "&".join(
                [f"{name}={values[0]}" for name, values in query.items() if name != "page"] + [f"page={page + 1}"]
            )
            headers = (("Link", f'<{self.url}/first>; rel="first", <{url}>; rel="next"'),)
        return Answer(200, entries[end - self.page_size : end], headers)

    def _repository(self) -> dict[str, Any]:
        repository: dict[str, Any] = {
            **dict.fromkeys(URL_FIELDS, f"https://github.example/{self.full_name}"),
            **dict.fromkeys(
                ("private", "fork", "archived", "disabled", "has_pages", "has_projects", "has_wiki"), False
            ),
            **dict.fromkeys(("forks", "forks_count", "open_issues", "open_issues_count", "size", "watchers"), 0),
            **dict.fromkeys(("stargazers_count", "watchers_count", "network_count", "subscribers_count"), 0),
            **dict.fromkeys(("description", "homepage", "language", "license", "mirror_url"), None),
            "id": 1,
            "node_id": "R_1",
            "name": NAME,
            "full_name": self.full_name,
            "default_branch": "main",
            "has_issues": self.has_issues,
            "has_discussions": False,
            "has_downloads": False,
            "owner": _user(),
            "created_at": TIME,
            "pushed_at": TIME,
            "updated_at": TIME,
        }
        return repository


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    github: GithubServer

    def _handle(self) -> None:
        github = self.github
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        request = Request(self.command, self.path, json.loads(data) if data else None, token)
        github.requests.append(request)
        operation = find_operation(self.command, self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if operation is None:
            problems = [f"no operation {self.command} {self.path}"]
        else:
            problems = operation.request_problems(self.path, data, headers)
        answer = github.intercept(request)
        if answer is None and token != TOKEN:
            answer = Answer(401, {"message": "Bad credentials"})
        if answer is None and operation is not None and not problems:
            answer = github.answer(operation, request)
            problems = operation.answer_problems(answer.status, answer.body)
        github.problems += problems
        self._send(answer or Answer(422, {"message": "; ".join(problems)}))

    def _send(self, answer: Answer) -> None:
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _handle  # noqa: N815 - the names that the base class calls

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def running_server() -> Iterator[GithubServer]:
    """Run a server, and stop it at the end."""
    github = GithubServer()
    handler = type("Handler", (_Handler,), {"github": github})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        github.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield github
        finally:
            server.shutdown()
            thread.join()


def select_field(id: int, name: str, options: list[str]) -> dict[str, Any]:
    """A field of a project with options."""
    texts = [{"raw": option, "html": option} for option in options]
    return {
        **_text_field(id, name),
        "data_type": "single_select",
        "options": [
            {"id": f"option-{text['raw']}", "name": text, "color": "GRAY", "description": text} for text in texts
        ],
    }


def _text_field(id: int, name: str) -> dict[str, Any]:
    return {
        "id": id,
        "name": name,
        "data_type": "text",
        "project_url": "https://github.example/orgs/octo/projects/7",
        "created_at": TIME,
        "updated_at": TIME,
    }


def _label(name: str) -> dict[str, Any]:
    return {
        "id": 1,
        "node_id": "L_1",
        "url": "https://github.example/l",
        "name": name,
        "color": "ededed",
        "default": False,
        "description": None,
    }


def _user() -> dict[str, Any]:
    urls = "avatar_url events_url followers_url following_url gists_url html_url organizations_url received_events_url repos_url starred_url subscriptions_url url".split()
    return {
        **dict.fromkeys(urls, "https://github.example/octocat"),
        "login": OWNER,
        "id": 1,
        "node_id": "U_1",
        "gravatar_id": "",
        "type": "User",
        "site_admin": False,
    }
