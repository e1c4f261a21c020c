"""Costs of the C mathematics library: its functions carry no probes, so their work is added to the call.

Measured: operations by class as counted by `operations.decode`, executed inside glibc 2.36's libm (its variants for
processors with fused multiply-add), mean of 1000 calls with arguments spread over an everyday range, rounded. Other
libraries differ, which limits the accuracy for programs that spend their time in such calls. The memory that these
functions read (their tables) is private and small and is not simulated.

*latency*: cycles from the argument to the result, measured with calls that each need the result of the one before
(arguments from 0.05 to 0.95, the same library). The processor was an EPYC with the operation latencies in `_LATENCIES`,
measured by `scalegraph machines calibrate`.

*moves*: instructions of a call beyond those operations (one with a memory operand counts as two): register moves,
counted by single-stepping 100 calls with arguments from 0.05 to 9, where the functions are defined. They occupy issue
slots and window on machines with a pipeline.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.instrument.flow import Counts
from scalegraph.instrument.librarycosts import SAME_AS, TABLE
from scalegraph.runtime.format import OP_CLASS_NAMES

_COLUMNS: Final = (*OP_CLASS_NAMES, "flops")
# Of the processor on which the column `latency` was measured, in cycles.
_LATENCIES: Final = {"fp_add": 3.0, "fp_mul": 3.0, "fp_fma": 4.0, "fp_div": 14.0, "fp_sqrt": 21.0, "fp_other": 7.0}
_INTEGER_LATENCIES: Final = {"int_alu": 1.0, "int_mul": 3.0}
_TABLE: Final = """
function int_alu int_mul int_div load store branch call fp_add fp_mul fp_fma fp_div fp_sqrt fp_other flops latency moves
sqrt           0       0       0    0     0      2    1      1      0      0      0       1        0     1      20     1
cbrt          38       1       0   13     1     19    7     16     10      0      1       0        3    21      92    22
exp           10       0       0   12     0      5    4      4      2      8      0       0        1    20      33     4
exp2          10       0       0    8     0      2    1      9      8      0      0       0        0    17      30     3
expm1         18       0       0   12     0     10    1      9      7      9      1       0        2    34      63     4
log           19       0       0   10     0      5    1      5      2      8      0       0        1    22      46     0
log2          19       0       0   11     0      2    1      6      3      9      0       0        1    27      42     1
log10         33       0       0   13     0      6    4      7      5      9      0       0        2    29      67     8
log1p         16       0       0   13     0     11    1     10      8      8      2       0        1    34      70     0
pow           30       0       0   25     0      7    4     17      6     20      0       0        2    61      92    13
sin           20       0       0   18     0     10    1     10      3     13      0       0        4    37      43    11
cos           21       0       0   19     0     11    1     10      3     13      0       0        4    38      42    12
tan           13       0       0   19     0     12    1     14      4      8      1       0        5    28      63    17
asin          28       0       0   11     0      9    1      3      1      7      0       0        1    16      50     0
acos          28       0       0   13     0      9    1      5      1      7      0       0        1    19      53     0
atan          13       0       0   15     0      7    1      8      1      8      1       0        6    22      53     8
atan2         34       0       0   17     0     27    4     20      2      7      2       0        9    25      81    22
sinh          27       0       0   17     0     16    6     12      8      9      2       0        4    38      88    18
cosh          14       0       0   14     0      5    6      4      3      8      1       0        2    23      60     8
tanh          29       0       0   16     0     17    4     11      7      9      2       0        3    38     105    11
hypot          0       0       0    6     0      8    1     17      6      0      1       1        2    19      62    11
fmod          60       0       0    2     0     26    1      2      0      0      0       0        1     0      10     8
floor          0       0       0    0     0      0    1      0      0      0      0       0        1     0       2     0
ceil           0       0       0    0     0      0    1      0      0      0      0       0        1     0       3     0
round         13       0       0    0     0      3    1      0      0      0      0       0        0     0       9     4
rint           0       0       0    0     0      0    1      0      0      0      0       0        1     0       4     0
trunc          0       0       0    0     0      0    1      0      0      0      0       0        1     0       2     0
erf           24       0       0   34     0     10    6     20     22     12      3       0        2    69      40     8
tgamma        96       0       0   58     4     51   20     70     38     24      5       0       13   150     119    86
lgamma        31       0       0   27     1     14    5     19     16      6      1       0        3    47      68    14
sqrtf          0       0       0    0     0      2    1      1      0      0      0       1        0     1      14     1
cbrtf         31       1       0    9     1     19    7     11      6      0      1       0        8    13      79    27
expf           7       0       0    7     0      1    1      1      2      5      0       0        2    13      29     3
exp2f          7       0       0    6     0      1    1      3      2      3      0       0        2    11      27     2
expm1f        14       0       0   12     0     10    1     18     13      0      1       0        2    32      83     7
logf          12       0       0    7     0      2    1      1      1      5      0       0        3    12      35     2
log2f         12       0       0    7     0      2    1      1      1      5      0       0        3    12      33     1
log10f        23       0       0   10     0      6    4      4      4      5      0       0        4    17      57    11
log1pf        13       0       0   13     0     10    1     18     13      0      2       0        1    31      82     5
powf          21       0       0   14     0      3    1      4      5      9      0       0        4    27      61     3
sinf          11       0       0    6     0      3    1      0      4      4      0       0        4    13      25     0
cosf          11       0       0    6     0      3    1      0      4      4      0       0        4    13      26     0
tanf          18       0       0   17     0      8    1     20     21      0      1       0        6    41      78     4
asinf          5       0       0    9     0      6    1     10      7      0      0       0        1    18      49     0
acosf          5       0       0   15     0      6    1     14     12      0      1       0        1    28      61     0
atanf         10       0       0   15     0      7    1     14     14      0      1       0        1    29      61     0
atan2f        37       0       0   16     0     20    5     16     14      0      2       0        2    31      84    15
sinhf         22       0       0   17     0     16    5     21     15      0      2       0        4    36     104    22
coshf         10       0       0   11     0      4    6      4      4      5      1       0        4    17      60    12
tanhf         24       0       0   16     0     17    3     20     14      0      2       0        3    36     120    13
hypotf         0       0       0    2     0      3    1      4      2      0      0       1        6     4      33     4
fmodf         53       0       0    2     0     28    1      2      0      0      0       0        1     0      11     9
floorf         0       0       0    0     0      0    1      0      0      0      0       0        1     0       4     0
ceilf          0       0       0    0     0      0    1      0      0      0      0       0        1     0       3     0
roundf        13       0       0    0     0      3    1      0      0      0      0       0        0     0      11     4
rintf          0       0       0    0     0      0    1      0      0      0      0       0        1     0       4     0
truncf         0       0       0    0     0      0    1      0      0      0      0       0        1     0       3     0
erff          18       0       0   29     0      8    6     18     19      8      3       0        5    55      50     5
tgammaf       90       1       0   54     3     46   23     36     26     19      5       1       16    95     113    76
lgammaf       22       0       0   24     1     13    5     17     15      4      1       0        5    39      66    14
"""


def _read(table: str, *columns: str) -> dict[str, Counts]:
    header, *rows = (line.split() for line in table.strip().splitlines())
    order = [header.index(column) for column in columns]
    return {row[0]: np.array([float(row[column]) for column in order]) for row in rows}


def _in_turn(costs: Counts, latency: float) -> tuple[float, bool]:
    """Return *latency* as a share of its operations' latencies, at most 1; and whether these include integer ones.

    Integer operations are included only if the floating-point ones do not reach the latency.
    """
    whole = sum(float(costs[OP_CLASS_NAMES.index(name)]) * cycles for name, cycles in _LATENCIES.items())
    if whole >= latency:
        return (latency / whole if whole else 1.0), False
    whole += sum(float(costs[OP_CLASS_NAMES.index(name)]) * cycles for name, cycles in _INTEGER_LATENCIES.items())
    return (min(1.0, latency / whole) if whole else 1.0), True


def _with_others(rows: dict[str, Counts]) -> dict[str, Counts]:
    """Return *rows*, and copies for the functions that do the same."""
    rows = rows | {name: rows[other] for name, other in SAME_AS.items() if other in rows}
    return rows | {f"__wrap_{name}": row for name, row in rows.items()}  # names that linked calls use


_LATENCY: Final = _with_others(_read(_TABLE, "latency") | _read(TABLE, "latency"))
MATH_COSTS: Final = _read(_TABLE, *_COLUMNS)
"""Operations by class, then flops, of one call of a mathematics function, without the call itself."""

LIBRARY_COSTS: Final = _with_others(MATH_COSTS | _read(TABLE, *_COLUMNS))
"""The same for these and other library functions; only machines with a pipeline charge the latter."""

MOVES: Final = {name: round(float(row[0])) for name, row in _with_others(_read(_TABLE, "moves")).items()}
"""Instructions of a mathematics function that are not among its operations."""

_STATUS: Final = ("sin", "cos", "tan", "sincos", "atan", "atan2", "tgamma", "tgammaf", "cexp", "clog", "carg")
READS_STATUS: Final = {**dict.fromkeys((*_STATUS, "remainder"), 1), "cpow": 2}
"""How often a call reads the floating-point status, counted in the same library."""

MATH_IN_TURN: Final = {name: _in_turn(LIBRARY_COSTS[name], float(row[0])) for name, row in _LATENCY.items()}
"""Share of a call's operations that form a dependence chain; whether this includes integer ones."""
