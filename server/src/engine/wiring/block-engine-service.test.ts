import { expect, test } from "bun:test";
import type { BundleState } from "@sluice/contract/engine";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import type { BundleSubmission, SubmitOutcome } from "../model/service.ts";
import { FakeBlockEngineService } from "../testing/fake-service.ts";
import { createBlockEngineService } from "./engine.ts";

const searcher = { id: "account", accountId: "account", pubkey: null };
const submission: BundleSubmission = {
  transactions: [Uint8Array.of(1)],
  tip: 1_000n,
  mevType: "unknown",
  targetSlot: null,
  sealed: null,
  ingress: "rest",
};

/** A front service whose admission answers what a test says, and which counts what reaches the pool. */
function room() {
  const fake = new FakeBlockEngineService();
  const state = {
    live: 0,
    isStopped: false,
    record: null as BundleRecord | null,
    asked: [] as string[],
    check: async (): Promise<SubmitOutcome> => fake.submit(submission, searcher),
  };
  const reported: SubmitOutcome[] = [];
  const check = { submit: () => state.check() };
  const service = createBlockEngineService({
    admission: check,
    sealed: check,
    pool: {
      get: async (id) => {
        state.asked.push(id);
        return state.record;
      },
      liveOf: (id) => fake.inFlight(id),
      liveCountOf: () => state.live,
      follow: () => ({ [Symbol.dispose]: () => {} }),
    },
    limits: { take: () => fake.takeRate(), isStopped: async () => state.isStopped },
    losses: fake.losses,
    schedule: { leaderAt: () => null, nextOf: () => null, slotsOf: () => [] },
    validators: { connected: () => [], deliver: () => false },
    tipAccounts: [],
    slot: () => 1n as Slot,
    tipFloor: () => fake.tipFloor(),
    reputation: (id) => fake.reputation(id),
    isInMaintenance: () => fake.isInMaintenance,
    nowMs: () => 0,
    submitted: (_searcher, _ingress, outcome) => void reported.push(outcome),
  });
  return { service, fake, state, reported };
}

async function recordIn(state: BundleState): Promise<BundleRecord> {
  const outcome = await new FakeBlockEngineService().submit(submission, searcher);
  if (!outcome.ok) throw new Error("the service refuses");
  return { ...outcome.record, state, reason: state === "dropped" || state === "expired" ? "not_landed" : null };
}

test("a bundle that has failed before is refused for that reason, one that is in the chain is accepted as it stands", async () => {
  const { service, state, reported } = room();
  for (const [ended, accepted] of [
    ["dropped", false],
    ["expired", false],
    ["included", true],
    ["finalized", true],
  ] as const) {
    const record = await recordIn(ended);
    state.check = async () => ({ ok: true, record, fresh: false, tipFloor: 1n });
    const outcome = await service.submit(submission, searcher);
    expect(outcome.ok).toBe(accepted);
    if (!outcome.ok) expect(outcome).toMatchObject({ id: record.id, reason: "not_landed" });
  }
  // It was no second submission.
  expect(reported.every((outcome) => outcome.ok && !outcome.fresh)).toBe(true);
});

test("a searcher with as many bundles in flight as one may have is refused before its bundle is looked at", async () => {
  const { service, state, fake } = room();
  state.live = 10_000;
  expect(await service.submit(submission, searcher)).toMatchObject({ ok: false, reason: "rate_limited" });
  expect(fake.submissions).toEqual([]);
  state.live = 9_999;
  expect(await service.submit(submission, searcher)).toMatchObject({ ok: true });
});

test("a searcher that an operator has stopped is refused on every endpoint before its bundle is looked at", async () => {
  const { service, state, fake } = room();
  state.isStopped = true;
  for (const ingress of ["grpc", "rest", "jito-rpc"] as const) {
    const refused = await service.submit({ ...submission, ingress }, searcher);
    expect(refused).toMatchObject({
      ok: false,
      reason: "rate_limited",
      detail: "an operator has stopped this searcher",
    });
  }
  expect(fake.submissions).toEqual([]);
});

test("a bundle that no block holds is there for those who submitted it, and one in the chain for everybody", async () => {
  const { service, state } = room();
  const record = { ...(await recordIn("accepted")), followers: ["second"] };
  const seenBy = async (id: string) => (await service.get(record.id, { id })) !== null;
  for (const [shown, stranger] of [
    [record, false],
    [{ ...record, state: "dropped", reason: "fork" }, false],
    [{ ...record, state: "included", landed: { slot: 5n as Slot, blockhash: "h", index: 0 } }, true],
  ] as const) {
    state.record = shown;
    expect([await seenBy("account"), await seenBy("second"), await seenBy("stranger")]).toEqual([true, true, stranger]);
  }
});

test("a bundle that is refused unread has the id that it would have", async () => {
  const { service, fake } = room();
  fake.isInMaintenance = true;
  const envelope = Uint8Array.of(1, 2, 3);
  const refused = await service.submit({ ...submission, transactions: [], sealed: envelope }, searcher);
  const id = new Bun.CryptoHasher("sha256").update(envelope).digest("hex");
  expect(refused).toMatchObject({ ok: false, id, reason: "maintenance" });
  expect(await service.submit(submission, searcher)).toMatchObject({ ok: false, id: "" });
});

test("where no node answers the engine cannot answer now, which is no fault of its own", async () => {
  const { service, state } = room();
  state.check = () => Promise.reject(new EngineChainError("no node answered: timeout at 10.0.0.1", null));
  const reportedError = await service.submit(submission, searcher).catch((error: unknown) => error);
  expect(reportedError).toMatchObject({ code: "OVERLOADED" });
  expect(String(reportedError)).not.toContain("10.0.0.1");
});

test("what can be no bundle's id is not looked for on the disk", async () => {
  const { service, state } = room();
  for (const id of ["", "../etc", "A".repeat(64), "a".repeat(63), `${"a".repeat(64)}\n`])
    expect(await service.get(id, searcher)).toBe(null);
  await service.get("a".repeat(64), searcher);
  expect(state.asked).toEqual(["a".repeat(64)]);
});
