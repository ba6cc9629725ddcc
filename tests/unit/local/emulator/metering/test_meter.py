"""The meter sums until it is reset."""

from local.emulator.metering.meter import Meter


def test_invocations_and_mappings_are_counted_until_the_reset() -> None:
    meter = Meter()
    meter.invoked("relay", failed=True, seconds=0.5)
    meter.mapping_called("relay", "ReceiveMessage")
    assert meter.reading() == {
        "invocations": {"relay": {"invocations": 1, "errors": 1, "seconds": 0.5}},
        "requests": {"relay": {"sqs.ReceiveMessage (event source mapping)": {"requests": 1, "billed": 1}}},
    }
    meter.reset()
    assert meter.reading() == {"invocations": {}, "requests": {}}
