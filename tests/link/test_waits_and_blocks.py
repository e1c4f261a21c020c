"""Waits that never end, and misused memory blocks: the run ends and reports both places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


@pytest.fixture
def ending(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Return a function that simulates a body of main on two processors; its result: how the run ended, its message."""
    monkeypatch.chdir(tmp_path)

    def ended(body: str, *, before: str = "", ending: str = "c") -> tuple[str, str]:
        includes = (
            "#include <poll.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        )
        Path(f"p.{ending}").write_text(f"{includes}{before}\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n")
        scalegraph(["simulate", f"p.{ending}", "-p", "2", "--no-reference", "--json", "--cflags=-w -O0"])
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        return row["status"], row["message"]

    return ended


READER = "static int fd[2];\nstatic void *reader(void *a)\n{\nchar c;\nread(fd[0], &c, 1);\nreturn a;\n}"


def test_calls_that_nothing_ends_are_a_deadlock_with_their_lines(ending) -> None:
    status, message = ending(
        "pthread_t t;\npipe(fd);\npthread_create(&t, 0, reader, 0);\nstruct pollfd p = {fd[0], POLLIN};\n"
        "poll(&p, 1, -1);",
        before=READER,
    )
    assert status == "deadlock"
    assert "thread 0 waits in poll, where nothing can come, at" in message
    assert "thread 1 waits in read, where nothing can come, at" in message
    assert "p.c:10" in message
    assert "p.c:19" in message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("char *volatile p = malloc(24);\nfree(p);\nfree(p);", ("24 bytes, allocated at", "p.c:9", "p.c:10", "p.c:11")),
        ("char *volatile p = malloc(90000);\nfree(p);\nfree(p);", ("90000 bytes", "p.c:10", "p.c:11")),
        ("char *volatile p = malloc(24);\nfree(p);\np = realloc(p, 30);", ("reallocates", "p.c:10", "p.c:11")),
        ("char *volatile p = malloc(24);\nfree(p + 8);", ("8 bytes behind the start of the block of 24", "p.c:9")),
        ("int i;\nchar *volatile p = (char *)&i;\nfree(p);", ("never allocated", "on the stack", "p.c:11")),
        ("static int i;\nchar *volatile p = (char *)&i;\nfree(p);", ("never allocated", "static data", "p.c:11")),
        ("char *volatile p = malloc(20);\np[20] = 1;\nfree(p);", ("beyond the end", "20 bytes", "p.c:9", "p.c:11")),
        ("char *volatile p = malloc(32), *q = malloc(32);\np[33] = 1;\nfree(p);", ("beyond the end", "p.c:11")),
        ("char *volatile p;\nposix_memalign((void **)&p, 64, 9);\nfree(p);\nfree(p);", ("9 bytes", "p.c:11", "p.c:12")),
    ],
)
def test_wrong_uses_of_blocks_end_the_run_with_their_places(ending, body: str, said: tuple[str, ...]) -> None:
    status, message = ending(body)
    assert status == "crashed"
    assert [word for word in said if word not in message] == [], message


def test_a_program_that_limits_its_own_memory_is_said_to(ending) -> None:
    status, _ = ending(
        "struct rlimit l = {1 << 22, 1 << 22};\nsetrlimit(RLIMIT_AS, &l);\nchar *p = malloc(1 << 24);\n"
        "getrlimit(RLIMIT_AS, &l);\nreturn p != NULL || l.rlim_cur != 1 << 22;",
        before="#include <sys/resource.h>",
    )
    assert status == "ok"


@pytest.mark.parametrize(
    "body",
    [
        "struct rlimit l = {3, 4096};\nsetrlimit(RLIMIT_NOFILE, &l);",
        "struct rlimit l = {32, 4096};\nsetrlimit(RLIMIT_NOFILE, &l);\nwhile (dup(1) >= 0)\n;",
    ],
)
def test_a_program_without_room_for_another_file_still_has_a_result(ending, body: str) -> None:
    assert ending(body, before="#include <sys/resource.h>") == ("ok", "")
