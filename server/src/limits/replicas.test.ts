import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { ReplicaGroup } from "./replica-groups.ts";
import { OwnShares, Replicas } from "./replicas.ts";

/** A process that counts as many replicas as it is told; "lost" is a heartbeat that fails. */
function boot(groups: readonly ReplicaGroup[] = ["gateways"]) {
  const beats: { readonly group: string; readonly holder: string; readonly ttlMs: number }[] = [];
  const reported: string[] = [];
  const attendance = { answer: 1 as number | "lost", gate: Promise.resolve() };
  const replicas = new Replicas(
    { holder: "me", groups },
    {
      hot: {
        attend: async (group, holder, ttlMs) => {
          beats.push({ group, holder, ttlMs });
          await attendance.gate;
          if (attendance.answer === "lost") throw new Error("out of reach");
          return attendance.answer;
        },
      },
      events: {
        sharingLost: (count) => void reported.push(`lost ${count}`),
        sharingRestored: (count) => void reported.push(`restored ${count}`),
        replicasCounted: (count) => void reported.push(`counted ${count}`),
      },
    },
  );
  const beat = async (...answers: readonly (number | "lost")[]): Promise<number> => {
    for (const answer of answers) {
      attendance.answer = answer;
      await replicas.beat();
    }
    return replicas.countOf("requests:a");
  };
  const times = (count: number, answer: number): number[] => Array.from({ length: count }, () => answer);
  return { replicas, attendance, beats, reported, beat, times };
}

test("a process alone counts itself, and more from the first heartbeat that counts them", async () => {
  const { replicas, beat } = boot();
  expect(replicas.countOf("requests:a")).toBe(1);
  expect(await beat(3)).toBe(3);
  expect(await beat(4)).toBe(4);
});

test("fewer are believed after ten heartbeats in a row, and then the most that these counted", async () => {
  const { beat, times } = boot();
  expect(await beat(5, 1, 3, ...times(7, 2))).toBe(5);
  expect(await beat(2)).toBe(3);
  expect(await beat(...times(9, 1))).toBe(3);
  expect(await beat(1)).toBe(1);
});

test("a heartbeat that counts all again, or fails, ends the row and what it counted", async () => {
  const { beat, times } = boot();
  await beat(5, ...times(9, 4), 5, ...times(9, 2));
  expect(await beat()).toBe(5);
  expect(await beat(2)).toBe(2);
  await beat(5, ...times(9, 4), "lost", ...times(9, 2));
  expect(await beat()).toBe(5);
  expect(await beat(2)).toBe(2);
});

test("a process counts at least itself", async () => {
  const { beat, times } = boot();
  expect(await beat(2, ...times(10, 0))).toBe(1);
});

test("losing the others is reported once, and so is finding them again, with the number that is gone by", async () => {
  const { replicas, reported, beat } = boot();
  await beat(2, "lost", "lost");
  expect(replicas.isLost).toBe(true);
  replicas.lost();
  await beat(2, 2);
  expect(replicas.isLost).toBe(false);
  expect(reported).toEqual(["counted 2", "lost 2", "counted 2", "restored 2", "counted 2"]);
});

test("one heartbeat is under way at a time, and the next follows when it was answered or has failed", async () => {
  const { replicas, attendance, beats } = boot();
  for (const answer of [1, "lost", 1] as const) {
    const gate = Promise.withResolvers<void>();
    attendance.gate = gate.promise;
    attendance.answer = answer;
    const before = beats.length;
    const beating = [replicas.beat(), replicas.beat()];
    expect(beats.length - before).toBe(1);
    gate.resolve();
    await Promise.all(beating);
  }
});

test("a process that ends removes its presence first, and ends all the same when that fails", async () => {
  const { replicas, attendance, beats } = boot();
  const gate = Promise.withResolvers<void>();
  attendance.gate = gate.promise;
  attendance.answer = "lost";
  let hasEnded = false;
  const ended = replicas[Symbol.asyncDispose]().then(() => {
    hasEnded = true;
  });
  await Bun.sleep(0);
  expect([beats, hasEnded]).toEqual([[{ group: "gateways", holder: "me", ttlMs: 0 }], false]);
  gate.resolve();
  await ended;
});

test("a process beats in each of its groups, and is alone where it is of none", async () => {
  const { replicas, beats, beat, reported } = boot(["gateways", "senders"]);
  await beat(3);
  expect(beats.map(({ group, ttlMs }) => [group, ttlMs])).toEqual([
    ["gateways", 10_000],
    ["senders", 10_000],
  ]);
  const buckets = ["requests:a", "send:a", "bundles:a"];
  expect(buckets.map((bucket) => replicas.countOf(bucket))).toEqual([3, 3, 1]);
  expect(reported).toEqual(["counted 3"]);
  await replicas[Symbol.asyncDispose]();
  expect(beats.slice(2).map(({ group, ttlMs }) => [group, ttlMs])).toEqual([
    ["gateways", 0],
    ["senders", 0],
  ]);
});

test("a process of no group reports itself alone", async () => {
  const { beat, reported } = boot([]);
  await beat(3);
  expect(reported).toEqual(["counted 1"]);
});

/** Shares of one of `count` processes. */
function bootShares(count: number) {
  const clock = new ManualClock(0);
  return { clock, own: new OwnShares({ bucketsMax: 10 }, { clock, replicas: { countOf: () => count } }) };
}

const bucket = { name: "a", rate: 10, burst: 20 };

test("a share is the bucket divided by the processes, in tokens and in what is reported as left", () => {
  const { own } = bootShares(4);
  expect(own.take(bucket, 3)).toMatchObject({ allowed: true, remaining: 2 });
  expect(own.take(bucket, 3)).toMatchObject({ allowed: false, remaining: 2 });
  expect(own.take(bucket, 2)).toMatchObject({ allowed: true, remaining: 0 });
});

test("where there are more processes than tokens each has one token at a time", () => {
  const { own } = bootShares(100);
  expect([own.take(bucket, 1).allowed, own.take(bucket, 1).allowed]).toEqual([true, false]);
});

test("what is drained is missing from the share, down to nothing", () => {
  const { clock, own } = bootShares(2);
  own.drain(bucket, 4);
  expect(own.take(bucket, 0)).toMatchObject({ remaining: 6 });
  own.drain(bucket, 7);
  clock.advance(199.999);
  expect(own.take(bucket, 1)).toMatchObject({ allowed: false, remaining: 0 });
  clock.advance(0.001);
  expect(own.take(bucket, 1)).toMatchObject({ allowed: true });
});

test("a debt is what was given out, less what the share has refilled since, and nothing where nothing was", () => {
  const { clock, own } = bootShares(2);
  own.take(bucket, 5);
  expect(own.debt({ ...bucket, owed: 0 })).toBe(0);
  expect(own.debt({ ...bucket, owed: 3 })).toBe(3);
  expect(own.debt({ ...bucket, owed: 5 })).toBe(5);
  clock.advance(600);
  expect(own.debt({ ...bucket, owed: 5 })).toBe(2);
  clock.advance(100);
  expect(own.debt({ ...bucket, owed: 5 })).toBe(2);
  clock.advance(300);
  expect(own.debt({ ...bucket, owed: 5 })).toBe(0);
});
