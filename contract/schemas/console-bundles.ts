import { z } from "zod";
import { mevTypes, searcherTiers, shownStates } from "../engine.ts";
import { engineValidator } from "./engine-admin.ts";
import { bigCount, count, timestamp } from "./primitives.ts";

const consoleBundle = z
  .object({
    id: z.string(),
    status: z.enum(shownStates),
    finalized: z.boolean().meta({ description: "Its block can be undone no more" }),
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    door: z.string(),
    mevType: z.enum(mevTypes),
    tip: bigCount.meta({ description: "Lamports that it claims to pay, as a string" }),
    sealed: z.boolean().meta({ description: "Encrypted and not opened yet" }),
    transactions: count,
    slot: count.nullable().meta({ description: "Where it is in the chain" }),
    forwarded: count.meta({ description: "How often it was handed to a leader" }),
    receivedAt: timestamp,
    changedAt: timestamp,
  })
  .meta({ id: "ConsoleBundle", description: "A bundle" });

/** One bundle and all that is known of what became of it. */
export const consoleBundleStory = consoleBundle
  .extend({
    signatures: z.array(z.string()).meta({ description: "Of its transactions; none while it is sealed" }),
    tipSeen: bigCount.nullable().meta({ description: "Lamports that its last run, or its block, paid, as a string" }),
    computeUnits: count.nullable(),
    targetSlot: count.nullable(),
    acceptedSlot: count,
    lastValidBlockHeight: count.nullable(),
    expiresAt: timestamp,
    handedOver: z
      .object({ slot: count, leader: z.string() })
      .nullable()
      .meta({ description: "For which slot, and to whom, it was handed last" }),
    blockhash: z.string().nullable().meta({ description: "Of the block that it is in" }),
    observedAt: timestamp,
  })
  .meta({ id: "ConsoleBundleStory", description: "A bundle and its history" });

/** The account's bundles for people to read; who operates also sees leaders and switches. */
export const consoleBundles = z
  .object({
    door: z.string().meta({ example: "http://127.0.0.1:7435" }),
    engine: z.object({
      status: z.enum(["ok", "degraded", "maintenance"]),
      slot: count.nullable(),
      live: count.meta({ description: "The account's bundles that can still change" }),
      leaders: count.meta({ description: "Leaders that take bundles now" }),
      nextLeaderSlot: count.nullable(),
    }),
    tipFloor: z.object({
      floor: bigCount,
      average24h: bigCount,
      utilization: z.number().min(0).max(1).meta({ description: "Of the block space of the last 20 blocks" }),
      landedMedian: bigCount.nullable().meta({ description: "null while no tip landed in the last blocks" }),
      landedBlocks: count.meta({ description: "How many blocks those are" }),
    }),
    reputation: z.object({
      score: z.number().min(0).max(100),
      tier: z.enum(searcherTiers),
      landingRate: z.number().min(0).max(1),
      simulationSuccess: z.number().min(0).max(1),
      submitted: bigCount,
      landed: bigCount,
    }),
    bundles: z.array(consoleBundle).max(100),
    operator: z
      .object({
        maintenance: z.boolean(),
        halted: z.boolean(),
        bundlesLive: count,
        validators: z.array(engineValidator),
      })
      .nullable()
      .meta({ description: "null for who does not operate the server" }),
    observedAt: timestamp,
  })
  .meta({
    id: "ConsoleBundles",
    description: "The bundles page of the console. Operators also see leaders and switches",
  });

/** A bundle in a list of the console. */
export type ConsoleBundle = z.infer<typeof consoleBundle>;
export type ConsoleBundleStory = z.infer<typeof consoleBundleStory>;
export type ConsoleBundles = z.infer<typeof consoleBundles>;
