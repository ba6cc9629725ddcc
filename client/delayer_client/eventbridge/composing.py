"""The request that a mapping ends with: its name, its tags, its retries, and the body."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from delayer_client.eventbridge.mapping.outcome import Aimed, CannotMove, Kind, Note, Options, Request, Source
from delayer_client.eventbridge.mapping.payloads import LARGEST, check_size
from delayer_client.eventbridge.reading.sources import DEFAULT, RuleTarget, Target

TAG: Final = "eventbridge"  # of what was moved; its value says where from
LONGEST: Final = 128  # characters of a name
MOST_ATTEMPTS: Final = 100
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}", re.ASCII)


def name_of(source: Source, prefix: str = "") -> str:
    """In Delayer: `nightly`, `group:nightly`, `rule:nightly:target`, `rule:bus:nightly:target`. The same each time."""
    parts = [source.name] if source.within == DEFAULT else [source.within, source.name]
    if source.service == "rule":
        parts = ["rule", *parts, source.target_id]
    whole = prefix + ":".join(parts)
    if _NAME.fullmatch(whole):
        return whole
    digest = hashlib.sha256(whole.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return re.sub(r"[^A-Za-z0-9._:@-]", "-", whole)[: LONGEST - len(digest) - 1] + ":" + digest


class Draft(Struct, frozen=True, kw_only=True):
    """The part that is known before the rest of a target is looked at."""

    source: Source
    kind: Kind
    fields: Mapping[str, Any]  # of the body: those that say when, and the group
    aim: Aimed
    notes: tuple[Note, ...]


def request_of(draft: Draft, target: Target | RuleTarget, description: str, options: Options) -> Request:
    """Raises CannotMove if it is too large."""
    aim, tag = draft.aim, tag_of(draft.source)
    check_size(str(aim.action["type"]), aim.payload)
    policy = target.retry_policy
    document = {
        **draft.fields,
        "action": aim.action,
        "retry": {
            "maxAttempts": min(policy.maximum_retry_attempts + 1, MOST_ATTEMPTS),
            "maxAgeSeconds": policy.maximum_event_age_in_seconds,
        },
        "tags": {TAG: tag, **({"description": description[:256]} if description else {})},
        "payload": msgspec.Raw(aim.payload.encode()),
    }
    body = msgspec.json.encode(document)
    if len(body) > LARGEST:
        raise CannotMove("Target.Input", f"the request would have {len(body):,} bytes; Delayer takes {LARGEST:,}")
    name = name_of(draft.source, options.prefix)
    notes = (*draft.notes, *_notes(target))
    return Request(source=draft.source, kind=draft.kind, name=name, body=body, tag=tag, now=options.now, notes=notes)


def _notes(target: Target | RuleTarget) -> Iterator[Note]:
    attempts = target.retry_policy.maximum_retry_attempts + 1
    if attempts > MOST_ATTEMPTS:
        text = f"{MOST_ATTEMPTS} attempts instead of {attempts}, which is what Delayer makes at most"
        yield Note("Target.RetryPolicy.MaximumRetryAttempts", text)
    if queue := target.dead_letter_config.arn:
        text = f"{queue} gets nothing more: what fails is kept by Delayer itself, and can be redriven"
        yield Note("Target.DeadLetterConfig", text)


def tag_of(source: Source) -> str:
    """The value of the tag, by which an import knows its own again."""
    whole = (source.arn or source.title) + (f"#{source.target_id}" if source.target_id and source.arn else "")
    return whole if len(whole) <= 256 else hashlib.sha256(whole.encode()).hexdigest()
