"""The first section of the request panel: the program, its arguments and parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from scalegraph.base.units import as_read, thousands
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.opening import SOURCES
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.request.form import Pairs, RequestForm, for_build, for_program, for_sources
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section, dress
from scalegraph.gui.request.target import OF_RANKS
from scalegraph.gui.request.widgets import Choice, PairsEditor
from scalegraph.request.model import programs
from scalegraph.request.model.programs import Parameter, Program
from scalegraph.request.model.values import request_value

_OWN: Final = "\0own"  # cannot be the name of a program
_BUILT: Final = "\0built"
_EXECUTABLE: Final = "\0executable"
_SHIPPED: Final = "\0shipped"  # heading
_OWN_ITEMS: Final = (
    (_OWN, "Source files of your own…"),
    (_EXECUTABLE, "An executable of your own…"),
    (_BUILT, "A build of your own (make, CMake)"),
)
# Under More, but not asked for if the program comes from the user's own build.
_COMPILED: Final = ("program.cflags", "program.ldflags", "program.include", "program.directory")


class ProgramSection(Section):
    """Program, sources, arguments, compiler flags."""

    preview_wanted = Signal(str)  # path of the source whose instrumentation is to be shown
    described = Signal(object)  # a Catalog with one more program

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Program")
        # turns a request for the user's own program into one with the user's preferences
        self.preferred: Callable[[RequestForm], RequestForm] = lambda form: form
        self._catalog = Catalog()
        self.own = self._ways_to_own()
        self.column.addWidget(self.own)
        self.choice = Choice()
        self.choice.setAccessibleName("Program")
        self.choice.chosen.connect(self.choose)
        self.ask("program", self.choice, "program.name")
        self.summary = label("", "muted", wrap=True)
        self.column.addWidget(self.summary)
        self._own = self.ask("program.sources", self._source_row())
        self._build_entry = self.entry("build", request_value("program.build").placeholder())
        self._base_entry = self.entry("directory", request_value("program.directory").placeholder())
        self._built = (
            self.ask("program.directory", self._base_entry),
            self.ask("program.build", self._build_entry),
            self.ask("program.executable", self._executable_row()),
        )
        self._args_entry = self.entry("args", request_value("program.args").placeholder())
        self._args = self.ask("program.args", self._args_entry)
        self._more_button = button("More: title, compiler flags, environment, input", kind="link")
        self._more_button.setCheckable(True)
        self._more_button.toggled.connect(self._show_more)
        self._build_more()
        row = QHBoxLayout()
        self.preview = button("Show instrumentation", "Show the inserted code beside the original", "link")
        self.preview.clicked.connect(self.show_preview)
        row.addWidget(self.preview)
        row.addWidget(self._more_button)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addWidget(self._more)

    def set_catalog(self, catalog: Catalog) -> None:
        """Offer the shipped programs."""
        self._catalog = catalog
        self.show_form(self.model.form)

    def choose(self, name: str) -> None:
        """Load the defaults of program *name*; for the user's own, ask for the files."""
        if name == _OWN:
            self.ask_sources()
            self.show_form(self.model.form)
        elif name == _EXECUTABLE:
            self._ask_executable()
            self.show_form(self.model.form)
        elif name == _BUILT:
            if not self.model.form.built:
                self.choose_build("")
        elif name != self.model.form.program:
            found = self._catalog.programs.get(name)
            if found is not None:
                form = for_program(name, found.program, self.model.form)
                self.model.set(form, f"choice of {found.program.title}")

    def choose_description(self, path: Path) -> None:
        """Load the program described by the TOML file at *path*. Raises `InputError` with its errors."""
        found = programs.load(str(path))
        name = str(path)
        self._catalog = replace(self._catalog, programs={**self._catalog.programs, name: found})
        self.described.emit(self._catalog)
        self.choose(name)

    def choose_sources(self, paths: tuple[Path, ...]) -> None:
        """Start with the user's own sources."""
        form = for_sources(tuple(map(str, paths)), self.model.form)
        self.model.set(self.preferred(form), "choice of sources")

    def choose_build(self, executable: str) -> None:
        """Start with a program made by the user's own build; its executable may be named later."""
        self.model.set(self.preferred(for_build(executable, self.model.form)), "choice of a build")

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        items = [(name, found.program.title) for name, found in self._catalog.programs.items()]
        if form.program and form.program not in self._catalog.programs:
            items.append((form.program, form.program))
        self.choice.offer([*_OWN_ITEMS, (_SHIPPED, "Shipped programs"), *items])
        self.choice.show_heading(_SHIPPED)
        self.choice.show_value(form.program or (_BUILT if form.built else _OWN if form.sources else None))
        self.own.setVisible(not form.chosen)
        if not form.chosen:
            self.choice.setPlaceholderText("Or choose a shipped program")
        found = self._catalog.programs.get(form.program)
        self.summary.setText(found.program.summary if found is not None else "")
        self.summary.setVisible(bool(self.summary.text()))
        self._files.setText("\n".join(Path(source).name for source in form.sources))
        self._files.setToolTip("\n".join(form.sources))
        self._own.setVisible(bool(form.sources))
        for made in self._built:
            made.setVisible(form.built)
        for field in self._more_fields:
            if field.keys[0] in _COMPILED:
                field.setVisible(not form.built)
        self._args.setVisible(bool(form.sources) or form.built)
        self.preview.setVisible(form.chosen and not form.built)
        self._base_entry.show_text(form.directory)
        self._build_entry.show_text(form.build)
        self._executable_entry.show_text(form.executable)
        self.show_values(form)
        self._args_entry.show_text(form.args)
        for key, pairs in (("program.env", form.env), ("program.args_at", form.args_at)):
            self.tables[key].show_pairs(pairs)
            self._headings[key].setVisible(bool(pairs))

    def _ways_to_own(self) -> QWidget:
        """Return the panel's first row while no program is chosen: buttons to choose one's own."""
        made = QWidget()
        column = vertical(made, (0, 2, 0, 6))
        first, others = QHBoxLayout(), QHBoxLayout()  # two rows, to fit a small window
        self.own_sources = button("Choose source files…", "C, C++ or Fortran, with OpenMP or threads", "primary")
        self.own_sources.clicked.connect(self.ask_sources)
        executable = button("Executable…", "A program linked by scalegraph-cc, scalegraph-c++ or scalegraph-fc")
        executable.clicked.connect(self._ask_executable)
        build = button("Build command…", "Runs make, CMake .. before the program")
        build.clicked.connect(lambda: self.choose(_BUILT))
        for row, ways in ((first, (self.own_sources,)), (others, (executable, build))):
            for way in ways:
                row.addWidget(way)
            row.addStretch(1)
            column.addLayout(row)
        column.addWidget(
            label("The program is not changed. Files can also be dropped on the window.", "muted", wrap=True)
        )
        return made

    def _source_row(self) -> QWidget:
        row = QWidget()
        line = horizontal(row)
        self._files = label("", wrap=True)
        change = button("Choose…", "Choose the sources of the program")
        change.clicked.connect(self.ask_sources)
        line.addWidget(self._files, 1)
        line.addWidget(change)
        return row

    def _executable_row(self) -> QWidget:
        row = QWidget()
        line = horizontal(row)
        self._executable_entry = self.entry("executable", request_value("program.executable").placeholder())
        self._executable_entry.setAccessibleName("Executable")
        change = button("Choose…", "Choose the program that the build made")
        change.clicked.connect(self._ask_executable)
        line.addWidget(self._executable_entry, 1)
        line.addWidget(change)
        return row

    def _ask_executable(self) -> None:
        file, _kind = QFileDialog.getOpenFileName(self, "Program that the build makes", self.model.form.directory)
        if file and self.model.form.built:
            self.model.edit("choice of the executable", executable=file)
        elif file:
            self.choose_build(file)

    def _build_more(self) -> None:
        self._more = QWidget()
        column = vertical(self._more, spacing=6)
        before = len(self.fields)
        self.ask_value("title", parts=column)
        own = ("name", "sources", "executable", "build", "args", "env", "args_at")
        self.ask_rest("program", parts=column, elsewhere=(*OF_RANKS, *(f"program.{name}" for name in own)))
        self._more_fields = self.fields[before:]
        env = PairsEditor("variable", self._env_typed, name_hint="NAME", add="Add environment variable")
        args_at = PairsEditor("arguments", self._args_at_typed, name_hint="N", add="Add arguments at N")
        self._headings = {}  # by name of the list of pairs
        for key, pairs in (("program.env", env), ("program.args_at", args_at)):
            self._headings[key] = label(dress(pairs, key).label, "muted")
            self.tables[key] = pairs
            column.addWidget(self._headings[key])
            column.addWidget(pairs)
        self._more.hide()

    def _env_typed(self, pairs: Pairs, typing: str) -> None:
        self.model.edit("change of the environment", typing=f"env {typing}" if typing else "", env=pairs)

    def _args_at_typed(self, pairs: Pairs, typing: str) -> None:
        self.model.edit("change of arguments at N", typing=f"args at {typing}" if typing else "", args_at=pairs)

    def _show_more(self, shown: bool) -> None:
        self._more.setVisible(shown)
        self._more_button.setText("Less" if shown else "More: title, compiler flags, environment, input")

    def ask_sources(self) -> None:
        """Ask for the sources of the user's own program and start with them."""
        files, _kind = QFileDialog.getOpenFileNames(self, "Sources of the program", "", f"{SOURCES};;All files (*)")
        if files:
            self.choose_sources(tuple(map(Path, files)))

    def show_preview(self) -> None:
        """Open the page with the instrumented first source."""
        form = self.model.form
        found = self._catalog.programs.get(form.program)
        sources = found.sources() if found is not None else tuple(map(Path, form.sources))
        if sources:
            self.preview_wanted.emit(str(sources[0]))


class ParameterSection(Section):
    """Base values of the program's parameters."""

    def __init__(self, model: RequestModel) -> None:
        said = request_value("parameters")
        super().__init__(model, said.label, f"{said.help}.")
        self._catalog = Catalog()
        self.editor = PairsEditor("parameter", self._typed, name_hint="name, used as {name}")
        self.editor.setAccessibleName("Parameter")
        self.tables["parameters"] = self.editor
        dress(self.editor, "parameters")
        self.add("", self.editor, ("parameters",), beside=False)

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the programs' descriptions."""
        self._catalog = catalog
        self.show_form(self.model.form)

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        found = self._catalog.programs.get(form.program)
        self.setVisible(form.chosen)
        notes = _notes(found.program) if found is not None else {}
        self.editor.show_pairs(form.parameters)
        self.editor.set_names(fixed=found is not None, notes=notes)

    def _typed(self, pairs: Pairs, typing: str) -> None:
        self.model.edit("change of a parameter", typing=typing, parameters=pairs)
        if not typing:
            self.model.finish_typing()


def _notes(program: Program) -> dict[str, str]:
    return {item.name: _note(item) for item in program.parameter}


def _note(item: Parameter) -> str:
    span = ""
    if item.minimum is not None and item.maximum is not None:
        span = f"{_grouped(item.minimum)} to {_grouped(item.maximum)}"
    elif item.minimum is not None:
        span = f"at least {_grouped(item.minimum)}"
    return ", ".join(part for part in (item.title, span) if part)


def _grouped(value: float) -> str:
    return thousands(value) if value == int(value) else as_read(value)
