/* All pairs shortest path: Dijkstra's algorithm from every node of a weighted directed graph.
 *
 * The sources are distributed to the processors in blocks; a processor reads the whole matrix of weights and
 * writes the rows of distances of its own sources. The matrix is set up either by all processors, each a
 * block of rows, or by the first processor alone before the others start.
 *
 *     apsp N parallel|serial [verify]     N nodes; who sets up the matrix; with `verify` every distance is
 *                                         compared with that of Floyd's and Warshall's algorithm
 */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_EDGE INT_MAX

/* About half of the edges exist; an edge from each node to the next makes every node reachable. */
static void initialize_row(int *row, int i, int n)
{
    for (int j = 0; j < n; j++) {
        unsigned random = ((unsigned)i * 65599u + (unsigned)j) * 2654435761u;
        random ^= random >> 15;
        random *= 2246822519u;
        random ^= random >> 13;
        row[j] = random % 2 == 0 || j == (i + 1) % n ? 1 + (int)(random / 2 % 1000u) : NO_EDGE;
    }
    row[i] = 0;
}

static int nearest_open_node(const int *distance, const char *settled, int n)
{
    int nearest = -1;
    for (int j = 0; j < n; j++)
        if (!settled[j] && (nearest < 0 || distance[j] < distance[nearest]))
            nearest = j;
    return nearest;
}

static void shortest_paths(const int *weights, int source, int n, int *distance, char *settled)
{
    for (int j = 0; j < n; j++) {
        distance[j] = j == source ? 0 : NO_EDGE;
        settled[j] = 0;
    }
    for (int step = 0; step < n; step++) {
        int node = nearest_open_node(distance, settled, n);
        int reached = distance[node];
        const int *edge = weights + (size_t)node * (size_t)n;
        settled[node] = 1;
        for (int j = 0; j < n; j++)
            if (edge[j] != NO_EDGE && reached + edge[j] < distance[j])
                distance[j] = reached + edge[j];
    }
}

/* Returns the sum of all distances. */
static long all_shortest_paths(int *weights, int *distances, int n, int parallel_initialization)
{
    long sum = 0;
    if (!parallel_initialization)
        for (int i = 0; i < n; i++)
            initialize_row(weights + (size_t)i * (size_t)n, i, n);
#pragma omp parallel reduction(+ : sum)
    {
        char *settled = malloc((size_t)n);
        if (parallel_initialization) {
#pragma omp for schedule(static)
            for (int i = 0; i < n; i++)
                initialize_row(weights + (size_t)i * (size_t)n, i, n);
        }
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; i++) {
            int *distance = distances + (size_t)i * (size_t)n;
            shortest_paths(weights, i, n, distance, settled);
            for (int j = 0; j < n; j++)
                sum += distance[j];
        }
        free(settled);
    }
    return sum;
}

/* Recomputes all distances by another algorithm, in place of the weights; returns how many differ. */
static long wrong_distances(int *weights, const int *distances, int n)
{
    long wrong = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            int to_k = weights[(size_t)i * (size_t)n + (size_t)k];
            for (int j = 0; j < n && to_k != NO_EDGE; j++) {
                int from_k = weights[(size_t)k * (size_t)n + (size_t)j];
                int *own = &weights[(size_t)i * (size_t)n + (size_t)j];
                if (from_k != NO_EDGE && to_k + from_k < *own)
                    *own = to_k + from_k;
            }
        }
    for (size_t cell = 0; cell < (size_t)n * (size_t)n; cell++)
        wrong += weights[cell] != distances[cell];
    return wrong;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0;
    int parallel = argc > 2 && strcmp(argv[2], "parallel") == 0;
    if (n < 2 || (!parallel && strcmp(argv[2], "serial") != 0)) {
        fprintf(stderr, "usage: %s N parallel|serial [verify]     N at least 2\n", argv[0]);
        return 2;
    }
    int *weights = malloc((size_t)n * (size_t)n * sizeof *weights);
    int *distances = malloc((size_t)n * (size_t)n * sizeof *distances);
    long sum = all_shortest_paths(weights, distances, n, parallel);
    printf("%d nodes, sum of all distances %ld\n", n, sum);
    long wrong = 0;
    if (argc > 3 && strcmp(argv[3], "verify") == 0) {
        wrong = wrong_distances(weights, distances, n);
        printf("wrong distances: %ld\n", wrong);
    }
    free(distances);
    free(weights);
    return wrong != 0;
}
