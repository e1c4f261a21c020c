"""The assembler behind the compilers of simulated programs: hooks become part of the program's code.

gcc calls it as ``as`` (option ``-B``); it changes the compiler's output and calls the real assembler. The call of a
hook stays in place; code inserted before it handles the common case and jumps over the call. So the return address,
which identifies the place, stays the same, and readers of the machine code can skip the inserted code. After a call
only callee-saved registers are live, so nothing has to be saved.

References are not counted one by one. A *segment* is code between two labels, jumps or calls of the program's own: it
is executed as a whole. The hook of its block, or code of its own if it has none, counts it in a *slot*, and a table
(section ``.debug_scalegraph``, not loaded) lists the references of each segment. ``csrc/core/sg_inline.c`` reads it.

This file runs as a script, without the package: ``python -I -S assembler.py ASSEMBLER OPTION.. FILE``.
"""

from __future__ import annotations

import os
import re
import sys

TABLE = ".debug_scalegraph"
SLOTS = "scalegraph_slots"
LATE = "_late"
BLOCK, READ, WRITE, SEGMENT, LEFT_OUT = 1, 2, 3, 4, 5
# Offsets in sg_processor, see csrc/core/sg_inline.c.
_CLOCK, _LIMIT, _EXECUTED, _SLOT_PARTS, _FAST = 0, 8, 24, 32, 40
_MOST = 30000  # references of a segment

_PROBE = "__sanitizer_cov_trace_pc"
_CALL = re.compile(r"\tcall\t(__(?:sanitizer_cov_trace_pc|tsan_\w+))(?:@PLT)?\s*(?:#.*)?$")
_REFERENCE = re.compile(r"__tsan_(?:volatile_)?(read|write)[1248]$")
_UNCOUNTED = ("__tsan_func_entry", "__tsan_func_exit")
_LABEL = re.compile(r"\s*([.\w$]+):")
# Labels of debug information, exceptions and sections, which are never jump targets.
_NO_TARGET = re.compile(r"\.L(?:VL|BB|BE|BI|FB|FE|EHB|EHE|CFI|LSDA|text|cold|etext|VUS?|HOT|COLD|FSB|COLDB|HOTB)\w*$")
_ENDS = re.compile(r"\t(?:j|loop|call|ret|rep[\s;]+ret|notrack|bnd|syscall|int|ud2|hlt|iret|xbegin)", re.IGNORECASE)
_SECTION = re.compile(r"\t\.section\t(\S+?)(?:,\"([^\"]*)\"(.*))?$")
_OTHER_SYNTAX = re.compile(r"\t\.(?:intel_syntax|code32|code16)\b")

_BLOCK_CODE = """\
\tmovq\tsg_now(%rip), %rcx
\tmovq\t{executed}(%rcx), %rax
\tmovq\t{parts}(%rcx), %rdx
\tincq\t{slot}(%rax)
\tmovq\t{slot}(%rdx), %rdx
\taddq\t(%rcx), %rdx
\tmovq\t%rdx, (%rcx)
\tcmpq\t{limit}(%rcx), %rdx
\tjbe\t{end}
"""
_SEGMENT_CODE = """\
\tmovq\tsg_now(%rip), %rdx
\tmovq\t{executed}(%rdx), %rdx
\tincq\t{slot}(%rdx)
"""
# The constants of the shift and the mask depend on the machine: they are patched when the program starts.
_REFERENCE_CODE = """\
\tmovq\tsg_now(%rip), %rdx
\tmovq\t{fast}(%rdx), %rdx
\tmovq\t%rdi, %rax
\t.byte\t0x48, 0xc1, 0xe8
{shift}:
\t.byte\t6
\tmovl\t%eax, %ecx
\t.byte\t0x81, 0xe1
{mask}:
\t.long\t0
\tmovq\t(%rdx,%rcx,8), %rdx
\txorq\t%rax, %rdx
"""
_IS_READ = "\tshlq\t$2, %rdx\n\tje\t{end}\n"
_IS_WRITTEN = "\trolq\t$2, %rdx\n\tcmpq\t$3, %rdx\n\tje\t{end}\n"


class _Group:
    """Data written after the code, for each group of sections that the linker keeps or drops together."""

    def __init__(self) -> None:
        self.slots: list[str] = []
        self.table: list[str] = []


class _Rewriting:
    """One assembler file."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.groups: dict[str, _Group] = {}
        self.sections = [""]  # stack; by the group of each
        self.before = ""
        self.number = 0
        self.slot = ""  # of the current segment; "": none
        self.references = 0
        self.inside_asm = False

    def line(self, text: str) -> None:
        """Process one line of the compiler's output."""
        call = _CALL.match(text)
        if call and not self.inside_asm:
            self._hook(call[1], text)
            return
        self.out.append(text)
        if text.startswith("#"):
            self._asm(text)
        elif text.startswith("\t."):
            self._directive(text)
        elif self.inside_asm or _ENDS.match(text) or ((label := _LABEL.match(text)) and not _NO_TARGET.match(label[1])):
            self.slot = ""

    def _asm(self, text: str) -> None:
        if text.startswith("#APP"):
            self.inside_asm = True
        elif text.startswith("#NO_APP"):
            self.inside_asm = False
            self.slot = ""

    def _directive(self, text: str) -> None:
        """Track section directives."""
        word = text.split(None, 1)[0]
        if word in (".section", ".pushsection"):
            found = _SECTION.match(text.replace(".pushsection", ".section"))
            group = ""
            if found and "G" in (found[2] or ""):
                group = found[3].split(",")[2]
            self._enter(group, push=word == ".pushsection")
        elif word in (".text", ".data", ".bss"):
            self._enter("")
        elif word == ".popsection" and len(self.sections) > 1:
            self.sections.pop()
            self.slot = ""
        elif word == ".previous":
            self._enter(self.before)
        elif word == ".cfi_startproc":
            self.slot = ""

    def _enter(self, group: str, *, push: bool = False) -> None:
        self.slot = ""
        self.before = self.sections[-1]
        if push:
            self.sections.append(group)
        else:
            self.sections[-1] = group

    def _group(self) -> _Group:
        return self.groups.setdefault(self.sections[-1], _Group())

    def _hook(self, name: str, text: str) -> None:
        reference = _REFERENCE.match(name)
        if name == _PROBE:
            self._block()
        elif reference:
            self._reference(name, READ if reference[1] == "read" else WRITE)
        elif name in _UNCOUNTED:
            self._left_out(name)
        else:
            self.out.append(text)
            self.slot = ""

    def _fresh_slot(self) -> None:
        self.slot = f".Lsg_slot{self.number}"
        self.references = 0
        self._group().slots.append(f"{self.slot}:\n\t.quad\t0")

    def _record(self, kind: int, start: str, end: str, patched: str = "0, 0") -> None:
        self._group().table.append(
            f"\t.quad\t{start}\n\t.long\t{end}-{start}, {self.slot or 0}, {kind}\n\t.short\t{patched}"
        )

    def _labels(self) -> tuple[str, str]:
        self.number += 1
        return f".Lsg_from{self.number}", f".Lsg_to{self.number}"

    def _block(self) -> None:
        start, end = self._labels()
        self._fresh_slot()
        code = _BLOCK_CODE.format(executed=_EXECUTED, parts=_SLOT_PARTS, limit=_LIMIT, slot=self.slot, end=end)
        self.out.append(f"{start}:\n{code}\tcall\t{_PROBE}{LATE}\n{end}:")
        self._record(BLOCK, start, end)

    def _reference(self, name: str, kind: int) -> None:
        if not self.slot or self.references == _MOST:
            start, end = self._labels()
            self._fresh_slot()
            self.out.append(f"{start}:\n{_SEGMENT_CODE.format(executed=_EXECUTED, slot=self.slot)}{end}:")
            self._record(SEGMENT, start, end)
        start, end = self._labels()
        shift, mask = f".Lsg_shift{self.number}", f".Lsg_mask{self.number}"
        code = (_REFERENCE_CODE + (_IS_READ if kind == READ else _IS_WRITTEN)).format(
            fast=_FAST, shift=shift, mask=mask, end=end
        )
        self.out.append(f"{start}:\n{code}\tcall\t{name}{LATE}\n{end}:")
        self._record(kind, start, end, f"{shift}-{start}, {mask}-{start}")
        self.references += 1

    def _left_out(self, name: str) -> None:
        """Replace a hook that does nothing by a five-byte no-op, which readers of the code recognise."""
        start, end = self._labels()
        slot, self.slot = self.slot, ""
        self.out.append(f"{start}:\n\t.byte\t0x0f, 0x1f, 0x44, 0, 0\n{end}:")
        self._record(LEFT_OUT, start, end, f"{_UNCOUNTED.index(name)}, 0")
        self.slot = slot

    def text(self) -> str:
        """Return the rewritten file."""
        for group, made in self.groups.items():
            name, flags = (f",{group},comdat", "G") if group else ("", "")
            if made.slots:
                self.out.append(f'\t.section\t{SLOTS},"aw{flags}",@progbits{name}\n\t.balign 8')
                self.out += made.slots
            self.out.append(f'\t.section\t{TABLE},"{flags}",@progbits{name}\n\t.balign 8')
            self.out += made.table
        return "\n".join(self.out)


def rewritten(text: str) -> str:
    """Return the compiler's output *text* with its hooks inlined; unchanged if it is not in AT&T syntax."""
    if _OTHER_SYNTAX.search(text) or SLOTS in text or _PROBE not in text:
        return text
    rewriting = _Rewriting()
    for line in text.split("\n"):
        rewriting.line(line)
    return rewriting.text()


def main(words: list[str]) -> int:
    """Run as an assembler with the options *words*, the first of which is the real assembler; return its exit code.

    A file that it rejects with inlined hooks is assembled unchanged.
    """
    inputs = [at for at, word in enumerate(words) if at and words[at - 1] != "-o" and _is_input(word)]
    if not inputs and "-o" in words:  # with -pipe
        words = [*words, "-"]
        inputs = [len(words) - 1]
    if len(inputs) != 1:
        return _assemble(words)
    (at,) = inputs
    given = _given(words[at])
    made = rewritten(given)
    if made != given and _assemble([*words[:at], "-", *words[at + 1 :]], made, silent=True) == 0:
        return 0
    return _assemble(words, given if words[at] == "-" else None)


def _assemble(words: list[str], text: str | None = None, *, silent: bool = False) -> int:
    """Run the assembler with *text* as its standard input, if given; return its exit code.

    The modules that do this more generally take longer to import than most files to assemble.
    """
    handle = os.memfd_create("source") if text is not None else 0
    if text is not None:
        with open(handle, "wb", closefd=False) as file:
            file.write(text.encode("latin-1"))
        os.lseek(handle, 0, os.SEEK_SET)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(handle, 0)
            if silent:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.execvp(words[0], words)
        finally:
            os._exit(127)
    if text is not None:
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _is_input(word: str) -> bool:
    return word == "-" or (word.endswith((".s", ".S")) and not word.startswith("-"))


def _given(name: str) -> str:
    if name == "-":
        return sys.stdin.buffer.read().decode("latin-1")
    with open(name, "rb") as file:  # noqa: PTH123
        return file.read().decode("latin-1")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
