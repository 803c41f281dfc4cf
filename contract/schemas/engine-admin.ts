import { z } from "zod";
import { bigCount, count, identifier, timestamp } from "./primitives.ts";

const publicKey = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, { error: "must be a public key of 32 bytes in base58" })
  .meta({ description: "A public key in base58" });

/** Who bundles are counted for. */
const searcherId = z
  .string()
  .min(1)
  .max(64)
  .meta({ description: "An account's id, or `pubkey:` and a public key that no account has linked" });

const engineSwitch = z
  .object({ on: z.boolean(), set_at: timestamp.nullable().meta({ description: "null when it was never set" }) })
  .meta({ id: "EngineSwitch", description: "A switch of the block engine" });

export const engineValidator = z
  .object({
    identity: z.string(),
    next_slots: z.array(count).meta({ description: "Its coming slots, as far as the schedule is known" }),
  })
  .meta({ id: "EngineValidator", description: "A connected leader" });

const tipFloorFigures = z
  .object({
    floor: bigCount.meta({ description: "Lamports, as a string" }),
    average_24h: bigCount.meta({ description: "Lamports, as a string" }),
    utilization: z.number().min(0).max(1).meta({ description: "Of the block space of the last 20 blocks" }),
    bundle_share: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: "Of their bundle compute that bundles used; the floor rises above 0.9" }),
  })
  .meta({ id: "EngineTipFloor", description: "The tip floor" });

/** What the engine of the process that answers does now. */
const engineFigures = z
  .object({
    status: z.enum(["ok", "degraded", "maintenance"]),
    slot: count.nullable(),
    bundles_live: count,
    validators: z.array(engineValidator),
    tip_floor: tipFloorFigures,
  })
  .meta({ id: "EngineFigures", description: "The state of the block engine of the answering process" });

export const engineAdmin = z
  .object({
    switches: z.object({
      maintenance: engineSwitch.meta({ description: "Submissions are refused; what is in flight goes on" }),
      halted: engineSwitch.meta({ description: "Nothing is handed to leaders either" }),
    }),
    engine: engineFigures.nullable().meta({ description: "null where the process that answers runs no engine" }),
    standby: z.boolean().meta({ description: "Whether it stands by while another process runs the engine" }),
  })
  .meta({ id: "EngineAdmin", description: "The block engine as operators see it" });

/** Management bodies refuse members they do not know. */
export const engineSwitchChange = z
  .strictObject({ on: z.boolean() })
  .meta({ id: "EngineSwitchChange", description: "The new position of a switch" });

export const searcherLink = z
  .object({ pubkey: publicKey, account_id: identifier, linked_at: timestamp })
  .meta({ id: "SearcherLink", description: "A public key whose bundles count for an account" });

export const searcherLinkCreate = z
  .strictObject({ pubkey: publicKey, account_id: identifier })
  .meta({ id: "SearcherLinkCreate", description: "A public key to link to an account" });

const bundleRate = z.int().min(0).max(100_000);

export const searcherLimitChange = z
  .strictObject({
    bundles_per_second: bundleRate.meta({ description: "0 stops the searcher: every bundle of it is refused" }),
    burst: bundleRate.meta({ description: "Bundles that may come at once; 0 with a rate of 0 alone" }),
  })
  .refine(({ bundles_per_second: rate, burst }) => (rate === 0) === (burst === 0), {
    path: ["burst"],
    message: "burst is 0 where bundles_per_second is 0, and at least 1 otherwise",
  })
  .meta({ id: "SearcherLimitChange", description: "The new bundle rate of a searcher" });

export const searcherLimit = z
  .object({ searcher_id: searcherId, bundles_per_second: count, burst: count, set_at: timestamp })
  .meta({ id: "SearcherLimit", description: "The bundle rate of a searcher, in place of that of its tier" });

export type EngineAdmin = z.infer<typeof engineAdmin>;

/** The state of the block engine of the answering process. */
export type EngineFigures = z.infer<typeof engineFigures>;
export type SearcherLinkBody = z.infer<typeof searcherLink>;
export type SearcherLimitBody = z.infer<typeof searcherLimit>;
export type SearcherLimitChange = z.infer<typeof searcherLimitChange>;
