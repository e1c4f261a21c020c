"""Every public name of a package can be imported, including names loaded on first use."""

import importlib
import pkgutil

import pytest

import scalegraph

PACKAGES = ["scalegraph", *(m.name for m in pkgutil.walk_packages(scalegraph.__path__, "scalegraph.") if m.ispkg)]
PUBLIC = [(package, name) for package in PACKAGES for name in getattr(importlib.import_module(package), "__all__", ())]


def test_many_packages_declare_public_names() -> None:
    assert len(PACKAGES) > 30
    assert len({package for package, _ in PUBLIC}) > 5
    assert ("scalegraph.views", "View") in PUBLIC


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_a_public_name_can_be_got(package: str, name: str) -> None:
    assert getattr(importlib.import_module(package), name) is not None
