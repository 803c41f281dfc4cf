import { z } from "zod";
import { mevTypes, shownStates } from "../engine.ts";
import { networkName, timestamp } from "./primitives.ts";

const wholeNumberText = { error: "must be a whole number from 0 to 18446744073709551615" } as const;
/** Every part of the union has the one text: a part that alone fits by its kind speaks in place of the union. */
const wholeNumber = z
  .union(
    [
      z.int(wholeNumberText).nonnegative(wholeNumberText),
      z
        .bigint()
        .nonnegative(wholeNumberText)
        .lt(2n ** 64n, wholeNumberText),
    ],
    wholeNumberText,
  )
  .transform(BigInt);
const lamports = wholeNumber.meta({ description: "Lamports, a whole number below 2^64" });
const slot = wholeNumber.meta({ description: "A slot, a whole number below 2^64" });

const mevType = z
  .string()
  .nullish()
  .transform((text) => text?.toLowerCase() ?? "unknown")
  .pipe(z.enum(mevTypes))
  .meta({ description: `One of ${mevTypes.join(", ")}, in any letter case; without it unknown` });

const base58Address = z.string().min(32).max(44);

/**
 * POST /api/v1/bundles (spec: block engine, BundleSubmitRequest). The fields that it does not show are additions. The
 * number and length of transactions are checked by the engine, which has a reason for each; the bound of the body is
 * checked before. Null stands for a member that may be absent, as clients of typed languages write it. Unknown members
 * are refused: a misspelled target would let a bundle land where its sender never meant it to.
 */
export const bundleSubmit = z
  .strictObject({
    transactions: z
      .array(
        z.strictObject({
          data: z.string(),
          accounts: z
            .array(z.object({ pubkey: base58Address, isWritable: z.boolean() }))
            .max(256)
            .nullish()
            .meta({ description: "Not used: the accounts are those that the transaction itself names" }),
        }),
      )
      .nullish(),
    tip: lamports,
    mevType,
    targetSlot: slot.nullish(),
    /** Base64 of an encrypted bundle, in place of `transactions`. */
    encryptedPayload: z.string().max(16_384).nullish(),
  })
  .meta({
    id: "BundleSubmitRequest",
    description: "A bundle to enter into the auction. Null stands for a member that may be absent",
  });

export const bundleSubmitted = z
  .object({ bundleId: z.string(), status: z.literal("accepted") })
  .meta({ id: "BundleSubmitResponse", description: "The id of the accepted bundle" });

export const bundleStatus = z
  .object({
    bundleId: z.string(),
    status: z.enum(shownStates),
    slot: z.int().nonnegative().nullable(),
    signatures: z.array(z.string()),
    reason: z.string().nullable(),
  })
  .meta({ id: "BundleStatus", description: "The state of a bundle" });

export const engineStatus = z
  .object({
    service: z.string(),
    version: z.string(),
    status: z.enum(["ok", "degraded", "maintenance"]),
    uptime: z.number().meta({ description: "Seconds" }),
    role: z.literal("standby").optional().meta({
      description: "Another process holds the lease of the bundle pool; this one takes over when that one ends",
    }),
  })
  .meta({ id: "EngineStatus", description: "The state of the block engine" });

export const encryptionKeys = z
  .object({
    network: networkName,
    keys: z.array(
      z.object({
        id: z.string().meta({ description: "8 bytes in hexadecimal" }),
        publicKey: z.string().meta({ description: "X25519, 32 bytes in base64" }),
        suite: z.string(),
        validFromSlot: z.int().nonnegative(),
        validUntilSlot: z.int().nonnegative(),
      }),
    ),
  })
  .meta({ id: "EncryptionKeys", description: "Keys to encrypt bundles with" });

const sol = z.number().nonnegative().meta({ description: "SOL" });

/** Jito's tip floor: one record in an array. */
export const tipFloor = z
  .array(
    z.object({
      time: timestamp,
      landed_tips_25th_percentile: sol,
      landed_tips_50th_percentile: sol,
      landed_tips_75th_percentile: sol,
      landed_tips_95th_percentile: sol,
      landed_tips_99th_percentile: sol,
      ema_landed_tips_50th_percentile: sol,
    }),
  )
  .length(1)
  .meta({
    id: "TipFloor",
    description: "Tips of landed bundles, in SOL: one record in an array, in the form of the Jito API",
  });

export type BundleStatusBody = z.output<typeof bundleStatus>;
export type EngineStatus = z.output<typeof engineStatus>;
export type EncryptionKeys = z.output<typeof encryptionKeys>;
