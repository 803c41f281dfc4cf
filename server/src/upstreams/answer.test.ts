import { expect, test } from "bun:test";
import { readAnswer } from "./answer.ts";

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

test("an answer is cut where its id stands, whatever stands around it", () => {
  const answer = readAnswer(bytesOf('{"jsonrpc":"2.0","result":{"id":4},"id":4}\n'), { id: "4" }, "a");
  expect(answer).toMatchObject({
    label: "a",
    body: { kind: "text", head: '{"jsonrpc":"2.0","result":{"id":4},"id":', tail: "}\n" },
    errorCode: null,
    isNull: false,
  });
  const wide = readAnswer(bytesOf('{"id":4,"jsonrpc":"2.0","result":"🦀"}'), { id: "4" }, "a");
  expect(wide?.body.kind).toBe("bytes");
});

test("null results, error codes and the context's slot are seen", () => {
  expect(readAnswer(bytesOf('{"jsonrpc":"2.0","result":null,"id":4}'), { id: "4" }, "a")?.isNull).toBe(true);
  const error = '{"jsonrpc":"2.0","error":{"code":-32005,"message":"m","data":{"numSlotsBehind":3}},"id":4}';
  expect(readAnswer(bytesOf(error), { id: "4" }, "a")?.errorCode).toBe(-32005);
  const context =
    '{"jsonrpc":"2.0","result":{"context":{"apiVersion":"2.0.3","slot":18446744073709551615},"value":1},"id":4}';
  expect(readAnswer(bytesOf(context), { id: "4" }, "a")?.contextSlot).toBe(18446744073709551615n);
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
    expect([text, readAnswer(bytesOf(text), { id: "4" }, "a")]).toEqual([text, null]);
  }
  expect(readAnswer(new Uint8Array([0x7b, 0xff]), { id: "4" }, "a")).toBeNull();
  expect(
    readAnswer(bytesOf('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}'), { id: "4" }, "a")
      ?.errorCode,
  ).toBe(-32700);
});

test("an error that is null beside a result is cut out, since clients take its presence for an error", () => {
  const answer = readAnswer(bytesOf('{"jsonrpc":"2.0","result":[1],"error":null,"id":4}'), { id: "4" }, "a");
  expect(answer).toMatchObject({
    body: { kind: "text", head: '{"jsonrpc":"2.0","result":[1],"id":', tail: "}" },
    errorCode: null,
  });
});

test("a slot, a height or a counter that is the result, and both of an epoch, are read to the last digit; anything else states nothing", () => {
  const read = (result: string, position: "slot" | "height" | "counter" | "epoch") => {
    const answer = readAnswer(bytesOf(`{"jsonrpc":"2.0","result":${result},"id":4}`), { id: "4", position }, "a");
    return [answer?.contextSlot, answer?.number];
  };
  expect(read("18446744073709551615", "slot")).toEqual([18446744073709551615n, null]);
  expect(read("7", "height")).toEqual([null, 7n]);
  expect(read("7", "counter")).toEqual([null, 7n]);
  const epoch = '{"transactionCount":null,"blockHeight": 90 ,"absoluteSlot":100,"slotIndex":100}';
  expect(read(epoch, "epoch")).toEqual([100n, 90n]);
  for (const result of ["1.5", "1e3", "-1", '"7"', "null", "[7]", '{"context":{"slot":7},"value":7}']) {
    expect([result, read(result, "slot"), read(result, "height")]).toEqual([result, [null, null], [null, null]]);
  }
  expect(read('{"absoluteSlot":1.5}', "epoch")).toEqual([null, null]);
  const late = '{"id":4,"jsonrpc":"2.0","result":7}';
  expect(readAnswer(bytesOf(late), { id: "4", position: "slot" }, "a")?.contextSlot).toBe(7n);
  const error = '{"jsonrpc":"2.0","error":{"code":-32005,"message":"x"},"id":4}';
  expect(readAnswer(bytesOf(error), { id: "4", position: "slot" }, "a")?.contextSlot).toBeNull();
});
