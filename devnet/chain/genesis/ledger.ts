import type { AccountWrite } from "@sluice/svm/bank";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import {
  associatedTokenAddress,
  bytesOf,
  type ChainAccount,
  encodeTokenAccount,
  GenesisKeypair,
  rentExemptLamports,
} from "../model/index.ts";
import { nameOwner } from "../names/index.ts";
import { type GenesisFile, nativeMint } from "./file.ts";
import type { Fault } from "./shapes.ts";

const never = 0xffff_ffff_ffff_ffffn;
const lamportsMax = 0xffff_ffff_ffff_ffffn;

/** A mint that holders and pools may name. */
export interface KnownMint {
  readonly address: string;
  readonly bytes: Uint8Array;
  readonly program: string;
  readonly decimals: number;
  /** The mint authority, by name or address; null when there is none. */
  readonly authority: string | null;
}

/** An account that keeps its rent, of this owner and with this data. */
export function rentFree(owner: string, data: Uint8Array, beside = 0n): ChainAccount {
  return { lamports: rentExemptLamports(data.length) + beside, data, owner, executable: false, rentEpoch: never };
}

/**
 * The accounts of a genesis file. Keys of names are the same on every chain: those of wallets from
 * the text that names' owners are made of, those of mints from a separate text.
 */
export class GenesisLedger {
  readonly #accounts = new Map<string, ChainAccount>();
  readonly #wallets = new Map<string, string>();
  readonly #mints = new Map<string, KnownMint>();
  readonly #supplies = new Map<string, bigint>();
  readonly faults: Fault[] = [];

  constructor(file: GenesisFile) {
    for (const { name, address } of file.wallets) this.#wallets.set(name, address ?? nameOwner(name).address);
    const bytes = bytesOf(wellKnownAddresses.wrappedNativeMint);
    const native = { address: wellKnownAddresses.wrappedNativeMint, bytes, program: programs.token, decimals: 9 };
    this.#mints.set(nativeMint, { ...native, authority: null });
    this.#mints.set(native.address, { ...native, authority: null });
  }

  /** The address of a wallet's name, or the address itself. */
  address(reference: string): string {
    return this.#wallets.get(reference) ?? reference;
  }

  key(reference: string): Uint8Array {
    return bytesOf(this.address(reference));
  }

  keyOrNull(reference: string | null): Uint8Array | null {
    return reference === null ? null : this.key(reference);
  }

  /** The key pair of a mint's name. */
  static mintKeypair(name: string): GenesisKeypair {
    return new GenesisKeypair("sluice devnet genesis", `mint/${name}`);
  }

  addMint(name: string, mint: KnownMint): void {
    this.#mints.set(name, mint);
    this.#mints.set(mint.address, mint);
  }

  /** Null for an address that is no mint of this file. */
  mint(reference: string): KnownMint | null {
    return this.#mints.get(reference) ?? null;
  }

  supply(mint: KnownMint): bigint {
    return this.#supplies.get(mint.address) ?? 0n;
  }

  add(path: string, address: string, account: ChainAccount): void {
    if (this.#accounts.has(address)) this.faults.push({ path, message: `there is another account at ${address}` });
    this.#accounts.set(address, account);
  }

  /**
   * Units of a mint at an address; they count towards its supply, or carry lamports where the mint is the native one.
   */
  addUnits(
    path: string,
    at: string,
    mint: KnownMint,
    owner: Uint8Array,
    amount: bigint,
    immutableOwner: boolean,
  ): void {
    const native = mint.address === wellKnownAddresses.wrappedNativeMint;
    const supply = this.supply(mint) + amount;
    if (supply > lamportsMax) this.faults.push({ path, message: "the mint's supply is more than 64 bits hold" });
    this.#supplies.set(mint.address, supply);
    const parts = { mint: mint.bytes, owner, amount, immutableOwner };
    const nativeReserve = native ? rentExemptLamports(165) : null;
    const data = encodeTokenAccount({ ...parts, nativeReserve });
    this.add(path, at, rentFree(mint.program, data, native ? amount : 0n));
  }

  /** The same at the owner's associated address. */
  addHolding(path: string, mint: KnownMint, owner: Uint8Array, amount: bigint): string {
    const at = associatedTokenAddress(owner, mint.program, mint.bytes);
    this.addUnits(path, at, mint, owner, amount, mint.program === programs.token2022);
    return at;
  }

  has(address: string): boolean {
    return this.#accounts.has(address);
  }

  get writes(): readonly AccountWrite[] {
    return [...this.#accounts].map(([address, account]) => ({ address, account }));
  }
}
