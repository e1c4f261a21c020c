"""Tables in other forms than lines of cells: one quantity per row, one run per line, JSON records, LaTeX."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.measurements.mapping import Unanswered
from scalegraph.request.imports.sets import reader_of, understood
from tests.measurements.test_outputs import times

RUNS = [(1, 10.0), (2, 5.2), (4, 2.9)]
TEX = r"""\begin{table}
\caption{Runs of \texttt{heat}}
\begin{tabular}{l*{2}{r}} % a comment
\toprule
 & \multicolumn{2}{c}{measured} \\
\textbf{procs} & time [s] & speedup \\ \midrule
1 & 10.0 & $1.00\times$ \\
2 & 5.2 & $1.92\times$ \\
4 & 2.9 & $3.45\times$ \\ \bottomrule
\end{tabular}
\end{table}
"""
TEX_LINE = (
    r"\begin{tabular}{|c|S[table-format=2.1]|}\hline {Threads} & {Time (\si{\second})} \\ \hline "
    r"1 & 10.0 \\ 2 & 5.2 \\ 4 & 2.9 \\ \hline\end{tabular}"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "time [s]: 10 5.2 2.9\nprocs: 1 2 4\n"),
        ("b.csv", "time [s],10,5.2,2.9\nprocs,1,2,4\n"),
        ("c.csv", "threads;1;2;4\ntime [s];10;5.2;2.9\nspeedup;1;1.92;3.45\n"),
        ("d.txt", "procs=1 time=10.0s\nprocs=2 time=5.2s\nprocs=4 time=2.9s\n"),
        ("e.log", "start\nprocs: 1, time: 10.0 s\nprocs: 2, time: 5.2 s\nprocs: 4, time: 2.9 s\ndone\n"),
        ("f.json", '[{"procs":1,"time_s":10.0},{"procs":2,"time_s":5.2},{"procs":4,"time_s":2.9}]'),
        (
            "g.jsonl",
            '{"procs":1,"t":{"time_s":10.0}}\n{"procs":2,"t":{"time_s":5.2}}\n{"procs":4,"t":{"time_s":2.9}}\n',
        ),
        ("h.json", '{"host":"a","runs":[{"procs":1,"time_s":10},{"procs":2,"time_s":5.2},{"procs":4,"time_s":2.9}]}'),
        ("i.json", '{"procs":[1,2,4],"time_s":[10,5.2,2.9]}'),
        ("j.tex", TEX),
        ("k.txt", TEX),
        ("l.tex", TEX_LINE),
    ],
)
def test_a_table_in_another_form_is_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert times(understood([path])) == RUNS


def test_lists_in_records_are_repetitions(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('[{"procs":1,"times_ms":[400,410]},{"procs":2,"times_ms":[210,null]}]')
    assert sorted(times(understood([path]))) == [(1, 0.4), (1, pytest.approx(0.41)), (2, 0.21)]


def test_a_run_a_line_without_a_unit_asks_for_the_unit_alone(tmp_path: Path) -> None:
    path = tmp_path / "kv.txt"
    path.write_text("procs: 1 time: 10\nprocs: 2 time: 5.2\n")
    with pytest.raises(Unanswered) as error:
        understood([path])
    assert [one.key for one in error.value.questions] == ["unit"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b'{"a": 1}', "is JSON of no known tool; as a table it is read with a list of records"),
        ("a.json", b'[{"ph": "X", "ts": 1}, {"ph": "X", "ts": 2}]', "is a trace"),
        ("a.parquet", b"PAR1\x15\x04", 'pandas.read_parquet("'),
        ("a.npy", b"\x93NUMPY\x01\x00", "numpy.load("),
        ("a.html", b"<html><table><tr><td>1", "pandas.read_html("),
        ("a.yml", b"- procs: 1\n  time_s: 10\n", "yaml.safe_load("),
        ("a.pdf", b"%PDF-1.7\n", "pdftotext -layout "),
    ],
)
def test_what_is_no_text_of_a_table_is_refused_with_the_command_that_converts_it(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        reader_of(path)
    assert words in str(error.value)
    assert "FILE" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "n,1,2,4\ntime,8,4.1,2.2\n",  # columns for processors
        "gcc,10,5,3\nicc,9,5,2\n",
        "# p: 1 2 4\np t\n1 10\n2 5\n4 3\n",
    ],
)
def test_other_tables_are_not_turned(text: str) -> None:
    from scalegraph.measurements.table import turned

    assert turned.as_table(text.splitlines()) is None
