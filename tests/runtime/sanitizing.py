"""The runtime built with AddressSanitizer and UndefinedBehaviorSanitizer, for unmodified simulated programs.

Only the runtime's own code is instrumented: the compiler cannot combine AddressSanitizer with the hooks of the program.
Each simulated thread runs on the stack and with the thread pointer of a host thread, so the sanitizer treats it as that
thread and needs to know nothing about our switches. Its shadow memory is where our heaps usually are: SG_BASE moves
them. SG_FENCES lets our allocators mark memory that nobody may touch. Code that allocates before the sanitizer has
started is built without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from scalegraph.runtime.compiler import Compiler, find_compiler
from scalegraph.runtime.library import SOURCES, Library, library

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FENCES = ("-DSG_FENCES", "-DSG_BASE=0x200000000000ull")
EARLY = ("sg_alloc.c", "sg_keys.c", "sg_limits.c", "sg_own.c")
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}

# The sanitizer replaces C++'s operators too, and would free with its own what ours allocated.
OPERATORS = """
void free(void *memory);
void *aligned_alloc(unsigned long alignment, unsigned long size);
void delete1(void *m) __asm__("_ZdlPv");
void delete1(void *m) { free(m); }
void delete2(void *m, unsigned long n) __asm__("_ZdlPvm");
void delete2(void *m, unsigned long n) { (void)n; free(m); }
void delete3(void *m) __asm__("_ZdaPv");
void delete3(void *m) { free(m); }
void delete4(void *m, unsigned long n) __asm__("_ZdaPvm");
void delete4(void *m, unsigned long n) { (void)n; free(m); }
void *new5(unsigned long n, unsigned long a) __asm__("_ZnwmSt11align_val_t");
void *new5(unsigned long n, unsigned long a) { return aligned_alloc(a, n); }
void delete6(void *m, unsigned long n, unsigned long a) __asm__("_ZdlPvmSt11align_val_t");
void delete6(void *m, unsigned long n, unsigned long a) { (void)n, (void)a; free(m); }
"""


@dataclass(frozen=True)
class Sanitizing(Compiler):
    """A compiler that builds the runtime with the sanitizers."""

    @property
    def identity(self) -> str:
        return "\n".join([super().identity, *EARLY])  # part of the objects' cache key

    def run(self, arguments: Sequence[str], **options: Any) -> CompletedProcess[str]:
        names = [Path(word).name for word in arguments if word.startswith(str(SOURCES)) and word.endswith(".c")]
        own = ["-O0", "-g1", *(["-fno-sanitize=address"] if set(names) & set(EARLY) else [])] if names else []
        return super().run([*arguments, *own], **options)


def sanitized(directory: Path) -> Library | None:
    """Return the runtime with the sanitizers, its helper in *directory*; None if the compiler has none."""
    usual = find_compiler()
    compiler = Sanitizing((*usual.command, *SANITIZERS, *FENCES), usual.version, usual.target)
    operators, item = directory / "operators.c", directory / "operators.o"
    operators.write_text(OPERATORS)
    usual.run(["-c", str(operators), "-o", str(item)])
    empty = directory / "empty.c"
    empty.write_text("int main(void) { return 0; }\n")
    if compiler.run([str(empty), "-o", str(directory / "empty")]).returncode != 0:
        return None
    runtime = library(compiler)
    return replace(runtime, link_flags=(*SANITIZERS, str(item), *runtime.link_flags))


def complaints(stderr: str) -> list[str]:
    """Return the sanitizers' reports, except that they do not know the stack on which a program exits."""
    return [line for line in stderr.splitlines() if "ERROR: AddressSanitizer" in line or "runtime error:" in line]
