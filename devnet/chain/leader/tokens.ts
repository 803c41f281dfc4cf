import type { AuthTokensMessage, TokenMessage } from "@sluice/contract/proto";
import { encodeBase58 } from "@sluice/wire/base58";
import type { GenesisKeypair } from "../model/index.ts";
import type { EngineChannel } from "./grpc.ts";

/** A token is replaced when it has this long to live. Source: jito-solana, maybe_refresh_auth_tokens. */
const renewedBeforeMs = 1_000;

interface Token {
  readonly value: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

function tokenOf(message: TokenMessage | null, name: string): Token {
  const expires = message?.expires_at_utc ?? null;
  if (message === null || expires === null) throw new Error(`auth tokens lack ${name}`);
  return { value: message.value, expiresAt: Number(expires.seconds) * 1_000 + Math.floor(expires.nanos / 1_000_000) };
}

export interface SessionDependencies {
  /** Asks the engine's AuthService, without a token. */
  readonly channel: Pick<EngineChannel, "ask">;
  readonly keypair: GenesisKeypair;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** A validator's signed-in state: an access token, and what renews it. */
export class Session {
  readonly #dependencies: SessionDependencies;
  #access: Token;
  #refresh: Token;

  private constructor(dependencies: SessionDependencies, access: Token, refresh: Token) {
    this.#dependencies = dependencies;
    this.#access = access;
    this.#refresh = refresh;
  }

  /** Signs a challenge with the identity's key. Rejects when the engine does not take it or gives no whole tokens. */
  static async signIn(dependencies: SessionDependencies): Promise<Session> {
    const { access, refresh } = await newTokens(dependencies);
    return new Session(dependencies, access, refresh);
  }

  /** The token that authorises calls. */
  get token(): string {
    return this.#access.value;
  }

  /** Renews what is about to expire: the access token by the other one, both by signing in again. */
  async renewIfDue(): Promise<void> {
    const soon = this.#dependencies.now() + renewedBeforeMs;
    if (this.#refresh.expiresAt <= soon) {
      const { access, refresh } = await newTokens(this.#dependencies);
      this.#access = access;
      this.#refresh = refresh;
    } else if (this.#access.expiresAt <= soon) {
      const request = { refresh_token: this.#refresh.value };
      const answer = await this.#dependencies.channel.ask<{ readonly access_token: TokenMessage | null }>(
        "refresh",
        request,
        null,
      );
      this.#access = tokenOf(answer.access_token, "access_token");
    }
  }
}

async function newTokens(
  dependencies: SessionDependencies,
): Promise<{ readonly access: Token; readonly refresh: Token }> {
  const { channel, keypair } = dependencies;
  const asked = { role: "VALIDATOR", pubkey: keypair.publicKey };
  const { challenge } = await channel.ask<{ readonly challenge: string }>("challenge", asked, null);
  // The key before it keeps an engine from having a transaction signed.
  const signed = `${encodeBase58(keypair.publicKey)}-${challenge}`;
  const tokens = await channel.ask<AuthTokensMessage>(
    "tokens",
    {
      challenge: signed,
      client_pubkey: keypair.publicKey,
      signed_challenge: keypair.sign(new TextEncoder().encode(signed)),
    },
    null,
  );
  return {
    access: tokenOf(tokens.access_token, "access_token"),
    refresh: tokenOf(tokens.refresh_token, "refresh_token"),
  };
}
