import { describe, expect, test } from "bun:test";
import { Chacha20Poly1305 } from "@hpke/chacha20poly1305";
import { CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import { additionalData, readEnvelope, unpad } from "@sluice/contract/sealed-bundle";
import { type BundlesOptions, createBundles } from "./bundles.ts";
import { ProblemError } from "./problem-error.ts";
import { sealBundle } from "./seal-bundle.ts";

const transactions = [Uint8Array.of(1, 2, 3), new Uint8Array(1_232).fill(0xff)];
const suite = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Chacha20Poly1305(),
});
const pair = await suite.kem.generateKeyPair();
const publicKey = new Uint8Array(await suite.kem.serializePublicKey(pair.publicKey));
const newest = { id: "0123456789abcdef", publicKey: Buffer.from(publicKey).toString("base64"), validUntilSlot: 900 };
const oldest = { ...newest, id: "00".repeat(8), validUntilSlot: 400 };
const buffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

interface Asked {
  readonly path: string;
  readonly init: RequestInit;
}

/** A client of an engine that gives these answers in turn, and what it was asked. */
function engine(...answers: (Response | Error)[]) {
  const asked: Asked[] = [];
  const call: BundlesOptions["fetch"] = async (url, init) => {
    asked.push({ path: new URL(url).pathname, init });
    const answer = answers.shift();
    if (answer === undefined) throw new Error(`nothing is left to answer ${url}`);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, bundles: createBundles({ url: "http://engine:7435/", apiKey: "k", fetch: call }) };
}

const accepted = (bundleId: string): Response => Response.json({ bundleId, status: "accepted" }, { status: 202 });
const shown = (status: string): Response =>
  Response.json({ bundleId: "b", status, slot: null, signatures: [], reason: null });
const keys = (): Response => Response.json({ network: "devnet", keys: [oldest, newest] });
const bodyOf = (asked: Asked | undefined): string => String(asked?.init.body);

describe("a bundle in the open", () => {
  test("is sent as the endpoint reads it, with amounts beyond 2^53 exact", async () => {
    const { asked, bundles } = engine(accepted("b"));
    expect(await bundles.submit({ transactions, tip: 2n ** 63n + 1n, mevType: "jit", targetSlot: 7n })).toBe("b");
    expect(asked[0]?.path).toBe("/api/v1/bundles");
    expect(new Headers(asked[0]?.init.headers).get("x-api-key")).toBe("k");
    expect(bodyOf(asked[0])).toContain('"tip":9223372036854775809,"mevType":"jit","targetSlot":7}');
    const { transactions: sent } = JSON.parse(bodyOf(asked[0]));
    expect(sent.map(({ data }: { data: string }) => new Uint8Array(Buffer.from(data, "base64")))).toEqual(transactions);
  });

  test("that is refused rejects with its reason", async () => {
    const problem = { title: "Tip below the floor", status: 400, code: "tip_below_floor", instance: "req_1" };
    const { bundles } = engine(Response.json(problem, { status: 400 }));
    const fault = await bundles.submit({ transactions, tip: 1n }).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ProblemError);
    expect(fault).toMatchObject({ status: 400, code: "tip_below_floor", requestId: "req_1" });
  });
});

describe("a sealed bundle", () => {
  test("is opened by the key's owner with the claims that travel beside it, and by these alone", async () => {
    const { asked, bundles } = engine(keys(), accepted("b"));
    await bundles.submitSealed({ transactions, tip: 5_000n, mevType: "arbitrage", targetSlot: 9n });
    const { encryptedPayload, tip, mevType, targetSlot, ...rest } = JSON.parse(bodyOf(asked[1]));
    expect({ tip, mevType, targetSlot, rest }).toEqual({ tip: 5_000, mevType: "arbitrage", targetSlot: 9, rest: {} });
    const envelope = readEnvelope(new Uint8Array(Buffer.from(encryptedPayload, "base64")));
    if (envelope === null) throw new Error("what was sent is no envelope");
    expect(envelope.keyId).toBe(newest.id);
    const open = (claimed: bigint): Promise<ArrayBuffer> => {
      const claims = { network: "devnet", keyId: newest.id, tip: claimed, mevType, targetSlot: 9n };
      return suite.open(
        { recipientKey: pair.privateKey, enc: buffer(envelope.enc) },
        buffer(envelope.ciphertext),
        buffer(additionalData(claims)),
      );
    };
    const request = unpad(new Uint8Array(await open(5_000n)));
    // A BundleRequest: field 1, length, bytes; a length of two bytes for the second.
    const fields = [0x0a, 3, 1, 2, 3, 0x0a, 0xd0, 0x09, ...new Uint8Array(1_232).fill(0xff)];
    expect(request).toEqual(Uint8Array.from(fields));
    await expect(open(5_001n)).rejects.toThrow();
  });

  test("has the id that the engine gives it, and another one each time", async () => {
    const parts = { network: "devnet", key: { id: newest.id, publicKey }, transactions, tip: 5_000n };
    const [one, other] = await Promise.all([sealBundle(parts), sealBundle(parts)]);
    expect(one.bundleId).toBe(new Bun.CryptoHasher("sha256").update(one.envelope).digest("hex"));
    expect(other.bundleId).not.toBe(one.bundleId);
  });

  test("that is too long, or to a key that is none, is not made", async () => {
    const parts = { network: "devnet", key: { id: newest.id, publicKey }, tip: 1n };
    const long = Array.from({ length: 7 }, () => new Uint8Array(1_232));
    await expect(sealBundle({ ...parts, transactions: long })).rejects.toThrow(RangeError);
    const short = { id: newest.id, publicKey: publicKey.subarray(1) };
    await expect(sealBundle({ ...parts, key: short, transactions })).rejects.toThrow(RangeError);
  });

  test("uses the keys that are known, until the engine takes them no longer", async () => {
    const refusal = Response.json({ code: "decryption_failed" }, { status: 400 });
    const { asked, bundles } = engine(keys(), accepted("a"), refusal, keys(), accepted("b"));
    const bundle = { transactions, tip: 1_000n };
    expect(await bundles.submitSealed(bundle)).toBe("a");
    await expect(bundles.submitSealed(bundle)).rejects.toThrow(ProblemError);
    expect(await bundles.submitSealed(bundle)).toBe("b");
    expect(asked.map(({ path }) => path.split("/").at(-1)).join(" ")).toBe(
      "encryption-keys bundles bundles encryption-keys bundles",
    );
  });
});

describe("the outcome of a bundle", () => {
  test("is waited for until it is no longer only accepted", async () => {
    const { asked, bundles } = engine(shown("accepted"), shown("accepted"), shown("included"));
    expect(await bundles.outcome("b/c", { pollMs: 1 })).toMatchObject({ status: "included" });
    expect(asked.map(({ path }) => path)).toEqual(Array(3).fill("/api/v1/bundles/b%2Fc"));
  });

  test("is given up when the caller says so, between two questions as well", async () => {
    const { bundles } = engine(shown("accepted"));
    const waiting = bundles.outcome("b", { pollMs: 60_000, signal: AbortSignal.timeout(5) });
    await expect(waiting).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("of an unknown bundle rejects", async () => {
    const { bundles } = engine(Response.json({ code: "BUNDLE_NOT_FOUND" }, { status: 404 }));
    await expect(bundles.outcome("b")).rejects.toMatchObject({ code: "BUNDLE_NOT_FOUND", status: 404 });
  });
});
