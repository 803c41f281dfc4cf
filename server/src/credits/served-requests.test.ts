import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { createCredits, openCredits } from "./credits.ts";
import { ServedRequests } from "./served-requests.ts";
import { tallyInMemory } from "./tally.ts";
import { MeterInMemory } from "./testing/meter-in-memory.ts";

const lastSecondOfNovember = Date.UTC(2026, 10, 30, 23, 59, 59);

function boot() {
  const clock = new ManualClock(lastSecondOfNovember);
  const store = new MeterInMemory();
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const tally = tallyInMemory("holder", 1_000);
  const meter = createCredits({ sweepIntervalMs: null }, { clock, store, tally, log });
  return { clock, store, meter, log, warnings, counted: new ServedRequests({ clock, meter, store, log }) };
}

test("a request is counted at once, before the store has heard of it, and in the store after the next report", async () => {
  const { counted, store, meter, clock } = boot();
  for (let request = 0; request < 7; request += 1) counted.count("a", clock.now());
  expect(store.months.get("a 2026-11") ?? 0n).toBeLessThan(7n);
  expect(await counted.served("a", "2026-11")).toBe(7n);
  await meter.sweep();
  expect(store.months.get("a 2026-11")).toBe(7n);
  expect(await counted.served("a", "2026-11")).toBe(7n);
  expect(await counted.served("nobody", "2026-11")).toBe(0n);
});

test("a request counts in the month in which it began, also when it was answered in the next", async () => {
  const { counted, clock, meter } = boot();
  const before = clock.now();
  counted.count("a", before);
  clock.advance(1_000);
  counted.count("a", before);
  counted.count("a", clock.now());
  await meter.sweep();
  expect([await counted.served("a", "2026-11"), await counted.served("a", "2026-12")]).toEqual([2n, 1n]);
});

test("a store that cannot count a request of last month is told in the log and harms nobody", async () => {
  const { counted, clock, store, warnings } = boot();
  store.lease = async () => {
    throw new Error("store down");
  };
  const before = clock.now();
  clock.advance(1_000);
  counted.count("a", before);
  await Promise.resolve();
  expect(warnings).toEqual([expect.objectContaining({ accountId: "a", month: "2026-11" })]);
});

test("what a killed process had counted and not reported is in the store after the next start on its directory", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-served-"));
  try {
    const { clock, store, log } = boot();
    const from = (path: string): string => JSON.stringify(join(import.meta.dir, path));
    const script = `
      const { openCredits } = await import(${from("credits.ts")});
      const { ServedRequests } = await import(${from("served-requests.ts")});
      const { MeterInMemory } = await import(${from("testing/meter-in-memory.ts")});
      const { ManualClock, systemRandom } = await import("@sluice/lib");
      const clock = new ManualClock(${lastSecondOfNovember});
      const store = Object.assign(new MeterInMemory(), {
        closeBooksBefore: async () => 0,
        lease: async (accountId, month, want, allowance, { holder, number }) => {
          console.log([accountId, month, want, holder, number].join(" "));
          return want;
        },
      });
      const log = { warn: () => {} };
      const events = { creditsReconciled: () => {}, creditsHeld: () => {} };
      const options = { directory: ${JSON.stringify(directory)}, meter: "served", sweepIntervalMs: null };
      const meter = openCredits(options, { clock, store, log, events, random: systemRandom });
      const counted = new ServedRequests({ clock, meter, store, log });
      for (let request = 0; request < 1_005; request += 1) counted.count("a", clock.now());
      process.kill(process.pid, "SIGKILL");`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      stdout: "pipe",
      stderr: "inherit",
      cwd: import.meta.dir,
    });
    const said = (await new Response(child.stdout).text()).trim().split("\n");
    await child.exited;
    // The first request alone was reported: the database of the dead process, as it is afterwards.
    expect(said).toHaveLength(1);
    const [accountId = "", month = "", want = "", holder = "", number = ""] = said[0]?.split(" ") ?? [];
    await store.lease(accountId, month, BigInt(want), null, { holder, number: Number(number) });
    expect(store.usedNow("a", "2026-11")).toBe(1n);
    const events = { creditsReconciled: () => undefined, creditsHeld: () => undefined };
    const dependencies = { clock, store: Object.assign(store, { closeBooksBefore: async () => 0 }), log, events };
    await using meter = openCredits({ directory, meter: "served" }, { ...dependencies, random: systemRandom });
    await eventually("the settlement", () => store.usedNow("a", "2026-11") === 1_005n);
    expect(await meter.spent("a")).toEqual({ month: "2026-11", used: 1_005n });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
