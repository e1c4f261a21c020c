/* The parts of Gauss elimination that touch elements, for elements of type REAL: gauss.h includes this
 * file once for each precision, with OF(name) defined to give every function a name of its own. */

/* A random matrix (seed 0: a diagonally dominant one, which keeps its order of rows). The last column is
 * the right-hand side, the sum of the others, so that the solution is about all ones. */
static void OF(initialize_row)(const gauss *g, int i)
{
    REAL *row = (REAL *)g->elements + (size_t)i * g->width, sum = 0;
    for (int j = 0; j < g->n; j++) {
        row[j] = (REAL)element(g, i, j);
        sum += row[j];
    }
    row[g->n] = sum;
}

/* Returns the unfinished row with the largest element of column k. */
static int OF(find_pivot)(const gauss *g, int k)
{
    const REAL *column = (const REAL *)g->elements + k;
    int pivot = k;
    REAL largest = 0;
    for (int i = k; i < g->n; i++) {
        REAL value = column[(size_t)i * g->width];
        if (value < 0)
            value = -value;
        if (value > largest) {
            largest = value;
            pivot = i;
        }
    }
    return pivot;
}

static void OF(swap_rows)(const gauss *g, int k, int pivot)
{
    REAL *upper = (REAL *)g->elements + (size_t)k * g->width;
    REAL *lower = (REAL *)g->elements + (size_t)pivot * g->width;
    for (int j = k; j <= g->n; j++) {
        REAL value = upper[j];
        upper[j] = lower[j];
        lower[j] = value;
    }
}

/* Divides the elements below the pivot by it: the factors for eliminating the rows. */
static void OF(compute_factors)(const gauss *g, int k)
{
    REAL *column = (REAL *)g->elements + k;
    REAL pivot = column[(size_t)k * g->width];
    for (int i = k + 1; i < g->n; i++)
        column[(size_t)i * g->width] /= pivot;
}

static void OF(eliminate_row)(const gauss *g, int i, int k)
{
    const REAL *pivot_row = (const REAL *)g->elements + (size_t)k * g->width;
    REAL *row = (REAL *)g->elements + (size_t)i * g->width, factor = row[k];
    for (int j = k + 1; j <= g->n; j++)
        row[j] -= factor * pivot_row[j];
}

static double OF(value_of)(const gauss *g, int i, int j)
{
    return ((const REAL *)g->elements)[(size_t)i * g->width + (size_t)j];
}
