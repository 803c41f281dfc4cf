import { expect, test } from "bun:test";
import type { PlatformTier } from "@sluice/contract/tiers";
import { systemClock } from "@sluice/lib";
import { FanOut } from "../../net/index.ts";
import type { SharedSubscription, Subscriber } from "./shared-subscription.ts";
import { type SubscriptionSpec, subscriptionSpec } from "./subscription-spec.ts";
import { SubscriptionTable } from "./subscription-table.ts";

const subscriptionsMax = 1_600;

function tableOf() {
  const opened: SharedSubscription[] = [];
  const closed: SharedSubscription[] = [];
  const table = new SubscriptionTable(
    { firstId: 1, subscriptionsMax, lingerMs: 3_600_000 },
    {
      clock: systemClock,
      fanOut: new FanOut({ failed: () => {} }),
      source: () => ({ open: (shared) => void opened.push(shared), close: (shared) => void closed.push(shared) }),
      events: { pubsubShared: () => {} },
    },
  );
  return { table, opened, closed };
}

const clientOf = (accountId: string, tier: PlatformTier = "free"): Subscriber => ({
  accountId,
  tier,
  ended: () => {},
  lost: () => {},
});

let last = 0;
const spec = (): SubscriptionSpec => {
  last += 1;
  return subscriptionSpec("account", JSON.stringify([`account-${last}`]));
};

const answered = (): void => {};

/** Subscribes to new things until that is refused; how many it got. */
function fill(table: SubscriptionTable, subscriber: Subscriber, next = spec): SharedSubscription[] {
  const taken: SharedSubscription[] = [];
  for (;;) {
    const shared = table.join("devnet", next(), { subscriber, answered });
    if (shared === null) return taken;
    taken.push(shared);
    if (taken.length > subscriptionsMax) throw new Error("there is no bound");
  }
}

test("an account takes a part of what is free, by its tier, so that accounts that take all they can leave room", () => {
  const { table } = tableOf();
  using _ = table;
  const taken = Array.from({ length: 13 }, (_, index) => fill(table, clientOf(`greedy-${index}`)).length);
  expect(taken[0]).toBe(Math.ceil(subscriptionsMax / 17));
  const sum = taken.reduce((total, each) => total + each, 0);
  expect(sum).toBeLessThan(subscriptionsMax * 0.6);
  const enterprise = fill(table, clientOf("large", "enterprise"));
  expect(enterprise.length).toBe(Math.ceil((subscriptionsMax - sum) / 2));
  expect(fill(table, clientOf("next")).length).toBeGreaterThan(10);
});

test("what other accounts opened counts for all who have it: who joins may not keep alive more than its part", () => {
  const { table } = tableOf();
  using _ = table;
  const [one, other] = [clientOf("one"), clientOf("other")];
  const opened = fill(table, one);
  const again = [...opened, ...Array.from({ length: 20 }, () => null)].map((each) => each?.spec ?? null);
  const joined = fill(table, other, () => again.shift() ?? spec());
  // Nothing more was taken of the table until what the first has was had by both.
  expect(joined.slice(0, opened.length)).toEqual(opened);
  expect(joined.length).toBeLessThanOrEqual(opened.length + 1);
});

test("a second client of an account costs it nothing for the same subscription, and what it leaves is free again", () => {
  const { table, opened } = tableOf();
  using _ = table;
  const [first, second] = [clientOf("one"), clientOf("one")];
  const taken = fill(table, first);
  for (const shared of taken) expect(table.join("devnet", shared.spec, { subscriber: second, answered })).toBe(shared);
  for (const shared of taken) table.leave(shared, first);
  expect(table.join("devnet", spec(), { subscriber: first, answered })).toBeNull();
  for (const shared of taken.slice(1)) table.leave(shared, second);
  // Twice changes nothing.
  for (const shared of taken.slice(1)) table.leave(shared, second);
  expect(fill(table, first)).toHaveLength(taken.length - 1);
  // What a node refuses is given back as well.
  for (const shared of opened) shared.refused("{}");
  expect(fill(table, first)).toHaveLength(taken.length);
});

test("what nobody has makes room one by one once the table is full, and never is there more than it may have", () => {
  const { table, opened, closed } = tableOf();
  using _ = table;
  for (let round = 0; round < 4; round += 1) {
    const subscriber = clientOf(`passing-${round}`, "enterprise");
    for (const shared of fill(table, subscriber)) table.leave(shared, subscriber);
  }
  // The first two rounds fill the table, and what they have left lingers until the next ones need its room.
  expect(opened.length).toBeGreaterThan(subscriptionsMax);
  expect(opened.length - closed.length).toBe(subscriptionsMax);
  expect(closed).toEqual(opened.slice(0, closed.length));
});
