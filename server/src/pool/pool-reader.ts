import { decodeClock, decodeEpochSchedule } from "@sluice/wire/accounts/clock";
import { decodeStakePool, type StakePool } from "@sluice/wire/accounts/stake-pool";
import { decodeMint } from "@sluice/wire/accounts/token";
import { decodeValidatorList } from "@sluice/wire/accounts/validator-list";
import type { Address } from "@sluice/wire/identifiers";
import { sysvars } from "@sluice/wire/programs";
import { type ReadAccount, readAccounts, type StakePoolChain } from "./account-reads.ts";
import type { PoolSnapshot } from "./snapshot.ts";

/** Which pool is read. */
export interface PoolIdentity {
  readonly address: Address;
  /** The programs that may own it. */
  readonly programs: readonly Address[];
  /** The program from whose accounts tips of its validators are claimed. */
  readonly tipProgram: Address;
}

/** Why a pool's accounts give no figures: they are not those of a pool. */
export class PoolAccountError extends Error {}

interface NamedAccounts {
  readonly validatorList: Address;
  readonly poolMint: Address;
}

/** What an account must be of, and how it is read. */
function decoded<T>(
  account: ReadAccount | null | undefined,
  { what, owners, decode }: { what: string; owners: readonly Address[]; decode: (data: Uint8Array) => T | null },
): T {
  if (account === null || account === undefined) throw new PoolAccountError(`${what} is not on the chain`);
  if (!owners.includes(account.owner)) throw new PoolAccountError(`${what} is owned by ${account.owner}`);
  const value = decode(account.data);
  if (value === null) throw new PoolAccountError(`${what} has a layout that is not read`);
  return value;
}

/** Reads a pool with all that its own figures need from one slot. */
export class PoolReader {
  readonly #identity: Omit<PoolIdentity, "tipProgram">;
  readonly #chain: StakePoolChain;
  /** The accounts that the pool named when it was read last; they rarely change. */
  #named: NamedAccounts | null = null;

  constructor(identity: Omit<PoolIdentity, "tipProgram">, chain: StakePoolChain) {
    this.#identity = identity;
    this.#chain = chain;
  }

  /**
   * The pool as it is now; null while its account is not on the chain.
   *
   * @throws {PoolAccountError} when the account is not a pool of one of the programs, or names what is none
   */
  async read(): Promise<PoolSnapshot | null> {
    // A pool that names other accounts than before is read once more, then from one slot again.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const named = this.#named;
      const { slot, accounts } = await readAccounts(this.#chain, this.#addresses(named));
      const [poolAccount, clockAccount, scheduleAccount, list, mint] = accounts;
      if (poolAccount === null || poolAccount === undefined) return null;
      const { programs, address } = this.#identity;
      const pool = decoded(poolAccount, { what: "the stake pool", owners: programs, decode: decodeStakePool });
      const { validatorList, poolMint } = pool;
      if (named?.validatorList !== validatorList || named.poolMint !== poolMint) {
        this.#named = { validatorList, poolMint };
        continue;
      }
      const { owner: program } = poolAccount;
      const system = { owners: [sysvars.owner] };
      const clock = decoded(clockAccount, { what: "the clock", ...system, decode: decodeClock });
      const schedule = decoded(scheduleAccount, {
        what: "the epoch schedule",
        ...system,
        decode: decodeEpochSchedule,
      });
      const { epoch, unixTimestamp, epochStartTimestamp } = clock;
      return {
        ...{ address, program, slot, epoch, unixTimestamp, epochStartTimestamp, schedule, pool },
        ...contents(pool, program, { list, mint }),
      };
    }
    throw new PoolAccountError("the stake pool names other accounts in each slot");
  }

  #addresses(named: NamedAccounts | null): readonly Address[] {
    const known = named === null ? [] : [named.validatorList, named.poolMint];
    return [this.#identity.address, sysvars.clock, sysvars.epochSchedule, ...known];
  }
}

function contents(
  pool: StakePool,
  program: Address,
  { list, mint }: Record<"list" | "mint", ReadAccount | null | undefined>,
): Pick<PoolSnapshot, "decimals" | "validators"> {
  const { validators } = decoded(list, { what: "the validator list", owners: [program], decode: decodeValidatorList });
  const { decimals } = decoded(mint, { what: "the pool's mint", owners: [pool.tokenProgram], decode: decodeMint });
  return { decimals, validators: validators.filter(({ status }) => status !== "readyForRemoval") };
}
