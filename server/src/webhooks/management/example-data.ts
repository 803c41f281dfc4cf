import type { WebhookEventName } from "@sluice/contract/webhooks";

/** Examples of `data` for test deliveries; integers are as small as JSON readers hold them exactly. */

const address = (letter: string): string => letter.repeat(43);
const payer = address("A");
const receiver = address("B");
const systemProgram = "11111111111111111111111111111111";
const signature = "5".repeat(87);
const slot = 312_004_711;
const blockTime = 1_767_225_600;

const transaction = {
  signature,
  slot,
  block_time: blockTime,
  fee: 5_000,
  success: true,
  error: null,
  accounts: [payer, receiver, systemProgram],
  program_ids: [systemProgram],
  instructions: [
    { program_id: systemProgram, instruction: "transfer", accounts: [payer, receiver], data: "3Bxs411Dtc7pkFQj" },
  ],
  token_transfers: [],
  log_messages: [`Program ${systemProgram} invoke [1]`, `Program ${systemProgram} success`],
};

const failed = {
  signature,
  slot,
  error: { type: "InstructionError", index: 0, message: "Error processing Instruction 0: custom program error: 0x1" },
  accounts: [payer, receiver, systemProgram],
  program_ids: [systemProgram],
  fee: 5_000,
};

const account = {
  account: receiver,
  slot,
  lamports: 1_500_000_000,
  owner: systemProgram,
  executable: false,
  rent_epoch: 361,
  data_size: 0,
};

const block = {
  slot,
  parent_slot: slot - 1,
  blockhash: address("C"),
  previous_blockhash: address("D"),
  block_time: blockTime,
  block_height: 290_000_000,
  transaction_count: 2,
  successful_transactions: 2,
  failed_transactions: 0,
  vote_transactions: 1,
  rewards: [{ pubkey: payer, lamports: 2_500, post_balance: 1_000_000_000, reward_type: "Fee" }],
};

const examples: Readonly<Record<WebhookEventName | "test.webhook", Readonly<Record<string, unknown>>>> = {
  "test.webhook": { message: "This is a test delivery: its signature is valid, and nothing happened on the chain." },
  "transaction.confirmed": transaction,
  "transaction.finalized": transaction,
  "transaction.failed": failed,
  "account.updated": {
    ...account,
    data: ["", "base64"],
    changes: { lamports: { old: 1_000_000_000, new: 1_500_000_000, delta: 500_000_000 } },
    observed_slot: slot,
  },
  "account.created": { ...account, creator: payer, creation_transaction: signature },
  "account.closed": {
    account: receiver,
    slot,
    final_lamports: 2_039_280,
    owner: systemProgram,
    reclaimed_by: payer,
    closing_transaction: signature,
  },
  "block.confirmed": block,
  "block.finalized": block,
  "webhook.disabled": { webhook_id: "wh_example", reason: "gone", disabled_at: "2026-01-01T00:00:00.000Z" },
  "webhook.recoverable": {
    webhook_id: "wh_example",
    deliveries: 3,
    failing_since: "2026-01-01T00:00:00.000Z",
    recovered_at: "2026-01-02T00:00:00.000Z",
  },
};

/** JSON text of the `data` of a test: the event's example, with these members in place of its own. */
export const exampleData = (
  event: WebhookEventName | "test.webhook",
  members: Readonly<Record<string, unknown>>,
): string => JSON.stringify({ ...examples[event], ...members });
