import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { until } from "@sluice/lib/testing";
import type { LeaseRecord } from "../state/index.ts";
import { Succession } from "./succession.ts";

const lease = (epoch: bigint): LeaseRecord => ({ name: "book", epoch, beats: 0n, holder: "here" });

/** What a test has said that the store says. */
let held: LeaseRecord | null;
let looks: number;
let happened: string[];
let faults: unknown[];
let opening: PromiseWithResolvers<void> | null;
let failing: Error | null;
let closing: Error | null;
/** While it is there, what closes and what is given up takes so long. */
let leaving: PromiseWithResolvers<void> | null;
let succession: Succession<AsyncDisposable & { readonly epoch: bigint }>;

beforeEach(() => {
  [held, looks, happened, faults, opening, failing] = [null, 0, [], [], null, null];
  closing = null;
  leaving = null;
  const holderOf = {
    renew: async () => {
      looks += 1;
      return held;
    },
    release: async () => {
      happened.push("release");
      await leaving?.promise;
      if (leaving !== null) happened.push("released");
    },
  };
  succession = new Succession(
    { what: "the book", beatMs: 1, lookMs: 1, retryRenewals: 3 },
    {
      clock: systemClock,
      lease: holderOf,
      open: async ({ epoch }) => {
        happened.push(`open ${epoch}`);
        await opening?.promise;
        if (failing !== null) throw failing;
        const close = async (): Promise<void> => {
          happened.push(`close ${epoch}`);
          await leaving?.promise;
          if (leaving !== null) happened.push(`closed ${epoch}`);
          if (closing !== null) throw closing;
        };
        return { epoch, [Symbol.asyncDispose]: close };
      },
      roleChanged: (role) => happened.push(role),
      internalError: (_where, error) => faults.push(error),
    },
  );
});
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
afterEach(async () => await succession[Symbol.asyncDispose]());

test("where the lease is to be had it is open when its beginning resolves, and closed before it is given up", async () => {
  held = lease(1n);
  await succession.begin();
  expect(succession.term?.epoch).toBe(1n);
  await succession[Symbol.asyncDispose]();
  expect(succession.term).toBeNull();
  expect(happened).toEqual(["open 1", "active", "close 1", "release"]);
});

test("however long closing takes, the lease is given up after it, and the end waits for both", async () => {
  held = lease(1n);
  await succession.begin();
  const [closes, releases] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  leaving = closes;
  let isOver = false;
  const ending = succession[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  await until(() => happened.includes("close 1"));
  await settled();
  expect(happened).not.toContain("release");
  leaving = releases;
  closes.resolve();
  await until(() => happened.includes("release"));
  await settled();
  expect(isOver).toBe(false);
  releases.resolve();
  await ending;
  expect(happened.slice(2)).toEqual(["close 1", "closed 1", "release", "released"]);
  leaving = null;
});

test("what cannot be closed is reported, the lease is given up, and the end does not reject", async () => {
  held = lease(1n);
  await succession.begin();
  closing = new Error("read-only");
  await succession[Symbol.asyncDispose]();
  expect([faults, happened.at(-1)]).toEqual([[closing], "release"]);
});

test("a first opening that fails is reported to the caller", async () => {
  held = lease(1n);
  failing = new Error("no machine");
  await expect(succession.begin()).rejects.toThrow("no machine");
});

test("it stands by until the lease is had, closes when it is lost, and opens anew in another epoch", async () => {
  await succession.begin();
  expect([succession.term, happened]).toEqual([null, ["standby"]]);
  held = lease(2n);
  await until(() => succession.term?.epoch === 2n);
  held = null;
  await until(() => succession.term === null);
  held = lease(4n);
  await until(() => succession.term?.epoch === 4n);
  held = lease(6n);
  await until(() => succession.term?.epoch === 6n);
  const expected = "standby, open 2, active, standby, close 2, open 4, active, standby, close 4, open 6, active";
  expect(happened.join(", ")).toBe(expected);
});

test("the next term opens only after the one before has closed", async () => {
  held = lease(2n);
  await succession.begin();
  const closes = Promise.withResolvers<void>();
  leaving = closes;
  held = lease(4n);
  await until(() => happened.includes("close 2"));
  const before = looks;
  await until(() => looks > before + 3);
  expect(happened).not.toContain("open 4");
  closes.resolve();
  await until(() => succession.term?.epoch === 4n);
  expect(happened.indexOf("closed 2")).toBeLessThan(happened.indexOf("open 4"));
  leaving = null;
});

test("the lease is looked after while something opens, and one that was lost meanwhile is closed again", async () => {
  await succession.begin();
  opening = Promise.withResolvers();
  held = lease(2n);
  await until(() => happened.includes("open 2"));
  const before = looks;
  await until(() => looks > before + 3);
  held = null;
  opening.resolve();
  await until(() => happened.includes("close 2"));
  expect(succession.term).toBeNull();
});

test("what cannot be opened is reported, left to others for a while, and tried again", async () => {
  await succession.begin();
  failing = new Error("no machine");
  held = lease(2n);
  await until(() => happened.includes("release"));
  expect([faults, succession.term]).toEqual([[failing], null]);
  failing = null;
  held = lease(3n);
  await until(() => succession.term?.epoch === 3n);
  expect(happened.indexOf("release")).toBeLessThan(happened.indexOf("open 3"));
});
