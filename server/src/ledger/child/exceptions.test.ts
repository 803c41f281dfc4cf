import { expect, test } from "bun:test";
import { EngineException, fromEngine } from "./exceptions.ts";

/** What Node's file functions throw. */
const refused = (code: string, text: string): Error =>
  Object.assign(new Error(`${code}: ${text}, write`), { code, syscall: "write", errno: -1 });

test("what the operating system refuses of a file has ClickHouse's own code for it", () => {
  const cases = [
    ["ENOSPC", 243],
    ["EDQUOT", 243],
    ["EROFS", 242],
    ["EIO", 425],
    ["EMFILE", 425],
  ] as const;
  for (const [code, expected] of cases) {
    const exception = fromEngine(refused(code, "some text"));
    expect([exception.code, exception.text]).toEqual([expected, expect.stringContaining(`${code}: some text`)]);
  }
});

test("an exception of the engine keeps its code, whatever else its text holds, and a text without one is unknown", () => {
  expect(fromEngine(new Error("Code: 27. DB::Exception: Cannot parse 'ENOSPC' (CANNOT_PARSE)\n"))).toMatchObject({
    code: 27,
    text: "Code: 27. DB::Exception: Cannot parse 'ENOSPC' (CANNOT_PARSE)",
  });
  expect(fromEngine("something").code).toBe(1002);
  const same = new EngineException(1, "x");
  expect(fromEngine(same)).toBe(same);
});
