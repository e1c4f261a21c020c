"""Addresses and settings of places, and what is missing for them."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from scalegraph.base.errors import InputError, MissingTool
from scalegraph.link.cluster import dask_clusters
from scalegraph.link.cluster.places import PLACES, check_installed, parse


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_every_example_is_an_address(place: Any) -> None:
    assert parse(place.example).address == place.example


@pytest.mark.parametrize(
    ("address", "settings", "sentence"),
    [
        ("slurn:", (), "'slurn:' is no place for runs; did you mean 'slurm'?"),
        ("host", (), "expected one like tcp://scheduler:8786"),
        ("tcp://host", (), "no address of a dask scheduler that runs already; expected tcp://scheduler:8786"),
        ("local:0", (), "expected local:4"),
        ("local:many", (), "expected local:4"),
        ("slurm:x", (), "expected slurm:"),
        ("slurm:", ("partitoin=a",), "'slurm:' has no setting 'partitoin'; did you mean 'partition'?"),
        ("slurm:", ("partition",), "expected partition=VALUE"),
        ("slurm:", ("partition=a\nb",), "expected partition=VALUE"),
        ("slurm:", ("workers=-1",), "expected workers=NUMBER"),
        ("tcp://h:1", ("workers=1",), "it has none"),
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


@pytest.mark.parametrize("kind", ["slurm", "pbs", "lsf", "sge"])
def test_every_batch_system_takes_its_settings(kind: str) -> None:
    """The script that dask-jobqueue would submit names the worker and the settings."""
    import dask_jobqueue

    where = parse(f"{kind}:", ("workers=2", "cores=3", "partition=night", "account=me", "prologue=module load gcc"))
    job = getattr(dask_jobqueue, dask_clusters._BATCH_CLASSES[kind]).job_cls
    options = {k: v for k, v in dask_clusters.batch_options(where).items() if k != "scheduler_options"}
    script = job(scheduler="tcp://host:1", name="w", **options).job_script()
    for text in ("night", "me", "module load gcc", "dask_worker tcp://host:1", "--nthreads 3"):
        assert text in script
