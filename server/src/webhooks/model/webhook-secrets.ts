import { webhookSecretBytes, webhookSecretPrefix } from "@sluice/contract/webhooks";
import { invariant, type Random, type SecretVault } from "@sluice/lib";
import { type WebhookRecord, webhookSecretId } from "../../state/index.ts";

/** The secrets that sign a delivery now. */
export interface SigningSecrets {
  /** The oldest one whose time is not over. */
  readonly present: string;
  /** Those that were rotated in since and sign along, the newest last; empty without a rotation under way. */
  readonly next: readonly string[];
  /** Unix milliseconds from which on others sign; null where nothing ends by itself. */
  readonly untilMs: number | null;
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

  /** What signs at a moment (Unix ms): the newest secret, and those before it whose time is not over. */
  signing(
    {
      id,
      secret,
      nextSecret,
      overlapEndsAt,
      retiredSecrets,
    }: Pick<WebhookRecord, "id" | "secret" | "nextSecret" | "overlapEndsAt" | "retiredSecrets">,
    atMs: number,
  ): SigningSecrets {
    const before = nextSecret === null ? [] : [{ secret, endsAt: overlapEndsAt ?? 0 }];
    const along = [...retiredSecrets, ...before].filter(({ endsAt }) => endsAt > atMs);
    const newest = this.#open(id, nextSecret ?? secret);
    const [present = newest, ...rest] = along.map(({ secret: stored }) => this.#open(id, stored));
    if (along.length === 0) return { present, next: [], untilMs: null };
    return { present, next: [...rest, newest], untilMs: Math.min(...along.map(({ endsAt }) => endsAt)) };
  }

  #open(webhookId: string, stored: Uint8Array): string {
    const opened = this.#vault.unwrap(webhookSecretId(webhookId), stored);
    // A server does not start over secrets that its master keys do not open.
    invariant(opened !== null, "a master key opens each secret of a webhook");
    return new TextDecoder().decode(opened);
  }
}
