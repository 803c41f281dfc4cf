import { useMemo, useState } from "react";
import { copyText } from "../clipboard.ts";
import { QuietButton } from "./section.tsx";

export interface Column<Row> {
  readonly name: string;
  /** What the column is sorted by and what goes into the CSV. */
  readonly value: (row: Row) => string | number | null;
  readonly cell?: (row: Row) => React.ReactNode;
  readonly numeric?: boolean;
}

interface Props<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string;
}

const rowsOnPage = 50;
const filterFrom = 8;

/** A table that sorts, filters, pages and copies itself as CSV. */
export function DataTable<Row>({ caption, columns, rows, id }: Props<Row>) {
  const [sort, setSort] = useState<{ column: number; down: boolean } | null>(null);
  const [filter, setFilter] = useState("");
  const [page, setPage] = useState(0);
  const shown = useMemo(() => arrange(columns, rows, filter, sort), [columns, rows, filter, sort]);
  const pages = Math.max(1, Math.ceil(shown.length / rowsOnPage));
  const present = Math.min(page, pages - 1);
  return (
    <div>
      <div className="overflow-x-auto">
        <table className="w-full border-collapse text-sm">
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column, index) => (
                <Head
                  key={column.name}
                  column={column}
                  sorted={sort?.column === index ? (sort.down ? "descending" : "ascending") : "none"}
                  onSort={() => setSort({ column: index, down: sort?.column === index && !sort.down })}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.slice(present * rowsOnPage, (present + 1) * rowsOnPage).map((row) => (
              <tr key={id(row)} className="border-t border-hairline">
                {columns.map((column) => (
                  <td
                    key={column.name}
                    className={`py-1.5 pr-4 align-baseline ${column.numeric === true ? "text-right" : ""}`}
                  >
                    {column.cell?.(row) ?? column.value(row) ?? <span className="text-quiet">unknown</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="mt-1 flex items-center gap-4">
        {rows.length >= filterFrom && (
          <input
            type="search"
            aria-label={`Filter ${caption}`}
            placeholder="Filter"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            className="rounded-sm border border-hairline bg-raised px-2 py-0.5 text-sm"
          />
        )}
        {pages > 1 && (
          <span className="flex gap-2 text-xs text-quiet">
            <QuietButton onClick={() => setPage(Math.max(0, present - 1))}>earlier</QuietButton>
            {present + 1} of {pages}
            <QuietButton onClick={() => setPage(Math.min(pages - 1, present + 1))}>later</QuietButton>
          </span>
        )}
        <QuietButton onClick={() => void copyText(csv(columns, shown))}>copy as CSV</QuietButton>
      </div>
    </div>
  );
}

function Head<Row>(props: { column: Column<Row>; sorted: "ascending" | "descending" | "none"; onSort: () => void }) {
  const { column, sorted } = props;
  const sign = sorted === "none" ? "" : sorted === "ascending" ? " ↑" : " ↓";
  return (
    <th
      scope="col"
      aria-sort={sorted}
      className={`py-1.5 pr-4 text-xs font-normal text-quiet ${column.numeric === true ? "text-right" : "text-left"}`}
    >
      <button type="button" onClick={props.onSort} className="min-h-6 hover:text-ink">
        {column.name}
        {sign}
      </button>
    </th>
  );
}

function arrange<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  filter: string,
  sort: { column: number; down: boolean } | null,
): Row[] {
  const wanted = filter.trim().toLowerCase();
  const kept = rows.filter((row) =>
    columns.some((column) =>
      String(column.value(row) ?? "")
        .toLowerCase()
        .includes(wanted),
    ),
  );
  const column = sort === null ? undefined : columns[sort.column];
  if (column === undefined) return kept;
  const direction = sort?.down === true ? -1 : 1;
  return kept.toSorted((left, right) => direction * compare(column.value(left), column.value(right)));
}

function compare(left: string | number | null, right: string | number | null): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left ?? "").localeCompare(String(right ?? ""));
}

function csv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const quote = (value: unknown): string => `"${String(value ?? "").replaceAll('"', '""')}"`;
  const lines = rows.map((row) => columns.map((column) => quote(column.value(row))).join(","));
  return [columns.map((column) => quote(column.name)).join(","), ...lines].join("\n");
}
