import { expect, test } from "bun:test";
import { drawLeaders, EpochSchedule, EpochStakes, LeaderSchedule, type VoterStake } from "./leader-schedule.ts";

const voter = (name: string, stake: bigint): VoterStake => ({ vote: `vote ${name}`, identity: name, stake });
const voters = [voter("a", 50n), voter("b", 30n), voter("c", 20n)];
const validators = voters.map(({ identity, vote }) => ({ identity, vote }));

function schedule() {
  const [epochs, stakes] = [new EpochSchedule(64n), new EpochStakes()];
  return { stakes, leaders: new LeaderSchedule({ seed: "seed", epochs, stakes, validators }) };
}

test("leaders are drawn in proportion to stake, whatever the order of the stakes", () => {
  const drawn = drawLeaders(voters, 20_000, "seed");
  const share = (name: string) => drawn.filter(({ identity }) => identity === name).length / drawn.length;
  expect([share("a"), share("b"), share("c")].map((part) => Math.round(part * 50) / 50)).toEqual([0.5, 0.3, 0.2]);
  expect(drawLeaders(voters.toReversed(), 20_000, "seed")).toEqual(drawn);
  expect(drawLeaders(voters, 20_000, "other")).not.toEqual(drawn);
});

test("a leader has four slots in a row, the same whenever one asks", () => {
  const { stakes, leaders } = schedule();
  stakes.record(0n, 0n, voters);
  const of = Array.from({ length: 128 }, (_, slot) => leaders.at(BigInt(slot))?.identity);
  for (let slot = 0; slot < 128; slot += 4) expect(new Set(of.slice(slot, slot + 4)).size).toBe(1);
  expect(Array.from({ length: 128 }, (_, slot) => leaders.at(BigInt(slot))?.identity)).toEqual(of);
  expect(new Set(of).size).toBe(3);
});

test("an epoch's leaders come from the stakes at the start of the epoch before, and stay when stakes change", () => {
  const { stakes, leaders } = schedule();
  stakes.record(0n, 0n, voters);
  const first = leaders.ofEpoch(1n);
  stakes.record(1n, 64n, [voter("b", 1n), voter("a", 0n)]);
  expect(leaders.ofEpoch(1n)).toEqual(first);
  expect(new Set(leaders.ofEpoch(2n)?.map(({ identity }) => identity))).toEqual(new Set(["b"]));
});

test("what was drawn from stakes that a fork took back is drawn again from the new ones", () => {
  const { stakes, leaders } = schedule();
  stakes.record(0n, 0n, voters);
  stakes.record(1n, 64n, [voter("b", 1n)]);
  expect(new Set(leaders.ofEpoch(2n)?.map(({ identity }) => identity))).toEqual(new Set(["b"]));
  stakes.rollback(63n);
  stakes.record(1n, 68n, [voter("c", 1n)]);
  expect(new Set(leaders.ofEpoch(2n)?.map(({ identity }) => identity))).toEqual(new Set(["c"]));
});

test("slots of a range are counted as the schedule has them, wherever the range begins and ends", () => {
  const { stakes, leaders } = schedule();
  stakes.record(0n, 0n, voters);
  for (const [first, last] of [
    [0n, 127n],
    [3n, 3n],
    [2n, 5n],
    [61n, 70n],
    [7n, 100n],
  ] as const) {
    const counts = new Map<string, bigint>();
    for (let slot = first; slot <= last; slot += 1n) {
      const leader = leaders.at(slot)?.identity ?? "";
      counts.set(leader, (counts.get(leader) ?? 0n) + 1n);
    }
    expect(leaders.slotCounts(first, last)).toEqual(counts);
  }
});

test("a vote account of another client gets no slots, and without any stake the validators take turns", () => {
  const { stakes, leaders } = schedule();
  stakes.record(0n, 0n, [voter("stranger", 1_000n), voter("a", 1n)]);
  expect(new Set(leaders.ofEpoch(0n)?.map(({ identity }) => identity))).toEqual(new Set(["a"]));
  stakes.record(1n, 64n, [voter("stranger", 1_000n)]);
  expect(new Set(leaders.ofEpoch(2n)?.map(({ identity }) => identity))).toEqual(new Set(["a", "b", "c"]));
});
