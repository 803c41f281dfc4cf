import { expect, test } from "bun:test";
import { webhookEventData } from "@sluice/contract/schemas";
import { exampleData } from "./example-data.ts";

test("the example of each event is of the form that the event is described by", () => {
  const names = Object.keys(webhookEventData) as (keyof typeof webhookEventData)[];
  expect(names.length).toBe(11);
  for (const name of names) {
    const example = JSON.parse(exampleData(name, {}));
    expect([name, webhookEventData[name].parse(example)]).toEqual([name, example]);
  }
  expect(JSON.parse(exampleData("block.confirmed", { slot: 1, more: "x" }))).toMatchObject({ slot: 1, more: "x" });
});
