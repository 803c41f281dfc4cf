import { bundleStates, SluiceError } from "@sluice/contract";
import { sql } from "kysely";
import type { StoreConnection } from "../connection.ts";
import { newFault } from "../errors.ts";
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
import { bundleQuery, findBundles, type NewRows, writeSteps } from "./bundle-writes.ts";
import { cells, valueRows } from "./value-rows.ts";

const pageMax = 1_000;
const forgottenInOneGo = 500;
const notedInOneGo = 500;

export class Bundles implements BundleStore {
  readonly #connection: StoreConnection;

  constructor(connection: StoreConnection) {
    this.#connection = connection;
  }

  async accept(bundle: StoredBundleTerms & StoredBundleContent): Promise<AcceptResult> {
    const rows = { bundle: toBundleRow(bundle), content: toContentRow(bundle.id, bundle) };
    return this.#connection.group(acceptances, rows);
  }

  async step(step: StoredBundleStep): Promise<StepResult> {
    checkSha256Hex("id", step.id);
    toStandingRow(step);
    return this.#connection.group(steps, { ...step });
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
    const rows = notes.map(({ id, forwarded }) => {
      const { forwarded_times, forwarded_slot, forwarded_leader } = toForwardedRow(forwarded);
      return cells({ text: id }, { int: forwarded_times }, { int: forwarded_slot }, { text: forwarded_leader });
    });
    if (rows.length === 0) return;
    await this.#connection.write((db) =>
      sql`update bundles set forwarded_times = v.column2, forwarded_slot = v.column3, forwarded_leader = v.column4
        from ${valueRows(rows)} where id = v.column1 and ended_at is null`.execute(db),
    );
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
    await this.#connection.write((db) => db.deleteFrom("bundle_outcomes").where("bundle_id", "in", ids).execute());
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

/** Of several with one id in a group the first is the one that is taken in. */
const acceptances: GroupKind<NewRows, AcceptResult, Tx> = {
  apply: async (tx, items) => {
    const first = new Map<string, NewRows>();
    for (const item of items) if (!first.has(item.bundle.id)) first.set(item.bundle.id, item);
    // In one order everywhere, so that processes that take in the same bundles wait for each other and never deadlock.
    const sorted = [...first.values()].sort((left, right) => (left.bundle.id < right.bundle.id ? -1 : 1));
    const taken = await tx
      .insertInto("bundles")
      .values(sorted.map(({ bundle }) => bundle))
      .onConflict((conflict) => conflict.column("id").doNothing())
      .returning("id")
      .execute();
    const fresh = new Set(taken.map(({ id }) => id));
    const contents = sorted.filter(({ bundle }) => fresh.has(bundle.id)).map(({ content }) => content);
    if (contents.length > 0) await tx.insertInto("bundle_contents").values(contents).execute();
    const known = items.filter((item) => !fresh.has(item.bundle.id) || first.get(item.bundle.id) !== item);
    const found = await findBundles(tx, [...new Set(known.map(({ bundle }) => bundle.id))]);
    return items.map((item) => {
      if (fresh.has(item.bundle.id) && first.get(item.bundle.id) === item) return { fresh: true };
      const bundle = found.get(item.bundle.id);
      // Forgotten by another process between the two statements; another try takes it in.
      if (bundle === undefined) throw new SluiceError("OVERLOADED", { cause: newFault("OVERLOADED") });
      return { fresh: false, found: bundle };
    });
  },
};

const steps: GroupKind<StoredBundleStep, StepResult, Tx> = { apply: writeSteps };

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
