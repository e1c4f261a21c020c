/* A known number of references, barriers and visits. */
static double cells[1000];
double total;

static __attribute__((noinline)) void fill(double *to, int n)
{
    SCALEGRAPH_SCOPE(1);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++)
        to[i] = 1.5;
}

int main(void)
{
    fill(cells, 1000);
    {
        SCALEGRAPH_SCOPE(2);
        double sum = 0;
        for (int i = 0; i < 1000; i++)
            sum += cells[i];
        total = sum;
    }
    return 5;
}
