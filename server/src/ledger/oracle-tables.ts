import type { ColumnDefinition, TableDefinition } from "./table-definition.ts";

const time: ColumnDefinition = { name: "at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" };
const word = (name: string): ColumnDefinition => ({ name, type: "LowCardinality(String)" });
/** Exact, in the oracle's unit of 10^-18; up to twenty digits before the point. */
const decimal = (name: string): ColumnDefinition => ({ name, type: "Decimal(38, 18)", codec: "ZSTD" });
const perhaps = (name: string): ColumnDefinition => ({ name, type: "Nullable(Decimal(38, 18))", codec: "ZSTD" });
/** A moment that is not the row's own, in Unix milliseconds. */
const moment = (name: string): ColumnDefinition => ({ name, type: "Int64", codec: "DoubleDelta, ZSTD" });
const names: ColumnDefinition = { name: "sources", type: "Array(LowCardinality(String))", codec: "ZSTD" };

/**
 * Prices of single sources: at most one row for each source and symbol in ten seconds, to investigate a doubtful price.
 */
const oracleTicksTable: TableDefinition = {
  name: "oracle_ticks",
  timeColumn: "at",
  columns: [
    time,
    word("source"),
    word("symbol"),
    word("quote"),
    decimal("price"),
    perhaps("bid"),
    perhaps("ask"),
    perhaps("base_volume_24h"),
    perhaps("quote_volume_24h"),
    moment("as_of"),
  ],
  orderBy: ["symbol", "source", "at"],
  shardBy: "cityHash64(symbol)",
  keptDays: 30,
};

/** Aggregated prices: at most one row for each symbol in a second, and none without a change. */
const oracleRoundsTable: TableDefinition = {
  name: "oracle_rounds",
  timeColumn: "at",
  columns: [
    time,
    word("symbol"),
    decimal("price"),
    decimal("confidence"),
    // 0 in new rows (docs/decisions/0035); a released migration names it.
    decimal("band"),
    decimal("volume_24h"),
    perhaps("change_24h"),
    perhaps("high_24h"),
    perhaps("low_24h"),
    names,
  ],
  orderBy: ["symbol", "at"],
  shardBy: "cityHash64(symbol)",
  // A day more than the longest history that is read from it.
  keptDays: 8,
};

/**
 * Candles of one minute, from which every longer one is computed. A minute may have several rows, of a server that
 * ended within it and the one after: they are put together by `first_at` and `last_at`. Kept for ever.
 */
const oracleCandlesTable: TableDefinition = {
  name: "oracle_candles",
  timeColumn: "at",
  columns: [
    time,
    word("symbol"),
    moment("first_at"),
    moment("last_at"),
    decimal("open"),
    decimal("high"),
    decimal("low"),
    decimal("close"),
    decimal("volume_24h"),
    decimal("confidence"),
    names,
  ],
  orderBy: ["symbol", "at"],
  shardBy: "cityHash64(symbol)",
};

export const oracleTables: readonly TableDefinition[] = [oracleTicksTable, oracleRoundsTable, oracleCandlesTable];
