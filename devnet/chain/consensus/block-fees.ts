import type { AccountWrite } from "@sluice/svm/bank";
import type { RecordedTransaction } from "../history/index.ts";
import { type ChainAccount, type Reward, systemAccount } from "../model/index.ts";

export interface FeeDistribution {
  readonly writes: readonly AccountWrite[];
  readonly rewards: readonly Reward[];
}

/** Half of the base fees is burned; the rest and all priority fees go to the slot's leader. Source: SIMD-0096. */
export function distributeFees(
  recorded: readonly RecordedTransaction[],
  leader: string,
  read: (address: string) => ChainAccount | null,
): FeeDistribution {
  let earned = 0n;
  for (const { executed, priorityFee } of recorded) {
    const base = executed.fee - priorityFee;
    earned += base - base / 2n + priorityFee;
  }
  if (earned === 0n) return { writes: [], rewards: [] };
  const account = read(leader) ?? systemAccount(0n);
  const lamports = account.lamports + earned;
  const reward: Reward = {
    pubkey: leader,
    lamports: earned,
    postBalance: lamports,
    rewardType: "Fee",
    commission: null,
  };
  return { writes: [{ address: leader, account: { ...account, lamports } }], rewards: [reward] };
}
