import { describe, expect, test } from "bun:test";
import { type SearcherTier, searcherTierScores, searcherTiers } from "@sluice/contract/engine";
import { type Random, seededRandom } from "@sluice/lib";
import type { ReputationOutcome } from "./reputation.ts";
import {
  afterOutcome,
  figuresOf,
  lowerBound,
  newReputation,
  type Reputation,
  readReputation,
  reputationVersion,
  writeReputation,
} from "./reputation.ts";

const hour = 3_600_000;
const day = 24 * hour;
const best: ReputationOutcome = { kind: "landed", tip: 10_000n, medianTip: 10_000n };
const sound: ReputationOutcome = { kind: "simulated", ok: true };

function repeat(reputation: Reputation, outcome: ReputationOutcome, times: number, at = reputation.at): Reputation {
  let after = reputation;
  for (let count = 0; count < times; count += 1) after = afterOutcome(after, outcome, at);
  return after;
}

function randomOutcome(random: Random): ReputationOutcome {
  const draw = random.next();
  if (draw < 0.3) return { kind: "landed", tip: BigInt(Math.floor(random.next() * 20_000)), medianTip: 10_000n };
  if (draw < 0.4) return { kind: "missed" };
  if (draw < 0.75) return { kind: "simulated", ok: random.next() < 0.8 };
  if (draw < 0.8) return { kind: "abuse" };
  return random.next() < 0.5 ? { kind: "submitted" } : { kind: "outbid" };
}

function randomHistory(random: Random): {
  reputation: Reputation;
  at: number;
  outcomes: [ReputationOutcome, number][];
} {
  let at = day;
  let reputation = newReputation(at);
  const outcomes: [ReputationOutcome, number][] = [];
  const most = Math.floor(random.next() * 400);
  for (let count = 0; count < most; count += 1) {
    at += Math.floor(random.next() ** 4 * hour);
    const outcome = randomOutcome(random);
    outcomes.push([outcome, at]);
    reputation = afterOutcome(reputation, outcome, at);
  }
  return { reputation, at, outcomes };
}

describe("the lower bound", () => {
  test("is Wilson's: recomputed values, and the probability that it promises", () => {
    // (p + z²/2n − z·sqrt(p(1−p)/n + z²/4n²)) / (1 + z²/n) with z = 1.644854, worked out by hand.
    expect(lowerBound(8, 10)).toBeCloseTo(0.5408, 3);
    expect(lowerBound(0, 10)).toBe(0);
    expect(lowerBound(10, 10)).toBeCloseTo(10 / (10 + 1.644854 ** 2), 6);
    expect(lowerBound(0, 0)).toBe(0);
  });
  test("is not above the truth much more often than one time in twenty", () => {
    const random = seededRandom(7);
    let above = 0;
    for (let round = 0; round < 4_000; round += 1) {
      const truth = 0.2 + 0.6 * random.next();
      let successes = 0;
      for (let trial = 0; trial < 100; trial += 1) if (random.next() < truth) successes += 1;
      if (lowerBound(successes, 100) > truth) above += 1;
    }
    expect(above / 4_000).toBeLessThan(0.07);
    expect(above / 4_000).toBeGreaterThan(0.03);
  });
  test("rises with a success and falls with a failure", () => {
    const random = seededRandom(3);
    for (let round = 0; round < 2_000; round += 1) {
      const trials = random.next() * 300;
      const successes = trials * random.next();
      const before = lowerBound(successes, trials);
      expect(lowerBound(successes + 1, trials + 1)).toBeGreaterThanOrEqual(before);
      expect(lowerBound(successes, trials + 1)).toBeLessThanOrEqual(before);
    }
  });
});

describe("the score", () => {
  test("is the decided formula", () => {
    const reputation = repeat(repeat(repeat(newReputation(0), best, 60), { kind: "missed" }, 20), sound, 80);
    const earned =
      0.4 * lowerBound(60, 80) + 0.3 * lowerBound(80, 80) + 0.2 * lowerBound(60, 60) + 0.1 * lowerBound(80, 80);
    expect(figuresOf(reputation, 0).score).toBeCloseTo(100 * (60 / 110) * earned, 9);
  });
  test("good outcomes never lower it, bad ones never raise it, and an honest outbid leaves every figure as it is", () => {
    const random = seededRandom(20261122);
    for (let round = 0; round < 400; round += 1) {
      const { reputation, at } = randomHistory(random);
      const before = figuresOf(reputation, at);
      const scoreAfter = (outcome: ReputationOutcome) => figuresOf(afterOutcome(reputation, outcome, at), at).score;
      expect(scoreAfter(best)).toBeGreaterThanOrEqual(before.score);
      expect(scoreAfter(sound)).toBeGreaterThanOrEqual(before.score);
      expect(scoreAfter({ kind: "missed" })).toBeLessThanOrEqual(before.score);
      expect(scoreAfter({ kind: "simulated", ok: false })).toBeLessThanOrEqual(before.score);
      expect(scoreAfter({ kind: "abuse" })).toBeLessThanOrEqual(before.score);
      expect(figuresOf(afterOutcome(reputation, { kind: "outbid" }, at), at)).toEqual(before);
      expect(before.score).toBeGreaterThanOrEqual(0);
      expect(before.score).toBeLessThan(100);
    }
  });
  test("outbids between other outcomes change nothing but rounding", () => {
    const random = seededRandom(5);
    const { outcomes } = randomHistory(random);
    let plain = newReputation(day);
    let outbid = newReputation(day);
    for (const [outcome, at] of outcomes) {
      plain = afterOutcome(plain, outcome, at);
      outbid = afterOutcome(afterOutcome(outbid, { kind: "outbid" }, at), outcome, at);
    }
    expect(outcomes.length).toBeGreaterThan(20);
    expect(outbid.tier).toBe(plain.tier);
    expect(figuresOf(outbid, day * 2).score).toBeCloseTo(figuresOf(plain, day * 2).score, 9);
  });
  test("abuse lowers it strictly", () => {
    const good = repeat(repeat(newReputation(0), best, 100), sound, 100);
    expect(figuresOf(repeat(good, { kind: "abuse" }, 20), 0).score).toBeLessThan(figuresOf(good, 0).score - 0.3);
  });
  test("a tip counts by its share of the median that landed, and no more than once", () => {
    const landedWith = (tip: bigint) => {
      return figuresOf(repeat(newReputation(0), { kind: "landed", tip, medianTip: 10_000n }, 50), 0).score;
    };
    expect(landedWith(2_000n)).toBeLessThan(landedWith(5_000n));
    expect(landedWith(5_000n)).toBeLessThan(landedWith(10_000n));
    expect(landedWith(10n ** 18n)).toBe(landedWith(10_000n));
  });
  test("many new names earn nothing: what has not landed lends no score, whatever its simulations say", () => {
    const reputation = repeat(repeat(newReputation(0), sound, 100_000), { kind: "submitted" }, 100_000);
    expect(figuresOf(reputation, 0)).toMatchObject({ score: 0, tier: "bronze", submitted: 100_000n, landed: 0n });
    expect(figuresOf(newReputation(0), 0)).toMatchObject({ score: 0, tier: "bronze", landingRate: 0, simSuccess: 0 });
  });
});

describe("time", () => {
  test("a day halves every weight", () => {
    const reputation = repeat(newReputation(0), best, 64);
    expect(afterOutcome(reputation, { kind: "outbid" }, day).weights.landed).toBe(32);
    expect(afterOutcome(reputation, { kind: "outbid" }, 3 * day).weights.landed).toBe(8);
  });
  test("only lowers a score, and asking changes nothing", () => {
    const random = seededRandom(11);
    for (let round = 0; round < 100; round += 1) {
      const { reputation, at } = randomHistory(random);
      let before = figuresOf(reputation, at);
      for (let hours = 1; hours < 200; hours += 13) {
        const later = figuresOf(reputation, at + hours * hour);
        expect(later.score).toBeLessThanOrEqual(before.score);
        expect(searcherTiers.indexOf(later.tier)).toBeLessThanOrEqual(searcherTiers.indexOf(before.tier));
        before = later;
      }
    }
  });
  test("a clock that goes back ages nothing and forgets nothing", () => {
    const reputation = repeat(newReputation(10 * day), best, 10);
    expect(afterOutcome(reputation, best, 0)).toMatchObject({ at: 10 * day, landed: 11n });
  });
});

describe("tiers", () => {
  const stepsOf = (outcome: ReputationOutcome, from: Reputation, steps: number) => {
    const seen: { score: number; tier: SearcherTier }[] = [];
    let reputation = from;
    for (let count = 0; count < steps; count += 1) {
      reputation = afterOutcome(reputation, outcome, reputation.at);
      seen.push(figuresOf(reputation, reputation.at));
    }
    return { seen, reputation };
  };
  test("begin at 40, 65 and 85, and are lost only 3 points below", () => {
    const start = repeat(newReputation(0), sound, 2_000);
    const { seen: rising, reputation } = stepsOf(best, start, 1_500);
    for (const { score, tier } of rising) {
      const reached = searcherTiers.findLast((each) => each === "bronze" || score >= searcherTierScores[each]);
      expect(tier).toBe(reached ?? "bronze");
    }
    expect(new Set(rising.map(({ tier }) => tier)).size).toBe(4);
    const { seen: falling } = stepsOf({ kind: "missed" }, reputation, 20_000);
    for (const { score, tier } of falling.filter((_, index) => index % 10 === 0)) {
      const kept = searcherTiers.findLast((each) => each === "bronze" || score >= searcherTierScores[each] - 3);
      expect(tier).toBe(kept ?? "bronze");
    }
    expect(new Set(falling.map(({ tier }) => tier)).size).toBeGreaterThan(1);
  });
  test("what ageing took is to be earned again, not regained within the three points", () => {
    const gold = repeat(repeat(newReputation(0), sound, 500), best, 250);
    expect(figuresOf(gold, 0).tier).toBe("gold");
    let at = 0;
    while (figuresOf(gold, at).score >= 62) at += 60_000;
    expect(figuresOf(gold, at).tier).toBe("silver");
    const more = repeat(gold, best, 3, at);
    expect(figuresOf(more, at).score).toBeGreaterThan(62);
    expect(figuresOf(more, at).tier).toBe("silver");
  });
});

describe("a stored record", () => {
  test("is read back exactly, digits beyond a double included, and goes on alike", () => {
    const random = seededRandom(23);
    for (let round = 0; round < 50; round += 1) {
      const { reputation, at } = randomHistory(random);
      const written = { ...reputation, submitted: 2n ** 63n + 1n };
      const read = readReputation(reputationVersion, JSON.parse(JSON.stringify(writeReputation(written))));
      expect(read).toEqual(written);
      if (read !== null) expect(afterOutcome(read, best, at + 1)).toEqual(afterOutcome(written, best, at + 1));
    }
  });
  test("replaying the same outcomes gives the same record", () => {
    const { reputation, outcomes } = randomHistory(seededRandom(2));
    const again = outcomes.reduce((before, [outcome, at]) => afterOutcome(before, outcome, at), newReputation(day));
    expect(again).toEqual(reputation);
  });
  test("that is damaged or of another version is none", () => {
    const value = writeReputation(repeat(newReputation(0), best, 3));
    expect(readReputation(reputationVersion + 1, value)).toBeNull();
    for (const damaged of [
      null,
      1,
      {},
      { ...value, tier: "iron" },
      { ...value, at: Number.NaN },
      { ...value, landed: "x" },
    ]) {
      expect(readReputation(reputationVersion, damaged)).toBeNull();
    }
    expect(readReputation(reputationVersion, { ...value, weights: { ...value.weights, abuse: -1 } })).toBeNull();
  });
});
