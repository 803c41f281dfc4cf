import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { protoFiles } from "@sluice/contract/proto";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { type Ended, type Headers, PlainClient } from "../../net/grpc/testing/grpc-client.ts";

/** A key that signs in. */
export interface Identity {
  readonly bytes: Uint8Array;
  readonly address: Address;
  sign(text: string): Uint8Array;
}

export function makeIdentity(): Identity {
  const { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync("ed25519");
  const bytes = new Uint8Array(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  return {
    bytes,
    address: addressOfBytes(bytes),
    sign: (text) => new Uint8Array(sign(null, Buffer.from(text, "utf8"), privateKey)),
  };
}

export const authClient = (port: number): PlainClient =>
  new PlainClient(port, { file: protoFiles.auth, service: "auth.AuthService" });

/** The member of an answer at a path such as `access_token.value`, as text; empty where there is not valid. */
export function textAt(ended: Ended, path: string): string {
  let value: unknown = "message" in ended ? ended.message : undefined;
  for (const name of path.split("."))
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : "";
  return String(value ?? "");
}

/** Goes through the challenge; the answer of the second step, or the refusal of the first. */
export async function signIn(
  client: PlainClient,
  role: "SEARCHER" | "VALIDATOR",
  identity: Identity,
): Promise<{ readonly ended: Ended; readonly headers: Headers; readonly refresh: string }> {
  const first = await client.call("GenerateAuthChallenge", { role, pubkey: identity.bytes });
  if (first.status !== "OK") return { ended: first, headers: {}, refresh: "" };
  const challenge = `${identity.address}-${textAt(first, "challenge")}`;
  const ended = await client.call("GenerateAuthTokens", {
    challenge,
    client_pubkey: identity.bytes,
    signed_challenge: identity.sign(challenge),
  });
  return {
    ended,
    headers: { authorization: `Bearer ${textAt(ended, "access_token.value")}` },
    refresh: textAt(ended, "refresh_token.value"),
  };
}
