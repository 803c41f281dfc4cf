import { ByteWriter } from "@sluice/wire/bytes";
import { programs, sysvars } from "@sluice/wire/programs";
import { type AccountUse, type Party, partyOf, type TrafficInstruction } from "./message.ts";

const system = partyOf(programs.system);
const computeBudget = partyOf(programs.computeBudget);
const associatedToken = partyOf(programs.associatedToken);
const memoProgram = partyOf(programs.memo);
const stakeProgram = partyOf(programs.stake);
const tableProgram = partyOf(programs.addressLookupTable);
const stakeConfig = partyOf(programs.stakeConfig);
const clock = partyOf(sysvars.clock);
const rent = partyOf(sysvars.rent);
const stakeHistory = partyOf(sysvars.stakeHistory);

export const signsAndPays = (party: Party): AccountUse => ({ party, signs: true, writes: true });
export const signs = (party: Party): AccountUse => ({ party, signs: true, writes: false });
export const writes = (party: Party): AccountUse => ({ party, signs: false, writes: true });
export const reads = (party: Party): AccountUse => ({ party, signs: false, writes: false });

/** What a mint is to the instructions that use it. */
export interface MintParty extends Party {
  readonly program: Party;
  readonly decimals: number;
}

export function setUnitPrice(microLamports: bigint): TrafficInstruction {
  return { program: computeBudget, accounts: [], data: new ByteWriter().u8(3).u64(microLamports).finish() };
}

export function setUnitLimit(units: number): TrafficInstruction {
  return { program: computeBudget, accounts: [], data: new ByteWriter().u8(2).u32(units).finish() };
}

export function transfer(from: Party, to: Party, lamports: bigint): TrafficInstruction {
  return {
    program: system,
    accounts: [signsAndPays(from), writes(to)],
    data: new ByteWriter().u32(2).u64(lamports).finish(),
  };
}

export function createAccount(
  payer: Party,
  account: Party,
  size: { readonly lamports: bigint; readonly space: number },
  owner: Party,
): TrafficInstruction {
  const data = new ByteWriter().u32(0).u64(size.lamports).u64(BigInt(size.space)).bytes(owner.bytes).finish();
  return { program: system, accounts: [signsAndPays(payer), signsAndPays(account)], data };
}

export function memo(author: Party, text: string): TrafficInstruction {
  return { program: memoProgram, accounts: [signs(author)], data: new TextEncoder().encode(text) };
}

export function initializeMint(mint: MintParty, authority: Party): TrafficInstruction {
  const data = new ByteWriter().u8(20).u8(mint.decimals).bytes(authority.bytes).u8(0).finish();
  return { program: mint.program, accounts: [writes(mint)], data };
}

/** Opens an associated token account, or leaves it as it is when it is open. */
export function openTokenAccount(payer: Party, owner: Party, mint: MintParty, account: Party): TrafficInstruction {
  return {
    program: associatedToken,
    accounts: [signsAndPays(payer), writes(account), reads(owner), reads(mint), reads(system), reads(mint.program)],
    data: Uint8Array.of(1),
  };
}

export function transferTokens(
  mint: MintParty,
  way: { readonly from: Party; readonly to: Party; readonly authority: Party },
  amount: bigint,
): TrafficInstruction {
  return {
    program: mint.program,
    accounts: [writes(way.from), reads(mint), writes(way.to), signs(way.authority)],
    data: new ByteWriter().u8(12).u64(amount).u8(mint.decimals).finish(),
  };
}

export function mintTokens(mint: MintParty, to: Party, authority: Party, amount: bigint): TrafficInstruction {
  return {
    program: mint.program,
    accounts: [writes(mint), writes(to), signs(authority)],
    data: new ByteWriter().u8(7).u64(amount).finish(),
  };
}

export function burnTokens(mint: MintParty, from: Party, owner: Party, amount: bigint): TrafficInstruction {
  return {
    program: mint.program,
    accounts: [writes(from), writes(mint), signs(owner)],
    data: new ByteWriter().u8(8).u64(amount).finish(),
  };
}

/** Closes an empty token account; its rent goes to the owner. */
export function closeTokenAccount(mint: MintParty, account: Party, owner: Party): TrafficInstruction {
  return {
    program: mint.program,
    accounts: [writes(account), writes(owner), signs(owner)],
    data: Uint8Array.of(9),
  };
}

/** Makes a native account's units what its lamports are. */
export function syncNative(mint: MintParty, account: Party): TrafficInstruction {
  return { program: mint.program, accounts: [writes(account)], data: Uint8Array.of(17) };
}

export interface SeededAccount {
  readonly party: Party;
  /** Whose address and signature it follows from. */
  readonly base: Party;
  readonly seed: string;
}

/** Creates a stake account at an address without a key pair, and makes `base` its staker and withdrawer. */
export function createStake(account: SeededAccount, lamports: bigint, space: number): readonly TrafficInstruction[] {
  const { party, base, seed } = account;
  const text = new TextEncoder().encode(seed);
  const create = new ByteWriter().u32(3).bytes(base.bytes).u64(BigInt(text.length)).bytes(text);
  const initialize = new ByteWriter().u32(0).bytes(base.bytes).bytes(base.bytes).i64(0n).u64(0n).bytes(system.bytes);
  return [
    {
      program: system,
      accounts: [signsAndPays(base), writes(party)],
      data: create.u64(lamports).u64(BigInt(space)).bytes(stakeProgram.bytes).finish(),
    },
    { program: stakeProgram, accounts: [writes(party), reads(rent)], data: initialize.finish() },
  ];
}

export function delegateStake(stake: Party, vote: Party, staker: Party): TrafficInstruction {
  const known = [reads(vote), reads(clock), reads(stakeHistory), reads(stakeConfig)];
  return {
    program: stakeProgram,
    accounts: [writes(stake), ...known, signs(staker)],
    data: new ByteWriter().u32(2).finish(),
  };
}

export function deactivateStake(stake: Party, staker: Party): TrafficInstruction {
  return {
    program: stakeProgram,
    accounts: [writes(stake), reads(clock), signs(staker)],
    data: new ByteWriter().u32(5).finish(),
  };
}

export function withdrawStake(stake: Party, withdrawer: Party, lamports: bigint): TrafficInstruction {
  return {
    program: stakeProgram,
    accounts: [writes(stake), writes(withdrawer), reads(clock), reads(stakeHistory), signs(withdrawer)],
    data: new ByteWriter().u32(4).u64(lamports).finish(),
  };
}

/** Creates a lookup table and puts addresses into it; usable from the next slot on. */
export function createTable(
  table: Party,
  authority: Party,
  derivation: { readonly recentSlot: bigint; readonly bump: number },
  addresses: readonly Party[],
): readonly TrafficInstruction[] {
  const accounts = [writes(table), signs(authority), signsAndPays(authority), reads(system)];
  const extend = new ByteWriter().u32(2).u64(BigInt(addresses.length));
  for (const { bytes } of addresses) extend.bytes(bytes);
  const create = new ByteWriter().u32(0).u64(derivation.recentSlot).u8(derivation.bump);
  return [
    { program: tableProgram, accounts, data: create.finish() },
    { program: tableProgram, accounts, data: extend.finish() },
  ];
}
