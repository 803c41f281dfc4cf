import type { Network } from "@sluice/contract/tiers";
import { type Clock, sleep } from "@sluice/lib";
import { parserVersion } from "@sluice/parser";
import {
  type HeldIdentity,
  type LedgerChainStore,
  type LedgerParsedStore,
  type ReparseOrder,
  type SlotSpan,
  versionOrder,
} from "../../ledger/index.ts";
import type { ChainIdentity } from "../../log/index.ts";
import type { HistoryEvents } from "../events.ts";
import { identityOf } from "../writer/written-chain.ts";
import { Reparser } from "./reparser.ts";

export interface ChainReparseOptions {
  readonly network: Network;
  readonly chain: ChainIdentity;
  /** Whether votes have rows. */
  readonly votes: boolean;
  /** What sentences call the native currency; SOL where it is left out. */
  readonly nativeSymbol?: string | undefined;
  /** The version that rows are to have: that of the parser, unless a test says otherwise. */
  readonly version?: number;
}

export interface ChainReparseDependencies {
  readonly store: Pick<LedgerChainStore, "held">;
  readonly parsed: LedgerParsedStore;
  readonly clock: Clock;
  readonly events: Pick<HistoryEvents, "reparsed" | "reparseLeft" | "reparseFailed" | "reparseDone" | "parserFault">;
}

/** How re-parsing of a network does. */
export interface ReparseProgress {
  /** Of the last minute; null while nothing is parsed. */
  readonly transactionsPerSecond: number | null;
  readonly slotsPerSecond: number | null;
  /** How far the order is that is worked on; null while none is. */
  readonly order: Pick<ReparseOrder, "id" | "next" | "transactions"> | null;
  /** Why nothing is parsed now. */
  readonly fault: string | null;
}

const waits = { idleMs: 15_000, faultMs: 5_000, faultMsMax: 60_000 } as const;
/** Slots in which it is looked at once which blocks lack rows. */
const windowSlots = 2_048n;
/** Slots without work after which it is written down that they are done; a new process looks at them again. */
const unsavedSlotsMax = 16_384n;
const saveEveryMs = 1_000;
const rateWindowMs = 60_000;
/** What the version's own order takes of the process, and what an operator's takes. */
const shares = { version: 0.25, ordered: 0.7 } as const;

/** Where an order is. */
interface Running {
  order: ReparseOrder;
  readonly kind: keyof typeof shares;
  savedAtMs: number;
  /** As the ledger has it. */
  saved: Pick<ReparseOrder, "next" | "state" | "transactions"> | null;
  isCancelled: boolean;
}

/**
 * Parses the history of a network again: what operators have ordered, the oldest order first, and by itself all
 * transactions without a row of the parser's version. The process that writes the ledger does it; killed, the next one
 * goes on where the orders say. Rows of a version are the same whoever wrote them, so twice does no harm.
 */
export class ChainReparse implements AsyncDisposable {
  readonly #options: ChainReparseOptions & { readonly version: number };
  readonly #dependencies: ChainReparseDependencies;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #done: { readonly atMs: number; readonly slots: number; readonly transactions: number }[] = [];
  #current: Running | null = null;
  #fault: string | null = null;
  #faults = 0;
  /** Of the version's own order: slots below it were looked at, also where the ledger does not say so yet. */
  #seen = 0n;
  /** Ends the present wait. */
  #wake = new AbortController();

  constructor(options: ChainReparseOptions, dependencies: ChainReparseDependencies) {
    this.#options = { version: parserVersion, ...options };
    this.#dependencies = dependencies;
    this.#running = this.#run();
  }

  progress(): ReparseProgress {
    const nowMs = this.#dependencies.clock.monotonic();
    this.#forget(nowMs);
    const [first] = this.#done;
    const seconds = first === undefined ? null : Math.max(1, (nowMs - first.atMs) / 1_000);
    const pace = (of: "slots" | "transactions"): number | null =>
      seconds === null ? null : this.#done.reduce((sum, each) => sum + each[of], 0) / seconds;
    return {
      transactionsPerSecond: pace("transactions"),
      slotsPerSecond: pace("slots"),
      order: this.#current?.order ?? null,
      fault: this.#fault,
    };
  }

  /** Looks at once for what was ordered. */
  wake(): void {
    this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, events } = this.#dependencies;
    while (!this.#ended.signal.aborted) {
      let waitMs: number = waits.idleMs;
      try {
        if (await this.#once()) waitMs = 0;
        this.#faults = 0;
        this.#fault = null;
      } catch (error) {
        this.#faults++;
        waitMs = Math.min(waits.faultMs * this.#faults, waits.faultMsMax);
        const message = error instanceof Error ? error.message : String(error);
        if (message !== this.#fault) events.reparseFailed(this.#options.network, message);
        this.#fault = message;
      }
      this.#current = null;
      if (this.#wake.signal.aborted && !this.#ended.signal.aborted) this.#wake = new AbortController();
      else if (waitMs > 0) await sleep(clock, waitMs, this.#wake.signal);
    }
  }

  /** @returns whether an order was worked on and more may wait */
  async #once(): Promise<boolean> {
    const { network, chain } = this.#options;
    const { store, parsed } = this.#dependencies;
    const held = await store.held(network);
    // The writer decides what becomes of another chain.
    if (held.chain === null || !isOf(held.chain, identityOf(chain))) return false;
    const orders = await parsed.orders(network);
    const ordered = orders.find(isOrdered);
    if (ordered !== undefined) {
      await this.#work(this.#runningOf(ordered, "ordered", ordered));
      return true;
    }
    const last = orders.find(({ id }) => id === versionOrder) ?? null;
    const own = this.#versionOrder(last, held.ranges);
    if (own === null) return false;
    await this.#work(this.#runningOf(own, "version", last?.parserVersion === own.parserVersion ? last : null));
    // What came first, if anything did, is looked for at once.
    return this.#seen < own.until;
  }

  /** What is held and final and was not looked at yet; null where nothing is, or a newer version has begun. */
  #versionOrder(last: ReparseOrder | null, ranges: readonly SlotSpan[]): ReparseOrder | null {
    const { version } = this.#options;
    const first = ranges[0]?.first;
    const until = ranges.at(-1)?.until;
    if (first === undefined || until === undefined || (last !== null && last.parserVersion > version)) return null;
    if (last?.parserVersion === version) {
      if (last.next > this.#seen) this.#seen = last.next;
      return this.#seen >= until ? null : { ...last, until, next: this.#seen, state: "active" };
    }
    const begun = { first, until, next: first, state: "active", transactions: 0n } as const;
    return { ...begun, id: versionOrder, parserVersion: version };
  }

  /** Until the order is through, or something else comes first. */
  async #work(running: Running): Promise<void> {
    const { network, votes, nativeSymbol, version } = this.#options;
    const { parsed, clock, events } = this.#dependencies;
    const { signal } = this.#ended;
    const beganMs = clock.monotonic();
    const isOwn = running.kind === "version";
    this.#current = running;
    const reparser = new Reparser(
      { network, votes, nativeSymbol, share: shares[running.kind] },
      { store: parsed, clock, signal, unreadable: (of) => events.parserFault(network, of) },
    );
    const advance = (next: bigint, transactions: number) => this.#advance(running, { next, transactions });
    while (running.order.next < running.order.until && !signal.aborted) {
      if (!(await this.#goesOn(running))) break;
      const { next: first, until: end } = running.order;
      const until = first + windowSlots < end ? first + windowSlots : end;
      const question = { first, until, version: isOwn ? version : null, votes };
      let isWhole = true;
      await reparser.parse(await parsed.blocks(network, question), async (next, transactions) => {
        isWhole = await advance(next, transactions);
        return isWhole;
      });
      if (!isWhole || signal.aborted) break;
      await advance(until, 0);
    }
    await this.#end(running, clock.monotonic() - beganMs);
  }

  /** Whether nobody cancelled it, and nothing that comes first was ordered. */
  async #goesOn(running: Running): Promise<boolean> {
    const orders = await this.#dependencies.parsed.orders(this.#options.network);
    if (running.kind === "version") return !orders.some(isOrdered);
    running.isCancelled = !orders.some(({ id, state }) => id === running.order.id && state === "active");
    return !running.isCancelled;
  }

  async #advance(running: Running, { next, transactions }: { next: bigint; transactions: number }): Promise<boolean> {
    const { network } = this.#options;
    const { clock, events } = this.#dependencies;
    const { order } = running;
    const nowMs = clock.monotonic();
    running.order = { ...order, next, transactions: order.transactions + BigInt(transactions) };
    if (running.kind === "version") this.#seen = next;
    this.#forget(nowMs);
    this.#done.push({ atMs: nowMs, slots: Number(next - order.next), transactions });
    events.reparsed(network, transactions);
    events.reparseLeft(network, order.until - next);
    if (nowMs - running.savedAtMs < saveEveryMs) return true;
    running.savedAtMs = nowMs;
    if (isWorthSaving(running)) await this.#save(running);
    return await this.#goesOn(running);
  }

  /** An order that is through is done. */
  async #end(running: Running, tookMs: number): Promise<void> {
    const { network } = this.#options;
    const { events } = this.#dependencies;
    if (running.isCancelled) return;
    const isThrough = running.order.next >= running.order.until;
    running.order = { ...running.order, state: isThrough ? "done" : "active" };
    const worked = running.order.transactions - (running.saved?.transactions ?? 0n);
    if (isWorthSaving(running)) await this.#save(running);
    if (!isThrough) return;
    events.reparseLeft(network, 0n);
    if (running.kind === "ordered" || worked > 0n) {
      events.reparseDone(network, { order: running.order.id, transactions: running.order.transactions, tookMs });
    }
  }

  async #save(running: Running): Promise<void> {
    await this.#dependencies.parsed.putOrder(this.#options.network, running.order);
    running.saved = running.order;
  }

  #runningOf(order: ReparseOrder, kind: Running["kind"], saved: Running["saved"]): Running {
    return { order, kind, saved, savedAtMs: this.#dependencies.clock.monotonic(), isCancelled: false };
  }

  #forget(nowMs: number): void {
    if (this.#done.length > 0 && nowMs - (this.#done[0]?.atMs ?? nowMs) >= rateWindowMs) {
      this.#done = this.#done.filter(({ atMs }) => nowMs - atMs < rateWindowMs);
    }
  }
}

/** Slots of the version's own order that needed nothing are not written down one by one. */
function isWorthSaving({ order, kind, saved }: Running): boolean {
  if (kind === "ordered" || saved === null || order.state !== saved.state) return true;
  return order.transactions > saved.transactions || order.next - saved.next >= unsavedSlotsMax;
}

const isOrdered = ({ id, state }: ReparseOrder): boolean => id !== versionOrder && state === "active";
const isOf = (held: HeldIdentity, own: HeldIdentity): boolean => held.genesisHash === own.genesisHash;
