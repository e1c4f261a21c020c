/* Quicksort with one central task queue.
 *
 * A task is a segment of the array. A processor takes one, splits it, puts the larger part back into the
 * queue and continues with the smaller one until that has at most TASK_SIZE elements; then it sorts it alone
 * and takes the next task. The queue is one shared structure under one lock: the smaller the tasks, the more
 * often everybody goes there, and whoever finds it empty polls until the array is sorted.
 *
 *     quicksort N TASK_SIZE [verify]     sorts N pseudo-random integers; with `verify` checks all of them
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_SEGMENT 10 /* sorted by insertion */

typedef struct segment {
    long first, last; /* elements first to last - 1 */
} segment;

typedef struct task_queue {
    omp_lock_t lock;
    long waiting;  /* tasks in the queue */
    long unsorted; /* elements not yet in their final place */
    segment *tasks;
} task_queue;

static int32_t element(long i)
{
    uint32_t x = (uint32_t)i * 2654435761u;
    x ^= x >> 16;
    x *= 2246822507u;
    x ^= x >> 13;
    x *= 3266489909u;
    x ^= x >> 16;
    return (int32_t)(x >> 1);
}

static void exchange(int32_t *a, int32_t *b)
{
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Splits a segment of at least three elements: none before the returned place is greater than any from
 * there on, and neither part is empty. The pivot is the median of three elements. */
static long split(int32_t *a, segment s)
{
    long middle = s.first + (s.last - s.first) / 2;
    if (a[middle] < a[s.first])
        exchange(&a[middle], &a[s.first]);
    if (a[s.last - 1] < a[s.first])
        exchange(&a[s.last - 1], &a[s.first]);
    if (a[s.last - 1] < a[middle])
        exchange(&a[s.last - 1], &a[middle]);
    int32_t pivot = a[middle];
    long i = s.first, j = s.last - 1;
    for (;;) {
        do
            i++;
        while (a[i] < pivot);
        do
            j--;
        while (a[j] > pivot);
        if (i >= j)
            return i;
        exchange(&a[i], &a[j]);
    }
}

static void insertion_sort(int32_t *a, segment s)
{
    for (long i = s.first + 1; i < s.last; i++) {
        int32_t moved = a[i];
        long j = i;
        for (; j > s.first && a[j - 1] > moved; j--)
            a[j] = a[j - 1];
        a[j] = moved;
    }
}

static void sort_alone(int32_t *a, segment s)
{
    while (s.last - s.first > SHORT_SEGMENT) {
        long middle = split(a, s);
        sort_alone(a, (segment){s.first, middle});
        s.first = middle;
    }
    insertion_sort(a, s);
}

static void put(task_queue *queue, segment task)
{
    omp_set_lock(&queue->lock);
    queue->tasks[queue->waiting++] = task;
    omp_unset_lock(&queue->lock);
}

/* Reports how many elements the last task put into place and takes the most recently queued task, polling
 * while there is none. Returns 0 when the array is sorted and no more tasks will come. */
static int take(task_queue *queue, long placed, segment *task)
{
    int taken = 0, sorted = 0;
    while (!taken && !sorted) {
        omp_set_lock(&queue->lock);
        queue->unsorted -= placed;
        placed = 0;
        sorted = queue->unsorted == 0;
        taken = queue->waiting > 0;
        if (taken)
            *task = queue->tasks[--queue->waiting];
        omp_unset_lock(&queue->lock);
    }
    return taken;
}

static void work_off(task_queue *queue, int32_t *a, long task_size)
{
    segment task;
    long placed = 0;
    while (take(queue, placed, &task)) {
        while (task.last - task.first > task_size) {
            long middle = split(a, task);
            segment left = {task.first, middle}, right = {middle, task.last};
            int left_is_larger = middle - task.first > task.last - middle;
            put(queue, left_is_larger ? right : left);
            task = left_is_larger ? left : right;
        }
        sort_alone(a, task);
        placed = task.last - task.first;
    }
}

static void sort(int32_t *a, long n, long task_size)
{
    task_queue queue = {.waiting = 1, .unsorted = n};
    /* A task in the queue was the larger part of a segment that was worth splitting. */
    queue.tasks = malloc(((size_t)(2 * n / task_size) + 2) * sizeof *queue.tasks);
    queue.tasks[0] = (segment){0, n};
    omp_init_lock(&queue.lock);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (long i = 0; i < n; i++)
            a[i] = element(i);
        work_off(&queue, a, task_size);
    }
    omp_destroy_lock(&queue.lock);
    free(queue.tasks);
}

/* Returns the number of errors: neighbours in the wrong order, or a sum that differs from the input's. */
static long faults(const int32_t *a, long n)
{
    long found = 0;
    uint64_t difference = (uint64_t)a[0] - (uint64_t)element(0);
#pragma omp parallel for reduction(+ : found, difference)
    for (long i = 1; i < n; i++) {
        found += a[i - 1] > a[i];
        difference += (uint64_t)a[i] - (uint64_t)element(i);
    }
    return found + (difference != 0);
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[1]) : 0;
    long task_size = argc > 2 ? atol(argv[2]) : 0;
    if (n < 1 || task_size < SHORT_SEGMENT) {
        fprintf(stderr, "usage: %s N TASK_SIZE [verify]     TASK_SIZE at least %d\n", argv[0], SHORT_SEGMENT);
        return 2;
    }
    int32_t *a = malloc((size_t)n * sizeof *a);
    sort(a, n, task_size);
    printf("%ld elements, smallest %d, median %d, largest %d\n", n, a[0], a[n / 2], a[n - 1]);
    long wrong = 0;
    if (argc > 3 && strcmp(argv[3], "verify") == 0) {
        wrong = faults(a, n);
        printf("faults: %ld\n", wrong);
    }
    free(a);
    return wrong != 0;
}
