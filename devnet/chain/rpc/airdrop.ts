import type { Transaction } from "@sluice/wire";
import { ByteWriter } from "../bank/bytes.ts";
import type { GenesisKeypair } from "../bank/keypair.ts";
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from "../bank/programs.ts";
import { hashBytes } from "../bank/slot-sysvars.ts";
import { invalidRequest } from "./errors.ts";
import { bankOf, type MethodTable } from "./method.ts";
import { addressValue, configAt, u64Value } from "./params.ts";
import { parsedTransaction } from "./transaction-input.ts";

const TRANSFER = 2;
const SET_UNIT_LIMIT = 2;
const FAUCET_UNITS = 10_000;
const FEE_LAMPORTS = 5_000n;

/**
 * A transfer from the faucet. `distinct` asks for more compute units than are used, by a count: two airdrops of one
 * amount to one address in one slot are two transactions with names of their own.
 */
export function airdropTransaction(
  faucet: GenesisKeypair,
  recipient: Uint8Array,
  lamports: bigint,
  blockhash: string,
  distinct: number,
): Transaction {
  const selfTransfer = Buffer.compare(faucet.publicKey, recipient) === 0;
  const keys = [
    faucet.publicKey,
    ...(selfTransfer ? [] : [recipient]),
    hashBytes(SYSTEM_PROGRAM),
    hashBytes(COMPUTE_BUDGET_PROGRAM),
  ];
  const system = keys.length - 2;
  const message = new ByteWriter().u8(1).u8(0).u8(2).u8(keys.length);
  for (const key of keys) message.bytes(key);
  message.bytes(hashBytes(blockhash)).u8(2);
  message
    .u8(system + 1)
    .u8(0)
    .u8(5)
    .u8(SET_UNIT_LIMIT)
    .u32(FAUCET_UNITS + distinct);
  message
    .u8(system)
    .u8(2)
    .u8(0)
    .u8(selfTransfer ? 0 : 1)
    .u8(12)
    .u32(TRANSFER)
    .u64(lamports);
  const bytes = message.finish();
  return parsedTransaction(new ByteWriter().u8(1).bytes(faucet.sign(bytes)).bytes(bytes).finish());
}

/** The faucet: a real transfer that can be confirmed like any other. */
export const airdropMethods: MethodTable = {
  requestAirdrop: {
    required: 2,
    optional: 1,
    run(params, node) {
      const recipient = hashBytes(addressValue(params[0]));
      const lamports = u64Value(params[1]);
      const config = configAt(params, 2, "struct RpcRequestAirdropConfig");
      const given = config?.["recentBlockhash"];
      const bank = bankOf(node, config);
      const blockhash = given === undefined || given === null ? bank.blockhash : addressValue(given);
      const { faucet } = node.chain.genesis;
      const held = node.chain.accounts.get(faucet.address, node.chain.openSlot)?.lamports ?? 0n;
      if (held < lamports + FEE_LAMPORTS) throw invalidRequest();
      const transaction = airdropTransaction(faucet, recipient, lamports, blockhash, node.faucet.next());
      node.chain.submit(transaction);
      return transaction.id;
    },
  },
};
