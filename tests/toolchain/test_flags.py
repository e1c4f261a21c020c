"""The user's flags: passed on, dropped, moved or refused with a reason."""

import pytest

from scalegraph.base.errors import InputError
from scalegraph.toolchain.flags import Flags, read_flags


def test_flags_go_where_they_belong_in_order() -> None:
    flags = read_flags("-O3 -lfoo -D X=1 -Wl,-z,now -march=native", "-L lib -lbar", ["inc"])
    assert flags == Flags(
        compile=("-O3", "-D", "X=1", "-march=native"),
        link=("-lfoo", "-Wl,-z,now", "-L", "lib", "-lbar"),
        include=("inc",),
    )


def test_flags_that_are_always_there_are_dropped() -> None:
    assert read_flags("-fopenmp -pipe", ["-fopenmp", "-lgomp"], []) == Flags()


@pytest.mark.parametrize(
    "flag",
    ["-c", "-shared", "-static", "-fsanitize=address", "-o", "-oprog", "-flto=auto", "-m32", "-fPIE", "-pg", "other.c"],
)
def test_flags_that_cannot_work_are_refused_with_a_reason(flag: str) -> None:
    with pytest.raises(InputError, match=f"cflags: {flag} cannot be used: "):
        read_flags([flag], "", [])


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_flags("-c -shared", "'", [])
    assert [fault.key for fault in caught.value.faults] == ["cflags", "cflags", "ldflags"]


def test_option_without_its_argument_is_told() -> None:
    with pytest.raises(InputError, match="-include lacks its argument"):
        read_flags("-include", "", [])
