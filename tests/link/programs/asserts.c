#include <assert.h>

int main(int argc, char **argv)
{
    (void)argv;
    assert(argc == 7);
    return 0;
}
