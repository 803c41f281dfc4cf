import { encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import type { GenesisDescription } from "../genesis/index.ts";
import { GenesisKeypair } from "../model/index.ts";
import type { SeededAccount } from "./instructions.ts";
import { keypairParty, type Party, partyOf } from "./message.ts";
import { NftRoster } from "./nft-roster.ts";
import { derived, holdMint, sha256, type TrafficMint, type Wallet } from "./parties.ts";
import { type TrafficPool, trafficPools } from "./pools.ts";

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

export interface TrafficStake extends SeededAccount {
  readonly owner: Wallet;
}

/**
 * Everybody and everything that the traffic ever touches: a bounded number of accounts, all following from its seed and
 * from the pools of genesis.
 */
export interface TrafficAccounts {
  readonly wallets: readonly Wallet[];
  /** Creates the mints, mints their units and pays for shared accounts. */
  readonly treasury: Wallet;
  readonly mints: readonly TrafficMint[];
  readonly stakes: readonly TrafficStake[];
  readonly tableMembers: readonly Wallet[];
  readonly pools: readonly TrafficPool[];
  readonly nfts: NftRoster;
}

/** The address of a lookup table that this authority creates with this recent slot. */
export function tableAddress(authority: Party, recentSlot: bigint): { readonly party: Party; readonly bump: number } {
  const slot = new Uint8Array(8);
  new DataView(slot.buffer).setBigUint64(0, recentSlot, true);
  return derived([authority.bytes, slot], partyOf(programs.addressLookupTable));
}

function trafficMint(
  seed: string,
  number: number,
  form: (typeof mintSpecs)[number],
  wallets: readonly Wallet[],
): TrafficMint {
  const keypair = new GenesisKeypair(seed, `traffic/mint/${number}`);
  const [treasury] = wallets;
  if (treasury === undefined) throw new Error("there are no wallets");
  const { decimals } = form;
  const parts = { ...keypairParty(keypair), keypair, program: partyOf(form.program), decimals, authority: treasury };
  return holdMint(parts, wallets);
}

function trafficStake(number: number, owner: Wallet): TrafficStake {
  const seed = `traffic/stake/${number}`;
  const stakeProgram = partyOf(programs.stake);
  const bytes = sha256(Buffer.concat([owner.bytes, Buffer.from(seed), stakeProgram.bytes]));
  return { party: { address: encodeBase58(bytes), bytes }, base: owner, seed, owner };
}

/** The accounts of a seed. Takes about 30 ms, most of it for the addresses of 230 token accounts. */
export function createTrafficAccounts(seed: string, description: GenesisDescription, nftsMax: number): TrafficAccounts {
  const wallet = (number: number): Wallet => {
    const keypair = new GenesisKeypair(seed, `traffic/wallet/${number}`);
    return { ...keypairParty(keypair), keypair };
  };
  const treasury = wallet(0);
  const wallets = [treasury, ...Array.from({ length: walletCount - 1 }, (_, number) => wallet(number + 1))];
  const { pools, mints } = trafficPools(description, wallets.slice(1, traders + 1));
  return {
    wallets,
    treasury,
    mints: [...mintSpecs.map((form, number) => trafficMint(seed, number, form, wallets)), ...mints],
    pools,
    nfts: new NftRoster(seed, wallets, description, nftsMax),
    stakes: Array.from({ length: stakes }, (_, number) => trafficStake(number, wallets[number + 1] ?? treasury)),
    tableMembers: wallets.slice(0, tableWallets),
  };
}
