/** Blocks of bench/webhooks: a log to which they are appended, and the schedulers that make deliveries of it. */
import { packBlock } from "@sluice/encode";
import { seededRandom, systemClock } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { BlockReader } from "../../server/src/events/index.ts";
import { blockOfHeader, transferOf } from "../../server/src/history/testing/blocks.ts";
import type { LogRecord } from "../../server/src/log/index.ts";
import { chain, headerOf } from "../../server/src/log/testing/chain-model.ts";
import { openMemoryLog } from "../../server/src/log/testing/memory-log.ts";
import { oneChain } from "../../server/src/log/testing/one-chain.ts";
import { createMetrics, type RootLog } from "../../server/src/observe/index.ts";
import type { WebhookState } from "../../server/src/state/testing/webhook-state.ts";
import {
  BlockMemory,
  createSchedulingEvents,
  type DeliveryDependencies,
  EventBlocks,
  EventBodies,
  WebhookBodies,
  WebhookSchedulers,
  type WebhookWorker,
} from "../../server/src/webhooks/index.ts";

export interface BenchBlocks extends AsyncDisposable {
  readonly bodies: DeliveryDependencies["bodies"];
  /** The slot that a delivery is of. */
  readonly slotOf: (deliveryId: string) => number | null;
  /** A block of the slot that is new to everybody, packed; appending it is all that is left. */
  prepare(slot: number): () => Promise<void>;
}

interface BlocksOptions {
  readonly opened: WebhookState;
  readonly worker: Pick<WebhookWorker, "appended">;
  readonly log: RootLog;
  /** Of each block, beside one to each watched account. */
  readonly transactions: number;
  readonly watched: number;
}

/** The account that each block's transaction of this place pays. */
export const watchedAccount = (at: number): string =>
  encodeBase58(new Uint8Array(new Bun.CryptoHasher("sha256").update(`watched ${at}`).digest()));

const first = 100;

export async function openBlocks({ opened, worker, log, ...size }: BlocksOptions): Promise<BenchBlocks> {
  const observe = { log, metrics: createMetrics() };
  const memory = await openMemoryLog(chain);
  const [reader, kept] = [new BlockReader(), new BlockMemory()];
  const blocks = new EventBlocks({ logOf: () => memory.log, past: null, reader, memory: kept });
  const states = { read: async () => null, changed: async () => true };
  const bodies = new EventBodies({ blocks, states, trades: { decide: async () => true } });
  const slots = new Map<string, number>();
  const schedulers = new WebhookSchedulers(
    { shards: 1, leaseMs: 10_000 },
    {
      ...observe,
      chainLogs: oneChain("devnet", memory.log, chain),
      leases: opened.state.leases,
      schedule: opened.state.webhookSchedule,
      webhooks: opened.state.webhooks,
      past: null,
      reader,
      memory: kept,
      prices: { at: async () => null },
      listener: {
        committed: ({ deliveries }) => {
          for (const { deliveryId, slot } of deliveries) slots.set(deliveryId, Number(slot));
          const fresh = { attempts: 0, dueAt: 0, lastAttemptAt: null, lastStatusCode: null, lastError: null };
          const createdAt = systemClock.now();
          worker.appended(deliveries.map((row) => ({ ...row, ...fresh, detail: null, createdAt })));
        },
      },
      observe: () => undefined,
      clock: systemClock,
      random: seededRandom(1),
      processId: "bench",
      events: createSchedulingEvents(observe),
      internalError: (where, error) => log.error({ where, error }, "an error of the benchmark"),
    },
  );
  const prepare = (slot: number): (() => Promise<void>) => {
    const record = recordOf(slot, size);
    return async () => void (await memory.log.append(record));
  };
  await prepare(first)();
  await schedulers.begin();
  return {
    bodies: new WebhookBodies(bodies),
    slotOf: (deliveryId) => slots.get(deliveryId) ?? null,
    prepare,
    [Symbol.asyncDispose]: async () => {
      await schedulers[Symbol.asyncDispose]();
      await memory.log[Symbol.asyncDispose]();
    },
  };
}

function recordOf(slot: number, { transactions, watched }: Pick<BlocksOptions, "transactions" | "watched">): LogRecord {
  const blockTime = BigInt(Math.floor(systemClock.now() / 1_000));
  const header = { ...headerOf(slot), blockTime, transactions: transactions + watched };
  const block = blockOfHeader({ ...header, transactions });
  const paid = Array.from({ length: watched }, (_, at) => transferOf(`${slot} ${at}`, { to: `watched ${at}` }));
  return {
    kind: "block",
    header,
    stage: "confirmed",
    body: packBlock({ ...block, transactions: [...block.transactions, ...paid] }),
  };
}
