import { expect, test } from "bun:test";
import { createEnhanced } from "./enhanced.ts";
import { ProblemError } from "./problem-error.ts";

/** A client of a server that answers so, with what it was asked. */
function played(answer: (url: URL, init: RequestInit) => Response) {
  const asked: { readonly url: string; readonly method: string; readonly body: unknown; readonly headers: unknown }[] =
    [];
  const client = createEnhanced({
    url: "http://gateway//",
    apiKey: "key",
    network: "devnet",
    fetch: async (url, init) => {
      const { method = "GET", body = null, headers } = init;
      asked.push({ url, method, body, headers });
      return answer(new URL(url), init);
    },
  });
  return { client, asked };
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });

test("calls go to their paths with key and network, and answers come without the envelope", async () => {
  const { client, asked } = played(() => json({ success: true, data: { items: [] }, cached: false }));
  const signatures = ["one", "two"];
  await client.transactions(signatures, "finalized");
  await client.token("mint");
  await client.wallet("a/b");
  await client.walletBalances("wallet", { limit: 5 });
  await client.walletTransfers("wallet", { cursor: "c d" });
  expect(await client.walletHistory("wallet", { type: "SWAP" })).toEqual({ items: [] } as never);
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "POST http://gateway/api/v1/v0/transactions?commitment=finalized",
    "GET http://gateway/api/v1/v0/token/mint",
    "GET http://gateway/api/v1/v0/wallet/a%2Fb",
    "GET http://gateway/api/v1/v0/wallet/wallet/balances?limit=5",
    "GET http://gateway/api/v1/v0/wallet/wallet/transfers?cursor=c+d",
    "GET http://gateway/api/v1/v0/wallet/wallet/history?type=SWAP",
  ]);
  expect(asked[0]?.body).toBe(JSON.stringify({ transactions: signatures }));
  expect(asked[0]?.headers).toMatchObject({ "x-api-key": "key", "x-network": "devnet" });
});

test("a refusal rejects with its code, status and request id", async () => {
  const failure = { success: false, error: "There is no token", message: "no mint", error_code: "TOKEN_NOT_FOUND" };
  const { client } = played(() => json(failure, 404, { "x-request-id": "req_1" }));
  const refused = await client.token("x").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ProblemError);
  expect(refused).toMatchObject({ code: "TOKEN_NOT_FOUND", message: "no mint", status: 404, requestId: "req_1" });
});

test("what a proxy answers rejects with UNKNOWN, a success without JSON too", async () => {
  for (const status of [200, 502]) {
    const { client } = played(() => new Response("<html>", { status, headers: { "content-type": "text/html" } }));
    expect(await client.wallet("x").catch((error: unknown) => error)).toMatchObject({ code: "UNKNOWN", status });
  }
});
