import { expect, test } from "bun:test";
import { LedgerAttempts } from "./attempt-log.ts";
import { answered, DeliveryStand } from "./testing/stand.ts";

interface Row {
  readonly delivery_id: string;
  readonly attempt: number;
  readonly outcome: string;
}

/** A ledger that may be away, and that keeps one row of what is written twice. */
class PlayedLedger {
  isAway = false;
  written = 0;
  readonly #rows = new Map<string, string>();

  async insert(_: string, rows: readonly object[]): Promise<void> {
    if (this.isAway) throw new Error("the ledger is away");
    for (const row of rows as readonly Row[]) {
      this.written += 1;
      this.#rows.set(`${row.delivery_id} ${row.attempt}`, row.outcome);
    }
  }

  get rows(): string[] {
    return [...this.#rows].map(([place, outcome]) => `${place} ${outcome}`).toSorted();
  }
}

async function withLog(run: (stand: DeliveryStand, ledger: PlayedLedger) => Promise<void>): Promise<void> {
  await using stand = await DeliveryStand.open();
  await run(stand, new PlayedLedger());
}

function logOf(stand: DeliveryStand, ledger: PlayedLedger, worker: string): LedgerAttempts {
  const dropped = (count: number): void => void stand.told.push(`dropped ${count}`);
  return new LedgerAttempts(
    { worker },
    { store: stand.store, ledger, clock: stand.clock, events: { factsDropped: dropped } },
  );
}

test("each attempt whose outcome was written is in the ledger, also where the process died at once", async () => {
  await withLog(async (stand, ledger) => {
    const webhook = await stand.opened.createWebhook();
    const rows = await stand.opened.add(webhook.id, [{ slot: 1n }, { slot: 2n }, { slot: 3n }]);
    stand.receive = ({ deliveryId, attempt }) =>
      answered(deliveryId === rows[0]?.deliveryId && attempt === 1 ? 500 : 200);
    // Its ledger never takes anything, and it takes nothing to it when it ends, as after a kill.
    const dead = logOf(stand, Object.assign(new PlayedLedger(), { isAway: true }), "worker-1");
    const first = await stand.worker({}, { attempts: dead });
    await stand.settle();
    expect(stand.received.length).toBe(3);
    await first[Symbol.asyncDispose]();
    const log = logOf(stand, ledger, "worker-2");
    await stand.worker({}, { attempts: log });
    await stand.pass(15_000, 500);
    const [one = "", two = "", three = ""] = rows.map(({ deliveryId }) => deliveryId);
    const expected = [`${one} 1 failed`, `${one} 2 delivered`, `${two} 1 delivered`, `${three} 1 delivered`];
    expect(ledger.rows).toEqual(expected.toSorted());
    expect(await stand.store.orphanedFacts(10)).toEqual([]);
    await log[Symbol.asyncDispose]();
    await dead[Symbol.asyncDispose]();
  });
});

test("attempts wait while the ledger is away, and are written once it is back", async () => {
  await withLog(async (stand, ledger) => {
    const webhook = await stand.opened.createWebhook();
    await stand.opened.add(webhook.id, [{ slot: 1n }, { slot: 2n }]);
    ledger.isAway = true;
    const log = logOf(stand, ledger, "worker-1");
    await stand.worker({}, { attempts: log });
    await stand.pass(5_000, 500);
    expect([stand.received.length, ledger.rows, stand.told]).toEqual([2, [], []]);
    ledger.isAway = false;
    await stand.pass(2_000, 500);
    expect(ledger.rows.length).toBe(2);
    await stand.pass(5_000, 500);
    expect(ledger.written).toBe(2);
    await log[Symbol.asyncDispose]();
  });
});
