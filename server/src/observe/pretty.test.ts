import { expect, test } from "bun:test";
import { formatPretty } from "./pretty.ts";

const shown = (record: unknown, colour = false): string => formatPretty(JSON.stringify(record), { colour });
const time = "2026-11-23T18:30:00.123Z";

test("a line shows time, level, message and fields, with quotes where a value has more than plain characters", () => {
  const record = { time, level: "warn", msg: "node is behind", node: "a-1", slots: 5, text: "two words", none: null };
  expect(shown(record)).toBe('18:30:00.123 warn  node is behind node=a-1 slots=5 text="two words" none=null\n');
  expect(shown({ time, level: "info", msg: "ready" })).toBe("18:30:00.123 info  ready\n");
  expect(shown({})).toBe(" info  \n");
});

test("colours stand around time, level and fields, and around nothing that is empty", () => {
  expect(shown({ time, level: "error", msg: "lost", a: 1 }, true)).toBe(
    "\u001b[2m18:30:00.123\u001b[0m \u001b[31merror\u001b[0m lost \u001b[2ma=1\u001b[0m\n",
  );
  expect(shown({ level: "info", msg: "ready" }, true)).toBe(" \u001b[36minfo \u001b[0m ready\n");
});

test("an error with a stack is shown as its lines, and any other as a field", () => {
  expect(shown({ msg: "failed", error: { stack: "Error: a\n  at b" }, a: 1 })).toBe(
    " info  failed a=1\nError: a\n  at b\n",
  );
  expect(shown({ msg: "failed", error: "text" })).toBe(" info  failed error=text\n");
  expect(shown({ msg: "failed", error: { code: 1 } })).toBe(' info  failed error={"code":1}\n');
  expect(shown({ msg: "failed", error: { stack: 5 } })).toBe(' info  failed error={"stack":5}\n');
  expect(shown({ msg: "failed", error: null })).toBe(" info  failed error=null\n");
});

test("what is no such line comes back as it is, and control characters reach no terminal", () => {
  for (const line of ["no JSON", "5", "null", '"text"']) expect(formatPretty(line, { colour: false })).toBe(line);
  expect(shown({ msg: "a\u001b[2Jb", "f\u0007": "c\u202ed" })).toBe(' info  a�[2Jb f�="c�d"\n');
});
