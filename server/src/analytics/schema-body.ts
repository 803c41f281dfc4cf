import type { SqlSchema } from "@sluice/contract/schemas";
import { sqlLimits, sqlViews } from "@sluice/contract/sql";
import { allowedFunctions } from "./functions.ts";

/** What GET /api/v1/sql/schema answers: the views, the functions and the bounds. */
export const schemaBody = (): SqlSchema => ({
  views: sqlViews.map(({ name, description, columns }) => ({
    name,
    description,
    columns: columns.map((column) => ({ ...column })),
  })),
  functions: [...allowedFunctions],
  limits: {
    query_bytes: sqlLimits.queryBytes,
    execution_ms: sqlLimits.executionMs,
    read_bytes: sqlLimits.readBytes,
    memory_bytes: sqlLimits.memoryBytes,
    result_rows: sqlLimits.resultRows,
    result_bytes: sqlLimits.resultBytes,
  },
});
