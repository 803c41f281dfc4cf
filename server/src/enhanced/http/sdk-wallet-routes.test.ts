import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as schemas from "@sluice/contract/schemas";
import { movementsOf, parseTransaction, TransactionView } from "@sluice/parser";
import { programs, sysvars } from "@sluice/wire/programs";
import { grantOfTests } from "../../access/testing/grants.ts";
import { type DevnetRun, runDevnet } from "../../history/testing/devnet-blocks.ts";
import { answerOf } from "../../rpc/testing/rpc-stand.ts";
import { EnhancedStand } from "../testing/stand.ts";

let run: DevnetRun;
let stand: EnhancedStand;
let wallet: string;
let own: { readonly slot: bigint; readonly signature: string; readonly view: TransactionView }[];

beforeAll(async () => {
  run = await runDevnet(32);
  const views = run.blocks.flatMap(({ slot, transactions }) =>
    transactions.map((each) => ({ slot, signature: each.signature, view: new TransactionView(each) })),
  );
  wallet = views.findLast(({ view }) => parseTransaction(view).type === "SWAP")?.view.keys[0] ?? "";
  own = views.filter(({ view }) => view.keys.includes(wallet)).toReversed();
}, 60_000);
afterAll(() => run[Symbol.asyncDispose]());
beforeEach(() => {
  stand = new EnhancedStand(run);
  stand.grant = { ...grantOfTests, tier: "developer" };
});

const nobody = "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM";
const ask = (rest: string, address = wallet) => stand.ask(`/v1/wallet/${address}${rest}`);
const named = (addresses: unknown) =>
  stand.ask("/v1/wallet/batch-identity", {
    method: "POST",
    body: JSON.stringify({ addresses }),
    headers: { "content-type": "application/json" },
  });

describe("identities", () => {
  test("are told of programs, system accounts and wallets with a primary name, and of nothing else", async () => {
    stand.names.set(wallet, "alice.dev");
    const known = [programs.token, sysvars.clock, wallet];
    const found = await Promise.all(known.map(async (address) => (await ask("/identity", address)).body));
    expect(found.map(({ type, name }) => [type, name])).toEqual([
      ["program", expect.any(String)],
      ["sysvar", "Sysvar Clock"],
      ["wallet", "alice.dev"],
    ]);
    for (const identity of found) expect(schemas.walletIdentity.safeParse(identity).success).toBe(true);
    const { status, body } = await ask("/identity", nobody);
    expect([status, body.code]).toEqual([404, "IDENTITY_NOT_FOUND"]);
    expect(stand.facts.map(({ credits }) => credits)).toEqual([1, 1, 1, 1]);
    const many = await named([nobody, wallet, programs.token, wallet]);
    expect(many.body).toEqual([found[2], found[0], found[2]]);
    expect(stand.facts.at(-1)?.credits).toBe(4);
  });

  test("of hostile lists are refused", async () => {
    for (const addresses of [[], ["x"], Array.from({ length: 101 }, () => wallet), "x", [1], null]) {
      expect((await named(addresses)).status).toBe(400);
    }
  });
});

describe("lists in the shapes of helius-sdk", () => {
  test("balances have native currency first where it is worth most, pages, and NFTs apart", async () => {
    const { status, body } = await ask("/balances?showNfts=true&limit=2");
    expect(status).toBe(200);
    expect(schemas.sdkBalances.safeParse(body).success).toBe(true);
    const plain = await ask("/balances?showNative=false&page=10000");
    expect(plain.body).toMatchObject({ balances: [], totalUsdValue: 0, pagination: { hasMore: false } });
  });

  test("history is the newest first, goes on from its cursor, and goes forward from a signature", async () => {
    const found: string[] = [];
    let before = "";
    for (let page = 0; page < 50; page += 1) {
      const { status, body } = await ask(`/history?tokenAccounts=none&limit=9${before}`);
      expect(status).toBe(200);
      expect(schemas.sdkHistory.safeParse(body).success).toBe(true);
      found.push(...body.data.map(({ signature }: { signature: string }) => signature));
      if (!body.pagination.hasMore) break;
      before = `&before=${body.pagination.nextCursor}`;
    }
    expect(found).toEqual(own.map(({ signature }) => signature));
    const after = own.at(-1)?.signature ?? "";
    const forward = await ask(`/history?tokenAccounts=none&limit=3&after=${after}`);
    expect(forward.body.data.map(({ signature }: { signature: string }) => signature)).toEqual(
      own
        .toReversed()
        .slice(1, 4)
        .map(({ signature }) => signature),
    );
    const swaps = await ask("/history?type=SWAP&limit=2");
    expect(swaps.body.data.length).toBeGreaterThan(0);
    expect((await ask("/history?type=TOKEN_MINT")).body.data).toEqual([]);
  });

  test("history's changes of lamports are those of the balances, exactly", async () => {
    const { body } = await ask("/history?tokenAccounts=none&limit=100");
    for (const item of body.data as (typeof schemas.sdkHistory)["_output"]["data"]) {
      const { view } = own.find(({ signature }) => signature === item.signature) ?? { view: null };
      const at = view?.keys.indexOf(wallet) ?? -1;
      const change = (view?.meta?.postBalances[at] ?? 0n) - (view?.meta?.preBalances[at] ?? 0n);
      const told = item.balanceChanges.find(({ mint }) => mint === "SOL");
      expect(Math.round((told?.amount ?? 0) * 1e9)).toBe(Number(change));
    }
  });

  test("transfers go on from their cursor", async () => {
    const { body } = await ask("/transfers?limit=1");
    expect(schemas.sdkTransfers.safeParse(body).success).toBe(true);
    const next = await ask(`/transfers?limit=1&cursor=${body.pagination.nextCursor}`);
    expect(next.status).toBe(200);
    const both = await ask("/transfers?limit=2");
    expect([...body.data, ...next.body.data]).toEqual(both.body.data);
  });
});

describe("the past", () => {
  const pseudo = "So11111111111111111111111111111111111111111";

  test("a balance at a slot is what the last transaction until then left", async () => {
    for (const { slot, view } of own.slice(0, 5)) {
      const last = own.find((each) => each.slot <= slot);
      const at = last?.view.keys.indexOf(wallet) ?? -1;
      const { body } = await ask(`/balance-at?mint=${pseudo}&slot=${slot}`);
      expect(schemas.sdkBalanceAt.safeParse(body).success).toBe(true);
      expect([body.balanceRaw, body.asOf.signature]).toEqual([
        String(last?.view.meta?.postBalances[at]),
        last?.signature ?? "",
      ]);
      expect(view.keys).toContain(wallet);
    }
    const first = own.at(-1);
    const at = first?.view.keys.indexOf(wallet) ?? -1;
    const earlier = await ask(`/balance-at?mint=${pseudo}&slot=${Number(first?.slot) - 1}`);
    expect(earlier.body.balanceRaw).toBe(String(first?.view.meta?.preBalances[at]));
  });

  test("a balance of a token is the sum over the wallet's accounts", async () => {
    const token = own
      .flatMap(({ slot, view }) => (view.meta?.postTokenBalances ?? []).map((balance) => ({ slot, balance })))
      .find(({ balance }) => balance.owner === wallet);
    const { status, body } = await ask(`/balance-at?mint=${token?.balance.mint}&slot=${token?.slot}`);
    expect([status, body.balanceRaw, body.decimals]).toEqual([
      200,
      String(token?.balance.amount),
      token?.balance.decimals ?? 0,
    ]);
  });

  test("a moment is taken in seconds or as text, in UTC unless it says otherwise", async () => {
    const seconds = Number(run.blocks.at(-1)?.blockTime);
    const text = new Date(seconds * 1_000).toISOString();
    const times = [`time=${seconds}`, `datetime=${text}`, `datetime=${text.slice(0, 19).replace("T", " ")}`];
    const found = await Promise.all(times.map((time) => ask(`/balance-at?mint=${pseudo}&${time}`)));
    expect(new Set(found.map(({ body }) => body.balanceRaw)).size).toBe(1);
    expect(found[1]?.body.requested).toEqual({ time: seconds, slot: null, datetime: text });
    const wrong = ["", "&time=1&slot=2", "&time=-1", "&datetime=yesterday", "&datetime=2026-13-45", "&slot=x"];
    for (const query of wrong) expect((await ask(`/balance-at?mint=${pseudo}${query}`)).status).toBe(400);
    expect((await ask("/balance-at?mint=x&slot=1")).status).toBe(400);
  });

  test("of a wallet that was there before the ledger begins, funding is not guessed", async () => {
    const [first] = run.blocks.flatMap(({ transactions }) => transactions);
    if (first === undefined) throw new Error("the chain has no transaction");
    const { status, body } = await ask("/funded-by", new TransactionView(first).keys[0]);
    expect([status, body.code]).toEqual([404, "FUNDING_NOT_FOUND"]);
    expect(stand.facts.at(-1)?.credits).toBe(0);
    const funded = run.blocks
      .flatMap(({ transactions }) => transactions.map((each) => new TransactionView(each)))
      .flatMap((view) => {
        const at = view.keys.findIndex(
          (_key, index) => view.meta?.preBalances[index] === 0n && (view.meta?.postBalances[index] ?? 0n) > 0n,
        );
        return at < 0 || !view.succeeded ? [] : [view.keys[at] ?? ""];
      });
    const answers = await Promise.all(funded.slice(0, 20).map((address) => ask("/funded-by", address)));
    const found = answers.filter((answer) => answer.status === 200);
    expect(found.length).toBeGreaterThan(0);
    for (const answer of found) expect(schemas.sdkFunding.safeParse(answer.body).success).toBe(true);
  });
});

test("a funding is told where nothing can have come before it: by a whole ledger, or by nodes from the beginning", async () => {
  const named = new Set<string>();
  const [slot, address] =
    run.blocks
      .flatMap((block) => block.transactions.map((each) => [block.slot, new TransactionView(each)] as const))
      .flatMap(([at, view]) => {
        const fresh = view.keys.filter((key) => !named.has(key));
        for (const key of view.keys) named.add(key);
        // A transfer to an address that nothing has named before.
        const [moved] = view.succeeded ? movementsOf(view).native : [];
        return moved?.kind === "transfer" && moved.to !== null && fresh.includes(moved.to)
          ? [[at, moved.to] as const]
          : [];
      })
      .find(([at]) => at > 4n) ?? fail();
  const whole = await ask("/funded-by", address);
  expect(whole.status).toBe(200);
  expect(stand.rpc.calls).toEqual([]);
  const later = { ask: run.ask, blocks: run.blocks.filter((block) => block.slot >= slot), finalized: run.finalized };
  const asked = async (answers: Readonly<Record<string, string>>) => {
    stand = new EnhancedStand(later);
    stand.grant = { ...grantOfTests, tier: "developer" };
    const { respond } = stand.rpc;
    stand.rpc.respond = (call) => {
      const text = answers[call.method];
      return text === undefined ? respond(call) : answerOf(text);
    };
    const { status, body } = await ask("/funded-by", address);
    return status === 200 ? body : body.code;
  };
  // The ledger begins with the transaction itself; the development chain's nodes have all that was before.
  expect(await asked({})).toEqual(whole.body);
  expect(await asked({ getFirstAvailableBlock: "12" })).toBe("FUNDING_NOT_FOUND");
  const older = [{ signature: own[0]?.signature, slot: 1, err: null, memo: null, blockTime: null }];
  expect(await asked({ getSignaturesForAddress: JSON.stringify(older) })).toBe("FUNDING_NOT_FOUND");
});

function fail(): never {
  throw new Error("the chain has no such transaction");
}

test("hostile addresses are refused on every route with the member's name, for nothing", async () => {
  const before = stand.creditsLeft;
  for (const route of [
    "identity",
    "balances",
    "history",
    "transfers",
    "funded-by",
    `balance-at?slot=1&mint=${wallet}`,
  ]) {
    for (const address of ["x", "' OR 1=1 --", "1".repeat(45), "%00"]) {
      const { status, body } = await ask(`/${route}`, encodeURIComponent(address));
      expect([route, status, body.code]).toEqual([route, 400, "INVALID_INPUT"]);
    }
  }
  for (const query of ["limit=0", "limit=101", "before=x", "after=' OR 1=1", "tokenAccounts=some"]) {
    expect((await ask(`/history?${query}`)).status).toBe(400);
  }
  for (const query of ["page=0", "page=x", "limit=1000", "showNfts=perhaps"]) {
    expect((await ask(`/balances?${query}`)).status).toBe(400);
  }
  expect(stand.creditsLeft).toBe(before);
});
