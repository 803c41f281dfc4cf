import type { ConsoleBundles } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { ago, exact, plural } from "../figures.ts";
import { bundleColumns, leaderColumns } from "../parts/bundle-columns.tsx";
import { Copy } from "../parts/copy.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { Figure } from "../parts/figure.tsx";
import { Lamports } from "../parts/lamports.tsx";
import { Section } from "../parts/section.tsx";
import { client } from "../use-overview.ts";

/** What became of the account's bundles, and the market that they are in. */
export function Bundles() {
  const { bundles, live, error } = useBundles();
  if (error !== null) {
    return (
      <div role="alert">
        <h1 className="text-2xl font-semibold">Bundles cannot be read</h1>
        <p className="mt-1 text-quiet">{error}</p>
      </div>
    );
  }
  if (bundles === null) return <p className="text-quiet">Reading the bundles…</p>;
  const now = Date.parse(bundles.observedAt);
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(bundles)}</h1>
      <p className={`mt-1 ${live ? "text-quiet" : "text-warn"}`} aria-live="polite">
        {live ? market(bundles) : `The server is out of reach; this is what it said ${ago(Date.now() - now)}.`}
      </p>
      <Figures bundles={bundles} stale={!live} />
      <Section title="Recent bundles" aside={<span className="text-xs text-quiet">this account, newest first</span>}>
        {bundles.bundles.length === 0 ? (
          <FirstBundle door={bundles.door} />
        ) : (
          <DataTable caption="Bundles" columns={bundleColumns(now)} rows={bundles.bundles} id={({ id }) => id} />
        )}
      </Section>
      {bundles.operator !== null && <Operator operator={bundles.operator} />}
      <Section title="As curl">
        <div className="mt-2 overflow-x-auto">
          <Copy text={`curl ${bundles.door}/api/v1/bundles/$ID -H "X-API-Key: $KEY"`} />
        </div>
        <div className="mt-2 overflow-x-auto">
          <Copy text={`curl ${bundles.door}/api/v1/bundles/tip_floor -H "X-API-Key: $KEY"`} />
        </div>
      </Section>
    </>
  );
}

interface Shown {
  readonly bundles: ConsoleBundles | null;
  readonly live: boolean;
  readonly error: string | null;
}

/** The bundles, kept live while the page is shown. */
function useBundles(): Shown {
  const [state, setState] = useState<Shown>({ bundles: null, live: false, error: null });
  useEffect(() => {
    let stopped = false;
    let stopLive = (): void => {};
    const show = (bundles: ConsoleBundles): void => {
      if (!stopped) setState({ bundles, live: true, error: null });
    };
    client.bundles().then(
      (bundles) => {
        show(bundles);
        const lost = (): void => setState((before) => ({ ...before, live: false }));
        if (!stopped) stopLive = client.liveBundles(show, lost);
      },
      (error: unknown) => stopped || setState({ bundles: null, live: false, error: explain(error) }),
    );
    return () => {
      stopped = true;
      stopLive();
    };
  }, []);
  return state;
}

function Figures({ bundles, stale }: { bundles: ConsoleBundles; stale: boolean }) {
  const { tipFloor, reputation } = bundles;
  const percent = (share: number): string => (share * 100).toFixed(1);
  return (
    <dl className="mt-6 grid grid-cols-2 gap-y-4 sm:grid-cols-3 lg:grid-cols-6">
      <Lamports name="Tip floor" text={tipFloor.floor} stale={stale} />
      {tipFloor.landedMedian === null ? (
        <Figure name="Median landed" value={`none in the last ${tipFloor.landedBlocks} blocks`} stale={stale} />
      ) : (
        <Lamports name="Median landed" text={tipFloor.landedMedian} stale={stale} />
      )}
      <Figure
        name="Block space used"
        value={percent(tipFloor.utilization)}
        unit="%"
        exact="of the last 20 blocks, by all transactions"
        stale={stale}
      />
      <Figure
        name="Reputation"
        value={reputation.score.toFixed(1)}
        unit={reputation.tier}
        exact={`${reputation.score} of 100`}
        stale={stale}
      />
      <Figure
        name="Landing rate"
        value={percent(reputation.landingRate)}
        unit="%"
        exact={`${reputation.landed} landed of ${reputation.submitted} submitted`}
        stale={stale}
      />
      <Figure name="Simulated well" value={percent(reputation.simulationSuccess)} unit="%" stale={stale} />
    </dl>
  );
}

function FirstBundle({ door }: { door: string }) {
  return (
    <div className="mt-3">
      <p className="text-quiet">
        No bundle of this account is known. A bundle is up to five signed transactions, one of which pays a tip account:
      </p>
      <div className="mt-2 overflow-x-auto">
        <Copy
          text={`curl ${door}/api/v1/bundles -H "X-API-Key: $KEY" -H "Content-Type: application/json" -d '{"transactions":[{"data":"<base64>"}],"tip":10000}'`}
        />
      </div>
    </div>
  );
}

function Operator({ operator }: { operator: NonNullable<ConsoleBundles["operator"]> }) {
  const { maintenance, halted, bundlesLive, validators } = operator;
  return (
    <Section title="Leaders" aside={<span className="text-xs text-quiet">for operators</span>}>
      <p className={`mt-3 ${maintenance ? "font-medium text-warn" : "text-quiet"}`}>
        {halted
          ? "Halted: nothing is taken, and nothing is handed to leaders."
          : maintenance
            ? "In maintenance: nothing is taken, what is in flight goes on."
            : "Bundles are taken and handed to leaders."}{" "}
        {plural(bundlesLive, "bundle")} of all accounts in flight.
      </p>
      {validators.length === 0 ? (
        <p className="mt-2 text-warn">
          No leader takes bundles: only those of one transaction travel, as ordinary transactions do.
        </p>
      ) : (
        <DataTable caption="Leaders" columns={leaderColumns} rows={validators} id={({ identity }) => identity} />
      )}
      <div className="mt-2 overflow-x-auto">
        <Copy text={`sluice engine halt ${halted ? "off" : "on"}`} />
      </div>
    </Section>
  );
}

function headline({ bundles, engine }: ConsoleBundles): string {
  if (engine.live > 0) return `${plural(engine.live, "bundle")} in flight`;
  if (bundles.length === 0) return "No bundles yet";
  const landed = bundles.filter(({ status }) => status === "included").length;
  if (bundles.length === 1) return landed === 1 ? "The one bundle landed" : "The one bundle did not land";
  return landed === bundles.length
    ? `The last ${plural(landed, "bundle")} landed`
    : `${landed} of the last ${plural(bundles.length, "bundle")} landed`;
}

function market({ engine }: ConsoleBundles): string {
  const next = engine.nextLeaderSlot === null ? "" : `, the next one at slot ${exact(engine.nextLeaderSlot)}`;
  const state = { ok: "", degraded: " The chain cannot be followed.", maintenance: " Submissions are closed." };
  const takers = `${plural(engine.leaders, "leader takes", "leaders take")} bundles${next}.`;
  return `${engine.leaders === 0 ? "No leader takes bundles." : takers}${state[engine.status]}`;
}
