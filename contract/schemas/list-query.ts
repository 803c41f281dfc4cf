import { z } from "zod";
import { networks } from "../tiers.ts";

/** Members that queries of lists have in common. */

/** The chain that is asked about. */
export const network = z
  .enum(networks)
  .optional()
  .meta({ description: "The chain; the header `X-Network` stands over it" });
/** Where the page before ended. */
export const cursor = z
  .string()
  .min(1)
  .max(512)
  .optional()
  .meta({ description: "`next_cursor` of the page before, with the same other members" });
/** The order of a list by time. */
export const order = z.enum(["desc", "asc"]).default("desc").meta({ description: "`desc` is the newest first" });
