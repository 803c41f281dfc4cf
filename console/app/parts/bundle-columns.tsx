import type { ConsoleBundle, ConsoleBundles } from "@sluice/sdk";
import { ago, compact, exact } from "../figures.ts";
import { Copy } from "./copy.tsx";
import type { Column } from "./data-table.tsx";
import { PageLink } from "./page-link.tsx";

/** Leaders that take bundles, for operators. */
export const leaderColumns: readonly Column<NonNullable<ConsoleBundles["operator"]>["validators"][number]>[] = [
  {
    name: "Identity",
    value: ({ identity }) => identity,
    cell: ({ identity }) => <Copy text={identity}>{shortened(identity)}</Copy>,
  },
  {
    name: "Coming slots",
    numeric: true,
    value: ({ next_slots: slots }) => slots[0] ?? null,
    cell: ({ next_slots: slots }) => (
      <span className="font-mono" title={slots.join(", ")}>
        {slots.slice(0, 4).map(exact).join(" ")}
      </span>
    ),
  },
];

/** An account's bundles and what became of each. */
export const bundleColumns = (now: number): readonly Column<ConsoleBundle>[] => [
  {
    name: "Bundle",
    value: ({ id }) => id,
    cell: ({ id }) => (
      <PageLink to={`/bundles/${id}`}>
        <span className="font-mono text-[13px]" title={id}>
          {shortened(id)}
        </span>
      </PageLink>
    ),
  },
  { name: "State", value: bundleState, cell: (bundle) => <BundleState bundle={bundle} /> },
  {
    name: "Tip",
    numeric: true,
    value: ({ tip }) => Number(tip),
    cell: ({ tip }) => (
      <span title={`${exact(BigInt(tip))} lamports`} className="whitespace-nowrap tabular-nums">
        {compact(Number(tip))} <span className="text-quiet">lamports</span>
      </span>
    ),
  },
  {
    name: "Slot",
    numeric: true,
    value: ({ slot }) => slot,
    cell: ({ slot }) =>
      slot === null ? <span className="text-quiet">none</span> : <span className="font-mono">{exact(slot)}</span>,
  },
  { name: "Transactions", numeric: true, value: ({ transactions, sealed }) => (sealed ? null : transactions) },
  { name: "Handed over", numeric: true, value: ({ forwarded }) => forwarded },
  { name: "By", value: ({ door, mevType }) => (mevType === "unknown" ? door : `${door}, ${mevType}`) },
  {
    name: "Received",
    numeric: true,
    value: ({ receivedAt }) => receivedAt,
    cell: ({ receivedAt }) => (
      <time dateTime={receivedAt} title={receivedAt} className="whitespace-nowrap text-quiet">
        {ago(now - Date.parse(receivedAt))}
      </time>
    ),
  },
];

export const bundleState = ({ status, finalized, reason }: ConsoleBundle): string =>
  reason === null ? (finalized ? "finalized" : status) : `${status}: ${reason}`;

const stateColours: Readonly<Record<ConsoleBundle["status"], string>> = {
  accepted: "text-ink",
  included: "text-good",
  dropped: "text-bad",
  expired: "text-warn",
};

/** A reason leads to what it means and what to do. */
export function BundleState({ bundle }: { bundle: ConsoleBundle }) {
  const { status, reason, detail, sealed } = bundle;
  if (reason === null) {
    return (
      <span className={stateColours[status]}>
        {bundleState(bundle)}
        {sealed && <span className="text-quiet">, sealed</span>}
      </span>
    );
  }
  const place = `/docs/errors#${reason.replaceAll("_", "-")}`;
  return (
    <span className={stateColours[status]}>
      {status}:{" "}
      <PageLink to={place} title={detail ?? reason}>
        {reason}
      </PageLink>
    </span>
  );
}

export const shortened = (text: string): string => `${text.slice(0, 6)}…${text.slice(-6)}`;
