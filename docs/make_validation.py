"""Prints the tables of docs/VALIDATION_TABLES.md, simulated values beside the papers'; ``--write`` puts them there.

    python docs/make_validation.py --studies DIR [--write] [--long] [--host] [TABLE ...]

Every table stands there between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``; the text around
them is written by hand. Runs are kept as studies in DIR, so what is there is not run again: an empty DIR makes all
anew, on one state of the code, in ten minutes of one core. `papers_tables` has the tables. With ``--long`` also those
of the schedules of loops at the paper's sizes and of predictions, an hour and a half more. With ``--host`` also that
of the calibrated host, which depends on this computer and needs it idle.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from papers_tables import HOST, LONG, TABLES, Studies, prediction_figures, schedules

PAGE = Path(__file__).parent / "VALIDATION_TABLES.md"


def replaced(text: str, name: str, lines: list[str]) -> str:
    """Return *text* with the table *name* made of *lines*; raises `ValueError` if it has no place there."""
    pattern = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->\n)", re.DOTALL)
    made, count = pattern.subn(lambda found: f"{found[1]}\n" + "\n".join(lines) + f"\n\n{found[2]}", text)
    if count != 1:
        raise ValueError(f"{PAGE.name} has {count} places for the table {name}; one was expected")
    return made


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"which of {', '.join(TABLES)}; all if none is named"
    )
    parser.add_argument("--studies", type=Path, required=True, help="directory of the studies")
    parser.add_argument("--write", action="store_true", help="write the tables into VALIDATION_TABLES.md")
    parser.add_argument("--host", action="store_true", help="measure this computer, too, and compare with it")
    parser.add_argument(
        "--long", action="store_true", help="make the tables of schedules of loops and of predictions, too"
    )
    options = parser.parse_args()
    tables = {**TABLES, **(LONG if options.long else {}), **(HOST if options.host else {})}
    unknown = set(options.tables) - set(tables)
    if unknown:
        parser.error(f"unknown table {', '.join(sorted(unknown))}")
    options.studies.mkdir(parents=True, exist_ok=True)
    studies = Studies(options.studies)
    for name in options.tables or tables:
        lines = tables[name](studies)
        print(f"{name}\n", *lines, "", sep="\n", flush=True)
        if options.write:
            PAGE.write_text(replaced(PAGE.read_text(), name, lines))
    for module, name in ((schedules, "schedules"), (prediction_figures, "predicted-gauss")):
        if options.long and options.write and name in (options.tables or tables):
            module.pictures(studies, PAGE.parent / "images")


if __name__ == "__main__":
    main()
