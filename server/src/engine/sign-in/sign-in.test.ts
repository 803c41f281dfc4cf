import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { protoFiles } from "@sluice/contract/proto";
import { ManualClock, seededRandom } from "@sluice/lib";
import { type Ended, PlainClient } from "../../net/grpc/testing/grpc-client.ts";
import { addressOf } from "../testing/fake-service.ts";
import { type ServedEngine, serveEngine } from "../testing/served-engine.ts";
import { authClient, makeIdentity, signIn, textAt } from "../testing/signed-in.ts";
import { Challenges } from "./challenges.ts";
import { type TokenKeys, Tokens, tokenKeysOf } from "./tokens.ts";

let served: ServedEngine;
let auth: PlainClient;
let searcher: PlainClient;
beforeEach(async () => {
  served = await serveEngine();
  auth = authClient(served.port);
  searcher = new PlainClient(served.port, { file: protoFiles.searcher, service: "searcher.SearcherService" });
});
afterEach(async () => {
  auth[Symbol.dispose]();
  searcher[Symbol.dispose]();
  await served[Symbol.asyncDispose]();
});

const challenge = (identity: { bytes: Uint8Array }, role = "SEARCHER"): Promise<Ended> =>
  auth.call("GenerateAuthChallenge", { role, pubkey: identity.bytes });

describe("a challenge", () => {
  test("has nine characters, and its signature buys tokens whose ends are reported", async () => {
    const identity = makeIdentity();
    expect(textAt(await challenge(identity), "challenge")).toMatch(/^[0-9A-Za-z]{9}$/);
    const { ended } = await signIn(auth, "SEARCHER", identity);
    const now = served.clock.now() / 1_000;
    expect(ended).toMatchObject({
      status: "OK",
      message: {
        access_token: { expires_at_utc: { seconds: String(now + 1_800), nanos: 0 } },
        refresh_token: { expires_at_utc: { seconds: String(now + 180_000), nanos: 0 } },
      },
    });
  });

  test("is good once: a replay of the whole answer is refused", async () => {
    const identity = makeIdentity();
    const text = `${identity.address}-${textAt(await challenge(identity), "challenge")}`;
    const answer = { challenge: text, client_pubkey: identity.bytes, signed_challenge: identity.sign(text) };
    expect((await auth.call("GenerateAuthTokens", answer)).status).toBe("OK");
    expect(await auth.call("GenerateAuthTokens", answer)).toMatchObject({
      status: "PERMISSION_DENIED",
      details: "Must invoke the GenerateAuthChallenge method before calling any method.",
    });
    const next = textAt(await challenge(identity), "challenge");
    expect(await auth.call("GenerateAuthTokens", answer)).toMatchObject({
      status: "INVALID_ARGUMENT",
      details: `The provided challenge does not match the expected challenge: ${identity.address}-${next}`,
    });
  });

  test("serves a client that signs in twice at once", async () => {
    const identity = makeIdentity();
    const both = await Promise.all([signIn(auth, "SEARCHER", identity), signIn(auth, "SEARCHER", identity)]);
    expect(both.map(({ ended }) => ended.status)).toEqual(["OK", "OK"]);
  });

  test("is answered by its own key alone, with 64 bytes that are its signature", async () => {
    const identity = makeIdentity();
    const thief = makeIdentity();
    const text = `${identity.address}-${textAt(await challenge(identity), "challenge")}`;
    const tokens = async (client_pubkey: Uint8Array, signed_challenge: Uint8Array) =>
      await auth.call("GenerateAuthTokens", { challenge: text, client_pubkey, signed_challenge });
    expect(await tokens(thief.bytes, thief.sign(text))).toMatchObject({
      status: "PERMISSION_DENIED",
      details: "The pubkey provided does not match the pubkey that generated the challenge.",
    });
    expect(await tokens(identity.bytes, new Uint8Array(63))).toMatchObject({
      status: "INVALID_ARGUMENT",
      details: "Signature must be 64 bytes.",
    });
    const forged = await tokens(identity.bytes, thief.sign(text));
    expect(forged).toMatchObject({ status: "INVALID_ARGUMENT" });
    expect("details" in forged && forged.details).toStartWith("Failed challenge verification.");
    expect((await tokens(identity.bytes, identity.sign(text))).status).toBe("OK");
  });

  test("is not given for keys of a wrong length, other roles, or identities of no schedule", async () => {
    for (const [request, status, details] of [
      [{ role: "SEARCHER", pubkey: new Uint8Array(31) }, "INVALID_ARGUMENT", "Pubkey must be 32 bytes in length"],
      [{ role: "RELAYER", pubkey: new Uint8Array(32) }, "INVALID_ARGUMENT", "Role must be searcher or validator."],
      [{ role: 9, pubkey: new Uint8Array(32) }, "INVALID_ARGUMENT", "Role must be searcher or validator."],
      [
        { role: "VALIDATOR", pubkey: new Uint8Array(32) },
        "PERMISSION_DENIED",
        "The supplied pubkey is not authorized to generate a challenge.",
      ],
    ] as const) {
      expect(await auth.call("GenerateAuthChallenge", request)).toMatchObject({ status, details });
    }
  });

  test("is not given to an address that asks too often", async () => {
    served.empty.add("engine-sign-in:127.0.0.1");
    expect(await challenge(makeIdentity())).toMatchObject({
      status: "RESOURCE_EXHAUSTED",
      details: "System overloaded.",
    });
  });
});

describe("the challenges of a server", () => {
  const dependencies = () => ({ clock: new ManualClock(), random: seededRandom(3) });

  test("are bounded over all, for each address and for each key, and free again after their time", () => {
    const shared = dependencies();
    const challenges = new Challenges(shared, { lifetimeMs: 1_000, liveMax: 6, perAddressMax: 3, perKeyMax: 2 });
    const [a, b, c] = [addressOf(1), addressOf(2), addressOf(3)];
    const first = challenges.issue("10.0.0.1", "SEARCHER", a);
    const second = challenges.issue("10.0.0.1", "SEARCHER", a);
    expect(second?.text).not.toBe(first?.text);
    expect(challenges.issue("10.0.0.1", "SEARCHER", a)).toBe(first);
    challenges.issue("10.0.0.1", "SEARCHER", b);
    challenges.issue("10.0.0.1", "SEARCHER", c);
    expect(challenges.of("10.0.0.1").map(({ pubkey }) => pubkey)).toEqual([a, b, c]);
    for (const client of ["10.0.0.2", "10.0.0.3", "10.0.0.4"]) {
      expect(challenges.issue(client, "SEARCHER", a)).not.toBeNull();
    }
    expect(challenges.issue("10.0.0.5", "SEARCHER", a)).toBeNull();
    shared.clock.advance(999);
    expect(challenges.of("10.0.0.2")).toHaveLength(1);
    shared.clock.advance(180_000);
    expect(challenges.of("10.0.0.2")).toEqual([]);
    expect(challenges.issue("10.0.0.5", "SEARCHER", a)).not.toBeNull();
  });
});

describe("tokens", () => {
  test("open the searchers' endpoint until they expire, and a refresh token buys new ones", async () => {
    const identity = makeIdentity();
    const { headers, refresh } = await signIn(auth, "SEARCHER", identity);
    expect(await searcher.call("GetTipAccounts", {}, headers)).toMatchObject({ status: "OK" });
    served.clock.advance(1_801_000);
    expect(await searcher.call("GetTipAccounts", {}, headers)).toMatchObject({
      status: "PERMISSION_DENIED",
      details: "Token failed verification.",
    });
    const renewed = await auth.call("RefreshAccessToken", { refresh_token: refresh });
    const authorization = `Bearer ${textAt(renewed, "access_token.value")}`;
    expect(await searcher.call("GetTipAccounts", {}, { authorization })).toMatchObject({ status: "OK" });
    served.clock.advance(180_000_000);
    const late = await auth.call("RefreshAccessToken", { refresh_token: refresh });
    expect(late).toMatchObject({ status: "PERMISSION_DENIED" });
    expect("details" in late && late.details).toStartWith("Client refresh_token has expired");
  });

  test("of one kind are not of the other, and texts are no tokens", async () => {
    const { headers, refresh } = await signIn(auth, "SEARCHER", makeIdentity());
    const access = String(headers["authorization"]).slice("Bearer ".length);
    for (const refresh_token of [access, "", "a.b.c", "x".repeat(10_000)]) {
      expect(await auth.call("RefreshAccessToken", { refresh_token })).toMatchObject({
        status: "PERMISSION_DENIED",
        details: "Invalid refresh_token supplied",
      });
    }
    expect(await searcher.call("GetTipAccounts", {}, { authorization: `Bearer ${refresh}` })).toMatchObject({
      status: "PERMISSION_DENIED",
    });
  });

  test("of a validator are not renewed once it has left the schedule, and never open the searchers' endpoint", async () => {
    const identity = makeIdentity();
    served.scheduled.add(identity.address);
    const { headers, refresh } = await signIn(auth, "VALIDATOR", identity);
    expect(await searcher.call("GetTipAccounts", {}, headers)).toMatchObject({ status: "PERMISSION_DENIED" });
    expect((await auth.call("RefreshAccessToken", { refresh_token: refresh })).status).toBe("OK");
    served.scheduled.delete(identity.address);
    expect(await auth.call("RefreshAccessToken", { refresh_token: refresh })).toMatchObject({
      status: "PERMISSION_DENIED",
    });
  });

  test("of one server are good at another with its seed, and at none with another", async () => {
    const clock = new ManualClock(1_800_000_000_000);
    const tokens = (fill: number) => new Tokens(tokenKeysOf(new Uint8Array(32).fill(fill)), { clock });
    const subject = { pubkey: addressOf(4), role: "SEARCHER" } as const;
    const { value } = await tokens(1).issue("access", subject, "127.0.0.1");
    expect(await tokens(1).verify("access", value)).toEqual(subject);
    expect(await tokens(2).verify("access", value)).toBe("invalid");
    const [present, before] = [2, 1].map((fill) => tokenKeysOf(new Uint8Array(32).fill(fill)));
    const later = new Tokens(present as TokenKeys, { clock, previous: [before as TokenKeys] });
    expect(await later.verify("access", value)).toEqual(subject);
    expect(await tokens(2).verify("access", (await later.issue("access", subject, "127.0.0.1")).value)).toEqual(
      subject,
    );
    // The header says that nothing was signed.
    const [, claims] = value.split(".");
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${claims}.`;
    expect(await tokens(1).verify("access", unsigned)).toBe("invalid");
    expect(() => tokenKeysOf(new Uint8Array(31))).toThrow(RangeError);
  });
});
