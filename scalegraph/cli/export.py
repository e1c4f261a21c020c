"""``scalegraph export``: any view as a picture or its data."""

from __future__ import annotations

from pathlib import Path

import click

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.cli.study_input import known_endings, mapping_option, open_input
from scalegraph.request import Session


@click.command("export")
@click.argument("source", metavar="INPUT", required=False, type=click.Path(path_type=Path))
@mapping_option
@click.option("--view", "name", metavar="NAME", help="The view; --list names all.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Where to; the ending is the format: .png .svg .pdf .csv .tex .md .json .parquet")  # fmt: skip
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the view; repeatable.")
@click.option("--size", metavar="WxH", help="Size of the picture in cm, as in 16x10.")
@click.option("--theme", type=click.Choice(["light", "dark", "print"]), default="print", show_default=True)
@click.option("--list", "list_views", is_flag=True, help="List the views with their options.")
def export(
    source: Path | None,
    name: str | None,
    output: Path | None,
    options: tuple[str, ...],
    size: str | None,
    theme: str,
    *,
    list_views: bool,
) -> None:
    """Write a view of the study INPUT to a file, as a picture or as the numbers behind it."""
    session = Session()
    if list_views:
        show_views(session)
        return
    faults = [
        Fault(f"{what} was expected{hint}")
        for what, given, hint in (
            ("a study", source, ""),
            ("--view NAME", name, "; --list names all"),
            ("-o FILE", output, ""),
        )
        if given is None
    ]
    if source is None or name is None or output is None:
        raise InputError(faults)
    check_ending(output)
    chosen, size_wanted = pairs(options), size_cm(size)
    with open_input(source) as study:
        session.export(study, name, output, size_cm=size_wanted, theme=theme, **chosen)


def show_views(session: Session) -> None:
    """Print every view with its options."""
    for view in session.views().values():
        click.echo(f"{view.name}: {view.title} ({view.group}). {view.description}")
        for option in view.options:
            among = f", one of {', '.join(option.choices)}" if option.choices else ""
            click.echo(f"    {option.name}: {option.title}{among}" + (f" ({option.unit})" if option.unit else ""))


def pairs(words: tuple[str, ...]) -> dict[str, str]:
    """Return KEY=VALUE words as a mapping; raise `InputError` with all that are none."""
    wrong = [Fault(f"'{word}': expected KEY=VALUE", key="--option") for word in words if "=" not in word.lstrip("=")]
    if wrong:
        raise InputError(wrong)
    return dict(word.split("=", 1) for word in words)


def size_cm(text: str | None) -> tuple[float, float] | None:
    """Return width and height in cm of ``16x10``; raise `InputError` for anything else."""
    if text is None:
        return None
    width, cross, height = text.lower().partition("x")
    try:
        size = float(width), float(height)
    except ValueError:
        cross = ""
        size = (0.0, 0.0)
    if not cross or not all(1 <= side <= 200 for side in size):
        raise InputError(Fault(f"'{text}': a size in cm as in 16x10 was expected, each side 1 to 200", key="--size"))
    return size


def check_ending(path: Path, *, key: str = "-o") -> None:
    """Refuse a file whose ending is no format."""
    endings = known_endings()
    if path.suffix.lower() not in endings:
        hint = near(path.suffix.lower(), endings) or f"; one of {' '.join(endings)} was expected"
        raise InputError(Fault(f"'{path.name}' has no ending that is a format{hint}", key=key))
