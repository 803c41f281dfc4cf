import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { ManualClock, SecretVault, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { EncryptionKeyRecord } from "../../state/index.ts";
import { rejection } from "../admission/index.ts";
import type { BundleChange, BundleRecord, NewBundle } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import type { BundleSubmission } from "../model/service.ts";
import { seal } from "../testing/seal.ts";
import { KeyRing } from "./key-ring.ts";
import { SealedBundles, type SealedDependencies } from "./sealed-bundles.ts";

const searcher = { id: "account", accountId: "account", pubkey: null };
const masterKey = "ab".repeat(32);
const epochOf = (slot: bigint) => ({ first: (slot / 100n) * 100n, last: (slot / 100n) * 100n + 99n });
const slotOf = (value: bigint): Slot => value as Slot;

function memoryStore() {
  const keys: EncryptionKeyRecord[] = [];
  return {
    keys,
    insert: async (key: EncryptionKeyRecord) => void keys.push(key),
    since: async (slot: bigint) => keys.filter((key) => key.validUntil >= slot),
    forget: async () => 0,
  };
}

async function ringAt(slot: bigint, store = memoryStore()) {
  const vault = new SecretVault(masterKey, seededRandom(1));
  const ring = new KeyRing({ store, vault, random: seededRandom(Number(slot)), clock: new ManualClock(5), epochOf });
  await ring.turn(slotOf(slot));
  return { ring, store };
}

/** A room of sealed bundles over a pool that is a list; `open` of admission takes what it is handed. */
async function sealedRoom(options: { readonly refuse?: boolean } = {}) {
  const { ring } = await ringAt(250n);
  const records: BundleRecord[] = [];
  const changes: [string, BundleChange][] = [];
  const claims = new Map<string, string>();
  const faults: unknown[] = [];
  const trouble: { now: ((transactions: readonly Uint8Array[]) => void) | null } = { now: null };
  const pool: SealedDependencies["pool"] = {
    live: (id) => records.find((record) => record.id === id) ?? null,
    addFollower: async (id, searcherId) => {
      const at = records.findIndex((record) => record.id === id);
      const record = records[at];
      if (record === undefined) return null;
      const followers = record.searcherId === searcherId ? [] : [searcherId];
      records[at] = { ...record, followers };
      return records[at] ?? null;
    },
    everySealed: () => records.filter(({ state, sealed }) => state === "accepted" && sealed !== null),
    accept: async (bundle) => {
      const record = recordOf(bundle);
      records.push(record);
      return { fresh: true, record };
    },
    opened: async (id, content) => {
      const record = records.find((each) => each.id === id);
      return record === undefined ? null : { ...record, ...content, sealed: null };
    },
    change: async (id, change) => {
      changes.push([id, change]);
      return null;
    },
  };
  const room = new SealedBundles({
    network: "devnet",
    clock: new ManualClock(1_000),
    ring,
    pool,
    replays: {
      claim: async ({ enc, holder }) => {
        const name = Buffer.from(enc).toString("hex");
        if (!claims.has(name)) claims.set(name, holder);
        return claims.get(name) ?? "";
      },
    },
    admission: {
      checkClaim: () => null,
      open: async (transactions) => {
        trouble.now?.(transactions);
        return options.refuse === true
          ? rejection("simulation_failed", "transaction 0")
          : {
              ok: true,
              content: { transactions, signatures: [], lastValidBlockHeight: 9n },
              seen: {
                ok: true,
                tip: 1n,
                computeUnits: 1,
                costUnits: 1,
                fees: 1n,
                writes: [],
                reads: [],
                signatures: [],
                slot: 1n,
              },
            };
      },
    },
    slot: () => slotOf(250n),
    tipFloor: () => 1_000n,
    decodeRequest: (bytes) => (bytes[0] === 7 ? [bytes.slice(1)] : null),
    internalError: (reportedError) => void faults.push(reportedError),
  });
  const [key] = ring.valid(250n);
  if (key === undefined) throw new Error("the ring has no key");
  const claim = { tip: 2_000n, mevType: "jit", targetSlot: null } as const;
  const sealing = { network: "devnet", keyId: key.id, publicKey: key.publicKey, ...claim };
  const submission: BundleSubmission = { transactions: [], sealed: null, ingress: "grpc", ...claim };
  return { room, records, changes, sealing, submission, faults, trouble };
}

function recordOf(bundle: NewBundle): BundleRecord {
  const waiting = { state: "accepted", reason: null, detail: null, landed: null, forwarded: null } as const;
  const rest = { tipSeen: null, computeUnits: null, followers: [], chain: null };
  return { ...bundle, ...waiting, ...rest, changedAt: bundle.receivedAt };
}

const message = Uint8Array.of(7, 1, 2, 3);
const openAt = (slot: bigint) => ({ slot: slotOf(slot), isOpen: true });

test("what is sealed is not seen before its tick and is what was sealed then", async () => {
  const { room, records, sealing, submission } = await sealedRoom();
  const envelope = await seal({ ...sealing, message });
  const outcome = await room.submit(envelope, submission, searcher);
  expect(outcome).toMatchObject({ ok: true, fresh: true });
  expect(records[0]).toMatchObject({ transactions: [], sealed: envelope, tip: 2_000n });
  expect(records[0]?.id).toBe(new Bun.CryptoHasher("sha256").update(envelope).digest("hex"));
  const [opened] = await room.open(openAt(251n));
  expect(opened?.record.transactions).toEqual([Uint8Array.of(1, 2, 3)]);
});

test("an envelope that is known is followed by who sends it too, and refused with other claims", async () => {
  const { room, sealing, submission } = await sealedRoom();
  const envelope = await seal({ ...sealing, message });
  await room.submit(envelope, submission, searcher);
  const second = { id: "second", accountId: "second", pubkey: null };
  for (const wrong of [{ tip: 2_001n }, { tip: 1_999n }, { tip: null }, { targetSlot: 260n }]) {
    const outcome = await room.submit(envelope, { ...submission, ...wrong }, second);
    expect(outcome).toMatchObject({ ok: false, reason: "claims_differ" });
  }
  const outcome = await room.submit(envelope, submission, second);
  expect(outcome).toMatchObject({ ok: true, fresh: false, record: { followers: ["second"] } });
});

test("a claim that is not the sealed one, or another network's envelope, drops the bundle when it is opened", async () => {
  for (const change of [{ tip: 2_001n }, { mevType: "unknown" as const }, { targetSlot: 250n }]) {
    const { room, changes, sealing, submission } = await sealedRoom();
    const envelope = await seal({ ...sealing, message });
    await room.submit(envelope, { ...submission, ...change }, searcher);
    expect(await room.open(openAt(250n))).toEqual([]);
    expect(changes.map(([, each]) => each)).toEqual([{ to: "dropped", reason: "decryption_failed" }]);
  }
  const { room, changes, sealing, submission } = await sealedRoom();
  await room.submit(await seal({ ...sealing, network: "mainnet", message }), submission, searcher);
  await room.open(openAt(250n));
  expect(changes[0]?.[1]).toEqual({ to: "dropped", reason: "decryption_failed" });
});

test("what breaks a rule once it is opened is dropped for that reason", async () => {
  const { room, changes, sealing, submission } = await sealedRoom({ refuse: true });
  await room.submit(await seal({ ...sealing, message }), submission, searcher);
  await room.open(openAt(250n));
  expect(changes[0]?.[1]).toEqual({ to: "dropped", reason: "simulation_failed", detail: "transaction 0" });
});

test("the same envelope again is the same bundle; its encapsulated key in another envelope is refused", async () => {
  const { room, sealing, submission } = await sealedRoom();
  const envelope = await seal({ ...sealing, message });
  await room.submit(envelope, submission, searcher);
  expect(await room.submit(envelope, submission, searcher)).toMatchObject({ ok: true, fresh: false });
  const replayed = envelope.slice();
  replayed.set([(replayed.at(-1) ?? 0) ^ 1], replayed.length - 1);
  expect(await room.submit(replayed, submission, searcher)).toMatchObject({
    ok: false,
    reason: "decryption_failed",
  });
});

test("an envelope of another version, suite, size or key is refused at once", async () => {
  const { room, sealing, submission } = await sealedRoom();
  const envelope = await seal({ ...sealing, message });
  const changed = (index: number): Uint8Array => envelope.map((byte, at) => (at === index ? byte ^ 1 : byte));
  for (const bad of [changed(0), changed(2), changed(7), envelope.subarray(1), new Uint8Array(0)]) {
    const outcome = await room.submit(bad, submission, searcher);
    expect(outcome).toMatchObject({ ok: false, reason: "decryption_failed" });
  }
});

test("a bundle waits sealed for its target slot", async () => {
  const { room, sealing, submission } = await sealedRoom();
  const envelope = await seal({ ...sealing, targetSlot: 260n, message });
  await room.submit(envelope, { ...submission, targetSlot: 260n }, searcher);
  expect(await room.open(openAt(259n))).toEqual([]);
  expect((await room.open(openAt(260n))).length).toBe(1);
});

test("each epoch has a key, and the one before is good for one epoch more", async () => {
  const { ring, store } = await ringAt(250n);
  const [first] = ring.valid(250n);
  await ring.turn(slotOf(300n));
  const ids = (slot: bigint): string[] => ring.valid(slot).map(({ id }) => id);
  expect(store.keys.length).toBe(2);
  expect(ids(300n).length).toBe(2);
  expect(ids(399n)).toContain(first?.id ?? "");
  expect(ids(400n)).not.toContain(first?.id ?? "");
  await ring.turn(slotOf(310n));
  expect(store.keys.length).toBe(2);
});

test("an epoch's key is there when its turn has ended, however slowly the store reads", async () => {
  const store = memoryStore();
  const { ring } = await ringAt(250n, {
    ...store,
    since: async (slot) => {
      await new Promise((resolve) => setImmediate(resolve));
      return await store.since(slot);
    },
  });
  expect(ring.valid(250n)).toHaveLength(1);
});

test("keys outlive a restart, and private keys lie in the store under the master key", async () => {
  const store = memoryStore();
  const { ring } = await ringAt(250n, store);
  const [key] = ring.valid(250n);
  const { ring: again } = await ringAt(260n, store);
  expect(again.valid(260n).map(({ id }) => id)).toEqual([key?.id ?? ""]);
  expect(again.privateKey(key?.id ?? "")).toEqual(ring.privateKey(key?.id ?? ""));
  const stored = Buffer.from(store.keys[0]?.privateKey ?? []);
  expect(stored.includes(Buffer.from(ring.privateKey(key?.id ?? "") ?? []))).toBe(false);
  const other = new SecretVault("cd".repeat(32), seededRandom(1));
  expect(other.unwrap(key?.id ?? "", stored)).toBe(null);
  expect(new SecretVault(masterKey, seededRandom(1)).unwrap("other", stored)).toBe(null);
});

test("what is for one slot stays sealed until that slot is open", async () => {
  const { room, records, sealing, submission } = await sealedRoom();
  const targeted = { ...sealing, targetSlot: 252n };
  await room.submit(await seal({ ...targeted, message }), { ...submission, targetSlot: 252n }, searcher);
  expect(records).toHaveLength(1);
  expect(await room.open({ slot: slotOf(252n), isOpen: false })).toEqual([]);
  expect(await room.open({ slot: slotOf(252n), isOpen: true })).toHaveLength(1);
});

test("one bundle of which nothing can be said keeps no other one sealed, and is opened later", async () => {
  const { room, changes, sealing, submission, trouble, faults } = await sealedRoom();
  for (const tag of [1, 2, 3]) {
    await room.submit(await seal({ ...sealing, message: Uint8Array.of(7, tag) }), submission, searcher);
  }
  const errors = [new EngineChainError("no node", null), new SluiceError("OVERLOADED"), new TypeError("broken")];
  for (const [index, error] of errors.entries()) {
    trouble.now = ([transaction]) => {
      if (transaction?.[0] === 2) throw error;
    };
    expect(await room.open(openAt(251n))).toHaveLength(2);
    expect(faults).toHaveLength(index === 2 ? 1 : 0);
    // It waits while others have their turn.
    await room.open(openAt(251n));
  }
  trouble.now = null;
  expect(await room.open(openAt(251n))).toHaveLength(3);
  expect(changes).toEqual([]);
});
