import { z } from "zod";
import { streamBounds, streamChannels } from "../streams.ts";
import { accountUpdatedData, blockStreamData, transactionStreamData } from "./events.ts";
import { exact } from "./primitives.ts";

/**
 * The messages of `/ws`. Those of clients refuse members that are not known, and a refusal names the member. In those
 * of the server an integer that may pass 2^53 is a JSON number of all its digits, which JSON.parse rounds.
 */

const channel = z.enum(streamChannels);
const addresses = z.array(z.string().max(64)).min(1).max(streamBounds.filterListMax);

/** What a subscription asks for: all members must hold, and of a list one entry. */
export const streamFilters = z
  .strictObject({
    commitment: z.enum(["processed", "confirmed", "finalized"]).optional(),
    accounts: addresses.optional().meta({ description: "Any of these is named by the transaction; or is the account" }),
    programs: addresses.optional().meta({ description: "Any of these is called; or owns the account" }),
    failed: z.boolean().optional().meta({ description: "Whether failed transactions are told; true when absent" }),
    votes: z.boolean().optional().meta({ description: "Whether votes are told; false when absent" }),
  })
  .meta({ id: "StreamFilters", description: "Filters of a subscription" });

const ref = z
  .union([z.string().max(streamBounds.refLengthMax), z.number()], {
    error: `must be a string of at most ${streamBounds.refLengthMax} characters, or a number`,
  })
  .optional()
  .meta({ description: "Comes back with the answer" });

const slotText = z
  .union([z.int().nonnegative().transform(String), z.string().regex(/^(0|[1-9][0-9]{0,18})$/)], {
    error: "must be a slot, as a number or as decimal text",
  })
  .meta({ description: "A slot", example: 350_000_000 });

/** Begins a subscription. */
export const streamSubscribe = z.strictObject({
  action: z.literal("subscribe"),
  channel,
  filters: streamFilters.optional(),
  from_slot: slotText
    .optional()
    .meta({ description: "Nothing of a lower slot is told, also where the chain has not come to this one" }),
  cursor: z
    .string()
    .min(1)
    .max(streamBounds.cursorLengthMax)
    .optional()
    .meta({ description: "Begins after this cursor of a subscription to the same channel at the same commitment" }),
  cursors: z
    .boolean()
    .optional()
    .meta({ description: "Whether it is told where it is while nothing else is sent; false when absent" }),
  ref,
});

/** Ends one. */
export const streamUnsubscribe = z.strictObject({
  action: z.literal("unsubscribe"),
  subscriptionId: z.string().min(1).max(128),
  ref,
});

/** Asks for a pong. */
export const streamPing = z.strictObject({ action: z.literal("ping"), ref });

/** What a client says. */
export const streamClientMessage = z.discriminatedUnion("action", [streamSubscribe, streamUnsubscribe, streamPing]);

const subscriptionId = z.string().meta({ description: "Equal for equal subscriptions of all clients" });
const cursor = z.string().meta({ description: "Whoever subscribes with it goes on right after this message" });
const slot = exact("The slot of the block");
const echoedRef = z.union([z.string(), z.number()]);

const told = { subscriptionId, slot, cursor };

/** `data` of a message about a slot. */
export const slotStreamData = z.object({
  slot,
  parent: exact("The slot of the block before; null at processed").nullable(),
  status: z.enum(["processed", "confirmed", "finalized"]),
});

/** What the server says. */
export const streamServerMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("connected") }),
  z.object({
    type: z.literal("subscribed"),
    channel,
    subscriptionId,
    cursor: cursor.nullable().meta({ description: "Where the subscription begins; null for slots at processed" }),
    ref: echoedRef.optional(),
  }),
  z.object({ type: z.literal("unsubscribed"), subscriptionId, ref: echoedRef.optional() }),
  z.object({ type: z.literal("pong") }),
  z.object({ type: z.literal("transaction"), ...told, data: transactionStreamData }),
  z.object({ type: z.literal("block"), ...told, data: blockStreamData }),
  z.object({ type: z.literal("account"), ...told, data: accountUpdatedData }),
  z.object({ type: z.literal("slot"), ...told, cursor: cursor.nullable(), data: slotStreamData }),
  z
    .object({
      type: z.literal("undo"),
      subscriptionId,
      slot,
      blockhash: z.string(),
      back_to: exact("Nothing that was sent of later slots stands"),
      cursor,
    })
    .meta({ description: "The block, of which something was sent, is no longer on the chain" }),
  z
    .object({ type: z.literal("cursor"), subscriptionId, slot, cursor })
    .meta({ description: "The subscription has come as far as this slot, and nothing of it was sent" }),
  z
    .object({ type: z.literal("gap"), subscriptionId, from: slot, to: slot, cursor })
    .meta({ description: "Blocks of these slots may exist and cannot be had" }),
  z
    .object({
      type: z.literal("lagged"),
      subscriptionId,
      dropped: z.int().positive().meta({ description: "Messages that were not sent here" }),
      from_slot: exact("A subscription that begins there is told them"),
    })
    .meta({ description: "What is beyond the tier's messages a second is dropped here" }),
  z
    .object({
      type: z.literal("draining"),
      subscriptions: z.array(z.object({ subscriptionId, cursor: cursor.nullable() })),
    })
    .meta({ description: "The process ends; each subscription may go on at another one from its cursor" }),
  z.object({
    type: z.literal("error"),
    code: z.string().meta({ description: "A code of the reference of errors" }),
    message: z.string(),
    ref: echoedRef.nullable(),
    subscriptionId: subscriptionId.optional().meta({ description: "The subscription that ends with it" }),
    cursor: cursor.nullable().optional().meta({ description: "Where that subscription may go on" }),
    first_slot: exact("The first slot that can be had; null when none can").nullable().optional(),
  }),
]);

export type StreamFilters = z.infer<typeof streamFilters>;
export type StreamClientMessage = z.infer<typeof streamClientMessage>;
export type StreamServerMessage = z.infer<typeof streamServerMessage>;
