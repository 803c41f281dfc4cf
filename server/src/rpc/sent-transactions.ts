import type { Network } from "@sluice/contract/tiers";
import { type Clock, SingleFlight, type Timer } from "@sluice/lib";
import { parseJsonExact } from "@sluice/wire/json";
import type { UpstreamPool } from "../upstreams/index.ts";
import { readHeight, readStatuses, type SentStatus, signatureIn } from "./sent-answers.ts";
import { SentBlocks, type SentFlow, type SentPlaceInChain } from "./sent-blocks.ts";

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
  /** The block that was told to hold it; null where none was, or a node says where it is. */
  blockhash: string | null;
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
  readonly pool: (network: Network) => Pick<UpstreamPool, "call" | "slotOf"> | null;
  /** Reported once when what became of a transaction is known. */
  readonly settled: (network: Network, state: SentState) => void;
  /** The blocks of a network cannot be followed; its nodes are asked meanwhile. */
  readonly followFailed: (network: Network, error: unknown) => void;
}

/**
 * Follows what was sent until it is finalized or can no longer land: by the blocks that this process has, else by what
 * nodes say. Sends again what its sender asked to be sent
 * again: at most `maxRetries` times, every two seconds, without preflight. Kept in memory: after a restart no state is
 * reported, and nothing goes out again.
 */
export class SentTransactions implements Disposable {
  readonly #dependencies: SentTransactionsDependencies;
  /** By network and signature, in the order in which they were sent first. */
  readonly #tracked = new Map<string, Tracked>();
  readonly #blocks = new Map<Network, SentBlocks>();
  /** The senders of all of them. */
  #senders = 0;
  #timer: Timer | null = null;
  #flowOf: (network: Network) => SentFlow | null = () => null;
  readonly #flight = new SingleFlight(() => this.#check());

  constructor(dependencies: SentTransactionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Where each network's blocks are had from now on, as this process has them; null while it has none. */
  follow(flowOf: (network: Network) => SentFlow | null): void {
    this.#flowOf = flowOf;
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
    const blocks = this.#blocksOf(sent.network);
    blocks.start();
    const place = blocks.find(signature);
    if (place !== null) this.#placed(tracked, place);
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
    for (const [network, blocks] of this.#blocks) if (!networks.has(network)) blocks.stop();
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
    const blocks = this.#blocksOf(network);
    blocks.start();
    if (blocks.isCurrent(pool.slotOf("confirmed"))) {
      await this.#lookBack(
        pool,
        open.filter((each) => this.#isOver(each, blocks.height)),
      );
      await Promise.all(open.map((tracked) => this.#sendAgain(pool, tracked)));
      return;
    }
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

  #blocksOf(network: Network): SentBlocks {
    const known = this.#blocks.get(network);
    if (known !== undefined) return known;
    const blocks = new SentBlocks({
      flow: () => this.#flowOf(network),
      receiver: {
        block: (transactions) => {
          for (const [signature, place] of transactions) {
            const tracked = place === null ? undefined : this.#tracked.get(`${network} ${signature}`);
            if (tracked !== undefined && place !== null) this.#placed(tracked, place);
          }
        },
        undone: (blockhash) => this.#undone(blockhash),
        finalized: (slot) => this.#finalized(network, slot),
        failed: (error) => this.#dependencies.followFailed(network, error),
      },
    });
    this.#blocks.set(network, blocks);
    return blocks;
  }

  /** A block holds it. */
  #placed(tracked: Tracked, { slot, blockhash, isFailed }: SentPlaceInChain): void {
    if (tracked.state === "finalized" || (tracked.state === "failed" && tracked.blockhash === null)) return;
    tracked.slot = slot;
    tracked.blockhash = blockhash;
    tracked.lastHeight = null;
    this.#moveTo(tracked, isFailed ? "failed" : "confirmed");
  }

  /** What was in a block that a fork has left counts as if it had just been sent. */
  #undone(blockhash: string): void {
    for (const tracked of this.#tracked.values()) {
      if (tracked.blockhash !== blockhash || tracked.state === "finalized") continue;
      tracked.slot = null;
      tracked.blockhash = null;
      tracked.state = "sent";
    }
  }

  #finalized(network: Network, slot: bigint): void {
    for (const tracked of this.#tracked.values()) {
      if (tracked.network !== network || tracked.blockhash === null || tracked.state !== "confirmed") continue;
      if (tracked.slot !== null && tracked.slot <= slot) this.#moveTo(tracked, "finalized");
    }
  }

  /** Whether the blocks that were told say that it can no longer land. */
  #isOver(tracked: Tracked, height: bigint | null): boolean {
    if (height === null || tracked.blockhash !== null) return false;
    tracked.lastHeight ??= height + blockhashLifeBlocks;
    return height > tracked.lastHeight;
  }

  /** What is in none of the blocks that were told may have been in one long before it was sent again. */
  async #lookBack(pool: Pick<UpstreamPool, "call">, over: readonly Tracked[]): Promise<void> {
    for (let from = 0; from < over.length; from += statusesPerCall) {
      const some = over.slice(from, from + statusesPerCall);
      const signatures = some.map(({ signature }) => signature);
      const statuses = await readStatuses(pool, signatures, { looksBack: true });
      if (statuses === null) continue;
      for (const [index, tracked] of some.entries()) {
        // A block may have been told meanwhile.
        if (tracked.blockhash !== null) continue;
        const status = statuses[index] ?? null;
        if (status === null) tracked.slot = null;
        if (status === null) this.#moveTo(tracked, "expired");
        else this.#evaluate(tracked, status, null);
      }
    }
  }

  #moveTo(tracked: Tracked, state: SentState): void {
    const before = tracked.state;
    tracked.state = state;
    if (state !== before && state !== "confirmed") this.#dependencies.settled(tracked.network, state);
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
    for (const blocks of this.#blocks.values()) blocks[Symbol.dispose]();
  }
}

function created(network: Network, signature: string, nowMs: number): Tracked {
  return {
    signature,
    network,
    senders: new Map(),
    state: "sent",
    slot: null,
    blockhash: null,
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
