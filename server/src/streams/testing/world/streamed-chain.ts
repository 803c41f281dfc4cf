import { type ConfirmedBlock, type ConfirmedTransaction, packBlock, packTransaction } from "@sluice/encode";
import { type Random, seededRandom } from "@sluice/lib";
import { TransactionView } from "@sluice/parser";
import { parseAddress, type Slot } from "@sluice/wire/identifiers";
import { type BlockEvents, BlockReader, updateText } from "../../../events/index.ts";
import { drawAddresses, drawTransaction, popular } from "../../../events/testing/drawn-transactions.ts";
import { type NaiveFacts, naiveFacts, naiveTest } from "../../../events/testing/naive-matcher.ts";
import { decodeCursor } from "../../../log/cursor.ts";
import type { BlockHeader, ChainIdentity, LogRecord } from "../../../log/index.ts";
import { hashOf } from "../../../log/testing/chain-model.ts";
import type { StreamSpec } from "../../socket/stream-spec.ts";

export const slotMs = 400;
export const firstSlot = 100;
/** Slots from a block to its finality. */
export const finalitySlots = 14;

/** A block of the world, whether anybody has it or not. */
export interface WorldBlock {
  readonly header: BlockHeader;
  readonly parent: WorldBlock | null;
  readonly block: ConfirmedBlock;
  /** By place in the pool of transactions. */
  readonly places: readonly number[];
  /** Nobody has it: the log tells a gap. */
  readonly isUnavailable: boolean;
}

/** What is told of blocks: their commitment is not `processed`. */
export type ToldSpec = StreamSpec & { readonly commitment: "confirmed" | "finalized" };

/** Of six in a block the body stays within 4 kB: longer ones are packed by threads, in a time that no seed gives. */
const transactionBytesMax = 600;

/** Transactions, of which blocks are made: drawn once, since to encode them is what costs. */
const poolRandom = seededRandom(20_261_127);
export const addresses = drawAddresses(24, () => poolRandom.bytes(32));
interface PooledTransaction {
  readonly transaction: ConfirmedTransaction;
  readonly facts: NaiveFacts;
}
export const pool: readonly PooledTransaction[] = drawPool(80);

function drawPool(count: number): PooledTransaction[] {
  const drawn: PooledTransaction[] = [];
  while (drawn.length < count) {
    const transaction = drawTransaction(poolRandom, addresses);
    if (isOfAddresses(transaction) && packTransaction(transaction, 0).length <= transactionBytesMax)
      drawn.push(pooled(transaction));
  }
  return drawn;
}

/** Names that are no address have no place in the body of a block. */
function isOfAddresses({ meta }: ConfirmedTransaction): boolean {
  const { preTokenBalances, postTokenBalances, loadedAddresses } = meta ?? {};
  const owners = [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])].map(({ owner }) => owner);
  const loaded = [...(loadedAddresses?.writable ?? []), ...(loadedAddresses?.readonly ?? [])];
  return [...owners, ...loaded].every((text) => text === null || parseAddress(text) !== null);
}

/** With balances and logs. */
function pooled(drawn: ConfirmedTransaction): PooledTransaction {
  const keys = new TransactionView(drawn).keys.length;
  const balances = (): bigint[] => Array.from({ length: keys }, () => BigInt(Math.floor(poolRandom.next() * 4)));
  const meta =
    drawn.meta === null
      ? null
      : { ...drawn.meta, preBalances: balances(), postBalances: balances(), logs: ["Program log: a"] };
  const transaction = { ...drawn, meta };
  return { transaction, facts: naiveFacts(new TransactionView(transaction)) };
}

/** A record, and when an ingester has it. */
export interface TimedRecord {
  readonly atMs: number;
  readonly record: LogRecord;
}

export interface ChainPlan {
  readonly slots: number;
  readonly forks: number;
  readonly unavailable: number;
  /** Of blocks that come late. */
  readonly late: number;
}

/** Slots in which another chain than that which stands in the end is confirmed, until nodes have passed them. */
export interface DeadBranch {
  readonly from: number;
  readonly to: number;
  readonly blocks: ReadonlyMap<number, WorldBlock>;
}

/** A chain with skipped slots, branches of confirmed blocks that die, and blocks that nobody has. */
export class StreamedChain {
  readonly identity: ChainIdentity;
  readonly blocks = new Map<string, WorldBlock>();
  readonly records: TimedRecord[] = [];
  readonly root: WorldBlock;
  /** The blocks that stand in the end. */
  readonly standing: WorldBlock[] = [];
  readonly branches: DeadBranch[] = [];
  readonly #reader = new BlockReader();
  readonly #items = new WeakMap<WorldBlock, Map<string, readonly number[]>>();
  readonly #random: Random;
  readonly #seed: string;
  readonly #plan: ChainPlan;

  constructor(random: Random, plan: ChainPlan, fromMs: number) {
    this.#random = random;
    this.#plan = plan;
    this.#seed = String(random.next());
    this.identity = { genesisHash: hashOf("genesis"), firstBlockhash: hashOf(`${this.#seed} first`) };
    this.root = this.#make(`${this.#seed} root`, firstSlot - 1, null);
    this.#grow(fromMs);
    this.records.sort((one, other) => one.atMs - other.atMs);
  }

  /** How many blocks a slot has, on the chain and on branches that die. */
  blocksOf(slot: bigint): number {
    return [...this.blocks.values()].filter(({ header }) => header.slot === slot).length;
  }

  get tip(): WorldBlock {
    return this.standing.at(-1) ?? this.root;
  }

  get lastMs(): number {
    return this.records.at(-1)?.atMs ?? 0;
  }

  /** The members of a block that a subscription is told of, by their places; 0 for a block as a whole. */
  items(block: WorldBlock, spec: ToldSpec): readonly number[] {
    const key = JSON.stringify([spec.channel, spec.accounts, spec.programs, spec.failed, spec.votes]);
    const known = this.#items.get(block) ?? new Map<string, readonly number[]>();
    this.#items.set(block, known);
    const items = known.get(key) ?? this.#itemsOf(block, spec);
    known.set(key, items);
    return items;
  }

  #itemsOf(block: WorldBlock, spec: ToldSpec): readonly number[] {
    if (block === this.root || block.isUnavailable) return [];
    const { accounts, programs, failed, votes } = spec;
    if (spec.channel === "transactions") {
      const filter = {
        ...(accounts === null ? {} : { accountInclude: accounts }),
        ...(programs === null ? {} : { programs }),
        ...(failed ? {} : { failed: false }),
        ...(votes ? {} : { vote: false }),
      };
      const meets = naiveTest(filter);
      return block.places.flatMap((place, index) => {
        const each = pool[place];
        return each !== undefined && meets(each.facts) ? [index] : [];
      });
    }
    if (spec.channel !== "accounts") return [0];
    return this.events(block).accounts.updates.flatMap(({ account, owner }, index) => {
      const isAsked = accounts === null || accounts.includes(account);
      return isAsked && (programs === null || (owner !== null && programs.includes(owner))) ? [index] : [];
    });
  }

  /** `data` of the message about a member of a block. */
  data(block: WorldBlock, index: number, { channel, commitment }: ToldSpec): string {
    const { slot, parentSlot } = block.header;
    if (channel === "slots") return `{"slot":${slot},"parent":${parentSlot},"status":"${commitment}"}`;
    const events = this.events(block);
    if (channel === "blocks") return events.text(commitment);
    if (channel === "transactions") return events.transactions[index]?.text(commitment) ?? "";
    const update = events.accounts.updates[index];
    return update === undefined ? "" : updateText(slot, update);
  }

  events(block: WorldBlock): BlockEvents {
    return this.#reader.events(block.block);
  }

  #grow(fromMs: number): void {
    const { slots } = this.#plan;
    const last = firstSlot + slots;
    const forks = this.#drawForks(last);
    const hole = this.#drawHole(forks, last);
    let tip = this.root;
    let heldUntil = 0;
    for (let slot = firstSlot; slot <= last; slot += 1) {
      const isForced = slot === firstSlot || slot >= last - 1 || hole.has(slot) || hole.has(slot - 1);
      const fork = forks.get(slot);
      if (fork !== undefined) {
        heldUntil = slot + fork;
        this.#branch(tip, { from: slot, to: slot + fork - 1 }, fromMs);
      }
      if (!isForced && this.#random.next() < 0.15) continue;
      const block = this.#make(`${this.#seed} ${slot}`, slot, tip, hole.has(slot));
      tip = block;
      this.standing.push(block);
      // What stands is seen when the branch beside it has died.
      const atMs = fromMs + Math.max(slot, heldUntil) * slotMs - firstSlot * slotMs;
      if (block.isUnavailable) this.#gap(block, atMs + 2_000 + 6 * slotMs);
      else {
        this.#store(block, atMs);
        this.#say(atMs + finalitySlots * slotMs, { kind: "stage", header: block.header, stage: "finalized" });
      }
    }
  }

  #drawForks(last: number): ReadonlyMap<number, number> {
    const forks = new Map<number, number>();
    let after = firstSlot + 2;
    for (let fork = 0; fork < this.#plan.forks; fork += 1) {
      const from = after + Math.floor(this.#random.next() * 12);
      const length = 1 + Math.floor(this.#random.next() * 4);
      after = from + length + 2;
      if (after < last - 2) forks.set(from, length);
    }
    return forks;
  }

  /** Slots of blocks that nobody has: where no branch is near. */
  #drawHole(forks: ReadonlyMap<number, number>, last: number): ReadonlySet<number> {
    const hole = new Set<number>();
    if (this.#plan.unavailable === 0) return hole;
    const beyond = Math.max(firstSlot, ...[...forks].map(([slot, length]) => slot + length)) + 3;
    const from = beyond + Math.floor(this.#random.next() * 6);
    for (let slot = from; slot < from + this.#plan.unavailable && slot < last - 4; slot += 1) hole.add(slot);
    return hole;
  }

  #branch(parent: WorldBlock, { from, to }: { readonly from: number; readonly to: number }, fromMs: number): void {
    let tip = parent;
    const blocks = new Map<number, WorldBlock>();
    this.branches.push({ from, to, blocks });
    for (let slot = from; slot <= to; slot += 1) {
      if (slot < to && this.#random.next() < 0.15) continue;
      tip = this.#make(`${this.#seed} fork ${slot}`, slot, tip);
      blocks.set(slot, tip);
      this.#store(tip, fromMs + (slot - firstSlot) * slotMs);
    }
  }

  /** Whether something was final when the cursor was told; true without one. */
  hadFinal(cursor: string | undefined): boolean {
    if (cursor === undefined) return true;
    return decodeCursor(cursor, { network: "devnet", chain: this.identity })?.finalizedSlot !== null;
  }

  #store({ header, block }: WorldBlock, ownMs: number): void {
    // A log begins with its first block.
    const isFirst = header.slot === BigInt(firstSlot);
    const atMs = ownMs + (this.#random.next() < this.#plan.late && !isFirst ? this.#random.next() * 2_000 : 0);
    const isEarly = this.#random.next() < 0.2 && !isFirst;
    this.#say(atMs, { kind: "block", header, stage: isEarly ? "processed" : "confirmed", body: packBlock(block) });
    if (isEarly) this.#say(atMs + 300, { kind: "stage", header, stage: "confirmed" });
  }

  #gap({ header, parent }: WorldBlock, atMs: number): void {
    const from = ((parent?.header.slot ?? 0n) + 1n) as Slot;
    this.#say(atMs, { kind: "gap", from, to: header.slot, reason: "unavailable" });
  }

  #say(atMs: number, record: LogRecord): void {
    this.records.push({ atMs, record });
  }

  #make(name: string, slot: number, parent: WorldBlock | null, isUnavailable = false): WorldBlock {
    const drawn = Math.floor(this.#random.next() ** 2 * 6);
    const places = [...new Set(Array.from({ length: drawn }, () => popular(this.#random, pool.length)))];
    const header: BlockHeader = {
      chain: this.identity,
      slot: BigInt(slot) as Slot,
      blockhash: hashOf(name),
      parentSlot: parent?.header.slot ?? (0n as Slot),
      parentBlockhash: parent?.header.blockhash ?? hashOf(`${name} parent`),
      blockTime: 1_790_000_000n + BigInt(slot),
      height: BigInt(slot),
      transactions: places.length,
    };
    const block: ConfirmedBlock = {
      slot: header.slot,
      parentSlot: header.parentSlot,
      blockhash: header.blockhash,
      previousBlockhash: header.parentBlockhash,
      blockTime: header.blockTime,
      blockHeight: header.height,
      transactions: places.flatMap((place) => pool[place]?.transaction ?? []),
      rewards: [],
    };
    const made = { header, parent, block, places, isUnavailable };
    this.blocks.set(header.blockhash, made);
    return made;
  }
}
