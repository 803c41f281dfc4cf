import { expect, test } from "bun:test";
import type { Ledger } from "../ledger.ts";

const largest = 18446744073709551615n;

/** Outcomes of bundles are counted once each, and told of those that are asked for. */
export function bundleFacts(ledger: () => Ledger): void {
  const day = 24 * 3_600_000;
  const from = Date.UTC(2024, 1, 28);
  const outcome = (id: string, at: number, changes: object = {}): object => ({
    at,
    id,
    searcher_id: "acct_1",
    account_id: "acct_1",
    door: "grpc",
    mev_type: "arbitrage",
    state: "finalized",
    reason: "",
    tip: 1_000n,
    tip_seen: 1_500n,
    compute_units: 300,
    signatures: [id],
    target_slot: null,
    accepted_at: at - 500,
    landed_slot: 7n,
    leader: "leader",
    forwarded_times: 1,
    ...changes,
  });
  const lost = { state: "expired", reason: "not_landed", tip: largest / 4n, tip_seen: null, landed_slot: null };
  const all = { network: "mainnet", fromMs: from, untilMs: from + 10 * day, searcherId: null, mevType: null } as const;

  test("a bundle counts once, however often and in whatever company its outcome was reported", async () => {
    const rows = [
      outcome("a", from),
      outcome("b", from + 2 * day, { mev_type: "jit", tip_seen: 2n ** 62n, compute_units: null, forwarded_times: 0 }),
      outcome("c", from + 2 * day, { ...lost, searcher_id: "pubkey:x", account_id: "" }),
      outcome("before", from - 1),
      outcome("after", from + 10 * day),
    ];
    for (const reported of [rows, rows.slice(1, 3), [...rows].reverse()])
      await ledger().insert("bundle_outcomes", reported);
    expect(await ledger().bundles.figures(all)).toEqual({
      ended: 3,
      landed: 2,
      forwarded: 2,
      landingRate: 2 / 3,
      tips: 2n ** 62n + 1_500n,
      tipsLost: largest / 4n,
      computeUnits: 300n,
    });
    const own = { ...all, searcherId: "acct_1" };
    expect(await ledger().bundles.figures(own)).toMatchObject({ ended: 2, landed: 2, tipsLost: 0n });
    expect(await ledger().bundles.figures({ ...all, mevType: "jit" })).toMatchObject({ ended: 1, tips: 2n ** 62n });
    const byType = await ledger().bundles.byMevType(all);
    expect(byType.map(({ mevType, ended, landed }) => [mevType, ended, landed])).toEqual([
      ["arbitrage", 2, 1],
      ["jit", 1, 1],
    ]);
    const byDay = await ledger().bundles.byDay(all);
    expect(byDay.map((each) => [each.day, each.ended, each.tips])).toEqual([
      ["2024-02-28", 1, 1_500n],
      ["2024-03-01", 2, 2n ** 62n],
    ]);
  });

  test("bundles of one id that end at one moment on two chains are two, and each network has its own", async () => {
    const id = crypto.randomUUID();
    const question = { ...all, fromMs: from - 5 * day, untilMs: from - 4 * day };
    const at = question.fromMs + 7;
    const chains = [
      { network: "mainnet", chain: "genesis-1", tip_seen: 1n },
      { network: "mainnet", chain: "genesis-2", tip_seen: 10n },
      { network: "devnet", chain: "genesis-1", tip_seen: 100n },
    ];
    for (const row of [...chains, ...chains]) await ledger().insert("bundle_outcomes", [outcome(id, at, row)]);
    expect(await ledger().bundles.figures(question)).toMatchObject({ ended: 2, tips: 11n });
    const devnet = { ...question, network: "devnet" } as const;
    expect(await ledger().bundles.figures(devnet)).toMatchObject({ ended: 1, tips: 100n });
    const testnet = { ...question, network: "testnet" } as const;
    expect(await ledger().bundles.figures(testnet)).toMatchObject({ ended: 0 });
  });

  test("bundles that landed are listed newest first, with slot and tip, each once, and no others", async () => {
    const listed = await ledger().bundles.newestLanded(all, 10);
    expect(listed.map(({ id, slot, tip }) => [id, slot, tip])).toEqual([
      ["b", 7n, 2n ** 62n],
      ["a", 7n, 1_500n],
    ]);
    expect((await ledger().bundles.newestLanded(all, 1)).map(({ id }) => id)).toEqual(["b"]);
  });

  test("of an unknown searcher's bundles, and of hostile names, the figures are zero", async () => {
    for (const searcherId of ["nobody", "' OR 1=1 --"]) {
      const none = await ledger().bundles.figures({ ...all, searcherId });
      expect([none.ended, none.landingRate, none.tips]).toEqual([0, 0, 0n]);
      expect(await ledger().bundles.byMevType({ ...all, searcherId })).toEqual([]);
    }
  });
}
