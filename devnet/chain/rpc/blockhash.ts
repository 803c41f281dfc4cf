import { parseMessage } from "@sluice/wire/transaction";
import { blockhashLifeBlocks, messageFees } from "../bank/index.ts";
import type { BankSlot } from "../model/index.ts";
import { invalidParams } from "./errors.ts";
import { abandonedForkAt, bankOf, type MethodTable, type RpcNode, withContext } from "./method.ts";
import { addressValue, configAt, decodeBase64, stringValue } from "./params.ts";

/** The hashes of a branch that was confirmed and abandoned are new: they are valid as long as that is what is shown. */
function isValidAt(node: RpcNode, bank: BankSlot, blockhash: string): boolean {
  if (abandonedForkAt(node, bank.slot)?.holdsBlockhash(blockhash)) return true;
  return node.chain.blockhashes.isValid(blockhash, bank.blockHeight);
}

/** Blockhashes and what a message that carries one would pay. */
export const blockhashMethods: MethodTable = {
  getLatestBlockhash: {
    required: 0,
    optional: 1,
    run(params, node) {
      const bank = bankOf(node, configAt(params, 0));
      const lastValidBlockHeight = bank.blockHeight + blockhashLifeBlocks;
      return withContext(bank, { blockhash: bank.blockhash, lastValidBlockHeight });
    },
  },
  isBlockhashValid: {
    required: 1,
    optional: 1,
    run(params, node) {
      const blockhash = addressValue(params[0]);
      const bank = bankOf(node, configAt(params, 1));
      return withContext(bank, isValidAt(node, bank, blockhash));
    },
  },
  getFeeForMessage: {
    required: 1,
    optional: 1,
    run(params, node) {
      const bytes = decodeBase64(stringValue(params[0]), "solana_message::versions::VersionedMessage");
      const parsed = parseMessage(bytes);
      if (!parsed.ok) {
        throw invalidParams(`failed to deserialize solana_message::versions::VersionedMessage: ${parsed.fault}`);
      }
      const bank = bankOf(node, configAt(params, 1));
      if (!isValidAt(node, bank, parsed.message.blockhash)) return withContext(bank, null);
      const fees = messageFees(parsed.message);
      return withContext(bank, fees.base + fees.priority);
    },
  },
};
