"""Strong or weak scaling, judged by sizes and times; reports why times cannot become runs."""

from __future__ import annotations

from shlex import quote

import numpy as np

from scalegraph.base.units import assigned, counted, plain
from scalegraph.measurements import derived, evidence, names
from scalegraph.measurements.mapping import Mapping, Question, Scaling
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.runs import thinned, totals, varies


def with_scaling(
    measured: MeasurementSet, made: Mapping, questions: list[Question], notes: list[str], none: list[str]
) -> Mapping:
    """Return the mapping with its kind of scaling; reasons why times cannot become runs are added to the notes."""
    times = totals(measured, made, made.columns.get("time_s", ""))
    known = np.isfinite(times) & (times != 0)
    if (zero := int((times == 0).sum())) and known.any():
        point = measured.points.iloc[int(np.argwhere(times == 0)[0][0])]
        first = assigned((name, point[name]) for name in measured.parameters)
        notes.append(f"a time of 0 is not an elapsed time: {counted(zero, 'value')} left out, first at {first}")
    if not known.any():
        what = "a value but 0" if zero else "a value"
        none.append(f"there are no runs: no point has {what} of '{made.time}' at '{made.total}'")
    all_of_them, taken = int(known.sum()), int(thinned(np.where(known, times, np.nan)).sum())
    if taken < all_of_them:
        notes.append(f"runs are {taken} of the {all_of_them} times, evenly spaced; the set and its models keep all")
    notes += evidence.apart(measured, np.where(known, times, np.nan), made.time)
    notes += derived.remarks(measured, made.processors, made.time, made.follow)
    if made.scaling:
        return made
    return made.model_copy(update={"scaling": _scaling(measured, made, times, questions, notes)})


def falling(measured: MeasurementSet, made: Mapping) -> list[Question]:
    """Return the question about parameters that grow with the processors while times fall: results, or sizes."""
    points = measured.points
    times = np.nanmedian(totals(measured, made, made.columns.get("time_s", "")), axis=1)
    counts = points[made.processors].to_numpy(dtype=np.float64)
    known = times > 0
    others = [name for name in made.sizes if varies(points[name]) and names.plain(name) not in names.SIZES]
    if known.sum() < 2 or not others:
        return []
    few, many = np.argmin(np.where(known, counts, np.inf)), np.argmax(np.where(known, counts, -np.inf))
    if times[few] / times[many] < min(1.5, (counts[many] / max(counts[few], 1.0)) ** 0.3):
        return []
    listed = " and ".join(f"'{name}'" for name in others)
    kept = ",".join(name for name in made.sizes if name not in others) or "none"
    whole = ",".join(made.sizes)
    message = f"{listed} grow with the processors, but times fall as those of one problem do: results, or sizes"
    switch = f"--sizes {quote(kept)} if they are results, or --sizes {quote(whole)} if they are sizes"
    return [Question("sizes", message, switch, (kept, whole))]


def _scaling(
    measured: MeasurementSet, mapping: Mapping, times: Floats, questions: list[Question], notes: list[str]
) -> Scaling:
    """Return strong if sizes or falling times show it, otherwise weak or a question."""
    points = measured.points
    counts = np.maximum(points[mapping.processors].to_numpy(dtype=np.float64), 1.0)
    others = [name for name in measured.parameters if name not in (mapping.processors, *mapping.follow)]
    if len(np.unique(counts)) < 2:
        return ""
    if any(varies(points[name]) for name in others):
        again = points.groupby(others, dropna=False)[mapping.processors].nunique().max() if others else 1
        return "strong" if again > 1 else "weak"
    known = (times > 0).any(axis=1)
    if known.sum() < 2:
        return ""
    middle = np.full(len(times), np.nan)
    middle[known] = np.nanmedian(times[known], axis=1)
    few, many = np.argmin(np.where(known, counts, np.inf)), np.argmax(np.where(known, counts, -np.inf))
    gain, growth = middle[few] / middle[many], counts[many] / counts[few]
    named = evidence.named_scaling(measured.files)
    if gain >= min(1.5, growth**0.3) and named != "weak":
        return "strong"
    if gain <= 0.1 and named != "weak":
        notes.append("times rise with the processors: taken as one problem that slows down; --scaling weak if it grows")
        return "strong"
    computed, column = evidence.derived_scaling(measured, mapping.processors, mapping.time)
    reasons = {named: "is what the file's name says", computed: f"is what '{column}' was computed for"}
    told = {one for one in (named, computed) if one}
    if gain < min(1.5, growth**0.3) and len(told) == 1:
        (one,) = told
        notes.append(f"{one} scaling {reasons[one]}; --scaling says another")
        return one
    message = (
        f"time changes from {plain(middle[few])} to {plain(middle[many])} between {plain(counts[few])}"
        f" and {plain(counts[many])} "
        "processors: one problem that scales badly, or one that grows with the processors"
    )
    if {"cpu", "user"} & set(names.plain(mapping.time).split("_")):
        message += f", or '{mapping.time}' is the sum over the processors: --summed"
    likely: Scaling = named or computed or "strong"
    choices = (likely, "weak" if likely == "strong" else "strong")
    questions.append(
        Question("scaling", message, "--scaling strong or --scaling weak", choices, reasons[named] if named else "")
    )
    return ""
