import type { Address } from "./identifiers.ts";

/** One deployment of a name service, with the program that keeps handles beside it where there is one. */
export interface NameService {
  readonly label: "x1-mainnet" | "x1-testnet" | "devnet";
  readonly nameProgram: Address;
  /** Class of the registries that hold names as text; null where none is known. */
  readonly reverseClass: Address | null;
  readonly handleProgram: Address | null;
}

const id = (text: string): Address => text as Address;

/**
 * The name services of X1 (SPL Name Service programs), and that of Sluice's own development chain. The development ids
 * are SHA-256 digests of texts, so no key exists that could put a program there on another chain. The reverse class
 * of X1 follows SNS's pattern from its registrar and is unconfirmed: a name found through it counts only when it leads
 * back to its registry.
 */
export const nameServices: readonly NameService[] = [
  {
    label: "x1-mainnet",
    nameProgram: id("nameQyUhZQQgnirGbbJRR9ECWSdq1W7mMaNUZZTBvtq"),
    reverseClass: id("G5gEzrVR5U9jkrP6JWe5qc8PL69fCE5etiVjv298eFb5"),
    handleProgram: null,
  },
  {
    label: "x1-testnet",
    nameProgram: id("HoxHN4YSynWfdS3fuB2RtBQsMjTKX3Vn3vdyafq4iXZG"),
    reverseClass: id("G5gEzrVR5U9jkrP6JWe5qc8PL69fCE5etiVjv298eFb5"),
    handleProgram: null,
  },
  {
    label: "devnet",
    nameProgram: id("J5dsq2eRdPMM66NJfkXHkrX2y9waR22jxefDPjuNaByn"),
    reverseClass: id("8kRKPBTLJz6pgkvWFEj13swGFSMv9sUcZrAxm9rh5a9D"),
    handleProgram: id("FsFcLm6XGGm5brB5rJ3TTHBhzXU9meroSpz18p6cK5uc"),
  },
];

/** The suffixes of domains; each is the name of a root registry. */
export const nameSuffixes = ["x1", "xnt", "xen"] as const;
export type NameSuffix = (typeof nameSuffixes)[number];
