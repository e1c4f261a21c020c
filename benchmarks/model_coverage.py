"""How often the right law is found, and how often intervals cover the truth, on synthetic data from known laws.

    python benchmarks/model_coverage.py [--seeds 200]
    python benchmarks/model_coverage.py --made 2000

Prints the tables of docs/MODELS.md. Noise is relative and normal; *data* is points x repetitions. *first*: the right
law ranks first by the criterion. *plausible*: it ranks first or is among the rivals. *decided*: the fit reports that
the data decides between the candidates. *wrongly*: decided for a law that is off by more than 10 % at four times the
largest point. Coverage is that of 95 % intervals, for every coefficient of the right law and for the prediction at two
and four times the largest point (for laws, of the right law; for models, of the chosen model and its rivals).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from scalegraph.analyze.fits import fit_laws, fit_models

Curve = Callable[[np.ndarray], np.ndarray]
NOISES = (0.0, 0.01, 0.02, 0.05, 0.1)
N = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
P = np.array([4.0, 8.0, 16.0, 32.0, 64.0])


def usl(t1: float, sigma: float, kappa: float) -> Curve:
    """Return times by the Universal Scalability Law; Amdahl's law if *kappa* is 0."""
    return lambda n: t1 * (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n


LAWS: dict[str, tuple[str, Curve, dict[str, float]]] = {
    "Amdahl, s = 0.05": ("amdahl", usl(10, 0.05, 0), {"T1": 10, "s": 0.05}),
    "USL, sigma = 0.05, kappa = 0.001": ("usl", usl(10, 0.05, 0.001), {"T1": 10, "sigma": 0.05, "kappa": 0.001}),
}
MODELS: dict[str, tuple[str, Curve]] = {
    "10": ("constant", lambda p: 10 + 0 * p),
    "3 + 2 log p": ("log2(N)", lambda p: 3 + 2 * np.log2(p)),
    "1 + 2 p^(1/2)": ("N^(1/2)", lambda p: 1 + 2 * p**0.5),
    "5 + 0.3 p log p": ("N log2(N)", lambda p: 5 + 0.3 * p * np.log2(p)),
    "5 + 0.3 p^2": ("N^2", lambda p: 5 + 0.3 * p**2),
    "1 + 20/p": ("N^(-1)", lambda p: 1 + 20 / p),
}


def noisy(truth: np.ndarray, noise: float, repetitions: int, seeds: int) -> np.ndarray:
    """Return *truth* with relative noise. Shape: (seeds, points, repetitions)."""
    random = np.random.default_rng(7)
    return np.abs(truth[None, :, None] * (1 + noise * random.standard_normal((seeds, len(truth), repetitions))))


def law_row(name: str, noise: float, repetitions: int, seeds: int) -> list[str]:
    """Return a row of the table of laws."""
    law, curve, numbers = LAWS[name]
    far = np.array([64.0, 128.0])
    first = plausible = decided = wrong = 0
    held = dict.fromkeys(numbers, 0)
    band = np.zeros(2)
    for values in noisy(curve(N), noise, repetitions, seeds):
        fits = fit_laws(N, values)
        best = fits[0]
        right = next(fit for fit in fits if fit.law == law)
        first += best.law == law
        plausible += law in (best.law, *best.rivals)
        decided += best.decided
        wrong += best.decided and abs(float(best.predict([128.0])[0] / curve(far)[1]) - 1) > 0.1
        for number, value in numbers.items():
            held[number] += right.coefficient(number).low <= value <= right.coefficient(number).high
        low, high = right.band(far)
        band += (low <= curve(far)) & (curve(far) <= high)
    covered = ", ".join(f"{number} {100 * count / seeds:.0f}" for number, count in held.items())
    shares = [f"{100 * count / seeds:.0f}" for count in (first, plausible, decided, wrong)]
    return [name, f"{100 * noise:g}", f"6 x {repetitions}", *shares, covered, *(f"{100 * b / seeds:.0f}" for b in band)]


def model_row(name: str, noise: float, repetitions: int, seeds: int) -> list[str]:
    """Return a row of the table of models."""
    text, curve = MODELS[name]
    models = fit_models(P, noisy(curve(P), noise, repetitions, seeds))
    chosen = [models.term_text(i) for i in range(seeds)]
    first = np.array([term == text for term in chosen])
    plausible = [
        any(models.term_text(i, int(rank)) == text for rank in np.flatnonzero(models.plausible[i]))
        for i in range(seeds)
    ]
    far = np.array([128.0, 256.0])
    low, high = models.band(far)
    band = ((low <= curve(far)) & (curve(far) <= high)).mean(axis=0)
    off = np.abs(models.predict(far)[:, 1] / curve(far)[1] - 1) > 0.1
    held = _coefficients(models, first, curve)
    shares = [
        100 * first.mean(),
        100 * np.mean(plausible),
        100 * models.decided.mean(),
        100 * (models.decided & off).mean(),
    ]
    return [
        name,
        f"{100 * noise:g}",
        f"5 x {repetitions}",
        *(f"{share:.0f}" for share in shares),
        held,
        *(f"{100 * b:.0f}" for b in band),
    ]


def _coefficients(models: object, first: np.ndarray, curve: Curve) -> str:
    """Return how often the intervals of correctly identified models cover the true coefficients, in per cent."""
    texts = []
    for column in range(2):
        inside = []
        for i in np.flatnonzero(first):
            fit = models[int(i)]  # type: ignore[index]
            if column >= len(fit.coefficients):
                continue
            # the basis is known, so two points of the curve give the true coefficients
            rows = fit.curve.basis(np.array([[4.0], [64.0]]))
            size = rows.shape[1]
            true = np.linalg.solve(rows[:size], curve(np.array([4.0, 64.0]))[:size])
            entry = fit.coefficients[column]
            inside.append(entry.low <= true[column] + 1e-12 and true[column] - 1e-12 <= entry.high)
        if inside:
            texts.append(f"c{column} {100 * np.mean(inside):.0f}")
    return ", ".join(texts)


GROWING: tuple[Curve, ...] = (np.log2, np.sqrt, lambda x: x, lambda x: x * np.log2(x), lambda x: x**1.5, lambda x: x**2)
FALLING: tuple[Curve, ...] = (lambda x: 1 / x, lambda x: x**-0.5)
KINDS = ("one", "two", "three", "minimum")


def made_series(random: np.random.Generator, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the points N, the true values at N, the points 2 max(N) and 4 max(N), and the true values there."""
    count = int(random.integers(5, 9))
    n = random.choice([1, 2, 4]) * 2.0 ** np.arange(count)
    far = np.array([2, 4]) * n[-1]
    every = np.r_[n, far]

    def term(curves: Sequence[Curve]) -> np.ndarray:
        values = curves[random.integers(len(curves))](every)
        return 10 ** random.uniform(-1, 0) * values / np.abs(values[:count]).max()

    least = n[random.integers(count // 2, count)]  # the position of the minimum, for kind "minimum"
    truth = {
        "one": lambda: 10 ** random.uniform(-1, 0) + term((*GROWING, *FALLING)),
        "two": lambda: 10 ** random.uniform(-1, 0) + term(GROWING) + term((*GROWING, *FALLING)),
        "three": lambda: 10 ** random.uniform(-1, 0) + term(GROWING) + term(FALLING) + term(GROWING),
        "minimum": lambda: (
            random.choice(np.array([0.0, 1.0])) * random.uniform(0, 1) / least
            + 1 / every
            + (every / least**2, np.log(2) / least * np.log2(every), 2 / least**1.5 * np.sqrt(every))[
                random.integers(3)
            ]
        ),
    }[kind]()
    return n, truth[:count], far, truth[count:]


def made_rows(number: int) -> list[list[str]]:
    """Return how often the intervals of models and laws cover the truth at two and four times the largest N."""
    random = np.random.default_rng(11)
    found: dict[str, list[tuple[float, ...]]] = {}
    for index in range(number):
        kind, noise, repetitions = KINDS[index % 4], (0.05, 0.1)[index // 4 % 2], (1, 3, 5)[index // 8 % 3]
        n, truth, far, ahead = made_series(random, kind)
        values = np.abs(truth[:, None] * (1 + noise * random.standard_normal((len(n), repetitions))))
        for what, fit in (("models", fit_models(n, values[None])[0]), ("laws", fit_laws(n, values)[0])):
            low, high = fit.band(far)
            wrong = fit.decided and abs(fit.predict(far)[1] / ahead[1] - 1) > 0.1
            row = (*((low <= ahead) & (ahead <= high)), fit.decided, wrong, (high - low)[0] / ahead[0])
            for name in (f"{what}, {kind}", f"{what}, {100 * noise:g} %", f"{what}, all"):
                found.setdefault(name, []).append(tuple(map(float, row)))
    rows = []
    for name, part in sorted(found.items()):
        numbers = np.array(part)
        shares = [f"{100 * share:.1f}" for share in numbers[:, :4].mean(axis=0)]
        rows.append([name, str(len(part)), *shares, f"{np.median(numbers[:, 4]):.2f}"])
    return rows


def _print(head: Sequence[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--only", choices=("laws", "models"))
    parser.add_argument("--made", type=int, default=0, help="number of made series (one to three terms, or a minimum)")
    given = parser.parse_args()
    if given.made:
        _print(["series", "of", "at 2x %", "at 4x %", "decided %", "wrongly %", "width at 2x"], made_rows(given.made))
        return
    head = [
        "noise %",
        "data",
        "first %",
        "plausible %",
        "decided %",
        "wrongly %",
        "intervals hold %",
        "at 2x %",
        "at 4x %",
    ]
    if given.only != "models":
        cases = [(name, noise, r) for name in LAWS for noise, r in (*((x, 5) for x in NOISES), (0.05, 3), (0.02, 1))]
        _print(["law", *head], [law_row(name, noise, r, given.seeds) for name, noise, r in cases])
    if given.only != "laws":
        cases = [(name, noise, r) for name in MODELS for noise, r in (*((x, 5) for x in NOISES), (0.05, 3), (0.02, 1))]
        _print(["model", *head], [model_row(name, noise, r, given.seeds) for name, noise, r in cases])


if __name__ == "__main__":
    main()
