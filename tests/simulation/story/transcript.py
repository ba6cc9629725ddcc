"""A story for people, step by step."""

from delayer.schedule.instants import format_instant
from tests.simulation.engine.chance import Chance
from tests.simulation.story.plan import weather_of
from tests.simulation.story.story import Played


def transcript(played: Played, again: str = "") -> str:
    """All that happened in it, one line each; what broke stands last. `again`: what else to give to play it."""
    story = played.story
    weather = weather_of(Chance(story.seed, story.surprises))
    lines = [
        f"seed {story.seed}: {len(story.acts or ())} acts of people, {len(story.surprises or ())} surprises",
        f"weather: {weather}",
        *(f"  surprise: {label}, number {number}" for label, number in sorted(story.surprises or ())),
        "",
    ]
    for at, who, what in played.log:
        lines.append(f"{format_instant(at)[11:-1]}  {who:26} {what}".rstrip())
    lines += ["", str(played.broken or "no invariant was broken"), f"Again: make simulate SEED={story.seed}{again}"]
    return "\n".join(lines)
