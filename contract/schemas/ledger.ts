import { z } from "zod";
import { count, timestamp } from "./primitives.ts";

/** What operators are told of a table. */
export const ledgerTable = z
  .object({
    name: z.string().meta({ example: "requests" }),
    holds: z.string().meta({ description: "What its rows are" }),
    rows: count,
    bytes: count.meta({ description: "On disk; of a cluster on all servers together" }),
    oldest_at: timestamp.nullable().meta({ description: "The time of its oldest row; null without rows" }),
    kept: z.string().nullable().meta({
      description: "How long it keeps its rows, or `forever`; null where somebody gave it a rule of its own",
      example: "62d",
    }),
    least: z.string().meta({ description: "The shortest time that can be set", example: "62d" }),
  })
  .meta({ id: "LedgerTable", description: "A table of the ledger" });

export const ledgerTableList = z
  .object({ items: z.array(ledgerTable) })
  .meta({ id: "LedgerTableList", description: "The tables of the ledger" });

export type LedgerTableBody = z.infer<typeof ledgerTable>;
