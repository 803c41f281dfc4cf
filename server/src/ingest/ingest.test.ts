import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { chain, slotOf } from "../log/testing/chain-model.ts";
import { openMemoryLog } from "../log/testing/memory-log.ts";
import { Ingest } from "./ingest.ts";
import { quietEvents } from "./testing/quiet-events.ts";

test("an operator gives slots up in order, below the head, and not millions of them", async () => {
  let head: Slot | null = null;
  await using memory = (await openMemoryLog(chain)).log;
  await using ingest = new Ingest(
    { gapAfterMs: 60_000 },
    {
      clock: new ManualClock(),
      random: seededRandom(1),
      nodesOf: () => ({ head: () => head, isWell: () => false, list: () => [] }),
      eventsOf: () => quietEvents,
    },
  );
  const skip = (from: number, to: number) => ingest.skip("devnet", slotOf(from), slotOf(to));
  expect(skip(5, 6)).toEqual({ ok: false, reason: "closed" });
  await ingest.take("devnet", memory, chain);
  // What is the head is not known.
  expect(skip(5, 6)).toEqual({ ok: false, reason: "range" });
  head = slotOf(20_000_000);
  const refused = { ok: false, reason: "range" } as const;
  expect([skip(6, 5), skip(5, 20_000_000), skip(5, 10_000_005)]).toEqual([refused, refused, refused]);
  expect([skip(5, 5), skip(6, 10_000_005), skip(19_999_998, 19_999_999)]).toEqual([
    { ok: true },
    { ok: true },
    { ok: true },
  ]);
});
