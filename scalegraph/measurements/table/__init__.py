"""Tables as people have them, CSV, TSV and their kin: what their columns are is guessed, asked, or said.

`text` makes lines of bytes, `layout` finds the table in the lines, `columns` guesses what each column is, `guess` puts
it together for the user to check and change, `build` reads the whole into a measurement set.
"""

from scalegraph.measurements.table.build import read_table
from scalegraph.measurements.table.guess import Column, Role, TableChoices, TableGuess, guess_table
from scalegraph.measurements.table.idle import idle

__all__ = ["Column", "Role", "TableChoices", "TableGuess", "guess_table", "idle", "read_table"]
