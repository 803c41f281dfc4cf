import type { Network } from "@sluice/contract/tiers";
import type { Clock, Timer } from "@sluice/lib";
import { type ChainValue, type callNode, memberOf } from "../chain/index.ts";
import type { ChainRecord, ChainStore } from "../state/index.ts";

/**
 * Whether a node is of the network's chain. `unverified`: it has not told its genesis, or cannot; it gets no calls
 * then, as one of another chain gets none.
 */
export type Membership = "joined" | "unverified" | "other-chain";

/** A node as it is checked; `chain` is the last decision. */
export interface CheckedNode {
  readonly label: string;
  readonly options: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  chain: Membership;
}

type ChainBlock = NonNullable<ChainRecord["first"]>;

export interface ChainCheckOptions {
  readonly network: Network;
  /** The genesis hash that an operator has set; null leaves it to what is stored, else to the nodes. */
  readonly genesis: string | null;
  /** Labels of nodes that join although they do not tell their genesis. */
  readonly allowUnknown: readonly string[];
  /** Whether another chain than the stored one is taken as the network's: a development chain starts anew. */
  readonly followsNodes: boolean;
}

export interface ChainCheckDependencies {
  readonly clock: Pick<Clock, "monotonic" | "every">;
  /** In the order of the configuration. */
  readonly nodes: () => readonly CheckedNode[];
  readonly store: Pick<ChainStore, "find" | "put">;
  readonly ask: typeof callNode;
  /** Called when a node has joined or has been kept out. */
  readonly onMembership: (node: CheckedNode) => void;
  /** Called when the network's chain is another one than before. */
  readonly onNewChain: (chain: ChainRecord) => void;
  /** Receives an error of the store; the check is made again. */
  readonly onError: (error: unknown) => void;
}

/** How often nodes that have not joined are asked. */
const tickMs = 2_000;
/**
 * How often nodes that have joined are asked: an address may lead to another node later, and a chain may start anew
 * behind all of them, of which answers that are kept would tell for so long. Two small calls to each node.
 */
const recheckMs = 5_000;
const askTimeoutMs = 2_000;

/**
 * Which nodes are of a network's chain (decisions.md, Gateway: second reading). A node joins when its genesis hash is
 * the expected one: what an operator has set, else what is stored, else what most nodes tell, the first configured on a
 * tie. The hash of a block tells the chain from another one that was started anew with the same genesis. Logs, ledger
 * and caches know the chain by its genesis and its stored first block, which stay what they are when nodes purge that
 * block: a later one is compared in its place (docs/decisions/0092).
 */
export class ChainCheck implements Disposable {
  readonly #options: ChainCheckOptions;
  readonly #dependencies: ChainCheckDependencies;
  /** What each node has told last; null for one that refuses to tell. */
  readonly #told = new WeakMap<CheckedNode, string | null>();
  readonly #asked = new WeakMap<CheckedNode, number>();
  /** Nodes of which a block contradicts the stored one. */
  #foreign: ReadonlySet<CheckedNode> = new Set();
  /** A later block of the chain, compared since no node has the stored one any more; null while that one is. */
  #later: ChainRecord["first"] = null;
  /** What is stored; undefined before it was read. */
  #stored: ChainRecord | null | undefined;
  #expected: string | null = null;
  #pastAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;
  /** Settle when the nodes of the present round, and of the one that follows it, were asked for their genesis. */
  #current: PromiseWithResolvers<void> | null = null;
  #next: PromiseWithResolvers<void> | null = null;
  #timer: Timer | null = null;

  constructor(options: ChainCheckOptions, dependencies: ChainCheckDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#timer ??= this.#dependencies.clock.every(tickMs, () => void this.check(), { keepsAlive: true });
    void this.check();
  }

  /** The network's chain as it is known now; null before any node has told its genesis. */
  get chain(): ChainRecord | null {
    return this.#stored ?? null;
  }

  /** Settles when nodes that were never asked have answered, so that a call may wait for them; null without any. */
  get pending(): Promise<void> | null {
    const isNew = (node: CheckedNode): boolean => node.chain === "unverified" && !this.#asked.has(node);
    return this.#dependencies.nodes().some(isNew) ? ((this.#next ?? this.#current)?.promise ?? null) : null;
  }

  /** A node speaks: if it could not be asked before, it can be now. */
  heard(node: CheckedNode): void {
    if (node.chain === "unverified" && !this.#told.has(node)) void this.check();
  }

  /** Asks the nodes that are due, once it was started. Never rejects; resolves when they have answered or not. */
  check(): Promise<void> {
    if (this.#timer === null) return Promise.resolve();
    this.#next ??= Promise.withResolvers<void>();
    this.#running ??= this.#rounds().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Another round follows for what was wished for during one. */
  async #rounds(): Promise<void> {
    while (this.#next !== null) {
      this.#current = this.#next;
      this.#next = null;
      try {
        this.#stored ??= await this.#dependencies.store.find(this.#options.network);
        await this.#askGenesis();
        this.#current.resolve();
        await this.#askPast();
      } catch (error) {
        this.#dependencies.onError(error);
      }
      this.#current.resolve();
    }
  }

  async #askGenesis(): Promise<void> {
    const { clock, nodes } = this.#dependencies;
    const nowMs = clock.monotonic();
    const due = nodes().filter((node) => {
      const askedAtMs = this.#asked.get(node);
      return node.chain !== "joined" || askedAtMs === undefined || nowMs - askedAtMs >= recheckMs;
    });
    await Promise.all(
      due.map(async (node) => {
        const outcome = await this.#ask(node, "getGenesisHash", "[]");
        this.#asked.set(node, nowMs);
        if (outcome.ok && typeof outcome.result === "string") this.#told.set(node, outcome.result);
        else if (outcome.ok || outcome.reason === "refused") this.#told.set(node, null);
        await this.#settle(false);
      }),
    );
    if (due.length > 0) await this.#settle(true);
  }

  /** Decides by what was told so far; `isOver` when no more answers come in this round. */
  async #settle(isOver: boolean): Promise<void> {
    const expected = this.#expectation(isOver);
    for (const node of this.#dependencies.nodes()) this.#place(node, expected);
    if (expected === null) return;
    const before = this.#expected ?? this.#stored?.genesis ?? null;
    this.#expected = expected;
    if (this.#stored?.genesis === expected) return;
    this.#later = null;
    await this.#keep({ genesis: expected, first: null }, before !== null && before !== expected);
  }

  #expectation(isOver: boolean): string | null {
    const { genesis, followsNodes } = this.#options;
    if (genesis !== null) return genesis;
    const stored = this.#stored?.genesis ?? null;
    if (!followsNodes && stored !== null) return stored;
    const nodes = this.#dependencies.nodes();
    const told = nodes.flatMap((node) => this.#told.get(node) ?? []);
    const found = mostFrequent(told);
    if (found === null) return null;
    return isOver || found.count * 2 > nodes.length ? found.value : this.#expected;
  }

  #place(node: CheckedNode, expected: string | null): void {
    const told = this.#told.get(node);
    if (told === undefined || (told !== null && expected === null)) return;
    const isAllowed = told === null && this.#options.allowUnknown.includes(node.label);
    const isOfChain = (told === null ? isAllowed : told === expected) && !this.#foreign.has(node);
    const chain = isOfChain ? "joined" : told === null ? "unverified" : "other-chain";
    if (chain === node.chain) return;
    node.chain = chain;
    this.#dependencies.onMembership(node);
  }

  /** Compares a block of the past with the stored one, and stores one where none is known. */
  async #askPast(): Promise<void> {
    const { clock, nodes } = this.#dependencies;
    const joined = nodes().filter((node) => node.chain === "joined" || this.#foreign.has(node));
    if (joined.length === 0 || this.#stored === null || this.#stored === undefined) return;
    if (clock.monotonic() - this.#pastAtMs < recheckMs && this.#stored.first !== null) return;
    this.#pastAtMs = clock.monotonic();
    const { first } = this.#stored;
    if (first === null) return await this.#keepFirst(joined);
    for (const known of this.#later === null ? [first] : [this.#later, first]) {
      const told = await Promise.all(joined.map((node) => this.#blockhashAt(node, known.slot)));
      if (told.every((blockhash) => blockhash === null)) continue;
      if (known === first) this.#later = null;
      return await this.#compare(joined, known, told);
    }
    await this.#findLater(joined, first);
  }

  async #compare(joined: readonly CheckedNode[], known: ChainBlock, told: readonly (string | null)[]): Promise<void> {
    const others = told.filter((blockhash) => blockhash !== null && blockhash !== known.blockhash);
    const isFollowed = this.#options.followsNodes || this.#options.genesis !== null;
    if (isFollowed) {
      const found = mostFrequent(others.filter((blockhash) => blockhash !== null));
      if (found === null || found.count * 2 <= joined.length) return;
      return await this.#startAnew({ ...known, blockhash: found.value });
    }
    // A block that was taken in the place of the stored one, and that most nodes contradict, was a wrong one.
    if (known === this.#later && others.length * 2 > joined.length) {
      this.#later = null;
      return;
    }
    this.#foreign = new Set(joined.filter((_node, index) => others.includes(told[index] ?? known.blockhash)));
    await this.#settle(false);
  }

  /**
   * No node tells the blocks that are known. Nodes that begin after the first one have purged it and say nothing about
   * the chain. One that has blocks from before it and none there is of another chain.
   */
  async #findLater(joined: readonly CheckedNode[], first: ChainBlock): Promise<void> {
    const others: ChainBlock[] = [];
    for (const node of joined) {
      const available = await this.#firstAvailableOf(node);
      if (available === null) continue;
      if (available > first.slot) {
        const later = await this.#blockWithin(node, available);
        if (later === null) continue;
        this.#later = later;
        return;
      }
      const earliest = this.#options.followsNodes ? await this.#blockFrom(node, available) : null;
      if (earliest === null || earliest.slot >= first.slot) continue;
      const next = await this.#slotFrom(node, first.slot);
      if (next !== undefined && next !== first.slot) others.push(earliest);
    }
    const [other] = others;
    if (other !== undefined && others.length * 2 > joined.length) await this.#startAnew(other);
  }

  async #startAnew(first: ChainBlock): Promise<void> {
    if (this.#stored === null || this.#stored === undefined) return;
    this.#later = null;
    await this.#keep({ ...this.#stored, first }, true);
  }

  async #keepFirst(joined: readonly CheckedNode[]): Promise<void> {
    for (const node of joined) {
      const available = await this.#firstAvailableOf(node);
      const first = available === null ? null : await this.#blockFrom(node, available);
      if (first === null || this.#stored === null || this.#stored === undefined) continue;
      await this.#keep({ ...this.#stored, first }, false);
      return;
    }
  }

  async #keep(chain: ChainRecord, isNew: boolean): Promise<void> {
    this.#stored = chain;
    if (isNew) this.#dependencies.onNewChain(chain);
    await this.#dependencies.store.put(this.#options.network, chain);
  }

  async #firstAvailableOf(node: CheckedNode): Promise<bigint | null> {
    const available = await this.#ask(node, "getFirstAvailableBlock", "[]");
    return available.ok && typeof available.result === "bigint" ? available.result : null;
  }

  /** A block half way between where the node's blocks begin and the last final one, which no node purges soon. */
  async #blockWithin(node: CheckedNode, available: bigint): Promise<ChainBlock | null> {
    const final = await this.#ask(node, "getSlot", '[{"commitment":"finalized"}]');
    if (!final.ok || typeof final.result !== "bigint" || final.result < available) return null;
    return await this.#blockFrom(node, (available + final.result) / 2n);
  }

  async #blockFrom(node: CheckedNode, from: bigint): Promise<ChainBlock | null> {
    // The genesis itself is block 0.
    const slot = await this.#slotFrom(node, from > 0n ? from : 1n);
    if (slot === undefined || slot === null) return null;
    const blockhash = await this.#blockhashAt(node, slot);
    return blockhash === null ? null : { slot, blockhash };
  }

  /** The first slot from one on of which the node has a block: null where it has none, undefined where it is silent. */
  async #slotFrom(node: CheckedNode, from: bigint): Promise<bigint | null | undefined> {
    const blocks = await this.#ask(node, "getBlocksWithLimit", `[${from},1]`);
    if (!blocks.ok || !Array.isArray(blocks.result)) return undefined;
    const slot = blocks.result[0] as ChainValue | undefined;
    if (slot === undefined) return null;
    return typeof slot === "bigint" && slot < 2n ** 63n ? slot : undefined;
  }

  /** Null where the node has no block at that slot, or cannot be asked. */
  async #blockhashAt(node: CheckedNode, slot: bigint): Promise<string | null> {
    const config = '{"transactionDetails":"none","rewards":false,"maxSupportedTransactionVersion":0}';
    const block = await this.#ask(node, "getBlock", `[${slot},${config}]`);
    const blockhash = block.ok ? memberOf(block.result, "blockhash") : undefined;
    return typeof blockhash === "string" ? blockhash : null;
  }

  #ask({ options }: CheckedNode, method: string, params: string): ReturnType<typeof callNode> {
    return this.#dependencies.ask(options, { method, params, timeoutMs: askTimeoutMs });
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }
}

/** The most frequent of some values, the first of them on a tie. */
function mostFrequent(values: readonly string[]): { readonly value: string; readonly count: number } | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let found: { value: string; count: number } | null = null;
  for (const [value, count] of counts) if (found === null || count > found.count) found = { value, count };
  return found;
}
