import { createHash } from "node:crypto";
import { encodeBase58, findProgramAddress, programs } from "@sluice/wire";
import { GenesisKeypair } from "../bank/keypair.ts";
import type { MintParty, SeededAccount } from "./instructions.ts";
import { keypairParty, type Party, partyOf } from "./message.ts";

const WALLETS = 50;
const STAKES = 12;
/** Addresses of wallets in the lookup table: as many as one transaction can put there beside its creation. */
const TABLE_WALLETS = 24;
const MINTS = [
  { program: programs.token, decimals: 6 },
  { program: programs.token, decimals: 9 },
  { program: programs.token2022, decimals: 2 },
] as const;

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

export interface Wallet extends Party {
  readonly keypair: GenesisKeypair;
}

/** Where one wallet's units of one mint are, whether or not the account is open now. */
export interface Holding extends Party {
  readonly owner: Wallet;
  readonly mint: CastMint;
}

export interface CastMint extends MintParty {
  readonly keypair: GenesisKeypair;
  readonly holdings: readonly Holding[];
}

export interface CastStake extends SeededAccount {
  readonly owner: Wallet;
}

/** Everybody and everything that the traffic ever touches: a fixed number of accounts, all following from its seed. */
export interface Cast {
  readonly wallets: readonly Wallet[];
  /** Creates the mints, mints their units and pays for what belongs to nobody in particular. */
  readonly treasury: Wallet;
  readonly mints: readonly CastMint[];
  readonly stakes: readonly CastStake[];
  readonly tableMembers: readonly Wallet[];
}

function derived(seeds: readonly Uint8Array[], program: Party): { party: Party; bump: number } {
  const found = findProgramAddress(seeds, program.bytes, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return { party: { address: encodeBase58(found.bytes), bytes: found.bytes }, bump: found.bump };
}

/** The address of a lookup table that this authority creates with this recent slot. */
export function tableAddress(authority: Party, recentSlot: bigint): { readonly party: Party; readonly bump: number } {
  const slot = new Uint8Array(8);
  new DataView(slot.buffer).setBigUint64(0, recentSlot, true);
  return derived([authority.bytes, slot], partyOf(programs.addressLookupTable));
}

function castMint(seed: string, number: number, form: (typeof MINTS)[number], wallets: readonly Wallet[]): CastMint {
  const keypair = new GenesisKeypair(seed, `traffic/mint/${number}`);
  const associatedToken = partyOf(programs.associatedToken);
  const holdings: Holding[] = [];
  const mint: CastMint = {
    ...keypairParty(keypair),
    keypair,
    program: partyOf(form.program),
    decimals: form.decimals,
    holdings,
  };
  for (const owner of wallets) {
    const { party } = derived([owner.bytes, mint.program.bytes, mint.bytes], associatedToken);
    holdings.push({ ...party, owner, mint });
  }
  return mint;
}

function castStake(number: number, owner: Wallet): CastStake {
  const seed = `traffic/stake/${number}`;
  const stakeProgram = partyOf(programs.stake);
  const bytes = sha256(Buffer.concat([owner.bytes, Buffer.from(seed), stakeProgram.bytes]));
  return { party: { address: encodeBase58(bytes), bytes }, base: owner, seed, owner };
}

/** The cast of a seed. Takes about 20 ms, most of it for the addresses of 150 token accounts. */
export function createCast(seed: string): Cast {
  const wallet = (number: number): Wallet => {
    const keypair = new GenesisKeypair(seed, `traffic/wallet/${number}`);
    return { ...keypairParty(keypair), keypair };
  };
  const treasury = wallet(0);
  const wallets = [treasury, ...Array.from({ length: WALLETS - 1 }, (_, number) => wallet(number + 1))];
  return {
    wallets,
    treasury,
    mints: MINTS.map((form, number) => castMint(seed, number, form, wallets)),
    stakes: Array.from({ length: STAKES }, (_, number) => castStake(number, wallets[number + 1] ?? treasury)),
    tableMembers: wallets.slice(0, TABLE_WALLETS),
  };
}
