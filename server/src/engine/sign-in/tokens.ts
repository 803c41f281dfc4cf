import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from "node:crypto";
import type { Clock, Random } from "@sluice/lib";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { errors, jwtVerify, SignJWT } from "jose";
import { bearerToken } from "../../http/index.ts";
import { type CallContext, type GrpcErrorStatus, GrpcStatusError } from "../../net/index.ts";
import type { CursorStore } from "../../state/index.ts";

/** The roles of Jito's protocols that are granted here. */
export const signInRoles = ["SEARCHER", "VALIDATOR"] as const;
export type SignInRole = (typeof signInRoles)[number];

export interface SignedIn {
  readonly pubkey: Address;
  readonly role: SignInRole;
}

/** The key that tokens are signed with. Processes that share it accept each other's tokens. */
export interface TokenKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * The Ed25519 key of a seed of 32 secret bytes: the same seed is the same key, after a restart and in every process.
 */
export function tokenKeysOf(seed: Uint8Array): TokenKeys {
  if (seed.length !== 32) throw new RangeError("The seed of the token key has 32 bytes");
  const der = Buffer.concat([pkcs8Prefix, seed]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** RFC 8410: what stands before the seed in the PKCS #8 form of an Ed25519 key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

export type TokenKind = "access" | "refresh";
const lifetimeMs: Readonly<Record<TokenKind, number>> = { access: 1_800_000, refresh: 180_000_000 };
const issuer = "sluice-block-engine";
/** A token of this engine has some 350 characters; longer texts are not read. */
const tokenLengthMax = 2_048;

/** Access and refresh tokens: JWTs that clients treat as opaque. */
export class Tokens {
  readonly #keys: TokenKeys;
  /** Whose tokens are taken: the present key first. */
  readonly #publicKeys: readonly KeyObject[];
  readonly #clock: Clock;

  /** `previous` verify tokens and sign none. */
  constructor(keys: TokenKeys, dependencies: { readonly clock: Clock; readonly previous?: readonly TokenKeys[] }) {
    this.#keys = keys;
    this.#publicKeys = [keys, ...(dependencies.previous ?? [])].map(({ publicKey }) => publicKey);
    this.#clock = dependencies.clock;
  }

  async issue(
    kind: TokenKind,
    { pubkey, role }: SignedIn,
    clientAddress: string,
  ): Promise<{ readonly value: string; readonly expiresAtMs: number }> {
    const expiresAt = Math.floor((this.#clock.now() + lifetimeMs[kind]) / 1_000);
    const value = await new SignJWT({
      client_ip: clientAddress,
      client_pubkey: pubkey,
      expires_at_unix_ts: expiresAt,
      role,
    })
      .setProtectedHeader({ alg: "EdDSA" })
      .setIssuer(issuer)
      .setAudience(kind)
      .setExpirationTime(expiresAt)
      .sign(this.#keys.privateKey);
    return { value, expiresAtMs: expiresAt * 1_000 };
  }

  /** Whose token it is, or why it is not valid: forged, of the other kind, or past its time. */
  async verify(kind: TokenKind, value: string): Promise<SignedIn | "invalid" | "expired"> {
    if (value.length > tokenLengthMax) return "invalid";
    for (const publicKey of this.#publicKeys) {
      const found = await this.#verifyWith(publicKey, kind, value);
      if (found !== "invalid") return found;
    }
    return "invalid";
  }

  async #verifyWith(publicKey: KeyObject, kind: TokenKind, value: string): Promise<SignedIn | "invalid" | "expired"> {
    try {
      const { payload } = await jwtVerify(value, publicKey, {
        algorithms: ["EdDSA"],
        issuer,
        audience: kind,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ["exp"],
      });
      const pubkey = parseAddress(String(payload["client_pubkey"]));
      const role = signInRoles.find((each) => each === payload["role"]);
      return pubkey === null || role === undefined ? "invalid" : { pubkey, role };
    } catch (error) {
      return error instanceof errors.JWTExpired ? "expired" : "invalid";
    }
  }
}

/** Identifies who made a call of Jito's protocols. The texts are those that their clients know. */
export interface Bearers {
  /**
   * Whose access token the call carries. Throws PERMISSION_DENIED where it is not valid of this role; `missing` where
   * there is not valid.
   */
  signedIn(context: CallContext, role: SignInRole, missing: GrpcErrorStatus): Promise<SignedIn>;
}

export function bearersOf(tokens: Tokens): Bearers {
  return {
    signedIn: async (context, role, missing) => {
      const header = context.headers.get("authorization");
      if (header === null) throw new GrpcStatusError(missing, "The authorization header is missing.");
      const token = bearerToken(header);
      if (token === null) {
        throw new GrpcStatusError("PERMISSION_DENIED", "Invalid authorization header format. It is `Bearer <token>`.");
      }
      const found = await tokens.verify("access", token);
      if (typeof found === "string" || found.role !== role) {
        throw new GrpcStatusError("PERMISSION_DENIED", "Token failed verification.");
      }
      return found;
    },
  };
}

const seedName = "engine-sign-in-seed";
const seedBytes = 32;

/** The seed that belongs to a master key, 64 hexadecimal digits. */
export function seedOf(masterKey: string): Uint8Array {
  const info = "sluice block engine sign-in";
  return new Uint8Array(hkdfSync("sha256", Buffer.from(masterKey, "hex"), new Uint8Array(0), info, seedBytes));
}

/**
 * The seed of the key that tokens are signed with: derived from the master key, so that replicas share it, or without
 * one made once and kept in the store, as under `dev`.
 */
export async function tokenSeed(
  masterKey: string | null,
  dependencies: { readonly values: CursorStore; readonly random: Random },
): Promise<Uint8Array> {
  if (masterKey !== null) return seedOf(masterKey);
  const { values, random } = dependencies;
  const kept = await values.get(seedName);
  if (kept !== null) return new Uint8Array(Buffer.from(kept, "hex"));
  const seed = random.bytes(seedBytes);
  await values.set(seedName, Buffer.from(seed).toString("hex"));
  return seed;
}
