"""Consent before running code that the user did not write here: what it is, who approved it, where that is recorded.

A request that was typed (command line, panel of the window, a call of the API) runs at once. One that came in a file
may hide code in unexpected places. `wanted` lists it; the caller shows the list and asks.
"""

from scalegraph.request.consent.asking import Consent, ConsentNeeded, Item, approved, wanted
from scalegraph.request.consent.record import is_known, remember

__all__ = ["Consent", "ConsentNeeded", "Item", "approved", "is_known", "remember", "wanted"]
