"""MPI programs with one planted reason to lose time: between ``<<`` and ``>>``."""

from __future__ import annotations

HEAD = """
#include <mpi.h>
#include <stdlib.h>
static int rank, ranks;
static double sum, total;
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
static double extra(int n) // EXTRA <<
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.5 + 2.0;
    return x;
} // EXTRA >>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    double *mine = calloc(60000, sizeof *mine), *all = calloc((size_t)60000 * ranks, sizeof *all);
"""
TAIL = """
    MPI_Finalize();
    return sum + left + right + total + all[0] + mine[0] == 42;
}
"""
BODY = {
    "late_sender": """
    for (int s = 0; s < 6; s++) {
        sum += work(40000 / ranks);
        if (rank == 0)
            sum += extra(40000);
        MPI_Sendrecv(mine, 8, MPI_DOUBLE, right, 0, all, 8, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
""",
    "serial_root": """
    for (int s = 0; s < 4; s++) {
        sum += work(40000 / ranks);
        MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            total = extra(40000);
        MPI_Bcast(&total, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
""",
    "gather": """
    for (int s = 0; s < 4; s++) {
        sum += work(40000 / ranks);
        MPI_Gather(mine, 20000, MPI_DOUBLE, all, 20000, MPI_DOUBLE, 0, MPI_COMM_WORLD); // << >>
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
""",
    "scatter": """
    for (int s = 0; s < 4; s++) {
        MPI_Scatter(all, 20000, MPI_DOUBLE, mine, 20000, MPI_DOUBLE, 0, MPI_COMM_WORLD); // << >>
        sum += work(40000 / ranks);
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
""",
    "uneven_allreduce": """
    for (int s = 0; s < 4; s++) {
        sum += work(40000 / ranks);
        sum += extra(80000 * rank / ranks / ranks);
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
""",
    "alltoall": """
    for (int s = 0; s < 2; s++) {
        sum += work(40000 / ranks);
        MPI_Alltoall(mine, 6000, MPI_DOUBLE, all, 6000, MPI_DOUBLE, MPI_COMM_WORLD); // << >>
    }
""",
    "bandwidth": """
    for (int s = 0; s < 4; s++) {
        sum += work(40000 / ranks);
        MPI_Sendrecv(mine, 60000, MPI_DOUBLE, right, 0, all, 60000, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, // <<
                     MPI_STATUS_IGNORE); // >>
    }
""",
    "latency": """
    sum += work(60000 / ranks);
    for (int s = 0; s < 300; s++) {
        MPI_Sendrecv(mine, 1, MPI_DOUBLE, right, 0, all, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, // <<
                     MPI_STATUS_IGNORE); // >>
    }
""",
    "ring": """
    for (int s = 0; s < 2; s++) {
        if (rank > 0)
            MPI_Recv(mine, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < 20000; k++) // <<
            mine[0] = mine[0] * 0.5 + k; // >>
        if (rank < ranks - 1)
            MPI_Send(mine, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    }
""",
    "broadcast": """
    for (int s = 0; s < 4; s++) {
        MPI_Bcast(mine, 60000, MPI_DOUBLE, 0, MPI_COMM_WORLD); // << >>
        sum += work(40000 / ranks);
    }
""",
    "barrier_late": """
    for (int s = 0; s < 4; s++) {
        sum += work(40000 / ranks);
        if (rank == ranks - 1)
            sum += extra(40000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
""",
    "late_receiver": """
    for (int s = 0; s < 4; s++) {
        sum += work(40000 / ranks);
        if (rank == 1)
            sum += extra(40000);
        if (rank % 2 == 0 && rank + 1 < ranks)
            MPI_Ssend(mine, 4, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
        else if (rank % 2 == 1)
            MPI_Recv(all, 4, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
""",
}
HYBRID = """
    for (int s = 0; s < 4; s++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 16; i++)
            sum += work(4000 / ranks);
        total += extra(20000);
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
"""


def texts() -> dict[str, str]:
    """Return the programs by name; if a body has no marks, the planted place is the function ``extra``."""
    made = {}
    for name, body in {**BODY, "hybrid_serial": HYBRID}.items():
        head = HEAD.replace("EXTRA ", "") if "<<" not in body else HEAD.replace("// EXTRA << >>", "")
        head = head if "<<" not in body else HEAD.replace(" // EXTRA <<", "").replace(" // EXTRA >>", "")
        made[f"{name}.c"] = head + body + TAIL
    return made
