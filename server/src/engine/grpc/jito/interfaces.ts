import type { Address } from "@sluice/wire/identifiers";

/** What Jito's endpoint needs beside the service; compose hands it in. */
export interface LinkedKeys {
  /** The owner account to which a public key is linked, or null. */
  accountOfPubkey(pubkey: Address): string | null | Promise<string | null>;
}
