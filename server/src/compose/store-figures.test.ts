import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { createLog, createMetrics, createServerEvents } from "../observe/index.ts";
import { createStateEvents, type LeftBehind } from "../state/index.ts";
import { watchStoreFigures } from "./store-figures.ts";

const nothing = { processes: 0, amount: 0n };

test("schemas and what dead processes hold are read at once and each minute; a store that is away keeps its figures", async () => {
  const clock = new ManualClock(1_790_000_000_000);
  await using metrics = createMetrics({}, { clock });
  const log = createLog({ level: "silent", destination: { write: () => undefined } });
  const events = { ...createServerEvents({ log, metrics }), ...createStateEvents({ metrics }) };
  let stored = 20;
  let left: LeftBehind = {
    leases: 1,
    books: { credits: { processes: 2, amount: 700n }, oracle: nothing, "oracle-v2": nothing, served: nothing },
  };
  let isLedgerAway = false;
  const asked: string[] = [];
  await using _watch = watchStoreFigures({
    clock,
    processId: "own",
    events,
    state: {
      schema: async () => ({ known: 20, stored, missing: 1 }),
      processes: {
        leftBehind: async (own) => {
          asked.push(own);
          return left;
        },
      },
    },
    ledger: {
      schema: async () => {
        if (isLedgerAway) throw new Error("away");
        return { known: 5, stored: 5, missing: 0 };
      },
    },
  });
  const settle = async (): Promise<string> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    return await metrics.render();
  };
  const first = await settle();
  for (const line of [
    'sluice_schema_known{store="state"} 20',
    'sluice_schema_stored{store="state"} 20',
    'sluice_schema_missing{store="state"} 1',
    'sluice_schema_stored{store="ledger"} 5',
    "sluice_leases_left_behind 1",
    'sluice_credits_left_behind{meter="credits"} 700',
    'sluice_credit_holders_left_behind{meter="credits"} 2',
    'sluice_credits_left_behind{meter="served"} 0',
  ]) {
    expect(first).toContain(`${line}\n`);
  }
  stored = 21;
  isLedgerAway = true;
  left = { leases: 0, books: { ...left.books, credits: nothing } };
  clock.advance(60_000);
  const second = await settle();
  expect(second).toContain('sluice_schema_stored{store="state"} 21\n');
  expect(second).toContain('sluice_schema_stored{store="ledger"} 5\n');
  expect(second).toContain("sluice_leases_left_behind 0\n");
  expect(second).toContain('sluice_credits_left_behind{meter="credits"} 0\n');
  expect(asked).toEqual(["own", "own"]);
});
