"""Plays stories, from seeds."""

from attrs import frozen

from tests.machine.promise import Broken
from tests.machine.weather import Weather, weather_of
from tests.machine.world import World
from tests.simulation.engine.chance import Chance


@frozen(kw_only=True)
class Played:
    """A story that was played."""

    seed: int
    broken: Broken | None
    world: World

    @property
    def transcript(self) -> str:
        """All that happened."""
        return "\n".join([f"seed {self.seed}: {self.world.weather}", *self.world.watch.log])


def play(seed: int, weather: Weather | None = None) -> Played:
    """One story, always the same."""
    chance = Chance(seed)
    world = World(chance=chance, weather=weather or weather_of(seed, chance))
    world.play()
    return Played(seed=seed, broken=world.watch.broken, world=world)
