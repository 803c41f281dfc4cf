import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { createLog, createMetrics } from "../observe/index.ts";
import { KeptRows } from "../pool/testing/kept-rows.ts";
import { playedPool } from "../pool/testing/played-pool.ts";
import { RecordedEvents } from "../pool/testing/recorded-events.ts";
import { type LeaseStore, openState } from "../state/index.ts";
import { openPoolSampling } from "./pool-sampling.ts";

test("of two processes the one with the lease writes each sample once, and the other goes on when it ends", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-sampling-"));
  await using closing = new AsyncDisposableStack();
  closing.defer(() => rmSync(directory, { recursive: true, force: true }));
  const log = createLog({ level: "silent" });
  const random = seededRandom(11);
  const state = closing.use(await openState({ directory, databaseUrl: null }, { clock: systemClock, random, log }));
  // The embedded store is of one process, which takes what a former one held; here two share it.
  const leases: LeaseStore = {
    isShared: true,
    find: (name) => state.leases.find(name),
    take: (name, holder, seen) => state.leases.take(name, holder, seen),
    beat: (lease) => state.leases.beat(lease),
    release: (lease) => state.leases.release(lease),
  };
  const written: { readonly by: string; readonly table: string; readonly at: number }[] = [];
  /** A ledger of each, so that the second one writes what it would write alone. */
  const rowsOf = new Map(["one", "two"].map((by) => [by, new KeptRows()]));
  /** The moment that both sample; their lease goes by time that passes. */
  const wall = new ManualClock(Date.UTC(2026, 10, 20, 0, 7));
  const open = (by: string) =>
    openPoolSampling(
      { network: "devnet", leaseMs: 1_000 },
      {
        ...{ clock: systemClock, log, metrics: createMetrics({}, { clock: systemClock }) },
        processId: by,
        leases,
        internalError: (where, error) => {
          throw new Error(where, { cause: error });
        },
        sampler: {
          read: async () => playedPool(),
          sampled: () => ({ network: "devnet", chain: "genesis", pool: "pool" }),
          hasNode: () => true,
          ledger: {
            insert: async (table, rows) => {
              await rowsOf.get(by)?.ledger.insert(table, rows);
              written.push({ by, table, at: Number((rows[0] as { at: number }).at) });
            },
            poolSamples: rowsOf.get(by)?.ledger.poolSamples ?? new KeptRows().ledger.poolSamples,
          },
          clock: wall,
          events: new RecordedEvents(),
        },
      },
    );
  const processes = new Map([
    ["one", await open("one")],
    ["two", await open("two")],
  ]);
  const samplesOf = (by: string) => written.filter((row) => row.by === by && row.table === "pool_samples");
  // The end of the epoch before, the epoch, and the ten minutes.
  const [first, other] = await eventually("a process that samples", async () => {
    if (samplesOf("one").length === 3) return ["one", "two"] as const;
    return samplesOf("two").length === 3 ? (["two", "one"] as const) : null;
  });
  expect(samplesOf(first).map(({ at }) => at)).toEqual([1_789_999_999_000, 1_790_000_000_000, Date.UTC(2026, 10, 20)]);
  // The other has looked for the lease all the while.
  const beats = async (): Promise<bigint> => (await leases.find("devnet:pool-sampler"))?.beats ?? 0n;
  await eventually("some beats of the holder", async () => (await beats()) >= 3n);
  expect(samplesOf(other)).toEqual([]);
  await processes.get(first)?.[Symbol.asyncDispose]();
  await eventually("the other process samples", async () => samplesOf(other).length === 3);
  // It names the same moments: the ledger has each once.
  expect(samplesOf(other).map(({ at }) => at)).toEqual(samplesOf(first).map(({ at }) => at));
  await processes.get(other)?.[Symbol.asyncDispose]();
  expect(written).toHaveLength(8);
}, 30_000);
