"""Guesses of the meaning of a set's names; questions where a guess is not safe."""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements import (
    counted,
    derived,
    evidence,
    grids,
    members,
    names,
    naming,
    products,
    quantities,
    rates,
    twins,
    units,
    wholes,
)
from scalegraph.measurements import sizes as sizes_
from scalegraph.measurements.following import filled, following, named_without_counts
from scalegraph.measurements.mapping import CYCLES, SECONDS, Mapping, Question
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import ALL, varies
from scalegraph.measurements.scaling import falling, with_scaling

SERIAL_NOTE = "{0} = 0 is taken as the serial program"
NONE = "none"  # the answer that there is nothing of the kind
_RELATIVE = ("speedup", "speed_up", "efficiency", "parallel_efficiency", "scaling", "scalability")
_TIMES = (  # of a whole run, likeliest first
    *("time", "elapsed", "runtime", "wall", "walltime", "wall_time", "elapsed_time", "execution_time", "real"),
    *("total_time", "t_para"),
)


@dataclass(frozen=True)
class Guess:
    """A mapping, as far as it can be guessed; if there are *questions*, there are no runs until they are answered.

    *measured*: the set, with the stated or inferred extent in metrics of unknown extent.
    """

    mapping: Mapping
    measured: MeasurementSet
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    no_runs: tuple[str, ...] = ()  # why there are none; also among the notes


def guess_mapping(measured: MeasurementSet, said: Table[str, Any] | None = None) -> Guess:
    """Return the meaning of the names in *measured*. *said*: fields of `Mapping` given by the user, ``none`` for none.

    In addition ``extent`` says whether values of unknown extent are ``inclusive`` or ``exclusive``. Raises `InputError`
    for an answer that does not fit the set, with the nearest name.
    """
    answers = naming.spelled(measured, {key: value for key, value in (said or {}).items() if value not in (None, "")})
    questions: list[Question] = []
    notes: list[str] = []
    none: list[str] = []  # reasons for no runs
    measured = _counted(measured, answers)
    measured = products.multiplied(measured, str(answers.get("processors", "")))
    _rate(measured, answers)
    _check(measured, answers)
    processors = _processors(measured, answers, questions, notes, none)
    measured = members.joined(named_without_counts(measured, processors), processors, said_sizes(answers) or ())
    follow, sizes = _problem(measured, processors, answers, questions, notes)
    notes += counted.constant(measured, processors, follow)
    rate = str(answers.get("rate", ""))
    if processors and (rate := rate or rates.chosen(measured, str(answers.get("time", "")), questions)):
        grows = answers.get("scaling") == "weak" or rates.grown(measured, processors, sizes)
        measured = rates.timed(measured, rate, processors, grows=grows)
        answers["time"] = rates.TIME
        answers.pop("unit", None)  # computed times are in seconds
    told: list[str] = []
    time, columns, summed = _time(measured, processors, answers, questions, told)
    if time and "summed" not in answers and (why := derived.summed(measured, processors, time)):
        summed = True
        told.append(f"{why}; --elapsed says another")
    if time and (doubt := derived.suspicious(measured, time)):
        told.append(doubt)
    measured = _remarked(measured, *told)  # kept with the set, as what is answered is not decided again
    unit = total = ""
    if time:
        measured = wholes.with_extent(measured, measured.metric(time), answers, questions, notes)
        measured = units.by_rate(measured, time, processors, answers)
        unit = units.unit_of(measured, time, answers, questions, asked=bool(processors))
        total = wholes.total(measured, measured.metric(time), answers, questions)
    elif processors:
        asked = counted.spent(measured, processors) if not questions and "time" not in answers else None
        questions += [asked] if asked else []
        none += [] if asked else [_no_time(measured)]
    made = Mapping(
        processors=processors,
        time=time,
        unit=unit,
        total=total,
        summed=bool(answers.get("summed", summed)),
        scaling=answers.get("scaling", ""),
        clock_hz=answers.get("clock_hz"),
        sizes=sizes,
        follow=follow,
        columns={**columns, **answers.get("columns", {})},
    )
    if not questions and processors and time:
        made = with_scaling(measured, made, questions, notes, none)
        if made.scaling == "weak" and "sizes" not in answers and "scaling" not in answers:
            questions += falling(measured, made)
    return Guess(made, measured, tuple(questions), (*told, *notes, *none), tuple(none))


def _counted(measured: MeasurementSet, answers: dict[str, Any]) -> MeasurementSet:
    """Put what counts the processors into *answers* if arithmetic decides it; return the set with a remark on why."""
    if "processors" in answers:
        return measured
    if grid := grids.alone(measured):
        answers["processors"] = "*".join(grid)
        words = f"processors are {' times '.join(grid)}, a grid of processes"
        return _remarked(measured, f"{words}; --processors says another")
    decided = (
        derived.counting(measured, _candidates(measured))
        or products.decided(measured, _fitting(measured))
        or evidence.decided(measured, _candidates(measured))
    )
    if decided is None:
        return measured
    answers["processors"], why = decided
    return _remarked(measured, f"processors are {answers['processors']}: {why}; --processors says another")


def _remarked(measured: MeasurementSet, *remarks: str) -> MeasurementSet:
    new = tuple(remark for remark in remarks if remark not in measured.remarks)
    return replace(measured, remarks=(*measured.remarks, *new)) if new else measured


def _no_time(measured: MeasurementSet) -> str:
    ratios = [metric.name for metric in measured.metrics if names.plain(metric.name).startswith(_RELATIVE)]
    if ratios:
        speedup = next((name for name in ratios if names.plain(name).startswith("speed")), "")
        rate = f", or --rate {quote(speedup)} takes it as a rate: larger is better" if speedup else ""
        return (
            f"there are no runs: '{ratios[0]}' is relative to a run whose time is not here; times in seconds are "
            f"needed{rate}"
        )
    first = quote(measured.metrics[0].name) if measured.metrics else "METRIC"
    listed = ", ".join(metric.name for metric in measured.metrics[:6])
    return (
        f"no metric is an elapsed time or a rate, so there are no runs (there is {listed}); --time {first} or "
        f"--rate {first} says otherwise"
    )


def unused(said: Table[str, Any], guess: Guess) -> list[Fault]:
    """Return a fault for each answer that has no effect, in terms of the command line."""
    given = {key for key, value in said.items() if value not in (None, "", NONE)}
    made = guess.mapping
    faults = []
    if "clock_hz" in given and made.time and made.unit.lower() not in CYCLES:
        unit = f"in {made.unit}" if made.unit else "not in cycles"
        faults.append(Fault(f"'{made.time}' is {unit}: a clock has no effect; --unit cycles if it is", key="--clock"))
    if "unit" in given and made.time == rates.TIME and "rate" not in given and "1" not in str(said["unit"]):
        faults.append(Fault("times are computed from a rate, in seconds: a unit has no effect", key="--unit"))
    if "extent" in given and made.time and all(path.parent is None for path in guess.measured.call_paths):
        faults.append(Fault("no call path is below another: this has no effect", key="--values"))
    for key, switch in (("unit", "--unit"), ("clock_hz", "--clock"), ("total", "--total"), ("extent", "--values")):
        if key in given and not made.time and not guess.questions:
            faults.append(Fault("no metric is an elapsed time: this has no effect; name one by --time", key=switch))
    if not made.processors and not guess.questions:
        for key, switch in (("summed", "--summed"), ("scaling", "--scaling"), ("sizes", "--sizes")):
            if key in given and said[key] is not False:
                message = "no parameter counts processors: this has no effect; name one by --processors"
                faults.append(Fault(message, key=switch))
    return faults + [
        Fault(f"'{column}' is not a column of the run table{near(column, quantities.COLUMNS)}", key="--as")
        for column in said.get("columns") or ()
        if column not in quantities.COLUMNS and column != quantities.TIME
    ]


def _rate(measured: MeasurementSet, answers: dict[str, Any]) -> None:
    """Put the metric that was named as a rate into *answers* under its name in the set; its title is accepted, too.

    A unit of ``1/s`` makes the metric of time a rate. Raises `InputError` if time and rate are two metrics.
    """
    by_unit = str(answers.get("unit", "")).lower().replace(" ", "") in ("1/s", "/s", "s^-1", "s-1", "hz")
    if by_unit:
        del answers["unit"]
        others = [metric.name for metric in measured.metrics if metric.kind in ("other", "time")]
        alone = others[0] if len(others) == 1 else ""
        answers.setdefault("rate", answers.get("time") or alone or NONE)
    if "rate" not in answers:
        return
    word = str(answers["rate"])
    known = [metric.name for metric in measured.metrics]
    if word not in known:
        raise InputError(
            Fault(
                f"'{word}' is not a metric of the set{near(word, known)}; there is {', '.join(known[:8])}", key="--rate"
            )
        )
    metric = measured.metrics[measured.metric(word)]
    if metric.kind == "time" and (metric.unit or not by_unit):
        what = f"is a time in {metric.unit}" if metric.unit else "is a time by its name"
        raise InputError(Fault(f"'{word}' {what}, not a rate; say --time {quote(word)}", key="--rate"))
    if answers.get("time", word) not in (word, rates.TIME):
        raise InputError(Fault(f"times are made of one metric, and --time says '{answers['time']}'", key="--rate"))
    answers["rate"] = answers["time"] = word


def _problem(
    measured: MeasurementSet, processors: str, said: Table[str, Any], questions: list[Question], notes: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters that do not distinguish problems, and those that are sizes of the problem."""
    grid = grids.of(measured, processors) if processors else ()
    follow = following(measured, processors, grid) if processors else ()
    if follow:
        listed = ", ".join(follow)
        others = (
            "follow from it and the others, and tell"
            if len(follow) > 1
            else "follows from it and the others, and tells"
        )
        kind = " (a grid of processes)" if set(follow) & set(grid) else ""
        notes.append(f"processors are counted by {processors}; {listed}{kind} {others} no problems apart")
    left = [name for name in measured.parameters if name not in (processors, *follow)]
    numeric = [name for name in left if _numeric(measured.points[name])]
    if (chosen := said_sizes(said, left)) is not None:
        texts = sizes_.splitting_texts(measured, processors, left) if processors else []
        dropped = tuple(name for name in (*numeric, *texts) if name not in chosen and varies(measured.points[name]))
        if dropped:
            notes.append(f"{', '.join(dropped)} {'tells' if len(dropped) == 1 else 'tell'} no problems apart, as said")
        return (*follow, *dropped), tuple(name for name in numeric if name not in dropped)
    weak = said.get("scaling") == "weak"
    if processors and (asked := sizes_.question(measured, processors, left, weak=weak)) is not None:
        questions.append(asked)
    return follow, tuple(numeric)


def said_sizes(said: Table[str, Any], known: Sequence[str] = ()) -> tuple[str, ...] | None:
    """Return the problem sizes that were stated, as names or separated by commas; None if none were.

    A name among those *known* may hold commas.
    """
    word = said.get("sizes")
    if word is None:
        return None
    if not isinstance(word, str):
        return tuple(name.strip() for name in word if name.strip() and name.strip() != NONE)
    parts = [part.strip() for part in word.split(",")]
    made, at = [], 0
    while at < len(parts):
        ends = range(len(parts), at, -1)
        whole = (end for end in ends if any(_parts(name) == parts[at:end] for name in known))
        end = next(whole, at + 1)
        made.append(next((name for name in known if _parts(name) == parts[at:end]), parts[at]))
        at = end
    return tuple(name for name in made if name and name != NONE)


def _parts(name: str) -> list[str]:
    return [part.strip() for part in name.split(",")]


def _check(measured: MeasurementSet, said: Table[str, Any]) -> None:
    metrics = [metric.name for metric in measured.metrics]
    faults = []
    for key, known, what in (
        ("processors", measured.parameters, "parameter"),
        ("time", metrics, "metric"),
        ("total", (*measured.paths, ALL), "call path"),
    ):
        word = said.get(key)
        if word is not None and word != NONE and word not in known:
            hint = (
                near(word, known)
                or f"; there {'is' if len(known) == 1 else 'are'} {', '.join(list(known)[:8]) or 'none'}"
            )
            faults.append(Fault(f"'{word}' is not a {what} of the set{hint}", key=f"--{key}"))
    unit = said.get("unit")
    if unit is not None and unit.lower() not in SECONDS.keys() | CYCLES:
        faults.append(Fault(f"'{unit}' is not a unit of time{near(unit, SECONDS)}; s, ms, us, ns, say", key="--unit"))
    faults += [
        Fault(f"'{name}' is not a parameter of the set{near(name, measured.parameters)}", key="--sizes")
        for name in said_sizes(said, measured.parameters) or ()
        if name not in measured.parameters
    ]
    for column, metric in said.get("columns", {}).items():
        if metric not in metrics:
            faults.append(Fault(f"'{metric}' is not a metric of the set{near(metric, metrics)}", key=column))
    faults += quantities.faults(measured.metrics, said.get("columns", {}))
    faults += [
        Fault(f"'{metric}' is a rate of work; expected the work itself for {column}", key="--as")
        for column, metric in said.get("columns", {}).items()
        if metric in rates.rates(measured)
    ]
    word = said.get("processors")
    if word in measured.points and not _numeric(measured.points[word]):
        example = str(measured.points[word].iloc[0]) if len(measured.points) else ""
        message = f"'{word}' is a text ('{example}'); a number of processors was expected, or a grid such as 2x2"
        faults.append(Fault(message, file=measured.files[0] if measured.files else "", key="--processors"))
    if word in measured.points and names.is_time(str(word)) and names.plain(str(word)) != "t":  # t: threads, or time
        faults.append(Fault(f"'{word}' is a time by its name, not a number of processors", key="--processors"))
    if faults:
        raise InputError(faults)


def _numeric(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.dtype))


def _whole(column: pd.Series) -> bool:
    """Whether every value of a parameter could be a number of processors."""
    if not _numeric(column):
        return False
    values = column.to_numpy(dtype=np.float64)
    return bool(((values >= 1) & (values == np.floor(values)) & (values <= 2**31)).all())


def _with_serial(column: pd.Series) -> bool:
    """Whether values could be numbers of processors, except some 0 for the serial program."""
    return _numeric(column) and bool((column == 0).any()) and bool((column >= 1).any()) and _whole(column[column != 0])


def _fitting(measured: MeasurementSet) -> list[str]:
    return [name for name in measured.parameters if _whole(measured.points[name])]


def _candidates(measured: MeasurementSet) -> list[str]:
    """Return the parameters that vary and could each count the processors, judged by name."""
    return [name for name in _fitting(measured) if names.counts_processors(name) and varies(measured.points[name])]


def _processors(
    measured: MeasurementSet, said: Table[str, Any], questions: list[Question], notes: list[str], none: list[str]
) -> str:
    """Return the parameter that counts the processors, empty if there is none; the reason then goes to *none*."""
    if (word := said.get("processors")) is not None:
        if word in measured.points and _with_serial(measured.points[word]):
            notes.append(SERIAL_NOTE.format(word))
        return "" if word == NONE else str(word)
    fits = _fitting(measured)
    zero = [name for name in measured.parameters if name not in fits and _with_serial(measured.points[name])]
    found = [name for name in (*fits, *zero) if names.counts_processors(name)]
    if not found:
        found = [name for name in fits if name == "N"]
        asked = counted.question(measured, fits) if found and len(fits) > 1 else None
        if asked is not None and asked.guess != "N":  # times fall with another, so N is a size
            questions.append(asked)
            return ""
    several = [name for name in found if varies(measured.points[name])]
    several = [name for name in several if not filled(measured, name, several)]
    written = grids.counting(measured)
    several += [name for name in written if not any(name in grids.of(measured, other) for other in several)]
    if not several:  # with constant counts, ranks come before nodes, and a constant 1 counts nothing
        more = [name for name in found if name in fits and (measured.points[name] > 1).any()]
        found = [name for name in more if not names.counts_nodes(name)] or more or found
    if len(several) > 1 or (
        not several and len(found) > 1 and found[0] in fits and (measured.points[found[0]] > 1).any()
    ):
        questions.append(counted.which(measured, several or found))
        return ""
    if several or found:
        name = (several or found)[0]
        if name in zero:
            notes.append(SERIAL_NOTE.format(name))
        asked = counted.of_device(measured, name)
        questions += [asked] if asked else []
        return "" if asked else name
    broken = [name for name in measured.parameters if names.counts_processors(name) and name not in fits]
    if broken:
        none.append(
            f"{broken[0]} is not a whole number of 1 or more at every point, so it counts no processors and there are "
            "no runs; models over the parameters work"
        )
    elif (asked := counted.question(measured, fits)) is not None:
        questions.append(asked)
    elif measured.parameters:
        example = f"; --processors {quote(fits[0])} if it does" if fits else f" (there is {measured.parameters[0]})"
        words = "no parameter is known to count processors: models over the parameters work, scaling views stay empty"
        none.append(f"{words}{example}")
    else:
        none.append("no column, and no name of the file, says how many processors ran")
    return ""


def _time(
    measured: MeasurementSet, processors: str, said: Table[str, Any], questions: list[Question], notes: list[str]
) -> tuple[str, dict[str, str], bool]:
    """Return the time metric, the metrics for columns of the run table, and whether times are sums."""
    columns = _columns(measured, notes)
    if (word := said.get("time")) is not None:
        return "" if word == NONE else str(word), columns, False
    times = [metric for metric in measured.metrics if metric.kind == "time"]
    times = [metric for metric in times if not names.SPREADS & set(names.plain(metric.name).split("_"))] or times
    by_name = {metric.name: metric for metric in times}
    if "elapsed" in by_name and "time" in by_name and by_name["time"].extent != "unknown":
        notes.append("'time' is summed over the processors; runs take 'elapsed'")
        return "time", {**columns, "time_s": "elapsed"}, True
    times = twins.named(measured, times, notes)
    if len(times) > 1:
        bases = twins.bases(measured, processors, [metric.name for metric in times])
        notes += bases.values()
        times = [metric for metric in times if metric.name not in bases]
        for best in _TIMES:
            same = [metric for metric in times if names.plain(metric.name) in (best, f"{best}_s")]
            if len(same) == 1:
                if (asked := twins.contradiction(measured, same[0].name)) is not None:
                    questions.append(asked)
                    return "", columns, False
                return same[0].name, columns, False
        zero = derived.parts(measured, [metric.name for metric in times])
        notes += [f"'{name}' is 0 where other times are not: a part of the time" for name in zero]
        times = [metric for metric in times if metric.name not in zero]
        parts = {column for column in columns.values() if column in by_name}
        times = [metric for metric in times if metric.name not in parts] or times
        follow = derived.times(measured, processors, [metric.name for metric in times])
        notes += [f"{words}; it was not taken as the time" for words in follow.values()]
        times = [metric for metric in times if metric.name not in follow]
        if (chosen := derived.gained(measured, processors, [metric.name for metric in times])) is not None:
            notes.append(chosen[1])
            return chosen[0], columns, False
        if whole := derived.whole(measured, [metric.name for metric in times]):
            notes.append(f"'{whole}' is the sum of the other times, and was taken as the time")
            times = [metric for metric in times if metric.name == whole]
    if len(times) > 1 and (found := twins.spread(measured, processors, [metric.name for metric in times])):
        notes.append(found[1])
        return found[0], columns, False
    if len(times) > 1:
        listed = tuple(metric.name for metric in times)
        message = f"{', '.join(listed[:6])} are all times"
        longest = derived.longest(measured, listed)
        ordered = (longest, *(name for name in listed if name != longest)) if longest else listed
        because = "is nowhere shorter than the others" if longest else ""
        questions.append(Question("time", message, f"--time {quote(ordered[0])}", ordered, because))
        return "", columns, False
    others = [metric.name for metric in measured.metrics if metric.kind == "other"]
    if len(times) == 1 and others and names.PARTS & set(names.plain(times[0].name).split("_")):
        listed = (times[0].name, *others)
        message = f"'{times[0].name}' may be only a part of the time, beside {', '.join(others[:4])}"
        questions.append(Question("time", message, f"--time {quote(listed[0])}, or another", listed))
        return "", columns, False
    return (times[0].name if times else ""), columns, False


def _columns(measured: MeasurementSet, notes: list[str]) -> dict[str, str]:
    """Return the metrics for columns of the run table by their names; those in other units go to *notes*."""
    made, left_out = quantities.by_name([metric for metric in measured.metrics if rates.per(metric) is None])
    notes += left_out
    return made
