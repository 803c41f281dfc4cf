import { bundleStates } from "@sluice/contract/engine";
import type { StoreConnection } from "../connection.ts";
import type { GroupKind } from "../group-commit.ts";
import { beyond, readPageRequest, toPage } from "../paging.ts";
import type { Tx } from "../tables.ts";
import { checkAmount, checkCount, checkOneOf, checkSha256Hex, checkWhole, isIdentifier } from "../values.ts";
import type {
  AcceptResult,
  BundleStore,
  StepResult,
  StoredBundle,
  StoredBundleContent,
  StoredBundleStep,
  StoredBundleTerms,
} from "./bundle-records.ts";
import { signaturesText, toBundle, toBundleRow, toContentRow, toForwardedRow, toStandingRow } from "./bundle-rows.ts";
import { BundleStatements, bundleCells, type StepRow } from "./bundle-statements.ts";
import { bundleQuery, findBundles, type NewRows, writeAcceptances, writeSteps } from "./bundle-writes.ts";

const pageMax = 1_000;
const forgottenInOneGo = 500;
const notedInOneGo = 500;

export class Bundles implements BundleStore {
  readonly #connection: StoreConnection;
  readonly #statements: BundleStatements;
  readonly #acceptances: GroupKind<NewRows, AcceptResult, Tx>;
  readonly #steps: GroupKind<StepRow, StepResult, Tx>;

  constructor(connection: StoreConnection) {
    const statements = new BundleStatements(connection.driver);
    this.#connection = connection;
    this.#statements = statements;
    this.#acceptances = { apply: (tx, items) => writeAcceptances(tx, statements, items) };
    this.#steps = { apply: (tx, items) => writeSteps(tx, statements, items) };
  }

  async accept(bundle: StoredBundleTerms & StoredBundleContent): Promise<AcceptResult> {
    const rows = { bundle: toBundleRow(bundle), content: toContentRow(bundle.id, bundle) };
    return this.#connection.group(this.#acceptances, rows);
  }

  async step(step: StoredBundleStep): Promise<StepResult> {
    const row = { ...toStandingRow(step), id: checkSha256Hex("id", step.id), from: step.from };
    return this.#connection.group(this.#steps, row);
  }

  async open(id: string, opened: Parameters<BundleStore["open"]>[1]): Promise<boolean> {
    const { transactions } = toContentRow(id, { transactions: opened.transactions, sealed: null });
    const { lastValidBlockHeight } = opened;
    const changes = {
      signatures: signaturesText(opened.signatures),
      last_valid_block_height:
        lastValidBlockHeight === null ? null : checkAmount("lastValidBlockHeight", lastValidBlockHeight),
    };
    return this.#connection.group(openings, { id: checkSha256Hex("id", id), transactions, changes });
  }

  async noteForwarded(notes: Parameters<BundleStore["noteForwarded"]>[0]): Promise<void> {
    checkCount("notes", notes.length, notedInOneGo);
    const rows = notes.map(({ id, forwarded }) => bundleCells.forwarded({ id, ...toForwardedRow(forwarded) }));
    if (rows.length === 0) return;
    await this.#connection.transaction((tx) => this.#statements.noteForwarded.execute(tx, rows));
  }

  async get(id: string): Promise<StoredBundle | null> {
    if (!isIdentifier(id)) return null;
    const found = await this.#connection.run((db) => findBundles(db, [id]));
    return found.get(id) ?? null;
  }

  async live(after: Pick<StoredBundle, "id" | "receivedAt"> | null, limit: number): Promise<readonly StoredBundle[]> {
    const position = after === null ? null : { time: BigInt(after.receivedAt), id: after.id };
    return this.#connection.run(async (db) => {
      const rows = await bundleQuery(db)
        .where("ended_at", "is", null)
        .where(beyond({ time: "received_at", id: "id" }, position, "asc"))
        .orderBy("received_at")
        .orderBy("id")
        .limit(checkLimit(limit))
        .execute();
      return rows.map(toBundle);
    });
  }

  async list(question: Parameters<BundleStore["list"]>[0]): ReturnType<BundleStore["list"]> {
    const { limit, after } = readPageRequest("bundles", question);
    const { searcherId, state } = question;
    if (searcherId !== undefined && !isIdentifier(searcherId)) return { items: [], nextCursor: null };
    return this.#connection.run(async (db) => {
      let query = bundleQuery(db);
      if (searcherId !== undefined) query = query.where("searcher_id", "=", searcherId);
      if (state !== undefined) query = query.where("state", "=", checkOneOf("state", state, bundleStates));
      // Says again what the state means, so that the few live ones are found by their index.
      if (state === "accepted" || state === "included") query = query.where("ended_at", "is", null);
      const rows = await query
        .where(beyond({ time: "received_at", id: "id" }, after, "desc"))
        .orderBy("received_at", "desc")
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return toPage("bundles", limit, rows, toBundle, (row) => ({ time: row.received_at, id: row.id }));
    });
  }

  async untold(limit: number): Promise<readonly StoredBundle[]> {
    return this.#connection.run(async (db) => {
      const rows = await bundleQuery(db)
        .innerJoin("bundle_outcomes", "bundle_outcomes.bundle_id", "bundles.id")
        .orderBy("bundle_outcomes.ended_at")
        .orderBy("bundle_outcomes.bundle_id")
        .limit(checkLimit(limit))
        .execute();
      return rows.map(toBundle);
    });
  }

  async told(ids: readonly string[]): Promise<void> {
    checkCount("ids", ids.length, pageMax);
    if (ids.length === 0) return;
    const rows = ids.map((id) => [id]);
    await this.#connection.transaction((tx) => this.#statements.deleteOutcomes.execute(tx, rows));
  }

  async forget(endedBefore: number): Promise<number> {
    const before = checkWhole("endedBefore", endedBefore);
    return this.#connection.write(async (db) => {
      const old = db
        .selectFrom("bundles")
        .select("id")
        .where("ended_at", "<", before)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("bundle_outcomes")
                .select("bundle_id")
                .whereRef("bundle_outcomes.bundle_id", "=", "bundles.id"),
            ),
          ),
        )
        .orderBy("ended_at")
        .limit(forgottenInOneGo);
      const result = await db.deleteFrom("bundles").where("id", "in", old).executeTakeFirst();
      return Number(result.numDeletedRows);
    });
  }
}

function checkLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > pageMax) checkWhole("limit", -1);
  return limit;
}

interface Opening {
  readonly id: string;
  readonly transactions: Uint8Array;
  readonly changes: { readonly signatures: string; readonly last_valid_block_height: bigint | null };
}

/** Sealed bundles are few and opened once, so each costs its own two statements. */
const openings: GroupKind<Opening, boolean, Tx> = {
  apply: async (tx, items) => {
    const results: boolean[] = [];
    for (const { id, transactions, changes } of items) {
      const opened = await tx
        .updateTable("bundle_contents")
        .set({ transactions, sealed: null })
        .where("bundle_id", "=", id)
        .where("sealed", "is not", null)
        .executeTakeFirst();
      if (opened.numUpdatedRows > 0n) await tx.updateTable("bundles").set(changes).where("id", "=", id).execute();
      results.push(opened.numUpdatedRows > 0n);
    }
    return results;
  },
};
