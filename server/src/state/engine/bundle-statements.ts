import type { Network } from "@sluice/contract/tiers";
import type { BundleContentRow, BundleOutcomeRow, BundleRow } from "../engine-tables.ts";
import type { StateDriver } from "../records.ts";
import { type CellType, cellsOf, namesOf, RowStatement, typesOf } from "../row-statement.ts";
import type { BundleStateRow } from "./bundle-rows.ts";

type Columns<Row> = Readonly<Record<keyof Row & string, CellType>>;

/** The columns that every step writes. */
const stateColumns: Columns<Omit<BundleStateRow, "ended_at">> = {
  state: "text",
  reason: "text",
  detail: "text",
  landed_slot: "bigint",
  landed_blockhash: "text",
  landed_index: "bigint",
  forwarded_times: "bigint",
  forwarded_slot: "bigint",
  forwarded_leader: "text",
  tip_seen: "bigint",
  compute_units: "bigint",
  changed_at: "bigint",
};
const bundleColumns: Columns<BundleRow> = {
  id: "text",
  searcher_id: "text",
  door: "text",
  signatures: "text",
  tip: "bigint",
  mev_type: "text",
  target_slot: "bigint",
  received_at: "bigint",
  accepted_slot: "bigint",
  last_valid_block_height: "bigint",
  expires_at: "bigint",
  ...stateColumns,
  ended_at: "bigint",
  followers: "text",
  network: "text",
  chain: "text",
};
const contentColumns: Columns<BundleContentRow> = {
  bundle_id: "text",
  transactions: "bytea",
  sealed: "bytea",
  network: "text",
};
const outcomeColumns: Columns<BundleOutcomeRow> = { bundle_id: "text", ended_at: "bigint", network: "text" };

/** Of which bundle, in which state, and what becomes of it. */
export type StepRow = BundleStateRow & { readonly id: string; readonly from: string };
/**
 * A step that nothing is the end of leaves the index of ends alone, which SQLite would write anew for the same value.
 */
type GoingRow = Omit<StepRow, "ended_at">;
export type ForwardedRow = Pick<BundleRow, "id" | "forwarded_times" | "forwarded_slot" | "forwarded_leader">;

const goingColumns: Columns<GoingRow> = {
  id: "text",
  from: "text",
  ...stateColumns,
};
const endColumns: Columns<StepRow> = { ...goingColumns, ended_at: "bigint" };
const forwardedColumns: Columns<ForwardedRow> = {
  id: "text",
  forwarded_times: "bigint",
  forwarded_slot: "bigint",
  forwarded_leader: "text",
};

interface WithId {
  readonly id: string;
}

/** `set` of an update from rows as `v`, for the columns from the one of this index on. */
const assignments = (columns: Readonly<Record<string, CellType>>, from: number): string =>
  Object.keys(columns)
    .slice(from)
    .map((name, index) => `${name} = v.column${from + index + 1}`)
    .join(", ");

/** The cells of each kind of row. */
export const bundleCells = {
  bundle: cellsOf<BundleRow, keyof BundleRow>(bundleColumns),
  content: cellsOf<BundleContentRow, keyof BundleContentRow>(contentColumns),
  outcome: cellsOf<BundleOutcomeRow, keyof BundleOutcomeRow>(outcomeColumns),
  going: cellsOf<GoingRow, keyof GoingRow>(goingColumns),
  end: cellsOf<StepRow, keyof StepRow>(endColumns),
  forwarded: cellsOf<ForwardedRow, keyof ForwardedRow>(forwardedColumns),
};

/** What is written of many bundles of one network at a time, in the words of one driver. */
export class BundleStatements {
  /** Returns the ids of those that were not there. */
  readonly accept: RowStatement<WithId>;
  readonly insertContents: RowStatement<never>;
  /**
   * Steps that end nothing, and steps that end their bundle. Both return the ids of those that started from that state.
   */
  readonly go: RowStatement<WithId>;
  readonly end: RowStatement<WithId>;
  readonly insertOutcomes: RowStatement<never>;
  /** By the bundles' ids. */
  readonly deleteContents: RowStatement<never>;
  readonly deleteOutcomes: RowStatement<never>;
  readonly noteForwarded: RowStatement<never>;

  constructor(driver: StateDriver, network: Network) {
    const insert = <Row>(table: string, columns: Readonly<Record<string, CellType>>, rest = ""): RowStatement<Row> =>
      new RowStatement(
        driver,
        typesOf(columns),
        (rows) => `insert into ${table} (${namesOf(columns)}) ${rows}${rest === "" ? "" : ` ${rest}`}`,
      );
    const deleteFrom = (table: string): RowStatement<never> =>
      new RowStatement(
        driver,
        ["text"],
        (rows) => `delete from ${table}
        where bundle_id in (${rows}) and (network = '${network}' or network is null)`,
      );
    // Of whatever key: until what contracts is applied (docs/decisions/0049), an id is in one network alone.
    this.accept = insert("bundles", bundleColumns, "on conflict do nothing returning id");
    this.insertContents = insert("bundle_contents", contentColumns);
    this.insertOutcomes = insert("bundle_outcomes", outcomeColumns);
    this.deleteContents = deleteFrom("bundle_contents");
    this.deleteOutcomes = deleteFrom("bundle_outcomes");
    const step = (columns: Readonly<Record<string, CellType>>): RowStatement<WithId> =>
      new RowStatement(
        driver,
        typesOf(columns),
        (rows) => `update bundles set ${assignments(columns, 2)} from (${rows}) as v
          where id = v.column1 and state = v.column2 and ended_at is null and network = '${network}' returning id`,
      );
    this.go = step(goingColumns);
    this.end = step(endColumns);
    this.noteForwarded = new RowStatement(
      driver,
      typesOf(forwardedColumns),
      (rows) => `update bundles set ${assignments(forwardedColumns, 1)} from (${rows}) as v
        where id = v.column1 and ended_at is null and network = '${network}'`,
    );
  }
}
