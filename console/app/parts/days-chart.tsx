import { useState } from "react";
import { DataTable } from "./data-table.tsx";
import { ExplainedCell } from "./explained-figure.tsx";
import { QuietButton } from "./section.tsx";

interface Point {
  readonly timestamp: string;
  readonly value: number;
}

interface Props {
  readonly name: string;
  readonly unit: string;
  readonly places: number;
  readonly points: readonly Point[];
  readonly onExplain: () => void;
}

const width = 600;
const height = 160;

/** Values of days as a line between their lowest and highest, each on hover; the same as a table on demand. */
export function DaysChart({ name, unit, places, points, onExplain }: Props) {
  const [asTable, setAsTable] = useState(false);
  const [hovered, setHovered] = useState<number | null>(null);
  const last = points.at(-1);
  const shown = (hovered === null ? undefined : points[hovered]) ?? last;
  const text = (value: number): string =>
    value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
  return (
    <figure aria-label={name} className="min-w-0">
      <figcaption className="flex items-baseline justify-between gap-4">
        <span className="text-xs text-quiet">{name}</span>
        {shown !== undefined && (
          <span className="text-xs whitespace-nowrap tabular-nums">
            <span className="text-quiet">{shown.timestamp}</span>{" "}
            <ExplainedCell exact={`${shown.value} ${unit}`} onExplain={onExplain}>
              <span className="font-medium">{text(shown.value)}</span> <span className="text-quiet">{unit}</span>
            </ExplainedCell>
          </span>
        )}
      </figcaption>
      {points.length === 0 && <p className="mt-3 text-sm text-quiet">No day has been sampled yet.</p>}
      {points.length > 0 &&
        (asTable ? (
          <DataTable
            caption={name}
            columns={[
              { name: "Day", value: ({ timestamp }: Point) => timestamp },
              {
                name: unit,
                numeric: true,
                value: ({ value }: Point) => value,
                cell: ({ value }: Point) => (
                  <ExplainedCell exact={`${value} ${unit}`} onExplain={onExplain}>
                    {value}
                  </ExplainedCell>
                ),
              },
            ]}
            rows={points}
            id={({ timestamp }) => timestamp}
          />
        ) : (
          <Line name={name} unit={unit} text={text} points={points} hovered={hovered} onHover={setHovered} />
        ))}
      <div className="mt-1 flex justify-between gap-4 text-xs text-quiet">
        <span>{points[0]?.timestamp}</span>
        <span className="flex gap-4">
          <QuietButton onClick={() => setAsTable(!asTable)}>{asTable ? "as a chart" : "as a table"}</QuietButton>
          <QuietButton onClick={onExplain}>how it comes about</QuietButton>
        </span>
        <span>{last?.timestamp}</span>
      </div>
    </figure>
  );
}

interface LineProps extends Pick<Props, "name" | "unit" | "points"> {
  readonly text: (value: number) => string;
  readonly hovered: number | null;
  readonly onHover: (index: number | null) => void;
}

function Line({ name, unit, text, points, hovered, onHover }: LineProps) {
  const { low, high, places } = placed(points);
  const marked = places[hovered ?? places.length - 1];
  const line = places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const summary = `${name}: ${points.length} days, lowest ${text(low)}, highest ${text(high)} ${unit}`;
  return (
    <div className="relative mt-2">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="h-40 w-full"
        role="img"
        aria-label={summary}
        onPointerLeave={() => onHover(null)}
        onPointerMove={(event) => {
          const { left, width: across } = event.currentTarget.getBoundingClientRect();
          onHover(nearest(places, ((event.clientX - left) / across) * width));
        }}
      >
        {[0.5, height / 2, height - 0.5].map((y) => (
          <line key={y} x1="0" x2={width} y1={y} y2={y} stroke="var(--hairline)" vectorEffect="non-scaling-stroke" />
        ))}
        <polygon
          points={`${line} ${width},${height} ${places[0]?.x ?? 0},${height}`}
          fill="var(--chart-1)"
          opacity="0.1"
        />
        <polyline
          points={line}
          fill="none"
          stroke="var(--chart-1)"
          strokeWidth="1.5"
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
        {hovered !== null && marked !== undefined && (
          <line
            x1={marked.x}
            x2={marked.x}
            y1="0"
            y2={height}
            stroke="var(--quiet)"
            strokeDasharray="2 3"
            vectorEffect="non-scaling-stroke"
          />
        )}
      </svg>
      {marked !== undefined && (
        <span
          aria-hidden="true"
          className="pointer-events-none absolute size-2 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-paper bg-accent box-content"
          style={{ left: `${(marked.x / width) * 100}%`, top: `${(marked.y / height) * 100}%` }}
        />
      )}
      <span className="pointer-events-none absolute top-0.5 left-0 bg-paper/80 pr-1 text-xs text-quiet tabular-nums">
        {text(high)}
      </span>
      {high > low && (
        <span className="pointer-events-none absolute bottom-0.5 left-0 bg-paper/80 pr-1 text-xs text-quiet tabular-nums">
          {text(low)}
        </span>
      )}
    </div>
  );
}

/** Where points lie: days across by their date, values from a tenth above the bottom to a tenth below the top. */
function placed(points: readonly Point[]) {
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const times = points.map(({ timestamp }) => Date.parse(timestamp));
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const places = points.map(({ value }, index) => ({
    x: last === first ? width : (((times[index] ?? first) - first) / (last - first)) * width,
    y: high === low ? height / 2 : height * (0.9 - 0.8 * ((value - low) / (high - low))),
  }));
  return { low, high, places };
}

function nearest(places: readonly { readonly x: number }[], x: number): number {
  let found = 0;
  for (const [index, place] of places.entries()) {
    if (Math.abs(place.x - x) < Math.abs((places[found]?.x ?? 0) - x)) found = index;
  }
  return found;
}
