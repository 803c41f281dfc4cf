import type { Network } from "@sluice/contract/tiers";
import { type Clock, SingleFlight, type Timer } from "@sluice/lib";
import { parseJsonExact } from "@sluice/wire/json";
import type { UpstreamPool } from "../upstreams/index.ts";
import { readHeight, readStatuses, type SentStatus, signatureIn } from "./sent-answers.ts";

/** What became of a transaction that went out through the gateway. */
export type SentState = "sent" | "confirmed" | "finalized" | "failed" | "expired";

export interface SentTransaction {
  readonly signature: string;
  readonly network: Network;
  readonly keyId: string;
  /** Unix milliseconds. */
  readonly sentAtMs: number;
  readonly state: SentState;
  /** The slot of its block; null until it is in one. */
  readonly slot: bigint | null;
  /** How often it went out again. */
  readonly resends: number;
}

/** Where a transaction stands among those of its key. */
export type SentPlace = Pick<SentTransaction, "sentAtMs" | "signature">;

/** Newest first; those of one moment by their signatures, so that every process has the same order. */
export function inOrder(one: SentPlace, other: SentPlace): number {
  return (
    other.sentAtMs - one.sentAtMs || (one.signature < other.signature ? -1 : Number(one.signature > other.signature))
  );
}

/** One transaction on one network, whoever sent it and how often. */
interface Tracked {
  readonly signature: string;
  readonly network: Network;
  /** When each key sent it first, Unix milliseconds. */
  readonly senders: Map<string, number>;
  state: SentState;
  slot: bigint | null;
  resends: number;
  /** The parameters of each further send, and how many there may be in all; null when no sender wants any. */
  again: { readonly params: string; readonly most: number } | null;
  /** Blocks above which it can no longer land; null until it was looked for in vain since it was sent, or confirmed. */
  lastHeight: bigint | null;
  lastOutMs: number;
}

/** How often statuses are asked for and what is due goes out again (decisions: Upstream choice). */
const everyMs = 2_000;
/** Transactions that are remembered, counted for each key that sent one; the oldest go first. */
const remembersMax = 20_000;
/** A blockhash is good for so many blocks. */
const blockhashLifeBlocks = 150n;
/** As many as a node answers for in one call. */
const statusesPerCall = 256;
/** A sender may ask for as many as he likes; after these it has long expired. */
const resendsMax = 60;

export interface SentTransactionsDependencies {
  readonly clock: Clock;
  readonly pool: (network: Network) => Pick<UpstreamPool, "call"> | null;
  /** Reported once when what became of a transaction is known. */
  readonly settled: (network: Network, state: SentState) => void;
}

/**
 * Follows what was sent until it is finalized or can no longer land, and sends again what its sender asked to be sent
 * again: at most `maxRetries` times, every two seconds, without preflight. Kept in memory: after a restart no state is
 * reported, and nothing goes out again.
 */
export class SentTransactions implements Disposable {
  readonly #dependencies: SentTransactionsDependencies;
  /** By network and signature, in the order in which they were sent first. */
  readonly #tracked = new Map<string, Tracked>();
  /** The senders of all of them. */
  #senders = 0;
  #timer: Timer | null = null;
  readonly #flight = new SingleFlight(() => this.#check());

  constructor(dependencies: SentTransactionsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * A node took the transaction; `answer` is its answer, `params` what the sender sent, as JSON text. One that is known
   * is followed for this sender too, and goes out again as often as any of them asks from then on.
   */
  taken(sent: { readonly network: Network; readonly keyId: string }, params: string | null, answer: string): void {
    const signature = signatureIn(answer);
    if (signature === null) return;
    const { clock } = this.#dependencies;
    const name = `${sent.network} ${signature}`;
    const tracked = this.#tracked.get(name) ?? created(sent.network, signature, clock.monotonic());
    this.#tracked.set(name, tracked);
    if (!tracked.senders.has(sent.keyId)) {
      tracked.senders.set(sent.keyId, clock.now());
      this.#senders += 1;
    }
    // A node that takes it believes that it can land yet.
    if (tracked.state === "expired") {
      tracked.state = "sent";
      tracked.lastHeight = null;
    }
    const again = againOf(params);
    if (again !== null) {
      const most = Math.min(tracked.resends + again.most, resendsMax);
      if (tracked.again === null || most > tracked.again.most) tracked.again = { params: again.params, most };
      tracked.lastOutMs = clock.monotonic();
    }
    this.#forget();
    this.#timer ??= clock.every(everyMs, () => void this.check());
  }

  #forget(): void {
    for (const [name, { senders }] of this.#tracked) {
      if (this.#senders <= remembersMax) return;
      this.#tracked.delete(name);
      this.#senders -= senders.size;
    }
  }

  /** What this key has sent, newest first; of those after a place in that order when one is given. */
  of(keyId: string, most: number, after: SentPlace | null = null): SentTransaction[] {
    const sent: SentTransaction[] = [];
    for (const { senders, signature, network, state, slot, resends } of this.#tracked.values()) {
      const sentAtMs = senders.get(keyId);
      if (sentAtMs === undefined || (after !== null && inOrder(after, { sentAtMs, signature }) >= 0)) continue;
      sent.push({ signature, network, keyId, sentAtMs, state, slot, resends });
    }
    return sent.toSorted(inOrder).slice(0, most);
  }

  /**
   * Asks the nodes for the state of what is still open, and sends again what is due; joins the check under way. Runs by
   * itself while anything is open.
   */
  check(): Promise<void> {
    return this.#flight.run();
  }

  async #check(): Promise<void> {
    const open = [...this.#tracked.values()].filter(({ state }) => state === "sent" || state === "confirmed");
    const networks = new Set(open.map(({ network }) => network));
    await Promise.all(
      [...networks].map((network) =>
        this.#checkAt(
          network,
          open.filter((each) => each.network === network),
        ),
      ),
    );
    if (open.length > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  async #checkAt(network: Network, open: readonly Tracked[]): Promise<void> {
    const pool = this.#dependencies.pool(network);
    if (pool === null) return;
    const height = await readHeight(pool);
    for (let from = 0; from < open.length; from += statusesPerCall) {
      const some = open.slice(from, from + statusesPerCall);
      const statuses = await readStatuses(
        pool,
        some.map(({ signature }) => signature),
        // Nodes soon forget what is final, unless they are asked to look further back.
        { looksBack: some.some(({ state, lastHeight }) => state === "confirmed" && lastHeight !== null) },
      );
      // Without an answer nothing is concluded, not even that something expired.
      if (statuses === null) continue;
      for (const [index, tracked] of some.entries()) this.#evaluate(tracked, statuses[index] ?? null, height);
      await Promise.all(some.map((tracked) => this.#sendAgain(pool, tracked)));
    }
  }

  #evaluate(tracked: Tracked, status: SentStatus | null, height: bigint | null): void {
    const before = tracked.state;
    if (status !== null) {
      tracked.slot = status.slot;
      if (status.commitment !== "processed") {
        tracked.state = status.isFailed ? "failed" : status.commitment;
        // Should it not be found any more, it is looked for as long as if it had just been sent.
        tracked.lastHeight = null;
      }
    } else if (height !== null) {
      tracked.lastHeight ??= height + blockhashLifeBlocks;
      if (height > tracked.lastHeight) tracked.state = "expired";
      // A block that was left by a fork counts for nothing: it goes out again as if it had never been in one.
      if (tracked.state !== "confirmed") tracked.slot = null;
    }
    if (tracked.state !== before && tracked.state !== "confirmed")
      this.#dependencies.settled(tracked.network, tracked.state);
  }

  async #sendAgain(pool: Pick<UpstreamPool, "call">, tracked: Tracked): Promise<void> {
    const { again } = tracked;
    const nowMs = this.#dependencies.clock.monotonic();
    if (again === null || tracked.state !== "sent" || tracked.slot !== null || tracked.resends >= again.most) return;
    if (nowMs - tracked.lastOutMs < everyMs) return;
    tracked.resends += 1;
    tracked.lastOutMs = nowMs;
    const kind = "send" as const;
    await pool.call({
      method: "sendTransaction",
      params: again.params,
      kind,
      commitment: "processed",
      minimumSlot: null,
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#timer = null;
  }
}

function created(network: Network, signature: string, nowMs: number): Tracked {
  return {
    signature,
    network,
    senders: new Map(),
    state: "sent",
    slot: null,
    resends: 0,
    again: null,
    lastHeight: null,
    lastOutMs: nowMs,
  };
}

/** What a further send says: the same transaction, without preflight, and the node is not to repeat it by itself. */
function againOf(params: string | null): Tracked["again"] {
  const parsed = parseJsonExact(params ?? "[]");
  if (!parsed.ok || !Array.isArray(parsed.value)) return null;
  const [transaction, config] = parsed.value as readonly unknown[];
  if (typeof transaction !== "string" || typeof config !== "object" || config === null) return null;
  const { maxRetries, encoding } = config as { maxRetries?: unknown; encoding?: unknown };
  const most = typeof maxRetries === "number" || typeof maxRetries === "bigint" ? Number(maxRetries) : 0;
  if (!(most > 0)) return null;
  const form = typeof encoding === "string" ? { encoding } : {};
  return {
    params: JSON.stringify([transaction, { ...form, skipPreflight: true, maxRetries: 0 }]),
    most: Math.min(most, resendsMax),
  };
}
