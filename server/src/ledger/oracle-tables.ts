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

/** Of versions before docs/decisions/0034: its rows are copied, and it is not read or written any more. */
const oracleRoundsTable: TableDefinition = {
  name: "oracle_rounds",
  timeColumn: "at",
  columns: [
    time,
    word("symbol"),
    decimal("price"),
    decimal("confidence"),
    // A released migration names it; no round has one any more (docs/decisions/0035).
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

/** As `oracle_rounds`: minutes of which each server that saw a part of one had written a row. */
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

/** The tables of the first migration of prices. */
export const oracleTables: readonly TableDefinition[] = [oracleTicksTable, oracleRoundsTable, oracleCandlesTable];

/**
 * Aggregated prices: one row for each symbol and second, and none without a change. Several processes write the same
 * seconds; of one second the last round stands.
 */
const oracleSecondsTable: TableDefinition = {
  name: "oracle_rounds_by_second",
  timeColumn: "at",
  columns: [
    time,
    word("symbol"),
    /** When the round was made, of which `at` is the second. */
    moment("made_at"),
    decimal("price"),
    decimal("confidence"),
    perhaps("volume_24h"),
    perhaps("change_24h"),
    perhaps("high_24h"),
    perhaps("low_24h"),
    names,
  ],
  orderBy: ["symbol", "at"],
  shardBy: "cityHash64(symbol)",
  replacing: { version: "made_at" },
  // A day more than the longest history that is read from it.
  keptDays: 8,
};

/**
 * Candles of one minute, from which every longer one is computed. Several processes write the same minutes; of one
 * minute the row that covers most of it stands.
 */
const oracleMinutesTable: TableDefinition = {
  name: "oracle_candles_by_minute",
  timeColumn: "at",
  columns: [
    time,
    word("symbol"),
    moment("first_at"),
    moment("last_at"),
    /** Milliseconds from the first round to the last. */
    moment("covered"),
    decimal("open"),
    decimal("high"),
    decimal("low"),
    decimal("close"),
    perhaps("volume_24h"),
    decimal("confidence"),
    names,
  ],
  orderBy: ["symbol", "at"],
  shardBy: "cityHash64(symbol)",
  replacing: { version: "covered" },
};

/**
 * What exchanges traded in one minute, in US dollars. Written again when an exchange says later what it traded; the row
 * that more exchanges had spoken for stands, and of two such rows the later one.
 */
const oracleVolumesTable: TableDefinition = {
  name: "oracle_volumes_by_minute",
  timeColumn: "at",
  columns: [
    time,
    word("symbol"),
    decimal("volume"),
    /** Exchanges that had said what they traded, whether they count or not. */
    { name: "claims", type: "UInt8" },
    names,
    { name: "version", type: "UInt64", codec: "DoubleDelta, ZSTD" },
  ],
  orderBy: ["symbol", "at"],
  shardBy: "cityHash64(symbol)",
  replacing: { version: "version" },
};

/** Tables of which each row is written once, however many processes write it. */
export const oracleKeyedTables: readonly TableDefinition[] = [
  oracleSecondsTable,
  oracleMinutesTable,
  oracleVolumesTable,
];

/** What the tables before these hold, a row for each second and each minute. */
export const oracleCopies = [
  {
    kind: "copy-rows",
    into: oracleSecondsTable.name,
    columns: oracleSecondsTable.columns.map(({ name }) => name),
    select:
      "SELECT toDateTime64(intDiv(toUnixTimestamp64Milli(r.at), 1000), 3, 'UTC') AS at, r.symbol, " +
      "toUnixTimestamp64Milli(r.at), r.price, r.confidence, r.volume_24h, r.change_24h, r.high_24h, r.low_24h, " +
      "r.sources FROM oracle_rounds AS r",
  },
  {
    kind: "copy-rows",
    into: oracleMinutesTable.name,
    columns: oracleMinutesTable.columns.map(({ name }) => name),
    select:
      "SELECT c.at, c.symbol, min(c.first_at), max(c.last_at), max(c.last_at) - min(c.first_at), " +
      "argMin(c.open, c.first_at), max(c.high), min(c.low), argMax(c.close, c.last_at), argMax(c.volume_24h, c.last_at), " +
      "argMax(c.confidence, c.last_at), argMax(c.sources, c.last_at) FROM oracle_candles AS c GROUP BY c.symbol, c.at",
  },
] as const;
