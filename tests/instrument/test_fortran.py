"""Region probes in Fortran, free and fixed form."""

from scalegraph.instrument import Instrumented, instrument_source

FREE = """\
module work_mod
  implicit none
  type :: cell
    real(8) :: x
  end type
  interface helper
    module procedure helper_i
  end interface
contains
  integer function helper_i(n)
    integer, intent(in) :: n
    integer :: i
    helper_i = 0
    if (n < 0) return
    do i = 1, n
      helper_i = helper_i + i
      if (helper_i > 1000000) return
    end do
  end function helper_i
  pure real(8) function sq(x)
    real(8), intent(in) :: x
    sq = x*x
  end function
end module
program main
  use work_mod
  implicit none
  integer :: i, j, k
  real(8) :: s, a(100,100)
  s = 0
  !$omp parallel do private(j) &
  !$omp& reduction(+:s)
  do i = 1, 100
    do j = 1, 100
      a(i,j) = i*j
      s = s + sq(a(i,j))
    end do
  end do
  !$omp end parallel do
  !$omp parallel private(k)
  !$omp do
  do k = 1, 100
    a(k,1) = a(k,2) + 1
  end do
  !$omp end do
  !$omp barrier
  !$omp single
  s = s + 1
  !$omp end single
  !$omp end parallel
  outer: do i = 1, 10
    if (i > 5) exit outer
    s = s + helper(i)
  end do outer
  do 10 i = 1, 3
    s = s + i
10 continue
  print *, s, sum(a)
  call inner(s)
contains
  subroutine inner(z)
    real(8), intent(inout) :: z
    integer :: q
    do q = 1, 4
      z = z / 2
    end do
    print *, z
  end subroutine
end program
"""
FIXED = """\
      program old
      implicit none
      integer i, n
      double precision a(100), s
      common /blk/ a
      n = 100
      s = 0.d0
c$omp parallel do
c$omp& reduction(+:s)
      do i = 1, n
         a(i) = dble(i)
         s = s +
     &       a(i)
      enddo
      do 20 i = 1, n
         a(i) = a(i) + 1
 20   continue
      call sub(s, n)
      write(*,*) s
      end
      subroutine sub(s, n)
      integer n, i
      double precision s
      if (n .lt. 0) return
      do i = 1, n
         s = s + 1.d0
      end do
      return
      end
"""


def found(made: Instrumented) -> list[tuple[str, int, int]]:
    return [(region.name, region.line, region.end_line) for region in made.regions[1:]]


def test_units_outermost_loops_and_constructs_of_free_form_are_regions() -> None:
    made = instrument_source(FREE, "p.f90")
    assert made.faults == []
    assert found(made) == [
        ("function helper_i", 10, 19),
        ("loop helper_i:15", 15, 18),
        ("function main", 25, 60),
        ("parallel do main:31", 31, 39),
        ("parallel main:40", 40, 50),
        ("do main:41", 41, 45),
        ("barrier main:46", 46, 46),
        ("single main:47", 47, 49),
        ("loop main:51", 51, 54),
        ("function inner", 61, 68),
        ("loop inner:64", 64, 66),
    ]
    parents = {region.name: made.regions[region.parent or 0].name for region in made.regions[1:]}
    assert parents["do main:41"] == "parallel main:40"
    assert parents["parallel main:40"] == "function main"


def test_fixed_form_is_read_by_its_columns() -> None:
    made = instrument_source(FIXED, "p.f")
    assert found(made) == [
        ("function old", 1, 20),
        ("parallel do old:8", 8, 14),
        ("function sub", 21, 29),
        ("loop sub:25", 25, 27),
    ]
    assert all(len(line) <= 72 for line in made.text.split("\n"))


def test_a_probe_keeps_the_numbers_of_the_lines() -> None:
    for text, name in ((FREE, "p.f90"), (FIXED, "p.f")):
        lines: dict[int, str] = {}
        number = 0
        for line in instrument_source(text, name).text.split("\n"):
            if line.startswith("# "):
                number = int(line.split()[1]) - 1
            elif "scalegraph_" not in line:
                lines[number + 1] = line
                number += 1
        assert [lines[at] for at in sorted(lines)] == text.split("\n")


def test_functions_alone_when_that_is_asked_for() -> None:
    made = instrument_source(FREE, "p.f90", detail="functions")
    assert {region.kind for region in made.regions} == {"program", "function"}


def test_units_whose_blocks_do_not_pair_up_are_left_alone() -> None:
    made = instrument_source("subroutine s(n)\ninteger n\nn = 1\nend do\nend subroutine\n", "p.f90")
    assert len(made.regions) == 1
    assert "do not pair up" in made.faults[0].message
    assert "scalegraph_" not in made.text


def test_pure_procedures_call_no_probes() -> None:
    text = (
        "pure integer function f(n)\ninteger, intent(in) :: n\ninteger :: i\nf = 0\ndo i = 1, n\nf = i\nend do\nend\n"
    )
    assert len(instrument_source(text, "p.f90").regions) == 1


def test_a_loop_stays_behind_its_directives() -> None:
    text = (
        "subroutine s(n)\ninteger n, i\n!$omp parallel default(none) &\n!$omp& shared(n)\n!$omp do\n"
        "do i = 1, n\nend do\n!$omp end do\n!$omp end parallel\n"
        "#if 0\n!$omp do\n#else\n!$omp simd\n#endif\ndo i = 1, n\nend do\nend\n"
    )
    made = instrument_source(text, "p.f90")
    assert found(made) == [("function s", 1, 17), ("parallel s:3", 3, 9), ("do s:5", 5, 8), ("do s:11", 11, 16)]
    assert "!$omp simd\n#endif\ndo i" in made.text
