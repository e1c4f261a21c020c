/* One-sided communication of all kinds: what it prints is the same on any machine and with any MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static int rank, ranks;
static int fixed[MOST];     /* static data: another rank's is not mapped while this one runs */
static double large[40000]; /* more than is copied between turns */

static void show(const char *what, const int *values, int count)
{
    char line[300];
    int used = 0;
    for (int i = 0; i < count; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %d", values[i]);
    printf("%d %s:%s\n", rank, what, line);
}

static void fences(void)
{
    MPI_Win win;
    int mine[2] = {rank + 1, 10 * rank}, got[2] = {-1, -1}, next = (rank + 1) % ranks;
    memset(fixed, 0, sizeof fixed);
    MPI_Win_create(fixed, sizeof fixed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(mine, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Accumulate(mine, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(mine, 1, MPI_INT, 0, 9, 1, MPI_INT, MPI_MAX, win);
    MPI_Accumulate(mine, 1, MPI_INT, ranks - 1, 10, 1, MPI_INT, MPI_BOR, win);
    MPI_Win_fence(0, win);
    MPI_Get(got, 2, MPI_INT, next, 0, 2, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    show("fence", fixed, 11);
    show("got", got, 2);
    MPI_Win_free(&win);
}

/* Every second element of the target, from a row that lies together here, and back into a column. */
static void derived(void)
{
    MPI_Win win;
    MPI_Datatype second;
    int row[4], column[8] = {0}, before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 4; i++)
        row[i] = 100 * rank + i;
    MPI_Type_vector(4, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    memset(fixed, 0, sizeof fixed);
    MPI_Win_create(fixed, sizeof fixed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(row, 4, MPI_INT, before, 1, 1, second, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(row, 4, MPI_INT, before, 1, 1, second, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(column, 1, second, rank, 1, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    show("derived", fixed, 9);
    show("column", column, 8);
    MPI_Win_free(&win);
    MPI_Type_free(&second);
}

static void locks(void)
{
    MPI_Win win;
    int *memory, one = 1, sum = 0, last = -1, none = 0;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 4 * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        int value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        MPI_Fetch_and_op(&one, &last, MPI_INT, ranks - 1, 1, MPI_SUM, win);
        MPI_Win_flush_local(ranks - 1, win);
        sum += last;
    }
    MPI_Fetch_and_op(NULL, &none, MPI_INT, ranks - 1, 2, MPI_NO_OP, win);
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int values[4] = {memory[0], memory[1], sum, none};
    show("lock", values, 4);
    MPI_Win_free(&win);
}

/* Each rank swaps its number in once all smaller ones have. */
static void swaps(void)
{
    MPI_Win win;
    int found = -2, mine = rank, before = rank - 1;
    large[39999] = 0;
    fixed[0] = -1;
    MPI_Win_create(fixed, sizeof fixed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    while (found != before) {
        MPI_Compare_and_swap(&mine, &before, &found, MPI_INT, 0, 0, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    show("swap", fixed, 1);
    MPI_Win_free(&win);
}

static void groups(void)
{
    MPI_Win win;
    MPI_Group all, to, from;
    double mine[3] = {rank, rank + 0.5, 3};
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Win_create(large, sizeof large, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(mine, 3, MPI_DOUBLE, next, 39990, 3, MPI_DOUBLE, win);
    MPI_Accumulate(mine, 1, MPI_DOUBLE, next, 39995, 1, MPI_DOUBLE, MPI_REPLACE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    printf("%d groups: %g %g %g %g\n", rank, large[39990], large[39991], large[39992], large[39995]);
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

static void dynamic(void)
{
    MPI_Win win;
    MPI_Aint address, others[MOST];
    MPI_Request request;
    long *memory = calloc(4, sizeof *memory), mine = rank + 1, got[2] = {0, 0}, add[2] = {5, 7};
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, 4 * sizeof *memory);
    MPI_Get_address(memory, &address);
    MPI_Allgather(&address, 1, MPI_AINT, others, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&mine, 1, MPI_LONG, (rank + 1) % ranks, others[(rank + 1) % ranks], 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Raccumulate(add, 2, MPI_LONG, 0, others[0] + 2 * (MPI_Aint)sizeof(long), 2, MPI_LONG, MPI_SUM, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rget_accumulate(NULL, 0, MPI_LONG, got, 2, MPI_LONG, 0, others[0] + 2 * (MPI_Aint)sizeof(long), 2, MPI_LONG,
                        MPI_NO_OP, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d dynamic: %ld %ld %ld\n", rank, memory[0], got[0], got[1]);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    free(memory);
}

/* The ranks of a node write into each other's memory as if it were their own. */
static void shared(void)
{
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint size;
    int *own, *other, place, places, unit, sum = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_size(node, &places);
    MPI_Win_allocate_shared(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &own, &win);
    for (int i = 0; i < places; i++) {
        MPI_Win_shared_query(win, i, &size, &unit, &other);
        other[place % 4] = place + 1;
        MPI_Win_fence(0, win);
    }
    for (int i = 0; i < 4 && i < places; i++)
        sum += own[i];
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &other);
    printf("%d shared: %d %ld %d %d\n", rank, sum == (places > 3 ? 10 : places * (places + 1) / 2), (long)size, unit,
           (int)(own - other) == 4 * place);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

static int copied = 0, deleted = 0;

static int forget(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void answer(MPI_Win *win, int *error, ...)
{
    (void)win;
    MPI_Error_class(*error, &copied);
}

static void questions(void)
{
    MPI_Win win;
    MPI_Group group;
    MPI_Errhandler handler;
    int key, flag, length, members, *unit, *flavor, *model;
    MPI_Aint *size;
    void *base, *value;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win_create(fixed, sizeof fixed, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    MPI_Win_set_name(win, "numbers");
    MPI_Win_get_name(win, name, &length);
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &members);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &key, NULL);
    MPI_Win_set_attr(win, key, &length);
    MPI_Win_get_attr(win, key, &value, &flag);
    printf("%d asked: %d %ld %d %d %d %s %d %d\n", rank, base == fixed, (long)*size, *unit,
           *flavor == MPI_WIN_FLAVOR_CREATE, *model == MPI_WIN_UNIFIED, name, members, flag && value == &length);
    MPI_Win_create_errhandler(answer, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win);
    printf("%d error: %d\n", rank, copied == MPI_ERR_RANK);
    MPI_Errhandler_free(&handler);
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    MPI_Win_free_keyval(&key);
    printf("%d deleted: %d\n", rank, deleted);
}

int main(int argc, char **argv)
{
    static void (*const parts[])(void) = {fences, derived, locks, swaps, groups, dynamic, shared, questions};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        parts[i]();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
