"""Fits: laws of speedup and performance models with intervals, rivals, doubt and back-tests.

Everything works on arrays of points and repeated values; nothing knows of studies or files. See docs/MODELS.md.
"""

from scalegraph.analyze.fits.fit import CONFIDENCE, Coefficient, Fit
from scalegraph.analyze.fits.lawfit import fit_laws
from scalegraph.analyze.fits.models import fit_models
from scalegraph.analyze.fits.modelset import Models

__all__ = ["CONFIDENCE", "Coefficient", "Fit", "Models", "fit_laws", "fit_models"]
