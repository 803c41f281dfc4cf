import { z } from "zod";
import { sqlFormats, sqlLimits } from "../sql.ts";
import { bigCount, count, identifier, timestamp } from "./primitives.ts";

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;

const query = z
  .string()
  .min(1)
  .refine((text) => bytesOf(text) <= sqlLimits.queryBytes, {
    error: `must be at most ${sqlLimits.queryBytes} bytes long`,
  })
  .refine((text) => text.isWellFormed() && !text.includes("\0"), { error: "must be well-formed text without U+0000" })
  .meta({
    description: "One SELECT in ClickHouse's SQL, over the views of the schema",
    example: "SELECT slot, transactions FROM blocks ORDER BY slot DESC LIMIT 10",
  });

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const parameters = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, { error: "must be the name of a parameter" }),
    z.union([scalar, z.array(scalar).max(10_000)]),
  )
  .refine((values) => Object.keys(values).length <= sqlLimits.parameters, {
    error: `must be at most ${sqlLimits.parameters} parameters`,
  })
  .refine((values) => bytesOf(JSON.stringify(values)) <= sqlLimits.parameterBytes, {
    error: `must be at most ${sqlLimits.parameterBytes} bytes long`,
  })
  .meta({
    description: "Values of the placeholders `{name:Type}` of the query; 64-bit integers as text",
    example: { since: "123456789012" },
  });

/** A query of SQL, and how its result is wanted. */
export const sqlQuery = z
  .strictObject({
    query,
    parameters: parameters.default({}),
    format: z.enum(sqlFormats).default("json").meta({ description: "`arrow` is the Arrow IPC stream" }),
    max_rows: z
      .int()
      .min(1)
      .max(sqlLimits.resultRows)
      .default(sqlLimits.resultRows)
      .meta({ description: "A result with more rows is refused with SQL_ROWS_LIMIT" }),
  })
  .meta({ id: "SqlQuery", description: "A query of SQL" });

const columnOfResult = z.object({
  name: z.string(),
  type: z.string().meta({ description: "ClickHouse's name of the type" }),
});

export const sqlResult = z
  .object({
    columns: z.array(columnOfResult),
    rows: z
      .array(z.array(z.unknown()))
      .meta({ description: "Values in the order of the columns; integers of 64 bits and more, and decimals, as text" }),
    row_count: count,
    rows_read: bigCount.meta({ description: "Rows that the query has read" }),
    bytes_read: bigCount.meta({ description: "Bytes that the query has read, uncompressed" }),
    elapsed_ms: z.number(),
    credits: count.meta({ description: "What the query cost" }),
  })
  .meta({ id: "SqlResult", description: "The result of a query" });

const column = z.object({ name: z.string(), type: z.string(), description: z.string() });

export const sqlSchema = z
  .object({
    views: z.array(z.object({ name: z.string(), description: z.string(), columns: z.array(column) })),
    functions: z.array(z.string()).meta({ description: "Functions that a query may call" }),
    limits: z.object({
      query_bytes: count,
      execution_ms: count,
      read_bytes: count,
      memory_bytes: count,
      result_rows: count,
      result_bytes: count,
    }),
  })
  .meta({ id: "SqlSchema", description: "What a query may read and call, and its bounds" });

const name = z.string().trim().min(1).max(sqlLimits.savedNameLength);

export const savedQueryCreate = z
  .strictObject({ name, query, parameters: parameters.default({}) })
  .meta({ id: "SavedQueryCreate", description: "A query to keep under a name" });

export const savedQueryUpdate = z
  .strictObject({ name: name.optional(), query: query.optional(), parameters: parameters.optional() })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), { error: "must change something" })
  .meta({ id: "SavedQueryUpdate", description: "Changes of a saved query" });

export const savedQuery = z
  .object({
    id: identifier,
    name: z.string(),
    query: z.string(),
    parameters,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "SavedQuery", description: "A query that an account keeps" });

export const savedQueries = z
  .object({ items: z.array(savedQuery), next_cursor: z.null() })
  .meta({ id: "SavedQueries", description: `All queries that an account keeps, at most ${sqlLimits.savedQueries}` });

export type SqlQuery = z.infer<typeof sqlQuery>;
export type SqlResult = z.infer<typeof sqlResult>;
export type SqlSchema = z.infer<typeof sqlSchema>;
export type SavedQueryCreate = z.infer<typeof savedQueryCreate>;
export type SavedQueryUpdate = z.infer<typeof savedQueryUpdate>;
export type SavedQuery = z.infer<typeof savedQuery>;
