/* Small loops that compilers can or cannot vectorise, over data that fit in the first-level cache; prints
 * nanoseconds per element by the program's own clock, the minimum over the repetitions. See
 * vector_loops.py. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART  __attribute__((noinline, noclone))
#define ROUNDS 40

enum { N = 1024, ROW = 32 };
static double a[N], b[N], c[N];
static float fa[N], fb[N], fc[N];
static int ia[N], ib[N], at[N];
static double sum;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static APART void triad(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i] + 3.0 * c[i];
}

static APART void triad_of_floats(void)
{
    for (int i = 0; i < N; i++)
        fa[i] = fb[i] + 3.0f * fc[i];
}

static APART void saxpy(float *y, const float *x, float factor)
{
    for (int i = 0; i < N; i++)
        y[i] += factor * x[i];
}

static APART void saxpy_of_two(void)
{
    saxpy(fa, fb, 1e-3f);
}

static APART void dot_product(void)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        s += b[i] * c[i];
    sum += s;
}

static APART void floats_to_doubles(void)
{
    for (int i = 0; i < N; i++)
        a[i] = fb[i];
}

static APART void integers_to_doubles(void)
{
    for (int i = 0; i < N; i++)
        a[i] = 0.5 * ia[i];
}

static APART void sum_of_integers(void)
{
    int s = 0;
    for (int i = 0; i < N; i++)
        s += ia[i];
    sum += s;
}

static APART void maximum_of_integers(void)
{
    int most = ia[0];
    for (int i = 1; i < N; i++)
        most = ia[i] > most ? ia[i] : most;
    sum += most;
}

static APART void products_of_integers(void)
{
    for (int i = 0; i < N; i++)
        ib[i] = ia[i] * at[i];
}

static APART void stencil(void)
{
    for (int i = 1; i < N / ROW - 1; i++)
        for (int j = 1; j < ROW - 1; j++)
            a[i * ROW + j] = 0.2 * (b[i * ROW + j] + b[(i - 1) * ROW + j] + b[(i + 1) * ROW + j] +
                                    b[i * ROW + j - 1] + b[i * ROW + j + 1]);
}

static APART void quotients(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i] / c[i];
}

static APART void choices(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i] > 1.0 ? 1.0 : 2 * b[i];
}

static APART void gather(void)
{
    for (int i = 0; i < N; i++)
        a[i] = b[at[i]];
}

static APART void recurrence(void)
{
    for (int i = 1; i < N; i++)
        a[i] = 0.5 * a[i - 1] + b[i];
}

static void measure(const char *name, void (*loop)(void), int repeat)
{
    double least = 1e30;
    for (int i = 0; i < repeat; i++) {
        double start = now();
        for (int round = 0; round < ROUNDS; round++)
            loop();
        double taken = now() - start;
        least = taken < least ? taken : least;
    }
    printf("%s;%.5f\n", name, least / ROUNDS / N);
}

int main(int count, char **argument)
{
    int repeat = count > 1 ? atoi(argument[1]) : 2;
    for (int i = 0; i < N; i++) {
        a[i] = 1;
        b[i] = 0.002 * i + 0.01;
        c[i] = 1 + 0.001 * i;
        fa[i] = fb[i] = fc[i] = (float)b[i];
        ia[i] = ib[i] = (i * 37) % 101;
        at[i] = (i * 389) % N;
    }
    measure("triad, double", triad, repeat);
    measure("triad, float", triad_of_floats, repeat);
    measure("saxpy", saxpy_of_two, repeat);
    measure("dot product", dot_product, repeat);
    measure("float to double", floats_to_doubles, repeat);
    measure("int to double", integers_to_doubles, repeat);
    measure("sum of int", sum_of_integers, repeat);
    measure("maximum of int", maximum_of_integers, repeat);
    measure("product of int", products_of_integers, repeat);
    measure("stencil of 5 points", stencil, repeat);
    measure("quotient, double", quotients, repeat);
    measure("choice, double", choices, repeat);
    measure("gather, double", gather, repeat);
    measure("recurrence", recurrence, repeat);
    fprintf(stderr, "%g %g %d\n", sum + a[N / 2], (double)fa[N / 2], ib[N / 2]);
    return 0;
}
