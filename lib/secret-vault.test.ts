import { expect, test } from "bun:test";
import { seededRandom } from "./random.ts";
import { masterKeyId, SecretVault, sealedUnder } from "./secret-vault.ts";

const masterKey = "0123456789abcdef".repeat(4);
const secret = Uint8Array.of(7, 0, 1, 253, 254, 255);
const vaultOf = (key: string | null): SecretVault => new SecretVault(key, seededRandom(3));

test("a secret is read as it was wrapped, under its own id and master key alone", () => {
  const vault = vaultOf(masterKey);
  const stored = vault.wrap("key_1", secret);
  expect(vault.unwrap("key_1", stored)).toEqual(secret);
  expect(vault.unwrap("key_2", stored)).toBeNull();
  expect(vaultOf("f".repeat(64)).unwrap("key_1", stored)).toBeNull();
  expect(vaultOf(null).unwrap("key_1", stored)).toBeNull();
  expect(vault.unwrap("key_1", vault.wrap("key_1", new Uint8Array()))).toEqual(new Uint8Array());
});

test("what is stored shows nothing of the secret, and no two are alike", () => {
  const vault = vaultOf(masterKey);
  const [one, other] = [vault.wrap("key_1", secret), vault.wrap("key_1", secret)];
  expect(Buffer.from(one).includes(Buffer.from(secret))).toBe(false);
  expect(one).not.toEqual(other);
  // A mark, the id of the master key, a nonce of 12 bytes, the secret, and a tag of 16.
  expect([one[0], one.length]).toEqual([2, 1 + 8 + 12 + secret.length + 16]);
});

test("a secret of which any byte was changed, or that is cut, is none", () => {
  const vault = vaultOf(masterKey);
  const stored = vault.wrap("key_1", secret);
  for (let at = 1; at < stored.length; at += 1) {
    const changed = Uint8Array.from(stored);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(vault.unwrap("key_1", changed)).toBeNull();
    expect(vault.unwrap("key_1", stored.subarray(0, at))).toBeNull();
  }
  expect(vault.unwrap("key_1", Uint8Array.of(3, ...stored.subarray(1)))).toBeNull();
  expect(vault.unwrap("key_1", new Uint8Array())).toBeNull();
});

test("without a master key a secret lies plain, and is read with one too", () => {
  const stored = vaultOf(null).wrap("key_1", secret);
  expect(stored).toEqual(Uint8Array.of(0, ...secret));
  for (const key of [null, masterKey]) expect(vaultOf(key).unwrap("key_2", stored)).toEqual(secret);
});

test("a secret names the master key that it is under, and one that only opens is found by that name", () => {
  const [before, after] = [masterKey, "a".repeat(64)];
  const stored = vaultOf(before).wrap("key_1", secret);
  expect(sealedUnder(stored)).toBe(masterKeyId(before));
  const both = new SecretVault(after, seededRandom(4), ["b".repeat(64), before]);
  expect([both.keyId, both.keyIds]).toEqual([masterKeyId(after), [after, "b".repeat(64), before].map(masterKeyId)]);
  expect(both.unwrap("key_1", stored)).toEqual(secret);
  expect([both.isPresent(stored), both.isPresent(both.wrap("key_1", secret))]).toEqual([false, true]);
  expect(masterKeyId(before)).not.toContain(before.slice(0, 8));
});

test("what an earlier version sealed, without a name, is opened by any of the keys", () => {
  const named = vaultOf(masterKey).wrap("key_1", secret);
  const unnamed = Uint8Array.of(1, ...named.subarray(9));
  expect(sealedUnder(unnamed)).toBeNull();
  expect(vaultOf(masterKey).unwrap("key_1", unnamed)).toEqual(secret);
  const later = new SecretVault("a".repeat(64), seededRandom(4), [masterKey]);
  expect([later.unwrap("key_1", unnamed), later.isPresent(unnamed)]).toEqual([secret, false]);
  expect(vaultOf("a".repeat(64)).unwrap("key_1", unnamed)).toBeNull();
});
