import { expect, test } from "bun:test";
import { type BundleReason, engineLimits } from "@sluice/contract/engine";
import { ManualClock } from "@sluice/lib";
import { tipPrograms } from "@sluice/wire/accounts/tips";
import type { Address, Slot } from "@sluice/wire/identifiers";
import { parseTransaction } from "@sluice/wire/transaction";
import type { BundleRecord, NewBundle } from "../model/bundle.ts";
import type { BundleSubmission } from "../model/service.ts";
import type { BundleEffects, BundleOutcome } from "../simulation/index.ts";
import { testSigner, transfer } from "../testing/transactions.ts";
import { Admission, type AdmissionDependencies } from "./admission.ts";
import { bundleId } from "./bundle-checks.ts";

const searcher = { id: "account", accountId: "account", pubkey: null };
const tipAccount = "96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5" as Address;
const other = "Vote111111111111111111111111111111111111111" as Address;
const blockhash = "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N" as Address;
const from = testSigner();

const tipping = (lamports = 10_000n): Uint8Array => transfer({ from, to: tipAccount, lamports, blockhash });
const paying = (lamports: bigint): Uint8Array => transfer({ from, to: other, lamports, blockhash });

function submission(transactions: readonly Uint8Array[], options: Partial<BundleSubmission> = {}): BundleSubmission {
  return { transactions, tip: 5_000n, mevType: "unknown", targetSlot: null, sealed: null, ingress: "grpc", ...options };
}

const effects: BundleEffects = {
  ok: true,
  tip: 10_000n,
  computeUnits: 300,
  costUnits: 1_000,
  fees: 5_000n,
  writes: [],
  reads: [],
  signatures: [],
  slot: 100n,
};

interface AdmissionOptions {
  readonly outcome?: BundleOutcome;
  readonly isReachable?: boolean;
  readonly isValid?: boolean;
  readonly processed?: boolean;
  readonly seen?: boolean;
  readonly floor?: bigint;
  readonly slot?: Slot | null;
  readonly inFlight?: readonly BundleRecord[];
  readonly ended?: BundleRecord;
  readonly height?: bigint;
  /** Whether the tip that a bundle pays is not known, as after a restart. */
  readonly forgets?: boolean;
}

function admission(options: AdmissionOptions = {}) {
  const accepted: NewBundle[] = [];
  const asked: string[] = [];
  const paid = new Map<string, bigint>();
  const followers = new Map<string, string[]>();
  const live = (id: string): BundleRecord | null => {
    const record = recordOf(accepted.find((bundle) => bundle.id === id));
    if (record === null) return null;
    return { ...record, tipSeen: paid.get(id) ?? null, followers: followers.get(id) ?? [] };
  };
  const pool: AdmissionDependencies["pool"] = {
    get: async (id) => (options.ended?.id === id ? options.ended : null),
    live,
    simulated: (id, { tip }) => {
      if (options.forgets !== true) paid.set(id, tip);
    },
    addFollower: async (id, searcherId) => {
      if (searcherId !== searcher.id) followers.set(id, [...(followers.get(id) ?? []), searcherId]);
      return live(id);
    },
    holding: (signature) => (options.inFlight ?? []).filter(({ signatures }) => signatures.includes(signature)),
    accept: async (bundle) => {
      const known = live(bundle.id);
      if (known !== null) return { fresh: false, record: known };
      accepted.push(bundle);
      return { fresh: true, record: recordOf(bundle) ?? fail() };
    },
  };
  const created = new Admission({
    clock: new ManualClock(1_000_000),
    chain: {
      height: () => options.height ?? null,
      slot: () => (options.slot === undefined ? (100n as Slot) : options.slot),
      blockhash: async () =>
        options.isValid === false ? { valid: false } : { valid: true, lastValidBlockHeight: 250n },
      seen: ([first]) => (options.seen === true ? (first ?? null) : null),
      processed: async (signatures) => (options.processed === true ? signatures.slice(0, 1) : []),
    },
    simulator: {
      simulate: async ({ id }) => {
        asked.push(id);
        return options.outcome ?? effects;
      },
    },
    pool,
    leaders: { reachable: () => options.isReachable ?? true },
    tipAccounts: new Set([tipAccount]),
    tipFloor: () => options.floor ?? engineLimits.tipMinimum,
    simulated: () => {},
    seen: () => {},
  });
  return { created, accepted, asked };
}

const fail = (): never => {
  throw new Error("no record");
};

function recordOf(bundle: NewBundle | undefined): BundleRecord | null {
  if (bundle === undefined) return null;
  const waiting = { state: "accepted", reason: null, detail: null, landed: null, forwarded: null } as const;
  const rest = { tipSeen: null, computeUnits: null, followers: [], chain: null };
  return { ...bundle, ...waiting, ...rest, changedAt: bundle.receivedAt };
}

async function reasonOf(sent: BundleSubmission, options: AdmissionOptions = {}): Promise<BundleReason | "accepted"> {
  const outcome = await admission(options).created.submit(sent, searcher);
  return outcome.ok ? "accepted" : outcome.reason;
}

const failure = { ok: false, index: 0, signature: null, error: "", logs: [] } as const;
const failed = (error: string): BundleOutcome => ({ ...failure, reason: "simulation_failed", error });

test("one that is in the chain is answered as it stands when it comes again, and is no second one", async () => {
  const { created, accepted } = admission();
  await created.submit(submission([tipping()]), searcher);
  const ended: BundleRecord = { ...(recordOf(accepted[0]) ?? fail()), state: "finalized" };
  for (const options of [{ seen: true }, { processed: true }]) {
    const again = await admission({ ...options, ended }).created.submit(submission([tipping()]), searcher);
    expect(again).toMatchObject({ ok: true, fresh: false, record: { id: ended.id, state: "finalized" } });
  }
  const lost = { ...ended, state: "dropped", reason: "fork" } as const;
  expect(await reasonOf(submission([tipping()]), { seen: true, ended: lost })).toBe("already_processed");
});

test("a right bundle is accepted, with the id that Jito's rule gives it", async () => {
  const { created, accepted } = admission();
  const outcome = await created.submit(submission([paying(1n), tipping()]), searcher);
  const signatures = [paying(1n), tipping()].map((bytes) => {
    const parsed = parseTransaction(bytes);
    return parsed.ok ? parsed.transaction.id : fail();
  });
  expect(outcome).toMatchObject({ ok: true, fresh: true, tipFloor: 1_000n });
  expect(accepted[0]).toMatchObject({
    id: bundleId(signatures),
    signatures,
    tip: 5_000n,
    lastValidBlockHeight: 250n,
    acceptedSlot: 100n,
    expiresAt: 1_000_000 + 300_000,
  });
});

test("a transaction is taken as bytes and as base64 text alike", async () => {
  const text = Buffer.from(Buffer.from(tipping()).toString("base64"));
  const { created, accepted } = admission();
  await created.submit(submission([new Uint8Array(text)]), searcher);
  expect(accepted[0]?.transactions).toEqual([tipping()]);
});

test("what an endpoint has decoded is bytes, even where it looks like text", async () => {
  const text = new Uint8Array(Buffer.from(Buffer.from(tipping()).toString("base64")));
  for (const ingress of ["rest", "jito-rpc"] as const) {
    expect(await reasonOf(submission([text], { ingress }))).toBe("malformed_transaction");
    expect(await reasonOf(submission([tipping()], { ingress }))).toBe("accepted");
  }
});

test("whether a lookup table brings a tip account is for the run to say", async () => {
  const lookups = transfer({ from, to: other, lamports: 1n, blockhash, table: other });
  expect(await reasonOf(submission([lookups]), { outcome: { ...effects, tip: 0n } })).toBe("tip_not_paid");
  const outcome = { ...failure, reason: "tip_account_via_lookup_table" } as const;
  expect(await reasonOf(submission([lookups]), { outcome })).toBe("tip_account_via_lookup_table");
});

test("each fault of a bundle has its own reason", async () => {
  const bytes = tipping();
  const tooLong = new Uint8Array(1_233).fill(1);
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const fronting = transfer({ from, to: tipAccount, lamports: 10_000n, blockhash, readonly: [dontFront] });
  const namesProgram = transfer({ from, to: tipAccount, lamports: 1n, blockhash, readonly: [tipPrograms.payment] });
  const cases: readonly [BundleReason | "accepted", BundleSubmission, AdmissionOptions?][] = [
    ["empty_bundle", submission([])],
    ["too_many_transactions", submission(Array.from({ length: 6 }, (_, index) => paying(BigInt(index))))],
    ["transaction_too_large", submission([tooLong])],
    ["transaction_too_large", submission([text("A".repeat(1_648))])],
    ["malformed_transaction", submission([bytes.subarray(0, bytes.length - 1)])],
    ["malformed_transaction", submission([namesProgram])],
    ["non_canonical_transaction", submission([Uint8Array.of(...bytes, 0)])],
    ["bad_base64", submission([text("AQ!=")])],
    ["bad_base64", submission([text(Buffer.from(bytes).toString("base64").slice(0, -2))])],
    ["duplicate_transaction", submission([bytes, bytes])],
    ["tip_not_paid", submission([paying(1n)])],
    ["tip_not_paid", submission([bytes], { tip: 10_001n })],
    ["tip_below_floor", submission([bytes], { tip: 999n })],
    ["tip_below_floor", submission([bytes], { tip: 5_000n }), { floor: 5_001n }],
    ["front_run_protected", submission([bytes, fronting])],
    ["accepted", submission([fronting, paying(1n)])],
    ["target_slot_past", submission([bytes], { targetSlot: 99n })],
    ["accepted", submission([bytes], { targetSlot: 100n })],
    ["accepted", submission([bytes], { targetSlot: 532n })],
    ["target_slot_too_far", submission([bytes], { targetSlot: 533n })],
    ["no_leader", submission([bytes]), { isReachable: false }],
    ["blockhash_expired", submission([bytes]), { isValid: false }],
    ["already_processed", submission([bytes]), { processed: true }],
    ["already_processed", submission([bytes]), { processed: true, outcome: failed("AlreadyProcessed") }],
    ["already_processed", submission([bytes]), { seen: true }],
    ["signature_invalid", submission([bytes]), { outcome: { ...failure, reason: "signature_invalid" } }],
    ["simulation_failed", submission([bytes]), { outcome: failed("InsufficientFundsForFee") }],
    ["compute_exceeded", submission([bytes]), { outcome: failed("InstructionError: ComputationalBudgetExceeded") }],
  ];
  for (const [expected, sent, options] of cases) {
    expect([expected, await reasonOf(sent, options)]).toEqual([expected, expected]);
  }
});

const dontFront = "jitodontfront111111111111111111111111111111" as Address;

test("a bundle without a claim pays what the simulation sees, and at least the floor", async () => {
  const { created, accepted } = admission();
  await created.submit(submission([tipping()], { tip: null }), searcher);
  expect(accepted[0]?.tip).toBe(10_000n);
  expect(await reasonOf(submission([tipping()], { tip: null }), { floor: 10_001n })).toBe("tip_below_floor");
  const nothing = { outcome: { ...effects, tip: 0n } };
  expect(await reasonOf(submission([tipping()], { tip: null }), nothing)).toBe("tip_not_paid");
});

test("the same bundle again is the same one, and is not simulated again", async () => {
  const { created, asked, accepted } = admission();
  await created.submit(submission([tipping()]), searcher);
  const again = await created.submit(submission([tipping()]), searcher);
  expect(again).toMatchObject({ ok: true, fresh: false });
  expect([asked.length, accepted.length]).toEqual([1, 1]);
});

test("a claim that does not hold for a known bundle is refused, and one that holds is answered with how it stands", async () => {
  const { created, accepted } = admission();
  await created.submit(submission([tipping()], { targetSlot: 110n }), searcher);
  const again = (options: Partial<BundleSubmission>) => created.submit(submission([tipping()], options), searcher);
  for (const wrong of [{ targetSlot: 111n }, { targetSlot: 3n }, { tip: 10_001n }, { tip: 2n ** 64n - 1n }]) {
    expect(await again(wrong)).toMatchObject({ ok: false, id: accepted[0]?.id, reason: "claims_differ" });
  }
  for (const right of [{ targetSlot: 110n }, { targetSlot: null }, { tip: null }, { tip: 10_000n }, { tip: 1n }]) {
    expect(await again(right)).toMatchObject({ ok: true, fresh: false, record: { targetSlot: 110n, tip: 5_000n } });
  }
  const ended: BundleRecord = { ...(recordOf(accepted[0]) ?? fail()), state: "finalized", tipSeen: 10_000n };
  const landed = { seen: true, ended };
  expect(await reasonOf(submission([tipping()], { tip: 10_001n }), landed)).toBe("claims_differ");
  expect(await reasonOf(submission([tipping()], { tip: 10_000n }), landed)).toBe("accepted");
});

test("whether a known bundle pays a claim is found by a run where it is not known", async () => {
  const { created, asked } = admission({ forgets: true });
  await created.submit(submission([tipping()], { tip: 4_000n }), searcher);
  const again = (tip: bigint) => created.submit(submission([tipping()], { tip }), searcher);
  expect(await again(10_001n)).toMatchObject({ ok: false, reason: "tip_not_paid" });
  expect(await again(4_000n)).toMatchObject({ ok: true, fresh: false });
  expect(asked).toHaveLength(2);
});

test("who submits a known bundle follows it", async () => {
  const { created } = admission();
  await created.submit(submission([tipping()]), searcher);
  const second = { id: "second", accountId: "second", pubkey: null };
  const outcome = await created.submit(submission([tipping()]), second);
  expect(outcome).toMatchObject({ ok: true, fresh: false, record: { searcherId: "account", followers: ["second"] } });
  const refused = await created.submit(submission([tipping()], { tip: 10_001n }), { ...second, id: "third" });
  expect(refused).toMatchObject({ ok: false, reason: "claims_differ" });
  expect(await created.submit(submission([tipping()]), searcher)).toMatchObject({ record: { followers: ["second"] } });
});

test("a target slot is refused that the blockhash does not live to", async () => {
  // At slot 100 and height 180 the blockhash is valid for 70 blocks more, and for the block after those.
  const at = (targetSlot: bigint, options: AdmissionOptions = {}) =>
    reasonOf(submission([tipping()], { targetSlot }), { height: 180n, ...options });
  expect(await at(171n)).toBe("accepted");
  expect(await at(172n)).toBe("target_slot_too_far");
  expect(await at(530n)).toBe("target_slot_too_far");
  const { created } = admission({ height: 180n, isValid: false });
  const durable = transfer({ from, to: tipAccount, lamports: 10_000n, blockhash, nonce: other });
  expect(await created.submit(submission([durable], { targetSlot: 530n }), searcher)).toMatchObject({ ok: true });
});

test("a failed simulation carries what the transaction logged", async () => {
  const logs = ["Program log: no"];
  const outcome: BundleOutcome = { ...failure, reason: "simulation_failed", error: "Custom", logs };
  const refused = await admission({ outcome }).created.submit(submission([tipping()]), searcher);
  expect(refused).toMatchObject({ ok: false, reason: "simulation_failed", logs });
});

test("what is in a block that was seen is not run", async () => {
  const { created, asked } = admission({ seen: true });
  expect(await created.submit(submission([tipping()]), searcher)).toMatchObject({ reason: "already_processed" });
  expect(asked).toEqual([]);
});

test("a simulation that cannot be had refuses nothing for good", async () => {
  const outcome: BundleOutcome = { ok: false, reason: "unavailable", cause: "overloaded" };
  expect(admission({ outcome }).created.submit(submission([tipping()]), searcher)).rejects.toMatchObject({
    code: "OVERLOADED",
  });
});

test("a claim or a slot that no column holds is refused for a reason, and so is everything while the slot is unknown", async () => {
  const { created } = admission();
  for (const tip of [2n ** 63n, 2n ** 64n - 1n]) {
    expect(created.checkClaim({ tip, targetSlot: null }, 1)).toMatchObject({ reason: "tip_not_paid" });
  }
  expect(created.checkClaim({ tip: 2n ** 63n - 1n, targetSlot: null }, 1)).toBe(null);
  expect(created.checkClaim({ tip: 1_000n, targetSlot: 2n ** 64n - 1n }, 1)).toMatchObject({
    reason: "target_slot_too_far",
  });
  const early = admission({ slot: null }).created;
  expect(early.checkClaim({ tip: 1_000n, targetSlot: 5_000n }, 1)).toMatchObject({ reason: "no_leader" });
});

test("transactions that are in flight under an envelope's id are not taken a second time", async () => {
  const { created, accepted } = admission();
  await created.submit(submission([paying(1n), tipping()]), searcher);
  const record = recordOf(accepted[0]) ?? fail();
  const opened = { ...record, id: "e".repeat(64) };
  const again = submission([paying(1n), tipping()]);
  expect(await reasonOf(again, { inFlight: [opened] })).toBe("duplicate_transaction");
  expect(await reasonOf(again, { inFlight: [record] })).toBe("accepted");
  expect(await reasonOf(submission([tipping(), paying(1n)]), { inFlight: [opened] })).toBe("accepted");
});

test("an envelope is not opened to the transactions of a bundle that is in flight", async () => {
  const { created, accepted } = admission();
  await created.submit(submission([paying(1n), tipping()]), searcher);
  const inFlight = [recordOf(accepted[0]) ?? fail()];
  const claim = { tip: 5_000n, targetSlot: null };
  const again = await admission({ inFlight }).created.open([paying(1n), tipping()], claim, searcher.id);
  expect(again).toMatchObject({ ok: false, reason: "duplicate_transaction" });
  expect(await admission({ inFlight }).created.open([tipping()], claim, searcher.id)).toMatchObject({ ok: true });
});
