"""Names of the window's pages."""

from typing import Final

START: Final = "start"
REQUEST: Final = "request"
STUDY: Final = "study"
INSTRUMENT: Final = "instrument"
IMPORT: Final = "import"
MEASURE: Final = "measure"
