import { expect, test } from "bun:test";
import { createHistory, type HistoryOptions, type HistoryTransaction } from "./history.ts";
import { ProblemError } from "./problem-error.ts";

interface Asked {
  readonly url: URL;
  readonly init: RequestInit;
}

/** A client of a gateway that gives these answers in turn, and what it was asked. */
function gateway(...answers: Response[]) {
  const asked: Asked[] = [];
  const call: HistoryOptions["fetch"] = async (url, init) => {
    asked.push({ url: new URL(url), init });
    const answer = answers.shift();
    if (answer === undefined) throw new Error(`nothing is left to answer ${url}`);
    return answer;
  };
  const history = createHistory({ url: "http://gateway:8899/", apiKey: "k", network: "devnet", fetch: call });
  return { asked, history };
}

const json = (text: string, status = 200): Response => new Response(text, { status });

test("whole numbers of the chain are exact, also beyond 2^53, and the rest is as it was sent", async () => {
  const { asked, history } = gateway(
    json(
      '{"slot":18446744073709551615,"fee":5000,"block_time":null,"native_transfers":[{"from":"a","to":null,' +
        '"lamports":9007199254740993}],"token_transfers":[{"amount":"1","decimals":6}],"index":3}',
    ),
  );
  const transaction = await history.transaction("sig/1");
  expect(transaction).toMatchObject({ slot: 18_446_744_073_709_551_615n, fee: 5_000n, block_time: null, index: 3 });
  expect(transaction.native_transfers).toEqual([{ from: "a", to: null, lamports: 9_007_199_254_740_993n }]);
  expect(asked[0]?.url.pathname).toBe("/api/v1/history/transactions/sig%2F1");
  const headers = new Headers(asked[0]?.init.headers);
  expect([headers.get("x-api-key"), headers.get("x-network")]).toEqual(["k", "devnet"]);
});

test("lists are asked by their query, and followed page by page to the end", async () => {
  const page = (slots: string, cursor: string | null): Response =>
    json(`{"items":[${slots}],"next_cursor":${JSON.stringify(cursor)}}`);
  const { asked, history } = gateway(page('{"slot":3},{"slot":2}', "c1"), page("", "c2"), page('{"slot":1}', null));
  const slots: bigint[] = [];
  for await (const { slot } of history.all(history.transactions, { address: "A", success: true, limit: 2 })) {
    slots.push(slot);
  }
  expect(slots).toEqual([3n, 2n, 1n]);
  expect(asked.map(({ url }) => url.search)).toEqual([
    "?address=A&success=true&limit=2",
    "?address=A&success=true&limit=2&cursor=c1",
    "?address=A&success=true&limit=2&cursor=c2",
  ]);
});

test("a search is sent as JSON with its amounts as text, and a block by its slot", async () => {
  const { asked, history } = gateway(json('{"items":[],"next_cursor":null}'), json('{"slot":7,"signatures":["s"]}'));
  await history.search({ accounts: ["A"], min_amount: 2n ** 63n, from_slot: 5n, votes: true });
  expect(String(asked[0]?.init.body)).toBe(
    '{"accounts":["A"],"min_amount":"9223372036854775808","from_slot":"5","votes":true}',
  );
  expect(new Headers(asked[0]?.init.headers).get("content-type")).toBe("application/json");
  expect((await history.block(7n)).slot).toBe(7n);
  expect(asked[1]?.url.href).toEndWith("/blocks/7?transactions=signatures");
});

test("a refusal rejects with its code, and an answer that is no JSON with what is wrong", async () => {
  const { history } = gateway(
    json('{"code":"TIER_REQUIRED","detail":"older","instance":"req_1"}', 403),
    json("<html>", 502),
    json("[1"),
  );
  const fault = (): Promise<unknown> =>
    history.transactions().then(
      ({ items }: { readonly items: readonly HistoryTransaction[] }) => items,
      (error: unknown) => error,
    );
  expect(await fault()).toMatchObject({ code: "TIER_REQUIRED", status: 403, requestId: "req_1" });
  expect(await fault()).toBeInstanceOf(ProblemError);
  expect(await fault()).toBeInstanceOf(SyntaxError);
});
