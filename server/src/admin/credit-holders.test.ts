import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemRandom } from "@sluice/lib";
import { withRealTimers } from "@sluice/lib/testing";
import { openState, type State } from "../state/index.ts";
import { newSchema } from "../state/testing/schema.ts";
import { isAlive, listHolders, settleHolders } from "./credit-holders.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: holders of credits on PostgreSQL (DATABASE_URL is not set)");
const month = "2026-11";
const [own, dead, other] = ["aa", "bb", "cc"].map((digits) => digits.repeat(12)) as [string, string, string];
const log = { info: () => undefined, warn: () => undefined };

for (const [driver, url] of [["SQLite", null] as const, ["PostgreSQL", databaseUrl] as const]) {
  if (url === "") continue;
  const clock = new ManualClock(1_790_000_000_000);
  const resources = new AsyncDisposableStack();
  let state: State;

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-holders-"));
    resources.defer(() => rmSync(directory, { recursive: true, force: true }));
    const schema = url === null ? null : resources.use(await newSchema(url));
    const options = { directory, databaseUrl: schema?.url ?? null };
    state = resources.use(await openState(options, { clock: withRealTimers(clock), random: systemRandom, log }));
  });
  afterAll(() => resources.disposeAsync());

  const leased = async (holder: string, number: number, want: bigint): Promise<string> => {
    const { id } = await state.accounts.create({ name: holder });
    await state.credits.lease(id, month, want, 10_000n, { holder, number });
    return id;
  };
  const dependencies = () => ({ state, clock, processId: own });
  const wish = { process: null, olderThanSeconds: 0, outcome: "used" } as const;
  const minutes = (count: number): void => clock.advance(count * 60_000);

  test(`${driver}: what dead processes hold counts as used, or goes back where an operator says so, once`, async () => {
    const [mine, kept, given] = [await leased(own, 1, 5n), await leased(dead, 1, 70n), await leased(other, 9, 800n)];
    expect((await listHolders(dependencies())).map(({ process, amount, alive }) => [process, amount, alive])).toEqual([
      [own, "5", true],
      [dead, "70", false],
      [other, "800", false],
    ]);
    expect(await settleHolders(wish, dependencies())).toEqual([]);
    minutes(11);
    expect(await settleHolders({ ...wish, olderThanSeconds: 3_600 }, dependencies())).toEqual([]);
    const settled = await settleHolders({ ...wish, process: dead }, dependencies());
    expect(settled).toMatchObject([{ process: dead, meter: "credits", account_id: kept, amount: "70" }]);
    expect(await state.credits.used(kept, month)).toBe(70n);
    expect((await settleHolders({ ...wish, outcome: "returned" }, dependencies())).length).toBe(1);
    expect(await state.credits.used(given, month)).toBe(0n);
    expect(await settleHolders({ ...wish, outcome: "returned" }, dependencies())).toEqual([]);
    // Who comes back all the same finds nothing to settle, and changes nothing.
    expect(await state.credits.settle(kept, month, { holder: dead, number: 1 }, 0n)).toBeNull();
    expect([await state.credits.used(kept, month), await state.credits.used(mine, month)]).toEqual([70n, 5n]);
  });

  test(`${driver}: a process that is registered keeps what it holds, however old, until its registration ends`, async () => {
    const account = await leased("dd".repeat(12), 1, 40n);
    const stores = { ledgerId: null, hotId: null, sharesLedger: true, sharesHot: true };
    const process = {
      ...stores,
      id: "dd".repeat(12),
      roles: ["gateway"],
      version: "1",
      meters: true,
      masterKeys: null,
    };
    await state.processes.join(process, 10_000_000);
    minutes(60);
    expect(await isAlive(process.id, dependencies())).toBe(true);
    for (const each of [wish, { ...wish, process: process.id }]) {
      expect(await settleHolders(each, dependencies())).toEqual([]);
    }
    await state.processes.leave(process.id);
    const outcome = { ...wish, process: process.id, outcome: "returned" } as const;
    expect((await settleHolders(outcome, dependencies())).length).toBe(1);
    expect(await state.credits.used(account, month)).toBe(0n);
  });
}
