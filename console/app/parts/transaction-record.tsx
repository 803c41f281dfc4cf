import type { EnhancedRecord } from "../enhanced.ts";
import { exact, plural } from "../figures.ts";
import { ChainLink } from "./chain-link.tsx";
import { Copy } from "./copy.tsx";
import { type Column, DataTable } from "./data-table.tsx";
import { Facts } from "./facts.tsx";
import { Section } from "./section.tsx";

interface Movement {
  readonly at: number;
  readonly from: string | null;
  readonly to: string | null;
  /** As it is told, in whole units; null where the decimals are not known. */
  readonly amount: string | null;
  /** Null for lamports. */
  readonly mint: string | null;
}

const lamportsOfNative = 1e9;

/** What moved: lamports in native tokens first, then tokens. */
function movementsOf({ nativeTransfers, tokenTransfers }: EnhancedRecord): Movement[] {
  const moved = [
    ...nativeTransfers.map(({ fromUserAccount: from, toUserAccount: to, amount }) => {
      return { from, to, amount: String(Number(amount) / lamportsOfNative), mint: null };
    }),
    ...tokenTransfers.map(({ fromUserAccount: from, toUserAccount: to, tokenAmount, mint }) => {
      return { from, to, amount: tokenAmount === null ? null : String(tokenAmount), mint };
    }),
  ];
  return moved.map((each, at) => ({ ...each, at }));
}

const columns: readonly Column<Movement>[] = [
  { name: "From", value: ({ from }) => from, cell: ({ from }) => <ChainLink text={from} /> },
  { name: "To", value: ({ to }) => to, cell: ({ to }) => <ChainLink text={to} /> },
  { name: "Amount", numeric: true, value: ({ amount }) => amount },
  {
    name: "Of",
    value: ({ mint }) => mint ?? "native",
    cell: ({ mint }) => (mint === null ? "native" : <ChainLink text={mint} />),
  },
];

export const momentOf = (timestamp: EnhancedRecord["timestamp"]): string | null =>
  timestamp === null ? null : new Date(Number(timestamp) * 1_000).toISOString().replace(".000", "");

/** One transaction in words and numbers: what it was, what moved, and what it called. */
export function TransactionRecord({ record }: { record: EnhancedRecord }) {
  const { type, source, transactionError, slot, timestamp, fee, feePayer, signature, instructions } = record;
  const movements = movementsOf(record);
  const named = instructions.flatMap(({ decoded }) => (decoded === undefined ? [] : [decoded.name]));
  return (
    <>
      <Facts
        facts={[
          ["Type", type],
          ["Source", source === "" ? null : source],
          ["Outcome", transactionError === null ? "succeeded" : `failed: ${JSON.stringify(transactionError.error)}`],
          ["Slot", exact(Number(slot))],
          ["Time", momentOf(timestamp)],
          ["Fee", fee === null ? null : `${exact(Number(fee))} lamports`],
          ["Fee payer", <ChainLink key="payer" text={feePayer} />],
          ["Signature", <Copy key="signature" text={signature} />],
          [
            "Instructions",
            `${plural(instructions.length, "instruction")}${named.length === 0 ? "" : `: ${named.join(", ")}`}`,
          ],
        ]}
      />
      <Section title="Movements">
        {movements.length === 0 ? (
          <p className="mt-1 text-quiet">Nothing moved but the fee.</p>
        ) : (
          <DataTable caption="Movements" columns={columns} rows={movements} id={({ at }) => String(at)} />
        )}
      </Section>
      <Section title="The record">
        <details className="mt-1">
          <summary className="min-h-6 text-quiet">as JSON, as POST /api/v1/v0/transactions answers it</summary>
          <pre className="mt-1 whitespace-pre-wrap break-all text-xs">{JSON.stringify(record, null, 2)}</pre>
        </details>
      </Section>
    </>
  );
}
