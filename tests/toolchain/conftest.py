"""Small projects with builds of their own, and the wrappers in the path."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.toolchain.scripts import wrapper_directory

Run = Callable[..., subprocess.CompletedProcess[str]]


def need(*tools: str) -> None:
    """Skip the test if a tool of the host is missing."""
    packages = {"g++": "g++", "gfortran": "gfortran", "make": "make", "cmake": "cmake", "clang": "clang"}
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}: apt-get install {packages[tool]}")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command in the test's directory with the wrappers in the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{wrapper_directory()}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C")
    for variable in ("CC", "CXX", "FC", "MAKEFLAGS"):
        monkeypatch.delenv(variable, raising=False)

    def call(*command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return call


PROJECT = {
    "src/main.c": """
#include <stdio.h>
#include "../lib/lib.h"
static const int squares[] = {
#include "squares.h"
};
int main(int argc, char **argv)
{
    double s = 0;
    for (int i = 0; i < 30; i++)
        s += work(i);
    printf("%s %g %d\\n", argc > 1 ? argv[1] : "-", s, squares[3]);
    return 0;
}
""",
    "lib/lib.h": """
#ifdef __cplusplus
extern "C" {
#endif
double work(int n);
double part(int n);
#ifdef __cplusplus
}
#endif
""",
    "lib/lib.c": """
#include "lib.h"
double work(int n)
{
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += i * part(i);
    return s;
}
""",
    "lib/part.cpp": """
#include <stdexcept>
#include <vector>
#include "lib.h"
namespace {
template <class T> T sum(const std::vector<T> &values)
{
    T total{};
    for (const T &value : values)
        total += value;
    return total;
}
}
double part(int n)
{
    std::vector<double> values(n + 1, 0.5);
    try {
        return sum(values) + values.at(n + 1);
    } catch (const std::out_of_range &) {
        return sum(values);
    }
}
""",
    "gen.c": """
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 10; i++)
        printf("%d,\\n", i * i);
    return 0;
}
""",
    "Makefile": """
CC = gcc
CXX = g++
CFLAGS = -O2 -fopenmp -MMD
prog: src/main.o lib/libw.a
\t$(CXX) -fopenmp -o $@ src/main.o -Llib -lw -lm
lib/libw.a: lib/lib.o lib/part.o
\tar rcs $@ $^
src/main.o: src/squares.h
src/squares.h: gen
\t./gen > $@
gen: gen.c
\t$(CC) -o $@ $<
-include src/main.d lib/lib.d
""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.10)
project(small C CXX)
set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -fopenmp")
add_executable(gen gen.c)
add_custom_command(OUTPUT squares.h COMMAND gen > squares.h DEPENDS gen)
add_library(w STATIC lib/lib.c lib/part.cpp)
add_executable(prog src/main.c squares.h)
target_include_directories(prog PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(prog w)
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a C and C++ project in several directories: generated header, static library, Makefile, CMakeLists."""
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"))
    return tmp_path
