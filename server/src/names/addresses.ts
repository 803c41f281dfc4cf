import { createHash } from "node:crypto";
import { BoundedMap } from "@sluice/lib";
import {
  handleAddress,
  nameRegistryAddress,
  reverseRegistryAddress,
  subdomainPrefix,
} from "@sluice/wire/accounts/name-registry";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import type { NameSuffix } from "@sluice/wire/name-services";

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

export function bytesOfAddress(address: Address): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new RangeError(`${address} is no address`);
  return bytes;
}

/** The registries that lead to a domain under one program. */
export interface DomainPath {
  /** The root of the suffix, which is the first level's parent. */
  readonly root: Address;
  /** One for each label, from the top. */
  readonly levels: readonly Address[];
}

/** Names whose places are remembered, for each program. */
const namesRemembered = 8_192;

/** Derives where names of one program lie; roots are remembered, since every name begins at one. */
export class NameTree {
  readonly program: Address;
  readonly #program: Uint8Array;
  readonly #roots = new Map<NameSuffix, Uint8Array>();
  readonly #paths = new BoundedMap<string, DomainPath>({ max: namesRemembered });

  constructor(program: Address) {
    this.program = program;
    this.#program = bytesOfAddress(program);
  }

  root(suffix: NameSuffix): Address {
    return addressOfBytes(this.#root(suffix));
  }

  #root(suffix: NameSuffix): Uint8Array {
    let root = this.#roots.get(suffix);
    if (root === undefined) {
      root = nameRegistryAddress(suffix, {}, this.#program, sha256);
      this.#roots.set(suffix, root);
    }
    return root;
  }

  /** Labels hold no dot, so that no two names share what they are joined to. */
  path(suffix: NameSuffix, labels: readonly string[]): DomainPath {
    return this.#paths.getOrCreate(`${labels.join(".")}.${suffix}`, () => this.#derive(suffix, labels));
  }

  #derive(suffix: NameSuffix, labels: readonly string[]): DomainPath {
    let parent = this.#root(suffix);
    const levels: Address[] = [];
    for (const label of labels) {
      const name = levels.length === 0 ? label : subdomainPrefix + label;
      parent = nameRegistryAddress(name, { parent }, this.#program, sha256);
      levels.push(addressOfBytes(parent));
    }
    return { root: this.root(suffix), levels };
  }

  /** Where the text of a first-level domain's name is kept. */
  reverse(registry: Address, reverseClass: Address): Address {
    const place = { reverseClass: bytesOfAddress(reverseClass) };
    return addressOfBytes(reverseRegistryAddress(bytesOfAddress(registry), place, this.#program, sha256));
  }
}

export function addressOfHandle(handle: string, program: Address): Address {
  return addressOfBytes(handleAddress(handle, bytesOfAddress(program), sha256));
}
