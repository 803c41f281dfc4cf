import { expect, test } from "bun:test";
import { InvariantError } from "@sluice/lib";
import { startSteps } from "../compose.ts";
import { runSteps, stepsOf, unmetNeeds } from "./steps.ts";

interface Parts {
  readonly first: number;
  readonly second: string;
}

const step = stepsOf<Parts, { readonly log: string[] }>();
const first = step("first", [], (_parts, { log }) => log.push("first"));
const second = step("second", ["first"], async (parts, { log }) => `${log.push("second")} after ${parts.first}`);

test("every step of the start comes after the steps that open what it needs, and opens a part of its own", () => {
  expect(unmetNeeds(startSteps)).toEqual([]);
  expect(new Set(startSteps.map(({ name }) => name)).size).toBe(startSteps.length);
  expect(startSteps.length).toBeGreaterThan(10);
});

test("a need that no earlier step opens is found, and stops the start", async () => {
  expect(unmetNeeds([second, first])).toEqual(["second: first"]);
  expect(runSteps([second, first], { log: [] })).rejects.toBeInstanceOf(InvariantError);
});

test("steps run one after the other, each with what earlier ones opened", async () => {
  const log: string[] = [];
  expect(await runSteps([first, second], { log })).toEqual({ first: 1, second: "2 after 1" });
  expect(log).toEqual(["first", "second"]);
});
