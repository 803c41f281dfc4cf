import { SluiceError } from "@sluice/contract/errors";
import { newFault } from "../errors.ts";
import type { Db, Tx } from "../tables.ts";
import type { AcceptResult, StepResult, StoredBundle } from "./bundle-records.ts";
import { toBundle } from "./bundle-rows.ts";
import { type BundleStatements, bundleCells, type StepRow } from "./bundle-statements.ts";
import type { BundleContentRow, BundleRow } from "./tables.ts";

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

/** Of several with one id in a group the first is the one that is taken in. */
export async function writeAcceptances(
  tx: Tx,
  statements: BundleStatements,
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
  const found = await findBundles(tx, [...new Set(known.map(({ bundle }) => bundle.id))]);
  return items.map((item) => {
    if (fresh.has(item.bundle.id) && first.get(item.bundle.id) === item) return { fresh: true };
    const bundle = found.get(item.bundle.id);
    // Forgotten by another process between the two statements; another try takes it in.
    if (bundle === undefined) throw new SluiceError("OVERLOADED", { cause: newFault("OVERLOADED") });
    return { fresh: false, found: bundle };
  });
}

/** Steps of one bundle that share a group are made one after the other, those of different bundles at once. */
export async function writeSteps(
  tx: Tx,
  statements: BundleStatements,
  steps: readonly StepRow[],
): Promise<readonly StepResult[]> {
  const results = new Map<StepRow, StepResult>();
  let left = steps;
  while (left.length > 0) {
    const round = new Map<string, StepRow>();
    for (const step of left) if (!round.has(step.id)) round.set(step.id, step);
    await writeRound(tx, { statements, steps: [...round.values()] }, results);
    left = left.filter((step) => round.get(step.id) !== step);
  }
  return steps.map((step) => results.get(step) ?? { made: false, found: null });
}

/** Steps of different bundles. */
async function writeRound(
  tx: Tx,
  { statements, steps }: { readonly statements: BundleStatements; readonly steps: readonly StepRow[] },
  results: Map<StepRow, StepResult>,
): Promise<void> {
  const isEnd = ({ ended_at }: StepRow): boolean => ended_at !== null;
  const going = steps.filter((step) => !isEnd(step)).map(bundleCells.going);
  const ending = steps.filter(isEnd).map(bundleCells.end);
  const rows = [...(await statements.go.execute(tx, going)), ...(await statements.end.execute(tx, ending))];
  const made = new Set(rows.map(({ id }) => id));
  const outcomes = steps.flatMap(({ id, ended_at }) =>
    ended_at !== null && made.has(id) ? [{ bundle_id: id, ended_at }] : [],
  );
  await statements.insertOutcomes.execute(tx, outcomes.map(bundleCells.outcome));
  await statements.deleteContents.execute(
    tx,
    outcomes.map(({ bundle_id }) => [bundle_id]),
  );
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
