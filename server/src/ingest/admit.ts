import { decodeAddress } from "@sluice/wire/base58";
import { bodyBytesMax } from "../log/index.ts";
import type { BlockDigest, SourceBlock } from "./source.ts";

const slotEnd = 2n ** 63n;
/** More transactions than a block's bytes can hold. */
const transactionsMax = 1_000_000;
const signatureHashBytes = 32;
/** Unix seconds, before and after 1970, that a date can tell. */
const blockTimeMax = 8_640_000_000_000n;

/** Whether a block has the form that the log takes, whatever it holds. */
export function admit({ header, body, signatureHash }: SourceBlock): boolean {
  const { slot, blockhash, height, blockTime } = header;
  const isInRange =
    slot < slotEnd && (height === null || (height >= 0n && height < slotEnd)) && isTime(blockTime ?? 0n);
  return (
    isInRange &&
    body.length <= bodyBytesMax &&
    decodeAddress(blockhash) !== null &&
    admitDigest(slot, { ...header, signatureHash })
  );
}

const isTime = (seconds: bigint): boolean => seconds >= -blockTimeMax && seconds <= blockTimeMax;

/** Whether a node's word on a block can be one. */
export function admitDigest(slot: bigint, digest: BlockDigest): boolean {
  const { blockhash, parentSlot, parentBlockhash, transactions, signatureHash } = digest;
  return (
    parentSlot >= 0n &&
    parentSlot < slot &&
    Number.isSafeInteger(transactions) &&
    transactions >= 0 &&
    transactions <= transactionsMax &&
    signatureHash.length === signatureHashBytes &&
    decodeAddress(blockhash) !== null &&
    decodeAddress(parentBlockhash) !== null
  );
}
