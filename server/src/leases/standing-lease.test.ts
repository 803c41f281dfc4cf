import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { leaseTimesOf } from "./lease-holder.ts";
import { keepLease } from "./standing-lease.ts";

const times = leaseTimesOf(2_500);

test("a lease is kept once the store has answered, beaten for, and given up at the end", async () => {
  const clock = new ManualClock();
  const happened: string[] = [];
  const answers = Promise.withResolvers<void>();
  const lease = {
    renew: async () => {
      happened.push("ask");
      await answers.promise;
      return { name: "job", epoch: 1n, beats: 0n, holder: "here" };
    },
    release: async () => void happened.push("release"),
  };
  const internalError = (_where: string, error: unknown): void => void happened.push(String(error));
  let isKept = false;
  const keeping = keepLease({ what: "the job", times }, { clock, lease, internalError }).then((kept) => {
    isKept = true;
    return kept;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isKept, happened]).toEqual([false, ["ask"]]);
  answers.resolve();
  const kept = await keeping;
  clock.advance(times.beatMs);
  expect(happened).toEqual(["ask", "ask"]);
  await kept[Symbol.asyncDispose]();
  expect(happened).toEqual(["ask", "ask", "release"]);
});

test("a store that cannot be asked for the first time ends the start", async () => {
  const lease = { renew: () => Promise.reject(new Error("away")), release: async () => undefined };
  const kept = keepLease({ what: "the job", times }, { clock: new ManualClock(), lease, internalError: () => {} });
  await expect(kept).rejects.toThrow("away");
});
