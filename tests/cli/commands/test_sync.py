"""`sync github` against a server that checks every request: what it writes, what it leaves alone, and what can go wrong."""

from __future__ import annotations

import json
import signal
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Folder, Result
from tests.plans import CLEAN
from tests.team.github.github_server import (
    NAME,
    OWNER,
    TOKEN,
    Answer,
    GithubServer,
    Request,
    running_server,
    select_field,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = f"{OWNER}/{NAME}"
PARSER = "2026-01-01_parser"
HOSTILE = "@octo/team ![x](https://evil.example/x) <!-- execplan:end --> <img src=x> #1"


@pytest.fixture
def github() -> Iterator[GithubServer]:
    """A server; at the end, every request and answer must have been as GitHub describes them."""
    with running_server() as server:
        yield server
    assert server.problems == []


@pytest.fixture
def project(repo: Folder, github: GithubServer) -> Folder:
    """A repository with two plans, and the variables for the server."""
    repo.plan()
    repo.plan(CLEAN.replace("# Build the parser", "# Write the printer"), "2026-01-02_printer")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plans")
    repo.env |= {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": TOKEN}
    return repo


def sync(folder: Folder, *arguments: str) -> Result:
    """Run the command."""
    return folder.run("sync", "github", "--repo", REPOSITORY, *arguments)


def apply(folder: Folder, *arguments: str) -> dict[str, Any]:
    """Apply and return the data."""
    data: dict[str, Any] = folder.ok("sync", "github", "--repo", REPOSITORY, "--apply", *arguments)
    return data


def labels(issue: dict[str, Any]) -> list[str]:
    """The names of an issue's labels."""
    return sorted(label["name"] for label in issue["labels"])


def test_a_dry_run_only_reads(project: Folder, github: GithubServer) -> None:
    for arguments in ((), ("--dry-run",)):
        result = sync(project, *arguments)
        assert result.out == (
            "create   2026-01-01_parser  execplan, plan:active\n"
            "create   2026-01-02_printer  execplan, plan:active\n"
            "octocat/hello: would create 2 issues\n"
            "next: execplan sync github --repo octocat/hello --apply\n"
        )
    assert github.writes == []


def test_an_issue_for_each_plan(project: Folder, github: GithubServer) -> None:
    data = apply(project)
    assert [(issue["action"], issue["number"]) for issue in data["issues"]] == [("create", 1), ("create", 2)]
    issue = github.issues[1]
    assert (issue["title"], labels(issue), issue["state"]) == ("Build the parser", ["execplan", "plan:active"], "open")
    assert issue["body"].splitlines()[2:] == [
        "A plan can be read and edited without loss.",
        "",
        "**Progress:** 1 of 3 tasks done",
        "",
        "- [x] Read lines.",
        "- [ ] Build the parser.",
        "- [ ] Write the tests.",
        "",
        (
            "*The plan is [.agent/execplans/2026-01-01\\_parser.md](https://github.example/octocat/hello/blob/main/.agent/execplans/2026-01-01_parser.md). "
            "Edit it there: the next `execplan sync github` overwrites this part of the issue.*"
        ),
        "",
        "<!-- execplan:end -->",
    ]


def test_the_second_run_changes_nothing(project: Folder, github: GithubServer) -> None:
    apply(project)
    count = len(github.writes)
    assert apply(project)["changed"] is False
    assert len(github.writes) == count
    assert sync(project).out == "octocat/hello: 2 issues up to date\n"


def test_progress_reaches_the_issue(project: Folder, github: GithubServer) -> None:
    apply(project)
    project.ok("done", "2", "3", "-p", "parser")
    assert "update   #1 2026-01-01_parser  body, +plan:complete, -plan:active" in sync(project).out
    apply(project)
    assert labels(github.issues[1]) == ["execplan", "plan:complete"]
    assert "- [x] Write the tests." in github.issues[1]["body"]
    assert "- [ ] Write the tests." in github.issues[2]["body"]


def test_what_people_write_stays(project: Folder, github: GithubServer) -> None:
    apply(project)
    issue = github.issues[1]
    issue["body"] = ("Before\n\n" + issue["body"] + "\n\nAfter @ann\n").replace("\n", "\r\n")
    issue["labels"].append({**issue["labels"][0], "name": "help wanted"})
    issue["title"] = "The parser, renamed by a person"
    assert apply(project)["changed"] is False
    project.ok("done", "2", "-p", "parser")
    project.ok("rename", "parser", "Build the line parser")
    apply(project)
    assert issue["body"].startswith("Before\r\n\r\n<!-- execplan:begin ")
    assert issue["body"].endswith("<!-- execplan:end -->\r\n\r\nAfter @ann\r\n")
    assert "- [x] Build the parser." in issue["body"]
    assert issue["title"] == "The parser, renamed by a person"
    assert labels(issue) == ["execplan", "help wanted", "plan:active"]
    assert apply(project)["changed"] is False


def test_a_title_that_nobody_has_changed_follows_the_plan(project: Folder, github: GithubServer) -> None:
    apply(project)
    project.ok("rename", "parser", "Build the line parser", "--commit")
    apply(project)
    assert github.issues[1]["title"] == "Build the line parser"
    assert len(github.issues) == 2
    assert apply(project)["changed"] is False


def test_an_archived_plan_closes_its_issue_and_a_restored_one_opens_it(project: Folder, github: GithubServer) -> None:
    apply(project)
    project.ok("archive", "parser", "--force", "--reason", "No longer wanted.", "--commit")
    assert "update   #1 2026-01-01_parser  body, state closed, +plan:archived, -plan:active" in sync(project).out
    apply(project)
    issue = github.issues[1]
    assert (issue["state"], issue["state_reason"], labels(issue)) == (
        "closed",
        "not_planned",
        ["execplan", "plan:archived"],
    )
    assert apply(project)["changed"] is False
    project.ok("restore", "parser", "--commit")
    apply(project)
    assert (issue["state"], labels(issue)) == ("open", ["execplan", "plan:active"])


def test_archived_plans_get_no_new_issue_unless_they_are_named(project: Folder, github: GithubServer) -> None:
    project.ok("archive", "parser", "--force", "--reason", "No longer wanted.")
    assert [issue["plan"] for issue in apply(project)["issues"]] == ["2026-01-02_printer"]
    apply(project, "parser")
    assert github.issues[2]["state"] == "closed"


def test_plans_of_nested_projects_have_issues_of_their_own(project: Folder, github: GithubServer) -> None:
    project.write(".agent/execplan.toml", 'homes = ["packages/a"]\n')
    project.write("packages/a/.agent/execplans/2026-01-01_parser.md", CLEAN)
    apply(project)
    assert len(github.issues) == 3
    assert 'plan="packages%2Fa%3A2026-01-01_parser"' in github.issues[3]["body"]
    assert str(project.path) not in json.dumps([request.body for request in github.requests])
    assert apply(project)["changed"] is False


def test_a_link_in_the_plan_finds_an_issue_without_its_label(project: Folder, github: GithubServer) -> None:
    apply(project, "parser")
    apply(project, "--link", "--commit", "parser")
    assert project.git("log", "-1", "--format=%s") == "plan(2026-01-01_parser): set, links.issue\n"
    assert (
        "https://github.example/octocat/hello/issues/1" in (project.path / f".agent/execplans/{PARSER}.md").read_text()
    )
    assert apply(project, "parser")["changed"] is False
    github.issues[1]["labels"] = []
    assert "update   #1 2026-01-01_parser  +execplan, +plan:active" in sync(project, "parser").out
    apply(project, "parser")
    assert len(github.issues) == 1


def test_a_plan_that_can_not_be_edited_does_not_keep_the_others_from_their_links(
    project: Folder, github: GithubServer
) -> None:
    conflict = "<<<<<<< a\n- [ ] Read lists.\n=======\n- [ ] Read tables.\n>>>>>>> b\n"
    project.plan(CLEAN.replace("## Progress\n\n", f"## Progress\n\n{conflict}"))
    result = sync(project, "--apply", "--link")
    assert result.exit == 1
    assert "octocat/hello: created 2 issues" in result.out
    assert f"the address of #1 is not written: .agent/execplans/{PARSER}.md: line" in result.err
    assert "issues/2" in (project.path / ".agent/execplans/2026-01-02_printer.md").read_text()
    assert len(github.issues) == 2


@pytest.mark.parametrize(
    "link",
    [
        "12",
        "#12",
        "https://github.example/octocat/hello/issues/12",
        "#1",
        "https://github.example/other/hello/issues/1",
        "0",
        "unknown",
    ],
)
def test_a_linked_issue_that_execplan_did_not_write_is_left_alone(
    project: Folder, github: GithubServer, link: str
) -> None:
    github.add_issue("A bug", "It crashes.", ["bug"])
    project.ok("set", "--meta", f"links.issue={link}", "-p", "parser")
    apply(project, "--link", "parser")
    assert (github.issues[1]["body"], labels(github.issues[1]), github.issues[1]["state"]) == (
        "It crashes.",
        ["bug"],
        "open",
    )
    assert labels(github.issues[2]) == ["execplan", "plan:active"]
    assert link in (project.path / f".agent/execplans/{PARSER}.md").read_text()


def test_only_named_plans(project: Folder, github: GithubServer) -> None:
    apply(project, "printer", "2026-01-02_printer")
    assert [issue["title"] for issue in github.issues.values()] == ["Write the printer"]


def test_pages(project: Folder, github: GithubServer) -> None:
    apply(project)
    first, second = github.issues.values()
    for number in range(5):
        github.add_issue(f"Other {number}", "", ["execplan"])
    github.issues = dict(enumerate([*list(github.issues.values())[2:], first, second], 1))
    github.page_size = 2
    assert apply(project)["changed"] is False


def test_issues_of_others_and_pull_requests_are_no_plans(project: Folder, github: GithubServer) -> None:
    github.add_issue("Mine", None, ["execplan"])
    body = f'<!-- execplan:begin plan="{PARSER}" title="" -->\n\n<!-- execplan:end -->'
    github.add_issue("A pull request", body, ["execplan"])["pull_request"] = dict.fromkeys(
        ("url", "html_url", "diff_url", "patch_url")
    )
    github.add_issue("Without label", body, [])
    assert {issue["action"] for issue in apply(project)["issues"]} == {"create"}


def test_duplicates_and_abandoned_issues_are_reported(project: Folder, github: GithubServer) -> None:
    apply(project)
    github.add_issue("Again", github.issues[1]["body"], ["execplan"])
    (project.path / ".agent/execplans/2026-01-02_printer.md").unlink()
    document = project.run("sync", "github", "--repo", REPOSITORY, "--json").json
    assert document["warnings"] == [
        "2026-01-01_parser has several issues; #1 is used, close #3",
        "#2 is about the plan 2026-01-02_printer, which does not exist any more; close it if it is no longer needed",
    ]


def test_a_body_without_its_last_comment_is_left_alone(project: Folder, github: GithubServer) -> None:
    apply(project)
    body = github.issues[1]["body"].replace("<!-- execplan:end -->", "")
    github.issues[1]["body"] = body
    project.ok("done", "2", "3", "-p", "parser")
    result = sync(project, "--apply")
    assert "#1 lacks the comment that ends the part of execplan" in result.err
    assert github.issues[1]["body"] == body
    assert labels(github.issues[1]) == ["execplan", "plan:complete"]


def test_a_plan_that_cant_be_read_changes_only_its_label(project: Folder, github: GithubServer) -> None:
    apply(project, "parser")
    body = github.issues[1]["body"]
    for name in (PARSER, "2026-01-02_printer"):
        project.plan(b"\0", name)
    result = sync(project, "--apply")
    assert result.exit == 0
    assert "2026-01-02_printer.md can't be read, so it gets no issue" in result.err
    assert (github.issues[1]["body"], labels(github.issues[1])) == (body, ["execplan", "plan:broken"])
    assert len(github.issues) == 1


def test_a_plan_cant_mention_people_or_end_its_part(project: Folder, github: GithubServer) -> None:
    project.plan(CLEAN.replace("Build the parser", HOSTILE).replace("A plan can be read and edited", HOSTILE))
    apply(project, "2026-01-01_parser")
    body = github.issues[1]["body"]
    assert body.count("<!--") == 2
    assert "@octo" not in body
    assert "<img" not in body
    assert "](https://evil" not in body
    assert apply(project, "2026-01-01_parser")["changed"] is False


def test_secrets_stay_here(project: Folder, github: GithubServer) -> None:
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "f6G7h8"
    project.env["DEPLOY_PASSWORD"] = "correct-horse-battery"
    project.plan(
        CLEAN.replace("Build the parser.", f"Use {secret}").replace("Write the tests.", "Say correct-horse-battery.")
    )
    project.plan(CLEAN.replace("# Build the parser", f"# Use {secret}"), "2026-01-02_printer")
    apply(project)
    bodies = json.dumps([request.body for request in github.requests])
    assert secret not in bodies
    assert "correct-horse" not in bodies
    assert bodies.count("redacted") >= 3


def test_a_large_plan_fits(project: Folder, github: GithubServer) -> None:
    tasks = "".join(f"- [ ] {number} {'word ' * 90}\n" for number in range(500))
    project.plan(CLEAN.replace("- [ ] Write the tests.\n", tasks))
    apply(project, "parser")
    assert len(github.issues[1]["body"]) < 65_536
    assert "more\n" in github.issues[1]["body"]
    assert apply(project, "parser")["changed"] is False


def test_projects_show_the_state_and_progress(project: Folder, github: GithubServer) -> None:
    github.fields = [*github.fields[1:], select_field(14, "Plan state", ["Draft", "Active", "Complete", "Archived"])]
    apply(project)
    result = sync(project, "--github-project", "orgs/octo/7")
    assert "update   #1 2026-01-01_parser  add to the project, project Plan state, project Plan progress" in result.out
    apply(project, "--github-project", "orgs/octo/7")
    values = [{field["name"]: field["value"] for field in item["fields"]} for item in github.items.values()]
    assert [value["Plan progress"]["raw"] for value in values] == ["1/3", "1/3"]
    assert [value["Plan state"]["id"] for value in values] == ["option-Active", "option-Active"]
    github.page_size = 1
    assert apply(project, "--github-project", "orgs/octo/7")["changed"] is False
    project.ok("done", "2", "3", "-p", "parser")
    assert apply(project, "--github-project", "users/octo/7")["issues"][0]["project"] == {
        "Plan state": "complete",
        "Plan progress": "3/3",
    }
    github.items[500]["fields"] = []
    assert apply(project, "--github-project", "https://x/orgs/octo/projects/7"[10:])["changed"] is True


def test_a_new_issue_is_added_to_the_project_in_the_same_run(project: Folder, github: GithubServer) -> None:
    github.fields = github.fields[2:]
    result = sync(project, "--apply", "--github-project", "orgs/octo/7")
    assert "the GitHub project has no field Plan state and Plan progress" in result.err
    assert [item["content"]["number"] for item in github.items.values()] == [1, 2]


@pytest.mark.parametrize("failing_write", range(1, 7))
def test_after_an_interruption_the_next_run_continues(
    project: Folder, github: GithubServer, failing_write: int
) -> None:
    """Each change is applied by GitHub, but its answer is lost."""

    def lose(request: Request) -> Answer | None:
        if request.method == "GET" or len(github.writes) != failing_write:
            return None
        from tests.team.github.api_checker import find_operation

        operation = find_operation(request.method, request.url)
        assert operation is not None
        github.answer(operation, request)
        return Answer(502, {"message": "Bad Gateway"})

    github.intercept = lose
    assert sync(project, "--apply", "--github-project", "orgs/octo/7").exit == 6
    github.intercept = lambda request: None
    assert sync(project, "--apply", "--github-project", "orgs/octo/7").exit == 0
    assert sync(project, "--github-project", "orgs/octo/7").out == "octocat/hello: 2 issues up to date\n"
    assert len(github.issues) == len(github.items) == 2


def test_ctrl_c_stops_it(project: Folder, github: GithubServer) -> None:
    process = None

    def interrupt(request: Request) -> Answer | None:
        if request.method == "POST" and len(github.writes) == 2:
            assert process is not None
            process.send_signal(signal.SIGINT)
            process.wait(30)
        return None

    github.intercept = interrupt
    process = project.start("sync", "github", "--repo", REPOSITORY, "--apply")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err.decode().strip()) == (130, "execplan: interrupted"), out
    github.intercept = lambda request: None
    for _ in range(1000):  # the server still stores what it got
        if len(github.issues) == 2:
            break
        sleep(0.01)
    apply(project)
    assert [issue["title"] for issue in github.issues.values()] == ["Build the parser", "Write the printer"]


@pytest.mark.parametrize(
    ("answer", "code", "exit"),
    [
        (Answer(401, {"message": "Bad credentials"}), "github-unauthorized", 6),
        (Answer(403, {"message": "Resource not accessible by personal access token"}), "github-forbidden", 6),
        (Answer(404, {"message": "Not Found"}), "github-not-found", 3),
        (Answer(410, {"message": "Issues are disabled"}), "github-rejected", 3),
        (
            Answer(422, {"message": "Validation Failed", "errors": [{"field": "title", "code": "invalid"}]}),
            "github-rejected",
            3,
        ),
        (Answer(429, {}, (("Retry-After", "3600"),)), "github-rate-limit", 5),
        (
            Answer(403, {}, (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "99999999999"))),
            "github-rate-limit",
            5,
        ),
        (Answer(200, b"<html>"), "github-unavailable", 6),
        (Answer(200, b"[" * 100_000), "github-unavailable", 6),
        (Answer(200, {"message": "a repository?"}), "github-unavailable", 6),
        (Answer(301, {}, (("Location", "https://evil.example/repos"),)), "github-unavailable", 6),
        (Answer(301, {}, (("Location", "http://127.0.0.1:1/repos"),)), "github-unavailable", 6),
        (Answer(307, {}, (("Location", "/repos/octocat/hello"),)), "github-rejected", 3),
        (Answer(301, {}), "github-rejected", 3),
    ],
)
def test_errors_of_github(project: Folder, github: GithubServer, answer: Answer, code: str, exit: int) -> None:
    github.intercept = lambda request: answer
    result = sync(project, "--apply", "--json", "-v")
    assert result.json["error"]["code"] == code, result
    assert result.exit == exit
    assert result.json["error"]["hint"]
    assert TOKEN not in result.out + result.err
    assert github.writes == []


@pytest.mark.parametrize("status", [403, 429])
def test_a_short_rate_limit_is_waited_for(project: Folder, github: GithubServer, status: int) -> None:
    answers = iter([Answer(status, {}, (("Retry-After", "0"),)), Answer(status, {}, (("Retry-After", "1"),))])
    github.intercept = lambda request: next(answers, None) if request.method == "POST" else None
    apply(project)
    assert [issue["title"] for issue in github.issues.values()] == ["Build the parser", "Write the printer"]


def test_a_read_is_repeated_if_the_server_fails_but_a_write_is_not(project: Folder, github: GithubServer) -> None:
    failures = iter([Answer(502), Answer(503)])
    github.intercept = lambda request: next(failures, None)
    assert sync(project).exit == 0
    github.intercept = lambda request: Answer(500, {}) if request.method == "POST" else None
    assert sync(project, "--apply").exit == 6
    assert len(github.writes) == 1


def test_a_renamed_repository(project: Folder, github: GithubServer) -> None:
    github.full_name = f"{OWNER}/new"
    moved = Answer(301, {}, (("Location", f"{github.url}/repos/{OWNER}/new"),))
    github.intercept = lambda request: moved if request.url == f"/repos/{REPOSITORY}" else None
    assert apply(project)["repository"] == f"{OWNER}/new"
    assert len(github.issues) == 2


def test_the_next_page_on_another_host_is_an_error(project: Folder, github: GithubServer) -> None:
    apply(project)
    link = ("Link", '<https://evil.example/repos?page=2>; rel="next"')
    github.intercept = lambda request: Answer(200, [], (link,)) if "/issues" in request.url else None
    assert "gets no token" in sync(project).err


def test_labels_that_github_drops(project: Folder, github: GithubServer) -> None:
    github.drops_labels = True
    result = sync(project, "--apply")
    assert result.exit == 6
    assert "created https://github.example/octocat/hello/issues/1 without its labels" in result.err
    assert len(github.issues) == 1


def test_issues_that_are_turned_off(project: Folder, github: GithubServer) -> None:
    github.has_issues = False
    assert "issues are turned off in octocat/hello" in sync(project).err


def test_a_server_that_cant_be_reached(project: Folder) -> None:
    project.env["GITHUB_API_URL"] = "http://127.0.0.1:1"
    result = sync(project)
    assert result.exit == 6
    assert "can't reach 127.0.0.1:1" in result.err


def test_another_token_is_not_accepted_and_none_is_printed(project: Folder, github: GithubServer) -> None:
    project.env["GITHUB_TOKEN"] = ""
    project.env["GH_TOKEN"] = "ghp_wrongwrongwrongwrongwrongwrongwrong"
    result = sync(project, "-v")
    assert "GitHub does not accept the token" in result.err
    assert "wrong" not in result.err
    assert {request.token for request in github.requests} == {project.env["GH_TOKEN"]}


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "exit"),
    [
        ([], {}, "usage", 2),
        (["--repo", "hello"], {}, "usage", 2),
        (["--repo", "a/.."], {}, "usage", 2),
        (["--repo", "a/b?x=y"], {}, "usage", 2),
        (["--repo", "a/b", "--github-project", "7"], {}, "usage", 2),
        (["--repo", "a/b", "--github-project", "orgs/../7"], {}, "usage", 2),
        (["--repo", "a/b", "--apply", "--dry-run"], {}, "usage", 2),
        (["--repo", "a/b", "--apply", "--offline"], {}, "usage", 2),
        (["--repo", "a/b", "--link"], {}, "usage", 2),
        (["--repo", "a/b", "--commit"], {}, "usage", 2),
        (["--repo", "a/b", "nothing"], {}, "no-such-plan", 3),
        (["--repo", "a/b"], {"GITHUB_TOKEN": ""}, "no-github-token", 6),
        (["--repo", "a/b"], {"GITHUB_TOKEN": "a\nb"}, "no-github-token", 6),
        (["--repo", "a/b"], {"GITHUB_API_URL": "http://github.example/api"}, "bad-api-url", 3),
        (["--repo", "a/b"], {"GITHUB_API_URL": "ftp://127.0.0.1"}, "bad-api-url", 3),
        (["--repo", "a/b"], {"GITHUB_API_URL": "http://127.0.0.1.evil.example"}, "bad-api-url", 3),
        (["--repo", "a/b"], {"GITHUB_API_URL": "http://127.0.0.1@evil.example"}, "bad-api-url", 3),
        (["--repo", "a/b"], {"GITHUB_API_URL": "https://user:secret@github.example"}, "bad-api-url", 3),
        (["--repo", "a/b"], {"GITHUB_API_URL": "https://["}, "bad-api-url", 3),
        (["--repo", "a/b"], {"GITHUB_API_URL": "https://h:99999"}, "bad-api-url", 3),
    ],
)
def test_wrong_input(
    project: Folder, github: GithubServer, arguments: list[str], environment: dict[str, str], code: str, exit: int
) -> None:
    project.env |= environment
    result = project.run("sync", "github", *arguments, "--json")
    assert (result.json["error"]["code"], result.exit) == (code, exit), result
    assert result.json["error"]["hint"]
    assert "secret" not in result.out
    assert github.requests == []


def test_offline_shows_the_issues_without_token_and_network(project: Folder, github: GithubServer) -> None:
    del project.env["GITHUB_TOKEN"]
    result = project.run("sync", "github", "--offline", "parser")
    assert result.out.startswith("# Build the parser\nopen, labels: execplan, plan:active\n\nA plan can be read")
    (issue,) = project.ok("sync", "github", "--offline", "parser")["issues"]
    assert issue["body"] in result.out
    assert github.requests == []


def test_the_repository_of_a_workflow(project: Folder) -> None:
    project.env["GITHUB_REPOSITORY"] = REPOSITORY
    assert "would create 2 issues" in project.run("sync", "github").out


def test_two_runs_at_the_same_time_create_one_issue(project: Folder, github: GithubServer) -> None:
    processes = [project.start("sync", "github", "--repo", REPOSITORY, "--apply") for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(github.issues) == 2


def test_another_service_is_an_error_that_says_what_there_is(repo: Folder) -> None:
    result = repo.run("sync", "gitlab")
    assert result.exit == 2
    assert result.err == (
        "execplan: plans can be shown as issues of GitHub only, not of 'gitlab'\n"
        "hint: for GitHub: execplan sync github --offline; to run a plan on GitLab: execplan export PLAN --to gitlab\n"
    )
    assert "missing argument github" in repo.run("sync").err
