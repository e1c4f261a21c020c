"""Building programs from sources: cache, messages, fallbacks."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, Cancelled, InputError
from scalegraph.base.events import Building, Event
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.control.adopt import run_build
from scalegraph.link import Build, Job, Simulated
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.languages import EXPECTED
from scalegraph.runtime.library import library

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

HELLO = '#include <stdio.h>\nint main(void)\n{\n    printf("%s\\n", __FILE__);\n    return 0;\n}\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(place: Path, **files: str) -> None:
    for name, text in files.items():
        path = place / name.replace("__", "/").replace("_h", ".h").replace("_c", ".c")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def simulated(made: Build) -> RunRecord:
    return Simulated().run(Job(made, machines.load("ksr1"), RunPoint(processors=1)))


def output(sources: list[str], **options: object) -> str:
    record = simulated(build(sources, **options))  # type: ignore[arg-type]
    assert record.ok, record.message
    return record.stdout


def test_same_build_comes_from_the_cache_and_any_change_makes_another(place: Path) -> None:
    write(place, a_c='#include "a.h"\nint main(void) { return N; }\n', a_h="#define N 0\n")
    first = build(["a.c"])
    stamp = first.executable.stat().st_mtime_ns
    assert build(["a.c"]).executable.stat().st_mtime_ns == stamp
    others = {first.executable}
    others.add(build(["a.c"], cflags="-O1").executable)
    others.add(build(["a.c"], detail="all").executable)
    write(place, a_h="#define N 1\n")
    others.add(build(["a.c"]).executable)
    assert len(others) == 4


def test_two_that_start_at_once_share_one_build(place: Path, empty_cache: Path) -> None:
    library(find_compiler())
    write(place, a_c=HELLO)
    script = "from scalegraph.control import build; print(build(['a.c']).executable)"
    command = [sys.executable, "-c", script]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = {process.communicate()[0] for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert len(answers) == 1
    assert Path(answers.pop().strip()).exists()
    left = [path.name for path in empty_cache.glob("builds/.new-*")]
    assert left == []


def test_compile_error_names_the_users_file_and_line_and_no_other(place: Path) -> None:
    write(place, src__bad_c="#include <stdio.h>\nint main(void)\n{\n    for (;;)\n        return y;\n}\n")
    with pytest.raises(BuildError) as caught:
        build(["src/bad.c"])
    assert str(caught.value) == "src/bad.c:5: 'y' undeclared (first use in this function)"
    assert "src/bad.c:5:16: error:" in caught.value.output
    assert "    5 |         return y;" in caught.value.output
    assert "/tmp" not in caught.value.output
    assert "SCALEGRAPH" not in caught.value.output


def test_missing_header_is_told_with_its_line(place: Path) -> None:
    write(place, a_c='#include "none.h"\nint main(void) { return 0; }\n')
    with pytest.raises(BuildError, match=r"^a\.c:1: none\.h: No such file or directory$"):
        build(["a.c"])


def test_missing_function_is_told_with_its_line(place: Path) -> None:
    write(place, a_c="double other(double);\nint main(void)\n{\n    return (int)other(1);\n}\n")
    with pytest.raises(BuildError, match=r"a\.c:4: 'other' is used in main but defined nowhere"):
        build(["a.c"])


BAD_LINK = """\
#include <stdio.h>
int other(int);
extern double missing;
static int quiet(int i)
{
    return other(i);
}
int main(void)
{
#pragma omp parallel for
    for (int i = 0; i < 9; i++)
        printf("%d\\n", quiet(i) + (int)missing);
    return 0;
}
"""


def test_linker_names_the_users_sources_and_functions_and_no_temporary_file(place: Path) -> None:
    write(place, a_c=BAD_LINK)
    with pytest.raises(BuildError) as caught:
        build(["a.c"])
    told, output = str(caught.value), caught.value.output
    assert told == "a.c:6: 'other' is used in quiet but defined nowhere (so is 'missing'); is a library missing?"
    assert "a.c:12: undefined reference to `missing'" in output
    assert "_omp_fn" not in output
    assert "/tmp" not in output.replace("/usr/bin/ld", "")
    assert str(place) not in output
    write(place, a_c=HELLO, b_c="int puts(int i) { return i; }\nint main(void) { return 1; }\n")
    with pytest.raises(BuildError, match=r"'main' is defined more than once: a\.c:\d+ and b\.c:2$") as caught:
        build(["a.c", "b.c"])
    assert "/tmp" not in caught.value.output


MPI = {
    "a.c": "#include <mpi.h>\nint main(void) { return 0; }\n",
    "b.cpp": '#include "mpi.h"\nint main() { return MPI_Init(nullptr, nullptr); }\n',
    "c.f90": "program p\n  use mpi\n  call MPI_Init(i)\nend program\n",
    "d.f90": "program p\n  include 'mpif.h'\n  call mpi_init(i)\nend program\n",
    "e.f90": "program p\n  use mpi_f08\n  call MPI_Init()\nend program\n",
    "none.c": "int main(void) { return 0; }\n",
}


@pytest.mark.parametrize("name", MPI)
def test_a_source_that_uses_mpi_is_built_without_a_special_compiler(place: Path, name: str) -> None:
    if name.endswith("f90") and shutil.which("gfortran") is None:
        pytest.skip("needs gfortran: apt-get install gfortran")
    (place / name).write_text(MPI[name])
    assert build([name]).mpi == (name != "none.c")


def test_a_build_command_that_wants_an_mpi_compiler_is_told_so(place: Path) -> None:
    with pytest.raises(BuildError, match="compile MPI programs with ScaleGraph's compilers scalegraph-mpicc"):
        run_build("PATH=/nowhere; mpicc -c a.c", place)


def test_source_without_main_is_told(place: Path) -> None:
    write(place, a_c="int f(void) { return 0; }\n")
    with pytest.raises(BuildError, match="no function main"):
        build(["a.c"])


def test_functions_that_other_compilers_made_are_named_as_they_take_no_simulated_time(place: Path) -> None:
    names = ("alpha", "beta", "delta", "kappa")
    write(place, other_c="".join(f"int {name}(int x) {{ return x + 1; }}\n" for name in names))
    subprocess.run(["gcc", "-O2", "-c", "other.c"], check=True)
    subprocess.run(["ar", "rc", "libother.a", "other.o"], check=True)
    calls = "".join(f"int {name}(int x);\n" for name in names)
    begin = "#include <math.h>\n#include <omp.h>\n#include <stdlib.h>\n"
    body = "char *p = malloc(8); free(p); int x = omp_get_max_threads() + (int)sqrt(n); atexit(at_end);"
    write(
        place, a_c=f"{begin}{calls}static void at_end(void) {{}}\nint main(int n, char **v) {{ {body} return CALL; }}\n"
    )
    flags = f"-L{place} -lother"
    assert build(["a.c"], cflags="-DCALL=x*0").remarks == ()
    for call, named in (
        ("alpha(x)", "alpha"),
        ("+".join(f"{name}(x)" for name in names), "alpha, beta, delta and 1 more"),
    ):
        (remark,) = build(["a.c"], cflags=f"-DCALL={call}", ldflags=flags).remarks
        assert remark.startswith(f"the program calls functions that were not compiled with hooks: {named}; what they ")


def test_warnings_become_remarks_and_errors_where_the_user_wants_it(place: Path) -> None:
    write(place, a_c="int main(void)\n{\n    int unused;\n    for (int i = 0; i < 3; i++) {}\n    return 0;\n}\n")
    assert build(["a.c"]).remarks == ()
    assert any(remark.startswith("a.c:3:9: warning: unused") for remark in build(["a.c"], cflags="-Wall").remarks)
    with pytest.raises(BuildError, match=r"a\.c:3: unused variable"):
        build(["a.c"], cflags="-Wall -Werror")


def test_probes_draw_no_warnings_of_their_own(place: Path) -> None:
    write(place, a_c="int main(void)\n{\n    for (int i = 0; i < 3; i++) {}\n    return 0;\n}\n")
    assert build(["a.c"], cflags="-Wall -Wextra -Wpedantic -Wshadow -Wunused -Werror").remarks == ()


def test_file_macro_and_headers_beside_the_source_are_as_without_us(place: Path) -> None:
    write(place, sub__a_c='#include <stdio.h>\n#include "b.h"\n' + HELLO.split("\n", 1)[1], sub__b_h="")
    assert output(["sub/a.c"]) == "sub/a.c\n"
    assert output([str(place / "sub" / "a.c")]) == f"{place}/sub/a.c\n"


def test_headers_are_found_in_include_directories(place: Path) -> None:
    write(place, a_c="#include <b.h>\n" + HELLO, inc__b_h="")
    assert output(["a.c"], include=["inc"]) == "a.c\n"
    assert output(["a.c"], cflags="-I inc") == "a.c\n"


def test_several_sources_get_regions_that_do_not_collide(place: Path) -> None:
    write(
        place,
        a_c="int f(void);\nint main(void) { for (int i = 0; i < 2; i++) f(); return 0; }\n",
        b_c="int main2(void);\nint f(void) { int s = 0; for (int i = 0; i < 2; i++) s += main2(); return s; }\n",
        sub__b_c="int main2(void) { int s = 0; for (int i = 0; i < 2; i++) s += i; return s; }\n",
    )
    made = build(["a.c", "b.c", "sub/b.c"])
    identities = [region.id for region in made.regions]
    assert identities == sorted(set(identities))
    assert {region.file for region in made.regions if region.id} == {"a.c", "b.c", "sub/b.c"}
    record = simulated(made)
    assert {cost.region for cost in record.regions} <= set(identities)
    assert len(record.regions) > 3


def test_without_probes_there_is_the_program_only(place: Path) -> None:
    write(place, a_c=HELLO)
    made = build(["a.c"], instrument=False)
    assert [region.kind for region in made.regions] == ["program"]
    assert made.sources[0].instrumented == HELLO


def test_source_that_probes_would_break_goes_in_as_it_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scalegraph.instrument import source as instrumenting

    real = instrumenting.instrument_source

    def breaking(text: str, *arguments: object, **options: object) -> object:
        made = real(text, *arguments, **options)  # type: ignore[arg-type]
        return type(made)(made.text + "}", made.marked)

    monkeypatch.setattr(instrumenting, "instrument_source", breaking)
    write(place, a_c=HELLO + "/* broken on purpose */\n")
    made = build(["a.c"])
    assert made.remarks == ("a.c: does not compile with region probes and went in without them",)
    assert [region.kind for region in made.regions] == ["program"]


def test_source_in_another_encoding_is_compiled(place: Path) -> None:
    (place / "a.c").write_bytes(HELLO.encode().replace(b"%s", b"caf\xe9 %s"))
    made = build(["a.c"])
    assert simulated(made).ok


def test_everything_wrong_with_the_sources_is_told_at_once(place: Path) -> None:
    write(place, a_h="")
    with pytest.raises(InputError) as caught:
        build(["none.c", "a.h", "."])
    assert [str(fault) for fault in caught.value.faults] == [
        "none.c: no such file",
        f"a.h: ends in '.h'; expected {EXPECTED}",
        ".: is a directory; a source was expected",
    ]


def test_binary_file_is_no_source(place: Path) -> None:
    (place / "a.c").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(InputError, match=r"a\.c: is not text"):
        build(["a.c"])


def test_flood_of_messages_is_cut_and_counted(place: Path) -> None:
    write(place, a_c="int main(void) { return 0; }\n" + "int f(void) { return undeclared; }\n" * 50)
    with pytest.raises(BuildError) as caught:
        build(["a.c"])
    lines = caught.value.output.splitlines()
    assert len(lines) == 41
    assert lines[-1].endswith("more lines")
    write(place, b_c="int main(void) {\n" + "f();\n" * 12 + "return 0; }\nvoid f(void) {}\n" + "#warning x\n" * 20)
    remarks = build(["b.c"]).remarks
    assert len(remarks) == 11
    assert remarks[-1].startswith("b.c: ")
    assert remarks[-1].endswith("more warnings")


def test_linker_speaks_of_the_users_files_only(place: Path) -> None:
    write(place, a_c="int f(void) { return 0; }\nint main(void) { return f(); }\n", b_c="int f(void) { return 1; }\n")
    with pytest.raises(BuildError, match="'f' is defined more than once") as caught:
        build(["a.c", "b.c"])
    assert ".cache" not in caught.value.output
    with pytest.raises(BuildError, match="no function main") as caught:
        build(["b.c"])
    assert "libscalegraph" not in caught.value.output


def test_cancelled_before_it_begins_builds_nothing(place: Path) -> None:
    write(place, a_c=HELLO + "/* never */")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        build(["a.c"], cancel=token)


def test_what_is_built_is_told(place: Path) -> None:
    write(place, a_c=HELLO)
    events: list[Event] = []
    build(["a.c"], emit=events.append)
    assert events == [Building("a")]


@pytest.mark.parametrize(
    "standard", ["-std=c89", "-ansi -pedantic-errors", "-std=c99", "-std=c11 -Wall -Wextra", "-std=gnu2x"]
)
def test_every_standard_of_the_language_gets_its_probes(place: Path, standard: str) -> None:
    write(
        place,
        a_c="int f(int n) { int i, s = 0; for (i = 0; i < n; i++) s += i; return s; }\n"
        "int main(void) { int x = f(3); int y; y = x; return y != 3; }\n",
    )
    made = build(["a.c"], cflags=standard)
    assert made.remarks == ()
    assert len(made.regions) > 2
