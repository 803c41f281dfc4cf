import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { enhancedRecord, type Names, namedIn, parseTransaction, recordText, TransactionView } from "@sluice/parser";
import { grantOfTests } from "../../access/testing/grants.ts";
import { type DevnetRun, runDevnet } from "../../history/testing/devnet-blocks.ts";
import { answerOf } from "../../rpc/testing/rpc-stand.ts";
import { addressOf } from "../testing/asset-accounts.ts";
import { EnhancedStand } from "../testing/stand.ts";

let run: DevnetRun;
let stand: EnhancedStand;

beforeAll(async () => {
  run = await runDevnet(24);
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());
beforeEach(() => {
  stand = new EnhancedStand(run);
});

const placed = () =>
  run.blocks.flatMap(({ slot, blockTime, transactions }) =>
    transactions.map((transaction) => ({ place: { slot, blockTime }, transaction })),
  );
const signatures = (count: number) =>
  placed()
    .slice(-count)
    .map(({ transaction }) => transaction.signature);
const absent = "5".repeat(87);

/** What the API's own route of tokens calls what a sentence names. */
async function namesOf(parsed: ReturnType<typeof parseTransaction>): Promise<Names> {
  const { tokens, nfts } = namedIn(parsed);
  const told = new Map<string, { readonly symbol: string | null; readonly name: string | null }>();
  for (const mint of [...tokens, ...nfts]) {
    const { body } = await stand.ask(`/api/v1/v0/token/${mint}`);
    if (body.success === true) told.set(mint, body.data);
  }
  return {
    symbolOf: (mint) => told.get(mint)?.symbol ?? null,
    nameOf: (id) => told.get(id)?.name ?? null,
    nativeSymbol: "SOL",
  };
}

async function recordOf({ place, transaction }: ReturnType<typeof placed>[number]) {
  const view = new TransactionView(transaction);
  const parsed = parseTransaction(view);
  return JSON.parse(recordText(enhancedRecord(view, parsed, { place, names: await namesOf(parsed) })));
}

describe("transactions by their signatures", () => {
  test("are the parser's records in the order that was asked for, in the envelope", async () => {
    const asked = signatures(40).toReversed();
    const { status, body, headers } = await stand.parse(asked);
    expect({ status, success: body.success, cached: body.cached }).toEqual({
      status: 200,
      success: true,
      cached: false,
    });
    expect(typeof body.processing_time_ms).toBe("number");
    expect(body.data).toEqual(await Promise.all(placed().slice(-40).toReversed().map(recordOf)));
    expect(headers.get("x-cache-status")).toBe("MISS");
  });

  test("cost 10 credits for one and 5 for each of several, kept or not", async () => {
    const [one, other] = signatures(2);
    const prices: number[] = [];
    for (const asked of [[one], [one, other], [one, other]]) {
      const before = stand.creditsLeft;
      expect((await stand.parse(asked)).status).toBe(200);
      prices.push(before - stand.creditsLeft);
    }
    expect(prices).toEqual([10, 10, 10]);
    expect(stand.facts.map(({ credits }) => credits)).toEqual(prices);
  });

  test("are kept for five minutes, and no longer, and not over a change of the chain", async () => {
    const asked = signatures(3);
    const calls = () => stand.rpc.calls.filter(({ method }) => method === "getTransaction").length;
    await stand.parse(asked);
    const first = calls();
    stand.clock.advance(299_999);
    const kept = await stand.parse(asked);
    expect([kept.body.cached, kept.headers.get("x-cache-status"), calls()]).toEqual([true, "HIT", first]);
    stand.chain = "chain 2";
    expect((await stand.parse(asked)).body.cached).toBe(false);
    stand.chain = "chain 1";
    stand.clock.advance(1);
    expect((await stand.parse(asked)).body.cached).toBe(false);
  });

  test("that nobody knows are answered in their place", async () => {
    const [one] = signatures(1);
    const { status, body } = await stand.parse([absent, one]);
    expect(status).toBe(200);
    expect(body.data[0]).toEqual({ signature: absent, error: "NOT_FOUND" });
    expect(body.data[1].signature).toBe(one);
  });

  test("that a node gives in a form that cannot be read fail alone among others, and cost nothing alone", async () => {
    const [one, other] = signatures(2);
    const { respond } = stand.rpc;
    stand.rpc.respond = (call) =>
      call.params?.includes(String(one))
        ? answerOf('{"slot":1,"blockTime":null,"transaction":["AA==","base64"]}')
        : respond(call);
    const among = await stand.parse([one, other]);
    expect([among.status, among.body.data[0], among.body.data[1].signature]).toEqual([
      200,
      { signature: one, error: "PARSING_FAILED" },
      other,
    ]);
    const before = stand.creditsLeft;
    const { status, body } = await stand.parse([one]);
    expect({ status, body }).toEqual({
      status: 500,
      body: {
        success: false,
        error: "The transaction could not be parsed",
        message: "The transaction could not be parsed",
        error_code: "PARSING_FAILED",
      },
    });
    expect(stand.creditsLeft).toBe(before);
  });

  test("of which a node gives another one are not taken for it", async () => {
    const [one, other] = signatures(2);
    const { respond } = stand.rpc;
    stand.rpc.respond = (call) =>
      respond({ ...call, params: call.params?.replace(String(one), String(other)) ?? null });
    expect((await stand.parse([one])).body.error_code).toBe("UPSTREAM_INVALID");
  });

  test("fail as a whole with 503 and nothing charged while no node can be asked", async () => {
    stand.rpc.respond = () => ({ ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false });
    const before = stand.creditsLeft;
    const { status, body, headers } = await stand.parse(signatures(2));
    expect([status, body.error_code, body.success, headers.get("retry-after")]).toEqual([
      503,
      "NETWORK_UNAVAILABLE",
      false,
      "1",
    ]);
    expect(stand.creditsLeft).toBe(before);
  });
});

describe("a request that is not one", () => {
  const refusedBodies: readonly (readonly [string, unknown, string])[] = [
    ["no list", "x", "transactions must be a list, not a string"],
    ["an empty list", [], "transactions must name at least one transaction"],
    ["more than 100", Array.from({ length: 101 }, () => absent), "transactions must name at most 100 transactions"],
    ["what is no signature", ["abc"], "transactions.0 must be a signature: 64 bytes in base58"],
    ["a signature of too many bytes", ["z".repeat(88)], "transactions.0 must be a signature: 64 bytes in base58"],
  ];
  for (const [what, transactions, message] of refusedBodies) {
    test(`${what}: 400 INVALID_REQUEST, with what is wrong, and nothing charged`, async () => {
      const { status, body } = await stand.parse(transactions);
      expect({ status, body }).toEqual({
        status: 400,
        body: { success: false, error: "Invalid request", message, error_code: "INVALID_REQUEST" },
      });
      expect(stand.creditsLeft).toBe(1_000_000);
    });
  }

  test("of another method, path or network is answered in the envelope too", async () => {
    const [method, path, network] = await Promise.all([
      stand.ask("/api/v1/v0/transactions"),
      stand.ask("/api/v1/v0/nothing"),
      stand.ask(`/api/v1/v0/token/${absent}?network=moon`),
    ]);
    expect([method.status, method.body.error_code, method.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      "POST",
    ]);
    expect([path.status, path.body.error_code]).toEqual([404, "NOT_FOUND"]);
    expect([network.status, network.body.error_code]).toEqual([400, "INVALID_REQUEST"]);
  });
});

describe("a key", () => {
  test("that is missing, restricted, without permission, or without access is refused in this order", async () => {
    const asked = signatures(1);
    const codes: string[] = [];
    const refuse = async (): Promise<void> => {
      const { status, body } = await stand.parse(asked);
      codes.push(`${status} ${body.error_code}`);
    };
    stand.grant = {
      ...grantOfTests,
      permissions: [],
      enhanced: { ...grantOfTests.enhanced, isAllowed: false },
    };
    stand.isLimited = true;
    stand.restriction = "IP_NOT_ALLOWED";
    codes.push(
      (await stand.ask("/api/v1/v0/transactions", { method: "POST", headers: { "x-api-key": "bad" } })).body.error_code,
    );
    await refuse();
    stand.restriction = null;
    await refuse();
    stand.grant = { ...stand.grant, permissions: ["read"] };
    await refuse();
    stand.grant = grantOfTests;
    await refuse();
    stand.isLimited = false;
    stand.creditsLeft = 9;
    await refuse();
    expect(codes).toEqual([
      "INVALID_API_KEY",
      "403 IP_NOT_ALLOWED",
      "403 PERMISSION_DENIED",
      "403 ENHANCED_API_DISABLED",
      "429 RATE_LIMIT_EXCEEDED",
      "402 INSUFFICIENT_CREDITS",
    ]);
    expect(stand.refused).toEqual(["INVALID_API_KEY"]);
    expect(stand.rpc.calls).toEqual([]);
  });

  test("takes tokens of the buckets of this API alone, and is told its rate", async () => {
    const { headers } = await stand.parse(signatures(1));
    expect(stand.metered).toEqual(["enhanced:acc_1 1"]);
    expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-burst")]).toEqual(["1000", "2000"]);
  });

  test("of which a request was refused by its rate is told when to come again", async () => {
    stand.isLimited = true;
    const { status, headers } = await stand.parse(signatures(1));
    expect([status, headers.get("retry-after")]).toEqual([429, "2"]);
  });
});

describe("where helius-sdk calls", () => {
  test("transactions are a bare list, and failures are those of other paths", async () => {
    const asked = signatures(2);
    const { body } = await stand.parse(asked, "/v0/transactions?api-key=good&commitment=finalized");
    expect(body.map((each: { signature: string }) => each.signature)).toEqual(asked);
    const failed = await stand.parse([], "/v0/transactions");
    expect([failed.status, failed.body.code, failed.headers.get("content-type")]).toEqual([
      400,
      "INVALID_INPUT",
      "application/problem+json",
    ]);
  });

  test("transactions of an address are the newest first, and obey type and place", async () => {
    const [first] = placed().slice(-1);
    const address = new TransactionView(first?.transaction ?? placed()[0]?.transaction ?? fail()).keys[0] ?? "";
    const named = placed().filter(({ transaction }) => new TransactionView(transaction).keys.includes(address));
    const newest = named.toReversed().slice(0, 100);
    const path = `/v0/addresses/${address}/transactions`;
    const all = await stand.ask(path);
    expect(all.status).toBe(200);
    expect(all.body).toEqual(await Promise.all(newest.map(recordOf)));
    expect(stand.facts.at(-1)?.credits).toBe(15);
    const [{ type } = { type: "" }] = all.body;
    const typed = await stand.ask(`${path}?type=${type}&limit=1`);
    expect(typed.body).toEqual([all.body[0]]);
    const none = await stand.ask(`${path}?lt-slot=1`);
    expect(none.body).toEqual([]);
    expect((await stand.ask(`${path}?sort-order=up`)).status).toBe(400);
  });

  test("transactions of an address by type go on behind the last that was looked at, to the end and without a gap", async () => {
    const [newest] = placed().slice(-1);
    const address = new TransactionView(newest?.transaction ?? fail()).keys[0] ?? "";
    const named = placed().filter(({ transaction }) => new TransactionView(transaction).keys.includes(address));
    const typeOf = ({ transaction }: (typeof named)[number]) => parseTransaction(new TransactionView(transaction)).type;
    const type = typeOf(named.at(-1) ?? fail());
    for (const [order, edge] of [
      ["desc", "before-signature"],
      ["asc", "after-signature"],
    ] as const) {
      for (const filter of [`&type=${type}`, ""]) {
        const found: string[] = [];
        let [next, pages] = ["", 0];
        do {
          const query = `limit=2&sort-order=${order}${filter}${next === "" ? "" : `&${edge}=${next}`}`;
          const { body, headers } = await stand.ask(`/v0/addresses/${address}/transactions?${query}`);
          found.push(...body.map(({ signature }: { signature: string }) => signature));
          next = headers.get("x-next-signature") ?? "";
          pages += 1;
        } while (next !== "" && pages < 500);
        const wanted = named.filter((each) => filter === "" || typeOf(each) === type);
        const ordered = order === "asc" ? wanted : wanted.toReversed();
        expect(found).toEqual(ordered.map(({ transaction }) => transaction.signature));
      }
    }
  }, 60_000);

  test("an address without end costs a bounded number of calls and time, and says where to go on", async () => {
    let [told, tookMs] = [0, 0];
    const nameOf = (number: number) => `${"5".repeat(80)}${String(1_000_000 + number).replaceAll("0", "z")}`;
    stand.rpc.respond = ({ method, params }) => {
      if (method !== "getSignaturesForAddress") return answerOf("null");
      stand.clock.advance(tookMs);
      const [, { limit }] = JSON.parse(params ?? "[]");
      const infos = Array.from({ length: limit }, () => {
        told += 1;
        return { signature: nameOf(told), slot: 10_000_000 - told, err: null, memo: null, blockTime: null };
      });
      return answerOf(JSON.stringify(infos));
    };
    const path = (number: number) => `/v0/addresses/${addressOf(number)}/transactions?type=NFT_SALE&limit=5`;
    const { status, body, headers } = await stand.ask(path(1));
    expect([status, body, told, headers.get("x-next-signature")]).toEqual([200, [], 1_000, nameOf(1_000)]);
    expect(headers.get("access-control-expose-headers")).toContain("X-Next-Signature");
    [told, tookMs] = [0, 1_500];
    const slow = await stand.ask(path(2));
    // The third call ends after four seconds.
    expect([told, slow.headers.get("x-next-signature")]).toEqual([300, nameOf(300)]);
    // All that follow lie below the bound of slots.
    [told, tookMs] = [0, 0];
    const bounded = await stand.ask(`${path(3)}&gte-slot=9999850`);
    expect([told, bounded.headers.get("x-next-signature")]).toEqual([200, null]);
  });

  test("transactions of an address are the oldest first where that is asked for, within bounds", async () => {
    const [first] = placed().slice(-1);
    const address = new TransactionView(first?.transaction ?? fail()).keys[0] ?? "";
    const named = placed().filter(({ transaction }) => new TransactionView(transaction).keys.includes(address));
    const texts = (places: readonly ReturnType<typeof placed>[number][]) =>
      places.map(({ transaction }) => transaction.signature);
    const ask = async (query: string, path = "/v0") => {
      const { status, body } = await stand.ask(`${path}/addresses/${address}/transactions?sort-order=asc${query}`);
      const list = path === "/v0" ? body : body.data;
      return status === 200 ? list.map(({ signature }: { signature: string }) => signature) : [status, body.code];
    };
    expect(await ask("")).toEqual(texts(named.slice(0, 100)));
    expect(await ask("&limit=2", "/api/v1/v0")).toEqual(texts(named.slice(0, 2)));
    const [low = fail(), high = fail()] = [named[1], named.at(-2)];
    const between = named.slice(2, -2);
    const bounds = `&after-signature=${low.transaction.signature}&before-signature=${high.transaction.signature}`;
    expect(await ask(bounds)).toEqual(texts(between.slice(0, 100)));
    const { slot, blockTime } = low.place;
    const bySlot = named.filter(({ place }) => place.slot > slot && place.slot <= high.place.slot);
    expect(await ask(`&gt-slot=${slot}&lte-slot=${high.place.slot}`)).toEqual(texts(bySlot.slice(0, 100)));
    const byTime = named.filter(({ place }) => (place.blockTime ?? 0n) >= (blockTime ?? 0n));
    expect(await ask(`&gte-time=${blockTime}`)).toEqual(texts(byTime.slice(0, 100)));
    expect(await ask("&lt-slot=0")).toEqual([]);
    expect(await ask(`&after-signature=${absent}`)).toEqual([400, "INVALID_INPUT"]);
    const { type } = parseTransaction(new TransactionView(named[0]?.transaction ?? fail()));
    const typed = named.filter(({ transaction }) => parseTransaction(new TransactionView(transaction)).type === type);
    expect(await ask(`&type=${type}`)).toEqual(texts(typed.slice(0, 100)));
    expect((await ask("&token-accounts=balanceChanged")).length).toBeGreaterThanOrEqual(Math.min(100, named.length));
  });
});

test("who was admitted already needs no key, has the access and rate of his grant, and pays", async () => {
  const address = new TransactionView(placed()[0]?.transaction ?? fail()).keys[0] ?? "";
  const path = `/api/v1/v0/wallet/${address}/balances`;
  const before = stand.creditsLeft;
  expect((await stand.askAdmitted(path)).status).toBe(200);
  expect(before - stand.creditsLeft).toBe(15);
  expect(stand.facts.at(-1)).toMatchObject({ credits: 15, network: "devnet", accountId: stand.grant.accountId });
  expect(stand.metered.at(-1)).toStartWith("enhanced:");
  stand.grant = { ...grantOfTests, enhanced: { ...grantOfTests.enhanced, isAllowed: false } };
  expect((await stand.askAdmitted(path)).body.error_code).toBe("ENHANCED_API_DISABLED");
  stand.grant = grantOfTests;
  stand.isLimited = true;
  expect((await stand.askAdmitted(path)).status).toBe(429);
  expect(before - stand.creditsLeft).toBe(15);
});

function fail(): never {
  throw new Error("the chain has no transaction");
}

test("every request of a known key leaves a fact with its route, credits and whether it was kept", async () => {
  const asked = signatures(1);
  await stand.parse(asked);
  await stand.parse(asked);
  expect(
    stand.facts.map(({ method, cache, network, status, door }) => ({ method, cache, network, status, door })),
  ).toEqual(
    ["MISS", "HIT"].map((cache) => ({
      method: "POST /api/v1/v0/transactions",
      cache: cache as never,
      network: "devnet",
      status: 200,
      door: "rest" as never,
    })),
  );
});
