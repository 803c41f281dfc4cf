import type { ConsoleUsage } from "@sluice/sdk";
import { useState } from "react";
import { exact } from "../figures.ts";
import { DataTable } from "./data-table.tsx";
import { QuietButton } from "./section.tsx";

type Minute = ConsoleUsage["byMinute"][number];

const height = 96;
const minutes = 60;
const columns = [
  { name: "Minute", value: (row: Minute) => row.minute.slice(11, 16) },
  { name: "Requests", numeric: true, value: (row: Minute) => row.requests },
  { name: "Credits", numeric: true, value: (row: Minute) => row.credits },
];

/** Requests of each minute of the last hour as bars, with their credits on hover; the same as a table on demand. */
export function MinutesChart({ usage, now }: { usage: ConsoleUsage; now: number }) {
  const [asTable, setAsTable] = useState(false);
  const byMinute = fillMinutes(usage.byMinute, now);
  const most = Math.max(1, ...byMinute.map((minute) => minute.requests));
  return (
    <div className="mt-3">
      {asTable ? (
        <DataTable
          caption="Requests and credits by minute"
          columns={columns}
          rows={byMinute}
          id={(row) => row.minute}
        />
      ) : (
        <svg
          viewBox={`0 0 600 ${height + 18}`}
          preserveAspectRatio="none"
          className="h-28 w-full"
          role="img"
          aria-label={`${exact(usage.requests)} requests and ${exact(usage.credits)} credits in the last hour; at most ${exact(most)} requests in a minute`}
        >
          <line x1="0" x2="600" y1={height + 0.5} y2={height + 0.5} stroke="var(--hairline)" />
          {byMinute.map((minute, index) => {
            const bar = Math.max(minute.requests > 0 ? 2 : 0, (minute.requests / most) * (height - 4));
            return (
              <rect
                key={minute.minute}
                x={index * 10 + 1}
                width="8"
                y={height - bar}
                height={bar}
                fill="var(--chart-1)"
              >
                <title>{`${minute.minute.slice(11, 16)}: ${exact(minute.requests)} requests, ${exact(minute.credits)} credits`}</title>
              </rect>
            );
          })}
        </svg>
      )}
      <div className="mt-1 flex justify-between text-xs text-quiet">
        <span>an hour ago</span>
        <QuietButton onClick={() => setAsTable(!asTable)}>{asTable ? "as a chart" : "as a table"}</QuietButton>
        <span>now</span>
      </div>
    </div>
  );
}

/** Every minute of the hour has its place, those without a request too. */
function fillMinutes(known: readonly Minute[], now: number): Minute[] {
  const byMinute = new Map(known.map((minute) => [minute.minute.slice(0, 16), minute]));
  const current = Math.floor(now / 60_000);
  return Array.from({ length: minutes }, (_, index) => {
    const minute = new Date((current - minutes + 1 + index) * 60_000).toISOString();
    return byMinute.get(minute.slice(0, 16)) ?? { minute, requests: 0, credits: 0 };
  });
}
