/**
 * `limit` is 1 to 1000, 50 when absent; `cursor` is the `nextCursor` of the page before, null or absent for the first.
 */
export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** Part of a list, and the cursor of the next part. */
export interface RecordPage<T> {
  readonly items: readonly T[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}
