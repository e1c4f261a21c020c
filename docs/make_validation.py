"""Print the tables of docs/VALIDATION_TABLES.md, simulated values beside the papers'; ``--write`` updates the page.

    python docs/make_validation.py --studies DIR [--write] [--long] [--host] [TABLE ...]

On the page, each table is between the lines ``<!-- table: NAME -->`` and ``<!-- end -->``; the text around the tables
is written by hand. Runs are saved as studies in DIR, and existing results are reused. With an empty DIR, all runs are
made on one state of the code, in ten minutes on one core. The tables are defined in `papers_tables`. ``--long`` adds
the tables of loop schedules at the paper's sizes and of predictions, which take an hour and a half more. ``--host``
adds the table of the calibrated host, which depends on this computer and needs it idle.
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
    """Return *text* with the table *name* replaced by *lines*; raise `ValueError` unless *text* has it exactly once."""
    pattern = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->\n)", re.DOTALL)
    made, count = pattern.subn(lambda found: f"{found[1]}\n" + "\n".join(lines) + f"\n\n{found[2]}", text)
    if count != 1:
        raise ValueError(f"{PAGE.name}: expected one place for the table {name}, found {count}")
    return made


def main() -> None:
    """Print the tables, and write them into the page with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"tables to make (default: all): {', '.join(TABLES)}"
    )
    parser.add_argument("--studies", type=Path, required=True, help="directory for the studies")
    parser.add_argument("--write", action="store_true", help="write the tables into VALIDATION_TABLES.md")
    parser.add_argument("--host", action="store_true", help="also measure this computer and compare with it")
    parser.add_argument("--long", action="store_true", help="also make the tables of loop schedules and of predictions")
    options = parser.parse_args()
    tables = {**TABLES, **(LONG if options.long else {}), **(HOST if options.host else {})}
    unknown = set(options.tables) - set(tables)
    if unknown:
        parser.error(f"unknown table: {', '.join(sorted(unknown))}; known: {', '.join(tables)}")
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
