"""What a sampled run says about its accuracy."""

from __future__ import annotations

from scalegraph.base.sampling import Sampled


def test_a_narrow_interval_is_said_and_a_wide_one_is_not_to_be_relied_on() -> None:
    narrow, wide = (Sampled(visits=100, skipped=80, intervals={"time_cycles": width}) for width in (50.0, 250.0))
    assert narrow.remark(1000).endswith("time ± 5.00 % (95 %)")
    assert wide.remark(1000).endswith("time ± 25.0 % (95 %), too wide to rely on: --exact simulates the whole run")
