"""Costs of the C mathematics library: its functions carry no probes, so their work is added to the call.

Measured: operations by class as `operations.decode` counts them, executed inside glibc 2.36's libm (its variants for
processors with fused multiply-add), mean of 1000 calls with arguments spread over an everyday range, rounded. Other
libraries differ; a program whose time goes into such calls is simulated with this much trust and no more. Memory that
these functions read (their tables) is private and small and is not simulated.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.instrument.flow import Counts
from scalegraph.runtime.format import OP_CLASS_NAMES

_COLUMNS: Final = (*OP_CLASS_NAMES, "flops")
_TABLE: Final = """
function int_alu int_mul int_div load store branch call fp_add fp_mul fp_fma fp_div fp_sqrt fp_other flops
sqrt           0       0       0    0     0      2    1      1      0      0      0       1        0     1
cbrt          38       1       0   13     1     19    7     16     10      0      1       0        3    21
exp           10       0       0   12     0      5    4      4      2      8      0       0        1    20
exp2          10       0       0    8     0      2    1      9      8      0      0       0        0    17
expm1         18       0       0   12     0     10    1      9      7      9      1       0        2    34
log           19       0       0   10     0      5    1      5      2      8      0       0        1    22
log2          19       0       0   11     0      2    1      6      3      9      0       0        1    27
log10         33       0       0   13     0      6    4      7      5      9      0       0        2    29
log1p         16       0       0   13     0     11    1     10      8      8      2       0        1    34
pow           30       0       0   25     0      7    4     17      6     20      0       0        2    61
sin           20       0       0   18     0     10    1     10      3     13      0       0        4    37
cos           21       0       0   19     0     11    1     10      3     13      0       0        4    38
tan           13       0       0   19     0     12    1     14      4      8      1       0        5    28
asin          28       0       0   11     0      9    1      3      1      7      0       0        1    16
acos          28       0       0   13     0      9    1      5      1      7      0       0        1    19
atan          13       0       0   15     0      7    1      8      1      8      1       0        6    22
atan2         34       0       0   17     0     27    4     20      2      7      2       0        9    25
sinh          27       0       0   17     0     16    6     12      8      9      2       0        4    38
cosh          14       0       0   14     0      5    6      4      3      8      1       0        2    23
tanh          29       0       0   16     0     17    4     11      7      9      2       0        3    38
hypot          0       0       0    6     0      8    1     17      6      0      1       1        2    19
fmod          60       0       0    2     0     26    1      2      0      0      0       0        1     0
floor          0       0       0    0     0      0    1      0      0      0      0       0        1     0
ceil           0       0       0    0     0      0    1      0      0      0      0       0        1     0
round         13       0       0    0     0      3    1      0      0      0      0       0        0     0
rint           0       0       0    0     0      0    1      0      0      0      0       0        1     0
trunc          0       0       0    0     0      0    1      0      0      0      0       0        1     0
erf           24       0       0   34     0     10    6     20     22     12      3       0        2    69
tgamma        96       0       0   58     4     51   20     70     38     24      5       0       13   150
lgamma        31       0       0   27     1     14    5     19     16      6      1       0        3    47
sqrtf          0       0       0    0     0      2    1      1      0      0      0       1        0     1
cbrtf         31       1       0    9     1     19    7     11      6      0      1       0        8    13
expf           7       0       0    7     0      1    1      1      2      5      0       0        2    13
exp2f          7       0       0    6     0      1    1      3      2      3      0       0        2    11
expm1f        14       0       0   12     0     10    1     18     13      0      1       0        2    32
logf          12       0       0    7     0      2    1      1      1      5      0       0        3    12
log2f         12       0       0    7     0      2    1      1      1      5      0       0        3    12
log10f        23       0       0   10     0      6    4      4      4      5      0       0        4    17
log1pf        13       0       0   13     0     10    1     18     13      0      2       0        1    31
powf          21       0       0   14     0      3    1      4      5      9      0       0        4    27
sinf          11       0       0    6     0      3    1      0      4      4      0       0        4    13
cosf          11       0       0    6     0      3    1      0      4      4      0       0        4    13
tanf          18       0       0   17     0      8    1     20     21      0      1       0        6    41
asinf          5       0       0    9     0      6    1     10      7      0      0       0        1    18
acosf          5       0       0   15     0      6    1     14     12      0      1       0        1    28
atanf         10       0       0   15     0      7    1     14     14      0      1       0        1    29
atan2f        37       0       0   16     0     20    5     16     14      0      2       0        2    31
sinhf         22       0       0   17     0     16    5     21     15      0      2       0        4    36
coshf         10       0       0   11     0      4    6      4      4      5      1       0        4    17
tanhf         24       0       0   16     0     17    3     20     14      0      2       0        3    36
hypotf         0       0       0    2     0      3    1      4      2      0      0       1        6     4
fmodf         53       0       0    2     0     28    1      2      0      0      0       0        1     0
floorf         0       0       0    0     0      0    1      0      0      0      0       0        1     0
ceilf          0       0       0    0     0      0    1      0      0      0      0       0        1     0
roundf        13       0       0    0     0      3    1      0      0      0      0       0        0     0
rintf          0       0       0    0     0      0    1      0      0      0      0       0        1     0
truncf         0       0       0    0     0      0    1      0      0      0      0       0        1     0
erff          18       0       0   29     0      8    6     18     19      8      3       0        5    55
tgammaf       90       1       0   54     3     46   23     36     26     19      5       1       16    95
lgammaf       22       0       0   24     1     13    5     17     15      4      1       0        5    39
"""


def _read(table: str) -> dict[str, Counts]:
    header, *rows = (line.split() for line in table.strip().splitlines())
    order = [header.index(column) for column in _COLUMNS]
    return {row[0]: np.array([float(row[column]) for column in order]) for row in rows}


MATH_COSTS: Final = _read(_TABLE)
"""Operations by class, then flops, of one call, without the call itself."""
