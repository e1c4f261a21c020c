/* Unsupported MPI functions: the first call ends the run with a message. */
#include "sg_fortran_site.h"
#include "sg_posix.h"

#define REFUSE(name)                                                                                         \
    long PMPI_##name(void);                                                                                  \
    SG_API long PMPI_##name(void)                                                                            \
    {                                                                                                        \
        sg_now->site = sg_fortran_caller(SG_CALLER);                                                         \
        sg_stop(SG_STATUS_UNSUPPORTED,                                                                       \
                "the program called MPI_" #name " at 0x%llx, which the simulator does not serve yet",        \
                (unsigned long long)(uintptr_t)sg_now->site);                                                \
    }                                                                                                        \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

REFUSE(Close_port)
REFUSE(Comm_accept)
REFUSE(Comm_connect)
REFUSE(Comm_join)
REFUSE(Comm_spawn)
REFUSE(Comm_spawn_multiple)
REFUSE(Lookup_name)
REFUSE(Open_port)
REFUSE(Publish_name)
REFUSE(Register_datarep)
REFUSE(Unpublish_name)
