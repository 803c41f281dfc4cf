import { expect, test } from "bun:test";
import type { BlockHeader } from "./index.ts";
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

// Final is the slot of the last block that was lost, or one far beyond.
test.each([107, 125])(
  "over lost blocks a follower goes back to what was final when it was told them",
  async (final) => {
    const told = await openMemoryLog(chain);
    await appendBlocks(told.log, 100, 104);
    await told.log.append(stageOf(headerOf(102), "finalized"));
    const fork: BlockHeader[] = [];
    for (let slot = 105; slot <= 108; slot += 1) fork.push(headerOf(slot, fork.at(-1) ?? headerOf(104), "fork"));
    for (const header of fork) await told.log.append(blockOf(header));
    const cursor = follow(told.log, "confirmed", "latest").cursor();
    await told.log[Symbol.asyncDispose]();

    // Of the fork its last block alone was stored, and the chain is final far beyond it.
    const { log } = await openMemoryLog(chain);
    await appendBlocks(log, 100, 130);
    await log.append(blockOf(headerOf(108, headerOf(107, fork[1], "fork"), "fork")));
    await log.append(stageOf(headerOf(final), "finalized"));
    const follower = follow(log, "confirmed", { cursor });
    const [first, second, third] = [await nextOf(follower), await nextOf(follower), await nextOf(follower)];
    expect(first).toMatchObject({ type: "undo", undo: { slot: 108n }, back: { slot: 107n } });
    expect(second).toMatchObject({ type: "undo", undo: { slot: 107n }, back: { slot: 102n } });
    expect(third).toMatchObject({ type: "block", header: { slot: 103n } });
    await log[Symbol.asyncDispose]();
  },
);
