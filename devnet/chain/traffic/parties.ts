import { createHash } from "node:crypto";
import { encodeBase58 } from "@sluice/wire/base58";
import { findProgramAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import type { GenesisKeypair } from "../model/index.ts";
import type { MintParty } from "./instructions.ts";
import { type Party, partyOf } from "./message.ts";

export const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

export interface Wallet extends Party {
  readonly keypair: GenesisKeypair;
}

/** Where one wallet's units of one mint are, whether or not the account is open now. */
export interface Holding extends Party {
  readonly owner: Wallet;
  readonly mint: TrafficMint;
}

export interface TrafficMint extends MintParty {
  /** Creates it; null for a mint that genesis brings. */
  readonly keypair: GenesisKeypair | null;
  /** Mints its units. */
  readonly authority: Wallet;
  readonly holdings: readonly Holding[];
}

/** An address that follows from seeds under a program. */
export function derived(seeds: readonly Uint8Array[], program: Party): { party: Party; bump: number } {
  const found = findProgramAddress(seeds, program.bytes, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return { party: { address: encodeBase58(found.bytes), bytes: found.bytes }, bump: found.bump };
}

/** A mint with an associated account for each holder. */
export function holdMint(parts: Omit<TrafficMint, "holdings">, holders: readonly Wallet[]): TrafficMint {
  const holdings: Holding[] = [];
  const mint: TrafficMint = { ...parts, holdings };
  for (const owner of holders) holdings.push({ ...associated(owner, mint), owner, mint });
  return mint;
}

/** Where an owner's units of a mint lie. */
export function associated(owner: Party, mint: MintParty): Party {
  return derived([owner.bytes, mint.program.bytes, mint.bytes], partyOf(programs.associatedToken)).party;
}
