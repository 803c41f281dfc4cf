import type { CommitmentName } from "@sluice/contract/rpc";
import type { Random } from "@sluice/lib";
import { decodeSignature } from "@sluice/wire/base58";
import type { Address, Signature, Slot } from "@sluice/wire/identifiers";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { ChainValue } from "../../../chain/index.ts";
import { type EngineChain, EngineChainError } from "../../model/chain-port.ts";
import { addressNamed } from "./names.ts";

export interface SimulatedTransaction {
  readonly signature: Signature;
  readonly failed: boolean;
}

export interface SimulatedBlock {
  readonly slot: bigint;
  readonly height: bigint;
  readonly parent: SimulatedBlock | null;
  readonly blockhash: Address;
  readonly transactions: readonly SimulatedTransaction[];
}

/** What all nodes would say that see everything at once. */
export interface Heads {
  readonly processed: SimulatedBlock;
  readonly confirmed: SimulatedBlock;
  readonly finalized: SimulatedBlock;
}

const key = new Uint8Array(32);

/** The bytes of a transaction of no effect with this signature, in base64. */
export function wireText(signature: Signature): string {
  const message = {
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 0,
    staticKeys: [key, new Uint8Array(32).fill(7)],
    blockhash: key,
    instructions: [{ programIndex: 1, accountIndexes: [], data: new Uint8Array(0) }],
  } as const;
  const bytes = encodeTransaction({ signatures: [decodeSignature(signature) ?? new Uint8Array(64)], message });
  return Buffer.from(bytes).toString("base64");
}

/** The block of a slot below a head, or null where its chain has none. */
export function blockAt(head: SimulatedBlock, slot: bigint): SimulatedBlock | null {
  let at: SimulatedBlock | null = head;
  while (at !== null && at.slot > slot) at = at.parent;
  return at?.slot === slot ? at : null;
}

export function child(
  parent: SimulatedBlock | null,
  slot: bigint,
  transactions: readonly SimulatedTransaction[],
  fork: string,
): SimulatedBlock {
  const height = parent === null ? 0n : parent.height + 1n;
  return { slot, height, parent, blockhash: addressNamed(`${fork} ${slot} ${parent?.blockhash ?? ""}`), transactions };
}

/** How nodes misbehave, as shares of calls. */
export interface NodeFaults {
  /** No node answers. */
  readonly unreachable: number;
  /** The node says that it has no such block, though it has. */
  readonly missing: number;
  /** The answer is cut short. */
  readonly garbled: number;
  /** Nodes are up to so many moments behind, each for itself. */
  readonly lagMax: number;
}

/** Some nodes that see one chain, each a bit late, behind a gateway that asks any of them. */
export class SimulatedChain implements EngineChain {
  readonly #random: Random;
  readonly #moments: Heads[] = [];
  readonly #texts = new Map<Signature, string>();
  readonly #listeners = new Set<(commitment: CommitmentName, slot: Slot) => void>();
  faults: NodeFaults = { unreachable: 0, missing: 0, garbled: 0, lagMax: 0 };
  genesisHash = addressNamed("genesis");
  /** Accounts that a test sets, as getMultipleAccounts gives them. */
  readonly accounts = new Map<unknown, ChainValue>();
  /** Nodes keep blocks from this slot on. */
  firstSlot = 0n;
  /** Called at each read; a throw there is the end of the asking process. */
  disturb: () => void = () => {};

  constructor(random: Random, genesis: SimulatedBlock) {
    this.#random = random;
    this.#moments.push({ processed: genesis, confirmed: genesis, finalized: genesis });
  }

  get heads(): Heads {
    const heads = this.#moments.at(-1);
    if (heads === undefined) throw new Error("a chain has heads");
    return heads;
  }

  /** A moment passes. */
  moveTo(heads: Heads): void {
    this.#moments.push(heads);
    if (this.#moments.length > 64) this.#moments.shift();
    for (const listener of this.#listeners) listener("confirmed", heads.confirmed.slot as Slot);
  }

  newestSlot(commitment: CommitmentName): Slot {
    return this.heads[commitment].slot as Slot;
  }

  genesis(): string {
    return this.genesisHash;
  }

  onSlot(listener: (commitment: CommitmentName, slot: Slot) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  send(): Promise<boolean> {
    return Promise.reject(new Error("nothing is sent here"));
  }

  async read(
    method: string,
    params: readonly unknown[],
    options: { readonly commitment?: CommitmentName; readonly minimumSlot?: bigint; readonly archive?: boolean } = {},
  ): Promise<ChainValue> {
    this.disturb();
    // Answers come in any order.
    for (let turns = Math.floor(this.#random.next() * 4); turns > 0; turns -= 1) await Promise.resolve();
    this.disturb();
    if (this.#random.next() < this.faults.unreachable) throw new EngineChainError("no node answers", null);
    const isGarbled = this.#random.next() < this.faults.garbled;
    const answer = this.#answer(method, params, this.#view(options));
    return isGarbled ? garble(answer) : answer;
  }

  /** A node's view: some moments old, but for the one that has reached the slot that must be reached. */
  #view({ commitment, minimumSlot, archive }: NonNullable<Parameters<EngineChain["read"]>[2]>): Heads {
    const lag = Math.floor(this.#random.next() * (this.faults.lagMax + 1));
    const view = this.#moments[Math.max(0, this.#moments.length - 1 - lag)] ?? this.heads;
    const level = archive === true ? "finalized" : (commitment ?? "finalized");
    return minimumSlot !== undefined && view[level].slot < minimumSlot ? this.heads : view;
  }

  #answer(method: string, params: readonly unknown[], view: Heads): ChainValue {
    const [first, second, third] = params;
    switch (method) {
      case "getBlock":
        return this.#block(
          slotOf(first),
          view,
          settingOf(second, "commitment"),
          settingOf(second, "transactionDetails"),
        );
      case "getBlocks":
        return this.#slots(view[commitmentOf(settingOf(third, "commitment"))], slotOf(first), slotOf(second));
      case "getBlocksWithLimit": {
        const head = view[commitmentOf(settingOf(third, "commitment"))];
        return this.#slots(head, slotOf(first), head.slot).slice(0, Number(slotOf(second)));
      }
      case "getSignatureStatuses":
        if (!Array.isArray(first)) throw new Error("no signatures");
        return { context: { slot: view.processed.slot }, value: first.map((each) => statusOf(view.processed, each)) };
      case "getGenesisHash":
        return this.genesisHash;
      case "getMultipleAccounts":
        if (!Array.isArray(first)) throw new Error("no accounts");
        return { context: { slot: view.confirmed.slot }, value: first.map((each) => this.accounts.get(each) ?? null) };
      default:
        throw new Error(`${method} was not expected`);
    }
  }

  #block(slot: bigint, view: Heads, commitment: unknown, details: unknown): ChainValue {
    const head = view[commitmentOf(commitment)];
    if (slot > head.slot) throw new EngineChainError(`Block not available for slot ${slot}`, -32004);
    if (slot < this.firstSlot) throw new EngineChainError(`Block ${slot} cleaned up`, -32001);
    const block = blockAt(head, slot);
    if (block === null) throw new EngineChainError(`Slot ${slot} was skipped`, -32007);
    if (this.#random.next() < this.faults.missing) throw new EngineChainError("Block not available", -32004);
    const { parent } = block;
    return {
      blockhash: block.blockhash,
      parentSlot: parent?.slot ?? 0n,
      previousBlockhash: parent?.blockhash ?? addressNamed("none"),
      blockHeight: block.height,
      blockTime: 1_800_000_000n + block.slot,
      ...(details === "none" ? {} : { transactions: block.transactions.map((each) => this.#transaction(each)) }),
    };
  }

  #transaction({ signature, failed }: SimulatedTransaction): ChainValue {
    const text = this.#texts.get(signature) ?? wireText(signature);
    this.#texts.set(signature, text);
    const meta = {
      err: failed ? "AccountNotFound" : null,
      preBalances: [1n, 1n],
      postBalances: [0n, 1n],
      costUnits: 500n,
    };
    return { transaction: [text, "base64"], meta };
  }

  #slots(head: SimulatedBlock, from: bigint, to: bigint): bigint[] {
    const slots: bigint[] = [];
    for (let at: SimulatedBlock | null = head; at !== null && at.slot >= from; at = at.parent) {
      if (at.slot <= to && at.slot >= this.firstSlot) slots.push(at.slot);
    }
    return slots.reverse();
  }
}

function statusOf(head: SimulatedBlock, signature: unknown): ChainValue {
  for (let at: SimulatedBlock | null = head; at !== null; at = at.parent) {
    const found = at.transactions.find((each) => each.signature === signature);
    if (found !== undefined) return { slot: at.slot, err: found.failed ? "x" : null, confirmationStatus: "finalized" };
  }
  return null;
}

const slotOf = (value: unknown): bigint => {
  if (typeof value !== "bigint") throw new Error(`${String(value)} is no slot`);
  return value;
};
const settingOf = (settings: unknown, name: string): unknown => {
  return Object.entries(settings ?? {}).find(([each]) => each === name)?.[1];
};
const commitmentOf = (value: unknown): "confirmed" | "finalized" => (value === "confirmed" ? "confirmed" : "finalized");

/** An answer that lacks its middle. */
function garble(answer: ChainValue): ChainValue {
  if (Array.isArray(answer)) return [...answer, "?"];
  if (typeof answer !== "object" || answer === null) return { what: answer };
  return Object.fromEntries(Object.entries(answer).filter((_, index) => index % 2 === 1));
}
