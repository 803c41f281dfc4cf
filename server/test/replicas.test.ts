import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { join } from "node:path";

const redisUrl = Bun.env["REDIS_URL"] ?? "";
if (redisUrl === "") console.warn("NOT RUN: limits over processes on Redis (REDIS_URL is not set)");

interface Report {
  readonly allowed: number;
  readonly refused: number;
  readonly askedMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
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
    const atMost = flowedSince(Math.min(...reports.map((report) => report.askedMs)));
    const atLeast = flowedSince(Math.min(...reports.map((report) => report.firstMs)));
    expect(sum((report) => report.lost)).toBe(0);
    expect(sum((report) => report.allowed)).toBeLessThanOrEqual(atMost * 1.001);
    // What the one that ends first holds is not lost but lies there until its lease is over.
    expect(sum((report) => report.allowed)).toBeGreaterThanOrEqual(atLeast * 0.999 - rate / 8);
    expect(sum((report) => report.refused)).toBeGreaterThan(0);
  }, 30_000);
}
