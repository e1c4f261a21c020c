/* One processor, a direct-mapped cache of 4,096 bytes with lines of 128. */
#define ROUNDS 10

static volatile char stream[16384] __attribute__((aligned(4096)));
static volatile char clash[8192] __attribute__((aligned(4096)));

int main(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 16384; i += 128)
            (void)stream[i];
    for (int round = 0; round < ROUNDS; round++) {
        (void)clash[0];
        (void)clash[4096];
    }
    return 0;
}
