import { z } from "zod";
import { limits } from "../limits.ts";

/** The query of every list. The text of `limit` is read as a whole number, since queries hold text. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(limits.pageMax)
    .default(limits.pageDefault)
    .meta({ description: "The most items to answer with" }),
  cursor: z.string().min(1).max(512).optional().meta({ description: "`next_cursor` of the page before" }),
});

/** The body of every list that no document shapes otherwise. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next_cursor: z.string().nullable().meta({ description: "Opaque; null on the last page" }),
  });
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}
