import {
  type ConfirmedBlock,
  type ConfirmedTransaction,
  type Reward,
  type TokenBalance,
  unpackBlock,
} from "@sluice/encode";

/** Slots for which one final block, on average, is read again whole from another node. */
export const secondReadEvery = 64;

/**
 * What the chain determines of a block's and its transactions' results; what nodes may leave out counts only where both
 * have it.
 */
function isSameBlock(one: ConfirmedBlock, other: ConfirmedBlock): boolean {
  const [left, right] = [one.transactions, other.transactions];
  return (
    one.slot === other.slot &&
    one.blockhash === other.blockhash &&
    one.parentSlot === other.parentSlot &&
    one.previousBlockhash === other.previousBlockhash &&
    isSameIfKnown(one.blockTime, other.blockTime) &&
    isSameIfKnown(one.blockHeight, other.blockHeight) &&
    areSameRewards(one.rewards, other.rewards) &&
    areSame(left, right, isSameTransaction)
  );
}

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
    areSameTokens(left.preTokenBalances, right.preTokenBalances) &&
    areSameTokens(left.postTokenBalances, right.postTokenBalances) &&
    isSameIfKnown(left.innerInstructions, right.innerInstructions) &&
    isSameIfKnown(left.returnData, right.returnData) &&
    isSameIfKnown(left.computeUnitsConsumed, right.computeUnitsConsumed)
  );
}

const areSameTokens = (one: readonly TokenBalance[] | null, other: readonly TokenBalance[] | null): boolean =>
  one === null || other === null || areSame(one, other, isSameToken);

const isSameToken = (one: TokenBalance, other: TokenBalance): boolean =>
  one.accountIndex === other.accountIndex &&
  one.mint === other.mint &&
  one.amount === other.amount &&
  one.decimals === other.decimals &&
  isSameIfKnown(one.owner, other.owner) &&
  isSameIfKnown(one.programId, other.programId);

/** A source that tells no rewards gives none. Nodes compute those of an epoch in threads, in an order of their own. */
function areSameRewards(one: readonly Reward[], other: readonly Reward[]): boolean {
  if (one.length === 0 || other.length === 0) return true;
  return areSame(one.toSorted(byReceiver), other.toSorted(byReceiver), isSameReward);
}

const isSameReward = (one: Reward, other: Reward): boolean =>
  one.pubkey === other.pubkey &&
  one.lamports === other.lamports &&
  one.postBalance === other.postBalance &&
  isSameIfKnown(one.rewardType, other.rewardType) &&
  isSameIfKnown(one.commission, other.commission);

function byReceiver(one: Reward, other: Reward): number {
  if (one.pubkey !== other.pubkey) return one.pubkey < other.pubkey ? -1 : 1;
  return Number(one.postBalance - other.postBalance) || Number(one.lamports - other.lamports);
}

const areSame = <T>(one: readonly T[], other: readonly T[], isSameEach: (one: T, other: T) => boolean): boolean =>
  one.length === other.length && one.every((each, index) => isSameEach(each, other[index] as T));
const isSameIfKnown = (one: unknown, other: unknown): boolean => one === null || other === null || isSame(one, other);
const isSame = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other);

/** Whether two bodies of one block say the same. @throws {MalformedBytes} for what is no block */
export function isSameContent(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one).equals(other) || isSameBlock(unpackBlock(one), unpackBlock(other));
}
