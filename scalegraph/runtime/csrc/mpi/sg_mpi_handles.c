/* Handles as integers, for Fortran. Ours are integers already. */
#include "sg_mpi.h"

#define NUMBERS(name, type)                                                                                  \
    SG_API MPI_Fint PMPI_##name##_c2f(type handle)                                                           \
    {                                                                                                        \
        return (MPI_Fint)(intptr_t)handle;                                                                   \
    }                                                                                                        \
    SG_API type PMPI_##name##_f2c(MPI_Fint number)                                                           \
    {                                                                                                        \
        return (type)(intptr_t)number;                                                                       \
    }                                                                                                        \
    SG_API int PMPI_##name##_toint(type handle)                                                              \
    {                                                                                                        \
        return (int)(intptr_t)handle;                                                                        \
    }                                                                                                        \
    SG_API type PMPI_##name##_fromint(int number)                                                            \
    {                                                                                                        \
        return (type)(intptr_t)number;                                                                       \
    }                                                                                                        \
    SG_MPI_NAME(name##_c2f)                                                                                  \
    SG_MPI_NAME(name##_f2c)                                                                                  \
    SG_MPI_NAME(name##_toint)                                                                                \
    SG_MPI_NAME(name##_fromint)

NUMBERS(Comm, MPI_Comm)
NUMBERS(Errhandler, MPI_Errhandler)
NUMBERS(File, MPI_File)
NUMBERS(Group, MPI_Group)
NUMBERS(Info, MPI_Info)
NUMBERS(Message, MPI_Message)
NUMBERS(Op, MPI_Op)
NUMBERS(Request, MPI_Request)
NUMBERS(Type, MPI_Datatype)
NUMBERS(Win, MPI_Win)
