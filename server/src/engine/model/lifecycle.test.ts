import { describe, expect, test } from "bun:test";
import { bundleReasons, bundleStates } from "@sluice/contract/engine";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundleChange, BundleRecord } from "./bundle.ts";
import { canBecome, isTerminal, stepped } from "./lifecycle.ts";
import { eventsOf, explore, type Mistakes, start } from "./testing/lifecycle-model.ts";

const slot = 7n as Slot;
const allChanges: readonly BundleChange[] = [
  { to: "included", slot, blockhash: "h", index: 0, tip: 5n },
  { to: "finalized" },
  ...bundleReasons.flatMap((reason): BundleChange[] => [
    { to: "dropped", reason },
    { to: "expired", reason },
  ]),
];

/** A record in each state, come to by steps. */
function recordIn(state: BundleRecord["state"]): BundleRecord {
  const accepted = eventsOf(start).find(({ name }) => name === "submit")?.after?.writing?.to;
  if (accepted === undefined) throw new Error("the model does not accept");
  const ways: Record<BundleRecord["state"], readonly BundleChange[]> = {
    accepted: [],
    included: [{ to: "included", slot, blockhash: "h", index: 0, tip: 5n }],
    finalized: [{ to: "included", slot, blockhash: "h", index: 0, tip: 5n }, { to: "finalized" }],
    dropped: [{ to: "dropped", reason: "tip_not_paid" }],
    expired: [{ to: "expired", reason: "blockhash_expired" }],
  };
  return ways[state].reduce<BundleRecord>((record, change) => {
    const next = stepped(record, change, 1);
    if (next === null) throw new Error(`no step to ${change.to}`);
    return next;
  }, accepted);
}

describe("the lifecycle", () => {
  test("has these steps and no others, for every state, change and reason", () => {
    const possible = bundleStates.flatMap((from) =>
      allChanges.flatMap((change) => {
        const to = stepped(recordIn(from), change, 2)?.state;
        return to === undefined ? [] : [`${from} ${"reason" in change ? `${to} ${change.reason}` : to}`];
      }),
    );
    const others = bundleReasons.filter((reason) => reason !== "fork");
    const expected = [
      "accepted included",
      ...others.map((reason) => `accepted dropped ${reason}`),
      ...bundleReasons.map((reason) => `accepted expired ${reason}`),
      "included finalized",
      "included dropped fork",
      "included dropped chain_changed",
    ];
    expect(possible.toSorted()).toEqual(expected.toSorted());
  });

  test("goes to another block that the branch that won holds the bundle in, and not to the one that it is in", () => {
    const included = recordIn("included");
    const moved = stepped(included, { to: "included", slot: 9n as Slot, blockhash: "other", index: 2, tip: 6n }, 2);
    expect(moved).toMatchObject({ state: "included", landed: { slot: 9n, blockhash: "other", index: 2 }, tipSeen: 6n });
    expect(stepped(included, { to: "included", slot, blockhash: "h", index: 0, tip: 5n }, 2)).toBeNull();
  });

  test("reports the block that was finalized, where a fork took the bundle up in another than it was included in", () => {
    const included = recordIn("included");
    const landed = { slot: 9n as Slot, blockhash: "other", index: 1 };
    expect(stepped(included, { to: "finalized", landed }, 2)?.landed).toEqual(landed);
    expect(stepped(included, { to: "finalized" }, 2)?.landed).toEqual({ slot, blockhash: "h", index: 0 });
  });

  test("ends in finalized, dropped or expired", () => {
    expect(bundleStates.filter(isTerminal)).toEqual(["finalized", "dropped", "expired"]);
    expect(canBecome("accepted", "finalized")).toBe(true);
    expect(canBecome("finalized", "dropped")).toBe(false);
  });

  test("a place in the chain comes with included, stays with finalized and goes with the fork", () => {
    expect(recordIn("finalized").landed).toEqual({ slot, blockhash: "h", index: 0 });
    expect(recordIn("finalized").tipSeen).toBe(5n);
    const lost = stepped(recordIn("included"), { to: "dropped", reason: "fork", detail: "slot 7" }, 2);
    expect(lost).toMatchObject({ state: "dropped", reason: "fork", detail: "slot 7", landed: null });
  });

  test("a clock that was set back does not set a bundle's time back", () => {
    const later = { ...recordIn("accepted"), changedAt: 100 };
    expect(stepped(later, { to: "expired", reason: "not_landed" }, 50)?.changedAt).toBe(100);
    expect(stepped(later, { to: "expired", reason: "not_landed" }, 150)?.changedAt).toBe(150);
  });
});

describe("the model of a bundle with its process, disk, client and ledger", () => {
  test("keeps every rule in every world that can be reached, and reaches every state", () => {
    const { error, worlds, steps, states } = explore();
    expect(error).toBeNull();
    expect(worlds).toBeGreaterThan(500);
    expect(steps).toBeGreaterThan(worlds);
    expect([...states].toSorted()).toEqual([...bundleStates].toSorted());
  });

  const planted: Readonly<Record<string, readonly [Mistakes, string]>> = {
    "telling before it is on disk": [{ tellsBeforeItIsDurable: true }, "the disk contradicts"],
    "writing whatever the disk holds": [{ writesWhateverTheDiskHolds: true }, "the disk"],
    "settling an outcome before the ledger has it": [{ settlesBeforeTheLedgerHasIt: true }, "will not be reported"],
    "noting the outcome after the step": [{ notesTheOutcomeLater: true }, "will not be reported"],
    "a lifecycle that leaves the end": [
      { step: (record, change, now) => stepped({ ...record, state: "accepted" }, change, now) },
      "the disk",
    ],
    "a finalized bundle without its slot": [
      {
        step: (record, change, now) => {
          const next = stepped(record, change, now);
          return next?.state === "finalized" ? { ...next, landed: null } : next;
        },
      },
      "a place in the chain",
    ],
  };
  for (const [name, [mistakes, text]] of Object.entries(planted)) {
    test(`sees ${name}`, () => {
      const { error } = explore(mistakes);
      expect(error?.text).toContain(text);
      expect(error?.path.length).toBeGreaterThan(0);
    });
  }
});
