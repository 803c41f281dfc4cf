import type { SqlQuery } from "@sluice/contract/schemas";
import { systemClock } from "@sluice/lib";
import { type Ledger, openLedger } from "../../ledger/index.ts";
import { fact, ledgerDirectory, recordingLog } from "../../ledger/testing/ledger-directory.ts";
import { createMetrics } from "../../observe/index.ts";
import { Analytics, type AnalyticsOptions, type SqlBill, type SqlCaller } from "../analytics.ts";
import { createAnalyticsEvents } from "../events.ts";

/** What a query gave: its parsed JSON body, or the code and the text of its failure. */
export type Asked =
  | {
      readonly ok: true;
      readonly rows: unknown[][];
      readonly columns: { name: string; type: string }[];
      readonly credits: number;
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };

/** SQL over a ledger of its own, with an account that has credits enough. */
export interface SqlStand extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly analytics: Analytics;
  readonly bill: SqlBill;
  /** What was taken of the account's credits, refunds counted off. */
  readonly taken: () => number;
  ask(query: string, more?: Partial<SqlQuery> & { readonly caller?: Partial<SqlCaller> }): Promise<Asked>;
}

export const standCaller: SqlCaller = {
  accountId: "acct_one",
  tier: "business",
  creditsMonthly: null,
  network: "devnet",
};

const at = Date.UTC(2026, 10, 20, 12);
const chain = (slot: number, blockhash: string) => ({ network: "devnet", slot, blockhash, block_time: at / 1_000, at });

/** Blocks 1 to 4, of which 3 has a fork that left the chain, with a transaction each; 1 and 2 are final. */
async function fill(ledger: Ledger): Promise<void> {
  const blocks = [
    chain(1, "hash1"),
    chain(2, "hash2"),
    chain(3, "dead3"),
    chain(3, "hash3"),
    chain(4, "hash4"),
    { ...chain(9, "other9"), network: "testnet" },
  ];
  // Twice, as a writer that was killed between an INSERT and its record does.
  for (const copy of [1, 2]) {
    await ledger.insert(
      "blocks",
      blocks.map((block) => ({ ...block, transactions: 1, fees: 5_000, leader: `leader of copy ${copy}` })),
    );
    const transactions = blocks.map((block) => ({
      ...block,
      transaction_index: 0,
      signature: `signature-${block.blockhash}`,
      success: true,
      fee: "18446744073709551615",
      fee_payer: "payer",
      accounts: ["payer", "payee"],
    }));
    await ledger.insert("transactions", transactions);
    await ledger.insert(
      "instructions",
      transactions.map((row) => ({ ...row, position: 0, program_id: "program", data: "abc" })),
    );
  }
  await ledger.command("INSERT INTO dropped_blocks SELECT 'devnet', 3, 'dead3', now64(3), 1, true, 1");
  await ledger.command(
    "INSERT INTO held_ranges (network, first_slot, until_slot, at, version) SELECT 'devnet', 1, 3, now64(3), 1",
  );
  const bundle = (id: string, accountId: string, state: string) => ({
    at,
    id,
    searcher_id: accountId,
    account_id: accountId,
    door: "rest",
    mev_type: "arbitrage",
    state,
    tip: 7,
    tip_seen: 7,
    signatures: [`signature of ${id}`],
    accepted_at: at,
    network: "devnet",
  });
  await ledger.insert("bundle_outcomes", [
    bundle("own-landed", "acct_one", "finalized"),
    bundle("own-dropped", "acct_one", "dropped"),
    bundle("their-landed", "acct_two", "finalized"),
    bundle("their-dropped", "acct_two", "dropped"),
  ]);
  await ledger.insert("oracle_candles_by_minute", [
    {
      at,
      symbol: "SOL",
      open: "150.5",
      high: "151",
      low: "150",
      close: "150.75",
      confidence: "0.01",
      sources: ["kraken"],
    },
  ]);
  for (const accountId of ["acct_one", "acct_one", "acct_two"]) ledger.requests.append(fact({ at, accountId }));
  await ledger.requests.flush();
}

export async function openSqlStand(
  options: AnalyticsOptions & { readonly creditsLeft?: () => number } = {},
): Promise<SqlStand> {
  const creditsLeft = options.creditsLeft ?? (() => Number.POSITIVE_INFINITY);
  const directory = ledgerDirectory();
  const ledger = await openLedger(
    { directory: directory.path, clickhouseUrl: null, cluster: null },
    { clock: systemClock, log: recordingLog() },
  );
  await fill(ledger);
  let taken = 0;
  const metrics = createMetrics({}, { clock: systemClock });
  const dependencies = {
    clock: systemClock,
    statements: ledger.customers,
    access: {
      charge: (_grant: unknown, cost: number) => {
        if (cost > creditsLeft()) return false;
        taken += cost;
        return true;
      },
      refund: (_grant: unknown, cost: number) => {
        taken -= cost;
      },
      shortage: (_grant: unknown, price: number) => ({
        message: "The query costs more than is left",
        details: { price, remaining: creditsLeft(), reset: new Date(at).toISOString() },
      }),
    },
    events: createAnalyticsEvents({ metrics }),
  };
  const analytics = new Analytics(options, dependencies);
  const bill: SqlBill = { credits: 0 };
  return {
    ledger,
    analytics,
    bill,
    taken: () => taken,
    async ask(query, { caller, ...more } = {}) {
      bill.credits = 0;
      const signal = new AbortController().signal;
      const question: SqlQuery = { query, parameters: {}, format: "json", max_rows: 100_000, ...more };
      try {
        const answer = await analytics.run({ ...standCaller, ...caller }, question, { signal, bill });
        const { rows, columns, credits } = JSON.parse(await new Response(answer.body).text());
        return { ok: true, rows, columns, credits };
      } catch (error) {
        const { code, message, details } = error as { code: string; message: string; details: Record<string, unknown> };
        return { ok: false, code, message, details };
      }
    },
    async [Symbol.asyncDispose]() {
      await metrics[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}
