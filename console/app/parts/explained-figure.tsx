/** A record whose explanation opens, as its path names it, with the parameters that it takes. */
export interface ExplainedBy {
  readonly record: string;
  readonly [parameter: string]: string;
}

interface Props {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly exact: string;
  /** In percent over a period that `over` names; none is shown where it is absent. */
  readonly change?: { readonly percent: number; readonly over: string };
  readonly stale: boolean;
  readonly onExplain: () => void;
}

/** A figure that opens how it comes about. */
export function ExplainedFigure({ name, value, unit, exact, change, stale, onExplain }: Props) {
  return (
    <div className="min-w-0 border-l border-hairline pl-3">
      <dt className="text-xs text-quiet">{name}</dt>
      <dd>
        <button
          type="button"
          title={`${exact}: how it comes about`}
          onClick={onExplain}
          className={`block max-w-full truncate text-left text-lg font-medium tabular-nums decoration-hairline decoration-dotted underline underline-offset-4 hover:text-accent hover:decoration-current ${stale ? "text-quiet" : ""}`}
        >
          {value}
          {unit !== undefined && <span className="ml-1 text-sm font-normal text-quiet">{unit}</span>}
        </button>
        {change !== undefined && (
          <ExplainedCell exact={`${change.percent} %`} onExplain={onExplain}>
            <Change {...change} />
          </ExplainedCell>
        )}
      </dd>
    </div>
  );
}

function Change({ percent, over }: { percent: number; over: string }) {
  const colour = percent > 0 ? "text-good" : percent < 0 ? "text-bad" : "text-quiet";
  return (
    <span className="block text-xs tabular-nums">
      <span className={colour}>
        {percent > 0 ? "+" : ""}
        {percent.toFixed(2)} %
      </span>{" "}
      <span className="text-quiet">in {over}</span>
    </span>
  );
}

/** A figure in a table that opens how it comes about. */
export function ExplainedCell({ exact, onExplain, children }: ExplainedCellProps) {
  return (
    <button
      type="button"
      title={`${exact}: how it comes about`}
      onClick={onExplain}
      className="min-h-[24px] min-w-[24px] whitespace-nowrap tabular-nums decoration-hairline decoration-dotted underline-offset-4 hover:text-accent hover:underline"
    >
      {children}
    </button>
  );
}

interface ExplainedCellProps {
  readonly exact: string;
  readonly onExplain: () => void;
  readonly children: React.ReactNode;
}
