import { z } from "zod";
import { testEventName, type WebhookEventName } from "../webhooks.ts";
import { exact, timestamp } from "./primitives.ts";

/**
 * What is told of transactions, blocks and accounts: the `data` of webhook events and of the messages of `/ws`. An
 * integer that may pass 2^53 is a JSON number of all its digits, which JSON.parse rounds; amounts of tokens are text.
 */

/** Why a transaction failed; null of one that succeeded. */
export const transactionErrorRecord = z
  .object({
    type: z.string().meta({ description: "The name of the error on the chain", example: "InstructionError" }),
    index: z.int().nullable().meta({ description: "The instruction that failed, where one did" }),
    message: z.string().meta({ description: "What a node says of it" }),
  })
  .nullable();

/** A call of a program, outer or inner. */
export const instructionRecord = z.object({
  program_id: z.string(),
  instruction: z.string().nullable().meta({ description: "Its name, where the program is one that nodes know" }),
  accounts: z.array(z.string()),
  data: z.string().meta({ description: "base58" }),
});

/** Tokens that moved. */
export const tokenTransferRecord = z.object({
  from: z.string().nullable().meta({ description: "The owner; null for what was minted" }),
  to: z.string().nullable().meta({ description: "The owner; null for what was burnt" }),
  mint: z.string().nullable().meta({ description: "Null where the transaction does not tell it" }),
  amount: z.string().meta({ description: "In the token's smallest units", example: "1500000" }),
  decimals: z.int().nullable().meta({ description: "Null where the transaction does not tell them" }),
});

/** What a block paid to an account, or took from it. */
export const rewardRecord = z.object({
  pubkey: z.string(),
  lamports: exact("Positive for what was paid"),
  post_balance: exact("Lamports after it"),
  reward_type: z.string().nullable(),
});

const slot = exact("The slot of the block");
const blockTime = exact("Unix seconds, as the block states it").nullable();
const accounts = z
  .array(z.string())
  .meta({ description: "All accounts: named, then loaded writable, then loaded readonly" });
const programIds = z.array(z.string()).meta({ description: "Programs of its instructions, outer and inner" });

/** The `data` of transaction.confirmed and transaction.finalized. */
export const transactionEventData = z.object({
  signature: z.string(),
  slot,
  block_time: blockTime,
  fee: exact("Lamports; null where no node kept it").nullable(),
  success: z.boolean(),
  error: transactionErrorRecord,
  accounts,
  program_ids: programIds,
  instructions: z.array(instructionRecord).meta({ description: "Outer and inner, in the order of execution" }),
  token_transfers: z.array(tokenTransferRecord),
  log_messages: z.array(z.string()).nullable().meta({ description: "Null where no node kept them" }),
});

/** The `data` of transaction.failed. */
export const failedEventData = z.object({
  signature: z.string(),
  slot,
  error: transactionErrorRecord,
  accounts,
  program_ids: programIds,
  fee: exact("Lamports; null where no node kept it").nullable(),
});

const commitment = z.enum(["confirmed", "finalized"]);

/** The `data` of a message about a transaction on `/ws`: that of the event, and its place. */
export const transactionStreamData = transactionEventData.extend({
  index: z.int().nonnegative().meta({ description: "The place in the block, from 0" }),
  blockhash: z.string(),
  commitment,
});

/** The `data` of block.confirmed and block.finalized. */
export const blockEventData = z.object({
  slot,
  parent_slot: exact("The slot of the block before"),
  blockhash: z.string(),
  previous_blockhash: z.string(),
  block_time: blockTime,
  block_height: exact("Its height").nullable(),
  transaction_count: z.int(),
  successful_transactions: z.int(),
  failed_transactions: z.int(),
  vote_transactions: z.int(),
  rewards: z.array(rewardRecord),
  transactions: z.array(z.string()).optional().meta({ description: "Signatures, where the webhook asks for them" }),
});

/** The `data` of a message about a block on `/ws`. */
export const blockStreamData = blockEventData.omit({ transactions: true }).extend({ commitment });

/** What blocks alone do not tell of an account; null where nothing else told it either. */
const accountState = {
  owner: z.string().nullable().meta({ description: "The program that owns it; null where it is not known" }),
  executable: z.boolean().nullable(),
  rent_epoch: exact("An epoch; null where it is not known").nullable(),
};
const dataSize = exact("Bytes; null where it is not known").nullable();

/** The `data` of account.updated and of a message about an account on `/ws`. */
export const accountUpdatedData = z.object({
  account: z.string(),
  slot,
  lamports: exact("After the block"),
  ...accountState,
  data: z
    .unknown()
    .nullable()
    .meta({
      description:
        "[text, encoding], or an object by jsonParsed; base58 of up to 128 bytes alone, base64 beyond. Null where it is " +
        "not known, and of accounts over 1 MiB",
    }),
  data_size: dataSize,
  changes: z.object({
    lamports: z.object({
      old: exact("Before the block"),
      new: exact("After the block"),
      delta: exact("What was gained; negative for what was lost"),
    }),
  }),
  observed_slot: exact("The slot at which data and state were read; null where they were not").nullable(),
});

/** The `data` of account.created. */
export const accountCreatedData = z.object({
  account: z.string(),
  slot,
  lamports: exact("After the transaction"),
  ...accountState,
  data_size: dataSize,
  creator: z.string().meta({ description: "Who paid the fee of the transaction" }),
  creation_transaction: z.string(),
});

/** The `data` of account.closed. */
export const accountClosedData = z.object({
  account: z.string(),
  slot,
  final_lamports: exact("Before the transaction"),
  owner: z.string().nullable().meta({ description: "The program that owned it; null where it is not known" }),
  reclaimed_by: z
    .string()
    .nullable()
    .meta({ description: "Who gained most lamports in the transaction; null where nobody did" }),
  closing_transaction: z.string(),
});

/** The `data` of webhook.disabled. */
export const webhookDisabledData = z.object({
  webhook_id: z.string(),
  reason: z
    .enum(["gone", "failing", "behind"])
    .meta({ description: "An answer of 410; 5 days without a success; 7 days behind the chain" }),
  disabled_at: timestamp,
});

/** The `data` of webhook.recoverable: its receiver answers again, or its deliveries waited too long for credits. */
export const webhookRecoverableData = z.union([
  z.object({
    webhook_id: z.string(),
    deliveries: z.int().meta({ description: "How many were given up and can be recovered" }),
    failing_since: timestamp,
    recovered_at: timestamp,
  }),
  z.object({
    webhook_id: z.string(),
    deliveries: z.int().meta({ description: "How many were given up and can be recovered" }),
    reason: z.literal("credits"),
    parked_since: timestamp,
    given_up_at: timestamp,
  }),
]);

/** The `data` of a test delivery that names no other event. */
export const webhookTestData = z.looseObject({ message: z.string() });

/** The `data` of every event that receivers are sent. */
export const webhookEventData = {
  "transaction.confirmed": transactionEventData,
  "transaction.finalized": transactionEventData,
  "transaction.failed": failedEventData,
  "account.updated": accountUpdatedData,
  "account.created": accountCreatedData,
  "account.closed": accountClosedData,
  "block.confirmed": blockEventData,
  "block.finalized": blockEventData,
  "webhook.disabled": webhookDisabledData,
  "webhook.recoverable": webhookRecoverableData,
  [testEventName]: webhookTestData,
} as const satisfies Record<WebhookEventName | typeof testEventName, z.ZodType>;

export type TransactionStreamData = z.infer<typeof transactionStreamData>;
export type BlockStreamData = z.infer<typeof blockStreamData>;
export type AccountUpdatedData = z.infer<typeof accountUpdatedData>;
