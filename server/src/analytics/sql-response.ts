import type { SqlFormat } from "@sluice/contract/sql";
import type { SqlAnswer } from "./analytics.ts";

const mediaTypes: Readonly<Record<SqlFormat, string>> = {
  json: "application/json",
  csv: "text/csv; charset=utf-8; header=present",
  arrow: "application/vnd.apache.arrow.stream",
};

/** A result as HTTP answers it; its figures are in headers, whatever its form. */
export const sqlResponse = ({ format, body, rowsRead, bytesRead, elapsedMs, credits }: SqlAnswer): Response =>
  new Response(body, {
    headers: {
      "Content-Type": mediaTypes[format],
      "Cache-Control": "no-store",
      "X-Sql-Rows-Read": String(rowsRead),
      "X-Sql-Bytes-Read": String(bytesRead),
      "X-Sql-Elapsed-Ms": String(elapsedMs),
      "X-Credits-Charged": String(credits),
    },
  });
