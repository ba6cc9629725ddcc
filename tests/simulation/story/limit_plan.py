"""What an operator does about the rate of a target, and how many are due there at about the same time."""

from delayer.schedule.instants import MINUTE, SECOND, Millis
from tests.simulation.engine.chance import Chance
from tests.simulation.story.plan import OTHER, TARGET, Act, Do, Patience, Wishes
from tests.world import START

LIMITED = 0.15  # of the stories
AT_MOST = ("1/s", "5/s", "10/s", "30/m", "6/m", "1/m")
TARGETS = {TARGET: (1, 0), OTHER: (2, 0)}  # those among PARTIES whose limit counts what goes there


def limit_acts_of(chance: Chance) -> list[Act]:
    """None in most stories. Its draws have labels of their own: stories without a limit are as they were."""
    if chance.part("limit") >= LIMITED:
        return []
    host = chance.one_of("limit of", (TARGET, OTHER))
    since = START + chance.whole("limit since", 0, 10 * MINUTE)
    acts = _rush(chance, host, since)
    for number, party in enumerate(TARGETS[host][: chance.one_of("limits", (1, 1, 2))]):
        acts += _commands(chance, f"limit {number}", party, since)
    return acts


def _commands(chance: Chance, label: str, party: int, since: Millis) -> list[Act]:
    """It is set, mostly before the rush; perhaps changed, perhaps removed, perhaps set anew."""
    at = max(since + chance.whole(f"{label} set", -20 * SECOND, 20 * SECOND), START)
    acts = [Act(at, Do.LIMIT, party, rate=chance.one_of(f"{label} rate", AT_MOST))]
    if chance.part(f"{label} changed") < 0.4:
        at += chance.whole(f"{label} changed after", 0, chance.one_of(f"{label} how soon", (5 * SECOND, 3 * MINUTE)))
        acts.append(Act(at, Do.LIMIT, party, rate=chance.one_of(f"{label} other rate", AT_MOST)))
    if chance.part(f"{label} removed") < 0.4:
        at += chance.whole(f"{label} removed after", 0, chance.one_of(f"{label} for", (5 * SECOND, 10 * MINUTE)))
        acts.append(Act(at, Do.LIMIT, party))
        if chance.part(f"{label} set anew") < 0.5:
            at += chance.whole(f"{label} anew after", 0, MINUTE)
            acts.append(Act(at, Do.LIMIT, party, rate=chance.one_of(f"{label} rate anew", AT_MOST)))
    return acts


def _rush(chance: Chance, host: str, since: Millis) -> list[Act]:
    """More than may be attempted at once; some are cancelled, moved or stopped while they wait."""
    age = chance.one_of("rush age", (60, 600, 86_400, 86_400))
    patience = Patience(first=chance.one_of("rush first delay", (1, 20)), factor=1.5, longest=900, age=age)
    spread = chance.one_of("rush within", (0, SECOND, 10 * SECOND, MINUTE))
    acts = []
    for number in range(chance.whole("rush of", 4, 12)):
        label, subject = f"rush {number}", 200 + number
        due = since + chance.whole(f"{label} due", 0, spread)
        relaxed = chance.part(f"{label} relaxed") < 0.1
        posted = Act(due - 15 * SECOND, Do.POST, subject, due, 6, patience, Wishes(host=host, relaxed=relaxed))
        acts.append(posted)
        if chance.part(f"{label} act") < 0.3:
            at = max(due + chance.whole(f"{label} after", -SECOND, 2 * MINUTE), START)
            acts.append(Act(at, chance.one_of(f"{label} do", (Do.CANCEL, Do.PATCH, Do.STOP)), subject, at))
    return acts
