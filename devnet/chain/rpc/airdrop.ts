import { addressBytes } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, type Transaction } from "@sluice/wire/transaction";
import type { GenesisKeypair } from "../model/index.ts";
import { invalidRequest } from "./errors.ts";
import { bankOf, type MethodTable } from "./method.ts";
import { addressValue, configAt, parsedTransaction, u64Value } from "./params.ts";

const transfer = 2;
const setUnitLimit = 2;
const faucetUnits = 10_000;
const feeLamports = 5_000n;

/**
 * A transfer from the faucet. `distinct` asks for more compute units than are used, by a count: two airdrops of one
 * amount to one address in one slot are two transactions with different names.
 */
export function airdropTransaction(
  faucet: GenesisKeypair,
  recipient: Uint8Array,
  lamports: bigint,
  blockhash: string,
  distinct: number,
): Transaction {
  const toItself = Buffer.compare(faucet.publicKey, recipient) === 0;
  const parties = toItself ? [faucet.publicKey] : [faucet.publicKey, recipient];
  const message = encodeMessage({
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 2,
    staticKeys: [...parties, addressBytes(programs.system), addressBytes(programs.computeBudget)],
    blockhash: addressBytes(blockhash),
    instructions: [
      {
        programIndex: parties.length,
        accountIndexes: [0, parties.length - 1],
        data: new ByteWriter().u32(transfer).u64(lamports).finish(),
      },
      {
        programIndex: parties.length + 1,
        accountIndexes: [],
        data: new ByteWriter()
          .u8(setUnitLimit)
          .u32(faucetUnits + distinct)
          .finish(),
      },
    ],
  });
  return parsedTransaction(new ByteWriter().u8(1).bytes(faucet.sign(message)).bytes(message).finish());
}

/** The faucet: a real transfer that can be confirmed like any other. */
export const airdropMethods: MethodTable = {
  requestAirdrop: {
    required: 2,
    optional: 1,
    run(params, node) {
      const recipient = addressBytes(addressValue(params[0]));
      const lamports = u64Value(params[1]);
      const config = configAt(params, 2, "struct RpcRequestAirdropConfig");
      const requested = config?.["recentBlockhash"];
      const bank = bankOf(node, config);
      const blockhash = requested === undefined || requested === null ? bank.blockhash : addressValue(requested);
      const { faucet } = node.chain.genesis;
      const held = node.chain.accounts.get(faucet.address, node.chain.openSlot)?.lamports ?? 0n;
      if (held < lamports + feeLamports) throw invalidRequest();
      const transaction = airdropTransaction(faucet, recipient, lamports, blockhash, node.faucet.next());
      node.chain.submit(transaction);
      return transaction.id;
    },
  },
};
