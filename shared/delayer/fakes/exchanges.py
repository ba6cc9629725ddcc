"""Names, and the transaction that exchanges schedules."""

from attrs import Factory, define

from delayer.fakes.ledger import MemoryLedger
from delayer.fakes.schedule_table import MemoryScheduleTable
from delayer.ports import Exchange, NameRow


@define(kw_only=True)
class MemoryExchanges:
    """Port Exchanges."""

    schedules: MemoryScheduleTable
    ledger: MemoryLedger
    names: dict[tuple[str, str], NameRow] = Factory(dict)

    def named(self, owner: str, name: str) -> NameRow | None:
        return self.names.get((owner, name))

    def exchange(self, exchange: Exchange) -> bool:
        if self._is_done(exchange):
            return True
        if not self._may(exchange):
            return False
        self._write(exchange)
        return True

    def _is_done(self, exchange: Exchange) -> bool:
        """A repeat finds its own rows. One of them is enough: they were written together."""
        rows = [row for row in (exchange.begun, exchange.ending) if row]
        if any(self.ledger.rows.get(row.schedule_id) == row for row in rows):
            return True
        return exchange.name is not None and self._bears(exchange.name) == exchange.name

    def _may(self, exchange: Exchange) -> bool:
        ledger = self.ledger.rows
        if exchange.begun and exchange.begun.schedule_id in ledger:
            return False
        if exchange.ending:
            standing = ledger.get(exchange.ending.schedule_id)
            if (standing and standing.revision) != (exchange.over and exchange.over.revision):
                return False
        return not exchange.name or self._bears(exchange.name) == exchange.name_over

    def _bears(self, row: NameRow) -> NameRow | None:
        return self.names.get((row.owner, row.name))

    def _write(self, exchange: Exchange) -> None:
        for row in (exchange.begun, exchange.ending):
            if row:
                self.ledger.write(row)
        if exchange.name:
            self.names[exchange.name.owner, exchange.name.name] = exchange.name
        if exchange.gone:
            self.schedules.delete([exchange.gone])
        self.schedules.put(exchange.new)
