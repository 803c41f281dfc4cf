import { expect, test } from "bun:test";
import fc from "fast-check";
import { sliceNotification } from "./notification.ts";

function sliced(text: string): readonly [string, string] | null {
  const bytes = Buffer.from(text);
  const slice = sliceNotification(bytes);
  if (slice === null) return null;
  const part = (start: number, end: number) => bytes.toString("utf8", start, end);
  return [part(slice.resultStart, slice.resultEnd), part(slice.subscriptionStart, slice.subscriptionEnd)];
}

const head = '{"jsonrpc":"2.0","method":"accountNotification","params":';

test("result and subscription are found in the layout of nodes and in any other, as they were sent", () => {
  const result = '{"context":{"slot":1},"value":{ "rentEpoch":18446744073709551615, "é":"\\"}" }}';
  for (const text of [
    `${head}{"result":${result},"subscription":7}}`,
    `${head}{"subscription":7,"result":${result}}}`,
    ` { "params" : { "more":[{}], "result" : ${result} , "subscription" : 7 } , "method" : "x" , "y":null }\n`,
  ]) {
    expect([text, sliced(text)]).toEqual([text, [result, "7"]]);
  }
  expect(sliced(`${head}{"result":5,"subscription":"a\\"b"}}`)).toEqual(["5", '"a\\"b"']);
});

test("what is no notification is null: answers, members that are missing or there twice, broken or continued text", () => {
  for (const text of [
    "",
    "5",
    "{}",
    "[]",
    '{"jsonrpc":"2.0","result":7,"id":1}',
    `${head}{"result":5,"subscription":7},"id":1}`,
    `${head}{"result":5}}`,
    `${head}{"subscription":5}}`,
    `${head}{"result":5,"result":6,"subscription":7}}`,
    `${head}{"result":5,"subscription":7},"params":{"result":6,"subscription":8}}`,
    `${head}[1,2]}`,
    '{"params":{"result":5,"subscription":7}}',
    '{"method":5,"params":{"result":5,"subscription":7}}',
    `${head}{"result":5,"subscription":7}} {}`,
    `${head}{"result":01,"subscription":7}}`,
    `${head}{"result":5,"subscription":7`,
    `${head}{"result":{"a":[1,2},"subscription":7}}`,
  ]) {
    expect([text, sliced(text)]).toEqual([text, null]);
  }
});

test("whatever JSON a result is, it is cut exactly, and no prefix of the text is a notification", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, subscription) => {
      const result = JSON.stringify(value);
      const text = `${head}{"result":${result},"subscription":${subscription}}}`;
      expect(sliced(text)).toEqual([result, String(subscription)]);
      for (let length = 0; length < Math.min(text.length, 300); length += 7) {
        expect(sliced(text.slice(0, length))).toBeNull();
      }
    }),
    { numRuns: 200 },
  );
});
