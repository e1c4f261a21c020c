"""Tables as people write them, CSV, TSV and the like: the roles of their columns are guessed, asked, or stated.

`text` decodes bytes into lines, `layout` finds the table in the lines, `columns` guesses the role of each column,
`guess` combines this for the user to check and change, `build` reads the whole table into a measurement set.
"""

from scalegraph.measurements.table.build import read_table
from scalegraph.measurements.table.guess import Column, Role, TableChoices, TableGuess, guess_table
from scalegraph.measurements.table.idle import idle

__all__ = ["Column", "Role", "TableChoices", "TableGuess", "guess_table", "idle", "read_table"]
