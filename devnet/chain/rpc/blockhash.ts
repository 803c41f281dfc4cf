import { parseMessage } from "@sluice/wire";
import { BLOCKHASH_LIFE_BLOCKS } from "../bank/blockhashes.ts";
import { messageFees } from "../bank/fees.ts";
import { invalidParams } from "./errors.ts";
import { bankOf, type MethodTable, withContext } from "./method.ts";
import { addressValue, configAt, stringValue } from "./params.ts";
import { decodeBase64 } from "./transaction-input.ts";

/** Blockhashes and what a message that carries one would pay. */
export const blockhashMethods: MethodTable = {
  getLatestBlockhash: {
    required: 0,
    optional: 1,
    run(params, node) {
      const bank = bankOf(node, configAt(params, 0));
      const lastValidBlockHeight = bank.blockHeight + BLOCKHASH_LIFE_BLOCKS;
      return withContext(bank, { blockhash: bank.blockhash, lastValidBlockHeight });
    },
  },
  isBlockhashValid: {
    required: 1,
    optional: 1,
    run(params, node) {
      const blockhash = addressValue(params[0]);
      const bank = bankOf(node, configAt(params, 1));
      return withContext(bank, node.chain.blockhashes.isValid(blockhash, bank.blockHeight));
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
      if (!node.chain.blockhashes.isValid(parsed.message.blockhash, bank.blockHeight)) return withContext(bank, null);
      const fees = messageFees(parsed.message);
      return withContext(bank, fees.base + fees.priority);
    },
  },
};
