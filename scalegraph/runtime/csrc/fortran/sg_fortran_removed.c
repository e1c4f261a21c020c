/* Fortran bindings of MPI-1 functions removed in MPI 3.0: addresses and extents are 4-byte integers. */
#include "sg_fortran.h"

SG_FORTRAN(mpi_address, (void *location, int *address, int *ierror))
{
    MPI_Aint found = 0;
    int result = MPI_Get_address(sg_fortran_buffer(location), &found);
    *address = (int)found;
    SG_FORTRAN_DONE(ierror, result);
}

SG_FORTRAN(mpi_errhandler_create, (MPI_Comm_errhandler_function * function, int *handler, int *ierror))
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    SG_FORTRAN_PLACE();
    int result = MPI_Comm_create_errhandler(function, &made);
    *handler = MPI_Errhandler_toint(made);
    SG_FORTRAN_DONE(ierror, result);
}

SG_FORTRAN(mpi_errhandler_get, (const int *comm, int *handler, int *ierror))
{
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    SG_FORTRAN_PLACE();
    int result = MPI_Comm_get_errhandler(MPI_Comm_fromint(*comm), &found);
    *handler = MPI_Errhandler_toint(found);
    SG_FORTRAN_DONE(ierror, result);
}

SG_FORTRAN(mpi_errhandler_set, (const int *comm, const int *handler, int *ierror))
{
    SG_FORTRAN_DONE(ierror,
                    MPI_Comm_set_errhandler(MPI_Comm_fromint(*comm), MPI_Errhandler_fromint(*handler)));
}

/* One of the numbers that tell where a type begins and ends. */
#define BOUND(name, value)                                                                                   \
    SG_FORTRAN(mpi_type_##name, (const int *type, int *answer, int *ierror))                                 \
    {                                                                                                        \
        MPI_Aint low = 0, extent = 0;                                                                        \
        SG_FORTRAN_PLACE();                                                                                  \
        int result = MPI_Type_get_extent(MPI_Type_fromint(*type), &low, &extent);                            \
        *answer = (int)(value);                                                                              \
        SG_FORTRAN_DONE(ierror, result);                                                                     \
    }

BOUND(extent, extent)
BOUND(lb, low)
BOUND(ub, low + extent)

SG_FORTRAN(mpi_type_hvector,
           (const int *count, const int *length, const int *stride, const int *old, int *type, int *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    SG_FORTRAN_PLACE();
    int result = MPI_Type_create_hvector(*count, *length, *stride, MPI_Type_fromint(*old), &made);
    *type = MPI_Type_toint(made);
    SG_FORTRAN_DONE(ierror, result);
}

SG_FORTRAN(mpi_type_hindexed, (const int *count, const int lengths[], const int places[], const int *old,
                               int *type, int *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Aint at[*count > 0 ? *count : 1];
    for (int i = 0; i < *count; i++)
        at[i] = places[i];
    SG_FORTRAN_PLACE();
    int result = MPI_Type_create_hindexed(*count, lengths, at, MPI_Type_fromint(*old), &made);
    *type = MPI_Type_toint(made);
    SG_FORTRAN_DONE(ierror, result);
}

SG_FORTRAN(mpi_type_struct, (const int *count, const int lengths[], const int places[], const int olds[],
                             int *type, int *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL, of[*count > 0 ? *count : 1];
    MPI_Aint at[*count > 0 ? *count : 1];
    for (int i = 0; i < *count; i++) {
        at[i] = places[i];
        of[i] = MPI_Type_fromint(olds[i]);
    }
    SG_FORTRAN_PLACE();
    int result = MPI_Type_create_struct(*count, lengths, at, of, &made);
    *type = MPI_Type_toint(made);
    SG_FORTRAN_DONE(ierror, result);
}
