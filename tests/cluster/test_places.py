"""Addresses and settings of the places where runs can execute, and what is missing for them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError, MissingTool
from scalegraph.link.cluster import dask_clusters
from scalegraph.link.cluster.places import PLACES, check_installed, parse


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_every_example_is_an_address(place: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    files = [f"{item.name}={tmp_path / 'file'}" for item in place.settings if place.name == "tls"]
    assert parse(place.example, files).address == place.example


@pytest.mark.parametrize(
    ("address", "settings", "sentence"),
    [
        ("slurn:", (), "'slurn:' is not a place for runs; did you mean 'slurm'?"),
        ("host", (), "expected one like tcp://scheduler:8786"),
        ("tcp://host", (), "not an address of a running dask scheduler; expected tcp://scheduler:8786"),
        ("local:0", (), "expected local:4"),
        ("local:many", (), "expected local:4"),
        ("slurm:x", (), "expected slurm:"),
        ("slurm:", ("partitoin=a",), "'slurm:' has no setting 'partitoin'; did you mean 'partition'?"),
        ("slurm:", ("partition",), "expected partition=VALUE"),
        ("slurm:", ("partition=a\nb",), "expected partition=VALUE"),
        ("slurm:", ("workers=-1",), "expected workers=NUMBER"),
        ("tcp://h:1", ("workers=1",), "it has none"),
        ("tcp://h:99999", (), "there is no port 99999; expected 1 to 65535"),
        ("tcp://h:0", (), "there is no port 0; expected 1 to 65535"),
        ("ssh:a,b:99999", (), "there is no port 99999"),
        ("tls://h:1", (), "expected --set tls-ca=FILE --set tls-cert=FILE --set tls-key=FILE"),
        ("tls://h:1", ("tls-ca=/dev/null", "tls-key=/dev/null"), "expected --set tls-cert=FILE"),
    ],
)
def test_a_wrong_address_or_setting_is_one_sentence(address: str, settings: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError) as found:
        parse(address, settings)
    assert sentence in str(found.value)
    assert len(found.value.faults) == 1


def test_without_dask_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "dask_jobqueue" else object())
    check_installed(parse("local:2"))
    with pytest.raises(MissingTool) as found:
        check_installed(parse("pbs:"))
    assert str(found.value) == "runs on 'pbs:' need dask-jobqueue; install with: pip install 'scalegraph[cluster]'"


def test_settings_are_the_batch_systems_own_options() -> None:
    given = (
        "workers=4",
        "cores=8",
        "memory=16 GiB",
        "partition=p",
        "account=a",
        "walltime=02:00:00",
        "directives=-x, -y z",
    )
    options = dask_clusters.batch_options(parse("slurm:", given))
    assert (options["cores"], options["memory"], options["queue"], options["account"]) == (8, "16 GiB", "p", "a")
    assert options["job_extra_directives"] == ["-x", "-y z"]
    assert dask_clusters.batch_options(parse("lsf:", ("account=a",)))["project"] == "a"


_SCRIPTS = """
import dask_jobqueue
from scalegraph.link.cluster import dask_clusters
from scalegraph.link.cluster.places import parse
settings = ("workers=2", "cores=3", "partition=night", "account=me", "prologue=module load gcc")
for kind, name in dask_clusters._BATCH_CLASSES.items():
    options = dask_clusters.batch_options(parse(f"{kind}:", settings))
    del options["scheduler_options"]
    job = getattr(dask_jobqueue, name).job_cls(scheduler="tcp://host:1", name="w", **options)
    print(job.job_script(), end="\\0")
"""


@pytest.mark.slow
def test_every_batch_system_takes_its_settings() -> None:
    """The script that dask-jobqueue would submit names the worker and the settings."""
    # in a separate process: like ScaleGraph, the tests never load Dask into the window's process
    done = subprocess.run([sys.executable, "-c", _SCRIPTS], capture_output=True, text=True, check=True)
    scripts = done.stdout.split("\0")[:-1]
    assert len(scripts) == len(dask_clusters._BATCH_CLASSES)
    for script in scripts:
        for text in (
            "night",
            "me",
            "module load gcc",
            "scalegraph.link.cluster.batch_worker tcp://host:1",
            "--nthreads 3",
        ):
            assert text in script
