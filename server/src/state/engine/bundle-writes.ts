import { sql } from "kysely";
import type { Db, Tx } from "../tables.ts";
import type { StepResult, StoredBundle, StoredBundleStep } from "./bundle-records.ts";
import { toBundle, toStandingRow } from "./bundle-rows.ts";
import type { BundleContentRow, BundleRow } from "./tables.ts";
import { cells, valueRows } from "./value-rows.ts";

export interface NewRows {
  readonly bundle: BundleRow;
  readonly content: BundleContentRow;
}

export function bundleQuery(db: Db) {
  return db
    .selectFrom("bundles")
    .leftJoin("bundle_contents", "bundle_contents.bundle_id", "bundles.id")
    .selectAll("bundles")
    .select(["bundle_contents.transactions", "bundle_contents.sealed"]);
}

/** Bundles by their ids; those that are not there are not in the map. */
export async function findBundles(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, StoredBundle>> {
  if (ids.length === 0) return new Map();
  const rows = await bundleQuery(db).where("bundles.id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, toBundle(row)]));
}

/** Steps of one bundle that share a group are made one after the other, those of different bundles at once. */
export async function writeSteps(tx: Tx, steps: readonly StoredBundleStep[]): Promise<readonly StepResult[]> {
  const results = new Map<StoredBundleStep, StepResult>();
  let left = steps;
  while (left.length > 0) {
    const round = new Map<string, StoredBundleStep>();
    for (const step of left) if (!round.has(step.id)) round.set(step.id, step);
    await writeRound(tx, [...round.values()], results);
    left = left.filter((step) => round.get(step.id) !== step);
  }
  return steps.map((step) => results.get(step) ?? { made: false, found: null });
}

/** Steps of different bundles. */
async function writeRound(
  tx: Tx,
  steps: readonly StoredBundleStep[],
  results: Map<StoredBundleStep, StepResult>,
): Promise<void> {
  const made = await updateStandings(tx, steps);
  const ended = steps.filter((step) => step.isEnd && made.has(step.id));
  if (ended.length > 0) {
    const outcomes = ended.map(({ id, to }) => ({ bundle_id: id, ended_at: BigInt(to.changedAt) }));
    await tx.insertInto("bundle_outcomes").values(outcomes).execute();
    const ids = ended.map(({ id }) => id);
    await tx.deleteFrom("bundle_contents").where("bundle_id", "in", ids).execute();
  }
  const failed = steps.filter((step) => !made.has(step.id));
  const found = await findBundles(
    tx,
    failed.map(({ id }) => id),
  );
  for (const step of steps) {
    const isMade = made.has(step.id);
    results.set(step, isMade ? { made: true } : { made: false, found: found.get(step.id) ?? null });
  }
}

/** The ids of the bundles that were in the state that their step starts from, and so have made it. */
async function updateStandings(tx: Tx, steps: readonly StoredBundleStep[]): Promise<ReadonlySet<string>> {
  const rows = steps.map((step) => {
    const to = toStandingRow(step);
    return cells(
      { text: step.id },
      { text: step.from },
      { text: to.state },
      { text: to.reason },
      { text: to.detail },
      { int: to.landed_slot },
      { text: to.landed_blockhash },
      { int: to.forwarded_times },
      { int: to.forwarded_slot },
      { text: to.forwarded_leader },
      { int: to.tip_seen },
      { int: to.compute_units },
      { int: to.changed_at },
      { int: to.ended_at },
    );
  });
  const result = await sql<{ id: string }>`update bundles set
      state = v.column3, reason = v.column4, detail = v.column5, landed_slot = v.column6, landed_blockhash = v.column7,
      forwarded_times = v.column8, forwarded_slot = v.column9, forwarded_leader = v.column10, tip_seen = v.column11,
      compute_units = v.column12, changed_at = v.column13, ended_at = v.column14
    from ${valueRows(rows)}
    where id = v.column1 and state = v.column2 and ended_at is null
    returning id`.execute(tx);
  return new Set(result.rows.map(({ id }) => id));
}
