"""Well-formed schedules of any content, for property tests."""

import json
from typing import Any

from hypothesis import strategies as st

from delayer.schedule.schedule import Definition, Schedule
from delayer.schedule.schedule_id import LAST_INSTANT, MAX_OVERDUE, MAX_SHARD, RANDOM_BYTES
from tests.samples import an_id

texts = st.text(st.characters(codec="utf-8"))
some_texts = st.text(st.characters(codec="utf-8"), min_size=1)
instants = st.integers(0, LAST_INSTANT)
shards = st.integers(0, MAX_SHARD)
randomness = st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=6,
)
separators = st.sampled_from([(",", ":"), (" ,\t", " : "), (",\n", ":\r\n  ")])
json_texts = st.builds(  # as many clients would serialise them
    lambda value, between, ascii_only: json.dumps(value, separators=between, ensure_ascii=ascii_only),
    json_values,
    separators,
    st.booleans(),
)
definitions = st.builds(
    Definition,
    action=json_values.map(lambda value: json.dumps({"type": "http-request", "more": value}, ensure_ascii=False)),
    payload=st.just("") | json_texts,
    group=st.text(st.characters(codec="utf-8"), max_size=128),
    on_late=st.just("") | json_texts,
    tags=st.just("") | json_texts,
)


def ids(owner: st.SearchStrategy[str] = some_texts) -> st.SearchStrategy[str]:
    """Ids of any address, of schedules that were overdue as well."""
    overdue = st.just(0) | st.integers(0, MAX_OVERDUE)
    return st.builds(
        lambda due, by, shard, whose, random: an_id(due, shard, whose, random, max(due - by, 0)),
        instants,
        overdue,
        shards,
        owner,
        randomness,
    )


schedules = st.builds(
    Schedule,
    id=ids(),
    owner=some_texts,
    point_in_time=instants,
    created_at=instants,
    definition=definitions,
)
