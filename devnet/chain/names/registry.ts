import { createHash } from "node:crypto";
import {
  encodeHandleAccount,
  encodeNameRegistry,
  encodeReverseName,
  handleAddress,
  nameRegistryAddress,
  reverseRegistryAddress,
  subdomainPrefix,
} from "@sluice/wire/accounts/name-registry";
import { addressBytes, decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { type NameService, type NameSuffix, nameServices, nameSuffixes } from "@sluice/wire/name-services";
import { programAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import { type ChainAccount, GenesisKeypair } from "../model/index.ts";

/** The error in an account at the address of a name's registry. */
export type Flaw =
  /** It names another parent than the one its address follows from. */
  | "parent"
  /** Another program owns it. */
  | "program"
  /** It is shorter than its layout. */
  | "truncated"
  /** It was closed: an account of the system program without data. */
  | "closed"
  /** It has room and no owner, as a registry that was deleted in place. */
  | "unowned"
  /** A handle's account that carries another handle's name. */
  | "name";

export interface DomainEntry {
  readonly suffix: NameSuffix;
  /** From the one below the suffix down. */
  readonly labels: readonly string[];
  /** Whose it is: an address, or the name of a key pair, which is the same on every development chain. */
  readonly owner: string;
  /** Its owner is an address off the curve, for which no key can sign. */
  readonly token?: boolean;
  readonly flaw?: Flaw;
}

export interface HandleEntry {
  readonly handle: string;
  readonly owner: string;
  readonly flaw?: Flaw;
}

/** Names as a genesis file gives them. */
interface NameEntries {
  readonly domains: readonly DomainEntry[];
  readonly handles: readonly HandleEntry[];
}

/**
 * The accounts of names that a genesis file describes: roots, domains, sub-domains and handles, with the programs that
 * keep them, and accounts that are wrong in each way that a resolver has to notice. Nothing here runs: the programs
 * exist so that it can be seen which name service the chain carries.
 */

interface NameGenesisEntry {
  readonly address: Address;
  readonly account: ChainAccount;
}

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());
const utf8 = new TextEncoder();
const rentExempt = 0xffff_ffff_ffff_ffffn;
/** The rent-exempt minimum of an account of `size` bytes: two years of rent for it and its 128 bytes of overhead. */
const rentFor = (size: number): bigint => BigInt(128 + size) * 6_960n;

function devnetService(): NameService & { readonly handleProgram: Address; readonly reverseClass: Address } {
  const service = nameServices.find(({ label }) => label === "devnet");
  if (service === undefined || service.handleProgram === null || service.reverseClass === null) {
    throw new Error("the development chain's name service is not described");
  }
  return { ...service, handleProgram: service.handleProgram, reverseClass: service.reverseClass };
}

/** The key pair of a name in a genesis file; it follows from the name, so that every client can sign for it. */
export function nameOwner(role: string): GenesisKeypair {
  return new GenesisKeypair("sluice devnet names", role);
}

/** An owner is named or given by its address. */
function ownerBytes(owner: string): Uint8Array {
  return decodeAddress(owner) ?? nameOwner(owner).publicKey;
}

class Registrar {
  readonly #service = devnetService();
  readonly #program = addressBytes(this.#service.nameProgram);
  readonly #handles = addressBytes(this.#service.handleProgram);
  readonly #registrar = nameOwner("registrar").publicKey;

  account(owner: string, data: Uint8Array, executable = false): ChainAccount {
    return { lamports: rentFor(data.length), data, owner, executable, rentEpoch: rentExempt };
  }

  programs(): NameGenesisEntry[] {
    // A program of the node itself, as the system program is one: it cannot be called, and no loader looks into it.
    const program = (address: Address, name: string): NameGenesisEntry => ({
      address,
      account: this.account(programs.nativeLoader, utf8.encode(name), true),
    });
    return [
      program(this.#service.nameProgram, "devnet_name_service"),
      program(this.#service.handleProgram, "devnet_handles"),
    ];
  }

  roots(): NameGenesisEntry[] {
    return nameSuffixes.map((suffix) => ({
      address: addressOfBytes(this.#derive(suffix)),
      account: this.account(this.#service.nameProgram, encodeNameRegistry({ owner: this.#registrar })),
    }));
  }

  domain(entry: DomainEntry): NameGenesisEntry[] {
    let parent = this.#derive(entry.suffix);
    for (const [depth, label] of entry.labels.slice(0, -1).entries()) {
      parent = this.#derive(depth === 0 ? label : subdomainPrefix + label, parent);
    }
    const label = entry.labels.at(-1) ?? "";
    const name = entry.labels.length === 1 ? label : subdomainPrefix + label;
    const registry = this.#derive(name, parent);
    const data = encodeNameRegistry({
      parent: entry.flaw === "parent" ? this.#derive("xnt") : parent,
      owner: entry.token === true ? this.#tokenRecord(registry) : ownerBytes(entry.owner),
    });
    const address = addressOfBytes(registry);
    const account = this.#flawed(this.account(this.#service.nameProgram, data), entry.flaw);
    const reverse = entry.labels.length === 1 && entry.flaw === undefined ? [this.#reverse(registry, label)] : [];
    return [{ address, account }, ...reverse];
  }

  handle(entry: HandleEntry): NameGenesisEntry {
    const data = encodeHandleAccount({
      tag: sha256(utf8.encode("account:Handle")).subarray(0, 8),
      owner: ownerBytes(entry.owner),
      name: entry.flaw === "name" ? "alice" : entry.handle,
    });
    const address = addressOfBytes(handleAddress(entry.handle, this.#handles, sha256));
    return { address, account: this.#flawed(this.account(this.#service.handleProgram, data), entry.flaw) };
  }

  #derive(name: string, parent?: Uint8Array): Uint8Array {
    return nameRegistryAddress(name, parent === undefined ? {} : { parent }, this.#program, sha256);
  }

  /** The owner of a name that was made into a token: an address that follows from the name, off the curve. */
  #tokenRecord(registry: Uint8Array): Uint8Array {
    return addressBytes(programAddress([utf8.encode("nft_record"), registry], this.#program, sha256));
  }

  #reverse(registry: Uint8Array, label: string): NameGenesisEntry {
    const reverseClass = addressBytes(this.#service.reverseClass);
    const data = encodeNameRegistry({ owner: this.#registrar, class: reverseClass, data: encodeReverseName(label) });
    const address = addressOfBytes(reverseRegistryAddress(registry, { reverseClass }, this.#program, sha256));
    return { address, account: this.account(this.#service.nameProgram, data) };
  }

  #flawed(account: ChainAccount, flaw: Flaw | undefined): ChainAccount {
    switch (flaw) {
      case "program":
        return { ...account, owner: programs.memo };
      case "truncated":
        return { ...account, data: account.data.subarray(0, 60) };
      case "closed":
        return { ...account, owner: programs.system, data: new Uint8Array() };
      case "unowned": {
        const data = account.data.slice();
        // A registry holds its owner at 32, a handle's account at 9; both are empty after this.
        data.fill(0, account.owner === this.#service.handleProgram ? 9 : 32, account.data.length === 74 ? 41 : 64);
        return { ...account, data };
      }
      default:
        return account;
    }
  }
}

/** Every account of the name service and of handles that these names need. */
export function nameGenesis({ domains, handles }: NameEntries): readonly NameGenesisEntry[] {
  const registrar = new Registrar();
  return [
    ...registrar.programs(),
    ...registrar.roots(),
    ...domains.flatMap((entry) => registrar.domain(entry)),
    ...handles.map((entry) => registrar.handle(entry)),
  ];
}
