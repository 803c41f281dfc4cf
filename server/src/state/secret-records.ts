import type { Network } from "@sluice/contract/tiers";

/** What secrets are sealed for. */
export type SecretKind = "node" | "encryption key" | "webhook";

/** A secret as it is stored: sealed by its owner under a master key, or plain as under `dev`. */
export interface StoredSecret {
  readonly kind: SecretKind;
  /**
   * Unique in its kind, in an order of its bytes: `network/label` of a node, the id of an encryption key or of a
   * webhook, with `/next` after it for the secret that it is being given and `/old/0` and on for those that sign along.
   */
  readonly place: string;
  /** What it is bound to when it is sealed. */
  readonly secretId: string;
  readonly stored: Uint8Array;
}

/** All secrets of the database, whoever owns them. Every method throws SluiceError. */
export interface SecretStore {
  /** Those after this one, at most `limit` (1 to 1,000); null begins at the first. */
  list(after: Pick<StoredSecret, "kind" | "place"> | null, limit: number): Promise<readonly StoredSecret[]>;
  /**
   * Stores other bytes for each of these that is still as it was read, all in one transaction; says how many. At most
   * 1,000.
   */
  replace(changes: readonly { readonly secret: StoredSecret; readonly stored: Uint8Array }[]): Promise<number>;
  /** Deletes each of these that is still as it was read, with what it belongs to; says how many. At most 1,000. */
  remove(secrets: readonly StoredSecret[]): Promise<number>;
}

export const nodeSecretPrefix = "upstream:";

/** What the address and headers of an added node are bound to when they are sealed. */
export const nodeSecretId = (network: Network, label: string): string => `${nodeSecretPrefix}${network}/${label}`;
