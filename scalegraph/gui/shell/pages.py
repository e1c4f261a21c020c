"""Names of the window's pages."""

from typing import Final

START: Final = "start"
REQUEST: Final = "request"
STUDY: Final = "study"
INSTRUMENT: Final = "instrument"
IMPORT: Final = "import"
MEASURE: Final = "measure"
_FROM: Final = {INSTRUMENT: REQUEST}  # pages that belong to another
LEFT: Final = frozenset({REQUEST, MEASURE, IMPORT, INSTRUMENT})  # pages that Escape and Back lead out of


class WayBack:
    """Remembers from which page each of `LEFT` was entered."""

    def __init__(self) -> None:
        self._entered: dict[str, str] = {}

    def went(self, before: str, page: str) -> None:
        """Remember that *page* was chosen on the page *before*."""
        if page in LEFT and before != page and (before not in LEFT or page not in self._entered):
            self._entered[page] = before

    def before(self, page: str) -> str:
        """Return the page that leads on when *page* is left."""
        return _FROM.get(page) or self._entered.get(page, START)
