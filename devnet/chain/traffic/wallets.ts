import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { GenesisDescription } from "../genesis/index.ts";
import { GenesisKeypair } from "../model/index.ts";
import type { SeededAccount } from "./instructions.ts";
import { keypairParty, type Party, partyOf } from "./message.ts";
import { NftRoster } from "./nft-roster.ts";
import { type CastMint, derived, holdMint, sha256, type Wallet } from "./parties.ts";
import { type CastPool, castPools } from "./pools.ts";

const walletCount = 50;
const stakes = 12;
/** Wallets that hold what is traded in pools. */
const traders = 12;
/** Addresses of wallets in the lookup table: as many as one transaction can put there beside its creation. */
const tableWallets = 24;
const mintSpecs = [
  { program: programs.token, decimals: 6 },
  { program: programs.token, decimals: 9 },
  { program: programs.token2022, decimals: 2 },
] as const;

export interface CastStake extends SeededAccount {
  readonly owner: Wallet;
}

/**
 * Everybody and everything that the traffic ever touches: a bounded number of accounts, all following from its seed and
 * from the pools of genesis.
 */
export interface Cast {
  readonly wallets: readonly Wallet[];
  /** Creates the mints, mints their units and pays for what belongs to nobody in particular. */
  readonly treasury: Wallet;
  readonly mints: readonly CastMint[];
  readonly stakes: readonly CastStake[];
  readonly tableMembers: readonly Wallet[];
  readonly pools: readonly CastPool[];
  readonly nfts: NftRoster;
}

/** The address of a lookup table that this authority creates with this recent slot. */
export function tableAddress(authority: Party, recentSlot: bigint): { readonly party: Party; readonly bump: number } {
  const slot = new Uint8Array(8);
  new DataView(slot.buffer).setBigUint64(0, recentSlot, true);
  return derived([authority.bytes, slot], partyOf(programs.addressLookupTable));
}

function castMint(
  seed: string,
  number: number,
  form: (typeof mintSpecs)[number],
  wallets: readonly Wallet[],
): CastMint {
  const keypair = new GenesisKeypair(seed, `traffic/mint/${number}`);
  const [treasury] = wallets;
  if (treasury === undefined) throw new Error("there are no wallets");
  const { decimals } = form;
  const parts = { ...keypairParty(keypair), keypair, program: partyOf(form.program), decimals, authority: treasury };
  return holdMint(parts, wallets);
}

function castStake(number: number, owner: Wallet): CastStake {
  const seed = `traffic/stake/${number}`;
  const stakeProgram = partyOf(programs.stake);
  const bytes = sha256(Buffer.concat([owner.bytes, Buffer.from(seed), stakeProgram.bytes]));
  return { party: { address: encodeBase58(bytes), bytes }, base: owner, seed, owner };
}

/** The cast of a seed. Takes about 30 ms, most of it for the addresses of 230 token accounts. */
export function createCast(seed: string, description: GenesisDescription, nftsMax: number): Cast {
  const wallet = (number: number): Wallet => {
    const keypair = new GenesisKeypair(seed, `traffic/wallet/${number}`);
    return { ...keypairParty(keypair), keypair };
  };
  const treasury = wallet(0);
  const wallets = [treasury, ...Array.from({ length: walletCount - 1 }, (_, number) => wallet(number + 1))];
  const { pools, mints } = castPools(description, wallets.slice(1, traders + 1));
  return {
    wallets,
    treasury,
    mints: [...mintSpecs.map((form, number) => castMint(seed, number, form, wallets)), ...mints],
    pools,
    nfts: new NftRoster(seed, wallets, description, nftsMax),
    stakes: Array.from({ length: stakes }, (_, number) => castStake(number, wallets[number + 1] ?? treasury)),
    tableMembers: wallets.slice(0, tableWallets),
  };
}
