"""``mpif.h`` and the modules ``mpi`` and ``mpi_f08``: constants, types and interfaces of all calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scalegraph.runtime.mpi.header import HANDLES, LOGICAL, Constant, Function, Parameter, functions

_WIDTH: Final = 110  # of a line; gfortran's limit is 132
_KINDS: Final = (
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
)
# Variables recognised by their addresses, with their dimensions: defined in csrc/fortran/sg_fortran.c.
_PLACES: Final = (
    ("BOTTOM", ""),
    ("IN_PLACE", ""),
    ("STATUS_IGNORE", "MPI_STATUS_SIZE"),
    ("STATUSES_IGNORE", "MPI_STATUS_SIZE,1"),
    ("ERRCODES_IGNORE", "1"),
    ("UNWEIGHTED", "1"),
    ("WEIGHTS_EMPTY", "1"),
)
_NO: Final = ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING")
_KEY_FUNCTIONS: Final = tuple(
    f"MPI_{kind}{what}_FN" for kind in ("", "COMM_", "TYPE_", "WIN_") for what in ("NULL_COPY", "DUP", "NULL_DELETE")
)
# Calls that differ between Fortran and C, as C would declare Fortran's form.
_MORE: Final = """
int MPI_Init_thread(int required, int *provided);
int MPI_Buffer_detach(void *buffer_addr, int *size);
int MPI_Attr_put(MPI_Comm comm, int keyval, int attribute_val);
int MPI_Attr_get(MPI_Comm comm, int keyval, int *attribute_val, int *flag);
int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, MPI_Aint attribute_val);
int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, MPI_Aint *attribute_val, int *flag);
int MPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, MPI_Aint attribute_val);
int MPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, MPI_Aint *attribute_val, int *flag);
int MPI_Win_set_attr(MPI_Win win, int win_keyval, MPI_Aint attribute_val);
int MPI_Win_get_attr(MPI_Win win, int win_keyval, MPI_Aint *attribute_val, int *flag);
int MPI_Keyval_create(copy_fn *copy_fn, delete_fn *delete_fn, int *keyval, int extra_state);
int MPI_Comm_create_keyval(copy_fn *comm_copy_attr_fn, delete_fn *comm_delete_attr_fn, int *key, MPI_Aint extra_state);
int MPI_Type_create_keyval(copy_fn *type_copy_attr_fn, delete_fn *type_delete_attr_fn, int *key, MPI_Aint extra_state);
int MPI_Win_create_keyval(copy_fn *win_copy_attr_fn, delete_fn *win_delete_attr_fn, int *key, MPI_Aint extra_state);
int MPI_Grequest_start(query_fn *query, free_fn *release, cancel_fn *cancel, MPI_Aint extra_state,
    MPI_Request *request);
int MPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag);
int MPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]);
"""


def more_functions() -> list[Function]:
    """Return the functions that Fortran has in a form of its own and `header.functions` leaves out."""
    return [Function("MPI_Init", ()), *functions(_MORE, every=True)]


def mpif(constants: Iterable[Constant]) -> str:
    """Return ``mpif.h``, which is valid in fixed and free form."""
    lines = ["! Made by ScaleGraph: MPI for programs that include mpif.h."]
    lines += [_integer(name, value) for name, value in _KINDS]
    lines += [_integer(one.name, _value(one), "*8" if one.type == "MPI_Offset" else "") for one in constants]
    lines += [f"LOGICAL {name}\nPARAMETER ({name}=.FALSE.)" for name in _NO]
    for name, size in _PLACES:
        lines.append(f"INTEGER MPI_{name}" + (f"({size})" if size else "") + f"\nCOMMON /SG_MPI_{name}/ MPI_{name}")
    lines += [f"EXTERNAL {name}" for name in _KEY_FUNCTIONS]
    for prefix in ("", "P"):
        lines += [f"DOUBLE PRECISION {prefix}MPI_W{name}\nEXTERNAL {prefix}MPI_W{name}" for name in ("TIME", "TICK")]
        lines += [f"INTEGER*8 {prefix}MPI_AINT_{name}\nEXTERNAL {prefix}MPI_AINT_{name}" for name in ("ADD", "DIFF")]
    text = "\n".join(lines)
    return "\n".join(line if line.startswith("!") else f"      {line}" for line in text.splitlines()) + "\n"


def _integer(name: str, value: int, length: str = "") -> str:
    return f"INTEGER{length} {name}\nPARAMETER ({name}={value})"


def _value(one: Constant) -> int:
    """Return the value of a constant in Fortran, whose strings have no terminator."""
    longest = one.name.startswith("MPI_MAX_") or one.name == "MPI_MAX_LIBRARY_VERSION_STRING"
    return one.value - 1 if longest else one.value


def module_mpi(constants: Iterable[Constant], known: Sequence[Function]) -> str:
    """Return the source of the module ``mpi``, in which handles are integers."""
    values = [f"integer{_kind(one.type)}, parameter :: {one.name} = {_value(one)}" for one in constants]
    return _module("mpi", [], values, list(_places("mpi")), known)


def module_f08(constants: Iterable[Constant], known: Sequence[Function]) -> str:
    """Return the source of the module ``mpi_f08``, in which every kind of handle is a type."""
    types = []
    for handle in HANDLES:
        types += [f"type, bind(C) :: {handle}", "  integer :: MPI_VAL", f"end type {handle}"]
    types += [
        "type, bind(C) :: MPI_Status",
        "  integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR",
        "  integer :: MPI_internal(5)",
        "end type MPI_Status",
    ]
    values = []
    for one in constants:
        if one.type in HANDLES:
            values.append(f"type({one.type}), parameter :: {one.name} = {one.type}({_value(one)})")
        elif (one.name, one.value) not in _KINDS:
            values.append(f"integer{_kind(one.type)}, parameter :: {one.name} = {_value(one)}")
    return _module("mpi_f08", types, values, [*_places("mpi_f08"), *_comparisons(), *_callbacks()], known)


def _kind(kind: str) -> str:
    return "(kind=MPI_OFFSET_KIND)" if kind == "MPI_Offset" else ""


def _places(module: str) -> Iterator[str]:
    for name, size in _PLACES:
        status = module == "mpi_f08" and name.startswith("STATUS")
        kind = "type(MPI_Status)" if status else "integer"
        shape = {"STATUS_IGNORE": "", "STATUSES_IGNORE": "1"}.get(name, size) if status else size
        place = f'bind(C, name="sg_mpi_{name.lower()}_")'
        yield f"{kind}, {place} :: MPI_{name}" + (f"({shape})" if shape else "")


def _comparisons() -> Iterator[str]:
    """Yield the comparison operators of handles: two are equal if their integers are."""
    for operator, name in (("==", "same"), ("/=", "other")):
        yield f"interface operator({operator})"
        for handle in HANDLES:
            yield f'  function {name}_{handle}(a, b) bind(C, name="psg_mpi_{name}_") result(is)'
            yield f"    import :: {handle}"
            yield f"    type({handle}), intent(in) :: a, b"
            yield "    logical :: is"
            yield f"  end function {name}_{handle}"
        yield "end interface"


# Functions of the program that MPI calls: their arguments as mpi_f08 declares them, {} is the object.
_ATTRIBUTE: Final = "integer(kind=MPI_ADDRESS_KIND)"
_CALLBACKS: Final = {
    "{}_errhandler_function": (("Comm", "File", "Win"), "type(MPI_{}) {}, integer error_code"),
    "{}_copy_attr_function": (
        ("Comm", "Type", "Win"),
        (
            f"type(MPI_{{}}) {{}}, integer keyval, {_ATTRIBUTE} extra_state, {_ATTRIBUTE} attribute_val_in, "
            f"{_ATTRIBUTE} attribute_val_out, logical flag, integer ierror"
        ),
    ),
    "{}_delete_attr_function": (
        ("Comm", "Type", "Win"),
        f"type(MPI_{{}}) {{}}, integer keyval, {_ATTRIBUTE} attribute_val, {_ATTRIBUTE} extra_state, integer ierror",
    ),
    "Grequest_query_function": (("",), f"{_ATTRIBUTE} extra_state, type(MPI_Status) status, integer ierror"),
    "Grequest_free_function": (("",), f"{_ATTRIBUTE} extra_state, integer ierror"),
    "Grequest_cancel_function": (("",), f"{_ATTRIBUTE} extra_state, logical complete, integer ierror"),
    "User_function": (
        ("",),
        "type(c_ptr),value invec, type(c_ptr),value inoutvec, integer len, type(MPI_Type) datatype",
    ),
}


def _callbacks() -> Iterator[str]:
    """Yield the abstract interfaces of functions that the program passes to mpi_f08 calls."""
    yield "abstract interface"
    for form, (objects, arguments) in _CALLBACKS.items():
        for of in objects:
            name = "MPI_" + form.format(of)
            filled = arguments.format(of, of.lower()) if of else arguments
            pairs = [one.replace("MPI_Type)", "MPI_Datatype)").rsplit(" ", 1) for one in filled.split(", ")]
            yield f"  subroutine {name}({', '.join(argument for _, argument in pairs)})"
            if any("c_ptr" in kind for kind, _ in pairs):
                yield "    use, intrinsic :: iso_c_binding, only: c_ptr"
            kinds = {kind for each, _ in pairs for kind in re.findall(r"MPI_\w+", each)}
            if kinds:
                yield f"    import :: {', '.join(sorted(kinds))}"
            yield from (f"    {kind.replace(',', ', ')} :: {argument}" for kind, argument in pairs)
            yield f"  end subroutine {name}"
    yield "end interface"


def _module(
    name: str, types: Sequence[str], values: Sequence[str], more: Sequence[str], known: Sequence[Function]
) -> str:
    kinds = [f"integer, parameter :: {kind} = {value}" for kind, value in _KINDS if not (types and kind in _FIELDS)]
    logical = [f"logical, parameter :: {no} = .false." for no in _NO]
    lines = [f"module {name}", "implicit none", "public", *kinds, *types, *values, *logical, *more]
    lines += ["external :: " + ", ".join(_KEY_FUNCTIONS), "interface"]
    for prefix in ("", "P"):
        lines += [line for which in ("time", "tick") for line in _clock(f"{prefix}MPI_W{which}")]
        lines += [line for which in ("add", "diff") for line in _address(f"{prefix}MPI_Aint_{which}")]
        lines += [line for one in known for line in _call(one, prefix, handles=bool(types))]
    lines += ["end interface", *_sizes(optional=bool(types))]
    return "\n".join([*map(_folded, lines), f"end module {name}", ""])


# Types and kinds that MPI_Sizeof accepts, with the size of a value in bytes.
_SIZES: Final = (
    *((f"{of}({kind})", kind) for of in ("integer", "logical") for kind in (1, 2, 4, 8)),
    *((f"{of}({kind})", kind * parts) for of, parts in (("real", 1), ("complex", 2)) for kind in (4, 8, 16)),
    ("character", 1),
)


def _sizes(*, optional: bool) -> Iterator[str]:
    """Yield the interface of `MPI_Sizeof`, a separate procedure for every type."""
    for prefix in ("", "P"):
        yield f"interface {prefix}MPI_Sizeof"
        for number, (of, size) in enumerate(_SIZES):
            name = f"{prefix}MPI_Sizeof_{number}"
            yield f'  subroutine {name}(x, size, ierror) bind(C, name="psg_mpi_sizeof_{size}_")'
            yield f"    {of}, dimension(..), intent(in) :: x"
            yield "    integer, intent(out) :: size"
            yield f"    integer, intent(out){', optional' if optional else ''} :: ierror"
            yield f"  end subroutine {name}"
        yield "end interface"


_FIELDS: Final = ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR")  # of a status, in mpi_f08


def _clock(name: str) -> list[str]:
    return [f"function {name}() result(seconds)", "  double precision :: seconds", f"end function {name}"]


def _address(name: str) -> list[str]:
    return [
        f"function {name}(one, other) result(address)",
        "  import :: MPI_ADDRESS_KIND",
        "  integer(kind=MPI_ADDRESS_KIND), intent(in) :: one, other",
        "  integer(kind=MPI_ADDRESS_KIND) :: address",
        f"end function {name}",
    ]


def _call(function: Function, prefix: str, *, handles: bool) -> list[str]:
    """Return the interface of a call: with handles as types (mpi_f08) or integers."""
    names = [one.name for one in function.parameters]
    name = f"{prefix}{function.name}"
    imported = {"MPI_ADDRESS_KIND", "MPI_OFFSET_KIND", "MPI_COUNT_KIND"} | ({"MPI_Status"} if handles else set())
    imported |= {one.handle for one in function.parameters if handles and one.kind == "handle"}
    imported |= set() if handles else {"MPI_STATUS_SIZE"}
    optional = ", optional" if handles else ""
    return [
        f"subroutine {name}({', '.join([*names, 'ierror'])})",
        f"  import :: {', '.join(sorted(imported))}",
        *(f"  {line}" for one in function.parameters for line in _dummy(one, handles=handles)),
        # not intent(out): with a clobbered argument gfortran gives the call the line of the enclosing procedure
        f"  integer, intent(inout){optional} :: ierror",
        f"end subroutine {name}",
    ]


def _dummy(one: Parameter, *, handles: bool) -> list[str]:
    """Return the declaration of a dummy argument."""
    name = one.name
    if one.kind == "choice":
        return [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}", f"type(*), dimension(*) :: {name}"]
    if one.kind == "function":
        return [f"external :: {name}"]
    kinds = {"aint": "ADDRESS", "offset": "OFFSET", "count": "COUNT"}
    if one.kind in ("status", "statuses"):
        shape = "*" if one.kind == "statuses" else ""
        if handles:
            return [f"type(MPI_Status) :: {name}" + (f"({shape})" if shape else "")]
        return [f"integer :: {name}(MPI_STATUS_SIZE" + (f",{shape})" if shape else ")")]
    if one.kind == "string":
        kind = "character(len=*)"
    elif one.kind == "handle":
        kind = f"type({one.handle})" if handles else "integer"
    elif one.kind in kinds:
        kind = f"integer(kind=MPI_{kinds[one.kind]}_KIND)"
    else:
        kind = "logical" if name in LOGICAL else "integer"
    shape = "(3,*)" if one.array and one.kind == "int" and one.handle else "(*)" if one.array else ""
    return [f"{kind}{'' if one.out else ', intent(in)'} :: {name}{shape}"]


def _folded(line: str) -> str:
    """Return *line* folded into short enough pieces."""
    if len(line) <= _WIDTH or line.lstrip().startswith("!"):
        return line
    at = line.rfind(", ", 0, _WIDTH)
    return f"{line[: at + 1]} &\n{_folded('      ' + line[at + 2 :])}"
