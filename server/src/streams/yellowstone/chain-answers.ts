import type { Commitment } from "@sluice/geyser";
import { commitmentOf, FilterFault } from "@sluice/geyser";
import { decodeAddress } from "@sluice/wire/base58";
import type { BlockHeader, ChainLog, Stage } from "../../log/index.ts";
import { GrpcStatusError } from "../../net/index.ts";

/**
 * Blocks for which a blockhash is valid, as JSON-RPC says it. yellowstone-grpc adds twice as many to a block's height,
 * and a client that believes it waits in vain for the second half.
 */
const blockhashLifeBlocks = 150n;

interface AtCommitment {
  readonly commitment?: string | number;
}

/** Answers of the unary calls about the chain, from the index of its log. */
export const chainAnswers = {
  GetLatestBlockhash({ commitment }: AtCommitment, log: ChainLog) {
    const { slot, blockhash, height } = headerAt(log, levelOf(commitment));
    return { slot: `${slot}`, blockhash, last_valid_block_height: `${heightOf(height) + blockhashLifeBlocks}` };
  },
  GetBlockHeight: ({ commitment }: AtCommitment, log: ChainLog) => ({
    block_height: `${heightOf(headerAt(log, levelOf(commitment)).height)}`,
  }),
  GetSlot: ({ commitment }: AtCommitment, log: ChainLog) => ({ slot: `${headerAt(log, levelOf(commitment)).slot}` }),
  IsBlockhashValid({ blockhash, commitment }: AtCommitment & { readonly blockhash: string }, log: ChainLog) {
    const head = headerAt(log, levelOf(commitment));
    const valid = decodeAddress(blockhash) !== null && isRecent(log, head, blockhash);
    return { slot: `${head.slot}`, valid };
  },
} as const;

function levelOf(commitment: string | number | undefined): Commitment {
  try {
    return commitmentOf(commitment);
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    // The unary calls know no filters: the reason alone is their text.
    throw new GrpcStatusError("UNKNOWN", error.message.replace("failed to create filter: ", ""));
  }
}

function notYet(): GrpcStatusError {
  return new GrpcStatusError("INTERNAL", "block is not available yet");
}

function headerAt(log: ChainLog, stage: Stage): BlockHeader {
  const place = log.latest(stage);
  const header = place === null ? null : (log.find(place)?.header ?? null);
  if (header === null) throw notYet();
  return header;
}

function heightOf(height: bigint | null): bigint {
  if (height === null) throw notYet();
  return height;
}

/** Whether a block from which the head descends, and whose hash is still valid, has this hash. */
function isRecent(log: ChainLog, head: BlockHeader, blockhash: string): boolean {
  let header = head;
  for (let back = 0n; back <= blockhashLifeBlocks; back += 1n) {
    if (header.blockhash === blockhash) return true;
    // Nothing is before the first block of a chain.
    if (header.height === 0n || header.slot === 0n) return false;
    const parent = log.find({ slot: header.parentSlot, blockhash: header.parentBlockhash });
    if (parent === null) {
      if (header.parentBlockhash === blockhash && back < blockhashLifeBlocks) return true;
      throw new GrpcStatusError("INTERNAL", "startup");
    }
    header = parent.header;
  }
  return false;
}
