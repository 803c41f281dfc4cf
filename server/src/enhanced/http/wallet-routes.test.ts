import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as schemas from "@sluice/contract/schemas";
import { movementsOf, parserVersion, parseTransaction, TransactionView } from "@sluice/parser";
import { programs, wellKnownAddresses } from "@sluice/wire/programs";
import { grantOfTests } from "../../access/testing/grants.ts";
import { type DevnetRun, runDevnet } from "../../history/testing/devnet-blocks.ts";
import { parserRow } from "../../history/testing/held-activity.ts";
import { LedgerQueryError, LedgerUnavailableError } from "../../ledger/index.ts";
import { EnhancedStand } from "../testing/stand.ts";
import { transfersOf } from "../wallets/transfers.ts";

let run: DevnetRun;
let stand: EnhancedStand;
/** A wallet of the traffic with tokens, and its transactions, the newest first. */
let wallet: string;
let own: { readonly slot: bigint; readonly signature: string; readonly view: TransactionView }[];

beforeAll(async () => {
  run = await runDevnet(40);
  const views = run.blocks.flatMap(({ slot, transactions }) =>
    transactions.map((each) => ({ slot, signature: each.signature, view: new TransactionView(each) })),
  );
  const swaps = views.filter(({ view }) => parseTransaction(view).type === "SWAP");
  const payers = swaps.map(({ view }) => view.keys[0] ?? "");
  const countOf = (address: string): number => payers.filter((each) => each === address).length;
  wallet = payers.toSorted((one, other) => countOf(other) - countOf(one))[0] ?? "";
  own = views.filter(({ view }) => view.keys.includes(wallet)).toReversed();
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());
beforeEach(() => {
  stand = new EnhancedStand(run);
  // The chain is newer than the three days that a free key sees.
  stand.grant = { ...grantOfTests, tier: "developer" };
});

const root = (rest = "", address = wallet) => `/api/v1/v0/wallet/${address}${rest}`;

/** Follows a list to its end, as a client does. */
async function pages(path: string): Promise<{ readonly items: never[]; readonly pages: number }> {
  const items: never[] = [];
  let cursor = "";
  for (let page = 1; page <= 100; page += 1) {
    const { status, body } = await stand.ask(`${path}${cursor}`);
    expect(status).toBe(200);
    items.push(...(body.data.items as never[]));
    if (body.data.next_cursor === null) return { items, pages: page };
    cursor = `&cursor=${body.data.next_cursor}`;
  }
  throw new Error("the list does not end");
}

describe("a wallet's history", () => {
  test("is the parser's records of all that names it or its token accounts, each once, in either order", async () => {
    const desc = await pages(root("/history?limit=7&token_accounts=none"));
    expect(desc.items.map(({ signature }) => signature)).toEqual(own.map(({ signature }) => signature) as never[]);
    expect(desc.pages).toBeGreaterThan(1);
    const asc = await pages(root("/history?limit=100&order=asc&token_accounts=none"));
    expect(asc.items.map(({ signature }) => signature)).toEqual(
      own.map(({ signature }) => signature).toReversed() as never[],
    );
    const open = await pages(root("/history?limit=100"));
    expect(open.items.length).toBeGreaterThanOrEqual(desc.items.length);
    expect(schemas.walletHistory.safeParse({ items: open.items, next_cursor: null }).success).toBe(true);
  });

  test("by type and source has those alone, whatever rows the ledger has: none, this parser's or older ones", async () => {
    const older = (type: string) => () => ({ type, source: "nobody", version: parserVersion - 1 });
    const rows = { none: () => null, own: parserRow, wrong: older("TRANSFER"), swaps: older("SWAP") };
    for (const [name, rowOf] of Object.entries(rows)) {
      stand.held.rowOf = rowOf;
      stand.chain = `parsed ${name}`;
      const { items } = await pages(root("/history?limit=3&type=SWAP&token_accounts=none"));
      const swaps = own.filter(({ view }) => parseTransaction(view).type === "SWAP");
      expect(items.map(({ signature }) => signature)).toEqual(swaps.map(({ signature }) => signature) as never[]);
      const [first] = swaps;
      const source = first === undefined ? "" : parseTransaction(first.view).source;
      const bySource = await pages(root(`/history?limit=50&source=${source}&token_accounts=none`));
      expect(bySource.items.length).toBeGreaterThan(0);
      expect((await pages(root("/history?source=nobody"))).items).toEqual([]);
    }
  }, 60_000);

  test("is kept for two minutes and costs 15 credits, kept or not", async () => {
    const before = stand.creditsLeft;
    expect((await stand.ask(root("/history?limit=2"))).body.cached).toBe(false);
    stand.clock.advance(119_999);
    expect((await stand.ask(root("/history?limit=2"))).body.cached).toBe(true);
    stand.clock.advance(1);
    expect((await stand.ask(root("/history?limit=2"))).body.cached).toBe(false);
    expect(before - stand.creditsLeft).toBe(45);
  });

  test("is bounded by the tier: what is older is refused by name and not shown", async () => {
    const newestMs = Number(run.blocks.at(-1)?.blockTime) * 1_000;
    stand.clock.advance(newestMs + 30 * 86_400_000 - stand.clock.now());
    stand.grant = grantOfTests;
    const open = await stand.ask(root("/history"));
    expect([open.body.data.items, open.headers.get("x-data-since")]).toEqual([[], expect.any(String)]);
    const named = await stand.ask(root(`/history?since=${new Date(newestMs).toISOString()}`));
    expect([named.status, named.body.error_code]).toEqual([403, "TIER_REQUIRED"]);
  });
});

describe("a wallet's transfers", () => {
  test("are all that came and went, page by page, cut inside a transaction where it has many", async () => {
    const expected = own.flatMap(({ signature, view }) =>
      transfersOf(movementsOf(view), wallet).map(({ amount, direction }) => `${signature} ${direction} ${amount}`),
    );
    for (const limit of [1, 5, 100]) {
      const { items } = await pages(root(`/transfers?limit=${limit}`));
      const found = (items as schemas.WalletTransfer[])
        .filter(({ signature }) => own.some((each) => each.signature === signature))
        .map(({ signature, direction, amount }) => `${signature} ${direction} ${amount}`);
      expect(found).toEqual(expected);
      expect(schemas.walletTransfers.safeParse({ items, next_cursor: null }).success).toBe(true);
    }
  }, 60_000);
});

describe("a wallet's balances", () => {
  test("are what nodes hold, valued by the oracle's prices exactly, the most valuable first", async () => {
    const plain = (await stand.ask(root("/balances?limit=100"))).body.data as schemas.WalletBalances;
    expect(schemas.walletBalances.safeParse(plain).success).toBe(true);
    expect([plain.value_usd, plain.native.price_usd]).toEqual([null, null]);
    const held = plain.items.find(({ decimals, is_nft }) => decimals !== null && decimals > 0 && !is_nft);
    if (held === undefined) throw new Error("the wallet holds no token");
    stand.prices.set(wellKnownAddresses.wrappedNativeMint, { symbol: "SOL", usd: "150.25" });
    stand.prices.set(held.mint, { symbol: "USDC", usd: "0.9998" });
    const { text, body } = await stand.ask(root("/balances?limit=1"));
    const [first] = body.data.items;
    expect(first.mint).toBe(held.mint);
    const micros = (BigInt(held.amount) * 9_998n * 1_000_000n) / (10_000n * 10n ** BigInt(held.decimals ?? 0));
    expect(first.value_usd).toBe(Number(micros) / 1e6);
    expect(body.data.native.symbol).toBe("SOL");
    expect(text).toContain(`"lamports":${plain.native.lamports}`);
    const native = (BigInt(plain.native.lamports) * 15_025n) / 100_000n;
    const worth = body.data.value_usd * 1e6;
    expect(Math.abs(worth - Number(native / 1n) - Number(micros))).toBeLessThan(2);
    const all = await pages(root("/balances?limit=1"));
    expect(new Set(all.items.map(({ mint }) => mint))).toEqual(new Set(plain.items.map(({ mint }) => mint) as never[]));
  });

  test("of an address that holds nothing are zeros", async () => {
    const { body } = await stand.ask(root("/balances", "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM"));
    expect([body.data.native.lamports, body.data.items, body.data.tokens_total]).toEqual([0, [], 0]);
  });

  test("are refused where nodes answer with something else, for nothing", async () => {
    const { respond } = stand.rpc;
    const before = stand.creditsLeft;
    stand.rpc.respond = async (call) => {
      if (call.method === "getTokenAccountsByOwner")
        return { ok: false, refused: "UPSTREAM_TIMEOUT", latencyMs: 1 } as never;
      return await respond(call);
    };
    const { status, body } = await stand.ask(root("/balances"));
    expect([status, body.error_code, stand.creditsLeft]).toEqual([504, "UPSTREAM_TIMEOUT", before]);
  });
});

describe("a wallet's figures", () => {
  test("count its transactions by day and type, and name who it dealt with", async () => {
    const { status, body } = await stand.ask(root());
    expect(status).toBe(200);
    const figures = body.data as schemas.WalletAnalytics;
    expect(schemas.walletAnalytics.safeParse(figures).success).toBe(true);
    const { activity } = figures;
    expect(activity.transactions).toBeGreaterThanOrEqual(own.length);
    expect(activity.days.reduce((sum, { transactions }) => sum + transactions, 0)).toBe(activity.transactions);
    expect(activity.types.reduce((sum, { transactions }) => sum + transactions, 0)).toBe(activity.types_of);
    expect(activity.types.find(({ type }) => type === "SWAP")?.transactions).toBe(
      own.filter(({ view }) => parseTransaction(view).type === "SWAP").length,
    );
    expect(activity.complete).toBe(true);
    expect(figures.last_seen?.slot).toBeGreaterThanOrEqual(Number(own[0]?.slot));
    expect(figures.first_seen?.slot).toBeLessThanOrEqual(Number(own.at(-1)?.slot));
    expect(figures.reach.token_accounts_watched).toBeLessThanOrEqual(figures.reach.token_accounts);
    // Rows of an older parser count as none.
    const older = () => ({ type: "UNKNOWN", source: "", version: parserVersion - 1 });
    for (const rowOf of [parserRow, older]) {
      stand.held.rowOf = rowOf;
      stand.chain = `parsed by ${rowOf.name}`;
      const parsed = (await stand.ask(root())).body.data.activity;
      expect(parsed.types).toEqual(activity.types);
    }
    // Rows of a newer one stand, as they do for every reader.
    stand.held.rowOf = () => ({ type: "STAKE", source: "", version: parserVersion + 1 });
    stand.chain = "parsed by a newer release";
    const newer = (await stand.ask(root())).body.data.activity;
    expect(newer.types).toEqual([{ type: "STAKE", transactions: activity.types_of }]);
    stand.held.rowOf = parserRow;
  });

  test("say how often and in which direction it dealt with each partner, the most frequent first", async () => {
    const { activity } = (await stand.ask(root())).body.data as schemas.WalletAnalytics;
    const transfers = activity.counterparties.map(({ transfers_in, transfers_out }) => transfers_in + transfers_out);
    expect(transfers.length).toBeGreaterThan(0);
    expect(transfers).toEqual(transfers.toSorted((one, other) => other - one));
    for (const each of activity.counterparties) {
      expect(each.transfers_in + each.transfers_out).toBeGreaterThan(0);
      // What came or went as lamports was at least one transfer in that direction.
      expect([each.transfers_in > 0, each.transfers_out > 0]).toEqual([
        each.transfers_in > 0 || each.lamports_in > 0,
        each.transfers_out > 0 || each.lamports_out > 0,
      ]);
    }
  });

  test("cost 25 credits, are kept for two minutes, and are read once for all who ask at one time", async () => {
    const before = stand.creditsLeft;
    const balances = () => stand.rpc.calls.filter(({ method }) => method === "getBalance").length;
    const asked = await Promise.all(Array.from({ length: 20 }, () => stand.ask(root())));
    expect(asked.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect([before - stand.creditsLeft, balances()]).toEqual([500, 1]);
    expect((await stand.ask(root())).body.cached).toBe(true);
  });

  test("of a program that all use end in bounded work, with what was looked at", async () => {
    const { status, body } = await stand.ask(root("", programs.vote));
    expect(status).toBe(200);
    expect(body.data.identity).toMatchObject({ type: "program", name: "Vote" });
    expect(body.data.activity.counterparties_of).toBeLessThanOrEqual(1_000);
  });
});

describe("hostile and unlucky requests", () => {
  const hostile = ["x", "%00", "' OR 1=1 --", "1".repeat(45), "..%2f..%2fetc", "0".repeat(44), "é".repeat(40)];
  const lists = ["", "/balances", "/transfers", "/history"];

  test("are refused with the member's name and cost nothing", async () => {
    const before = stand.creditsLeft;
    for (const address of hostile) {
      for (const list of lists) {
        const { status, body } = await stand.ask(root(list, encodeURIComponent(address)));
        expect([status, body.error_code, body.success]).toEqual([400, "INVALID_REQUEST", false]);
        expect(body.message).toStartWith("address ");
      }
    }
    const wrong = [
      "/history?limit=0",
      "/history?limit=101",
      "/history?type=NOTHING",
      "/history?order=up",
      "/history?cursor=AAAA",
      "/history?since=yesterday",
      "/history?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
      `/history?source=${"x".repeat(65)}`,
      "/transfers?limit=1e3",
      "/transfers?cursor=%ff",
      "/balances?limit=-1",
      "/balances?zero=perhaps",
      "/balances?cursor=bm90aGluZw",
    ];
    for (const path of wrong) {
      const { status, body } = await stand.ask(root(path));
      expect([path, status, body.error_code]).toEqual([path, 400, "INVALID_REQUEST"]);
    }
    expect(stand.creditsLeft).toBe(before);
  });

  test("a cursor goes on with its own list alone", async () => {
    const { body } = await stand.ask(root("/history?limit=1&token_accounts=none"));
    const cursor = body.data.next_cursor;
    for (const other of [
      `/history?limit=1&cursor=${cursor}`,
      `/transfers?cursor=${cursor}`,
      `/balances?cursor=${cursor}`,
    ]) {
      expect((await stand.ask(root(other))).status).toBe(400);
    }
    expect((await stand.ask(root(`/history?limit=1&token_accounts=none&cursor=${cursor}`))).status).toBe(200);
  });

  test("while the ledger is away or busy are told so and cost nothing", async () => {
    const before = stand.creditsLeft;
    const failures = [
      [new LedgerUnavailableError("away"), 503, "STORE_UNAVAILABLE"],
      [new LedgerQueryError(159, "too slow"), 503, "OVERLOADED"],
    ] as const;
    for (const [fault, status, code] of failures) {
      stand.held.fault = fault;
      for (const list of ["", "/transfers", "/history"]) {
        const answer = await stand.ask(root(list));
        expect([answer.status, answer.body.error_code]).toEqual([status, code]);
        expect(answer.text).not.toContain("too slow");
      }
    }
    expect(stand.creditsLeft).toBe(before);
    stand.held.fault = null;
    expect((await stand.ask(root("/history"))).status).toBe(200);
  });

  test("of a key without access, credits or rate are refused before anything is read", async () => {
    stand.grant = { ...grantOfTests, enhanced: { ...grantOfTests.enhanced, isAllowed: false } };
    expect((await stand.ask(root())).body.error_code).toBe("ENHANCED_API_DISABLED");
    stand = new EnhancedStand(run);
    stand.creditsLeft = 24;
    expect((await stand.ask(root())).body.error_code).toBe("INSUFFICIENT_CREDITS");
    stand.isLimited = true;
    expect((await stand.ask(root())).status).toBe(429);
    expect(stand.rpc.calls).toEqual([]);
  });
});
