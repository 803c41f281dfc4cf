import { expect, test } from "bun:test";
import type { BundleConfirmationMessage, BundleRequestMessage } from "@sluice/contract/proto";
import { ManualClock } from "@sluice/lib";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import { createLimits } from "../../limits/index.ts";
import { type CallContext, GrpcStatusError, ResponseStream } from "../../net/index.ts";
import type { Searcher } from "../model/bundle.ts";
import { SearcherLimits } from "../reputation/searcher-limits.ts";
import { FakeBlockEngineService } from "../testing/fake-service.ts";
import { BlockEngine } from "./block-engine.ts";
import { BundleStream } from "./bundle-stream.ts";
import { CallRecords } from "./call-records.ts";
import { Refusals } from "./refusals.ts";

const limit = { bundlesPerSecond: 20, burst: 40 };
const seconds = 5;
/** What a searcher's bucket gives in that time. */
const granted = limit.burst + limit.bundlesPerSecond * seconds;
const others = ["one", "two", "three", "four"];

const searcherOf = (id: string): Searcher => ({ id, accountId: id, pubkey: null });
let created = 0;

/** A bundle that remembers whether its transactions were read. */
function bundle(seen: { looks: number }): BundleRequestMessage {
  created += 1;
  const transactions = [Buffer.from(`transaction ${created}`)];
  return {
    tip: "1000",
    mev_type: "arbitrage",
    get transactions() {
      seen.looks += 1;
      return transactions;
    },
  };
}

/** A service with the limits that the engine has, and what each searcher has brought past them. */
class LimitedService extends FakeBlockEngineService {
  readonly clock = new ManualClock(0);
  readonly #limits = new SearcherLimits({
    clock: this.clock,
    store: { limitOf: async () => limit },
    limits: createLimits({}, { clock: this.clock }),
    tierOf: () => "bronze",
    retryableError: (_what, error) => {
      throw error;
    },
  });

  override takeRate(searcher: Searcher) {
    return this.#limits.take(searcher);
  }

  /** Each submission is parsed, simulated and written, so their number bounds all of these. */
  submittedBy(id: string): number {
    return this.submissions.filter(({ searcher }) => searcher.id === id).length;
  }
}

/** Refusals that are reported at once, whatever their pace: what is counted here is what they cost otherwise. */
const unpaced = ({ clock }: LimitedService): Refusals => new Refusals({ clock, sleep: async () => {} });

function blockEngine(engine: LimitedService): (id: string, message: BundleRequestMessage) => Promise<string> {
  const calls = new BlockEngine({
    engine,
    refusals: unpaced(engine),
    limits: createLimits({}, { clock: engine.clock }),
    records: new CallRecords({ network: "devnet", clock: engine.clock, served: () => {} }),
    access: accessOfTests({
      keys: {
        authenticate: (key) => ({
          ...grantOfTests,
          keyId: `${key}`,
          accountId: `${key}`,
          permissions: ["bundles:write"],
        }),
        checkRestrictions: () => null,
      },
    }),
  });
  const contextOf = (id: string): CallContext => ({
    requestId: "req",
    method: "/blockengine.v1.BlockEngine/SubmitBundle",
    clientAddress: "192.0.2.1",
    headers: { get: (name) => (name === "x-api-key" ? id : null) },
  });
  return async (id, message) => {
    try {
      return (await calls.submitBundle(message, contextOf(id))).status;
    } catch (error) {
      if (error instanceof GrpcStatusError) return error.code;
      throw error;
    }
  };
}

test("of calls at a hundred times a searcher's rate the excess is refused before its bundle is looked at, and no other searcher's", async () => {
  const engine = new LimitedService();
  const submit = blockEngine(engine);
  const flood = { looks: 0, answers: new Map<string, number>() };
  const answersOfOthers: string[] = [];
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    const flooding = Array.from({ length: limit.bundlesPerSecond * 10 }, () => submit("flood", bundle(flood)));
    const meanwhile = others.flatMap((id) => [submit(id, bundle({ looks: 0 })), submit(id, bundle({ looks: 0 }))]);
    for (const answer of await Promise.all(flooding)) {
      flood.answers.set(answer, (flood.answers.get(answer) ?? 0) + 1);
    }
    answersOfOthers.push(...(await Promise.all(meanwhile)));
    engine.clock.advance(100);
  }
  expect(new Set(answersOfOthers)).toEqual(new Set(["accepted"]));
  expect(others.map((id) => engine.submittedBy(id))).toEqual(others.map(() => limit.bundlesPerSecond * seconds));
  const taken = engine.submittedBy("flood");
  expect(taken).toBeLessThanOrEqual(granted);
  expect(taken).toBeGreaterThan(granted - limit.bundlesPerSecond);
  expect(flood.answers).toEqual(
    new Map([
      ["accepted", taken],
      ["RESOURCE_EXHAUSTED", limit.bundlesPerSecond * 100 * seconds - taken],
    ]),
  );
  // The look of submissionOf, and no other message's.
  const looksOfOne = { looks: 0 };
  await submit("another", bundle(looksOfOne));
  expect(flood.looks).toBe(taken * looksOfOne.looks);
});

test("of a stream's flood no more than the rate reaches the engine; others' streams are answered whole and in order", async () => {
  const engine = new LimitedService();
  const open = (id: string) => {
    const reported: BundleConfirmationMessage[] = [];
    const responses = new ResponseStream<BundleConfirmationMessage>(
      { waitingMax: 1_024 },
      { write: (message) => reported.push(message) > 0, end: () => {} },
    );
    const requests = { pause: () => {}, resume: () => {} };
    const internalError = (error: unknown): void => {
      throw error;
    };
    const refusals = unpaced(engine);
    const { clock } = engine;
    const parts = { engine, clock, responses, requests, refusals, rejected: () => {}, internalError };
    const stream = new BundleStream({ ...parts, searcher: searcherOf(id) });
    return { stream, reported };
  };
  const flood = open("flood");
  const streams = others.map(open);
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    for (let index = 0; index < limit.bundlesPerSecond * 10; index += 1) flood.stream.take(bundle({ looks: 0 }));
    for (const { stream } of streams) for (const _ of [1, 2]) stream.take(bundle({ looks: 0 }));
    // Every answer is a few turns of the microtask queue away, and no timer.
    await new Promise((resolve) => setImmediate(resolve));
    engine.clock.advance(100);
  }
  expect(engine.submittedBy("flood")).toBeLessThanOrEqual(granted);
  const refused = flood.reported.filter(({ reason }) => reason === "rate_limited");
  expect(refused.length).toBe(limit.bundlesPerSecond * 100 * seconds - engine.submittedBy("flood"));
  for (const [index, { reported }] of streams.entries()) {
    const own = engine.submissions.filter(({ searcher }) => searcher.id === others[index]);
    expect(own).toHaveLength(limit.bundlesPerSecond * seconds);
    const sent = own.map(({ submission }) => Buffer.from(submission.transactions[0] ?? []).toString());
    const answered = reported.map(({ bundle_id }) => {
      const record = engine.records.get(bundle_id);
      return Buffer.from(record?.transactions[0] ?? []).toString();
    });
    expect(new Set(reported.map(({ status }) => status))).toEqual(new Set(["accepted"]));
    expect(answered).toEqual(sent);
  }
});

test("of a stream that never stops no more is read than its rate and the pace of its refusals", async () => {
  const engine = new LimitedService();
  const reported: BundleConfirmationMessage[] = [];
  const responses = new ResponseStream<BundleConfirmationMessage>(
    { waitingMax: 1_024 },
    { write: (message) => reported.push(message) > 0, end: () => {} },
  );
  let isPaused = false;
  const requests = {
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
  };
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      sleepers.push({ atMs: engine.clock.monotonic() + ms, wake });
    });
  const refusals = new Refusals({ clock: engine.clock, sleep });
  const internalError = (error: unknown): void => {
    throw error;
  };
  const rejected: string[] = [];
  const stream = new BundleStream({
    engine,
    clock: engine.clock,
    searcher: searcherOf("flood"),
    responses,
    requests,
    refusals,
    rejected: (reason) => rejected.push(reason),
    internalError,
  });
  let read = 0;
  for (let ms = 0; ms < seconds * 1_000; ms += 1) {
    for (let offered = 0; offered < 50 && !isPaused; offered += 1) {
      stream.take(bundle({ looks: 0 }));
      read += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    engine.clock.advance(1);
    const nowMs = engine.clock.monotonic();
    const due = sleepers.filter(({ atMs }) => atMs <= nowMs);
    sleepers = sleepers.filter(({ atMs }) => atMs > nowMs);
    for (const { wake } of due) wake();
    if (due.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(reported.length).toBe(read);
  expect(rejected).toHaveLength(read - engine.submittedBy("flood"));
  // A searcher's own rate is not lowered by what it sends beyond it.
  expect(engine.submittedBy("flood")).toBeGreaterThan(granted - limit.bundlesPerSecond);
  expect(engine.submittedBy("flood")).toBeLessThanOrEqual(granted);
  expect(read - engine.submittedBy("flood")).toBeLessThanOrEqual(20 + 100 * seconds + 1);
});
