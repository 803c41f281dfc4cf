import { expect, test } from "bun:test";
import { backoffDelayMs, ManualClock } from "@sluice/lib";
import { slotOf } from "../log/testing/chain-model.ts";
import { type Question, Questions } from "./questions.ts";
import type { BlockSource } from "./source.ts";

test("a question that brought nothing rests longer each time, and is free at the moment at which its rest ends", async () => {
  const clock = new ManualClock();
  // Every draw is the middle of its range, so that a rest is a function of the attempt.
  const random = { next: () => 0.5 } as unknown as ConstructorParameters<typeof Questions>[0]["random"];
  using questions = new Questions({ clock, random, onAnswer: () => undefined });
  const question: Question = { kind: "block", slot: slotOf(7), source: { node: "a" } as BlockSource };
  const rests: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect(questions.isFree(question)).toBe(true);
    const asked = questions.ask(question, Promise.resolve({ kind: "unavailable", reason: "failed" } as const));
    expect([questions.isAsked(question), questions.isFree(question)]).toEqual([true, false]);
    await asked;
    let restMs = 0;
    for (; !questions.isFree(question); restMs += 1) clock.advance(1);
    rests.push(restMs);
  }
  const backoff = { baseMs: 300, maxMs: 5_000 };
  expect(rests).toEqual([0, 1, 2].map((attempt) => Math.ceil(backoffDelayMs(attempt, backoff, random))));
  expect(new Set(rests).size).toBe(3);
});
