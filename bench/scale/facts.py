"""What AWS publishes of its limits and prices, each with its page, and what is assumed because AWS does not say it."""

from typing import Final

from attrs import frozen

LAMBDA: Final = "https://docs.aws.amazon.com/lambda/latest/dg"
DYNAMODB: Final = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide"
SQS_SCALING: Final = f"{LAMBDA}/services-sqs-scaling.html"
WARM: Final = f"{DYNAMODB}/warm-throughput-scenarios.html"
LAMBDA_PRICES: Final = "https://aws.amazon.com/lambda/pricing/"
ON_DEMAND: Final = "https://aws.amazon.com/dynamodb/pricing/on-demand/"


@frozen
class Fact:
    """A figure, what it is, and the page that says so; an assumption has its reason in place of the page."""

    value: float
    what: str
    source: str


POLLERS_AT_FIRST = Fact(5, "batches at a time with which an SQS mapping starts", SQS_SCALING)
POLLERS_MORE = Fact(300 / 60, "batches at a time that it adds each second (300 a minute)", SQS_SCALING)
POLLERS_AT_MOST = Fact(1_250, "batches at a time of an SQS mapping at most, without a limit of its own", SQS_SCALING)
POLLERS_IDLE = Fact(2, "pollers of an idle queue without MaximumConcurrency; with it there are five", SQS_SCALING)
PROVISIONED_INVOKES = Fact(10, "batches at a time of one provisioned poller", SQS_SCALING)
PROVISIONED_POLLS = Fact(10, "receives a second of one provisioned poller", SQS_SCALING)
PROVISIONED_MORE = Fact(1_000 / 60, "batches at a time that provisioned pollers add each second", SQS_SCALING)
QUEUE_BATCH = Fact(
    10,
    "messages in one request to SQS",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html",
)
IN_FLIGHT = Fact(
    120_000,
    "messages in flight of a standard queue",
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html",
)
CONCURRENCY = Fact(
    1_000, "functions that an account runs at a time, by default", f"{LAMBDA}/gettingstarted-limits.html"
)
ENVIRONMENTS_AT_ONCE = Fact(1_000, "environments that a function gets at once", f"{LAMBDA}/scaling-behavior.html")
ENVIRONMENTS_MORE = Fact(
    100, "environments that a function gets each second (1,000 in ten)", f"{LAMBDA}/scaling-behavior.html"
)
FULL_PROCESSOR = Fact(1_769, "MB with which a function has one processor", f"{LAMBDA}/configuration-memory.html")
PARTITION_WRITES = Fact(1_000, "write units a second of a partition", WARM)
PARTITION_READS = Fact(3_000, "read units a second of a partition", WARM)
WARM_WRITES = Fact(4_000, "write units a second of a new on-demand table", WARM)
TABLE_WRITES = Fact(40_000, "write units a second of a table, by default", f"{DYNAMODB}/ServiceQuotas.html")
LANES = Fact(10, "ParallelizationFactor at most: batches of a shard at a time", f"{LAMBDA}/services-ddb-params.html")
STREAM_POLLS = Fact(4, "times a second that Lambda looks into a shard", f"{LAMBDA}/with-ddb.html")
API_RATE = Fact(
    10_000,
    "requests a second of an account's APIs, by default",
    "https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html",
)

PRICE_WRITE = Fact(0.625, "dollars for a million write units", ON_DEMAND)
PRICE_READ = Fact(0.125, "dollars for a million read units", ON_DEMAND)
PRICE_SQS = Fact(0.40, "dollars for a million requests to SQS", "https://aws.amazon.com/sqs/pricing/")
PRICE_INVOCATION = Fact(0.20, "dollars for a million invocations", LAMBDA_PRICES)
PRICE_GB_SECOND = Fact(13.33, "dollars for a million GB-seconds on arm64", LAMBDA_PRICES)
PRICE_API = Fact(1.00, "dollars for a million requests to an HTTP API", "https://aws.amazon.com/api-gateway/pricing/")
PRICE_POLLER = Fact(0.00925, "dollars for a provisioned poller of SQS and hour", LAMBDA_PRICES)
PRICE_WARM_WRITE = Fact(
    0.00065, "dollars for a provisioned write unit and hour", "https://aws.amazon.com/dynamodb/pricing/provisioned/"
)

DYNAMODB_ANSWERS = Fact(0.006, "seconds until DynamoDB has answered", "assumed: AWS says “single-digit milliseconds”")
SQS_ANSWERS = Fact(0.012, "seconds until SQS has answered", "assumed: AWS says “tens of milliseconds” at most")
HANDED_OVER = Fact(
    0.015, "seconds from a message that can be received to its function", "assumed: long polling answers at once"
)
TARGET_ANSWERS = Fact(0.1, "seconds until the target has answered", "assumed; yours differs most: `--set target=0.3`")
TLS = Fact(
    0.007,
    "seconds of a processor for a new TLS connection, with the call that needs it",
    "measured: 6.8 ms, against a server on the same machine",
)
COLD = Fact(
    0.4,
    "seconds until a new environment begins to import",
    "assumed: AWS says “under 100 ms to over 1 second” with the import",
)
COLD_HERE = Fact(
    0.05,
    "seconds of a processor for a new process on one machine",
    "measured: a stack's 47 functions are started in 1.2 s of two processors",
)
CORE = Fact(1.0, "how fast a processor of Lambda is, with that of the measurement as 1", "assumed; `--set core=0.8`")
JITTER = Fact(
    0.35,
    "spread of the answers of AWS: sigma of a lognormal factor",
    "assumed: the 99th percentile is 2.3 times the median",
)


def facts() -> dict[str, Fact]:
    """All of them, by name."""
    return {name: value for name, value in globals().items() if isinstance(value, Fact)}
