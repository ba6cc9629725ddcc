"""One factory for each use case. A use case is imported by its own factory, so that a function imports no more."""

from typing import TYPE_CHECKING

from delayer.wiring.connections import naming, still_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from delayer.core.actions.action_type import ActionType
    from delayer.core.actions.command import Command
    from delayer.core.history.received import Event
    from delayer.core.schedule.messages import ExecutorMessage
    from delayer.core.schedule.schedule import Schedule
    from delayer.core.timing.deciding import Chosen
    from delayer.ports.journal import Journal
    from delayer.ports.queue import GivesBack, ReceivedMessage
    from delayer.ports.target import Target
    from delayer.use_cases.actions.describe import Describe
    from delayer.use_cases.actions.list_actions import ListActions
    from delayer.use_cases.actions.register import Register
    from delayer.use_cases.api.accept import Accept, AcceptMany
    from delayer.use_cases.api.cancel import Cancel, Forgotten
    from delayer.use_cases.api.cancel_group import BeginCancelGroup, CancelGroup, GetJob
    from delayer.use_cases.api.issue import IdCheck, Ids
    from delayer.use_cases.api.list_schedules import ListSchedules
    from delayer.use_cases.api.lookup import Lookup
    from delayer.use_cases.api.quota import Quota
    from delayer.use_cases.api.replace import Replace
    from delayer.use_cases.api.stop import Stop
    from delayer.use_cases.firing.canary import SendCanary
    from delayer.use_cases.firing.claim_relaxed import ClaimRelaxed
    from delayer.use_cases.firing.enqueue import Enqueue
    from delayer.use_cases.firing.execute import Execute
    from delayer.use_cases.firing.refill import Refill
    from delayer.use_cases.firing.relay import Relay
    from delayer.use_cases.firing.sweep import Tick
    from delayer.use_cases.firing.sweep_bucket import SweepBuckets
    from delayer.use_cases.flow.breaker import Breaker
    from delayer.use_cases.flow.commands import OperateFlow
    from delayer.use_cases.flow.gate import Gate
    from delayer.use_cases.flow.waits import Waits
    from delayer.use_cases.history.announce import Announce
    from delayer.use_cases.history.deliver import Deliver
    from delayer.use_cases.history.outlines import Outlines
    from delayer.use_cases.history.write_journal import WriteJournal
    from delayer.use_cases.limits.limits import Limits
    from delayer.use_cases.once import Once
    from delayer.use_cases.owners.as_posted import AsPosted
    from delayer.use_cases.owners.callers import Callers
    from delayer.use_cases.owners.commands import OwnerPolicyCommands
    from delayer.use_cases.owners.spending import Spending
    from delayer.use_cases.recovery.bring_back import BringBack
    from delayer.use_cases.recovery.bulk import Bulk
    from delayer.use_cases.recovery.dead_letter import DeadLetters
    from delayer.use_cases.recovery.guard import Guard
    from delayer.use_cases.recovery.id_keys import KeepIdKeys
    from delayer.use_cases.recovery.redrive import Redrive
    from delayer.use_cases.recovery.suspects.dispatch import DispatchSuspects
    from delayer.use_cases.recovery.suspects.waiting import CountWaiting
    from delayer.use_cases.series.begin import Begin
    from delayer.use_cases.series.create import CreateSeries
    from delayer.use_cases.series.end_group import EndSeriesOfGroup
    from delayer.use_cases.series.halt import Halt
    from delayer.use_cases.series.occurrences import Occurrences
    from delayer.use_cases.series.put import PutSeries
    from delayer.use_cases.series.reading.list_series import ListSeries
    from delayer.use_cases.series.reading.occurrences import ListOccurrences
    from delayer.use_cases.series.reading.preview import PreviewSeries
    from delayer.use_cases.series.reading.read import ReadSeries
    from delayer.use_cases.series.retention import Retention
    from delayer.use_cases.series.steering.change import ChangeSeries
    from delayer.use_cases.series.steering.resume import Resume
    from delayer.use_cases.series.steering.run import RunSeries
    from delayer.use_cases.series.step import StepSeries
    from delayer.use_cases.series.upkeep.react import ReactToEvents
    from delayer.use_cases.series.upkeep.tick import SeriesTick
    from delayer.use_cases.signing.keep_keys import KeepSigningKeys
    from delayer.use_cases.signing.own_secrets import OwnSecrets
    from delayer.use_cases.signing.sign import Sign
    from delayer.use_cases.timing.ask import AskPolicies, EnqueueTiming, TimingNet
    from delayer.use_cases.timing.decide import Decide
    from delayer.wiring.bundle import Bundle

# ------------------------------------------------------------ what several share


def id_check(ports: "Bundle") -> "IdCheck":
    """For calls that issue no ids."""
    from delayer.use_cases.api.issue import IdCheck

    return IdCheck(clock=ports.clock, control=ports.control)


def ids(ports: "Bundle") -> "Ids":
    """For calls that issue ids."""
    from delayer.use_cases.api.issue import Ids

    return Ids(
        clock=ports.clock,
        control=ports.control,
        check=id_check(ports),
        randomness=ports.randomness,
        pick=ports.pick,
        shards=ports.settings.shards,
        actions=ports.actions,
    )


def quota(ports: "Bundle") -> "Quota":
    """For calls that create schedules."""
    from delayer.use_cases.api.quota import Quota

    return Quota(
        policies=ports.owner_policies,
        actions=ports.actions,
        clock=ports.clock,
        spending=spending(ports),
        live_count=ports.fail_fast_live_count,
        observer=ports.observer,
    )


def spending(ports: "Bundle") -> "Spending":
    """For calls that count as creations."""
    from delayer.use_cases.owners.spending import Spending

    return Spending(
        clock=ports.clock,
        limits=ports.settings.limits,
        rate_limit=ports.rate_limit,
        policies=ports.owner_policies,
    )


def once(ports: "Bundle") -> "Once":
    """For calls that may have an idempotency key."""
    from delayer.use_cases.once import Once

    return Once(clock=ports.clock, requests=ports.registry)


def dead_letters(ports: "Bundle") -> "DeadLetters":
    """For functions that may have to store a dead letter."""
    from delayer.use_cases.recovery.dead_letter import DeadLetters

    return DeadLetters(
        clock=ports.clock,
        ledger=ports.ledger,
        store=ports.dead_letter_store,
        observer=ports.observer,
        source=ports.source,
    )


def _fail_fast_journal(ports: "Bundle") -> "Journal | None":
    return ports.fail_fast_journal if ports.settings.has_journal else None


# ------------------------------------------------------------ the API


def accept(ports: "Bundle") -> "Accept":
    """POST."""
    from delayer.use_cases.api.accept import Accept

    return Accept(
        clock=ports.clock,
        schedules=ports.records,
        ledger=ports.ledger,
        registry=ports.registry,
        ids=ids(ports),
        quota=quota(ports),
        naming=naming(ports),
        actions=ports.actions,
        policies=ports.settings.policies,
        observer=ports.observer,
    )


def accept_many(ports: "Bundle") -> "AcceptMany":
    """POST of a batch."""
    from delayer.use_cases.api.accept import AcceptMany

    return AcceptMany(accept=accept(ports), schedules=ports.records, parallel=ports.parallel)


def replace(ports: "Bundle", occurrences: "Occurrences | None" = None) -> "Replace":
    """PUT, and with `occurrences` PATCH."""
    from delayer.use_cases.api.replace import Replace

    return Replace(
        occurrences=occurrences,
        clock=ports.clock,
        ledger=ports.ledger,
        schedules=ports.records,
        registry=ports.registry,
        journal=_fail_fast_journal(ports),
        ids=ids(ports),
        quota=quota(ports),
        naming=naming(ports),
        actions=ports.actions,
        once=once(ports),
        observer=ports.observer,
    )


def lookup(ports: "Bundle") -> "Lookup":
    """GET of one."""
    from delayer.use_cases.api.lookup import Lookup

    return Lookup(
        clock=ports.clock,
        ledger=ports.ledger,
        schedules=ports.records,
        registry=ports.registry,
        journal=_fail_fast_journal(ports),
        ids=id_check(ports),
        waits=waits(ports),
        observer=ports.observer,
        period=ports.settings.period,
    )


def list_schedules(ports: "Bundle") -> "ListSchedules":
    """GET of many."""
    from delayer.use_cases.api.list_schedules import ListSchedules

    return ListSchedules(
        clock=ports.clock,
        ledger=ports.ledger,
        schedules=ports.records,
        registry=ports.registry,
        journal=ports.journal if ports.settings.has_journal else None,
        ids=id_check(ports),
        outlines=outlines(ports),
    )


def outlines(ports: "Bundle") -> "Outlines":
    """For lists."""
    from delayer.use_cases.history.outlines import Outlines

    return Outlines(journal=_fail_fast_journal(ports), actions=ports.actions, observer=ports.observer)


def cancel(ports: "Bundle", occurrences: "Occurrences | None" = None) -> "Cancel":
    """DELETE of one. Only with `occurrences` is it the owner of a series who cancels its occurrence."""
    from delayer.use_cases.api.cancel import Cancel

    return Cancel(
        occurrences=occurrences,
        forgotten=forgotten(ports),
        clock=ports.clock,
        ledger=ports.ledger,
        schedules=ports.records,
        registry=ports.registry,
        ids=id_check(ports),
        observer=ports.observer,
    )


def cancel_of_series(ports: "Bundle") -> "Cancel":
    """What a series cancels of its own, after it has written its cursor."""
    from delayer.use_cases.api.cancel import Cancel

    return Cancel(
        clock=ports.clock,
        ledger=ports.ledger,
        schedules=ports.timed_records,
        registry=ports.registry,
        ids=id_check(ports),
        observer=ports.observer,
    )


def stop(ports: "Bundle") -> "Stop":
    """POST of a stop."""
    from delayer.use_cases.api.stop import Stop

    return Stop(
        clock=ports.clock,
        ledger=ports.ledger,
        ids=id_check(ports),
        forgotten=forgotten(ports),
        observer=ports.observer,
    )


def forgotten(ports: "Bundle") -> "Forgotten":
    """For whoever is asked about what was accepted without a time."""
    from delayer.use_cases.api.cancel import Forgotten

    return Forgotten(clock=ports.clock, waiting=ports.waiting_records, ledger=ports.ledger)


def begin_cancel_group(ports: "Bundle") -> "BeginCancelGroup":
    """DELETE of a group."""
    from delayer.use_cases.api.cancel_group import BeginCancelGroup

    return BeginCancelGroup(
        clock=ports.clock,
        jobs=ports.jobs,
        queue=ports.group_queue,
        observer=ports.observer,
        new_job=ports.new_job_id,
        new_token=ports.new_token,
    )


def get_job(ports: "Bundle") -> "GetJob":
    """GET of a job."""
    from delayer.use_cases.api.cancel_group import GetJob

    return GetJob(jobs=ports.jobs)


def cancel_group(ports: "Bundle") -> "CancelGroup":
    """The jobs."""
    from delayer.use_cases.api.cancel_group import CancelGroup

    return CancelGroup(
        clock=ports.clock,
        registry=ports.registry,
        ledger=ports.ledger,
        jobs=ports.jobs,
        cancel=cancel(ports),
        end_series=end_series_of_group(ports),
        queue=ports.group_queue,
        parallel=ports.parallel,
        observer=ports.observer,
        new_token=ports.new_token,
    )


# ------------------------------------------------------------ firing, in the order of the flow


def enqueue(ports: "Bundle") -> "Enqueue":
    """The stream of the schedules table."""
    from delayer.use_cases.firing.enqueue import Enqueue

    return Enqueue(
        clock=ports.clock,
        schedules=ports.schedules,
        ledger=ports.ledger,
        control=ports.control,
        trials=ports.trials,
        delayer_queue=ports.delayer_queue,
        dead_letters=dead_letters(ports),
        waiting=ports.dead_letter_store,
        observer=ports.observer,
        new_nonce=ports.new_token,
        period=ports.settings.period,
    )


def tick(ports: "Bundle") -> "Tick":
    """The minute task."""
    from delayer.use_cases.firing.sweep import Tick

    return Tick(
        clock=ports.clock,
        schedules=ports.schedules,
        control=ports.control,
        delayer_queue=ports.delayer_queue,
        sweep_queue=ports.sweep_queue,
        observer=ports.observer,
        parallel=ports.parallel,
        bring_back=bring_back(ports),
        period=ports.settings.period,
        mark=ports.settings.backlog_mark,
        heartbeats=ports.settings.heartbeats,
        canary=send_canary(ports) if ports.settings.has_canary else None,
    )


def send_canary(ports: "Bundle") -> "SendCanary":
    """The canary of each tick. It gets its id as the API's schedules do, and no quota is spent for it."""
    from delayer.use_cases.firing.canary import SendCanary

    return SendCanary(
        clock=ports.clock,
        ids=ids(ports),
        schedules=ports.schedules,
        observer=ports.observer,
        period=ports.settings.period,
    )


def sweep_buckets(ports: "Bundle") -> "SweepBuckets":
    """Big buckets."""
    from delayer.use_cases.firing.sweep_bucket import SweepBuckets

    return SweepBuckets(
        clock=ports.clock,
        schedules=ports.schedules,
        control=ports.control,
        delayer_queue=ports.delayer_queue,
        observer=ports.observer,
        mark=ports.settings.backlog_mark,
    )


def gate(ports: "Bundle", actions: "Mapping[str, ActionType] | None" = None, *, claimed: bool = False) -> "Gate":
    """What keeps back what is due. `actions` are those that may come, if not all; `claimed`: they were claimed."""
    from delayer.core.flow.block import AFTER_A_CLAIM, BEFORE_A_CLAIM
    from delayer.use_cases.flow.gate import Gate
    from delayer.use_cases.flow.view import BlocksInView

    return Gate(
        clock=ports.clock,
        blocks=ports.blocks,
        view=BlocksInView(clock=ports.clock, store=ports.blocks, observer=ports.observer),
        actions=ports.actions if actions is None else actions,
        heeds=AFTER_A_CLAIM if claimed else BEFORE_A_CLAIM,
    )


def breaker(ports: "Bundle", actions: "Mapping[str, ActionType] | None" = None) -> "Breaker":
    """What opens and closes circuits."""
    from delayer.use_cases.flow.breaker import Breaker

    return Breaker(gate=gate(ports, actions, claimed=True), blocks=ports.blocks, observer=ports.observer)


def waits(ports: "Bundle") -> "Waits":
    """For lookups: what something waits for."""
    from delayer.use_cases.flow.view import BlocksInView
    from delayer.use_cases.flow.waits import Waits

    view = BlocksInView(clock=ports.clock, store=ports.blocks, observer=ports.observer)
    return Waits(clock=ports.clock, view=view, actions=ports.actions, observer=ports.observer)


def _limits(ports: "Bundle", of: "Gate") -> "Limits":
    """Of the rate of attempts, which are known as the gate knows its rows."""
    from delayer.use_cases.limits.booking import Booking
    from delayer.use_cases.limits.limits import Limits

    return Limits(clock=ports.clock, gate=of, booking=Booking(lines=ports.lines))


def operate_flow(ports: "Bundle") -> "OperateFlow":
    """The operator's commands on what waits."""
    from delayer.use_cases.flow.commands import OperateFlow
    from delayer.use_cases.flow.limit_commands import OperateLimits

    return OperateFlow(
        clock=ports.clock,
        blocks=ports.blocks,
        actions=ports.actions,
        delayer_queue=ports.delayer_queue,
        observer=ports.observer,
        limits=OperateLimits(clock=ports.clock, blocks=ports.blocks, lines=ports.lines, observer=ports.observer),
    )


def relay(ports: "Bundle") -> "Relay":
    """The delayer queue."""
    from delayer.use_cases.firing.relay import Relay

    asked = gate(ports)
    return Relay(
        clock=ports.clock,
        ledger=ports.ledger_in_batches,
        delayer_queue=ports.delayer_queue,
        executor_queues=ports.executor_queues,
        dead_letters=dead_letters(ports),
        observer=ports.observer,
        new_nonce=ports.new_token,
        lease=ports.settings.lease,
        lead=ports.settings.lead,
        gate=asked,
        limits=_limits(ports, asked),
    )


def claim_relaxed(ports: "Bundle") -> "ClaimRelaxed":
    """The stream of the relaxed table."""
    from delayer.use_cases.firing.claim_relaxed import ClaimRelaxed
    from delayer.use_cases.firing.relay import HandOver

    return ClaimRelaxed(
        clock=ports.clock,
        trials=ports.trials,
        dead_letters=dead_letters(ports),
        waiting=ports.dead_letter_store,
        observer=ports.observer,
        ledger=ports.ledger_in_batches,
        function=ports.source,
        firing=HandOver(
            clock=ports.clock,
            ledger=ports.ledger_in_batches,
            executor_queues=ports.executor_queues,
            observer=ports.observer,
            new_nonce=ports.new_token,
            lease=ports.settings.lease,
        ),
    )


def execute(
    ports: "Bundle",
    target: "Target",
    check: "Callable[[ExecutorMessage], None]" = lambda _: None,
    has_time: "Callable[[], bool]" = lambda: True,
    actions: "Mapping[str, ActionType] | None" = None,
) -> "Execute":
    """The queue of an action. `actions` are those that may come, if not all."""
    from delayer.use_cases.firing.execute import Execute
    from delayer.use_cases.firing.together import LedgerTogether
    from delayer.use_cases.limits.seating import Seating
    from delayer.use_cases.owners.permit import Permit

    known = ports.actions if actions is None else actions
    circuits = breaker(ports, known)
    limits = _limits(ports, circuits.gate)
    return Execute(
        clock=ports.clock,
        ledger=LedgerTogether(ledger=ports.ledger_in_batches, clock=ports.clock, new_meeting=ports.new_meeting),
        queue=ports.own_queue,
        target=target,
        dead_letters=dead_letters(ports),
        observer=ports.observer,
        parallel=ports.parallel,
        new_fence=ports.new_token,
        breaker=circuits,
        slots=ports.slots,
        limits=limits,
        seating=Seating(limits=limits, seats=ports.seats),
        check=check,
        has_time=has_time,
        permit=Permit(policies=ports.owner_policies, action_of=known.get),
    )


def refill(ports: "Bundle", guard: "Guard", has_time: "Callable[[], bool]") -> "Refill":
    """Around the consumer of an action's queue: what it does while a target keeps it waiting."""
    from delayer.use_cases.firing.refill import Refill

    return Refill(
        handle=guard,
        handle_beside=guard.beside,
        queue=ports.own_queue,
        suspects=ports.settings.suspects,
        slots=ports.slots,
        seats=ports.seats,
        background=ports.background,
        has_time=lambda: not guard.is_trying and has_time(),
        observer=ports.observer,
    )


# ------------------------------------------------------------ times that are decided afterwards


def enqueue_timing(ports: "Bundle") -> "EnqueueTiming":
    """The stream of what waits for its time."""
    from delayer.use_cases.timing.ask import EnqueueTiming

    return EnqueueTiming(
        ask=ask_policies(ports), ledger=ports.ledger, records=ports.waiting_records, observer=ports.observer
    )


def timing_net(ports: "Bundle") -> "TimingNet":
    """What still waits, each minute."""
    from delayer.use_cases.timing.ask import TimingNet

    return TimingNet(
        clock=ports.clock,
        control=ports.control,
        waiting=ports.waiting,
        ask=ask_policies(ports),
        observer=ports.observer,
    )


def ask_policies(ports: "Bundle") -> "AskPolicies":
    """For whoever sends to the queues of the policies."""
    from delayer.use_cases.timing.ask import AskPolicies

    return AskPolicies(queues=ports.policy_queues, observer=ports.observer)


def decide(ports: "Bundle", choose: "Callable[[Schedule], Chosen]") -> "Decide":
    """The queue of a policy."""
    from delayer.use_cases.timing.decide import Decide

    return Decide(
        clock=ports.clock,
        records=ports.waiting_records,
        ledger=ports.ledger,
        registry=ports.registry,
        ids=ids(ports),
        choose=choose,
        still_named=still_named(ports),
        observer=ports.observer,
    )


# ------------------------------------------------------------ action types


def register(ports: "Bundle") -> "Register":
    """The custom resource of each action type."""
    from delayer.core.actions.built_in import built_in
    from delayer.use_cases.actions.describe import DescribedByRemote
    from delayer.use_cases.actions.register import Register

    return Register(
        actions=ports.action_rows,
        built_in=built_in(),
        describe=DescribedByRemote(remote=ports.executor_remote),
        observer=ports.observer,
        own_stack=ports.settings.stack_id,
    )


def describe(ports: "Bundle") -> "Describe":
    """What a function of another stack says."""
    from delayer.use_cases.actions.describe import Describe

    return Describe(function_at=ports.function_at)


def list_actions(ports: "Bundle") -> "ListActions":
    """GET of the action types."""
    from delayer.use_cases.actions.list_actions import ListActions

    return ListActions(actions=ports.actions)


# ------------------------------------------------------------ recovery


def guard(
    ports: "Bundle",
    handle: "Callable[[Sequence[ReceivedMessage]], list[str]]",
    queue: "GivesBack | None" = None,
) -> "Guard":
    """Around the consumer of a queue: its suspects, too. `queue` is the function's own; a client costs a cold start."""
    from delayer.use_cases.recovery.guard import Guard

    return Guard(
        clock=ports.clock,
        trials=ports.trials,
        dead_letters=dead_letters(ports),
        observer=ports.observer,
        function=ports.source,
        suspects=ports.settings.suspects,
        queue=queue,
        handle=handle,
    )


def count_waiting(ports: "Bundle", handle: "Callable[[Sequence[ReceivedMessage]], list[str]]") -> "CountWaiting":
    """Around the consumer of a queue that has no suspects."""
    from delayer.use_cases.recovery.suspects.waiting import CountWaiting

    return CountWaiting(clock=ports.clock, observer=ports.observer, handle=handle)


def dispatch_suspects(ports: "Bundle") -> "DispatchSuspects":
    """The queue of suspects."""
    from delayer.use_cases.recovery.suspects.dispatch import DispatchSuspects

    return DispatchSuspects(consumers=ports.consumers, observer=ports.observer, stack=ports.settings.stack)


def bring_back(ports: "Bundle") -> "BringBack":
    """Part of the minute task."""
    from delayer.use_cases.recovery.bring_back import BringBack

    return BringBack(
        clock=ports.clock,
        parallel=ports.parallel,
        store=ports.dead_letter_store,
        consumer=ports.stream_consumer,
        observer=ports.observer,
    )


def bulk(ports: "Bundle") -> "Bulk":
    """The operator's commands, for one and for many."""
    from delayer.use_cases.recovery.bulk import Bulk

    return Bulk(clock=ports.clock, parallel=ports.parallel, redrive=redrive(ports))


def redrive(ports: "Bundle") -> "Redrive":
    """The operator's commands for one."""
    from delayer.use_cases.recovery.redrive import Redrive

    return Redrive(
        occurrences=occurrences(ports),
        clock=ports.clock,
        ledger=ports.ledger,
        store=ports.dead_letter_store,
        schedules=ports.timed_records,
        delayer_queue=ports.delayer_queue,
        observer=ports.observer,
        read=ports.read_dead_letter,
        new_nonce=ports.new_token,
        period=ports.settings.period,
    )


def keep_id_keys(ports: "Bundle") -> "KeepIdKeys":
    """The keys behind the ids, and those behind the signatures."""
    from delayer.use_cases.recovery.id_keys import KeepIdKeys

    return KeepIdKeys(
        clock=ports.clock,
        control=ports.control,
        randomness=ports.randomness,
        observer=ports.observer,
        signing=keep_signing_keys(ports),
    )


# ------------------------------------------------------------ signatures


def keep_signing_keys(ports: "Bundle") -> "KeepSigningKeys":
    """The keys behind the signatures alone."""
    from delayer.use_cases.signing.keep_keys import KeepSigningKeys

    return KeepSigningKeys(
        clock=ports.clock, rows=ports.signing_rows, randomness=ports.randomness, observer=ports.observer
    )


def own_secrets(ports: "Bundle") -> "OwnSecrets":
    """The calls on an owner's secret."""
    from delayer.use_cases.signing.own_secrets import OwnSecrets

    return OwnSecrets(clock=ports.clock, rows=ports.signing_rows, observer=ports.observer)


def sign(ports: "Bundle") -> "Sign":
    """For an executor whose requests are signed."""
    from delayer.use_cases.signing.sign import Sign

    return Sign(clock=ports.clock, rows=ports.signing_rows)


def callers(ports: "Bundle", otherwise: "Callable[[Command], str]") -> "Callers":
    """The custom resource that says who calls the API. All other requests go on to `otherwise`."""
    from delayer.use_cases.owners.callers import Callers

    return Callers(
        clock=ports.clock,
        claims=ports.owner_claim,
        shards=ports.control,
        own_stack=ports.settings.stack_id,
        observer=ports.observer,
        otherwise=otherwise,
    )


def owner_policy_commands(ports: "Bundle") -> "OwnerPolicyCommands":
    """Commands on owner policies."""
    from delayer.use_cases.owners.commands import OwnerPolicyCommands

    policies = ports.settings.policies
    return OwnerPolicyCommands(
        clock=ports.clock,
        store=ports.owner_policy_rows,
        actions=ports.actions,
        counts_live=ports.settings.max_live > 0,
        read_request=lambda body, now: _as_posted(ports, policies)(body, now),
        observer=ports.observer,
    )


def _as_posted(ports: "Bundle", policies: "Collection[str]") -> "AsPosted":
    """What would be POSTed. It is made when a command needs it: no other needs what the API validates with."""
    from delayer.use_cases.owners.as_posted import AsPosted

    return AsPosted(actions=ports.actions, policies=policies)


# ------------------------------------------------------------ history


def announce(ports: "Bundle") -> "Announce":
    """The streams of both tables."""
    from delayer.use_cases.history.announce import Announce

    return Announce(topic=ports.topic, observer=ports.observer, source=ports.settings.event_source)


def write_journal(ports: "Bundle") -> "WriteJournal":
    """The lifecycle events."""
    from delayer.use_cases.history.write_journal import WriteJournal

    return WriteJournal(
        journal=ports.journal,
        live_count=ports.live_count if ports.settings.max_live else None,
        observer=ports.observer,
        keep_for=ports.settings.keep_for,
    )


def deliver(ports: "Bundle", read: "Callable[[Event], object]") -> "Deliver":
    """The lifecycle events, for one subscriber."""
    from delayer.use_cases.history.deliver import Deliver

    return Deliver(read=read, observer=ports.observer)


# ------------------------------------------------------------ series


def begin_series(ports: "Bundle") -> "Begin":
    """For calls that create series."""
    from delayer.use_cases.series.begin import Begin

    return Begin(
        clock=ports.clock,
        series=ports.series,
        ids=ids(ports),
        quota=quota(ports),
        naming=naming(ports),
        observer=ports.observer,
        new_id=ports.new_series_id,
    )


def create_series(ports: "Bundle") -> "CreateSeries":
    """POST of a series."""
    from delayer.use_cases.series.create import CreateSeries

    return CreateSeries(
        clock=ports.clock,
        series=ports.series,
        requests=ports.registry,
        begin=begin_series(ports),
        actions=ports.actions,
        observer=ports.observer,
        has_events=ports.settings.has_events,
    )


def put_series(ports: "Bundle") -> "PutSeries":
    """PUT of a series by its name."""
    from delayer.use_cases.series.put import PutSeries

    return PutSeries(
        series=ports.series,
        begin=begin_series(ports),
        change=change_series(ports),
        once=once(ports),
        has_events=ports.settings.has_events,
    )


def preview_series(ports: "Bundle") -> "PreviewSeries":
    """POST of a rule alone."""
    from delayer.use_cases.series.reading.preview import PreviewSeries

    return PreviewSeries(clock=ports.clock)


def read_series(ports: "Bundle") -> "ReadSeries":
    """GET of one, and of its next times."""
    from delayer.use_cases.series.reading.read import ReadSeries

    return ReadSeries(clock=ports.clock, series=ports.series, ledger=ports.ledger, waits=waits(ports))


def list_occurrences(ports: "Bundle") -> "ListOccurrences":
    """GET of what became of one."""
    from delayer.use_cases.series.reading.occurrences import ListOccurrences

    return ListOccurrences(
        clock=ports.clock,
        series=ports.series,
        journal=ports.journal if ports.settings.has_journal else None,
        ledger=ports.ledger,
        schedules=ports.timed_records,
        outlines=outlines(ports),
    )


def list_series(ports: "Bundle") -> "ListSeries":
    """GET of many."""
    from delayer.use_cases.series.reading.list_series import ListSeries

    return ListSeries(clock=ports.clock, series=ports.series)


def step_series(ports: "Bundle") -> "StepSeries":
    """For the function that steps series."""
    from delayer.core.series.rules import rule_of
    from delayer.use_cases.series.step import StepSeries

    return StepSeries(
        clock=ports.clock,
        series=ports.series,
        ids=ids(ports),
        rule_of=rule_of,
        retention=retention(ports),
        observer=ports.observer,
    )


def occurrences(ports: "Bundle") -> "Occurrences":
    """For calls that change an occurrence by its own id."""
    from delayer.use_cases.series.occurrences import Occurrences
    from delayer.use_cases.series.retention import Retention

    return Occurrences(
        clock=ports.clock, series=ports.series, ledger=ports.ledger, retention=Retention(clock=ports.clock)
    )


def end_series_of_group(ports: "Bundle") -> "EndSeriesOfGroup":
    """For the jobs that cancel groups."""
    from delayer.use_cases.series.end_group import EndSeriesOfGroup

    return EndSeriesOfGroup(series=ports.series, ledger=ports.ledger, halt=halt_series(ports), parallel=ports.parallel)


def halt_series(ports: "Bundle") -> "Halt":
    """For the calls that pause a series, or end it."""
    from delayer.use_cases.series.halt import Halt

    return Halt(
        series=ports.series, cancel=cancel_of_series(ports), retention=retention(ports), observer=ports.observer
    )


def resume_series(ports: "Bundle") -> "Resume":
    """POST of a resume."""
    from delayer.core.series.rules import rule_of
    from delayer.use_cases.series.steering.resume import Resume

    return Resume(
        clock=ports.clock,
        series=ports.series,
        ledger=ports.ledger,
        cancel=cancel_of_series(ports),
        ids=ids(ports),
        rule_of=rule_of,
        retention=retention(ports),
        observer=ports.observer,
    )


def change_series(ports: "Bundle") -> "ChangeSeries":
    """PATCH of a series."""
    from delayer.core.series.rules import rule_of
    from delayer.use_cases.series.steering.change import ChangeSeries

    return ChangeSeries(
        clock=ports.clock,
        series=ports.series,
        ledger=ports.ledger,
        ids=ids(ports),
        quota=quota(ports),
        naming=naming(ports),
        rule_of=rule_of,
        retention=retention(ports),
        once=once(ports),
        observer=ports.observer,
    )


def run_series(ports: "Bundle") -> "RunSeries":
    """POST of a run-now, and of a backfill."""
    from delayer.core.series.rules import rule_of
    from delayer.use_cases.series.steering.run import RunSeries

    return RunSeries(
        clock=ports.clock,
        series=ports.series,
        ledger=ports.ledger,
        once=once(ports),
        ids=ids(ports),
        quota=quota(ports),
        rule_of=rule_of,
        retention=retention(ports),
        observer=ports.observer,
    )


def retention(ports: "Bundle") -> "Retention":
    """For whoever writes the cursor of a series."""
    from delayer.use_cases.series.retention import Retention

    return Retention(clock=ports.clock, keep_for=ports.settings.keep_for)


def react_to_events(ports: "Bundle") -> "ReactToEvents":
    """The lifecycle events of occurrences."""
    from delayer.use_cases.series.upkeep.react import ReactToEvents

    return ReactToEvents(step=step_series(ports), parallel=ports.parallel, observer=ports.observer)


def series_tick(ports: "Bundle") -> "SeriesTick":
    """Each minute, what no event has stepped."""
    from delayer.core.recurrence.zones import tz_version
    from delayer.core.series.rules import rule_of
    from delayer.use_cases.series.upkeep.net import Net
    from delayer.use_cases.series.upkeep.renew import Renew
    from delayer.use_cases.series.upkeep.tick import SeriesTick

    net = Net(
        clock=ports.clock,
        control=ports.control,
        series=ports.series,
        files=ports.series_upkeep,
        ledger=ports.ledger,
        progress=ports.series_progress,
        step=step_series(ports),
        parallel=ports.parallel,
        observer=ports.observer,
    )
    renew = Renew(
        clock=ports.clock,
        series=ports.series,
        ledger=ports.ledger,
        ids=ids(ports),
        rule_of=rule_of,
        retention=retention(ports),
        observer=ports.observer,
    )
    return SeriesTick(
        clock=ports.clock,
        net=net,
        directories=ports.series_upkeep,
        progress=ports.series_progress,
        renew=renew,
        tz_version=tz_version,
        parallel=ports.parallel,
        observer=ports.observer,
    )
