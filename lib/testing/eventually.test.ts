import { expect, test } from "bun:test";
import { eventually, until } from "./eventually.ts";

test("it gives the first value that is there, whatever was thrown before", async () => {
  let calls = 0;
  const value = await eventually("a third call", () => {
    calls += 1;
    if (calls === 1) throw new Error("not yet");
    return calls === 3 && "there";
  });
  expect([value, calls]).toEqual(["there", 3]);
});

test("it rejects after its time with what was awaited and the last error", async () => {
  const failing = () => {
    throw new Error("refused");
  };
  await expect(eventually("a connection", failing, 5)).rejects.toThrow(
    "a connection: not within 5 ms (Error: refused)",
  );
  const calls: string[] = [];
  await expect(until(() => calls.length > 0, 5)).rejects.toThrow("calls.length");
});
