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
 * A transfer from the faucet, and nothing else, as Agave's faucet makes it. With `distinct` above 0 it also asks for a
 * number of compute units, which makes it another transaction than the same transfer with the same blockhash.
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
  const called = distinct === 0 ? [programs.system] : [programs.system, programs.computeBudget];
  const unitLimit = {
    programIndex: parties.length + 1,
    accountIndexes: [],
    data: new ByteWriter()
      .u8(setUnitLimit)
      .u32(faucetUnits + distinct)
      .finish(),
  };
  const message = encodeMessage({
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: called.length,
    staticKeys: [...parties, ...called.map(addressBytes)],
    blockhash: addressBytes(blockhash),
    instructions: [
      {
        programIndex: parties.length,
        accountIndexes: [0, parties.length - 1],
        data: new ByteWriter().u32(transfer).u64(lamports).finish(),
      },
      ...(distinct === 0 ? [] : [unitLimit]),
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
      const recipient = addressValue(params[0]);
      const lamports = u64Value(params[1]);
      const config = configAt(params, 2, "struct RpcRequestAirdropConfig");
      const requested = config?.["recentBlockhash"];
      const bank = bankOf(node, config);
      const blockhash = requested === undefined || requested === null ? bank.blockhash : addressValue(requested);
      const { faucet } = node.chain.genesis;
      const held = node.chain.accounts.get(faucet.address, node.chain.openSlot)?.lamports ?? 0n;
      if (held < lamports + feeLamports) throw invalidRequest();
      const distinct = node.faucet.next(recipient, lamports, blockhash);
      const transaction = airdropTransaction(faucet, addressBytes(recipient), lamports, blockhash, distinct);
      node.chain.submit(transaction);
      return transaction.id;
    },
  },
};
