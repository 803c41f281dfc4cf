import type { ConsolePrice, ConsolePrices, ConsoleSource } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { ago, compact, plural } from "../figures.ts";
import { Copy } from "../parts/copy.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Section } from "../parts/section.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { client } from "../use-overview.ts";

/** What every symbol is worth, how sure that is, and who says so. */
export function Prices() {
  const { prices, live, error } = usePrices();
  if (error !== null) {
    return (
      <div role="alert">
        <h1 className="text-2xl font-semibold">Prices cannot be read</h1>
        <p className="mt-1 text-quiet">{error}</p>
      </div>
    );
  }
  if (prices === null) return <p className="text-quiet">Reading the prices…</p>;
  const now = Date.parse(prices.observedAt);
  const active = prices.sources.filter((source) => source.status === "active").length;
  const read = prices.sources.filter((source) => source.status !== "disabled");
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(prices)}</h1>
      <p className={`mt-1 ${live ? "text-quiet" : "text-warn"}`}>
        {live ? (
          <>
            {active} of {plural(read.length, "source")} active
            {prices.origin === "market" && "; they are a development market, not real ones"}.
          </>
        ) : (
          <>The server is out of reach; these are the prices of {ago(Date.now() - now)}.</>
        )}
      </p>
      <Section title="Prices">
        <DataTable caption="Prices" columns={priceColumns(now)} rows={prices.prices} id={(price) => price.symbol} />
      </Section>
      <Section title="Sources">
        <DataTable caption="Sources" columns={sourceColumns} rows={prices.sources} id={(source) => source.name} />
      </Section>
      <Section title="As curl">
        <div className="mt-2 overflow-x-auto">
          <Copy text={`curl ${prices.door}/api/v1/price/BTC -H "Authorization: Bearer $KEY"`} />
        </div>
      </Section>
    </>
  );
}

/** The prices, kept live while the page is shown. */
function usePrices(): { prices: ConsolePrices | null; live: boolean; error: string | null } {
  const [state, setState] = useState<{ prices: ConsolePrices | null; live: boolean; error: string | null }>({
    prices: null,
    live: false,
    error: null,
  });
  useEffect(() => {
    let stopped = false;
    let stopLive = (): void => {};
    const show = (prices: ConsolePrices): void => {
      if (!stopped) setState({ prices, live: true, error: null });
    };
    client.prices().then(
      (prices) => {
        show(prices);
        const lost = (): void => setState((before) => ({ ...before, live: false }));
        if (!stopped) stopLive = client.livePrices(show, lost);
      },
      (error: unknown) => stopped || setState({ prices: null, live: false, error: explain(error) }),
    );
    return () => {
      stopped = true;
      stopLive();
    };
  }, []);
  return state;
}

const priceColumns = (now: number): readonly Column<ConsolePrice>[] => [
  { name: "Symbol", value: ({ symbol }) => symbol },
  {
    name: "Price",
    numeric: true,
    value: ({ price }) => (price === null ? null : Number(price)),
    cell: ({ price, reason }) =>
      price === null ? <span className="text-bad">{reason}</span> : <Dollars text={price} />,
  },
  {
    name: "Confidence",
    numeric: true,
    value: ({ confidence }) => confidence,
    cell: ({ confidence }) => <Percent value={confidence} signed={false} />,
  },
  {
    name: "24 h",
    numeric: true,
    value: ({ change24h }) => change24h,
    cell: ({ change24h }) => <Percent value={change24h} signed />,
  },
  {
    name: "Last hour",
    value: ({ lastHour }) => lastHour.at(-1) ?? null,
    cell: ({ symbol, lastHour }) => <Sparkline name={symbol} values={lastHour} />,
  },
  {
    name: "Agreed",
    numeric: true,
    value: ({ at }) => at,
    cell: ({ at }) =>
      at === null ? (
        <span className="text-quiet">never</span>
      ) : (
        <time dateTime={at} title={at} className="whitespace-nowrap text-quiet">
          {ago(now - Date.parse(at))}
        </time>
      ),
  },
];

const sourceColumns: readonly Column<ConsoleSource>[] = [
  { name: "Source", value: ({ name }) => name },
  {
    name: "State",
    value: ({ status }) => status,
    cell: ({ status }) => <span className={stateColours[status]}>{status}</span>,
  },
  {
    name: "Not down, 24 h",
    numeric: true,
    value: ({ uptime24h }) => uptime24h,
    cell: ({ uptime24h }) => <Percent value={uptime24h} signed={false} />,
  },
  {
    name: "Response",
    numeric: true,
    value: ({ responseMs }) => responseMs,
    cell: ({ responseMs }) =>
      responseMs === null ? (
        <span className="text-quiet">unknown</span>
      ) : (
        <span className="whitespace-nowrap">
          {responseMs.toFixed(1)} <span className="text-quiet">ms</span>
        </span>
      ),
  },
  {
    name: "Messages, 24 h",
    numeric: true,
    value: ({ messages24h }) => messages24h,
    cell: ({ messages24h }) => <span title={String(messages24h)}>{compact(messages24h)}</span>,
  },
];

const stateColours: Readonly<Record<ConsoleSource["status"], string>> = {
  active: "text-good",
  degraded: "font-medium text-warn",
  down: "font-medium text-bad",
  disabled: "text-quiet",
};

/** Figures enough to compare by, the exact price on hover. */
function Dollars({ text }: { text: string }) {
  const value = Number(text);
  const digits = value >= 1_000 ? 2 : value >= 1 ? 4 : 8;
  return (
    <span title={text} className="font-mono">
      {value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}
    </span>
  );
}

function Percent({ value, signed }: { value: number | null; signed: boolean }) {
  if (value === null) return <span className="text-quiet">unknown</span>;
  return (
    <span title={String(value)} className="whitespace-nowrap tabular-nums">
      {signed && value > 0 ? "+" : ""}
      {value.toFixed(2)} <span className="text-quiet">%</span>
    </span>
  );
}

function headline({ prices }: ConsolePrices): string {
  const priced = prices.filter(({ price }) => price !== null).length;
  if (priced === prices.length) return `${plural(prices.length, "symbol")}, all with a price`;
  return priced === 0 ? "No symbol has a price" : `${priced} of ${plural(prices.length, "symbol")} have a price`;
}
