/* Nothing but barriers and a critical section. */
int main(void)
{
#pragma omp parallel
    for (int round = 0; round < 10; round++) {
#pragma omp barrier
    }
#pragma omp parallel
#pragma omp critical
    {
    }
    return 0;
}
