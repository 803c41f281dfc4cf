import { type Network, networks } from "@sluice/contract/tiers";
import { type Clock, type Log, type Random, sleep } from "@sluice/lib";
import { z } from "zod";
import type { Hot } from "../hot/index.ts";
import { inOrder, type SentPlace, type SentTransaction, type SentTransactions } from "./sent-transactions.ts";

const questionChannel = "sent-asked";
const answerChannel = (asker: string): string => `sent-told ${asker}`;
/** How long other processes have to answer; a person or a page asks, and answers take a few milliseconds. */
const waitMsDefault = 200;
/** No page is longer, so no more is needed of one process. */
const itemsMax = 1_001;

const count = z.int().nonnegative();
const place = z.object({ sentAtMs: count, signature: z.string() });
const question = z.object({
  asker: z.string(),
  number: count,
  keyId: z.string(),
  most: count,
  after: place.nullable(),
});
const item = place.extend({
  network: z.enum(networks),
  keyId: z.string(),
  state: z.enum(["sent", "confirmed", "finalized", "failed", "expired"]),
  /** Slots are u64, which JSON's numbers cannot hold. */
  slot: z
    .string()
    .regex(/^\d{1,20}$/)
    .nullable(),
  resends: count,
  /** The hash of the chain's genesis; absent from a process of an earlier version, null where nodes do not tell it. */
  chain: z.string().nullable().optional(),
});
const answer = z.object({ number: count, items: z.array(item).max(itemsMax) });

/** What a key has sent, newest first: at most `most`, after a place. */
export type SentQuery = (keyId: string, most: number, after: SentPlace | null) => Promise<readonly SentTransaction[]>;

export interface SentElsewhereDependencies {
  readonly hot: Pick<Hot, "driver" | "publish" | "subscribe">;
  /** What went through this process. */
  readonly sent: Pick<SentTransactions, "of">;
  /** The hash of the genesis of a network's chain as this process knows it; null where it does not. */
  readonly genesisOf: (network: Network) => string | null;
  readonly clock: Pick<Clock, "after">;
  readonly random: Random;
  readonly log: Pick<Log, "warn">;
  readonly resources: AsyncDisposableStack;
}

/**
 * Finds what a key has sent through any process. Each process keeps what went through it and answers the questions of
 * the others, so that sending costs nothing more; one that does not answer within `waitMs`, or has ended, is left out.
 */
export async function subscribeToSent(
  { waitMs = waitMsDefault }: { readonly waitMs?: number },
  { hot, sent, genesisOf, clock, random, log, resources }: SentElsewhereDependencies,
): Promise<SentQuery> {
  if (hot.driver === "memory") return async (...query) => sent.of(...query);
  const self = Buffer.from(random.bytes(12)).toString("hex");
  const pending = new Map<number, (received: readonly SentTransaction[]) => void>();
  let questions = 0;
  const publish = (channel: string, message: object): void => {
    hot.publish(channel, JSON.stringify(message)).catch((error: unknown) => {
      const text = "other replicas cannot be asked what was sent; the answer covers this one alone";
      log.warn({ error: String(error) }, text);
    });
  };
  resources.use(
    await hot.subscribe(questionChannel, (message) => {
      const { asker, number, keyId, most, after } = question.parse(JSON.parse(message));
      if (asker === self) return;
      const found = sent.of(keyId, Math.min(most, itemsMax), after);
      const items = found.map((one) => ({
        ...one,
        slot: one.slot?.toString() ?? null,
        chain: genesisOf(one.network),
      }));
      if (items.length > 0) publish(answerChannel(asker), { number, items });
    }),
  );
  resources.use(
    await hot.subscribe(answerChannel(self), (message) => {
      const { number, items } = answer.parse(JSON.parse(message));
      // Where a network was given another chain, processes that do not know it yet tell of the one before.
      const ofOwn = items.filter(({ network, chain = null }) => {
        const own = genesisOf(network);
        return chain === null || own === null || chain === own;
      });
      const found = ofOwn.map(({ chain: _, slot, ...one }) => ({ ...one, slot: slot === null ? null : BigInt(slot) }));
      pending.get(number)?.(found);
    }),
  );
  return async (keyId, most, after) => {
    const found = new Map<string, SentTransaction>();
    const merge = (received: readonly SentTransaction[]): void => {
      for (const one of received) {
        const name = `${one.network} ${one.signature}`;
        found.set(name, furtherOf(found.get(name), one));
      }
    };
    questions += 1;
    const number = questions;
    pending.set(number, merge);
    publish(questionChannel, { asker: self, number, keyId, most, after });
    await sleep(clock, waitMs);
    pending.delete(number);
    merge(sent.of(keyId, most, after));
    return [...found.values()].toSorted(inOrder).slice(0, most);
  };
}

const rank = { sent: 0, confirmed: 1, expired: 2, failed: 3, finalized: 4 } as const;

/** A transaction that went through two processes, as the process knows it that has followed it further. */
function furtherOf(one: SentTransaction | undefined, other: SentTransaction): SentTransaction {
  return one === undefined || rank[other.state] > rank[one.state] ? other : one;
}
