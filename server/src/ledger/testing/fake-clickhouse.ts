/** ClickHouse's HTTP protocol as far as the ledger's start and its INSERTs need it, with what was asked of it. */

export interface FakeClickhouse extends AsyncDisposable {
  readonly port: number;
  /** The statements that were sent to it, in their order, with their settings. */
  readonly statements: { readonly sql: string; readonly settings: URLSearchParams; readonly user: string | null }[];
  /** Rows of the tables of migrations, which servers of one cluster share. */
  readonly migrations: object[];
  /** Whether it takes connections and answers nothing. */
  isSilent: boolean;
  /** Whether it reads an INSERT and breaks the connection before it answers. */
  breaksInserts: boolean;
}

export function startFakeClickhouse(
  options: { readonly migrations?: object[]; readonly tls?: { readonly cert: string; readonly key: string } } = {},
): FakeClickhouse {
  const { migrations = [], tls } = options;
  const fake = { statements: [] as FakeClickhouse["statements"], migrations, isSilent: false, breaksInserts: false };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    ...(tls === undefined ? {} : { tls }),
    async fetch(request) {
      if (fake.isSilent) return new Promise<Response>(() => undefined);
      const { pathname, searchParams: settings } = new URL(request.url);
      if (pathname === "/ping") return new Response("Ok.\n");
      const body = await request.text();
      const sql = settings.get("query") ?? body;
      const basic = request.headers.get("authorization")?.replace(/^Basic /, "");
      fake.statements.push({ sql, settings, user: basic === undefined ? null : atob(basic) });
      if (/^INSERT INTO (migrations|expansions)/.test(sql)) migrations.push(JSON.parse(body.slice(body.indexOf("{"))));
      else if (sql.startsWith("INSERT") && fake.breaksInserts) {
        void server.stop(true);
        return new Promise<Response>(() => undefined);
      }
      const rows = sql.includes("FROM migrations") ? migrations : [];
      return new Response(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    },
  });
  return Object.assign(fake, { port: server.port ?? 0, [Symbol.asyncDispose]: () => server.stop(true) });
}
