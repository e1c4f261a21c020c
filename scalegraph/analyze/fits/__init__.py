"""Fits: laws of speedup and performance models, with intervals, rivals, doubt and back-tests.

Works on arrays of points and repeated values, and knows nothing of studies or files. See docs/MODELS.md.
"""

from scalegraph.analyze.fits.backtest import BackTest, ModelBackTest, back_test, back_test_models
from scalegraph.analyze.fits.fit import CONFIDENCE, Coefficient, Fit
from scalegraph.analyze.fits.isoefficiency import Isoefficiency, Order, isoefficiency_order
from scalegraph.analyze.fits.karp_flatt import KarpFlatt, SerialFraction, karp_flatt
from scalegraph.analyze.fits.lawfit import fit_laws
from scalegraph.analyze.fits.models import fit_models
from scalegraph.analyze.fits.modelset import Models

__all__ = [
    "CONFIDENCE",
    "BackTest",
    "Coefficient",
    "Fit",
    "Isoefficiency",
    "KarpFlatt",
    "ModelBackTest",
    "Models",
    "Order",
    "SerialFraction",
    "back_test",
    "back_test_models",
    "fit_laws",
    "fit_models",
    "isoefficiency_order",
    "karp_flatt",
]
