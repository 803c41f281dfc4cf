import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { type Batch, BatchNumbers } from "./batches.ts";
import { LedgerQueryError, LedgerUnavailableError } from "./errors.ts";
import type { RequestFact } from "./request-fact.ts";
import { requestLogLimits } from "./request-limits.ts";
import { RequestLog } from "./requests.ts";
import { fact, recordingLog } from "./testing/ledger-directory.ts";

interface Figures {
  dropped: number;
  flushed: number[];
}

function setUp(write: (batch: Batch) => Promise<void>) {
  const clock = new ManualClock(1_700_000_000_000);
  const figures: Figures = { dropped: 0, flushed: [] };
  const events = {
    ledgerDropped: (_table: string, facts: number) => {
      figures.dropped += facts;
    },
    ledgerFlushed: (_table: string, rows: number) => {
      figures.flushed.push(rows);
    },
  };
  const numbers = new BatchNumbers({ clock, random: seededRandom(1) });
  const log = new RequestLog({ writer: { write }, numbers, clock, log: recordingLog(), events });
  return { log, figures, clock };
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

test("facts are written within about a second without anybody asking", async () => {
  const written: Batch[] = [];
  const { log, clock } = setUp(async (batch) => {
    written.push(batch);
  });
  log.append(fact());
  clock.advance(requestLogLimits.batchMs - 1);
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
