import { expect, test } from "bun:test";
import { LedgerQueryError } from "./errors.ts";

const isTransient = (code: number, message: string): boolean => new LedgerQueryError(code, message).transient;

test("a full, read-only or failing disk passes, under whichever code the engine reports it", () => {
  expect(isTransient(243, "Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space")).toBe(true);
  expect(isTransient(242, "Code: 242. DB::Exception: EROFS: read-only file system, open")).toBe(true);
  expect(isTransient(425, "Code: 425. DB::Exception: EIO: i/o error, write")).toBe(true);
  const texts = [
    "Code: 75. DB::ErrnoException: Cannot write to file /x/data.bin: , errno: 28, strerror: No space left on device.",
    "Code: 1001. DB::Exception: std::filesystem error: cannot rename: No space left on device",
    "Code: 76. DB::ErrnoException: Cannot open file /x: , errno: 30, strerror: Read-only file system",
    "Code: 75. DB::ErrnoException: Cannot write, errno: 122, strerror: Disk quota exceeded",
    "Code: 1000. Poco::Exception. Code: 1000, e.code() = 5, I/O error: /x",
    "Code: 76. DB::ErrnoException: Cannot open file, errno: 24, strerror: Too many open files",
  ];
  for (const text of texts) expect([text, isTransient(Number(/\d+/.exec(text)?.[0]), text)]).toEqual([text, true]);
});

test("a statement that can never succeed is not taken for a full disk by what its values say", () => {
  expect(isTransient(27, "Code: 27. DB::Exception: Cannot parse input: 'No space left on device'")).toBe(false);
  expect(isTransient(62, "Code: 62. DB::Exception: Syntax error: Read-only file system")).toBe(false);
  expect(isTransient(1002, "Code: 1002. DB::Exception: something else")).toBe(false);
  expect(isTransient(76, "Code: 76. DB::ErrnoException: Cannot open file, strerror: No such file or directory")).toBe(
    false,
  );
});
