"""Text from files reaches the terminal only through one function, which makes control characters visible."""

import re
from pathlib import Path


def test_only_one_place_prints(root: Path) -> None:
    printing = re.compile(r"\bclick\.(echo|secho|style)\(|(?<![\w.])print\(|sys\.std(out|err)\.write|\bConsole\(")
    allowed = {"output.py", "bars.py"}  # bars: drawn by rich; their texts go through rich's `escape`
    found = []
    for path in sorted((root / "scalegraph" / "cli").rglob("*.py")):
        if path.name in allowed:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if printing.search(line) and "print(PySide6" not in line and "print(a.platformName" not in line:
                found += [f"{path.name}:{number}: {line.strip()}"] if "__version__" not in line else []
    assert found == [], "use scalegraph.cli.output.echo"
