import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { type Batch, BatchNumbers } from "./batches.ts";
import { LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
import type { RequestFact } from "./request-fact.ts";
import { type RequestPace, requestLogLimits, requestPaces } from "./request-limits.ts";
import { RequestLog } from "./requests.ts";
import { fact, recordingLog } from "./testing/ledger-directory.ts";

interface Figures {
  dropped: number;
  flushed: number[];
}

/** Reasons of drops, and how many facts each took. */
type Reasons = Record<string, number>;

function setUp(write: (batch: Batch) => Promise<void>, pace: RequestPace = requestPaces.chdb) {
  const clock = new ManualClock(1_700_000_000_000);
  const figures: Figures = { dropped: 0, flushed: [] };
  const reasons: Reasons = {};
  const events = {
    factsWaiting: () => undefined,
    ledgerDropped: (_table: string, facts: number, reason: string) => {
      figures.dropped += facts;
      reasons[reason] = (reasons[reason] ?? 0) + facts;
    },
    ledgerFlushed: (_table: string, rows: number) => {
      figures.flushed.push(rows);
    },
  };
  const numbers = new BatchNumbers({ clock, random: seededRandom(1) });
  const said = recordingLog();
  const log = new RequestLog(pace, { writer: { write }, numbers, clock, log: said, events });
  return { log, figures, reasons, clock, entries: said.entries };
}

/** The request ids in a batch, found in its bytes: each is `r` and at least one digit, after its length. */
function idsOf(batch: Batch | undefined): string[] {
  if (batch?.body.kind !== "native") return [];
  const text = Buffer.from(batch.body.bytes).toString("latin1");
  const found = [...text.matchAll(/(.)(r\d+)/gs)];
  return found.flatMap(([, length, id = ""]) => (length?.charCodeAt(0) === id.length ? [id] : []));
}

test("flush returns when everything appended before is written, in order, in batches of at most 50,000", async () => {
  const written: Batch[] = [];
  const { log, figures } = setUp(async (batch) => {
    await Bun.sleep(1);
    written.push(batch);
  });
  for (let index = 0; index < 120_000; index++) log.append(fact({ requestId: `r${index}` }));
  await log.flush();
  expect(log.size).toBe(0);
  expect(figures).toEqual({ dropped: 0, flushed: [50_000, 50_000, 20_000] });
  expect(written.flatMap(idsOf)).toEqual(Array.from({ length: 120_000 }, (_, index) => `r${index}`));
  await log[Symbol.asyncDispose]();
});

test("on a server that others write to as well, facts of five seconds are one batch", async () => {
  const written: number[] = [];
  const { log, clock } = setUp(async (batch) => void written.push(batch.rows), requestPaces.clickhouse);
  for (let second = 0; second < 10; second++) {
    for (let index = 0; index < 10; index++) log.append(fact());
    clock.advance(1_000);
    await Bun.sleep(0);
  }
  expect(written).toEqual([50, 50]);
  await log[Symbol.asyncDispose]();
});

test("facts are written within about a second without anybody asking", async () => {
  const written: Batch[] = [];
  const { log, clock } = setUp(async (batch) => {
    written.push(batch);
  });
  log.append(fact());
  clock.advance(requestPaces.chdb.batchMs - 1);
  expect(written.length).toBe(0);
  clock.advance(1);
  await eventually("the flush", () => written.length === 1);
  await log[Symbol.asyncDispose]();
});

test("a full queue drops the newest, counts it, and append stays without effect on the caller", async () => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const written: Batch[] = [];
  const { log, figures } = setUp(async (batch) => {
    await gate;
    written.push(batch);
  });
  for (let index = 0; index < requestLogLimits.queueMax + 7; index++) log.append(fact({ requestId: `r${index}` }));
  expect(log.size).toBe(requestLogLimits.queueMax);
  expect(figures.dropped).toBe(7);
  expect(log.dropped).toBe(7);
  release();
  await log.flush();
  expect(idsOf(written.at(-1)).at(-1)).toBe(`r${requestLogLimits.queueMax - 1}`);
  await log[Symbol.asyncDispose]();
});

test("long strings fill the queue by their bytes, and it stays bounded", async () => {
  const { log, figures } = setUp(() => new Promise(() => undefined));
  const facts = 150_000;
  for (let index = 0; index < facts; index++) {
    const long = `${index}${"☃".repeat(300)}`;
    log.append(fact({ requestId: long, method: long }));
  }
  expect(log.size).toBeLessThan(facts);
  expect(log.size + figures.dropped).toBe(facts);
  expect(log.bytes).toBeLessThan(requestLogLimits.queueBytesMax + 1_000);
});

test("a fact that is not what its type says is dropped and counted, and never throws", async () => {
  const written: Batch[] = [];
  const { log, figures } = setUp(async (batch) => {
    written.push(batch);
  });
  const broken: unknown[] = [null, undefined, {}, { ...fact(), method: undefined }, { ...fact(), requestId: 7n }];
  for (const one of broken) log.append(one as RequestFact);
  log.append(fact({ requestId: "r1" }));
  await log.flush();
  expect(figures.dropped).toBe(broken.length);
  expect(written.flatMap(idsOf)).toEqual(["r1"]);
  await log[Symbol.asyncDispose]();
});

test("facts of two months become two batches, and a time that is none becomes the present", async () => {
  const written: Batch[] = [];
  const { log, clock } = setUp(async (batch) => {
    written.push(batch);
  });
  const turn = Date.UTC(2026, 11, 1);
  for (let index = 0; index < 100; index++) log.append(fact({ at: turn - (index % 2), requestId: `r${index}` }));
  await log.flush();
  const odd = [Number.NaN, Number.POSITIVE_INFINITY, -1, Date.UTC(2300, 0, 1), clock.now() + 0.5];
  for (const at of odd) log.append(fact({ at }));
  await log.flush();
  const spans = written.map((batch) => [batch.rows, batch.fromMs, batch.toMs]);
  expect(spans).toContainEqual([50, turn, turn]);
  expect(spans).toContainEqual([50, turn - 1, turn - 1]);
  expect(spans[2]).toEqual([odd.length, clock.now(), clock.now()]);
  await log[Symbol.asyncDispose]();
});

test("facts of many months at once do not open a block each", async () => {
  const written: Batch[] = [];
  const { log } = setUp(async (batch) => {
    written.push(batch);
  });
  for (let index = 0; index < 120; index++) log.append(fact({ at: Date.UTC(2020, index % 60, 5) }));
  await log.flush();
  expect(written.reduce((sum, batch) => sum + batch.rows, 0)).toBe(120);
  for (const batch of written) expect(batch.toMs - batch.fromMs).toBeLessThan(31 * 86_400_000);
  await log[Symbol.asyncDispose]();
});

test("flush waits for what was appended before it, not for what comes while it writes", async () => {
  const { log } = setUp(async () => {
    for (let index = 0; index < 10; index++) log.append(fact({ requestId: "later" }));
    await Bun.sleep(1);
  });
  log.append(fact());
  await log.flush(1_000);
  expect(log.size).toBe(10);
});

test("facts that come while a batch is written wait for their own second, so that batches stay large", async () => {
  const written: number[] = [];
  const { log } = setUp(async (batch) => {
    written.push(batch.rows);
    await Bun.sleep(20);
  });
  for (let index = 0; index < requestLogLimits.batchRows; index++) log.append(fact());
  log.append(fact());
  await Bun.sleep(100);
  expect(written).toEqual([requestLogLimits.batchRows]);
  expect(log.size).toBe(1);
  await log[Symbol.asyncDispose]();
  expect(written).toEqual([requestLogLimits.batchRows, 1]);
});

test("a batch that the ledger could not take is tried again as the same batch, before newer ones", async () => {
  const tried: bigint[] = [];
  let failures = 2;
  const { log, figures } = setUp(async (batch) => {
    tried.push(batch.number);
    if (failures-- > 0) throw new LedgerUnavailableError("test");
  });
  log.append(fact({ requestId: "first" }));
  await log.flush();
  expect(tried).toHaveLength(3);
  expect(new Set(tried).size).toBe(1);
  expect(figures.dropped).toBe(0);
  await log[Symbol.asyncDispose]();
});

test("a batch that the ledger refuses for good is dropped and counted, and the next one is written", async () => {
  let calls = 0;
  const { log, figures } = setUp(async () => {
    calls++;
    if (calls === 1) throw new LedgerQueryError(27, "cannot parse");
  });
  for (let index = 0; index < requestLogLimits.batchRows + 1; index++) log.append(fact());
  await log.flush();
  expect(figures.dropped).toBe(requestLogLimits.batchRows);
  expect(figures.flushed).toEqual([1]);
  await log[Symbol.asyncDispose]();
});

test("facts that find no room are counted as such, and told in the log at once and then every ten seconds", async () => {
  const { log, reasons, clock, entries } = setUp(() => new Promise(() => undefined));
  for (let index = 0; index < requestLogLimits.queueMax; index++) log.append(fact());
  const told = () => entries.filter(({ message }) => message === "request facts were dropped");
  expect(told()).toEqual([]);
  for (let second = 0; second <= 20; second++) {
    for (let index = 0; index < 100; index++) log.append(fact());
    clock.advance(1_000);
  }
  expect(reasons).toEqual({ full: 2_100 });
  expect(told().map(({ fields }) => fields)).toEqual([
    { facts: 1, reason: "full", waiting: requestLogLimits.queueMax, cause: null },
    { facts: 1_000, reason: "full", waiting: requestLogLimits.queueMax, cause: null },
    { facts: 1_000, reason: "full", waiting: requestLogLimits.queueMax, cause: null },
  ]);
});

test("an outage is told with its cause and its end; facts of it are written, and those that did not fit are told", async () => {
  let isFull = true;
  const written: Batch[] = [];
  const { log, clock, entries, figures } = setUp(async (batch) => {
    if (isFull) throw new LedgerUnavailableError("Code: 243. DB::Exception: No space left on device");
    written.push(batch);
  });
  for (let index = 0; index < requestLogLimits.queueMax + 3; index++) log.append(fact());
  await eventually("the failed write", () => entries.length > 0);
  isFull = false;
  clock.advance(requestLogLimits.retryMs);
  await log.flush();
  expect(written.reduce((sum, batch) => sum + batch.rows, 0)).toBe(requestLogLimits.queueMax);
  expect(figures.dropped).toBe(3);
  const messages = entries.map(({ message }) => message);
  expect(messages).toContain("the ledger is unavailable; request facts wait");
  expect(messages.at(-1)).toBe("the ledger takes request facts again");
  const lost = entries.filter(({ message }) => message === "request facts were dropped");
  expect(lost.reduce((sum, { fields }) => sum + Number(Reflect.get(fields, "facts")), 0)).toBe(3);
  expect(lost.at(-1)?.fields).toMatchObject({ cause: expect.stringContaining("No space left on device") });
  await log[Symbol.asyncDispose]();
});

test("why a fact was dropped is counted: malformed, refused, unavailable until the end, closed", async () => {
  const faults = [new LedgerQueryError(27, "cannot parse"), new LedgerUnavailableError("test")];
  const { log, reasons, clock } = setUp(async () => {
    clock.advance(60_000);
    throw faults.length > 1 ? faults.shift() : faults[0];
  });
  log.append(null as unknown as RequestFact);
  log.append(fact());
  await log.flush();
  log.append(fact());
  await log[Symbol.asyncDispose]();
  log.append(fact());
  expect(reasons).toEqual({ malformed: 1, refused: 1, unavailable: 1, closed: 1 });
});

test("flush gives up at its deadline and keeps the facts", async () => {
  const { log, clock } = setUp(async () => {
    clock.advance(60_000);
    throw new LedgerUnavailableError("test");
  });
  log.append(fact());
  await expect(log.flush(50)).rejects.toBeInstanceOf(LedgerUnavailableError);
  expect(log.size).toBe(1);
  await log[Symbol.asyncDispose]();
});

test("closing writes what waits; what cannot be written is counted as dropped; later facts are too", async () => {
  const { log, figures, clock } = setUp(async () => {
    clock.advance(60_000);
    throw new LedgerUnavailableError("test");
  });
  log.append(fact());
  log.append(fact());
  await log[Symbol.asyncDispose]();
  expect(figures.dropped).toBe(2);
  log.append(fact());
  expect(figures.dropped).toBe(3);
  expect(log.size).toBe(0);
});

test("a batch that failed is tried again after a second without anybody asking, and what is dropped names the last cause", async () => {
  const causes = ["a full disk", "a lost server"];
  const tried: string[] = [];
  const { log, clock, entries } = setUp(async () => {
    const cause = causes.shift();
    tried.push(cause ?? "written");
    if (cause !== undefined) throw new LedgerUnavailableError(cause);
  });
  for (let index = 0; index < requestLogLimits.queueMax; index++) log.append(fact());
  await eventually("the first failure", () => entries.some(({ message }) => message.endsWith("facts wait")));
  // The retry is set when the run has ended, a turn later.
  await eventually("the second failure", () => {
    if (tried.length < 2) clock.advance(requestLogLimits.retryMs);
    return entries.filter(({ message }) => message.endsWith("facts wait")).length === 2;
  });
  log.append(fact());
  expect(entries.at(-1)?.fields).toMatchObject({ reason: "full", cause: expect.stringContaining("a lost server") });
  await eventually("the rest", () => {
    clock.advance(requestLogLimits.retryMs);
    return log.size === 0;
  });
  await log[Symbol.asyncDispose]();
});

test("a flush starts the second of the next batch anew", async () => {
  const written: number[] = [];
  const { log, clock } = setUp(async (batch) => {
    written.push(batch.rows);
  });
  log.append(fact());
  clock.advance(requestPaces.chdb.batchMs - 100);
  await log.flush();
  log.append(fact());
  clock.advance(200);
  log.append(fact());
  clock.advance(requestPaces.chdb.batchMs - 200);
  await eventually("the second batch", () => written.length === 2);
  expect(written).toEqual([1, 2]);
  await log[Symbol.asyncDispose]();
});

test("a write that ends after the closing changes nothing that was told, and nothing is tried after it", async () => {
  const gate = Promise.withResolvers<void>();
  let tries = 0;
  const { log, clock, reasons, figures } = setUp(async () => {
    tries++;
    await gate.promise;
    throw new LedgerUnavailableError("too late");
  });
  log.append(fact());
  const closed = log[Symbol.asyncDispose]();
  clock.advance(requestLogLimits.closeMsMax);
  await closed;
  expect([log.size, log.bytes, reasons]).toEqual([0, 0, { unavailable: 1 }]);
  gate.resolve();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  clock.advance(10 * requestLogLimits.retryMs);
  expect([tries, log.size, log.bytes, figures.dropped]).toEqual([1, 0, 0, 1]);
});

test("a write that succeeds after the closing leaves nothing behind either", async () => {
  const gate = Promise.withResolvers<void>();
  const { log, clock } = setUp(() => gate.promise);
  log.append(fact());
  const closed = log[Symbol.asyncDispose]();
  clock.advance(requestLogLimits.closeMsMax);
  await closed;
  gate.resolve();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  expect([log.size, log.bytes]).toEqual([0, 0]);
});

test("batch numbers never repeat, also when the clock stands still or goes back", () => {
  const clock = new ManualClock(1_000_000);
  const numbers = new BatchNumbers({ clock, random: seededRandom(3) });
  const seen = new Set<bigint>();
  for (let index = 0; index < 10_000; index++) {
    if (index === 5_000) clock.jump(10);
    seen.add(numbers.next());
  }
  expect(seen.size).toBe(10_000);
  expect(Math.max(...[...seen].map(Number))).toBeLessThan(2 ** 64);
});
