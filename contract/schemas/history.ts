import { z } from "zod";
import { limits } from "../limits.ts";
import { instructionRecord, rewardRecord, tokenTransferRecord, transactionErrorRecord } from "./events.ts";
import { cursor, network, order } from "./list-query.ts";
import { pageOf } from "./page.ts";
import { exact, moment } from "./primitives.ts";

/**
 * Indexed history: the queries of its lists, the body of its search, and its records. A record of a transaction or of a
 * block has the members of the webhook event about it, and more beside them.
 */

const base58 = (description: string, example: string, lengths: string) =>
  z
    .string()
    .regex(new RegExp(`^[1-9A-HJ-NP-Za-km-z]{${lengths}}$`), { error: "must be base58" })
    .meta({ description, example });
const address = (description: string) => base58(description, "11111111111111111111111111111111", "32,44");

const u64Max = 2n ** 64n - 1n;
const u64Text = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,19})$/, { error: "must be a whole number in decimal" })
  .refine((text) => BigInt(text) <= u64Max, { error: `must be at most ${u64Max}` });
/** A u64 in a body: a number that JSON holds exactly, or decimal text. Read as its digits. */
const amount = z
  .union([u64Text, z.int().nonnegative().transform(String)], { error: "must be a whole number, as text beyond 2^53" })
  .meta({ description: "A whole number; as decimal text beyond 2^53", example: "1000000" });

const slotText = u64Text.meta({ description: "A slot", example: "350000000" });
const encoding = z.enum(["json", "jsonParsed", "base58", "base64"]).meta({
  description: "Answer with transactions as a node shows them in this encoding, in place of the records of this API",
});
const details = z.enum(["full", "signatures"]).default("full").meta({
  description: "`signatures`: of each transaction only its place, outcome and signature",
});
const flag = z.enum(["true", "false"]).transform((text) => text === "true");

const typeName = z.string().regex(/^[A-Z_]{1,64}$/, { error: "must be the name of a type, such as SWAP" });
const sourceName = z.string().regex(/^[a-z0-9_]{1,64}$/, { error: "must be the name of a source, such as jupiter_v6" });

const queryLimit = z.coerce.number().int().min(1).max(limits.pageMax).default(limits.pageDefault).meta({
  description: "The most items to answer with",
});
const since = moment.optional().meta({ description: "The first moment, by the time of the block" });
const until = moment.optional().meta({ description: "The first moment that no longer counts" });

const slotRange = {
  from_slot: slotText.optional().meta({ description: "The first slot" }),
  to_slot: slotText.optional().meta({ description: "The last slot" }),
  since,
  until,
};

/** The query of a transaction. */
export const historyTransactionQuery = z.object({ network, encoding: encoding.optional() });

/** The query of a block. */
export const historyBlockQuery = z.object({
  network,
  transactions: z
    .enum(["full", "signatures", "none"])
    .default("signatures")
    .meta({ description: "What is shown of the block's transactions" }),
  encoding: encoding.optional(),
});

/** The query of the list of transactions. */
export const historyTransactionsQuery = z.object({
  network,
  address: address("Transactions that name this account, loaded ones included").optional(),
  program: address("Transactions that call this program, outer or inner").optional(),
  ...slotRange,
  success: flag.optional().meta({ description: "Only those that succeeded, or only those that failed" }),
  votes: flag.optional().meta({ description: "`false` leaves out votes of validators; `true` shows them alone" }),
  type: typeName.optional().meta({ description: "Those that were of this type", example: "SWAP" }),
  source: sourceName.optional().meta({ description: "Those of this program or market", example: "jupiter_v6" }),
  order,
  details,
  encoding: encoding.optional(),
  limit: queryLimit,
  cursor,
});

/** The query of the list of blocks. */
export const historyBlocksQuery = z.object({
  network,
  address: address("Blocks with a transaction that names this account").optional(),
  program: address("Blocks with a transaction that names this program; not beside `address`").optional(),
  ...slotRange,
  order,
  limit: queryLimit,
  cursor,
});

const addressesMax = 16;
const addresses = (description: string) =>
  z.array(address("An account")).min(1).max(addressesMax).meta({ description });

export const historySearchBody = z
  .object({
    accounts: addresses("Transactions that name each of these accounts").optional(),
    program: address("Transactions that call this program, outer or inner").optional(),
    counterparties: z
      .array(address("A wallet"))
      .length(2)
      .optional()
      .meta({ description: "Two wallets, one of which sent to the other: native currency, or the token `mint`" }),
    mint: address("Transactions that move this token").optional(),
    min_amount: amount.optional().meta({
      description: "One movement of at least so much: of `mint` in its smallest units, else in lamports",
    }),
    max_amount: amount.optional().meta({ description: "The same movement is at most so much" }),
    success: z.boolean().optional().meta({ description: "Only those that succeeded, or only those that failed" }),
    error: z
      .string()
      .regex(/^[A-Za-z]{1,64}$/, { error: "must be the name of an error, such as InstructionError" })
      .optional()
      .meta({
        description: "Those that failed with this error, by its name on the chain",
        example: "InstructionError",
      }),
    min_fee: amount.optional().meta({ description: "Lamports" }),
    max_fee: amount.optional().meta({ description: "Lamports" }),
    fee_payer: address("The account that paid the fee").optional(),
    types: z
      .array(typeName)
      .min(1)
      .max(addressesMax)
      .optional()
      .meta({ description: "Those that were of one of these types", example: ["SWAP"] }),
    sources: z
      .array(sourceName)
      .min(1)
      .max(addressesMax)
      .optional()
      .meta({ description: "Those of one of these programs or markets, by the names of `source`", example: ["orca"] }),
    votes: z.boolean().default(false).meta({ description: "Whether votes of validators are searched as well" }),
    from_slot: amount.optional().meta({ description: "The first slot" }),
    to_slot: amount.optional().meta({ description: "The last slot" }),
    since,
    until,
    order,
    details,
    encoding: encoding.optional(),
    limit: z.int().min(1).max(limits.pageMax).default(limits.pageDefault),
    cursor,
  })
  .refine(({ success, error }) => success !== true || error === undefined, {
    path: ["error"],
    error: "does not go with success: true",
  })
  .meta({ id: "HistorySearch", description: "What is searched for; members that are there must all hold" });

const place = {
  signature: z.string(),
  slot: exact("The slot of the block"),
  index: z.int().nonnegative().meta({ description: "The place in the block, from 0" }),
  blockhash: z.string(),
  block_time: z.int().nullable().meta({ description: "Unix seconds, as the block states it" }),
  finality: z.enum(["confirmed", "finalized"]),
  success: z.boolean(),
  error: transactionErrorRecord,
};

export const historyPlace = z
  .object(place)
  .meta({ id: "HistorySignature", description: "A transaction's place, outcome and signature" });

const instruction = instructionRecord.extend({
  stack_height: z.int().nullable().meta({ description: "1 is an outer instruction; null where no node kept it" }),
});

export const historyTransaction = z
  .object({
    ...place,
    version: z.union([z.literal("legacy"), z.int()]),
    is_vote: z.boolean(),
    fee: exact("Lamports").nullable(),
    compute_units: exact("Compute units that it used").nullable(),
    fee_payer: z.string(),
    signers: z.array(z.string()),
    accounts: z.array(z.string()).meta({ description: "All accounts: named, then loaded writable, then readonly" }),
    program_ids: z.array(z.string()).meta({ description: "Programs of its instructions, outer and inner" }),
    instructions: z.array(instruction).meta({ description: "Outer and inner, in the order of execution" }),
    token_transfers: z.array(tokenTransferRecord),
    native_transfers: z.array(
      z.object({
        from: z.string().nullable(),
        to: z.string().nullable(),
        lamports: exact("What was moved"),
      }),
    ),
    log_messages: z.array(z.string()).nullable(),
  })
  .meta({ id: "HistoryTransaction", description: "A transaction that a block holds" });

/** What a node answers of a transaction; its members are the node's. */
const nodeTransaction = z
  .object({ slot: exact("The slot of the block") })
  .loose()
  .meta({ id: "NodeTransaction", description: "As getTransaction answers in the encoding that was asked for" });

export const historyBlock = z
  .object({
    slot: exact("Its slot"),
    parent_slot: exact("The slot of the block before"),
    blockhash: z.string(),
    previous_blockhash: z.string(),
    block_time: z.int().nullable().meta({ description: "Unix seconds" }),
    block_height: exact("Its height").nullable(),
    finality: z.enum(["confirmed", "finalized"]),
    transaction_count: z.int(),
    successful_transactions: z.int(),
    failed_transactions: z.int(),
    vote_transactions: z.int(),
    rewards: z.array(rewardRecord),
    signatures: z.array(z.string()).optional().meta({ description: "With `transactions=signatures`" }),
    transactions: z.array(historyTransaction.or(nodeTransaction)).optional().meta({
      description: "With `transactions=full`",
    }),
  })
  .meta({ id: "HistoryBlock", description: "A block of the chain" });

/** A transaction by its signature. */
export const historyTransactionAnswer = historyTransaction.or(nodeTransaction);
/** A page of transactions. */
export const historyTransactionPage = pageOf(historyTransaction.or(historyPlace).or(nodeTransaction));
/** A page of blocks. */
export const historyBlockPage = pageOf(historyBlock);

/** As it was read. */
export type HistoryTransactionsQuery = z.infer<typeof historyTransactionsQuery>;
/** As it was read. */
export type HistoryBlocksQuery = z.infer<typeof historyBlocksQuery>;
/** As it was read. */
export type HistoryBlockQuery = z.infer<typeof historyBlockQuery>;
export type HistorySearchBody = z.infer<typeof historySearchBody>;
export type HistoryPlaceBody = z.infer<typeof historyPlace>;
export type HistoryTransactionBody = z.infer<typeof historyTransaction>;
export type HistoryBlockBody = z.infer<typeof historyBlock>;
