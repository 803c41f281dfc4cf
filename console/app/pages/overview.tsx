import type { ConsoleEndpoint, ConsoleOverview, ConsoleUpstream } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { ago, compact, duration, exact, plural } from "../figures.ts";
import { Copy } from "../parts/copy.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Figure } from "../parts/figure.tsx";
import { MinutesChart } from "../parts/minutes-chart.tsx";
import { Section } from "../parts/section.tsx";

const nearSlots = 2;

const endpointColumns: readonly Column<ConsoleEndpoint>[] = [
  { name: "Endpoint", value: (endpoint) => endpoint.name },
  {
    name: "Address",
    value: (endpoint) => endpoint.address,
    cell: (endpoint) => <Copy text={endpoint.address} />,
  },
  { name: "Protocol", value: (endpoint) => endpoint.protocol },
  {
    name: "State",
    value: (endpoint) => endpoint.status,
    cell: (endpoint) => <State good={endpoint.status === "open"}>{endpoint.status}</State>,
  },
];

/** The health of a node, with why it gets no calls and until when it rests. */
function stateOf({ health, out, restsUntil }: ConsoleUpstream): string {
  if (out === null) return health;
  return restsUntil === null
    ? `${health}: ${out}`
    : `${health}: ${out} until ${new Date(restsUntil).toLocaleTimeString()}`;
}

const nodeColumns: readonly Column<ConsoleUpstream>[] = [
  { name: "Node", value: (node) => node.label },
  { name: "Network", value: (node) => node.network },
  {
    name: "State",
    value: (node) => node.health,
    cell: (node) => <State good={node.health === "healthy"}>{stateOf(node)}</State>,
  },
  {
    name: "Slot",
    numeric: true,
    value: (node) => node.slot,
    cell: (node) => (node.slot === null ? "unknown" : exact(node.slot)),
  },
  {
    name: "Behind",
    numeric: true,
    value: (node) => node.slotLag,
    cell: (node) => <Unit value={node.slotLag} unit="slots" />,
  },
  {
    name: "Latency",
    numeric: true,
    value: (node) => node.latencyMs,
    cell: (node) => <Unit value={node.latencyMs} unit="ms" />,
  },
];

type LedgerTable = NonNullable<ConsoleOverview["ledger"]>[number];

const ledgerColumns: readonly Column<LedgerTable>[] = [
  { name: "Table", value: (table) => table.name },
  { name: "Holds", value: (table) => table.holds },
  { name: "Rows", numeric: true, value: (table) => table.rows, cell: (table) => exact(table.rows) },
  {
    name: "On disk",
    numeric: true,
    value: (table) => table.bytes,
    cell: (table) => <Unit value={Math.round((table.bytes / 1024 ** 2) * 10) / 10} unit="MiB" />,
  },
  { name: "Oldest row", value: (table) => table.oldest_at?.slice(0, 10) ?? "none" },
  { name: "Kept", value: (table) => table.kept ?? "by a rule of its own" },
];

interface Props {
  readonly overview: ConsoleOverview;
  readonly receivedAt: number;
  readonly live: boolean;
}

export function Overview({ overview, receivedAt, live }: Props) {
  const now = useNow();
  const stale = !live || now - receivedAt > 5_000;
  return (
    <>
      <h1 className="text-2xl leading-tight font-semibold">{headline(overview)}</h1>
      <p className={`mt-1 text-sm ${stale ? "text-warn" : "text-quiet"}`} aria-live="polite">
        {stale ? (
          `No answer from the server since ${ago(now - receivedAt)}; trying again.`
        ) : (
          <Standing overview={overview} />
        )}
      </p>
      <div className="mt-3 h-px overflow-hidden bg-hairline">
        <div key={overview.slot} className="pulse h-px bg-accent" />
      </div>
      <Figures overview={overview} stale={stale} />
      <Section title="Requests by minute" aside={<span className="text-xs text-quiet">this account</span>}>
        {overview.lastHour.requests === 0 ? (
          <FirstCall overview={overview} />
        ) : (
          <MinutesChart usage={overview.lastHour} now={now} />
        )}
      </Section>
      {overview.upstreams !== null && <Nodes upstreams={overview.upstreams} />}
      {overview.ledger !== null && overview.ledger.length > 0 && (
        <Section title="Ledger">
          <DataTable caption="Ledger" columns={ledgerColumns} rows={overview.ledger} id={(table) => table.name} />
        </Section>
      )}
      <Section title="Endpoints">
        <DataTable
          caption="Endpoints"
          columns={endpointColumns}
          rows={overview.doors}
          id={(endpoint) => endpoint.name}
        />
      </Section>
      <Account account={overview.account} />
      <footer className="mt-8 flex flex-wrap gap-x-6 gap-y-1 border-t border-hairline pt-3 text-xs text-quiet">
        <span>Sluice {overview.version}</span>
        <span>up {duration(overview.uptimeSeconds)}</span>
        <Copy text={`curl ${gatewayAddress(overview)}/api/v1/console/overview -H "X-API-Key: $KEY"`}>
          <span className="font-sans text-xs">this page as curl</span>
        </Copy>
      </footer>
    </>
  );
}

function Figures({ overview, stale }: { overview: ConsoleOverview; stale: boolean }) {
  return (
    <dl className="mt-6 grid grid-cols-2 gap-y-4 sm:grid-cols-3 lg:grid-cols-6">
      <Figure name="Slot" value={known(overview.slot)} stale={stale} />
      <Figure name="Height" value={known(overview.blockHeight)} unit="blocks" stale={stale} />
      <Figure name="Transactions" value={known(overview.transactionsPerSecond)} unit="a second" stale={stale} />
      <Figure
        name="Requests, last hour"
        value={compact(overview.lastHour.requests)}
        exact={exact(overview.lastHour.requests)}
        stale={stale}
      />
      <Figure
        name="Errors, last hour"
        value={compact(overview.lastHour.errors)}
        exact={exact(overview.lastHour.errors)}
        stale={stale}
      />
      <Figure
        name="Credits, last hour"
        value={compact(overview.lastHour.credits)}
        exact={exact(overview.lastHour.credits)}
        stale={stale}
      />
    </dl>
  );
}

function Nodes({ upstreams }: { upstreams: readonly ConsoleUpstream[] }) {
  return (
    <Section title="Nodes">
      {upstreams.length === 0 ? (
        <p className="mt-3 text-quiet">
          No node is configured. Name one with <code className="font-mono">UPSTREAMS_MAINNET=label=https://…</code> and
          start again.
        </p>
      ) : (
        <DataTable
          caption="Nodes"
          columns={nodeColumns}
          rows={upstreams}
          id={(node) => `${node.network} ${node.label}`}
        />
      )}
    </Section>
  );
}

function Account({ account }: { account: ConsoleOverview["account"] }) {
  const used = Number(account.creditsUsed);
  return (
    <Section title="Account">
      <dl className="mt-3 grid grid-cols-2 gap-y-4 sm:grid-cols-3">
        <Figure name="Name" value={account.name} />
        <Figure name="Tier" value={account.tier} />
        <Figure
          name="Credits this month"
          value={compact(used)}
          exact={account.creditsUsed}
          unit={account.creditsMonthly === null ? "of unlimited" : `of ${compact(Number(account.creditsMonthly))}`}
        />
      </dl>
    </Section>
  );
}

const known = (value: number | null): string => (value === null ? "–" : exact(value));

/** What customers are told of the network, who are not shown its nodes. */
const stateTexts: Readonly<Record<ConsoleOverview["networkState"], string>> = {
  operational: "is operational",
  degraded: "is behind its chain",
  unavailable: "cannot be reached",
};

function headline(overview: ConsoleOverview): string {
  if (overview.upstreams === null) return `The network ${overview.network} ${stateTexts[overview.networkState]}`;
  const nodes = overview.upstreams.filter((node) => node.network === overview.network);
  const healthy = nodes.filter((node) => node.health === "healthy");
  if (nodes.length === 0) return `No node of ${overview.network} is configured`;
  if (healthy.length === 0) return `No node of ${overview.network} can be reached`;
  if (healthy.length < nodes.length)
    return `${healthy.length} of ${plural(nodes.length, "node")} of ${overview.network} serve`;
  const furthest = Math.max(...healthy.map((node) => node.slotLag ?? 0));
  const where = furthest <= nearSlots ? "at the head" : `within ${plural(furthest, "slot")}`;
  return `${plural(nodes.length, "node")}, ${where} of ${overview.network}`;
}

function Standing({ overview }: { overview: ConsoleOverview }) {
  const open = overview.doors.filter((endpoint) => endpoint.status === "open").length;
  return (
    <>
      {plural(open, "endpoint")} open; {plural(overview.lastHour.requests, "request")} in the last hour,{" "}
      {overview.lastHour.errors === 0 ? "none failed" : `${exact(overview.lastHour.errors)} failed`}.
    </>
  );
}

function State({ good, children }: { good: boolean; children: React.ReactNode }) {
  return <span className={good ? "text-good" : "font-medium text-bad"}>{children}</span>;
}

function Unit({ value, unit }: { value: number | null; unit: string }) {
  if (value === null) return <span className="text-quiet">unknown</span>;
  return (
    <>
      {value < 10 && !Number.isInteger(value) ? value.toFixed(1) : exact(value)}{" "}
      <span className="text-quiet">{unit}</span>
    </>
  );
}

/** Where people reach the gateway: `PUBLIC_URL` where an operator named one, which this page may not have come from. */
function gatewayAddress({ doors }: ConsoleOverview): string {
  const rpc = doors.find((endpoint) => endpoint.name === "rpc")?.address;
  return rpc?.endsWith("/rpc") === true ? rpc.slice(0, -"/rpc".length) : location.origin;
}

/** An empty page teaches the call that fills it. */
function FirstCall({ overview }: { overview: ConsoleOverview }) {
  const command = `curl ${gatewayAddress(overview)}/rpc -H "X-API-Key: $KEY" -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'`;
  return (
    <div className="mt-3 text-quiet">
      <p>
        No request has been made with this account's keys in the last hour. This one will show up here within seconds:
      </p>
      <div className="mt-2 overflow-x-auto rounded-sm border border-hairline bg-raised p-3">
        <Copy text={command} />
      </div>
      <p className="mt-2 text-xs">
        On a development server <code className="font-mono">$KEY</code> is in{" "}
        <code className="font-mono">.sluice/dev.json</code>.
      </p>
    </div>
  );
}

function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
