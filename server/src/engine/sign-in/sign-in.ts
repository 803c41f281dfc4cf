import { createPublicKey, verify } from "node:crypto";
import {
  type AuthChallengeRequestMessage,
  type AuthTokensMessage,
  type AuthTokensRequestMessage,
  protoFiles,
  type TokenMessage,
} from "@sluice/contract/proto";
import type { Clock, Random } from "@sluice/lib";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import type { RateLimiter } from "../../limits/index.ts";
import {
  type CallContext,
  type GrpcContext,
  type GrpcService,
  GrpcStatusError,
  loadService,
  unary,
} from "../../net/index.ts";
import { type Challenge, Challenges } from "./challenges.ts";
import {
  type Bearers,
  bearersOf,
  type SignedIn,
  signInRoles,
  type TokenKeys,
  type TokenKind,
  Tokens,
} from "./tokens.ts";

export interface SignInDependencies {
  readonly challenges: Challenges;
  readonly tokens: Tokens;
  readonly limits: RateLimiter;
  /** Whether the identity may have the role VALIDATOR now. */
  readonly mayValidate: (identity: Address) => boolean;
}

const notAuthorised = "The supplied pubkey is not authorized to generate a challenge.";
/** Sign-ins that one address may try: a second, and at once. */
const attempts = { perSecond: 20, burst: 200 } as const;

/**
 * The three steps of Jito's sign-in: a challenge, its signature for a pair of tokens, and a new access token for a
 * refresh token. Codes and texts are those of Jito's own servers, since clients match some of them.
 */
export class SignIn {
  readonly #dependencies: SignInDependencies;

  constructor(dependencies: SignInDependencies) {
    this.#dependencies = dependencies;
  }

  async challenge(request: AuthChallengeRequestMessage, context: CallContext): Promise<{ readonly challenge: string }> {
    await this.#takeAttempt(context);
    const role = signInRoles.find((each) => each === request.role);
    if (role === undefined) throw new GrpcStatusError("INVALID_ARGUMENT", "Role must be searcher or validator.");
    const pubkey = pubkeyOf(request.pubkey);
    this.#checkAllowed({ role, pubkey });
    const challenge = this.#dependencies.challenges.issue(context.clientAddress, role, pubkey);
    if (challenge === null) throw new GrpcStatusError("RESOURCE_EXHAUSTED", "System overloaded.");
    return { challenge: challenge.text };
  }

  async tokens(request: AuthTokensRequestMessage, context: CallContext): Promise<AuthTokensMessage> {
    await this.#takeAttempt(context);
    const pubkey = pubkeyOf(request.client_pubkey);
    const challenge = this.#challengeFor(pubkey, request.challenge, context.clientAddress);
    if (request.signed_challenge.length !== 64)
      throw new GrpcStatusError("INVALID_ARGUMENT", "Signature must be 64 bytes.");
    if (!isSigned(request)) {
      throw new GrpcStatusError(
        "INVALID_ARGUMENT",
        "Failed challenge verification. The key has not signed this challenge.",
      );
    }
    this.#dependencies.challenges.consume(context.clientAddress, challenge);
    this.#checkAllowed(challenge);
    const [access, refresh] = await Promise.all([
      this.#token("access", challenge, context),
      this.#token("refresh", challenge, context),
    ]);
    return { access_token: access, refresh_token: refresh };
  }

  async refresh(
    request: { readonly refresh_token: string },
    context: CallContext,
  ): Promise<{ readonly access_token: TokenMessage }> {
    await this.#takeAttempt(context);
    const found = await this.#dependencies.tokens.verify("refresh", request.refresh_token);
    if (found === "invalid") throw new GrpcStatusError("PERMISSION_DENIED", "Invalid refresh_token supplied");
    if (found === "expired") {
      throw new GrpcStatusError("PERMISSION_DENIED", "Client refresh_token has expired, sign in again.");
    }
    this.#checkAllowed(found);
    return { access_token: await this.#token("access", found, context) };
  }

  /** The challenge that the text answers: `<base58 key>-<challenge>`, of this key and this address. */
  #challengeFor(pubkey: Address, text: string, client: string): Challenge {
    const live = this.#dependencies.challenges.of(client);
    if (live.length === 0) {
      const message = "Must invoke the GenerateAuthChallenge method before calling any method.";
      throw new GrpcStatusError("PERMISSION_DENIED", message);
    }
    const ofKey = live.filter((each) => each.pubkey === pubkey);
    const newest = ofKey.at(-1);
    if (newest === undefined) {
      const message = "The pubkey provided does not match the pubkey that generated the challenge.";
      throw new GrpcStatusError("PERMISSION_DENIED", message);
    }
    const challenge = ofKey.find((each) => text === `${pubkey}-${each.text}`);
    if (challenge !== undefined) return challenge;
    const expected = `${pubkey}-${newest.text}`;
    const message = `The provided challenge does not match the expected challenge: ${expected}`;
    throw new GrpcStatusError("INVALID_ARGUMENT", message);
  }

  #checkAllowed({ role, pubkey }: SignedIn): void {
    if (role !== "VALIDATOR" || this.#dependencies.mayValidate(pubkey)) return;
    throw new GrpcStatusError("PERMISSION_DENIED", notAuthorised);
  }

  async #takeAttempt({ clientAddress }: CallContext): Promise<void> {
    const { perSecond, burst } = attempts;
    const decision = await this.#dependencies.limits.take(`engine-sign-in:${clientAddress}`, perSecond, burst);
    if (decision.allowed) return;
    const { retryAfterSeconds } = decision;
    throw new GrpcStatusError("RESOURCE_EXHAUSTED", "System overloaded.", { retryAfterSeconds });
  }

  async #token(kind: TokenKind, { pubkey, role }: SignedIn, { clientAddress }: CallContext): Promise<TokenMessage> {
    const { value, expiresAtMs } = await this.#dependencies.tokens.issue(kind, { pubkey, role }, clientAddress);
    return { value, expires_at_utc: { seconds: String(Math.floor(expiresAtMs / 1_000)), nanos: 0 } };
  }
}

function pubkeyOf(bytes: Uint8Array): Address {
  if (bytes.length !== 32) throw new GrpcStatusError("INVALID_ARGUMENT", "Pubkey must be 32 bytes in length");
  return addressOfBytes(bytes);
}

/** RFC 8410: what stands before the key in the SubjectPublicKeyInfo form of an Ed25519 key. */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

function isSigned({ client_pubkey, challenge, signed_challenge }: AuthTokensRequestMessage): boolean {
  try {
    const key = createPublicKey({ key: Buffer.concat([spkiPrefix, client_pubkey]), format: "der", type: "spki" });
    return verify(null, Buffer.from(challenge, "utf8"), key, signed_challenge);
  } catch {
    // Bytes that are no point of the curve are no key.
    return false;
  }
}

export interface SignInServiceDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RateLimiter;
  readonly host: GrpcContext;
  readonly mayValidate: (identity: Address) => boolean;
  /** Keys whose tokens are still taken; none when absent. */
  readonly previous?: readonly TokenKeys[];
}

/** `auth.AuthService`, and what reads the tokens that it grants. */
export function createSignIn(
  keys: TokenKeys,
  dependencies: SignInServiceDependencies,
): { readonly service: GrpcService; readonly bearers: Bearers } {
  const { clock, random, limits, host, mayValidate, previous = [] } = dependencies;
  const tokens = new Tokens(keys, { clock, previous });
  const signIn = new SignIn({ challenges: new Challenges({ clock, random }), tokens, limits, mayValidate });
  return {
    bearers: bearersOf(tokens),
    service: {
      definition: loadService(protoFiles.auth, "auth.AuthService"),
      implementation: {
        GenerateAuthChallenge: unary(host, signIn.challenge.bind(signIn)),
        GenerateAuthTokens: unary(host, signIn.tokens.bind(signIn)),
        RefreshAccessToken: unary(host, signIn.refresh.bind(signIn)),
      },
    },
  };
}
