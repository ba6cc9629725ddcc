"""The action canary, which no client can schedule."""

from delayer.targets.canary import LATENESS, CanaryTarget
from delayer.wiring.environment import Environment
from delayer.wiring.executor import handler_of

ports = Environment("executor-canary", metrics=frozenset(LATENESS.values()))
handler = handler_of(ports, CanaryTarget(now=ports.clock.now, measure=ports.observer.measure_lateness))
