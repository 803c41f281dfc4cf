import { type ConsolePool, chartPeriods, figurePeriods, pnlStrategies } from "@sluice/sdk";
import { useState } from "react";
import { ago, decimal, exact, plural } from "../figures.ts";
import { Copy } from "../parts/copy.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { DaysChart } from "../parts/days-chart.tsx";
import { type ExplainedBy, ExplainedFigure } from "../parts/explained-figure.tsx";
import { Explanation } from "../parts/explanation.tsx";
import { Periods } from "../parts/periods.tsx";
import { QuietButton, Section } from "../parts/section.tsx";
import { TipsBreakdown } from "../parts/tips-breakdown.tsx";
import { validatorColumns } from "../parts/validator-columns.tsx";
import { usePool } from "../use-pool.ts";

interface Part {
  readonly pool: ConsolePool;
  readonly stale: boolean;
  readonly onExplain: (by: ExplainedBy) => void;
}

/** What the stake pool holds and earns, with whom, where tips come from, and what bundles made. */
export function StakePool() {
  const [chart, setChart] = useState("30d");
  const [period, setPeriod] = useState("24h");
  const [strategy, setStrategy] = useState("all");
  const [by, setBy] = useState<ExplainedBy | null>(null);
  const { pool, live, error } = usePool({ chart, period, strategy });
  if (error !== null) {
    return (
      <div role="alert">
        <h1 className="text-2xl font-semibold">The stake pool cannot be read</h1>
        <p className="mt-1 text-quiet">{error}</p>
      </div>
    );
  }
  if (pool === null) return <p className="text-quiet">Reading the stake pool…</p>;
  const part: Part = { pool, stale: !live, onExplain: setBy };
  const explain = (of: ExplainedBy) => <QuietButton onClick={() => setBy(of)}>how it comes about</QuietButton>;
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(pool)}</h1>
      <Standing pool={pool} live={live} />
      <PoolFigures {...part} />
      <History {...part} chart={chart} onChart={setChart} />
      <Section title="Where tips come from" aside={explain({ record: "mev/breakdown" })}>
        <TipsBreakdown items={pool.breakdown} onExplain={() => setBy({ record: "mev/breakdown" })} />
      </Section>
      <Profits {...part} {...{ period, strategy }} onPeriod={setPeriod} onStrategy={setStrategy} />
      <Section title="Validators" aside={explain({ record: "validators" })}>
        {pool.validators.length === 0 ? (
          <p className="mt-2 text-sm text-quiet">The pool has no validators.</p>
        ) : (
          <DataTable
            caption="Validators"
            columns={validatorColumns(() => setBy({ record: "validators" }))}
            rows={pool.validators}
            id={({ address }) => address}
          />
        )}
      </Section>
      <Section title="As curl">
        {["dashboard", `charts/tvl?period=${chart}`, "explain?record=apy"].map((path) => (
          <div key={path} className="mt-2 overflow-x-auto">
            <Copy text={`curl "${pool.door}/api/v1/${path}" -H "X-API-Key: $KEY"`} />
          </div>
        ))}
      </Section>
      {by !== null && <Explanation by={by} door={pool.door} onClose={() => setBy(null)} />}
    </>
  );
}

function History({ pool, onExplain, chart, onChart }: Part & { chart: string; onChart: (period: string) => void }) {
  const periods = Object.keys(chartPeriods);
  const of = (record: string) => ({ places: 2, onExplain: () => onExplain({ record, period: chart }) });
  return (
    <Section
      title="History"
      aside={<Periods label="Period of the charts" options={periods} value={chart} onChange={onChart} />}
    >
      <div className="mt-3 grid gap-x-8 gap-y-6 lg:grid-cols-2">
        <DaysChart name="Held, by day" unit="native" points={pool.charts.tvl} {...of("charts/tvl")} />
        <DaysChart name="Yearly rate, by day" unit="%" points={pool.charts.apy} {...of("charts/apy")} />
      </div>
      {pool.samplesSince !== null && (
        <p className="mt-2 text-xs text-quiet">Samples begin on {pool.samplesSince.slice(0, 10)}.</p>
      )}
    </Section>
  );
}

const isThere = ({ pool }: ConsolePool): boolean => pool.tvl > 0 || pool.validatorCount > 0;

function headline(page: ConsolePool): string {
  if (!isThere(page)) return "No stake pool is shown";
  const { tvl, apy } = page.pool;
  return `${exact(Math.round(tvl))} native tokens staked, ${apy.toFixed(2)} % a year`;
}

function Standing({ pool, live }: { pool: ConsolePool; live: boolean }) {
  if (!live) {
    const since = ago(Date.now() - Date.parse(pool.observedAt));
    return <p className="mt-1 text-warn">The server is out of reach; these are the figures of {since}.</p>;
  }
  if (!isThere(pool)) {
    return (
      <div className="mt-1 max-w-3xl text-quiet">
        The server's setting names the pool; what bundles bring is shown without one:{" "}
        <Copy text="STAKE_POOL=<address>" />
      </div>
    );
  }
  return (
    <p className="mt-1 text-quiet">
      With {plural(pool.pool.validatorCount, "validator")}. Every figure opens what it is computed from.
    </p>
  );
}

function PoolFigures({ pool: page, stale, onExplain }: Part) {
  const { pool, dashboard, exchangeRate, apy } = page;
  const of = (record: string) => ({ stale, onExplain: () => onExplain({ record }) });
  const percent = (name: string, value: number, record: string) => (
    <ExplainedFigure name={name} value={value.toFixed(2)} unit="%" exact={`${value} %`} {...of(record)} />
  );
  return (
    <dl className="mt-6 grid grid-cols-2 gap-y-4 sm:grid-cols-3 lg:grid-cols-6">
      <ExplainedFigure
        {...{ name: "Held", value: decimal(pool.tvl, 2), unit: "native", exact: `${pool.tvl} native tokens` }}
        change={{ percent: dashboard.tvlChange24h, over: "24 h" }}
        {...of("dashboard")}
      />
      <ExplainedFigure
        {...{ name: "One token is worth", value: decimal(pool.exchangeRate, 6), unit: "native" }}
        exact={`${pool.exchangeRate} native tokens`}
        change={{ percent: exchangeRate.rate_change_7d, over: "7 days" }}
        {...of("exchange-rate")}
      />
      {percent("Yearly rate", pool.apy, "pool")}
      {percent("Without tips", pool.baseApy, "pool")}
      {percent("From tips", pool.mevApy, "pool")}
      {percent("30 day average", apy.apy_30d_avg, "apy")}
      <ExplainedFigure
        {...{ name: "Tokens", value: decimal(pool.tokenSupply, 2), exact: `${pool.tokenSupply} tokens` }}
        {...of("pool")}
      />
      <ExplainedFigure
        {...{ name: "Tips, 24 h", value: decimal(dashboard.mevRevenue24h, 6), unit: "native" }}
        exact={`${dashboard.mevRevenue24h} native tokens`}
        {...of("dashboard")}
      />
      <ExplainedFigure
        {...{ name: "Tips, all time", value: decimal(dashboard.mevRevenueTotal, 6), unit: "native" }}
        exact={`${dashboard.mevRevenueTotal} native tokens`}
        {...of("mev/breakdown")}
      />
      <ExplainedFigure
        {...{ name: "Landed, 24 h", value: exact(dashboard.bundlesLanded24h), unit: "bundles" }}
        exact={`${dashboard.bundlesLanded24h} bundles`}
        {...of("dashboard")}
      />
      {percent("Landing rate, 24 h", Number((dashboard.landingRate * 100).toFixed(4)), "dashboard")}
      {percent("7 day average", apy.apy_7d_avg, "apy")}
    </dl>
  );
}

interface ProfitsProps extends Part {
  readonly period: string;
  readonly strategy: string;
  readonly onPeriod: (period: string) => void;
  readonly onStrategy: (strategy: string) => void;
}

const strategies = ["all", ...pnlStrategies.filter((each) => each !== "all")];

function Profits({ period, strategy, onPeriod, onStrategy, ...part }: ProfitsProps) {
  const { bundlesSince, dashboard } = part.pool;
  const periods = Object.keys(figurePeriods);
  return (
    <Section
      title="Bundles, profit and loss"
      aside={<Periods label="Period of profits" options={periods} value={period} onChange={onPeriod} />}
    >
      <ProfitFigures {...part} period={period} strategy={strategy} />
      {bundlesSince !== null && dashboard.bundlesTotal > 0 && (
        <p className="mt-2 text-xs text-quiet">The first bundle that is known ended on {bundlesSince.slice(0, 10)}.</p>
      )}
      <div className="mt-3 flex flex-wrap items-baseline gap-x-3 text-xs text-quiet">
        Strategy
        <Periods label="Strategy" options={strategies} value={strategy} onChange={onStrategy} />
      </div>
    </Section>
  );
}

function ProfitFigures({ pool, stale, onExplain, period, strategy }: Part & { period: string; strategy: string }) {
  const { pnl, overview } = pool;
  const profits = { stale, onExplain: () => onExplain({ record: "pnl", period, strategy }) };
  const outcomes = { stale, onExplain: () => onExplain({ record: "overview", period }) };
  const amount = (name: string, value: number) => (
    <ExplainedFigure
      name={name}
      value={decimal(value, 6)}
      unit="native"
      exact={`${value} native tokens`}
      {...profits}
    />
  );
  return (
    <dl className="mt-3 grid grid-cols-2 gap-y-4 sm:grid-cols-3 lg:grid-cols-6">
      {amount("Net profit", pnl.netProfit)}
      {amount("Revenue", pnl.totalRevenue)}
      {amount("Fees and tips", pnl.totalCost)}
      {amount("Profit of one", pnl.avgProfitPerBundle)}
      <ExplainedFigure
        {...{ name: "Counted", value: exact(pnl.bundleCount), unit: "bundles", exact: `${pnl.bundleCount} bundles` }}
        {...profits}
      />
      <ExplainedFigure
        {...{ name: "Tip of one, everybody's", value: decimal(overview.avg_tip_per_bundle, 0), unit: "lamports" }}
        exact={`${overview.avg_tip_per_bundle} lamports`}
        {...outcomes}
      />
    </dl>
  );
}
