import type { JsonValue } from "@sluice/wire/json";
import type { TipFloorFigures } from "../model/service.ts";

const lamportsPerSol = 1e9;

/** Jito's tip floor: an array of one record, amounts in SOL. Source: wire facts, tip floor REST. */
export function tipFloorRecord({ landed, at }: TipFloorFigures): JsonValue {
  const sol = (lamports: bigint): number => Number(lamports) / lamportsPerSol;
  return [
    {
      time: new Date(at).toISOString(),
      landed_tips_25th_percentile: sol(landed.p25),
      landed_tips_50th_percentile: sol(landed.p50),
      landed_tips_75th_percentile: sol(landed.p75),
      landed_tips_95th_percentile: sol(landed.p95),
      landed_tips_99th_percentile: sol(landed.p99),
      ema_landed_tips_50th_percentile: sol(landed.emaP50),
    },
  ];
}
