import { expect, test } from "bun:test";
import { ConnectionCounts, HeldPlace } from "./connection-places.ts";

test("a place is given back once, and one that is given back while the others are counted takes none of theirs", async () => {
  const counts = new ConnectionCounts();
  for (let connection = 0; connection < 3; connection += 1) expect(counts.enter("a", 3)).toBe(true);
  const asked = Promise.withResolvers<void>();
  const shared = {
    enter: (accountId: string, max: number) => counts.enter(accountId, max),
    leave: (accountId: string) => counts.leave(accountId),
    leaveBeyond: async (accountId: string, max: number) => {
      await asked.promise;
      return counts.leaveBeyond(accountId, max);
    },
  };
  const [ends, stays] = [new HeldPlace(shared, "a"), new HeldPlace(shared, "a")];
  const beyond = ends.leaveBeyond(1);
  ends.leave();
  ends.leave();
  asked.resolve();
  expect(await beyond).toBe(false);
  expect([counts.enter("a", 3), counts.enter("a", 3)]).toEqual([true, false]);
  expect([await stays.leaveBeyond(2), await stays.leaveBeyond(2)]).toEqual([true, false]);
  stays.leave();
  expect([counts.enter("a", 3), counts.enter("a", 3)]).toEqual([true, false]);
});
