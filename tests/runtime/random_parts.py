"""Shared parts of the random programs with OpenMP and with threads."""

from __future__ import annotations

import random
from collections.abc import Sequence

WORK = """\
typedef unsigned long word;

static word mix(word x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15ul;
    return x ^ x >> 29;
}

static word work(word x, int steps)
{
    for (int i = 0; i < steps; i++)
        x = mix(x + (word)i);
    return x;
}

"""


class Parts:
    """Draws numbers and small parts of a program, reproducibly from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)


def joined(parts: Sequence[str], seeds: range) -> str:
    """Return a C program that runs the functions `program_SEED` of *parts* whose seeds are its arguments."""
    cases = "".join(f"        case {seed}:\n            program_{seed}();\n            break;\n" for seed in seeds)
    main = "int main(int argc, char **argv)\n{\n    for (int i = 1; i < argc; i++)\n        switch (atoi(argv[i])) {\n"
    return "\n".join(parts) + main.replace("int main", "\nint main") + cases + "        }\n    return 0;\n}\n"
