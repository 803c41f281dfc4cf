import { bundleStates } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { AcceptResult, BundleRecord, BundleStep, BundleStore, NewBundle, StepResult } from "../bundle-records.ts";
import type { StoreConnection } from "../connection.ts";
import type { BundleContentRow, BundleRow } from "../engine-tables.ts";
import { newStateError } from "../errors.ts";
import type { GroupKind } from "../group-commit.ts";
import { beyond, readPageRequest, toPage } from "../paging.ts";
import type { Db, Tx } from "../tables.ts";
import { checkAmount, checkCount, checkOneOf, checkSha256Hex, checkWhole, isIdentifier } from "../values.ts";
import {
  followersText,
  signaturesText,
  toBundle,
  toBundleRow,
  toBundleStateRow,
  toContentRow,
  toForwardedRow,
} from "./bundle-rows.ts";
import { BundleStatements, bundleCells, type StepRow } from "./bundle-statements.ts";

export interface NewRows {
  readonly bundle: BundleRow;
  readonly content: BundleContentRow;
}

/** The bundles of one network, and what writes them. */
interface NetworkBundles {
  readonly network: Network;
  readonly statements: BundleStatements;
}

function bundleQuery(db: Db, network: Network) {
  return db
    .selectFrom("bundles")
    .leftJoin("bundle_contents", (join) =>
      join
        .onRef("bundle_contents.bundle_id", "=", "bundles.id")
        // A row without a network is of an earlier version, to which an id alone was the key.
        .on(({ or, eb }) =>
          or([eb("bundle_contents.network", "=", network), eb("bundle_contents.network", "is", null)]),
        ),
    )
    .where("bundles.network", "=", network)
    .selectAll("bundles")
    .select(["bundle_contents.transactions", "bundle_contents.sealed"]);
}

/** Bundles by their ids; those that are not there are not in the map. */
async function findBundles(
  db: Db,
  network: Network,
  ids: readonly string[],
): Promise<ReadonlyMap<string, BundleRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await bundleQuery(db, network).where("bundles.id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, toBundle(row)]));
}

/** Of several with one id in a group the first is the one that is taken in. */
async function writeAcceptances(
  tx: Tx,
  { network, statements }: NetworkBundles,
  items: readonly NewRows[],
): Promise<readonly AcceptResult[]> {
  const first = new Map<string, NewRows>();
  for (const item of items) if (!first.has(item.bundle.id)) first.set(item.bundle.id, item);
  // In one order everywhere, so that processes that take in the same bundles wait for each other and never deadlock.
  const sorted = [...first.values()].sort((left, right) => (left.bundle.id < right.bundle.id ? -1 : 1));
  const taken = await statements.accept.execute(
    tx,
    sorted.map(({ bundle }) => bundleCells.bundle(bundle)),
  );
  const fresh = new Set(taken.map(({ id }) => id));
  const contents = sorted.filter(({ bundle }) => fresh.has(bundle.id));
  await statements.insertContents.execute(
    tx,
    contents.map(({ content }) => bundleCells.content(content)),
  );
  const known = items.filter((item) => !fresh.has(item.bundle.id) || first.get(item.bundle.id) !== item);
  const found = await findBundles(tx, network, [...new Set(known.map(({ bundle }) => bundle.id))]);
  return items.map((item) => {
    if (fresh.has(item.bundle.id) && first.get(item.bundle.id) === item) return { fresh: true };
    const bundle = found.get(item.bundle.id);
    // Forgotten by another process between the two statements, and another try takes it in; or of another network.
    if (bundle === undefined) throw new SluiceError("OVERLOADED", { cause: newStateError("OVERLOADED") });
    return { fresh: false, found: bundle };
  });
}

/** Steps of one bundle that share a group are made one after the other, those of different bundles at once. */
async function writeSteps(tx: Tx, of: NetworkBundles, steps: readonly StepRow[]): Promise<readonly StepResult[]> {
  const results = new Map<StepRow, StepResult>();
  let left = steps;
  while (left.length > 0) {
    const round = new Map<string, StepRow>();
    for (const step of left) if (!round.has(step.id)) round.set(step.id, step);
    await writeRound(tx, { ...of, steps: [...round.values()] }, results);
    left = left.filter((step) => round.get(step.id) !== step);
  }
  return steps.map((step) => results.get(step) ?? { applied: false, found: null });
}

/** Steps of different bundles. */
async function writeRound(
  tx: Tx,
  { network, statements, steps }: NetworkBundles & { readonly steps: readonly StepRow[] },
  results: Map<StepRow, StepResult>,
): Promise<void> {
  const isEnd = ({ ended_at }: StepRow): boolean => ended_at !== null;
  const going = steps.filter((step) => !isEnd(step)).map(bundleCells.going);
  const ending = steps.filter(isEnd).map(bundleCells.end);
  const rows = [...(await statements.go.execute(tx, going)), ...(await statements.end.execute(tx, ending))];
  const created = new Set(rows.map(({ id }) => id));
  const outcomes = steps.flatMap(({ id, ended_at }) =>
    ended_at !== null && created.has(id) ? [{ bundle_id: id, ended_at, network }] : [],
  );
  await statements.insertOutcomes.execute(tx, outcomes.map(bundleCells.outcome));
  await statements.deleteContents.execute(
    tx,
    outcomes.map(({ bundle_id }) => [bundle_id]),
  );
  const failed = steps.filter((step) => !created.has(step.id));
  const found = await findBundles(
    tx,
    network,
    failed.map(({ id }) => id),
  );
  for (const step of steps) {
    const isMade = created.has(step.id);
    results.set(step, isMade ? { applied: true } : { applied: false, found: found.get(step.id) ?? null });
  }
}

const pageMax = 1_000;
const forgottenInOneGo = 500;
const notedInOneGo = 500;

export class Bundles implements BundleStore {
  readonly #connection: StoreConnection;
  readonly #network: Network;
  readonly #statements: BundleStatements;
  readonly #acceptances: GroupKind<NewRows, AcceptResult, Tx>;
  readonly #openings: GroupKind<Opening, boolean, Tx>;
  readonly #steps: GroupKind<StepRow, StepResult, Tx>;

  constructor(connection: StoreConnection, network: Network) {
    const statements = new BundleStatements(connection.driver, network);
    this.#connection = connection;
    this.#network = network;
    this.#statements = statements;
    this.#acceptances = { apply: (tx, items) => writeAcceptances(tx, { network, statements }, items) };
    this.#openings = { apply: (tx, items) => writeOpenings(tx, network, items) };
    this.#steps = { apply: (tx, items) => writeSteps(tx, { network, statements }, items) };
  }

  async accept(bundle: NewBundle, chain: string | null = null): Promise<AcceptResult> {
    const rows = {
      bundle: toBundleRow({ network: this.#network, chain }, bundle),
      content: toContentRow(this.#network, bundle),
    };
    return this.#connection.group(this.#acceptances, rows);
  }

  async step(step: BundleStep): Promise<StepResult> {
    const row = { ...toBundleStateRow(step), id: checkSha256Hex("id", step.id), from: step.from };
    return this.#connection.group(this.#steps, row);
  }

  async open(id: string, opened: Parameters<BundleStore["open"]>[1]): Promise<boolean> {
    const { transactions } = toContentRow(this.#network, { id, transactions: opened.transactions, sealed: null });
    const { lastValidBlockHeight } = opened;
    const changes = {
      signatures: signaturesText(opened.signatures),
      last_valid_block_height:
        lastValidBlockHeight === null ? null : checkAmount("lastValidBlockHeight", lastValidBlockHeight),
    };
    return this.#connection.group(this.#openings, { id: checkSha256Hex("id", id), transactions, changes });
  }

  async noteForwarded(notes: Parameters<BundleStore["noteForwarded"]>[0]): Promise<void> {
    checkCount("notes", notes.length, notedInOneGo);
    const rows = notes.map(({ id, forwarded }) => bundleCells.forwarded({ id, ...toForwardedRow(forwarded) }));
    if (rows.length === 0) return;
    await this.#connection.transaction((tx) => this.#statements.noteForwarded.execute(tx, rows));
  }

  async setFollowers(id: string, followers: readonly string[]): Promise<boolean> {
    const changes = { followers: followersText(followers) };
    return this.#connection.write(async (db) => {
      const query = db.updateTable("bundles").set(changes).where("id", "=", checkSha256Hex("id", id));
      const ofNetwork = query.where("network", "=", this.#network);
      const result = await ofNetwork.where("ended_at", "is", null).executeTakeFirst();
      return result.numUpdatedRows > 0n;
    });
  }

  async get(id: string): Promise<BundleRecord | null> {
    if (!isIdentifier(id)) return null;
    const found = await this.#connection.run((db) => findBundles(db, this.#network, [id]));
    return found.get(id) ?? null;
  }

  async live(after: Pick<BundleRecord, "id" | "receivedAt"> | null, limit: number): Promise<readonly BundleRecord[]> {
    const position = after === null ? null : { time: BigInt(after.receivedAt), id: after.id };
    return this.#connection.run(async (db) => {
      const rows = await bundleQuery(db, this.#network)
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
      let query = bundleQuery(db, this.#network);
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

  async unreported(limit: number): Promise<readonly BundleRecord[]> {
    return this.#connection.run(async (db) => {
      const rows = await bundleQuery(db, this.#network)
        .innerJoin("bundle_outcomes", (join) =>
          join
            .onRef("bundle_outcomes.bundle_id", "=", "bundles.id")
            .on(({ or, eb }) =>
              or([eb("bundle_outcomes.network", "=", this.#network), eb("bundle_outcomes.network", "is", null)]),
            ),
        )
        .orderBy("bundle_outcomes.ended_at")
        .orderBy("bundle_outcomes.bundle_id")
        .limit(checkLimit(limit))
        .execute();
      return rows.map(toBundle);
    });
  }

  async markReported(ids: readonly string[]): Promise<void> {
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
        .where("network", "=", this.#network)
        .where("ended_at", "<", before)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("bundle_outcomes")
                .select("bundle_id")
                .whereRef("bundle_outcomes.bundle_id", "=", "bundles.id")
                .where((outcome) =>
                  outcome.or([
                    outcome("bundle_outcomes.network", "=", this.#network),
                    outcome("bundle_outcomes.network", "is", null),
                  ]),
                ),
            ),
          ),
        )
        .orderBy("ended_at")
        .limit(forgottenInOneGo);
      const ofNetwork = db.deleteFrom("bundles").where("network", "=", this.#network);
      const result = await ofNetwork.where("id", "in", old).executeTakeFirst();
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
async function writeOpenings(tx: Tx, network: Network, items: readonly Opening[]): Promise<readonly boolean[]> {
  const results: boolean[] = [];
  for (const { id, transactions, changes } of items) {
    const opened = await tx
      .updateTable("bundle_contents")
      .set({ transactions, sealed: null })
      .where("bundle_id", "=", id)
      .where(({ or, eb }) => or([eb("network", "=", network), eb("network", "is", null)]))
      .where("sealed", "is not", null)
      .executeTakeFirst();
    const isOpened = opened.numUpdatedRows > 0n;
    if (isOpened) {
      await tx.updateTable("bundles").set(changes).where("id", "=", id).where("network", "=", network).execute();
    }
    results.push(isOpened);
  }
  return results;
}
