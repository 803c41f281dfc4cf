/** A column of a ledger table, in ClickHouse's own words. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly codec?: string;
}

/** An index by which parts of a table are skipped. */
export interface IndexDefinition {
  readonly name: string;
  readonly expression: string;
  readonly type: string;
  /** Granules that it holds together; the engine's own 1 when absent. */
  readonly granularity?: number;
}

/**
 * One table, from which both forms are generated. It is partitioned by the month of its DateTime64(3) column
 * `timeColumn` unless it says otherwise; rows carry that column as Unix milliseconds.
 */
export interface TableDefinition {
  readonly name: string;
  readonly columns: readonly ColumnDefinition[];
  readonly timeColumn: string;
  /** Expressions, separated by commas, of columns that the sorting key begins with. */
  readonly partitionBy?: string;
  /** The sorting key. */
  readonly orderBy: readonly string[];
  /** The part of the sorting key that is held in memory; all of it when absent. */
  readonly primaryKey?: readonly string[];
  /** Where a row lives in a cluster. It must depend on the row alone, so that a repeated batch meets its first copy. */
  readonly shardBy: string;
  /**
   * Rows of one sorting key are versions of one row: the engine keeps the last one in time, or the one with the highest
   * value of the named column, and a reader adds FINAL to see it so before. The sorting key then has in it what decides
   * the partition, since rows of two partitions never meet.
   */
  readonly replacing?: true | { readonly version: string };
  /**
   * The days that rows are kept by the table as it is created; absent keeps them for ever. `applyRetentions` changes it
   * afterwards to what operators set.
   */
  readonly keptDays?: number;
  readonly indexes?: readonly IndexDefinition[];
  /** Settings of the table, such as `index_granularity = 256`. */
  readonly settings?: readonly string[];
}
