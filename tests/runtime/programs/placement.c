/* Prints where pages live that the program places itself, with libnuma and system calls. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int numa_available(void);
int numa_max_node(void);
int numa_node_of_cpu(int cpu);
int numa_run_on_node(int node);
void *numa_alloc_onnode(size_t bytes, int node);
void *numa_alloc_interleaved(size_t bytes);
void numa_free(void *memory, size_t bytes);
void numa_tonode_memory(void *memory, size_t bytes, int node);
long mbind(void *start, unsigned long bytes, int mode, const unsigned long *mask, unsigned long bits,
           unsigned flags);
long set_mempolicy(int mode, const unsigned long *mask, unsigned long bits);
long get_mempolicy(int *mode, unsigned long *mask, unsigned long bits, void *address, unsigned long flags);

enum { PAGE = 4096, BIND = 2, INTERLEAVE = 3, MOVE = 2, NODE_OF_ADDRESS = 3 };

static void show(const char *what, char *memory, int pages)
{
    printf("%s:", what);
    for (int i = 0; i < pages; i++) {
        int node = -1;
        get_mempolicy(&node, NULL, 0, memory + i * PAGE, NODE_OF_ADDRESS);
        printf(" %d", node);
    }
    putchar('\n');
}

int main(void)
{
    unsigned long mask = 6;
    char *memory;
    printf("nodes: %d %d\n", numa_available(), numa_max_node() + 1);
    for (int node = 0; node <= numa_max_node() && node < 4; node++) {
        memory = numa_alloc_onnode(2 * PAGE, node);
        memory[PAGE] = 1;
        show("on node", memory, 2);
        numa_free(memory, 2 * PAGE);
    }
    show("interleaved", numa_alloc_interleaved(4 * PAGE), 4);
    memory = aligned_alloc(PAGE, 4 * PAGE);
    memory[0] = 1;
    mbind(memory, 4 * PAGE, INTERLEAVE, &mask, 64, 0);
    show("touched before", memory, 1);
    mbind(memory, 4 * PAGE, INTERLEAVE, &mask, 64, MOVE);
    show("moved", memory, 4);
    mask = 8;
    set_mempolicy(BIND, &mask, 64);
    memory = aligned_alloc(PAGE, 8 * PAGE);
    show("bound", memory + 4 * PAGE, 2);
    set_mempolicy(0, NULL, 0);
    memory = aligned_alloc(PAGE, 8 * PAGE);
    show("not bound", memory + 6 * PAGE, 1);
    for (int node = 0; node < 2; node++) {
        int result = numa_run_on_node(node), cpu = sched_getcpu();
        unsigned seen = 99;
        syscall(SYS_getcpu, NULL, &seen, NULL);
        printf("runs on: %d %d %u\n", result, numa_node_of_cpu(cpu), seen);
    }
    mask = 2;
    memory = aligned_alloc(PAGE, 8 * PAGE);
    printf("by number: %ld\n", syscall(SYS_mbind, memory + 6 * PAGE, PAGE, BIND, &mask, 64, 0));
    show("placed", memory + 6 * PAGE, 1);
    mask = 0;
    printf("refused: %ld %ld %d\n", set_mempolicy(BIND, &mask, 64), mbind(memory, PAGE, 77, &mask, 64, 0),
           numa_alloc_onnode(PAGE, 99) == NULL);
    return 0;
}
