import { z } from "zod";
import { networks } from "../tiers.ts";

/** A moment, as ISO 8601 in UTC with milliseconds: the form of every time that no document sets otherwise. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: "ISO 8601, UTC, with milliseconds", example: "2026-11-20T12:00:00.000Z" });

/** A moment as a caller may write it: ISO 8601 with any precision, in UTC or with an offset. */
export const moment = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-12-01T00:00:00Z or 2026-12-01T02:00:00+02:00" })
  .meta({ description: "ISO 8601, in UTC or with an offset", example: "2026-12-01T00:00:00Z" });

/** A count that may pass 2^53, written as a decimal string so that no reader rounds it. */
export const bigCount = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,38})$/, { error: 'must be a whole number in decimal, as a string such as "75000000"' })
  .meta({ description: "A whole number in decimal, as a string, since it may pass 2^53", example: "75000000" });

const int64Max = "9223372036854775807";

/** A `bigCount` that the stores can keep: at most 2^63-1. */
export const storedCount = bigCount.refine(
  (text) => text.length < int64Max.length || (text.length === int64Max.length && text <= int64Max),
  { error: `must be at most ${int64Max}` },
);

/** An exact integer in an answer, which may pass 2^53: a JSON number of all its digits. */
export const exact = (description: string) => z.number().meta({ type: "integer", description });

/** A count that stays far below 2^53 within the life of a chain, such as a slot or a number of requests. */
export const count = z.int().nonnegative();

/** The name of a chain. */
export const networkName = z.enum(networks).meta({ id: "Network", description: "The chain that is meant" });

/** An identifier that this server gave out. */
export const identifier = z.string().min(1).max(64);

/** A name that a person typed, for other people to read. */
export const displayName = z.string().trim().min(1).max(100);
