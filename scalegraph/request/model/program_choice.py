"""The program of a request: shipped, from sources, linked already, or a command that is measured as it is."""

from __future__ import annotations

from pydantic import model_validator

from scalegraph.base.asked import asked, option
from scalegraph.link.options import RunOptions
from scalegraph.request.model.basics import Strict, Text


class _Files(Strict):
    """Which program, and how it is compiled."""

    name: str = asked(
        default="", max_length=200, label="Program", help="A shipped program, or the path of a program's TOML file"
    )
    sources: tuple[Text, ...] = asked(
        default=(), label="Sources", help="Sources in C, C++ or Fortran, if no program is named"
    )
    executable: str = asked(
        default="",
        label="Executable",
        hint="prog",
        help="A program that scalegraph-cc, scalegraph-c++ or scalegraph-fc linked, instead of sources",
        option=option("--exe", metavar="FILE"),
    )
    build: str = asked(
        default="",
        label="Build command",
        hint="make CC=scalegraph-cc",
        help="Command that builds the executable; a shell runs it in the base directory before the runs",
        option=option("--build", metavar="CMD"),
    )
    command: str = asked(
        default="",
        max_length=16384,
        label="Command",
        hint="mpirun -np {N} ./app input",
        help="A command to measure as it is; it may use {N}, {threads}, {processes}, {nodes} and parameters",
        option=option("--command", metavar="CMD", only="measure"),
    )
    shell: bool = asked(
        default=False,
        label="a shell runs the command",
        help="A shell runs the command: pipes, redirections and variables work. Otherwise it is only split into words",
        option=option("--shell", only="measure"),
    )
    time_from: str = asked(
        default="",
        max_length=1000,
        label="Time from the output",
        hint=r"Elapsed: (\S+) s",
        help="Regular expression that finds the time to use in the command's output, instead of the "
        "time from its start to its end; the unit after the number is read",
        option=option("--time-from", metavar="REGEX", only="measure"),
    )
    rate_from: str = asked(
        default="",
        max_length=1000,
        label="Rate from the output",
        hint=r"Performance: (\S+) GFLOP/s",
        help="The same for a rate (work per second, larger is better); the time is that of equal work",
        option=option("--rate-from", metavar="REGEX", only="measure"),
    )
    stacks: bool = asked(
        default=False,
        label="sample call paths",
        help="One more run of each point samples the command's call paths, by py-spy (Python) or perf: they say which "
        "function stops scaling",
        option=option("--stacks", only="measure"),
    )
    args: tuple[Text, ...] | None = asked(
        default=None,
        label="Arguments",
        hint="for instance {n} -v, where {n} stands for the parameter n",
        help="Arguments of the program; {name} stands for a parameter, {N} for the processors",
    )
    args_at: dict[int, Text] = asked(
        default_factory=dict,
        label="Arguments at N",
        help="Arguments for runs on this many processors, instead of the others; here too {px}, {py} and {pz} stand "
        "for the sides of a process grid",
        option=option(
            "--args-at",
            metavar="N=ARGS",
            help="The program's arguments on N processors, as 8='-P 2 2 2'; {px} {py} {pz} stand for balanced factors "
            "of the number of processes, there and behind --",
            repeat=True,
        ),
    )
    cflags: tuple[Text, ...] = asked(
        default=(),
        label="Compiler flags",
        hint="-O3 -DSIZE=100",
        help="Flags for the compiler, after ScaleGraph's own (-O2 -g -fopenmp)",
        option=option("--cflags", metavar="S"),
    )
    ldflags: tuple[Text, ...] = asked(
        default=(),
        label="Linker flags",
        hint="-lm",
        help="Flags for the linker, after the objects",
        option=option("--ldflags", metavar="S"),
    )
    include: tuple[Text, ...] = asked(
        default=(),
        label="Header directories",
        hint="include",
        help="Directories that the compiler searches for headers",
        option=option(
            "-I", "--include", metavar="DIR", help="A directory that the compiler searches for headers", repeat=True
        ),
    )
    env: dict[str, str] = asked(
        default_factory=dict,
        label="Environment",
        help="Variables added to the environment of the program; {N} in a value stands for the processors",
        option=option("--env", metavar="K=V", help="Set a variable for the program", repeat=True),
    )
    stdin: str = asked(
        default="",
        label="Standard input",
        hint="a file",
        help="File given to the program as standard input",
        option=option("--stdin", metavar="FILE"),
    )


class ProgramChoice(RunOptions, _Files):
    """Which program, and how it is compiled and started. Paths are relative to the request file."""

    directory: str = asked(
        default="",
        label="Base directory",
        hint="the directory of the request",
        help="Directory that names are relative to; builds run there",
    )
    cwd: str = asked(
        default="",
        label="Working directory",
        hint="the base directory",
        help="Directory in which the runs start",
        option=option("--cwd", metavar="DIR"),
    )

    @property
    def options(self) -> RunOptions:
        """The values that reach each run unchanged."""
        return RunOptions.model_construct(**{name: getattr(self, name) for name in RunOptions.model_fields})

    @model_validator(mode="after")
    def _one_of(self) -> ProgramChoice:
        given = sum(map(bool, (self.name, self.sources, self.executable, self.command)))
        if given != 1:
            raise ValueError(
                "either 'name' (a shipped program), 'sources', 'executable' or 'command' was expected"
                + (", not more than one of them" if given else "")
            )
        texts = (
            self.build,
            self.executable,
            self.command,
            self.stdin,
            self.directory,
            self.cwd,
            *self.sources,
            *(self.args or ()),
        )
        texts = (*texts, *self.cflags, *self.ldflags, *self.include, *self.env, *self.env.values())
        texts = (*texts, *self.args_at.values())
        if any("\0" in text for text in texts):
            raise ValueError("a zero byte cannot be in a name, an argument or the environment")
        if wrong := [name for name in self.env if not name or "=" in name]:
            raise ValueError(f"'{wrong[0]}' cannot be the name of a variable of the environment")
        if self.build and not self.executable:
            raise ValueError("'build' needs 'executable': the program that the command builds")
        for name in ("shell", "time_from", "rate_from", "stacks"):
            if getattr(self, name) and not self.command:
                raise ValueError(f"'{name}' belongs to a command; 'command' was expected, too")
        if self.time_from and self.rate_from:
            raise ValueError("'time_from' and 'rate_from' both say what counts; one of them was expected")
        return self
