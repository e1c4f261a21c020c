"""Consent before code runs that the user did not write here: what it is, who approved it, and where that is kept.

A request that was typed (command line, panel of the window, a call of the API) runs at once. One that came in a file
may hold code in places where nobody searches for it. `wanted` lists what that is; the caller shows it and asks.
"""

from scalegraph.request.consent.asking import Consent, ConsentNeeded, Item, approved, wanted
from scalegraph.request.consent.record import is_known, remember

__all__ = ["Consent", "ConsentNeeded", "Item", "approved", "is_known", "remember", "wanted"]
