import { describe, expect, test } from "bun:test";
import type { Ledger } from "../ledger.ts";
import type { SampledPool } from "../pool-samples.ts";

const day = 86_400_000;
const at = Date.UTC(2026, 10, 20);
const largest = 18446744073709551615n;

/** What the ledger promises of samples of stake pools, and of what wallets did with tokens. */
export function poolSamples(ledger: () => Ledger): void {
  describe("samples of stake pools", () => {
    // A run that finds the rows of one before is of another pool.
    const of: SampledPool = { network: "devnet", chain: "genesis", pool: crypto.randomUUID() };
    const sample = (atMs: number, changes: object = {}) => ({
      ...of,
      at: atMs,
      slot: 7n,
      epoch: 3n,
      last_update_epoch: 3n,
      total_lamports: largest,
      token_supply: 10n,
      decimals: 9,
      last_total_lamports: 8n,
      last_token_supply: 9n,
      epoch_ms: 172_800_000n,
      apy: -5_000_000n,
      mev_apy: 1n,
      ...changes,
    });
    const rows = [
      sample(at + 1),
      sample(at + 2, {
        ...{ epoch: 4n, last_update_epoch: 4n, total_lamports: 20n, apy: 6n },
        ...{ epochs: 3, counted_ms: 500_000_000n },
      }),
      // Nodes did not tell what the epoch brought, or the pool does not say what it held before.
      ...[{ epoch_ms: 0n }, { last_total_lamports: 0n }, { last_token_supply: 0n }].map((unknown, index) =>
        sample(at + 2, { at: at - 3 * day + index, epoch: 5n, last_update_epoch: 5n, apy: 0n, ...unknown }),
      ),
      // The end of an epoch, of which no rate is known.
      sample(at + 3, { last_update_epoch: 0n, total_lamports: 30n, apy: 0n }),
      sample(at + day, { last_update_epoch: 0n, total_lamports: 40n, apy: 0n }),
      sample(at + 1, { chain: "other", total_lamports: 1n }),
    ];

    test("a sample counts once, however often it was written, each of its own pool and chain", async () => {
      const validator = { ...of, at, epoch: 3n, vote: "v", stake: largest, paid: null, paid_on: null };
      for (const written of [rows, rows.slice(0, 2), [...rows].reverse()]) {
        await ledger().insert("pool_samples", written);
        await ledger().insert("pool_validator_samples", [validator]);
      }
      const { poolSamples: reads } = ledger();
      expect(await reads.firstAtMs(of)).toBe(at - 3 * day);
      expect(await reads.firstAtMs({ ...of, network: "testnet" })).toBeNull();
      expect(await reads.rates(of, 0)).toEqual([
        { epoch: 3n, epochs: 3n, apy: 6n, mevApy: 1n },
        { epoch: 2n, epochs: 1n, apy: -5_000_000n, mevApy: 1n },
      ]);
      expect(await reads.rates(of, at + 2)).toHaveLength(1);
      const [stored] = await ledger().query<{ n: string; stake: string; paid: string | null }>(
        "SELECT count() AS n, any(stake) AS stake, any(paid) AS paid FROM pool_validator_samples FINAL " +
          "WHERE pool = {pool:String}",
        { pool: of.pool },
      );
      expect(stored).toEqual({ n: "1", stake: String(largest), paid: null });
    });

    test("a day is its last sample, or its last one with a rate, and u64 are exact", async () => {
      const { poolSamples: reads } = ledger();
      const known = { slot: 7n, tokens: 10n, epoch: 3n };
      const unknown = { ...known, updatedIn: 0n, rate: null };
      const all = await reads.days(of, 0, "all");
      expect(all).toEqual([
        { ...unknown, day: "2026-11-17", atMs: at - 3 * day + 2, lamports: largest, epoch: 5n, updatedIn: 5n },
        { ...unknown, day: "2026-11-20", atMs: at + 3, lamports: 30n },
        { ...unknown, day: "2026-11-21", atMs: at + day, lamports: 40n },
      ]);
      const rate = { apy: 6n, lastLamports: 8n, lastTokens: 9n, periodMs: 500_000_000 };
      const counted = { ...known, epoch: 4n, updatedIn: 4n, lamports: 20n };
      expect(await reads.days(of, 0, "rated")).toEqual([{ ...counted, day: "2026-11-20", atMs: at + 2, rate }]);
      expect((await reads.days({ ...of, chain: "other" }, 0, "rated"))[0]?.rate?.periodMs).toBe(172_800_000);
      expect(await reads.beforeUpdate(of, 5n)).toEqual({ ...counted, atMs: at + 2 });
      expect(await reads.beforeUpdate(of, 4n)).toMatchObject({ atMs: at + 1, updatedIn: 3n });
      expect(await reads.beforeUpdate(of, 3n)).toBeNull();
      const first = { ...known, atMs: at + 1, lamports: largest, updatedIn: 3n };
      expect(await reads.lastUpTo(of, { fromMs: at, toMs: at + 1 })).toEqual(first);
      expect(await reads.lastUpTo(of, { fromMs: at, toMs: at })).toBeNull();
      const moments = [at, at + 1, at + 2, at + day - 1];
      expect([...(await reads.before(of, moments, day))].map(([moment, { atMs }]) => [moment - at, atMs - at])).toEqual(
        [
          [1, 1],
          [2, 2],
          [day - 1, 3],
        ],
      );
      expect(await reads.before(of, [], day)).toEqual(new Map());
    });
  });

  describe("tokens of wallets", () => {
    const [mint, owner] = [crypto.randomUUID(), crypto.randomUUID()];
    const place = { network: "devnet", slot: 9n, transaction_index: 2, blockhash: "hash", at };
    const places = [{ slot: 9n, index: 2 }];
    const change = (index: number, account: string, of: object) => ({
      ...place,
      account_index: index,
      account,
      before: 1n,
      after: largest,
      ...of,
    });

    test("are what transactions changed, minted and called, once however often they were written", async () => {
      const changes = [change(0, mint, { mint, owner }), change(1, "lamports", { mint: "", owner: "" })];
      const moved = { ...place, signature: "s", position: 0, kind: "mint", mint, amount: largest, to_owner: owner };
      const call = {
        ...place,
        signature: "s",
        position: 0,
        success: true,
        program_id: mint,
        accounts: ["a"],
        data: "\u0001",
      };
      for (let written = 0; written < 2; written += 1) {
        await ledger().insert("account_changes", changes);
        await ledger().insert("token_movements", [moved]);
        await ledger().insert("instructions", [call]);
      }
      const { tokenReads: reads } = ledger();
      const of = { network: "devnet", mint, owner } as const;
      const found = { slot: 9n, index: 2 };
      expect(await reads.changes(of, places)).toEqual([
        { ...found, atMs: at, account: mint, before: 1n, after: largest },
      ]);
      expect(await reads.minted(of, places)).toEqual([{ ...found, amount: largest }]);
      expect(await reads.calls("devnet", places, mint)).toEqual([
        { ...found, accounts: ["a"], data: Uint8Array.of(1) },
      ]);
      expect(await reads.lamports("devnet", places, ["lamports", mint])).toEqual([
        { ...found, account: "lamports", before: 1n, after: largest },
      ]);
      expect(await reads.changes(of, [])).toEqual([]);
      expect(await reads.changes({ ...of, owner: "' OR 1=1 --" }, places)).toEqual([]);
      expect(await reads.calls("testnet", places, mint)).toEqual([]);
    });
  });
}
