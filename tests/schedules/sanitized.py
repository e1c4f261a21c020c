"""Generated programs with the native library of schedules under gcc's sanitizers: no data race, no bad access.

``python -m tests.schedules.sanitized thread --count 300`` generates 300 programs and runs each as written and under
random schedules; ``address`` looks for bad accesses, leaks and undefined behaviour. Only the library is built with the
sanitizer: the sanitizer does not know libgomp's synchronisation, and the programs are not under test.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.control import native
from scalegraph.link import Build
from scalegraph.runtime import schedules
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.native.library import schedule_library
from scalegraph.toolchain.flags import read_flags
from scalegraph.toolchain.native import compile_native, link_native
from scalegraph.toolchain.objects import Source
from tests.schedules.generated import a_program

FLAGS = {
    "thread": ["-fsanitize=thread"],
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
}
ENVIRONMENT = {
    "OMP_CANCELLATION": "true",
    # the order of ends of threads and regions is libgomp's responsibility, not the library's
    "TSAN_OPTIONS": "exitcode=66:ignore_noninstrumented_modules=1",
    "ASAN_OPTIONS": "exitcode=66:detect_leaks=1",
}


def has_sanitizer(kind: str) -> bool:
    """Return whether the compiler links programs with the sanitizer *kind*."""
    compiler = find_compiler()
    with tempfile.TemporaryDirectory() as place:
        source, program = Path(place) / "empty.c", Path(place) / "empty"
        source.write_text("int main(void) { return 0; }\n")
        made = compiler.run([*FLAGS[kind], str(source), "-o", str(program)])
        return made.returncode == 0 and subprocess.run([program], check=False, capture_output=True).returncode == 0


def sanitized(source: Path, kind: str, place: Path) -> native.Native:
    """Return the program of *source* with the library under the sanitizer *kind*; static loops use the library, too."""
    compiler, flags, cancel = find_compiler(), read_flags("", "", []), CancelToken()
    item, program = place / "sanitized.o", place / "sanitized"
    read = Source(str(source), source.read_text(), "c")
    compile_native(compiler, read, flags, item, loops=True, cwd=place, cancel=cancel)
    library = schedule_library(compiler, FLAGS[kind])
    link_native(compiler, [*FLAGS[kind], str(item)], library, program, cwd=place, cancel=cancel)
    build = Build("sanitized", program, program, program, (), (), (), "")
    return native.Native(build, build)


def complaints(text: str, kind: str, place: Path, names: list[str], threads: int) -> list[str]:
    """Run the program *text* under the schedules *names*; return a text for each error."""
    source = place / "loops.c"
    source.write_text(text)
    program = sanitized(source, kind, place)
    wrong = []
    for name in names:
        done = native.run(program, name, threads, env=ENVIRONMENT)
        if (done.stdout, done.exit_code) != ("0 wrong\n", 0) or done.stderr:
            wrong.append(f"{name}, {threads} threads: {done.exit_code} {done.stdout}{done.stderr}")
    return wrong


def check(seed: int, kind: str, place: Path, *, runs: int = 1) -> list[str]:
    """Check the program of *seed* as written and under *runs* schedules; return what is wrong."""
    choice = random.Random(seed)
    text = a_program(choice)
    names = ["", *choice.sample([one.name for one in schedules.shipped()], runs)]
    return complaints(text, kind, place, names, choice.choice((2, 3, 8)))


def main() -> None:
    """Check the requested number of programs and print what is wrong with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(FLAGS))
    parser.add_argument("--count", type=int, default=300, help="number of programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    given = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory() as place:
        for seed in range(given.first, given.first + given.count):
            for text in check(seed, given.kind, Path(place)):
                found += 1
                print(f"seed {seed}: {text}", flush=True)
    print(f"{given.count} programs under the {given.kind} sanitizer, {found} wrong")
    raise SystemExit(found != 0)


if __name__ == "__main__":
    main()
