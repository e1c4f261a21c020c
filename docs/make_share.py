"""Generate the installed files that are not in ``share/`` already: ``python docs/make_share.py DIRECTORY``.

``DIRECTORY/share`` gets the commands' manual pages and the shell completion for the compilers. ``DIRECTORY/words.json``
gets the words that `scalegraph.cli.completion` completes. Building a wheel runs this script (``hatch_build.py``).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from man_pages import pages  # noqa: E402 - a script beside this one

from scalegraph.cli.completion import making  # noqa: E402
from scalegraph.cli.main import COMMANDS, cli, command  # noqa: E402
from scalegraph.toolchain import mpi  # noqa: E402
from scalegraph.toolchain.wrapper import ALSO, NAMES  # noqa: E402

_BEHIND = {"c": "gcc", "c++": "g++", "fortran": "gfortran"}  # the compiler whose options our wrapper accepts
_BASH = """\
# bash completion for {name}, which accepts the command line of {behind}
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


def main(directory: Path) -> None:
    """Write all files below *directory*."""
    made = {
        f"share/man/man1/{name}": text for name, text in pages(COMMANDS, lambda n: command(n) if n else cli).items()
    }
    made |= {f"share/{name}": text for name, text in _compiler_completions().items()}
    made["words.json"] = json.dumps(making.words(), ensure_ascii=False, indent=1) + "\n"
    for name, text in made.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _compiler_completions() -> dict[str, str]:
    """Return the files below ``share`` that complete the compilers' command lines like gcc's, by path."""
    pairs = [(name, _BEHIND[language]) for names in (NAMES, ALSO, mpi.NAMES) for language, name in names.items()]
    made = {f"bash-completion/completions/{name}": _BASH.format(name=name, behind=behind) for name, behind in pairs}
    for name, behind in pairs:
        made[f"fish/vendor_completions.d/{name}.fish"] = f"complete --command {name} --wraps {behind}\n"
    services = " ".join(f"{name}={behind}" for name, behind in pairs)
    made["zsh/site-functions/_scalegraph-cc"] = f'#compdef {services}\n\n_gcc "$@"\n'
    return made


if __name__ == "__main__":
    main(Path(sys.argv[1]))
