import { createHash } from "node:crypto";
import type { AccountWrite, Svm } from "@sluice/svm/bank";
import { encodeBase58 } from "@sluice/wire/base58";
import { programs, sysvars } from "@sluice/wire/programs";
import {
  createValidators,
  type PoolKeys,
  poolGenesis,
  poolKeys,
  stakedAtGenesis,
  tipGenesis,
  tipOperator,
  type Validators,
  validatorGenesis,
} from "../consensus/index.ts";
import {
  clockSysvar,
  epochScheduleSysvar,
  GenesisKeypair,
  recentBlockhashesSysvar,
  SlotHistory,
  slotHashesSysvar,
  stakeHistorySysvar,
  systemAccount,
} from "../model/index.ts";
import { rentFree } from "./ledger.ts";
import { forMachine, type GenesisDescription, GenesisFaults, isLoaded, standardGenesis } from "./load.ts";

export interface GenesisOptions {
  /** Any text. All keys of genesis, the genesis hash and with it every blockhash follow from it. */
  readonly seed: string;
  /** Lamports of the faucet. */
  readonly faucetLamports: bigint;
  readonly slotsPerEpoch: bigint;
  /** How many validators there are. */
  readonly validators: number;
}

export interface Genesis {
  readonly hash: Uint8Array;
  /** The same in base58: also the blockhash of slot 0. */
  readonly hashText: string;
  readonly faucet: GenesisKeypair;
  readonly validators: Validators;
  readonly pool: PoolKeys;
  /** The operator of the tip programs. */
  readonly tipOperator: string;
  readonly accounts: readonly AccountWrite[];
  /** The described parts of it: pools, wallets, mints and programs by name. */
  readonly description: GenesisDescription;
}

/** Writes programs one by one, so that one that the machine cannot load is named. Throws GenesisFaults. */
async function writePrograms(programs: readonly AccountWrite[], svm: Svm): Promise<void> {
  const faults: string[] = [];
  for (const write of programs) {
    await svm.write([write]).catch((error: unknown) => {
      const said = error instanceof Error ? error.message : String(error);
      faults.push(`the machine cannot load the program ${write.address}: ${said}`);
    });
  }
  if (faults.length > 0) throw new GenesisFaults(faults);
}

const lamportsMax = 0xffff_ffff_ffff_ffffn;

/** @throws {GenesisFaults} when all accounts together hold more lamports than a u64 shows. */
function checkLamports(accounts: readonly AccountWrite[]): void {
  // Of accounts at one address the last stands.
  const held = new Map(accounts.map(({ address, account }) => [address, account?.lamports ?? 0n]));
  const total = held.values().reduce((sum, lamports) => sum + lamports, 0n);
  if (total <= lamportsMax) return;
  throw new GenesisFaults([
    `all accounts together hold ${total} lamports, and at most ${lamportsMax} can be represented`,
  ]);
}

/**
 * Writes accounts all at once. Throws GenesisFaults when the machine does not take one, such as a sysvar of other
 * bytes.
 */
async function writeAccounts(accounts: readonly AccountWrite[], svm: Svm): Promise<void> {
  try {
    await svm.write(accounts);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new GenesisFaults([`the machine does not take an account that the chain is to begin with: ${said}`]);
  }
}

/**
 * Every account of the first slot: what the virtual machine brings, the faucet, the validators, their stake pool, tips,
 * and what is described beside them, which stands in place of all of these. Throws GenesisFaults.
 */
export async function createGenesis(
  options: GenesisOptions,
  svm: Svm,
  description: GenesisDescription = standardGenesis(),
): Promise<Genesis> {
  const faucet = new GenesisKeypair(options.seed, "faucet");
  const staked = stakedAtGenesis(options.faucetLamports);
  const validators = createValidators(options, staked);
  const brought = await svm.genesisAccounts();
  const kept = brought.map(({ address, account }): AccountWrite => {
    // The machine's own faucet holds a million SOL whose key is not known.
    const gone = account?.owner === programs.system && account.data.length === 0;
    return { address, account: gone ? null : account };
  });
  // The machine's sysvars hold one lamport; those of a cluster keep their rent.
  const sysvarsKept = brought.flatMap(({ address, account }): AccountWrite[] =>
    account?.owner === sysvars.owner ? [{ address, account: rentFree(sysvars.owner, account.data) }] : [],
  );
  const added: AccountWrite[] = [
    ...sysvarsKept,
    { address: faucet.address, account: systemAccount(options.faucetLamports) },
    ...validatorGenesis(validators),
    ...poolGenesis({ seed: options.seed, validators, staked, depositor: faucet.publicKey }),
    ...tipGenesis(options.seed),
    epochScheduleSysvar(options.slotsPerEpoch),
    // Those that move have their final size from the start, so that no later slot creates lamports for their rent.
    clockSysvar({ slot: 0n, epochStartTimestamp: 0n, epoch: 0n, leaderScheduleEpoch: 1n, unixTimestamp: 0n }),
    slotHashesSysvar([]),
    recentBlockhashesSysvar([]),
    new SlotHistory().sysvar(0n),
    stakeHistorySysvar([]),
    ...description.accounts,
  ];
  checkLamports([...kept, ...added]);
  const gone = kept.filter(({ account }) => account === null);
  await writeAccounts([...gone, ...added.filter((write) => !isLoaded(write)).map(forMachine)], svm);
  await writePrograms(added.filter(isLoaded), svm);
  const hash = new Uint8Array(createHash("sha256").update(`sluice devnet genesis/${options.seed}`).digest());
  return {
    hash,
    hashText: encodeBase58(hash),
    faucet,
    validators,
    pool: poolKeys(options.seed),
    tipOperator: tipOperator(options.seed),
    accounts: [...kept, ...added],
    description,
  };
}
