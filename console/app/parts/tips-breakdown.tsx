import type { ConsolePool } from "@sluice/sdk";
import { decimal, exact } from "../figures.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { ExplainedCell } from "./explained-figure.tsx";
import { PageLink } from "./page-link.tsx";

type Item = ConsolePool["breakdown"][number];

const colours = ["var(--chart-1)", "var(--chart-2)", "var(--chart-3)", "var(--chart-4)", "var(--chart-5)"];

/** Tips by type of bundle: their parts of the whole as one bar, and figures of each that open how they come about. */
export function TipsBreakdown({ items, onExplain }: { items: readonly Item[]; onExplain: () => void }) {
  if (items.every(({ bundles }) => bundles === 0)) {
    return (
      <p className="mt-2 max-w-xl text-sm text-quiet">
        No bundle has landed yet. <PageLink to="/bundles">Bundles</PageLink> has the call that sends the first one.
      </p>
    );
  }
  const colourOf = (item: Item): string => colours[items.indexOf(item)] ?? "var(--quiet)";
  let from = 0;
  const parts = items.map((item) => {
    const part = { item, x: from, width: item.percentage };
    from += item.percentage;
    return part;
  });
  const columns = columnsOf(colourOf, onExplain);
  return (
    <div className="mt-3">
      <svg
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        className="h-3 w-full"
        role="img"
        aria-label={items.map(({ type, percentage }) => `${type} ${percentage} %`).join(", ")}
      >
        {parts.map(({ item, x, width }) => (
          <rect key={item.type} x={x} width={Math.max(0, width - 0.15)} height="4" fill={colourOf(item)}>
            <title>{`${item.type}: ${item.percentage} %`}</title>
          </rect>
        ))}
      </svg>
      <DataTable caption="Tips by type of bundle" columns={columns} rows={items} id={({ type }) => type} />
    </div>
  );
}

function columnsOf(colourOf: (item: Item) => string, onExplain: () => void): readonly Column<Item>[] {
  return [
    {
      name: "Type",
      value: ({ type }) => type,
      cell: (item) => (
        <span className="inline-flex items-baseline gap-2 whitespace-nowrap">
          <svg viewBox="0 0 8 8" className="size-2" aria-hidden="true">
            <rect width="8" height="8" rx="1.5" fill={colourOf(item)} />
          </svg>
          {item.type}
        </span>
      ),
    },
    {
      name: "Bundles",
      numeric: true,
      value: ({ bundles }) => bundles,
      cell: ({ bundles }) => (
        <ExplainedCell exact={`${bundles} bundles`} onExplain={onExplain}>
          {exact(bundles)}
        </ExplainedCell>
      ),
    },
    {
      name: "Tips, native",
      numeric: true,
      value: ({ revenue }) => revenue,
      cell: ({ revenue }) => (
        <ExplainedCell exact={String(revenue)} onExplain={onExplain}>
          {decimal(revenue, 6)}
        </ExplainedCell>
      ),
    },
    {
      name: "Of all",
      numeric: true,
      value: ({ percentage }) => percentage,
      cell: ({ percentage }) => (
        <ExplainedCell exact={`${percentage} %`} onExplain={onExplain}>
          {percentage.toFixed(2)} <span className="text-quiet">%</span>
        </ExplainedCell>
      ),
    },
  ];
}
