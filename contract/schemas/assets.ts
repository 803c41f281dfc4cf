import { z } from "zod";
import { networks } from "../tiers.ts";

const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

/** A fill of the index of digital assets that an operator orders, on the socket for commands alone. */
export const assetFillRequest = z.strictObject({
  network: z.enum(networks),
  /** What is filled; with none of them everything that nodes list. */
  authority: address.optional(),
  creator: address.optional(),
  collection: address.optional(),
  /** Assets a second. */
  per_second: z.int().min(1).max(10_000).default(50),
});

/** How far the last fill of a network has come. */
export interface AssetFillRecord {
  readonly id: string;
  readonly network: string;
  /** What is filled; all null for everything. */
  readonly of: {
    readonly authority: string | null;
    readonly creator: string | null;
    readonly collection: string | null;
  };
  readonly per_second: number;
  readonly state: "active" | "done" | "cancelled" | "failed";
  /** How many assets nodes list; null before they have listed them. */
  readonly assets: number | null;
  /** How many of them were read. */
  readonly read: number;
  /** Why it failed. */
  readonly fault: string | null;
}
