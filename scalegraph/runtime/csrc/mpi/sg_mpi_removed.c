/* MPI-1 functions removed in MPI 3.0: they do what their successors do, reporting the program's own call. */
#include "sg_mpi.h"

#define AS(call) (sg_fortran_site = SG_CALLER, call)

SG_API int PMPI_Address(void *location, MPI_Aint *address)
{
    return PMPI_Get_address(location, address);
}

SG_API int PMPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
{
    return AS(PMPI_Comm_create_errhandler(function, handler));
}

SG_API int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler)
{
    return AS(PMPI_Comm_get_errhandler(comm, handler));
}

SG_API int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    return AS(PMPI_Comm_set_errhandler(comm, handler));
}

SG_API int PMPI_Type_extent(MPI_Datatype type, MPI_Aint *extent)
{
    MPI_Aint low;
    return AS(PMPI_Type_get_extent(type, &low, extent));
}

SG_API int PMPI_Type_lb(MPI_Datatype type, MPI_Aint *low)
{
    MPI_Aint extent;
    return AS(PMPI_Type_get_extent(type, low, &extent));
}

SG_API int PMPI_Type_ub(MPI_Datatype type, MPI_Aint *high)
{
    MPI_Aint low, extent = 0;
    int error = AS(PMPI_Type_get_extent(type, &low, high != NULL ? &extent : NULL));
    if (error == MPI_SUCCESS)
        *high = low + extent;
    return error;
}

SG_API int PMPI_Type_hindexed(int count, int lengths[], MPI_Aint places[], MPI_Datatype old,
                              MPI_Datatype *result)
{
    return AS(PMPI_Type_create_hindexed(count, lengths, places, old, result));
}

SG_API int PMPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *result)
{
    return AS(PMPI_Type_create_hvector(count, length, stride, old, result));
}

SG_API int PMPI_Type_struct(int count, int lengths[], MPI_Aint places[], MPI_Datatype types[],
                            MPI_Datatype *result)
{
    return AS(PMPI_Type_create_struct(count, lengths, places, types, result));
}

SG_MPI_NAME(Address)
SG_MPI_NAME(Errhandler_create)
SG_MPI_NAME(Errhandler_get)
SG_MPI_NAME(Errhandler_set)
SG_MPI_NAME(Type_extent)
SG_MPI_NAME(Type_hindexed)
SG_MPI_NAME(Type_hvector)
SG_MPI_NAME(Type_lb)
SG_MPI_NAME(Type_struct)
SG_MPI_NAME(Type_ub)
