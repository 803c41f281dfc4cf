import { expect, test } from "bun:test";
import { readAnswer } from "./answer.ts";

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

test("an answer is cut where its id stands, whatever stands around it", () => {
  const answer = readAnswer(bytesOf('{"jsonrpc":"2.0","result":{"id":4},"id":4}\n'), "4", "a");
  expect(answer).toMatchObject({
    label: "a",
    body: { kind: "text", head: '{"jsonrpc":"2.0","result":{"id":4},"id":', tail: "}\n" },
    errorCode: null,
    isNull: false,
  });
  const wide = readAnswer(bytesOf('{"id":4,"jsonrpc":"2.0","result":"🦀"}'), "4", "a");
  expect(wide?.body.kind).toBe("bytes");
});

test("null results, error codes and the context's slot are seen", () => {
  expect(readAnswer(bytesOf('{"jsonrpc":"2.0","result":null,"id":4}'), "4", "a")?.isNull).toBe(true);
  const error = '{"jsonrpc":"2.0","error":{"code":-32005,"message":"m","data":{"numSlotsBehind":3}},"id":4}';
  expect(readAnswer(bytesOf(error), "4", "a")?.errorCode).toBe(-32005);
  const context =
    '{"jsonrpc":"2.0","result":{"context":{"apiVersion":"2.0.3","slot":18446744073709551615},"value":1},"id":4}';
  expect(readAnswer(bytesOf(context), "4", "a")?.contextSlot).toBe(18446744073709551615n);
});

test("what is no answer to our call is refused", () => {
  for (const text of [
    "",
    "ok",
    "<html>",
    '{"jsonrpc":"2.0","result":1,"id":5}',
    '{"jsonrpc":"2.0","result":1,"id":"4"}',
    '{"jsonrpc":"2.0","result":1,"id":null}',
    '{"jsonrpc":"2.0","id":4}',
    '{"jsonrpc":"2.0","result":1,"error":{"code":1,"message":""},"id":4}',
    '{"jsonrpc":"2.0","result":tru,"id":4}',
    '{"jsonrpc":"2.0","result":[1,2,"id":4}',
    '{"jsonrpc":"2.0","result":1,"id":4}{"jsonrpc":"2.0","result":1,"id":4}',
  ]) {
    expect([text, readAnswer(bytesOf(text), "4", "a")]).toEqual([text, null]);
  }
  expect(readAnswer(new Uint8Array([0x7b, 0xff]), "4", "a")).toBeNull();
  expect(
    readAnswer(bytesOf('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}'), "4", "a")
      ?.errorCode,
  ).toBe(-32700);
});
