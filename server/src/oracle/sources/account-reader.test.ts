import { expect, test } from "bun:test";
import { createAccountReader } from "./chain-pools.ts";

/** What a reader makes of a node that answers this. */
async function readingOf(answer: string, addresses: readonly string[] = ["A", "B"]) {
  let asked: unknown;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      asked = await request.json();
      return new Response(answer);
    },
  });
  try {
    const read = createAccountReader({ url: `http://127.0.0.1:${server.port}`, headers: {} });
    return { reading: await read(addresses), asked };
  } finally {
    await server.stop(true);
  }
}

const account = '{"owner":"P","data":["AQID","base64"],"lamports":18446744073709551615,"executable":false}';
const answerOf = (value: string, slot = "9007199254740993"): string =>
  `{"jsonrpc":"2.0","id":"sluice","result":{"context":{"slot":${slot}},"value":${value}}}`;

test("accounts are read in one call, in the order asked, with a slot that keeps its digits", async () => {
  const { reading, asked } = await readingOf(answerOf(`[${account},null]`));
  expect(reading).toEqual({
    kind: "accounts",
    slot: 9_007_199_254_740_993n,
    accounts: [{ owner: "P", data: Buffer.from([1, 2, 3]) }, null],
  });
  expect(asked).toMatchObject({
    method: "getMultipleAccounts",
    params: [["A", "B"], { encoding: "base64", commitment: "confirmed" }],
  });
});

test("an account in another encoding is none, and an answer that is not whole is unavailable", async () => {
  const odd = '{"owner":"P","data":["AQID","base58"]}';
  expect((await readingOf(answerOf(`[${odd},7]`))).reading).toMatchObject({ accounts: [null, null] });
  for (const answer of [
    answerOf(`[${account}]`),
    answerOf("null"),
    answerOf(`[${account},null]`, '"5"'),
    '{"jsonrpc":"2.0","id":"sluice","error":{"code":-32005,"message":"behind"}}',
    "<html>",
    "",
  ])
    expect((await readingOf(answer)).reading).toEqual({ kind: "unavailable" });
});
