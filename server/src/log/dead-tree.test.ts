import { expect, test } from "bun:test";
import { blockOf, chain, headerOf, nextOf, slotOf, stageOf } from "./testing/chain-model.ts";
import { appendBlocks, follow } from "./testing/log-subject.ts";
import { openMemoryLog } from "./testing/memory-log.ts";

test.each(["confirmed", "processed"] as const)(
  "a follower at %s on a fork whose parent was trimmed is led back to the chain",
  async (stage) => {
    const { log, trimBelow } = await openMemoryLog(chain);
    await appendBlocks(log, 100, 104);
    const fork = [headerOf(105, headerOf(104), "fork")];
    fork.push(headerOf(106, fork[0], "fork"), headerOf(107, headerOf(106, fork[0], "fork"), "fork"));
    for (const header of fork) await log.append(blockOf(header));
    const { cursor } = { cursor: follow(log, stage, "latest").cursor() };
    await appendBlocks(log, 105, 130);
    await log.append(stageOf(headerOf(125), "finalized"));
    trimBelow(slotOf(105));
    const follower = follow(log, stage, { cursor });
    const told: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const event = await nextOf(follower);
      told.push(
        event.type === "undo" ? `undo ${event.undo.slot}` : event.type === "block" ? `${event.header.slot}` : "",
      );
    }
    expect(told).toEqual(["undo 107", "undo 106", "undo 105", "105", "106"]);
    await log[Symbol.asyncDispose]();
  },
);
