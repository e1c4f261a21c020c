/* Reads at an address that no memory can have; x86-64 processors do not report that address. */
#include <stdint.h>

volatile uintptr_t far_away = (uintptr_t)1 << 62;

int main(void)
{
    return *(volatile int *)far_away;
}
