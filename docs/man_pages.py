"""Generate manual pages (roff) from the commands; the compiler wrappers share a page of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

import scalegraph

CODES = (
    ("0", "Success."),
    ("1", "The work failed: a run failed, a file cannot be written, or an assertion does not hold."),
    ("2", "The command line or an input file is wrong; the message names the file, the line and what was expected."),
    ("130", "Interrupted; finished results are kept."),
)
_WRAPPER = """\
.SH DESCRIPTION
.B scalegraph\\-cc\\fR, \\fBscalegraph\\-c++\\fR and \\fBscalegraph\\-fc
accept the command lines of
.BR gcc (1),
.B g++
and
.BR gfortran .
They link programs for the simulated multiprocessor;
.BR scalegraph\\-simulate (1)
runs these. Calls that only query the compiler or preprocess are passed on to it.
.PP
Your options for optimisation, language, warnings, macros and
.B \\-fopenmp
are used; OpenMP is off unless you turn it on. Debug information is always on. Link-time optimisation and
position-independent code are always off.
.PP
.B scalegraph\\-mpicc\\fR, \\fBscalegraph\\-mpicxx\\fR and \\fBscalegraph\\-mpifort
do the same for MPI programs, with ScaleGraph's mpi.h. Like the compilers of MPICH and Open MPI, they answer
.BR \\-show ,
.B \\-compile_info
and
.BR \\-showme ,
so that CMake's FindMPI accepts them as MPI_C_COMPILER.
.SH EXAMPLES
.nf
make CC=scalegraph\\-mpicc
make CC=scalegraph\\-cc CXX=scalegraph\\-c++ FC=scalegraph\\-fc
cmake \\-B build \\-DCMAKE_C_COMPILER=scalegraph\\-cc
scalegraph simulate ./prog \\-p 1,4,16 \\-\\- ARGS
.fi
.SH ENVIRONMENT
.TP
.BR SCALEGRAPH_CC ", " SCALEGRAPH_CXX ", " SCALEGRAPH_FC
The compilers that they call (default: gcc, g++ and gfortran).
.TP
.B SCALEGRAPH_DETAIL
Which loops get probes: functions, outer (default), all, or none.
.TP
.B SCALEGRAPH_INLINE
1 (default) inlines most hooks if gcc compiles for x86\\-64; 0 compiles every hook as a call.
"""


def pages(commands: Mapping[str, tuple[str, str]], find: Callable[[str], click.Command]) -> dict[str, str]:
    """Return the text of every page, by file name."""
    made: dict[str, str] = {}
    top = find("")
    made["scalegraph.1"] = _page("scalegraph", top, [(name, text) for name, (_, text) in commands.items()])
    for name in commands:
        made |= _below(f"scalegraph {name}", find(name))
    made["scalegraph-cc.1"] = _wrapper()
    for name in ("c++", "fc", "mpicc", "mpicxx", "mpifort"):
        made[f"scalegraph-{name}.1"] = ".so man1/scalegraph-cc.1\n"
    return made


def _below(path: str, command: click.Command) -> dict[str, str]:
    inside = command.commands if isinstance(command, click.Group) else {}
    made = {f"{path.replace(' ', '-')}.1": _page(path, command, [(n, _first(c)) for n, c in inside.items()])}
    for name, sub in inside.items():
        made |= _below(f"{path} {name}", sub)
    return made


def _first(command: click.Command) -> str:
    return " ".join((command.help or "").strip().partition("\n\n")[0].split())


def _escape(text: str) -> str:
    """Escape *text* so that roff shows it unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", text)


def _head(name: str, says: str) -> list[str]:
    title = name.replace(" ", "-")
    return [
        f'.TH "{title.upper()}" 1 "" "ScaleGraph {scalegraph.__version__}" "ScaleGraph Manual"',
        ".SH NAME",
        f"{_escape(title)} \\- {_escape(says.rstrip('.'))}",
    ]


def _wrapper() -> str:
    lines = _head("scalegraph cc", "compile programs for the simulated multiprocessor as gcc does")
    lines[2] = (
        f"{_escape('scalegraph-cc, scalegraph-c++, scalegraph-fc')} \\- {lines[2].partition(' ' + chr(92) + '- ')[2]}"
    )
    usage = [
        f".B {_escape(name)}\n[\\fIoption\\fR ...] \\fIfile\\fR ...\n.br"
        for name in ("scalegraph-cc", "scalegraph-c++", "scalegraph-fc")
    ]
    return "\n".join([*lines, ".SH SYNOPSIS", *usage]) + f"\n{_WRAPPER}" + _see(["scalegraph", "scalegraph-simulate"])


def _page(path: str, command: click.Command, inside: Iterable[tuple[str, str]]) -> str:
    inside = list(inside)
    lines = [*_head(path, _first(command)), ".SH SYNOPSIS", _usage(path, command), ".SH DESCRIPTION"]
    for number, part in enumerate((command.help or "").strip().split("\n\n")):
        lines += [".PP"] * bool(number) + [_escape(" ".join(part.split()))]
    if inside:
        lines.append(".SH COMMANDS")
        for name, text in inside:
            lines += [".TP", f"\\fB{_escape(f'{path} {name}'.replace(' ', '-'))}\\fR(1)", _escape(text)]
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    lines.append(".SH OPTIONS")
    for option in options:
        lines += [".TP", _names(option), _escape(explanation(option))]
    lines += [".TP", '.BR \\-h ", " \\-\\-help', "Show the options and exit."]
    lines.append(".SH EXIT STATUS")
    for code, text in CODES:
        lines += [".TP", f".B {code}", _escape(text)]
    parent, _, _ = path.rpartition(" ")
    others = [parent.replace(" ", "-")] if parent else []
    others += [f"{path} {name}".replace(" ", "-") for name, _ in inside]
    return "\n".join(lines) + "\n" + _see(others or ["scalegraph-cc"])


def _see(names: Iterable[str]) -> str:
    return ".SH SEE ALSO\n" + ",\n".join(f".BR {_escape(name)} (1)" for name in names) + "\n"


def _usage(path: str, command: click.Command) -> str:
    words = [f"\\fB{_escape(path)}\\fR", "[\\fIoptions\\fR]"]
    if isinstance(command, click.Group):
        words.append(f"\\fI{_escape(command.subcommand_metavar or 'COMMAND')}\\fR")
    for param in command.params:
        if isinstance(param, click.Argument):
            shown = param.metavar or str(param.name).upper() + ("..." if param.nargs == -1 else "")
            words.append(f"\\fI{_escape(shown)}\\fR")
    return " ".join(words)


def _names(option: click.Option) -> str:
    names = ", ".join(f"\\fB{_escape(name)}\\fR" for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} \\fI{_escape(value_name(option))}\\fR"


def value_name(option: click.Option) -> str:
    """Return the placeholder for the value of *option* in its usage: ``FILE``, ``members|central``."""
    kind: Any = option.type
    if option.metavar:
        return option.metavar
    return "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else str(kind.name).upper()


def explanation(option: click.Option) -> str:
    """Return the help of *option* with its default and choices as one paragraph."""
    text = " ".join((option.help or "").split())
    known = option.default is not None and not option.is_flag and not callable(option.default)
    if option.show_default and known and not option.multiple:
        text += f" Default: {option.default}."
    if isinstance(option.type, click.Choice) and option.metavar:
        text += f" One of {', '.join(map(str, option.type.choices))}."
    return text
