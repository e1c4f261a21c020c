"""Programs whose parallel code is in their own headers; the expected source line is between ``<<`` and ``>>``."""

from __future__ import annotations

ALGORITHMS = """
#pragma once
#include <cstddef>
namespace par {
template <class F>
void indices(std::size_t n, F f)
{
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; i++)
        f(i);
}
template <class T, class F>
T sum(std::size_t n, T start, F f)
{
    T found = start;
    for (std::size_t i = 0; i < n; i++)
        for (int k = 0; k < 40; k++)
            found = found * 0.5 + f(i);
    return found;
}
} // namespace par
"""
SOLVER = """
#pragma once
#include "algorithms.h"
namespace par {
template <class T>
class solver {
    T *values;
    std::size_t size;

  public:
    solver(T *begin, std::size_t n) : values(begin), size(n) {}
    void sweep()
    {
        indices(size, [this](std::size_t i) {
            for (int k = 0; k < 60; k++)
                values[i] = values[i] * 0.5 + i;
        });
    }
    T norm() const
    {
        return sum(size, T(0), [this](std::size_t i) { return values[i]; });
    }
    void step()
    {
        sweep();
        values[0] += norm();
    }
};
} // namespace par
"""
POOL = """
#pragma once
#include <mutex>
#include <thread>
#include <vector>
namespace par {
class pool {
    std::vector<std::thread> threads;
    std::mutex lock;
    int next = 0;
    template <class F>
    void work(int n, F f)
    {
        for (;;) {
            lock.lock();
            int mine = next++;
            lock.unlock();
            if (mine >= n)
                return;
            f(mine);
        }
    }

  public:
    template <class F>
    void run(int count, int n, F f)
    {
        next = 0;
        for (int k = 1; k < count; k++)
            threads.emplace_back([this, n, f] { work(n, f); });
        work(n, f);
        for (auto &one : threads)
            one.join();
        threads.clear();
    }
};
} // namespace par
"""
FILES = {"par/algorithms.h": ALGORITHMS, "par/solver.h": SOLVER, "par/pool.h": POOL}

BODY = {
    "header_serial": """
#include "par/solver.h"
static double cells[800];
int main()
{
    par::solver<double> all(cells, 800);
    for (int t = 0; t < 2; t++) {
        all.sweep();
        all.step(); // << >>
    }
    return cells[3] == 42;
}
""",
    "header_condition": """
#include "par/solver.h"
static double cells[800];
int main()
{
    par::solver<double> all(cells, 800);
    all.sweep();
    if (all.norm() > 3) // <<
        all.sweep(); // >>
    return cells[3] == 42;
}
""",
    "header_uneven": """
#include "par/algorithms.h"
static double cells[256];
int main()
{
    par::indices(256, [](std::size_t i) { // <<
        for (std::size_t k = 0; k < 4 * i; k++)
            cells[i] = cells[i] * 0.5 + k;
    }); // >>
    return cells[3] == 42;
}
""",
    "header_pool": """
#include "par/pool.h"
#include <cstdlib>
static double cells[3000];
int main(int argc, char **argv)
{
    int threads = argc > 1 ? std::atoi(argv[1]) : 4;
    par::pool all;
    all.run(threads, 3000, [](int i) { // <<
        cells[i] = i * 0.5;
    }); // >>
    return cells[3] == 42;
}
""",
}


def texts() -> dict[str, str]:
    """Return the sources by name."""
    return {f"{name}.cpp": text for name, text in BODY.items()}
