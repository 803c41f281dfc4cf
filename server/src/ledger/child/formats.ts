/**
 * Formats that stay valid when a result is written in pieces: each row or block stands for itself, with no header,
 * footer or separator around the whole. All others are built in memory, up to `bufferedResultBytesMax`.
 */
const piecewise = new Set([
  "JSONEachRow",
  "JSONLines",
  "NDJSON",
  "JSONStringsEachRow",
  "JSONCompactEachRow",
  "JSONCompactStringsEachRow",
  "TabSeparated",
  "TSV",
  "TabSeparatedRaw",
  "TSVRaw",
  "CSV",
  "RowBinary",
  "Native",
  "LineAsString",
  "TSKV",
  "MsgPack",
]);

/** True when the engine's chunks of this format can be joined end to end. */
export function isPiecewise(format: string): boolean {
  return piecewise.has(format);
}

/** The Content-Type that ClickHouse sends for a format. */
export function contentType(format: string): string {
  if (/^(JSONEachRow|JSONLines|NDJSON|JSON.*EachRow.*)$/.test(format)) return "application/x-ndjson; charset=UTF-8";
  if (format.startsWith("JSON")) return "application/json; charset=UTF-8";
  if (format.startsWith("CSV")) return "text/csv; charset=UTF-8";
  if (/^(TSV|TabSeparated|TSKV)/.test(format)) return "text/tab-separated-values; charset=UTF-8";
  if (format === "XML") return "application/xml; charset=UTF-8";
  if (/^(Pretty|Vertical|Values|Null|Markdown|LineAsString)/.test(format)) return "text/plain; charset=UTF-8";
  return "application/octet-stream";
}
