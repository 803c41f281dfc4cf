import { decodeAddress } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import { encodeMessage, encodeTransaction, type LookupParts } from "@sluice/wire/transaction";
import type { GenesisKeypair } from "../model/index.ts";

/** An address in both of its forms, so that neither is computed again for every transaction. */
export interface Party {
  readonly address: string;
  readonly bytes: Uint8Array;
}

export interface AccountUse {
  readonly party: Party;
  readonly signs: boolean;
  readonly writes: boolean;
}

export interface TrafficInstruction {
  readonly program: Party;
  readonly accounts: readonly AccountUse[];
  readonly data: Uint8Array;
}

/** A lookup table as messages use it: its address, and where each address stands in it. */
export interface UsableTable {
  readonly party: Party;
  readonly positions: ReadonlyMap<string, number>;
}

export interface Draft {
  /** Pays; the others sign as well. All who must sign are named. */
  readonly signers: readonly [GenesisKeypair, ...GenesisKeypair[]];
  readonly instructions: readonly TrafficInstruction[];
  /** Makes it a v0 transaction that takes from this table what it can. */
  readonly table?: UsableTable;
}

export function partyOf(address: string): Party {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new RangeError(`${address} is no address`);
  return { address, bytes };
}

export function keypairParty(keypair: GenesisKeypair): Party {
  return { address: keypair.address as Address, bytes: keypair.publicKey };
}

interface KeyUse {
  readonly party: Party;
  signs: boolean;
  writes: boolean;
  invoked: boolean;
}

function usesOf(draft: Draft): KeyUse[] {
  const uses = new Map<string, KeyUse>();
  const add = (party: Party, signs: boolean, writes: boolean, invoked: boolean) => {
    const use = uses.get(party.address);
    if (use === undefined) {
      uses.set(party.address, { party, signs, writes, invoked });
      return;
    }
    use.signs ||= signs;
    use.writes ||= writes;
    use.invoked ||= invoked;
  };
  add(keypairParty(draft.signers[0]), true, true, false);
  for (const { program, accounts } of draft.instructions) {
    for (const { party, signs, writes } of accounts) add(party, signs, writes, false);
    add(program, false, false, true);
  }
  return [...uses.values()];
}

/** Where a use stands in a message: signers before others, and in both those that write first. */
function rank({ signs, writes }: KeyUse): number {
  return (signs ? 0 : 2) + (writes ? 0 : 1);
}

function lookupOf(table: UsableTable, loaded: readonly KeyUse[]): LookupParts[] {
  const indexes = (writes: boolean) =>
    loaded.filter((use) => use.writes === writes).map(({ party }) => table.positions.get(party.address) ?? 0);
  if (loaded.length === 0) return [];
  return [{ tableBytes: table.party.bytes, writableIndexes: indexes(true), readonlyIndexes: indexes(false) }];
}

/** Compiles and signs a draft; gives the wire bytes. `blockhash` has 32 bytes. */
export function signedBytes(draft: Draft, blockhash: Uint8Array): Uint8Array {
  const { table } = draft;
  const uses = usesOf(draft);
  const canLoad = (use: KeyUse) =>
    table !== undefined && !use.signs && !use.invoked && table.positions.has(use.party.address);
  const fixed = uses.filter((use) => !canLoad(use)).sort((left, right) => rank(left) - rank(right));
  const loaded = uses.filter(canLoad).sort((left, right) => rank(left) - rank(right));
  const index = new Map([...fixed, ...loaded].map(({ party }, position) => [party.address, position]));
  const signing = fixed.filter(({ signs }) => signs);
  const message = encodeMessage({
    version: table === undefined ? "legacy" : 0,
    numRequiredSignatures: signing.length,
    numReadonlySignedAccounts: signing.filter(({ writes }) => !writes).length,
    numReadonlyUnsignedAccounts: fixed.filter(({ signs, writes }) => !signs && !writes).length,
    staticKeys: fixed.map(({ party }) => party.bytes),
    blockhash,
    instructions: draft.instructions.map(({ program, accounts, data }) => ({
      programIndex: index.get(program.address) ?? 0,
      accountIndexes: accounts.map(({ party }) => index.get(party.address) ?? 0),
      data,
    })),
    ...(table === undefined ? {} : { lookups: lookupOf(table, loaded) }),
  });
  const signatures = signing.map(({ party }) => {
    const signer = draft.signers.find(({ address }) => address === party.address);
    if (signer === undefined) throw new Error(`${party.address} must sign and cannot`);
    return signer.sign(message);
  });
  return encodeTransaction({ signatures, message });
}
