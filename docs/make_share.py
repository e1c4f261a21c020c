"""Write what is installed under ``share/`` and what completes words in shells: ``python docs/make_share.py [--check]``.

Manual pages and ``scalegraph/cli/completion/words.json`` are made from the commands, completion of the compilers from
their names, icons in pixels from the icon in lines. With ``--check`` nothing is written: what differs is named, and the
exit code is 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from man_pages import pages  # noqa: E402 - a script beside this one

from scalegraph import views  # noqa: E402
from scalegraph.cli.completion import stubs  # noqa: E402
from scalegraph.cli.main import COMMANDS, cli  # noqa: E402
from scalegraph.request.results import quantities, trace_quantities  # noqa: E402
from scalegraph.toolchain import mpi  # noqa: E402
from scalegraph.toolchain.wrapper import ALSO, NAMES  # noqa: E402

SIZES = (48, 128, 256)
ICON = ROOT / "resources" / "icons" / "scalegraph.svg"
INSTALLED = ROOT / "share" / "icons" / "hicolor"
# what stands for a value, where neither its type nor its choices say it
_KINDS = {
    "--view": "view",
    "--views": "views",
    "--what": "quantity",
    "--option": "option",
    "--machine": "machine",
    "--exe": "file",
    "--stdin": "file",
    "--cwd": "dir",
    "--include": "dir",
    "--trace-output": "dir",
    "--to": "format",
    "--program": "program",
}
_ARGUMENTS = {("simulate", "sources"): "program", ("show", "name"): "machine"}


_BEHIND = {"c": "gcc", "c++": "g++", "fortran": "gfortran"}  # whose command line a compiler of ours takes
_BASH = """\
# bash completion for {name}, which takes the command line of {behind}
_scalegraph_compiler() {{
    local load known
    for load in _comp_load _completion_loader; do
        declare -F $load > /dev/null && {{ $load $2; break; }}
    done
    known=$(complete -p $2 2> /dev/null) || known="complete -o bashdefault -o default $2"
    eval "${{known% *}} $1"
}}
_scalegraph_compiler {name} {behind}
"""


def main(*, check: bool) -> int:
    """Write the files, or name those that differ; return the exit code."""
    made: dict[Path, str] = {stubs.FILE: _words()}
    made[INSTALLED / "scalable" / "apps" / "scalegraph.svg"] = ICON.read_text("utf-8")
    made |= {ROOT / "share" / "man" / "man1" / name: text for name, text in pages(COMMANDS, _command).items()}
    made |= {ROOT / "share" / name: text for name, text in compiler_completions().items()}
    stale = [path for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text]
    known = set((ROOT / "share" / "man" / "man1").glob("*")) - set(made)
    if check:
        for path in (*stale, *sorted(known)):
            print(f"{path.relative_to(ROOT)} is not what `python docs/make_share.py` writes")
        return 1 if stale or known else 0
    for path in known:
        path.unlink()
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], "utf-8")
    _icons()
    return 0


def compiler_completions() -> dict[str, str]:
    """Return the files below ``share`` that complete the command lines of the compilers as those of gcc."""
    pairs = [(name, _BEHIND[language]) for names in (NAMES, ALSO, mpi.NAMES) for language, name in names.items()]
    made = {f"bash-completion/completions/{name}": _BASH.format(name=name, behind=behind) for name, behind in pairs}
    for name, behind in pairs:
        made[f"fish/vendor_completions.d/{name}.fish"] = f"complete --command {name} --wraps {behind}\n"
    services = " ".join(f"{name}={behind}" for name, behind in pairs)
    made["zsh/site-functions/_scalegraph-cc"] = f'#compdef {services}\n\n_gcc "$@"\n'
    return made


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name) if name else cli
    assert found is not None
    return found


def _words() -> str:
    names = {name: _spec(_command(name)) for name in COMMANDS}
    shown = {
        view.name: {
            "subject": view.subject,
            "help": view.title,
            "options": {option.name: option.title for option in view.options},
        }
        for view in views.everything().values()
    }
    found = {one.name: {"subject": "study", "help": one.description} for one in quantities.QUANTITIES.values()}
    found |= {
        one.name: {"subject": "trace", "help": one.description} for one in trace_quantities.TRACE_QUANTITIES.values()
    }
    from scalegraph.traces.formats import writers

    formats = dict.fromkeys(writers(), "")
    document = {"commands": names, "views": shown, "quantities": found, "formats": formats}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _spec(command: click.Command) -> dict[str, Any]:
    made: dict[str, Any] = {"help": (command.help or "").strip().partition("\n\n")[0]}
    made["options"] = [_option(param) for param in command.params if isinstance(param, click.Option)]
    made["arguments"] = [
        {
            "name": str(param.name),
            "nargs": param.nargs,
            "kind": _ARGUMENTS.get((str(command.name), str(param.name)), "file"),
        }
        for param in command.params
        if isinstance(param, click.Argument)
    ]
    if isinstance(command, click.Group):
        made["commands"] = {name: _spec(sub) for name, sub in command.commands.items()}
    return made


def _option(option: click.Option) -> dict[str, Any]:
    made: dict[str, Any] = {"names": [*option.opts, *option.secondary_opts], "help": option.help or ""}
    if option.secondary_opts:
        made["names"] = ["/".join((option.opts[0], option.secondary_opts[0]))]
    if option.is_flag:
        return made | {"flag": True}
    if option.multiple:
        made["multiple"] = True
    if isinstance(option.type, click.Choice):
        return made | {"choices": [str(choice) for choice in option.type.choices]}
    kind = "dir" if isinstance(option.type, click.Path) and not option.type.file_okay else "file"
    found = next((_KINDS[name] for name in option.opts if name in _KINDS), None)
    path = kind if isinstance(option.type, click.Path) else None
    return made | ({"kind": found or path} if found or path else {})


def _icons() -> None:
    """Draw the icon in pixels."""
    for path, image in icons():
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(str(path))


def icons() -> Iterator[tuple[Path, Any]]:
    """Yield each picture in pixels with its path."""
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        QSvgRenderer(str(ICON)).render(painter)
        painter.end()
        yield INSTALLED / f"{size}x{size}" / "apps" / "scalegraph.png", image


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
