import { encodeStakePool, stakePoolProgram } from "@sluice/wire/accounts/stake-pool";
import { encodeTipDistributionAccount } from "@sluice/wire/accounts/tips";
import { encodeValidatorList } from "@sluice/wire/accounts/validator-list";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { programs, sysvars } from "@sluice/wire/programs";
import type { ChainValue } from "../../chain/index.ts";
import { EngineChainError } from "../../engine/index.ts";
import type { StakePoolChain } from "../account-reads.ts";
import { playedPool } from "./played-pool.ts";

const slotsPerEpoch = 432_000n;
const epochSeconds = 172_800n;
const [list, mint] = [addressOfBytes(new Uint8Array(32).fill(31)), addressOfBytes(new Uint8Array(32).fill(32))];
const { snapshot } = playedPool();
const vote = snapshot.validators[0]?.voteAccount ?? snapshot.address;

/** A tip distribution program of another cluster than mainnet. */
export const tipProgram = addressOfBytes(new Uint8Array(32).fill(33));

/** The pool that a `PoolNode` has. */
export const poolIdentity = { address: snapshot.address, programs: [stakePoolProgram], tipProgram } as const;

function numbers(size: number, values: Readonly<Record<number, bigint>>): Uint8Array {
  const data = new Uint8Array(size);
  const view = new DataView(data.buffer);
  for (const [at, value] of Object.entries(values)) view.setBigUint64(Number(at), value, true);
  return data;
}

/** A node with a pool of one validator, updated in the present epoch: 10, of two days each. */
export class PoolNode {
  updatedIn = 10n;
  totalLamports = snapshot.pool.totalLamports;
  /** Methods that it refuses. */
  readonly refused = new Set<string>();
  /** Calls, by their method. */
  readonly calls: string[] = [];
  firstAvailable = 0n;
  /** Accounts of the validator's tips in the last epoch, by their address. */
  readonly tips = new Map<string, { readonly owner: Address; readonly tips: bigint }>();
  reward: ChainValue = { amount: 5_000n, postBalance: 500_005_000n };
  readonly chain: StakePoolChain = {
    read: async (method, params) => {
      this.calls.push(method);
      if (this.refused.has(method)) throw new EngineChainError("refused", -32_601);
      return this.#answer(method, params ?? []);
    },
  };

  #answer(method: string, [first]: readonly unknown[]): ChainValue {
    switch (method) {
      case "getMultipleAccounts":
        return { context: { slot: this.updatedIn * slotsPerEpoch + 5n }, value: this.#accounts(first as string[]) };
      case "getVoteAccounts":
        return { current: [], delinquent: [] };
      case "getMinimumBalanceForRentExemption":
        return 1n;
      case "getFirstAvailableBlock":
        return this.firstAvailable;
      case "getBlocksWithLimit":
        return [first as bigint];
      case "getBlockTime":
        return this.#startOf((first as bigint) / slotsPerEpoch);
      case "getInflationReward":
        return (first as unknown[]).map(() => this.reward);
      case "getProgramAccounts":
        return [];
      default:
        throw new EngineChainError(`${method} is not answered here`, -32_601);
    }
  }

  #startOf(epoch: bigint): bigint {
    return 1_790_000_000n + (epoch - 10n) * epochSeconds;
  }

  #accounts(addresses: readonly string[]): ChainValue[] {
    const account = (owner: string, data: Uint8Array) => ({
      owner,
      lamports: 1_000_000_000n,
      data: [data.toBase64(), "base64"],
    });
    const { totalLamports, updatedIn: lastUpdateEpoch } = this;
    const named = { validatorList: list, poolMint: mint, tokenProgram: programs.token };
    const start = this.#startOf(this.updatedIn);
    const known = new Map<string, ChainValue>([
      [
        snapshot.address,
        account(stakePoolProgram, encodeStakePool({ ...snapshot.pool, ...named, totalLamports, lastUpdateEpoch })),
      ],
      [
        list,
        account(stakePoolProgram, encodeValidatorList({ maxValidators: 1, validators: [...snapshot.validators] })),
      ],
      [mint, account(programs.token, numbers(82, {}).with(44, 9).with(45, 1))],
      [sysvars.clock, account(sysvars.owner, numbers(40, { 0: 5n, 8: start, 16: this.updatedIn, 32: start + 100n }))],
      [sysvars.epochSchedule, account(sysvars.owner, numbers(33, { 0: slotsPerEpoch }))],
    ]);
    for (const [address, { owner, tips }] of this.tips) {
      const held = encodeTipDistributionAccount({
        ...{ voteAccount: vote, merkleRootUploadAuthority: vote, epochCreatedAt: lastUpdateEpoch - 1n },
        ...{ merkleRoot: null, validatorCommissionBps: 1_000, expiresAt: 99n, bump: 0 },
      });
      known.set(address, { ...account(owner, held), lamports: tips + 1n });
    }
    return addresses.map((address) => known.get(address) ?? null);
  }
}
