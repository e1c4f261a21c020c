"""Names of the window's pages."""

from typing import Final

START: Final = "start"
REQUEST: Final = "request"
STUDY: Final = "study"
INSTRUMENT: Final = "instrument"
IMPORT: Final = "import"
MEASURE: Final = "measure"
_FROM: Final = {INSTRUMENT: REQUEST}  # subpages and the page they belong to
LEFT: Final = frozenset({REQUEST, MEASURE, IMPORT, INSTRUMENT})  # pages that Escape and Back leave


class WayBack:
    """Remembers, for each page of `LEFT`, the page it was opened from."""

    def __init__(self) -> None:
        self._entered: dict[str, str] = {}

    def went(self, before: str, page: str) -> None:
        """Record that *page* was opened from the page *before*."""
        if page in LEFT and before != page and (before not in LEFT or page not in self._entered):
            self._entered[page] = before

    def before(self, page: str) -> str:
        """Return the page to go to when *page* is left."""
        return _FROM.get(page) or self._entered.get(page, START)
