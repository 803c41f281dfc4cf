import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { openState } from "../src/state/index.ts";

import { newSchema } from "../src/state/testing/schema.ts";

const redisUrl = Bun.env["REDIS_URL"] ?? "";
const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: credits over processes on PostgreSQL (DATABASE_URL is not set)");
if (redisUrl === "") console.warn("NOT RUN: limits over processes on Redis (REDIS_URL is not set)");

interface Report {
  readonly allowed: number;
  readonly refused: number;
  readonly askedMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly backMs: number;
  readonly lost: number;
}

async function spend(prefix: string, rate: number, spanMs: number): Promise<Report> {
  const script = join(import.meta.dir, "testing/limit-spender.ts");
  await using child = Bun.spawn([process.execPath, script, redisUrl, prefix, String(rate), String(spanMs)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  return JSON.parse(await new Response(child.stdout).text());
}

if (redisUrl !== "") {
  test("two processes that take all they can get the rate between them, to one part in a thousand", async () => {
    const [rate, spanMs] = [400, 4_000];
    const prefix = `sluice-test-${randomUUID()}:`;
    const reports = await Promise.all([spend(prefix, rate, spanMs), spend(prefix, rate, spanMs)]);
    const sum = (of: (report: Report) => number): number => reports.reduce((total, report) => total + of(report), 0);
    const lastMs = Math.max(...reports.map((report) => report.lastMs));
    const flowedSince = (sinceMs: number): number => rate * 2 + ((lastMs - sinceMs) * rate) / 1_000;
    // A span that the clock goes through twice flows twice.
    const backMs = Math.max(...reports.map((report) => report.backMs));
    const atMost = flowedSince(Math.min(...reports.map((report) => report.askedMs)) - backMs);
    const atLeast = flowedSince(Math.min(...reports.map((report) => report.firstMs)));
    expect(sum((report) => report.lost)).toBe(0);
    expect(sum((report) => report.allowed)).toBeLessThanOrEqual(atMost * 1.001);
    // What the one that ends first holds is not lost but lies there until its lease is over.
    expect(sum((report) => report.allowed)).toBeGreaterThanOrEqual(atLeast * 0.999 - rate / 8);
    expect(sum((report) => report.refused)).toBeGreaterThan(0);
  }, 30_000);
}

/** A process that takes all the credits it can get, one by one, until it is instructed to end. */
function startTaker(directory: string, url: string, accountId: string, allowance: number) {
  const script = join(import.meta.dir, "testing/credit-taker.ts");
  const child = Bun.spawn([process.execPath, script, directory, url, accountId, String(allowance)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  let said = "";
  const listening = (async () => {
    const decoder = new TextDecoder();
    for await (const part of child.stdout) said += decoder.decode(part, { stream: true });
  })();
  return {
    child,
    /** As it last said; a killed one may have taken a few more. */
    taken: (): number => Number(said.trim().split("\n").at(-1) ?? 0),
    end: async (): Promise<void> => {
      await child.stdin.end();
      await child.exited;
      await listening;
    },
  };
}

if (databaseUrl !== "") {
  test("processes on one PostgreSQL take no credit beyond the allowance and are charged what they took, though one is killed twice", async () => {
    const allowance = 60_000;
    await using schema = await newSchema(databaseUrl);
    const deps = { clock: systemClock, random: systemRandom, log: { info: () => {}, warn: () => {} } };
    await using state = await openState({ directory: "", databaseUrl: schema.url }, deps);
    const { id } = await state.accounts.create({ name: "of takers" });
    const directories = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), "sluice-taker-")));
    const takers = directories.map((directory) => startTaker(directory, schema.url, id, allowance));
    const used = (): Promise<bigint> => state.credits.used(id, new Date(systemClock.now()).toISOString().slice(0, 7));
    let takenByKilled = 0;
    try {
      for (let kill = 0; kill < 2; kill += 1) {
        await eventually("some credits", () => (takers[0]?.taken() ?? 0) >= 500);
        takers[0]?.child.kill("SIGKILL");
        await takers[0]?.child.exited;
        takenByKilled += takers[0]?.taken() ?? 0;
        takers[0] = startTaker(directories[0] ?? "", schema.url, id, allowance);
      }
      const taken = (): number => takers.reduce((sum, taker) => sum + taker.taken(), takenByKilled);
      // A killed process took up to a hundred after it last said how many.
      const unreportedMax = 200;
      await eventually("the last credits", () => taken() >= allowance - unreportedMax, 40_000);
      for (const taker of takers) await taker.end();
      const charged = Number(await used());
      expect(charged).toBeLessThanOrEqual(allowance);
      expect(charged).toBeGreaterThanOrEqual(taken());
      expect(charged - taken()).toBeLessThanOrEqual(unreportedMax);
    } finally {
      for (const taker of takers) taker.child.kill("SIGKILL");
      for (const directory of directories) rmSync(directory, { recursive: true, force: true });
    }
  }, 90_000);
}
