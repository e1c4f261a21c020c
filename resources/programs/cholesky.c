/* Sparse Cholesky factorisation by panels of columns, with a queue of tasks.
 *
 * The matrix is that of a square grid of points, each tied to its four neighbours; the points are numbered
 * by nested dissection, which keeps the factor sparse and its parts independent. A panel is a few
 * neighbouring columns of the factor with elements in the same rows. A task is a panel: it adds the
 * contributions of all finished panels to its left, in their order. If it needs one that is not finished,
 * it waits there and the processor takes another task from the queue; whoever finishes a panel puts the
 * panels waiting for it back into the queue. So the factor is the same to the last bit, whoever computes
 * it.
 *
 *     cholesky SIDE [verify]     SIDE x SIDE points; with `verify` also solves a system
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE   (-1)
#define WIDEST 8 /* columns of a panel */

typedef struct panel {
    omp_lock_t lock;
    int finished;
    int waiters;      /* first of the panels waiting for this one */
    int next_waiter;  /* next panel waiting for the same one */
    int next_update;  /* where this panel continues in its list of contributing panels */
    int first, width; /* columns first to first + width - 1 */
    int length;       /* number of rows with elements, its own columns' first */
    const int *row;   /* these rows, ascending */
    double *value;    /* column by column, `length` elements each; above the diagonal unused */
    int num_updates;
    int *update; /* the panels that contribute to this one, ascending */
} panel;

typedef struct factor {
    int n, num_panels;
    long elements; /* on and below the diagonal */
    int *row;
    int *panel_of; /* column */
    panel *panels;
    double *value;
    int *update;
} factor;

typedef struct task_queue {
    omp_lock_t lock;
    int *tasks; /* a ring; a panel is in it at most once */
    long taken, put;
    int size;
    int unfinished;
} task_queue;

/* The grid: the neighbours of each point, by elimination number. */
typedef struct grid {
    int side;
    int *number; /* of the point in row y and column x: number[y * side + x] */
    int *point;  /* the inverse */
} grid;

/* Numbers a rectangle of points from `next` on: its halves first, then their separator. */
static int dissect(grid *g, int x, int y, int width, int height, int next)
{
    if (width <= 0 || height <= 0)
        return next;
    if (width < 3 && height < 3) {
        for (int i = 0; i < width * height; i++)
            g->number[(y + i / width) * g->side + x + i % width] = next++;
    } else if (width >= height) {
        next = dissect(g, x, y, width / 2, height, next);
        next = dissect(g, x + width / 2 + 1, y, width - width / 2 - 1, height, next);
        for (int i = 0; i < height; i++)
            g->number[(y + i) * g->side + x + width / 2] = next++;
    } else {
        next = dissect(g, x, y, width, height / 2, next);
        next = dissect(g, x, y + height / 2 + 1, width, height - height / 2 - 1, next);
        for (int i = 0; i < width; i++)
            g->number[(y + height / 2) * g->side + x + i] = next++;
    }
    return next;
}

/* Writes the neighbours of unknown i to `found`; returns how many. */
static int neighbours(const grid *g, int i, int found[4])
{
    int x = g->point[i] % g->side, y = g->point[i] / g->side, count = 0;
    if (x > 0)
        found[count++] = g->number[g->point[i] - 1];
    if (x + 1 < g->side)
        found[count++] = g->number[g->point[i] + 1];
    if (y > 0)
        found[count++] = g->number[g->point[i] - g->side];
    if (y + 1 < g->side)
        found[count++] = g->number[g->point[i] + g->side];
    return count;
}

static grid number_grid(int side)
{
    grid g = {.side = side};
    size_t n = (size_t)side * (size_t)side;
    g.number = malloc(n * sizeof *g.number);
    g.point = malloc(n * sizeof *g.point);
    dissect(&g, 0, 0, side, side, 0);
    for (size_t i = 0; i < n; i++)
        g.point[g.number[i]] = (int)i;
    return g;
}

/* Visits the columns with an element in row i of the factor (except the diagonal): from every neighbour to
 * the left up the elimination tree. Counts the elements, or lists them if `row` is given. */
static void visit_row(const grid *g, int i, int *parent, int *visited, long *count, int *row)
{
    int beside[4], around = neighbours(g, i, beside);
    visited[i] = i;
    for (int k = 0; k < around; k++)
        for (int j = beside[k]; j < i && visited[j] != i; j = parent[j]) {
            if (parent[j] == NONE)
                parent[j] = i;
            visited[j] = i;
            if (row != NULL)
                row[count[j]] = i;
            count[j]++;
        }
}

/* Adds column j to the previous panel if it has all of that panel's rows except those of its columns. */
static void assign_to_panel(factor *f, int j, const int *parent, const long *start)
{
    panel *last = f->num_panels > 0 ? &f->panels[f->num_panels - 1] : NULL;
    int length = (int)(start[j + 1] - start[j]);
    if (last == NULL || last->width == WIDEST || parent[j - 1] != j || length != last->length - last->width) {
        last = &f->panels[f->num_panels++];
        *last = (panel){.waiters = NONE, .first = j, .length = length, .row = f->row + start[j]};
    }
    last->width++;
    f->panel_of[j] = f->num_panels - 1;
}

/* Lists the panels that contribute to each panel: those with elements in the rows of its columns. */
static void list_updates(factor *f)
{
    int *lists = NULL;
    for (int writes = 0; writes <= 1; writes++) {
        for (int k = 0; k < f->num_panels; k++) {
            const panel *from = &f->panels[k];
            for (int r = from->width, before = NONE; r < from->length; r++) {
                int to = f->panel_of[from->row[r]];
                if (to != before && writes)
                    f->panels[to].update[f->panels[to].num_updates] = k;
                if (to != before)
                    f->panels[to].num_updates++;
                before = to;
            }
        }
        if (writes)
            break;
        size_t sum = 0;
        for (int k = 0; k < f->num_panels; k++)
            sum += (size_t)f->panels[k].num_updates;
        f->update = lists = malloc((sum + 1) * sizeof *lists);
        for (int k = 0; k < f->num_panels; k++) {
            f->panels[k].update = lists;
            lists += f->panels[k].num_updates;
            f->panels[k].num_updates = 0;
        }
    }
}

/* Determines which elements of the factor are nonzero, and divides it into panels. */
static void analyse(factor *f, const grid *g)
{
    size_t n = (size_t)f->n, storage = 0;
    int *parent = malloc(n * sizeof *parent);
    int *visited = malloc(n * sizeof *visited);
    long *count = malloc(n * sizeof *count);
    long *start = malloc((n + 1) * sizeof *start);
    for (int i = 0; i < f->n; i++) {
        parent[i] = visited[i] = NONE;
        count[i] = 1; /* the diagonal */
    }
    for (int i = 0; i < f->n; i++)
        visit_row(g, i, parent, visited, count, NULL);
    start[0] = 0;
    for (int j = 0; j < f->n; j++) {
        start[j + 1] = start[j] + count[j];
        count[j] = start[j];
        visited[j] = NONE;
    }
    f->elements = start[n];
    f->row = malloc((size_t)f->elements * sizeof *f->row);
    for (int i = 0; i < f->n; i++) {
        f->row[count[i]++] = i;
        visit_row(g, i, parent, visited, count, f->row);
    }
    f->panel_of = malloc(n * sizeof *f->panel_of);
    f->panels = malloc(n * sizeof *f->panels);
    for (int j = 0; j < f->n; j++)
        assign_to_panel(f, j, parent, start);
    for (int k = 0; k < f->num_panels; k++)
        storage += (size_t)f->panels[k].width * (size_t)f->panels[k].length;
    f->value = malloc(storage * sizeof *f->value);
    storage = 0;
    for (int k = 0; k < f->num_panels; k++) {
        f->panels[k].value = f->value + storage;
        storage += (size_t)f->panels[k].width * (size_t)f->panels[k].length;
    }
    list_updates(f);
    free(start);
    free(count);
    free(visited);
    free(parent);
}

#define EXCESS 0.01 /* of the diagonal over the sum of the other elements in its row */

/* An off-diagonal element of the matrix. */
static double tie(int a, int b)
{
    return -1.0 - (double)((a + b) % 7) / 7.0;
}

/* Copies the matrix's columns of a panel into the factor. */
static void load_panel(const panel *p, const grid *g)
{
    memset(p->value, 0, (size_t)p->width * (size_t)p->length * sizeof *p->value);
    for (int c = 0; c < p->width; c++) {
        double *value = p->value + (size_t)c * (size_t)p->length;
        int j = p->first + c;
        int beside[4], around = neighbours(g, j, beside);
        value[c] = EXCESS;
        for (int k = 0; k < around; k++) {
            value[c] -= tie(j, beside[k]);
            for (int r = c; r < p->length && beside[k] > j; r++)
                if (p->row[r] == beside[k])
                    value[r] = tie(j, beside[k]);
        }
    }
}

/* Takes a panel from the queue, polling while it is empty; NONE when all are finished. */
static int take_task(task_queue *queue)
{
    int task = NONE, over = 0;
    while (task == NONE && !over) {
        omp_set_lock(&queue->lock);
        if (queue->taken < queue->put)
            task = queue->tasks[queue->taken++ % queue->size];
        over = queue->unfinished == 0;
        omp_unset_lock(&queue->lock);
    }
    return task;
}

/* Subtracts the contribution of a finished panel from panel p; place[i] is the position of row i in p. */
static void subtract_panel(const panel *p, const panel *from, const int *place)
{
    int top = from->width;
    while (from->row[top] < p->first)
        top++;
    for (; top < from->length && from->row[top] < p->first + p->width; top++) {
        double *value = p->value + (size_t)(from->row[top] - p->first) * (size_t)p->length;
        for (int c = 0; c < from->width; c++) {
            const double *taken = from->value + (size_t)c * (size_t)from->length;
            for (int r = top; r < from->length; r++)
                value[place[from->row[r]]] -= taken[top] * taken[r];
        }
    }
}

static void factorize_within(const panel *p)
{
    for (int c = 0; c < p->width; c++) {
        double *value = p->value + (size_t)c * (size_t)p->length;
        for (int before = 0; before < c; before++) {
            const double *taken = p->value + (size_t)before * (size_t)p->length;
            for (int r = c; r < p->length; r++)
                value[r] -= taken[c] * taken[r];
        }
        double root = sqrt(value[c]);
        value[c] = root;
        for (int r = c + 1; r < p->length; r++)
            value[r] /= root;
    }
}

/* Is panel k finished? If not, panel j waits for it. */
static int is_finished(factor *f, int k, int j)
{
    panel *awaited = &f->panels[k];
    omp_set_lock(&awaited->lock);
    int finished = awaited->finished;
    if (!finished) {
        f->panels[j].next_waiter = awaited->waiters;
        awaited->waiters = j;
    }
    omp_unset_lock(&awaited->lock);
    return finished;
}

/* Marks panel j as finished and queues all panels that waited for it. */
static void finish_panel(factor *f, task_queue *queue, int j)
{
    panel *p = &f->panels[j];
    omp_set_lock(&p->lock);
    p->finished = 1;
    omp_unset_lock(&p->lock);
    omp_set_lock(&queue->lock);
    for (int waiter = p->waiters; waiter != NONE; waiter = f->panels[waiter].next_waiter)
        queue->tasks[queue->put++ % queue->size] = waiter;
    queue->unfinished--;
    omp_unset_lock(&queue->lock);
}

static void work_on_panel(factor *f, task_queue *queue, int j, int *place)
{
    panel *p = &f->panels[j];
    for (int r = 0; r < p->length; r++)
        place[p->row[r]] = r;
    for (; p->next_update < p->num_updates; p->next_update++) {
        int k = p->update[p->next_update];
        if (!is_finished(f, k, j))
            return; /* another processor may now have it */
        subtract_panel(p, &f->panels[k], place);
    }
    factorize_within(p);
    finish_panel(f, queue, j);
}

/* Queues the panels that can start; the others wait for the first one they need. */
static void queue_panels(factor *f, task_queue *queue)
{
    for (int j = 0; j < f->num_panels; j++) {
        panel *p = &f->panels[j];
        if (p->num_updates == 0) {
            queue->tasks[queue->put++] = j;
        } else {
            p->next_waiter = f->panels[p->update[0]].waiters;
            f->panels[p->update[0]].waiters = j;
        }
    }
}

static void factorize(factor *f, const grid *g)
{
    task_queue queue = {.size = f->num_panels, .unfinished = f->num_panels};
    queue.tasks = malloc((size_t)f->num_panels * sizeof *queue.tasks);
    omp_init_lock(&queue.lock);
#pragma omp parallel
    {
        int *place = malloc((size_t)f->n * sizeof *place);
#pragma omp for schedule(dynamic, 4)
        for (int j = 0; j < f->num_panels; j++) {
            omp_init_lock(&f->panels[j].lock);
            load_panel(&f->panels[j], g);
        }
#pragma omp single
        queue_panels(f, &queue);
        for (int j = take_task(&queue); j != NONE; j = take_task(&queue))
            work_on_panel(f, &queue, j, place);
        free(place);
    }
    omp_destroy_lock(&queue.lock);
    free(queue.tasks);
}

/* Solves a system with the factor; returns the largest error of the solution (should be all ones). */
static double solution_error(const factor *f)
{
    double error = 0.0;
    double *x = malloc((size_t)f->n * sizeof *x);
    for (int i = 0; i < f->n; i++)
        x[i] = EXCESS; /* the sum of a row */
    for (int j = 0; j < f->n; j++) {
        const panel *p = &f->panels[f->panel_of[j]];
        int c = j - p->first;
        const double *value = p->value + (size_t)c * (size_t)p->length;
        x[j] /= value[c];
        for (int r = c + 1; r < p->length; r++)
            x[p->row[r]] -= value[r] * x[j];
    }
    for (int j = f->n - 1; j >= 0; j--) {
        const panel *p = &f->panels[f->panel_of[j]];
        int c = j - p->first;
        const double *value = p->value + (size_t)c * (size_t)p->length;
        for (int r = c + 1; r < p->length; r++)
            x[j] -= value[r] * x[p->row[r]];
        x[j] /= value[c];
        error = fmax(error, fabs(x[j] - 1.0));
    }
    free(x);
    return error;
}

static void release(factor *f, grid *g)
{
    for (int j = 0; j < f->num_panels; j++)
        omp_destroy_lock(&f->panels[j].lock);
    free(f->update);
    free(f->value);
    free(f->panels);
    free(f->panel_of);
    free(f->row);
    free(g->number);
    free(g->point);
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 0;
    if (side < 1) {
        fprintf(stderr, "usage: %s SIDE [verify]\n", argv[0]);
        return 2;
    }
    grid g = number_grid(side);
    factor f = {.n = side * side};
    analyse(&f, &g);
    factorize(&f, &g);
    const panel *last = &f.panels[f.num_panels - 1];
    printf("%d unknowns, %d panels, %ld elements in the factor, the last is %.15g\n", f.n, f.num_panels,
           f.elements, last->value[last->width * last->length - 1]);
    int wrong = 0;
    if (argc > 2 && strcmp(argv[2], "verify") == 0) {
        double error = solution_error(&f);
        wrong = !(error < 1e-9);
        printf("largest error of the solution: %.1e\n", error);
    }
    release(&f, &g);
    return wrong;
}
