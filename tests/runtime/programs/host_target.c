/* Leagues of teams and target constructs on the host, allocators, scans, and the rest of the directives. */
#include <omp.h>
#include <stdio.h>

#pragma omp declare reduction(most : int : omp_out = omp_in > omp_out ? omp_in : omp_out)

static void target(void)
{
    int a[100], sum = 0, x = 7, m = 0;
    for (int i = 0; i < 100; i++)
        a[i] = i;
#pragma omp target map(tofrom : a) map(tofrom : sum) firstprivate(x)
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += a[i] += x;
#pragma omp target data map(to : a)
    {
#pragma omp target teams distribute parallel for map(tofrom : a)
        for (int i = 0; i < 100; i++)
            a[i] *= 2;
#pragma omp target update from(a)
    }
#pragma omp target map(from : m) depend(out : m)
    m = 42;
    printf("%d %d %d %d %d\n", a[3], a[99], sum, m, omp_get_num_devices());
}

static void league(void)
{
    int ranks = 0;
#pragma omp teams num_teams(5) thread_limit(3) reduction(+ : ranks)
    {
        ranks += omp_get_team_num() * 10 + omp_get_num_teams();
#pragma omp parallel reduction(+ : ranks)
        ranks += omp_get_num_threads() > 3;
    }
    printf("%d\n", ranks);
}

static void memory(void)
{
#if __GNUC__ >= 11
    omp_alloctrait_t traits[] = {
        {omp_atk_alignment, 128}, {omp_atk_pool_size, 1000}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 3, traits);
    char *first = omp_alloc(600, own), *second = omp_alloc(600, own);
    printf("%d %d\n", ((size_t)first & 127) == 0, second == NULL);
    omp_free(first, own);
    second = omp_alloc(600, own);
    printf("%d\n", second != NULL);
    omp_free(second, own);
    omp_destroy_allocator(own);
#endif
}

static void directives(void)
{
    long double real = 0;
    int sum = 0, before = 0, in[20], out[20], most = 0, scoped = 0;
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#pragma omp atomic
        real += i;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < 20; i++) {
        sum += i;
#pragma omp scan inclusive(sum)
        in[i] = sum;
    }
#pragma omp parallel for reduction(inscan, + : before)
    for (int i = 0; i < 20; i++) {
        out[i] = before;
#pragma omp scan exclusive(before)
        before += i;
    }
#pragma omp parallel for reduction(most : most)
    for (int i = 0; i < 50; i++)
        most = i * i % 47 > most ? i * i % 47 : most;
#pragma omp parallel
    {
#pragma omp loop bind(parallel)
        for (int i = 0; i < 20; i++)
            in[i] += i;
    }
    for (int i = 0; i < 20; i++)
        scoped += in[i];
    printf("%.1Lf %d %d %d %d\n", real, in[19], out[19], most, scoped);
}

int main(void)
{
    target();
    league();
    memory();
    directives();
    return 0;
}
