import { webhookSecretBytes, webhookSecretPrefix } from "@sluice/contract/webhooks";
import { invariant, type Random, type SecretVault } from "@sluice/lib";
import { type WebhookRecord, webhookSecretId } from "../../state/index.ts";

/** The secrets that sign a delivery now. */
export interface SigningSecrets {
  readonly present: string;
  /** Signs along while a rotation overlaps; null otherwise. */
  readonly next: string | null;
}

/** Draws the secrets of webhooks, and keeps them as they lie in the store: sealed, each for its webhook alone. */
export class WebhookSecrets {
  readonly #random: Random;
  readonly #vault: Pick<SecretVault, "wrap" | "unwrap">;

  constructor(dependencies: { readonly random: Random; readonly vault: Pick<SecretVault, "wrap" | "unwrap"> }) {
    this.#random = dependencies.random;
    this.#vault = dependencies.vault;
  }

  draw(): string {
    return `${webhookSecretPrefix}${Buffer.from(this.#random.bytes(webhookSecretBytes)).toString("base64")}`;
  }

  seal(webhookId: string, secret: string): Uint8Array {
    return this.#vault.wrap(webhookSecretId(webhookId), new TextEncoder().encode(secret));
  }

  /** What signs at a moment (Unix ms): after the overlap the rotated secret alone does. */
  signing(
    { id, secret, nextSecret, overlapEndsAt }: Pick<WebhookRecord, "id" | "secret" | "nextSecret" | "overlapEndsAt">,
    atMs: number,
  ): SigningSecrets {
    if (nextSecret === null) return { present: this.#open(id, secret), next: null };
    if (overlapEndsAt === null || overlapEndsAt <= atMs) return { present: this.#open(id, nextSecret), next: null };
    return { present: this.#open(id, secret), next: this.#open(id, nextSecret) };
  }

  #open(webhookId: string, stored: Uint8Array): string {
    const opened = this.#vault.unwrap(webhookSecretId(webhookId), stored);
    // A server does not start over secrets that its master keys do not open.
    invariant(opened !== null, "a master key opens each secret of a webhook");
    return new TextDecoder().decode(opened);
  }
}
