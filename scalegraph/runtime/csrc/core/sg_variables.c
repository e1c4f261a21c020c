/* Addresses of the simulated runtime's own variables. */
#include "sg_runtime.h"

uint64_t sg_variables_of(uint64_t lines, enum sg_own own)
{
    sg_settle();
    uint64_t address = SG_VARIABLE_BASE + sg->next_variable, bytes = lines * sg_line_bytes();
    sg->next_variable += bytes;
    sg_observe_owns(address, bytes, own);
    return address;
}

uint64_t sg_line_bytes(void)
{
    return sg->line_bytes > sg->config.coherence_line_bytes ? sg->line_bytes
                                                            : sg->config.coherence_line_bytes;
}
