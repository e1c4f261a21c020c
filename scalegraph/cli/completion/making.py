"""What can be completed, from the real commands, views and quantities."""

from __future__ import annotations

from typing import Any

import click

# placeholders for values whose type and choices do not give one
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


def words() -> dict[str, Any]:
    """Return ``commands``, ``views``, ``quantities`` and ``formats`` with their help; imports all of them."""
    from scalegraph import views
    from scalegraph.cli.main import COMMANDS, command
    from scalegraph.request.results import quantities, trace_quantities
    from scalegraph.traces.formats import writers

    shown = {
        view.name: {
            "subject": view.subject,
            "help": view.title,
            "options": {option.name: option.title for option in view.all_options},
        }
        for view in views.everything().values()
    }
    found = {one.name: {"subject": "study", "help": one.description} for one in quantities.QUANTITIES.values()}
    found |= {
        one.name: {"subject": "trace", "help": one.description} for one in trace_quantities.TRACE_QUANTITIES.values()
    }
    names = {name: _spec(command(name)) for name in COMMANDS}
    return {"commands": names, "views": shown, "quantities": found, "formats": dict.fromkeys(writers(), "")}


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
