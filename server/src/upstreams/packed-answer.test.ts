import { expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { readAnswer } from "./answer.ts";
import { packAnswer, unpackAnswer } from "./packed-answer.ts";

const answerOf = (text: string) => {
  const answer = readAnswer(new TextEncoder().encode(text), { id: "7" }, "node");
  if (answer === null) throw new Error("not an answer");
  return answer;
};
const plain = `{"jsonrpc":"2.0","id":7,"result":{"context":{"slot":18446744073709551615},"value":"a"}}`;
const wide = `{"jsonrpc":"2.0","result":{"name":"ключ 🦀","n":1e400},"id":7}`;

test("an answer comes back as it was packed, to the byte", () => {
  for (const text of [plain, wide]) {
    const answer = answerOf(text);
    const packed = packAnswer(answer);
    if (packed === null) throw new Error("not packed");
    const back = unpackAnswer(packed);
    expect(JSON.parse(JSON.stringify(back, bigintAsText))).toEqual(JSON.parse(JSON.stringify(answer, bigintAsText)));
  }
});

const bigintAsText = (_: string, value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  // JSON.stringify asks a Buffer for its own form before the replacer sees it.
  if (typeof value === "object" && value !== null && "data" in value && Array.isArray(value.data))
    return Buffer.from(value.data).toString("hex");
  return typeof value === "bigint" ? value.toString() : value;
};

test("errors and null results are not packed", () => {
  expect(packAnswer(answerOf(`{"jsonrpc":"2.0","id":7,"result":null}`))).toBeNull();
  expect(packAnswer(answerOf(`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no"}}`))).toBeNull();
});

test("bytes that were changed anywhere behind the header, or cut, or are of another format, give no answer", () => {
  const packed = packAnswer(answerOf(plain));
  if (packed === null) throw new Error("not packed");
  const random = seededRandom(3);
  const bodyAt = packed.indexOf(0x0a) + 1;
  for (let change = 0; change < 500; change += 1) {
    const changed = Uint8Array.from(packed);
    const at = bodyAt + Math.floor(random.next() * (packed.length - bodyAt));
    changed[at] = (changed[at] ?? 0) ^ (1 + Math.floor(random.next() * 255));
    expect(unpackAnswer(changed)).toBeNull();
  }
  for (let length = 0; length < packed.length; length += 1) expect(unpackAnswer(packed.subarray(0, length))).toBeNull();
  for (const text of ["", "\n", "null\n", "[]\n", `{"form":2}\n`, "x".repeat(3_000)]) {
    expect(unpackAnswer(new TextEncoder().encode(text))).toBeNull();
  }
});
