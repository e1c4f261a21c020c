/* MPI-1 functions removed in MPI 3.0 that old programs still call; mpi.h includes this for each of the two names. */
int SCALEGRAPH_MPI(Address)(void *location, MPI_Aint *address);
int SCALEGRAPH_MPI(Errhandler_create)(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler);
int SCALEGRAPH_MPI(Errhandler_get)(MPI_Comm comm, MPI_Errhandler *errhandler);
int SCALEGRAPH_MPI(Errhandler_set)(MPI_Comm comm, MPI_Errhandler errhandler);
int SCALEGRAPH_MPI(Type_extent)(MPI_Datatype datatype, MPI_Aint *extent);
int SCALEGRAPH_MPI(Type_hindexed)(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype);
int SCALEGRAPH_MPI(Type_hvector)(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int SCALEGRAPH_MPI(Type_lb)(MPI_Datatype datatype, MPI_Aint *displacement);
int SCALEGRAPH_MPI(Type_struct)(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int SCALEGRAPH_MPI(Type_ub)(MPI_Datatype datatype, MPI_Aint *displacement);
