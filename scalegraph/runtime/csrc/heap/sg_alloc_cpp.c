/* C++ allocates through its library, which is not the call site that a user looks for. So we define its
 * operators here, unless the program has its own. */
#include "sg_alloc.h"
#include "sg_runtime.h"

extern void sg_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak, noreturn));

static void *allocate_object(size_t size, const void *caller)
{
    void *block = sg_alloc_plain(size, caller);
    if (block == NULL && sg_throw_bad_alloc != NULL)
        sg_throw_bad_alloc();
    return block;
}

#define NEW(name, symbol)                                                                                    \
    void *sg_##name(size_t size) __asm__(symbol);                                                            \
    __attribute__((weak)) SG_API void *sg_##name(size_t size)                                                \
    {                                                                                                        \
        return allocate_object(size, SG_CALLER);                                                             \
    }

NEW(operator_new, "_Znwm")
NEW(operator_new_array, "_Znam")

#define DELETE(name, symbol, ...)                                                                            \
    void sg_##name(void *pointer __VA_ARGS__) __asm__(symbol);                                               \
    __attribute__((weak)) SG_API void sg_##name(void *pointer __VA_ARGS__)                                   \
    {                                                                                                        \
        sg_alloc_release(pointer, SG_CALLER);                                                                \
    }

DELETE(operator_delete, "_ZdlPv")
DELETE(operator_delete_array, "_ZdaPv")
DELETE(operator_delete_sized, "_ZdlPvm", , size_t size __attribute__((unused)))
DELETE(operator_delete_array_sized, "_ZdaPvm", , size_t size __attribute__((unused)))
