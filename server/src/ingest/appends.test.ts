import { expect, test } from "bun:test";
import { seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { LogError } from "../log/index.ts";
import { blockOf, headerOf } from "../log/testing/chain-model.ts";
import { Appends } from "./appends.ts";

test("a log that takes nothing is told once, and once when it has answers again, also where these are refusals", async () => {
  let fault: "UNAVAILABLE" | null = "UNAVAILABLE";
  const told: string[] = [];
  await using appends = new Appends({
    clock: systemClock,
    random: seededRandom(1),
    log: {
      append: async (record) => {
        if (fault !== null) throw new LogError(fault, "away");
        if (record.kind === "block" && record.header.slot === 102n) throw new LogError("RECORD_DIFFERS", "another");
        return "stored";
      },
    },
    onStored: (record) => void told.push(`stored ${record.kind === "block" ? record.header.slot : ""}`),
    onRefused: (_record, code) => void told.push(`refused ${code}`),
    onStalled: (code) => void told.push(`stalled ${code}`),
  });
  for (const slot of [101, 102]) appends.add(blockOf(headerOf(slot)));
  await eventually("both wait", () => appends.isStalled);
  await Bun.sleep(50);
  expect(told).toEqual(["stalled UNAVAILABLE"]);
  fault = null;
  await eventually("both have an answer", () => appends.waitingBytes === 0);
  expect([appends.isStalled, told.filter((each) => each === "stalled null")]).toEqual([false, ["stalled null"]]);
  expect(told.toSorted()).toEqual(["refused RECORD_DIFFERS", "stalled UNAVAILABLE", "stalled null", "stored 101"]);
});
