"""PartiQL: a statement is taken apart once, not once for its check and once for its execution, each time anew."""

import functools
import threading
from typing import Any, Final

KEPT: Final = 512  # texts; a client sends the same ones again and again, with other parameters


def parse_once(dynamodb: Any, grammar: Any) -> None:
    """Keep the tokens of texts, and let a batch execute what it has parsed for its check."""
    grammar._tokenize = functools.lru_cache(maxsize=KEPT)(grammar._tokenize)  # the parser only reads them
    parse = dynamodb._parse_partiql
    last = threading.local()  # what this thread has parsed but not executed

    @functools.wraps(parse)
    def parsed(statement: str, parameters: Any) -> Any:
        kept, last.parsed = getattr(last, "parsed", None), None
        if kept and kept[0] is statement and kept[1] is parameters:
            return kept[2]
        result = parse(statement, parameters)
        last.parsed = (statement, parameters, result)
        return result

    dynamodb._parse_partiql = parsed
