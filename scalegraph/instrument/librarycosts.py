"""Costs of functions of the C library, libgcc and less common ones of libm, which carry no probes.

Measured like those in `mathlib`, on the same processor (glibc 2.36, gcc 12): cachegrind's counts of instructions,
loads, stores and branches of a call, without the loop around it; the other instructions were classified by hand into
floating-point and integer. *latency*: cycles of a call in a chain of calls, each of which waits for the one before.
Arguments are typical: numbers as texts have 11 digits (`strtod`) or 4 (`atoi`, `strtol`), heap blocks up to 96 bytes,
complex numbers are finite. A clock reading includes the microcode of `rdtscp`. The runtime adds the cost of memory
lines for functions that move or search memory. It also charges functions whose cost depends more strongly on an
argument, such as `printf` or `qsort` (`csrc/posix/sg_work.c`).
"""

from __future__ import annotations

from typing import Final

SAME_AS: Final = {
    "atof": "strtod", "strtof": "strtod", "strtold": "strtod", "strtod_l": "strtod", "__strtod_internal": "strtod",
    "atol": "atoi", "atoll": "atoi", "strtol": "atoi", "strtoul": "atoi", "strtoll": "atoi", "strtoull": "atoi",
    "__isoc23_strtol": "atoi", "__isoc23_strtoul": "atoi", "__isoc23_strtoll": "atoi", "__isoc23_strtoull": "atoi",
    "lrand48": "drand48", "mrand48": "drand48", "erand48": "drand48", "nrand48": "drand48", "jrand48": "drand48",
    "calloc": "malloc", "_Znwm": "malloc", "_Znam": "malloc", "_ZnwmRKSt9nothrow_t": "malloc",
    "_ZdlPv": "free", "_ZdaPv": "free", "_ZdlPvm": "free", "_ZdaPvm": "free",
    "toupper": "tolower",
    **dict.fromkeys(("strnlen", "strcmp", "strncmp", "strchr", "memchr", "memcmp"), "strlen"),
    **dict.fromkeys(("stpcpy", "strncpy", "strcat", "strncat", "strdup", "strrchr", "strspn", "strcspn"), "strcpy"),
    **dict.fromkeys(("memmem", "strpbrk", "strcasecmp"), "strstr"),
    **dict.fromkeys(("mempcpy", "memmove", "memset", "bzero"), "memcpy"),
    "gettimeofday": "clock_gettime", "timespec_get": "clock_gettime", "omp_get_wtime": "clock_gettime",
    "omp_get_wtime_": "clock_gettime", "MPI_Wtime": "clock_gettime", "PMPI_Wtime": "clock_gettime",
    "__wrap__ZNSt6chrono3_V212steady_clock3nowEv": "clock_gettime",
    "__wrap__ZNSt6chrono3_V212system_clock3nowEv": "clock_gettime",
    "_ZNSt6chrono3_V212steady_clock3nowEv": "clock_gettime", "_ZNSt6chrono3_V212system_clock3nowEv": "clock_gettime",
    "__mulsc3": "__muldc3", "__divsc3": "__divdc3",
    "__umodti3": "__udivti3", "__modti3": "__divti3", "__udivmodti4": "__udivti3", "__divmodti4": "__divti3",
    "cabsf": "hypotf", "cexpf": "cexp", "csqrtf": "csqrt", "clogf": "clog", "cpowf": "cpow", "cargf": "carg",
    "asinhf": "asinh", "acoshf": "acosh", "atanhf": "atanh", "erfcf": "erfc", "sincosf": "sincos",
    "exp10f": "exp10", "ldexpf": "ldexp", "scalbn": "ldexp", "scalbnf": "ldexp", "scalbln": "ldexp", "frexpf": "frexp",
    "modff": "modf", "llround": "lround", "lroundf": "lround", "lrint": "lround", "llrint": "lround",
    "fmin": "fmax", "fmaxf": "fmax", "fminf": "fmax", "remainderf": "remainder", "fdimf": "fdim", "ilogb": "logb",
}  # fmt: skip
"""Functions equivalent, or nearly, to another one."""

_STATEFUL: Final = frozenset(("rand", "random", "rand_r", "drand48", "clock_gettime"))
STATEFUL: Final = _STATEFUL | {name for name, same in SAME_AS.items() if same in _STATEFUL}
"""Functions whose calls depend on the state left by the previous call; a clock waits for everything before it."""

TABLE: Final = """
function      int_alu int_mul int_div load store branch call fp_add fp_mul fp_fma fp_div fp_sqrt fp_other flops latency
strtod            518       4       0  175   100    156   12      0      0      0      0       0        0     0     234
atoi              110       0       0   23    10     34    3      0      0      0      0       0        0     0      39
rand               17       0       0   17     8     10    3      0      0      0      0       0        0     0      22
random             15       0       0   16     7     10    2      0      0      0      0       0        0     0      18
rand_r             12       3       0    2     2      1    1      0      0      0      0       0        0     0      20
drand48            26       1       0   19     9      4    4      0      0      0      0       0        1     1      23
malloc             21       0       0   17    10     10    2      0      0      0      0       0        0     0      20
free               24       0       0   21    12     11    2      0      0      0      0       0        0     0      17
realloc            60       0       0   40    24     24    5      0      0      0      0       0        0     0      45
tolower             5       0       0    5     1      1    1      0      0      0      0       0        0     0       5
clock_gettime      75       1       0   12     6      8    3      0      0      0      0       0        0     0      87
__muldc3            2       0       0    0     0      1    1      2      4      0      0       0        2     6       8
__divdc3            8       0       0    8     4      7    1      3      3      0      3       0        6     9      33
__udivti3          16       0       1    2     2      2    1      0      0      0      0       0        0     0      18
__divti3           24       0       1    2     3      5    1      0      0      0      0       0        0     0      19
__powidf2          10       0       0    0     0      6    1      0      6      0      0       0        0     6      18
cabs                4       0       0    7     1      8    2     17      6      0      1       1        2    19      66
carg               36       0       0   19     2     27    5     20      2      7      2       0        9    25      85
cexp               48       0       0   56    19     21    6     18      9     30      0       0        6    87      42
csqrt              33       0       0   22     7     21    5     20     10      0      2       2       10    34     110
clog              109       0       0   57    13     49    8     30     15     20      2       0       12    87      86
cpow              132       0       0  116    33     70   12     60     35     70      2       0       20   237     114
sincos             24       0       0   26    10      8    2     14      5     20      0       0        5    59      48
asinh              45       0       0   19     3     12    3      8      5      8      1       1        3    31      90
acosh              32       0       0   17     1     12    3      8      3      8      0       1        2    28     110
atanh              33       0       0   23     3     12    3     10      7      8      2       0        2    35      75
erfc               11       0       0   14     2      5    2      4      4     10      1       0        1    29      49
exp10              29       0       0   40     7     14    5      8      5     12      0       0        3    37      74
ldexp              24       0       0    6     2     12    2      0      1      0      0       0        2     1      20
frexp              14       0       0    1     2      4    1      0      0      0      0       0        2     0      16
modf                8       0       0    1     2      3    1      1      0      0      0       0        2     1      12
lround             10       0       0    1     1      3    1      0      0      0      0       0        3     0      15
fmax                0       0       0    0     0      2    1      0      0      0      0       0        3     0       6
remainder          62       0       0   17     9     13    3      2      1      0      1       0        3     3      36
fdim                2       0       0    4     1      3    1      1      0      0      0       0        2     1       8
strlen              8       0       0    0     0      4    1      0      0      0      0       0        0     0       8
strcpy             15       0       0    0     0      6    1      0      0      0      0       0        0     0      14
strstr             25       0       0    0     0     10    2      0      0      0      0       0        0     0      25
memcpy              6       0       0    0     0      4    1      0      0      0      0       0        0     0       3
logb                9       0       0    1     1      4    1      0      0      0      0       0        2     0      15
"""
"""Operations by class, flops and latency, as in `mathlib`."""
