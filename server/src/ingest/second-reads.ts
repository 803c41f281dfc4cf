import { type ConfirmedBlock, type ConfirmedTransaction, unpackBlock } from "@sluice/encode";

/** Of so many final blocks one is read again whole from another node. */
export const secondReadEvery = 64n;

/** What the chain determines of a transaction's results; what nodes may leave out counts only where both have it. */
function isSameTransaction(one: ConfirmedTransaction, other: ConfirmedTransaction): boolean {
  if (!Buffer.from(one.bytes).equals(other.bytes)) return false;
  if (one.meta === null || other.meta === null) return true;
  const [left, right] = [one.meta, other.meta];
  return (
    isSame(
      [left.error, left.fee, left.preBalances, left.postBalances, left.loadedAddresses],
      [right.error, right.fee, right.preBalances, right.postBalances, right.loadedAddresses],
    ) &&
    isSameIfKnown(left.logs, right.logs) &&
    isSameIfKnown(left.preTokenBalances?.length ?? null, right.preTokenBalances?.length ?? null) &&
    isSameIfKnown(left.innerInstructions, right.innerInstructions) &&
    isSameIfKnown(left.computeUnitsConsumed, right.computeUnitsConsumed)
  );
}

const isSameIfKnown = (one: unknown, other: unknown): boolean => one === null || other === null || isSame(one, other);
const isSame = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other);

/** Whether two bodies of one block say the same. @throws {MalformedBytes} for what is no block */
export function isSameContent(one: Uint8Array, other: Uint8Array): boolean {
  if (Buffer.from(one).equals(other)) return true;
  const [left, right]: [ConfirmedBlock, ConfirmedBlock] = [unpackBlock(one), unpackBlock(other)];
  if (left.blockhash !== right.blockhash || left.transactions.length !== right.transactions.length) return false;
  return left.transactions.every((transaction, index) => {
    const second = right.transactions[index];
    return second !== undefined && isSameTransaction(transaction, second);
  });
}
