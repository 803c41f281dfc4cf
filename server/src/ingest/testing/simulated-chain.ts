import { createHash } from "node:crypto";
import type { ConfirmedBlock, ConfirmedTransaction } from "@sluice/encode";
import type { Random } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { encodeTransaction } from "@sluice/wire/transaction";
import type { ChainIdentity } from "../../log/index.ts";
import type { BlockDigest, SourceBlock } from "../source.ts";
import { sourceBlockOf as packedSourceBlock } from "../source-block.ts";
import type { Lie, NodeChain } from "./simulated-node.ts";

const sha = (text: string): Uint8Array => new Uint8Array(createHash("sha256").update(text).digest());
const hashOf = (text: string): string => addressOfBytes(sha(text));

export const simulatedIdentity: ChainIdentity = { genesisHash: hashOf("genesis"), firstBlockhash: hashOf("first") };
export const firstSlot = 100;
/** Slots from the newest slot to the confirmed and the finalized one. */
const depths = { confirmed: 2, finalized: 14 } as const;

export interface ChainBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly parent: { readonly slot: number; readonly blockhash: string };
}

/** A branch that nodes show as confirmed until their head has passed it. */
interface DeadBranch {
  readonly from: number;
  readonly to: number;
  readonly blocks: ReadonlyMap<number, ChainBlock>;
}

/** A whole chain, of which nodes show a part by their heads. */
export class SimulatedChain implements NodeChain<ChainBlock> {
  readonly firstSlot = firstSlot;
  readonly depths = depths;
  readonly lieKinds: readonly Lie[] = ["signatures", "parent", "hash", "invented"];
  readonly lastSlot: number;
  readonly canonical = new Map<number, ChainBlock>();
  readonly #branches: DeadBranch[] = [];

  constructor(random: Random, { slots, forks }: { readonly slots: number; readonly forks: boolean }) {
    this.lastSlot = firstSlot + slots;
    const seed = String(random.next());
    let tip = { slot: firstSlot - 1, blockhash: hashOf(`${seed} root`) };
    for (let slot = firstSlot; slot <= this.lastSlot; slot += 1) {
      const isForced = slot === firstSlot || slot >= this.lastSlot - 1;
      if (forks && !isForced && random.next() < 0.04) this.#branch(`${seed} fork`, slot, { tip, random });
      if (!isForced && random.next() < 0.15) continue;
      const block = { slot, blockhash: hashOf(`${seed} ${slot}`), parent: tip };
      this.canonical.set(slot, block);
      tip = { slot, blockhash: block.blockhash };
    }
  }

  #branch(
    seed: string,
    from: number,
    { tip, random }: { readonly tip: ChainBlock["parent"]; readonly random: Random },
  ): void {
    if (this.#branches.some(({ to }) => to >= from - 1)) return;
    const to = Math.min(from + Math.floor(random.next() * 3), this.lastSlot - 3);
    const blocks = new Map<number, ChainBlock>();
    let parent = tip;
    for (let slot = from; slot <= to; slot += 1) {
      const block = { slot, blockhash: hashOf(`${seed} ${slot}`), parent };
      blocks.set(slot, block);
      parent = { slot, blockhash: block.blockhash };
    }
    if (blocks.size > 0) this.#branches.push({ from, to, blocks });
  }

  get blocks(): readonly ChainBlock[] {
    return [...this.canonical.values()];
  }

  blockAt(slot: number, head: number): ChainBlock | null {
    if (slot > head) return null;
    const branch = this.#branches.find(({ from, to }) => slot >= from && slot <= to && head <= to);
    if (branch !== undefined) return branch.blocks.get(slot) ?? null;
    return this.canonical.get(slot) ?? null;
  }

  hasBlock(slot: number): boolean {
    return this.canonical.has(slot);
  }

  invented(slot: number, node: string): ChainBlock {
    const { blockhash } = sourceBlockOf({ slot, blockhash: node, parent: { slot: 0, blockhash: "" } }).header;
    return { slot, blockhash: `invented ${slot}`, parent: { slot: slot - 1, blockhash } };
  }

  sourceBlock(block: ChainBlock, lie: Lie | null, isAltered: boolean): SourceBlock {
    return sourceBlockOf(block, lie, isAltered);
  }

  digest(block: ChainBlock, lie: Lie | null): BlockDigest {
    return digestOf(block, lie);
  }
}

/** What a node alters of a block's results; the first ones only where the block has transactions. */
const alterations = ["balances", "tokens", "logs", "time", "height", "rewards"] as const;
const ofTransactions = 3;
const token = {
  accountIndex: 1,
  mint: hashOf("mint"),
  owner: hashOf("owner"),
  programId: hashOf("tokens"),
  decimals: 6,
};

const zeroSignature = new Uint8Array(64);
/** A transaction without its signature: that of a block differs from those of others by its signature alone. */
const unsigned = encodeTransaction({
  signatures: [zeroSignature],
  message: {
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1,
    staticKeys: [sha("payer"), sha("receiver"), sha("program")],
    blockhash: sha("recent"),
    instructions: [{ programIndex: 2, accountIndexes: [0, 1], data: new Uint8Array(1) }],
  },
});

function transactionOf(name: string, altered: string | null): ConfirmedTransaction {
  const signature = new Uint8Array(createHash("sha512").update(name).digest());
  const bytes = Uint8Array.from(unsigned);
  bytes.set(signature, 1);
  const meta = {
    error: null,
    fee: 5_000n,
    preBalances: [10_000n, 0n, 1n],
    postBalances: [altered === "balances" ? 4_999n : 5_000n, 0n, 1n],
    preTokenBalances: [],
    postTokenBalances: [{ ...token, amount: altered === "tokens" ? 8n : 7n }],
    innerInstructions: [],
    logs: [altered === "logs" ? "Program log: altered" : "Program log: told"],
    loadedAddresses: { writable: [], readonly: [] },
    returnData: null,
    computeUnitsConsumed: 150n,
    costUnits: null,
  };
  return { signature: encodeBase58(signature), bytes, meta };
}

/** Which results of a block are altered where a node alters them: the same for all that alter it. */
function alterationOf({ slot, blockhash }: ChainBlock): (typeof alterations)[number] {
  const drawn = sha(`alteration of ${blockhash}`)[0] ?? 0;
  const from = slot % 3 === 0 ? ofTransactions : 0;
  return alterations[from + (drawn % (alterations.length - from))] ?? "time";
}

/**
 * A block as a source gives it. Altered results leave all as it is that a second node's word covers; they are those of
 * the chain's block, whatever is lied about it.
 */
export function sourceBlockOf(block: ChainBlock, lie: Lie | null = null, isAltered = false): SourceBlock {
  return packedSourceBlock(confirmedBlockOf(block, lie, isAltered ? alterationOf(block) : null));
}

function confirmedBlockOf(block: ChainBlock, lie: Lie | null, altered: string | null): ConfirmedBlock {
  const { slot, parent } = block;
  const blockhash = lie === "hash" || lie === "invented" ? hashOf(`lie ${block.blockhash}`) : block.blockhash;
  const name = `${blockhash}${lie === "signatures" ? " altered" : ""}`;
  return {
    slot: BigInt(slot),
    parentSlot: BigInt(parent.slot),
    blockhash,
    previousBlockhash: lie === "parent" ? hashOf(`lie ${parent.blockhash}`) : parent.blockhash,
    blockTime: 1_790_000_000n + BigInt(slot) + (altered === "time" ? 1n : 0n),
    blockHeight: BigInt(slot) + (altered === "height" ? 1n : 0n),
    transactions: Array.from({ length: slot % 3 }, (_, index) => transactionOf(`${name} ${index}`, altered)),
    rewards: [
      {
        pubkey: hashOf("leader"),
        lamports: altered === "rewards" ? 2_501n : 2_500n,
        postBalance: 1_000_000n,
        rewardType: "Fee",
        commission: null,
      },
    ],
  };
}

export function digestOf(block: ChainBlock, lie: Lie | null = null): BlockDigest {
  const { header, signatureHash } = sourceBlockOf(block, lie);
  return { ...header, signatureHash };
}

/** Whether a kept body says something else of a block than the chain. */
export const isAlteredBody = (block: ChainBlock, body: Uint8Array): boolean =>
  !Buffer.from(body).equals(sourceBlockOf(block).body);
