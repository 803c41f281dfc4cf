import type { ConsoleBundle, ConsoleBundles } from "@sluice/sdk";
import { ago, compact, exact } from "../figures.ts";
import { navigate } from "../route.ts";
import { Copy } from "./copy.tsx";
import type { Column } from "./data-table.tsx";

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
  { name: "Bundle", value: ({ id }) => id, cell: ({ id }) => <Copy text={id}>{shortened(id)}</Copy> },
  { name: "State", value: stateOf, cell: (bundle) => <State bundle={bundle} /> },
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

const stateOf = ({ status, finalized, reason }: ConsoleBundle): string =>
  reason === null ? (finalized ? "finalized" : status) : `${status}: ${reason}`;

const stateColours: Readonly<Record<ConsoleBundle["status"], string>> = {
  accepted: "text-ink",
  included: "text-good",
  dropped: "text-bad",
  expired: "text-warn",
};

/** A reason leads to what it means and what to do. */
function State({ bundle }: { bundle: ConsoleBundle }) {
  const { status, reason, detail, sealed } = bundle;
  if (reason === null) {
    return (
      <span className={stateColours[status]}>
        {stateOf(bundle)}
        {sealed && <span className="text-quiet">, sealed</span>}
      </span>
    );
  }
  const place = `/docs/errors#${reason.replaceAll("_", "-")}`;
  return (
    <span className={stateColours[status]}>
      {status}:{" "}
      <a
        href={place}
        title={detail ?? reason}
        className="underline underline-offset-2"
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          navigate(place);
        }}
      >
        {reason}
      </a>
    </span>
  );
}

const shortened = (text: string): string => `${text.slice(0, 6)}…${text.slice(-6)}`;
