import type { ValidatorBody } from "@sluice/sdk";
import { decimal } from "../figures.ts";
import { shortened } from "./bundle-columns.tsx";
import { Copy } from "./copy.tsx";
import type { Column } from "./data-table.tsx";
import { ExplainedCell } from "./explained-figure.tsx";

const scoreWidth = 40;

/** Validators of the stake pool, and what each earns it; each figure opens how it comes about. */
export const validatorColumns = (onExplain: () => void): readonly Column<ValidatorBody>[] => [
  {
    name: "Validator",
    value: ({ name, address }) => (name === "" ? address : name),
    cell: ({ name, address }) => (
      <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        {name !== "" && <span className="max-w-[24ch] truncate">{name}</span>}
        <Copy text={address}>
          <span className={name === "" ? "" : "text-quiet"}>{shortened(address)}</span>
        </Copy>
      </span>
    ),
  },
  {
    name: "Stake, native",
    numeric: true,
    value: ({ stake }) => stake,
    cell: ({ stake }) => (
      <ExplainedCell exact={String(stake)} onExplain={onExplain}>
        {decimal(stake, 2)}
      </ExplainedCell>
    ),
  },
  {
    name: "APY",
    numeric: true,
    value: ({ apy }) => apy,
    cell: ({ apy }) => <Percent value={apy} onExplain={onExplain} />,
  },
  {
    name: "Commission",
    numeric: true,
    value: ({ commission }) => commission,
    cell: ({ commission }) => <Percent value={commission} onExplain={onExplain} />,
  },
  {
    name: "MEV score",
    numeric: true,
    value: ({ mevScore }) => mevScore,
    cell: ({ mevScore }) => (
      <span
        className="inline-flex items-baseline gap-2 whitespace-nowrap"
        title="50 is the average of the pool, 0 none"
      >
        <svg viewBox={`0 0 ${scoreWidth} 6`} className="h-1.5 w-10" aria-hidden="true">
          <rect width={scoreWidth} height="6" rx="1" fill="var(--hairline)" />
          <rect width={(scoreWidth * mevScore) / 100} height="6" rx="1" fill="var(--chart-1)" />
          <line x1={scoreWidth / 2} x2={scoreWidth / 2} y1="0" y2="6" stroke="var(--quiet)" />
        </svg>
        <ExplainedCell exact={String(mevScore)} onExplain={onExplain}>
          {mevScore.toFixed(2)}
        </ExplainedCell>
      </span>
    ),
  },
];

function Percent({ value, onExplain }: { value: number; onExplain: () => void }) {
  return (
    <ExplainedCell exact={`${value} %`} onExplain={onExplain}>
      {value.toFixed(2)} <span className="text-quiet">%</span>
    </ExplainedCell>
  );
}
