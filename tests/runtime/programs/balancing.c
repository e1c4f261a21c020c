/* One thread touches all pages first, one line of each, then each thread reads other lines of its own pages:
 * in scope 1 once the system has marked them, in scope 2 again. */
#include <omp.h>
#include <stdio.h>

long mbind(void *start, unsigned long bytes, int mode, const unsigned long *mask, unsigned long bits,
           unsigned flags);
long get_mempolicy(int *mode, unsigned long *mask, unsigned long bits, void *address, unsigned long flags);

enum { PAGE = 4096, EACH = 4, THREADS = 64, LINE = 64, WAIT = 1500000, BIND = 2, NODE_OF_ADDRESS = 3 };

static char memory[THREADS * EACH * PAGE] __attribute__((aligned(PAGE)));
static char bound[PAGE] __attribute__((aligned(PAGE)));

static int node_of(char *page)
{
    int node = -1;
    get_mempolicy(&node, NULL, 0, page, NODE_OF_ADDRESS);
    return node;
}

int main(void)
{
    int threads = omp_get_max_threads();
    unsigned long first = 1;
    long sum = 0;
    for (int page = 0; page < threads * EACH; page++)
        memory[page * PAGE] = 1;
    mbind(bound, PAGE, BIND, &first, 64, 0);
    bound[0] = 1;
#pragma omp parallel
    __asm__ volatile("");
    for (long i = 0; i < WAIT; i++)
        __asm__ volatile("");
#pragma omp parallel reduction(+ : sum)
    {
        int id = omp_get_thread_num();
        char *mine = memory + id * EACH * PAGE, *last = id == omp_get_num_threads() - 1 ? bound : NULL;
#pragma omp barrier
        {
            SCALEGRAPH_SCOPE(1);
            for (int page = 0; page < EACH; page++)
                sum += mine[page * PAGE + LINE];
            if (last != NULL)
                sum += last[LINE];
        }
        {
            SCALEGRAPH_SCOPE(2);
            for (int page = 0; page < EACH; page++)
                sum += mine[page * PAGE + 2 * LINE];
        }
    }
    printf("sum %ld, nodes", sum);
    for (int id = 0; id < threads; id++)
        printf(" %d", node_of(memory + id * EACH * PAGE));
    printf(", bound %d\n", node_of(bound));
    return 0;
}
