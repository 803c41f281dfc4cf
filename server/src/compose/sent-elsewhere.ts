import { networks } from "@sluice/contract/tiers";
import type { Random } from "@sluice/lib";
import { z } from "zod";
import type { Hot } from "../hot/index.ts";
import type { Log } from "../observe/index.ts";
import { inOrder, type SentPlace, type SentTransaction, type SentTransactions } from "../rpc/index.ts";

const askedChannel = "sent-asked";
const toldChannel = (asker: string): string => `sent-told ${asker}`;
/** How long other processes have to answer; a question comes from a person or a page, and answers take a few milliseconds. */
const waitMsDefault = 200;
/** No page is longer, so nobody needs more of one process. */
const toldMax = 1_001;

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
});
const answer = z.object({ number: count, items: z.array(item).max(toldMax) });

type Wanted = [keyId: string, most: number, after: SentPlace | null];

export interface SentElsewhereParts {
  readonly hot: Pick<Hot, "driver" | "publish" | "subscribe">;
  /** What went through this process. */
  readonly sent: Pick<SentTransactions, "of">;
  readonly random: Random;
  readonly log: Pick<Log, "warn">;
  readonly resources: AsyncDisposableStack;
  readonly waitMs?: number;
}

/**
 * What a key has sent through any process, newest first. Each keeps what went through it and is asked by the others when
 * somebody wants to know, so that sending costs nothing more; one that does not answer in time, or has ended, is left out.
 */
export async function followSent(parts: SentElsewhereParts) {
  const { hot, sent, random, log, resources, waitMs = waitMsDefault } = parts;
  const self = Buffer.from(random.bytes(12)).toString("hex");
  const waiting = new Map<number, (told: readonly SentTransaction[]) => void>();
  let asked = 0;
  const publish = (channel: string, message: object): void => {
    hot.publish(channel, JSON.stringify(message)).catch((fault: unknown) => {
      log.warn(
        { fault: String(fault) },
        "other replicas cannot be asked what was sent; the answer is of this one alone",
      );
    });
  };
  if (hot.driver === "memory") return async (...wanted: Wanted) => sent.of(...wanted);
  const answerOthers = await hot.subscribe(askedChannel, (message) => {
    const { asker, number, keyId, most, after } = question.parse(JSON.parse(message));
    if (asker === self) return;
    const found = sent.of(keyId, Math.min(most, toldMax), after);
    const items = found.map((one) => ({ ...one, slot: one.slot?.toString() ?? null }));
    if (items.length > 0) publish(toldChannel(asker), { number, items });
  });
  resources.use(answerOthers);
  const hearOthers = await hot.subscribe(toldChannel(self), (message) => {
    const { number, items } = answer.parse(JSON.parse(message));
    waiting.get(number)?.(items.map((one) => ({ ...one, slot: one.slot === null ? null : BigInt(one.slot) })));
  });
  resources.use(hearOthers);
  return async (...[keyId, most, after]: Wanted): Promise<readonly SentTransaction[]> => {
    const found = new Map<string, SentTransaction>();
    const take = (told: readonly SentTransaction[]): void => {
      for (const one of told) found.set(one.signature, furtherOf(found.get(one.signature), one));
    };
    asked += 1;
    const number = asked;
    waiting.set(number, take);
    publish(askedChannel, { asker: self, number, keyId, most, after });
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waiting.delete(number);
    take(sent.of(keyId, most, after));
    return [...found.values()].toSorted(inOrder).slice(0, most);
  };
}

const rank = { sent: 0, confirmed: 1, expired: 2, failed: 3, finalized: 4 } as const;

/** A transaction that went through two processes, as the one tells that has followed it further. */
function furtherOf(one: SentTransaction | undefined, other: SentTransaction): SentTransaction {
  return one === undefined || rank[other.state] > rank[one.state] ? other : one;
}
