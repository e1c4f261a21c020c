/* Transitive closure of a directed graph, by Warshall's algorithm.
 *
 * In step i every node with an edge to node i also gets the edges of node i. The work of an iteration of the
 * parallel loop depends on the graph and changes from step to step: with random edges all rows fill up
 * evenly; with a clique half of the rows are busy in half of the steps, the others never. OMP_SCHEDULE sets
 * how rows are distributed.
 *
 *     closure N random|clique [verify]     N nodes; a tenth of all edges at random, or a clique of half of
 *                                          the nodes; with `verify` follows the edges from every node
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char has_edge(int i, int j, int n, int clique)
{
    if (clique)
        return i < n / 2 && j < n / 2;
    unsigned random = ((unsigned)i * 65599u + (unsigned)j) * 2654435761u;
    random ^= random >> 15;
    random *= 2246822519u;
    random ^= random >> 13;
    return random % 10 == 0;
}

static char *row_of(char *edges, int i, int n)
{
    return edges + (size_t)i * (size_t)n;
}

static void add_edges(char *row, const char *added, int n)
{
    for (int k = 0; k < n; k++)
        if (added[k])
            row[k] = 1;
}

/* Returns the number of connected pairs. */
static long close_graph(char *edges, int n, int clique)
{
    long pairs = 0;
#pragma omp parallel reduction(+ : pairs)
    {
#pragma omp for schedule(runtime)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                row_of(edges, i, n)[j] = has_edge(i, j, n, clique);
        for (int i = 0; i < n; i++) {
#pragma omp for schedule(runtime)
            for (int j = 0; j < n; j++)
                if (j != i && row_of(edges, j, n)[i])
                    add_edges(row_of(edges, j, n), row_of(edges, i, n), n);
        }
#pragma omp for schedule(runtime)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                pairs += row_of(edges, i, n)[j];
    }
    return pairs;
}

/* Follows the edges of the graph from every node; returns how many pairs are connected one way only. */
static long wrong_pairs(char *closed, int n, int clique)
{
    long wrong = 0;
    char *reached = malloc((size_t)n);
    int *open = malloc((size_t)n * sizeof *open);
    for (int source = 0; source < n; source++) {
        int count = 0;
        memset(reached, 0, (size_t)n);
        for (int node = source; node >= 0; node = count > 0 ? open[--count] : -1)
            for (int j = 0; j < n; j++)
                if (!reached[j] && has_edge(node, j, n, clique)) {
                    reached[j] = 1;
                    if (j != source)
                        open[count++] = j;
                }
        for (int j = 0; j < n; j++)
            wrong += reached[j] != row_of(closed, source, n)[j];
    }
    free(open);
    free(reached);
    return wrong;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0;
    int clique = argc > 2 && strcmp(argv[2], "clique") == 0;
    if (n < 1 || (!clique && strcmp(argv[2], "random") != 0)) {
        fprintf(stderr, "usage: %s N random|clique [verify]\n", argv[0]);
        return 2;
    }
    char *edges = malloc((size_t)n * (size_t)n);
    printf("%d nodes, %ld connected pairs\n", n, close_graph(edges, n, clique));
    long wrong = 0;
    if (argc > 3 && strcmp(argv[3], "verify") == 0) {
        wrong = wrong_pairs(edges, n, clique);
        printf("wrong pairs: %ld\n", wrong);
    }
    free(edges);
    return wrong != 0;
}
