import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { placeLimits, QueryPlaces } from "./places.ts";

const stays = new AbortController().signal;
const codeOf = async (running: Promise<unknown>): Promise<string> =>
  await running.then(
    () => "entered",
    (error: { code: string; name: string }) => (error.name === "LedgerAbortedError" ? error.name : error.code),
  );

test("an account has one place and two in the queue, and a place that is free goes to the first who may have it", async () => {
  const places = new QueryPlaces({ runningMax: 2 }, { timers: new ManualClock() });
  const leaveOne = await places.enter("one", stays);
  const second = places.enter("one", stays);
  const third = places.enter("one", stays);
  expect(await codeOf(places.enter("one", stays))).toBe("SQL_ACCOUNT_BUSY");
  const leaveTwo = await places.enter("two", stays);
  expect([places.running, places.waiting]).toEqual([2, 2]);
  leaveTwo();
  leaveTwo();
  expect([places.running, places.waiting]).toEqual([1, 2]);
  leaveOne();
  const leaveSecond = await second;
  expect([places.running, places.waiting]).toEqual([1, 1]);
  leaveSecond();
  (await third)();
  expect([places.running, places.waiting]).toEqual([0, 0]);
});

test("who waits too long, or leaves, gives up the place in the queue, and a full queue takes no more", async () => {
  const clock = new ManualClock();
  const places = new QueryPlaces({ runningMax: 1 }, { timers: clock });
  const leave = await places.enter("runs", stays);
  const leaving = new AbortController();
  const left = codeOf(places.enter("leaves", leaving.signal));
  leaving.abort();
  expect(await left).toBe("LedgerAbortedError");
  const waiting = Array.from({ length: placeLimits.waitingMax }, (_, at) =>
    codeOf(places.enter(`account ${at}`, stays)),
  );
  expect(await codeOf(places.enter("last", stays))).toBe("SQL_BUSY");
  clock.advance(placeLimits.waitMsMax);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["SQL_BUSY"]));
  expect([places.running, places.waiting]).toEqual([1, 0]);
  leave();
  expect(await codeOf(places.enter("next", stays))).toBe("entered");
});
