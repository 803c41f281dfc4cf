import type { SavedQuery, SavedQueryCreate, SqlQuery, SqlResult, SqlSchema } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import { readAnswer } from "./problem-error.ts";

/** A query and how it is run; `network` is the server's default when absent. */
export type SqlRun = Partial<Pick<SqlQuery, "parameters" | "max_rows">> & {
  readonly network?: Network;
  /** Aborting stops the query in the ledger. */
  readonly signal?: AbortSignal;
};

/** A client of SQL over the ledger. Every method throws ProblemError with a code of the reference of errors. */
export interface Sql {
  /** One SELECT; values in the order of `columns`, integers of 64 bits and decimals as text. */
  run(query: string, options?: SqlRun): Promise<SqlResult>;
  /** The same as CSV or as an Arrow IPC stream, while it arrives. */
  stream(query: string, format: "csv" | "arrow", options?: SqlRun): Promise<ReadableStream<Uint8Array>>;
  /** The views, functions and bounds. */
  schema(): Promise<SqlSchema>;
  /** All queries that the account keeps. */
  saved(): Promise<readonly SavedQuery[]>;
  save(query: Pick<SavedQueryCreate, "name" | "query"> & Partial<SavedQueryCreate>): Promise<SavedQuery>;
  forget(id: string): Promise<void>;
}

/** Where the gateway is, and the key; without a key the requests carry the page's own session. */
export interface SqlOptions {
  /** Such as `http://127.0.0.1:8899`. */
  readonly url: string;
  readonly key?: string;
  /** `/api/v1/sql` when absent. */
  readonly path?: string;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The rows of a result as objects by the names of its columns; of two columns of one name the last stands. */
export const rowsOf = ({ columns, rows }: SqlResult): Record<string, unknown>[] =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));

/** Creates a client of SQL over the ledger. */
export function createSql({ url, key, path = "/api/v1/sql", fetch: call = fetch }: SqlOptions): Sql {
  const root = `${url.replace(/\/+$/, "")}${path}`;
  const ask = (place: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set("X-API-Key", key);
    if (init.body !== undefined) headers.set("Content-Type", "application/json");
    return call(`${root}${place}`, { credentials: "same-origin", ...init, headers });
  };
  const read = async <T>(place: string, init?: RequestInit): Promise<T> => {
    const answer = await readAnswer<T>(await ask(place, init));
    if (answer === null) throw new Error(`${root}${place} was answered without a body`);
    return answer;
  };
  const order = (query: string, format: SqlQuery["format"], { network, signal, ...rest }: SqlRun): RequestInit => ({
    method: "POST",
    body: JSON.stringify({ query, format, ...rest }),
    ...(network === undefined ? {} : { headers: { "X-Network": network } }),
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    run: (query, options = {}) => read<SqlResult>("", order(query, "json", options)),
    async stream(query, format, options = {}) {
      const response = await ask("", order(query, format, options));
      if (response.ok && response.body !== null) return response.body;
      await readAnswer(response);
      throw new Error(`${root} was answered without a body`);
    },
    schema: () => read<SqlSchema>("/schema"),
    saved: async () => (await read<{ items: readonly SavedQuery[] }>("/queries")).items,
    save: (query) => read<SavedQuery>("/queries", { method: "POST", body: JSON.stringify(query) }),
    forget: async (id) => {
      await readAnswer(await ask(`/queries/${encodeURIComponent(id)}`, { method: "DELETE" }));
    },
  };
}
