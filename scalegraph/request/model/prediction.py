"""A request's predictions from its runs: larger sizes, on which processors, and further runs that improve them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import field_validator

from scalegraph.base.asked import asked
from scalegraph.base.errors import Fault
from scalegraph.base.run import Value
from scalegraph.link import loops
from scalegraph.request.model.basics import Name, Processors, Strict

if TYPE_CHECKING:
    from scalegraph.request.model.request import Request

_LARGEST: Final = 2**53
_FEWEST: Final = 2  # sizes that a prediction needs


class Prediction(Strict):
    """The sizes to predict from the runs of the request, which are the samples."""

    at: dict[Name, tuple[int, ...]] = asked(
        label="Sizes to predict",
        hint="n = 800, 1600",
        help="Values of the parameters that differ between the samples; with several parameters, values at the same"
        " position belong together, as in m=8,16; n=8,16",
    )
    processors: tuple[Processors, ...] = asked(
        default=(),
        max_length=1024,
        label="Predict on N",
        unit="processors",
        hint="those of the samples",
        help="Processor counts of the predicted points; those of the samples if empty",
    )
    counting: bool = asked(
        default=True,
        label="further small runs for exact counts",
        help="Further small runs, which give exact counts of loop iterations and events",
    )
    verify: bool = asked(
        default=False,
        label="run the predicted sizes too",
        help="The predicted sizes are run too, and the error of each prediction is shown",
    )

    @field_validator("at", mode="before")
    @classmethod
    def _as_lists(cls, value: Any) -> Any:
        """Accept one text, as typed, and one number instead of a list."""
        if isinstance(value, str):
            return read_sizes(value)
        if not isinstance(value, dict):
            return value
        return {name: (given,) if isinstance(given, int) else given for name, given in value.items()}

    @field_validator("at")
    @classmethod
    def _together(cls, value: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        _check(value)
        if any(not 0 < number <= _LARGEST for given in value.values() for number in given):
            raise ValueError("whole numbers above 0 were expected")
        return value

    @field_validator("processors")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @property
    def targets(self) -> list[dict[str, int]]:
        """The sizes to predict."""
        return by_point(self.at)

    def samples(self, sweep: Sequence[Mapping[str, Value]]) -> list[dict[str, int]]:
        """Return the sizes of *sweep* (base sizes of the request), restricted to the predicted parameters."""
        found = [{name: int(size[name]) for name in self.at if name in size} for size in sweep]
        return [values for i, values in enumerate(found) if values not in found[:i]]


def read_sizes(text: str) -> dict[str, tuple[int, ...]]:
    """Parse ``m=8,16; n=8,16``: values by parameter. Raises `ValueError` saying what was expected."""
    found: dict[str, tuple[int, ...]] = {}
    for part in filter(None, (part.strip() for part in re.split(r"[;\n]|\s(?=\s*[A-Za-z_]\w*\s*=)", text))):
        name, _, values = part.partition("=")
        try:
            found[name.strip()] = tuple(int(value) for value in values.split(","))
        except ValueError:
            raise ValueError(f"'{part}': NAME=VALUE,.. with whole numbers was expected") from None
    _check(found)
    return found


def sizes_text(at: Mapping[str, Sequence[int]]) -> str:
    """Return sizes in the notation of `read_sizes`."""
    return "; ".join(f"{name} = {', '.join(map(str, values))}" for name, values in at.items())


def by_point(at: Mapping[str, Sequence[int]]) -> list[dict[str, int]]:
    """Return the parameters of each point: values at the same position belong together, one value applies to all."""
    most = max((len(values) for values in at.values()), default=0)
    return [{name: values[i if len(values) > 1 else 0] for name, values in at.items()} for i in range(most)]


def _check(at: Mapping[str, Sequence[int]]) -> None:
    most = max((len(values) for values in at.values()), default=0)
    wrong = [name for name, values in at.items() if len(values) not in (1, most)]
    if wrong:
        raise ValueError(f"'{wrong[0]}' has another number of values than the rest")
    if not most:
        raise ValueError("no parameter is named; sizes were expected, as in n=800,1600")


def faults(request: Request) -> list[Fault]:
    """Return reasons why the runs of *request* cannot be samples for its prediction."""
    wanted = request.predict
    if wanted is None:
        return []
    found = []
    for name in wanted.at:
        given = request.parameters.get(name)
        sizes = given if isinstance(given, tuple) else () if given is None else (given,)
        if not all(isinstance(size, int) or float(size) == int(size) for size in sizes if not isinstance(size, str)):
            found.append(Fault(f"'{name}' has values that are not whole numbers", key=f"parameters.{name}"))
        elif len(set(sizes)) < _FEWEST or any(isinstance(size, str) for size in sizes):
            said = f"two or more sample sizes were expected to predict '{name}', separated by commas"
            found.append(Fault(said, key=f"parameters.{name}" if given is not None else "predict.at"))
    others = [name for name, given in request.parameters.items() if isinstance(given, tuple) and name not in wanted.at]
    if others:
        said = f"a value of '{others[0]}' was expected for each size to predict: it differs between the samples"
        found.append(Fault(said, key="predict.at"))
    if not request.collect.regions:
        found.append(Fault("samples of a prediction need their regions", key="collect.regions"))
    return found + [
        Fault(f"{what} cannot be in the same request as a prediction", key=key) for what, key in _refused(request)
    ]


def _refused(request: Request) -> list[tuple[str, str]]:
    """Return settings of *request* that cannot be combined with a prediction, and their key."""
    parts = (
        ("another bound than the problem size", "bound.0.kind", any(b.kind != "problem_size" for b in request.bound)),
        ("what-if runs", "what_if", bool(request.what_if)),
        ("virtual speedups", "speedups", bool(request.speedups.lines or request.speedups.regions)),
        ("a comparison of schedules", "schedules.compare", bool(request.schedules.compare)),
        ("an automatic schedule", "schedule", loops.is_automatic(request.schedule)),
        ("a trace", "trace", request.trace is not None),
        ("repetitions", "repetitions", request.repetitions > 1),
    )
    return [(what, key) for what, key, there in parts if there]
