/* What an OpenMP library does: argument "barriers", "regions", "nested" or "tasks"; any other: one region. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static void split(int depth)
{
    if (depth == 0)
        return;
#pragma omp task
    split(depth - 1);
#pragma omp task
    split(depth - 1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "regions";
    int members = 0;
#pragma omp parallel reduction(+ : members)
    members++;
    if (strcmp(what, "barriers") == 0) {
#pragma omp parallel
        for (int i = 0; i < 20; i++) {
#pragma omp barrier
        }
    } else if (strcmp(what, "nested") == 0) {
        omp_set_max_active_levels(2);
        for (int i = 0; i < 3; i++) {
#pragma omp parallel reduction(+ : members)
#pragma omp parallel num_threads(3) reduction(+ : members)
            members++;
        }
    } else if (strcmp(what, "tasks") == 0) {
#pragma omp parallel
#pragma omp single
        split(11);
    } else if (strcmp(what, "regions") == 0) {
        for (int i = 0; i < 20; i++) {
#pragma omp parallel
            if (omp_get_num_threads() == 0)
                members++;
        }
    }
    printf("%d\n", members);
    return 0;
}
