import { expect, test } from "bun:test";
import { chunkSizeIn } from "./syntax.ts";

const sizeOf = (line: string): number => {
  const bytes = Buffer.from(`${line}\r\n`, "latin1");
  return chunkSizeIn(bytes, 0, bytes.length - 2);
};

test("a chunk's size is hexadecimal, with extensions of a name and perhaps a token or a quoted text", () => {
  for (const line of ["a", "0A", "a;b", "a;b=c", 'a;b="c d;=\\"\xff"', "a;b;c=d;e", 'a;b="";c']) {
    expect([line, sizeOf(line)]).toEqual([line, 10]);
  }
  expect(sizeOf("ffffffffffff")).toBe(2 ** 48 - 1);
});

test("a size line that two readers might understand differently is none", () => {
  const sizes = ["", "g", "-1", "+1", "0x1", "1_0", "1 0", " 1", "1 ", "1\t", "1,a", "fffffffffffff"];
  const names = ["2;", ";a", "2;;", "2;=", "2;=a", "2; a", "2 ;a", "2;a ", "2;a b", "2;a,b", '2;"a"', "2;a\xff"];
  const values = [
    "2;a=",
    "2;a=;b",
    "2;a= b",
    "2;a =b",
    '2;a="b',
    '2;a="b\\"',
    '2;a="b"c',
    '2;a=b"c"',
    '2;a="b\x00"',
    "2;a=b=c",
  ];
  for (const line of [...sizes, ...names, ...values]) expect([line, sizeOf(line)]).toEqual([line, -1]);
});
