import type { Network } from "@sluice/contract/tiers";
import { type ConfirmedBlock, encodeBlock, encodeTransaction, unpackTransaction } from "@sluice/encode";
import type { ChainHeld, ChainReads } from "../../ledger/index.ts";
import type { NodeAnswer } from "../../upstreams/index.ts";
import { blockOf } from "../lookups/block-record.ts";
import { isSkipped } from "../lookups/skipped-slots.ts";
import type { CallConfig } from "./call-config.ts";
import { skippedSlot, unsupportedVersion, valueAnswer } from "./node-answers.ts";

/** A call of the ledger: which chain, and up to which slot its commitment sees. */
export interface ArchiveQuestion {
  readonly network: Network;
  readonly held: ChainHeld;
  /** The last slot of the commitment; -1 where it sees none. */
  readonly newest: bigint;
  readonly config: CallConfig;
}

/** A call about one thing that nodes do not have. */
export interface LookupQuestion extends ArchiveQuestion {
  /** Whether a node has answered that the slot was skipped: it knows the chain there, and its answer stays. */
  readonly isToldSkipped: boolean;
}

/** What is found out of a block: that it is there, that its slot has none, or that the ledger does not know. */
type Found = { readonly block: ConfirmedBlock; readonly transactions: number } | "skipped" | "unknown";

async function find(chain: ChainReads, question: ArchiveQuestion, slot: bigint): Promise<Found> {
  const { network, held, newest } = question;
  if (slot > newest) return "unknown";
  const row = await chain.blocks.block(network, slot);
  if (row === null) return (await isSkipped(chain, { network, held, slot })) ? "skipped" : "unknown";
  return { block: blockOf(row), transactions: row.transactions };
}

/** getBlock. Null where the ledger does not know, or does not hold all transactions of the block. */
export async function archivedBlock(chain: ChainReads, question: LookupQuestion): Promise<NodeAnswer | null> {
  const { network, config } = question;
  const slot = config.integerAt(0);
  if (slot === null) return null;
  const found = await find(chain, question, slot);
  if (found === "unknown") return null;
  if (found === "skipped") return question.isToldSkipped ? null : skippedSlot(slot);
  const { block, transactions: count } = found;
  const details = config.details;
  let transactions: ConfirmedBlock["transactions"] = [];
  if (details === "full" || details === "accounts") {
    const rows = await chain.transactions.ofBlock(network, { slot, blockhash: block.blockhash });
    transactions = rows.map(({ body }) => unpackTransaction(body));
    if (rows.length !== count) return null;
  } else if (details === "signatures") {
    const signatures = await chain.blocks.signatures(network, { slot, blockhash: block.blockhash });
    transactions = signatures.map((signature) => ({ signature, bytes: new Uint8Array(0), meta: null }));
    if (signatures.length !== count) return null;
  }
  const encoded = encodeBlock(
    { ...block, transactions },
    {
      encoding: config.encoding,
      transactionDetails: details,
      rewards: config.rewards,
      maxSupportedTransactionVersion: config.versionMax,
    },
  );
  return encoded.ok ? valueAnswer(encoded.value) : unsupportedVersion(encoded.version);
}

/** getBlockTime. */
export async function archivedBlockTime(chain: ChainReads, question: LookupQuestion): Promise<NodeAnswer | null> {
  const slot = question.config.integerAt(0);
  if (slot === null) return null;
  const found = await find(chain, question, slot);
  if (found === "unknown") return null;
  if (found === "skipped") return question.isToldSkipped ? null : skippedSlot(slot);
  return valueAnswer(found.block.blockTime);
}

/** getTransaction. */
export async function archivedTransaction(chain: ChainReads, question: ArchiveQuestion): Promise<NodeAnswer | null> {
  const { network, newest, config } = question;
  const row = await chain.transactions.bySignature(network, config.textAt(0));
  if (row === null || row.slot > newest) return null;
  const { slot, index } = row;
  const transaction = unpackTransaction(row.body);
  const encoded = encodeTransaction(transaction, {
    encoding: config.encoding,
    maxSupportedTransactionVersion: config.versionMax,
  });
  if (!encoded.ok) return unsupportedVersion(encoded.version);
  let { blockTime } = row;
  if (blockTime === null) {
    const block = await chain.blocks.block(network, slot);
    blockTime = block === null ? null : blockOf(block).blockTime;
  }
  return valueAnswer({ slot, ...encoded.value, blockTime, transactionIndex: index });
}
