/** A value with its unit and what it means; the exact value shows on hover. */
export function Figure(props: { name: string; value: string; unit?: string; exact?: string; stale?: boolean }) {
  return (
    <div className="min-w-0 border-l border-hairline pl-3">
      <dt className="text-xs text-quiet">{props.name}</dt>
      <dd
        title={props.exact ?? props.value}
        className={`truncate text-lg font-medium tabular-nums ${props.stale === true ? "text-quiet" : ""}`}
      >
        {props.value}
        {props.unit !== undefined && <span className="ml-1 text-sm font-normal text-quiet">{props.unit}</span>}
      </dd>
    </div>
  );
}
