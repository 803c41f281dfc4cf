import { createSql, type SavedQuery, type SqlResult, type SqlSchema } from "@sluice/sdk";
import { useCallback, useEffect, useId, useRef, useState } from "react";
import { explain } from "../explain.ts";
import { exact, plural } from "../figures.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { QuietButton, Section } from "../parts/section.tsx";

const sql = createSql({ url: "", path: "/api/v1/console/sql" });

const firstQuery = "SELECT slot, block_time, transactions, fees\nFROM blocks\nORDER BY slot DESC\nLIMIT 20";

type Outcome =
  | { readonly state: "none" }
  | { readonly state: "running" }
  | { readonly state: "answered"; readonly result: SqlResult }
  | { readonly state: "failed"; readonly reason: string };

/** Questions to the ledger in SQL: what may be asked, the query, and what came back. */
export function Sql() {
  const [query, setQuery] = useState(firstQuery);
  const [outcome, setOutcome] = useState<Outcome>({ state: "none" });
  const running = useRef<AbortController | null>(null);
  const cancel = useCallback(() => running.current?.abort(), []);
  useEffect(() => cancel, [cancel]);
  const run = async (): Promise<void> => {
    cancel();
    const asked = new AbortController();
    running.current = asked;
    setOutcome({ state: "running" });
    const { signal } = asked;
    const next = await sql.run(query, { signal }).then(
      (result): Outcome => ({ state: "answered", result }),
      (error: unknown): Outcome => (signal.aborted ? { state: "none" } : { state: "failed", reason: explain(error) }),
    );
    if (running.current === asked) setOutcome(next);
  };
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(outcome)}</h1>
      <p className="mt-1 text-quiet">
        One SELECT over the views below. A query costs 50 credits and 1 more for each started 100 MB that it reads.
      </p>
      <Editor query={query} onChange={setQuery} onRun={() => void run()} onCancel={cancel} outcome={outcome} />
      <div aria-live="polite">{outcome.state === "answered" && <Result result={outcome.result} />}</div>
      <Saved query={query} onPick={setQuery} />
      <Schema onPick={(name) => setQuery(`SELECT *\nFROM ${name}\nLIMIT 20`)} />
    </>
  );
}

function headline(outcome: Outcome): string {
  if (outcome.state === "running") return "The ledger is asked…";
  if (outcome.state === "failed") return "The query was not answered";
  if (outcome.state === "none") return "What does the ledger hold?";
  const { row_count: rows, elapsed_ms: elapsedMs } = outcome.result;
  return `${plural(rows, "row")} in ${exact(Math.round(elapsedMs))} ms`;
}

function Editor(props: {
  query: string;
  outcome: Outcome;
  onChange: (query: string) => void;
  onRun: () => void;
  onCancel: () => void;
}) {
  const id = useId();
  const isRunning = props.outcome.state === "running";
  return (
    <form
      className="mt-4"
      onSubmit={(event) => {
        event.preventDefault();
        props.onRun();
      }}
    >
      <label htmlFor={id} className="text-xs text-quiet">
        Query (Ctrl-Enter runs it)
      </label>
      <textarea
        id={id}
        value={props.query}
        rows={8}
        spellCheck={false}
        autoCapitalize="none"
        onChange={(event) => props.onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          props.onRun();
        }}
        className="mt-1 block w-full rounded-sm border border-hairline bg-raised px-3 py-2 font-mono text-[13px]"
      />
      <div className="mt-2 flex items-center gap-4">
        <button type="submit" className="rounded-sm bg-accent px-4 py-2 font-medium text-accent-ink">
          Run
        </button>
        {isRunning && <QuietButton onClick={props.onCancel}>cancel</QuietButton>}
      </div>
      {props.outcome.state === "failed" && (
        <p role="alert" className="mt-2 max-w-3xl text-bad">
          {props.outcome.reason}
        </p>
      )}
    </form>
  );
}

interface ResultRow {
  readonly at: number;
  readonly values: readonly unknown[];
}

const shownValue = (value: unknown): string | number | null => {
  if (value === null || typeof value === "number" || typeof value === "string") return value;
  return typeof value === "boolean" ? String(value) : JSON.stringify(value);
};

const isNumber = (type: string): boolean => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);

function Result({ result }: { result: SqlResult }) {
  const rows: ResultRow[] = result.rows.map((values, at) => ({ at, values }));
  const columns: Column<ResultRow>[] = result.columns.map(({ name, type }, at) => ({
    // Two columns may have one name.
    name: result.columns.findIndex((other) => other.name === name) === at ? name : `${name} (${at + 1})`,
    numeric: isNumber(type),
    value: ({ values }) => shownValue(values[at]),
    cell: ({ values }) => <Value value={values[at]} />,
  }));
  const read = [plural(Number(result.bytes_read), "byte"), plural(Number(result.rows_read), "row")].join(" and ");
  return (
    <Section title="Result" aside={<QuietButton onClick={() => download(result)}>download CSV</QuietButton>}>
      <p className="mt-1 text-xs text-quiet">
        {read} read, {plural(result.credits, "credit")}
      </p>
      <DataTable caption="Result" columns={columns} rows={rows} id={({ at }) => String(at)} />
    </Section>
  );
}

function Value({ value }: { value: unknown }) {
  if (value === null) return <span className="text-quiet">null</span>;
  const text = String(shownValue(value));
  return (
    <span title={text} className="inline-block max-w-[28ch] truncate align-bottom font-mono text-[13px]">
      {text}
    </span>
  );
}

/** What the browser has already, so that it costs nothing again. */
function download({ columns, rows }: SqlResult): void {
  const quote = (value: unknown): string => `"${String(shownValue(value) ?? "").replaceAll('"', '""')}"`;
  const lines = [columns.map(({ name }) => quote(name)), ...rows.map((row) => row.map(quote))];
  const file = new Blob([lines.map((line) => line.join(",")).join("\n")], { type: "text/csv" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "result.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}

function Saved({ query, onPick }: { query: string; onPick: (query: string) => void }) {
  const [saved, setSaved] = useState<readonly SavedQuery[]>([]);
  const [name, setName] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const id = useId();
  const refresh = useCallback(
    () =>
      sql.saved().then(
        (found) => setSaved(found),
        (error: unknown) => setFault(explain(error)),
      ),
    [],
  );
  useEffect(() => void refresh(), [refresh]);
  const change = (work: Promise<unknown>): void => {
    work.then(
      () => {
        setFault(null);
        setName("");
        void refresh();
      },
      (error: unknown) => setFault(explain(error)),
    );
  };
  return (
    <Section title="Saved queries">
      <ul className="mt-1">
        {saved.map((kept) => (
          <li key={kept.id} className="flex items-baseline gap-4 border-b border-hairline py-1">
            <button type="button" className="min-h-6 text-left hover:text-accent" onClick={() => onPick(kept.query)}>
              {kept.name}
            </button>
            <QuietButton onClick={() => change(sql.forget(kept.id))}>delete {kept.name}</QuietButton>
          </li>
        ))}
      </ul>
      <form
        className="mt-2 flex max-w-xl gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") change(sql.save({ name, query }));
        }}
      >
        <label htmlFor={id} className="sr-only">
          Name of the query
        </label>
        <input
          id={id}
          value={name}
          maxLength={100}
          placeholder="A name for the query above"
          onChange={(event) => setName(event.target.value)}
          className="min-w-0 flex-1 rounded-sm border border-hairline bg-raised px-3 py-1"
        />
        <button type="submit" className="rounded-sm border border-hairline px-3 py-1">
          Save
        </button>
      </form>
      {fault !== null && (
        <p role="alert" className="mt-1 text-bad">
          {fault}
        </p>
      )}
    </Section>
  );
}

function Schema({ onPick }: { onPick: (view: string) => void }) {
  const [schema, setSchema] = useState<SqlSchema | string | null>(null);
  useEffect(() => {
    sql.schema().then(setSchema, (error: unknown) => setSchema(explain(error)));
  }, []);
  if (schema === null) return <p className="mt-8 text-quiet">Reading the schema…</p>;
  if (typeof schema === "string") return <p className="mt-8 text-bad">{schema}</p>;
  return (
    <Section title="Views">
      {schema.views.map((view) => (
        <details key={view.name} className="border-b border-hairline py-1">
          <summary className="min-h-6">
            <span className="font-mono text-[13px]">{view.name}</span>{" "}
            <span className="text-quiet">{view.description}</span>
          </summary>
          <p className="mt-1">
            <QuietButton onClick={() => onPick(view.name)}>query {view.name}</QuietButton>
          </p>
          <dl className="mt-1 grid grid-cols-1 gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
            {view.columns.map((column) => (
              <div key={column.name} className="contents">
                <dt className="min-w-0 break-words font-mono text-[13px]">
                  {column.name} <span className="text-quiet">{column.type}</span>
                </dt>
                <dd className="min-w-0 text-quiet">{column.description}</dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
    </Section>
  );
}
