"""Programs of OpenMP with one planted reason to lose time: between ``<<`` and ``>>``."""

from __future__ import annotations

WORK = """
#include <omp.h>
#include <stdlib.h>
static double a[4096];
static double sum;
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
static void even(int n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 64; i++)
        a[i] = work(n);
}
"""

MAIN = {
    "triangle": """
    even(50);
#pragma omp parallel for schedule(static) // <<
    for (int i = 0; i < 64; i++)
        a[i] = work(i * i); // >>
""",
    "one_chunk": """
#pragma omp parallel for schedule(dynamic, 1000) // <<
    for (int i = 0; i < 200; i++)
        a[i] = work(500); // >>
    even(50);
""",
    "few_iterations": """
#pragma omp parallel for // <<
    for (int i = 0; i < 3; i++)
        a[i] = work(30000); // >>
    even(50);
""",
    "last_chunk": """
    even(50);
#pragma omp parallel for schedule(dynamic, 1) // <<
    for (int i = 0; i < 64; i++)
        a[i] = work(i == 63 ? 60000 : 500); // >>
""",
    "sections": """
    even(50);
#pragma omp parallel sections // <<
    {
#pragma omp section
        a[0] = work(400000);
#pragma omp section
        a[1] = work(20000);
    } // >>
""",
    "serial_function": """
    even(500);
    a[0] = serial(60000);
    even(500);
""",
    "serial_loop": """
    even(500);
    for (int i = 0; i < 4000; i++) // <<
        a[i] = a[i] * 0.5 + a[i / 2] / 3; // >>
    even(500);
""",
    "single": """
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 64; i++)
            a[i] = work(300);
#pragma omp single // <<
        sum = work(40000); // >>
#pragma omp for
        for (int i = 0; i < 64; i++)
            a[i] += work(300);
    }
""",
    "master": """
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < 64; i++)
            a[i] = work(300);
#pragma omp master // <<
        sum = work(40000); // >>
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 64; i++)
            a[i] += work(300);
    }
""",
    "long_task": """
    even(300);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 16; i++)
#pragma omp task firstprivate(i) // <<
        a[i] = work(i == 15 ? 60000 : 1000); // >>
""",
    "task_maker": """
    even(300);
#pragma omp parallel
#pragma omp single // <<
    for (int i = 0; i < 16; i++) {
        double x = work(4000); // >>
#pragma omp task firstprivate(i, x)
        a[i] = x + work(100);
    }
""",
    "ordered": """
    even(300);
#pragma omp parallel for ordered schedule(static, 1) // <<
    for (int i = 0; i < 64; i++) {
        double x = work(50);
#pragma omp ordered
        sum += x + work(1000);
    } // >>
""",
    "critical": """
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
        double x = work(100);
#pragma omp critical // <<
        sum += x + work(1000); // >>
    }
""",
    "lock": """
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
        double x = work(100);
        omp_set_lock(&lock); // <<
        sum += x + work(1000);
        omp_unset_lock(&lock); // >>
    }
""",
    "atomic": """
    static long count;
#pragma omp parallel for // <<
    for (int i = 0; i < 4000; i++) {
#pragma omp atomic
        count += i;
    } // >>
    sum = count;
""",
    "false_sharing": """
#pragma omp parallel
    {
        volatile double *mine = &a[omp_get_thread_num()];
        for (int i = 0; i < 160000 / omp_get_num_threads(); i++) // <<
            *mine += i; // >>
    }
""",
    "first_touch": """
    double *far = malloc(sizeof(double[64000])); // all pages are where the first thread is
    for (int i = 0; i < 64000; i += 512) // <<
        far[i] = i;
#pragma omp parallel for
    for (int i = 0; i < 64000; i++)
        far[i] += 1; // >>
    even(50);
""",
    "barriers": """
#pragma omp parallel
    for (int i = 0; i < 200; i++) { // <<
        a[omp_get_thread_num() * 16] += i;
#pragma omp barrier
    } // >>
""",
    "forks": """
    for (int step = 0; step < 100; step++) { // <<
#pragma omp parallel for
        for (int i = 0; i < 64; i++)
            a[i] += step;
    } // >>
""",
}
SERIAL = """
static double serial(int n) // <<
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.5 + 2.0;
    return x;
} // >>
"""


def texts() -> dict[str, str]:
    """Return the programs by name."""
    made = {}
    for name, body in MAIN.items():
        extra = SERIAL if "serial(" in body else ""
        made[f"{name}.c"] = f"{WORK}{extra}int main(void)\n{{{body}    return sum == 42;\n}}\n"
    return made
