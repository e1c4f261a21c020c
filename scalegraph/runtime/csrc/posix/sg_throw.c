/* C++ exceptions: where each was thrown, for the message about an uncaught one. A separate file, so that only
 * C++ programs link it. */
#include "sg_throw.h"

enum { KEPT = 256 };

/* The latest ones: an exception may be rethrown in another thread, which asks its future. */
static struct {
    const void *object, *type, *site;
} thrown[KEPT] = {0};
static uint32_t count = 0;

extern void real_throw(void *object, void *type, void (*destroy)(void *)) __asm__("__real___cxa_throw")
    __attribute__((noreturn));
void __wrap___cxa_throw(void *object, void *type, void (*destroy)(void *)) __attribute__((noreturn));

SG_API void __wrap___cxa_throw(void *object, void *type, void (*destroy)(void *))
{
    uint32_t at = count++ % KEPT;
    thrown[at].object = object;
    thrown[at].type = type;
    thrown[at].site = SG_CALLER;
    real_throw(object, type, destroy);
}

const void *sg_thrown_at(const void *object, const void *type)
{
    for (uint32_t i = count; i > 0 && count - i < KEPT; i--)
        if (thrown[(i - 1) % KEPT].object == object && thrown[(i - 1) % KEPT].type == type)
            return thrown[(i - 1) % KEPT].site;
    return NULL;
}
