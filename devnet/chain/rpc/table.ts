import { accountMethods } from "./accounts.ts";
import { airdropMethods } from "./airdrop.ts";
import { blockhashMethods } from "./blockhash.ts";
import { blockMethods } from "./blocks.ts";
import { bundleMethods } from "./bundles.ts";
import { clusterMethods } from "./cluster.ts";
import { economicsMethods } from "./economics.ts";
import type { Method } from "./method.ts";
import { programMethods } from "./programs.ts";
import { sendMethods } from "./send.ts";
import { slotMethods } from "./slots.ts";
import { tokenMethods } from "./tokens.ts";
import { transactionMethods } from "./transactions.ts";
import { validatorMethods } from "./validators.ts";

/** Every HTTP method by name. */
export function rpcMethods(): ReadonlyMap<string, Method> {
  return new Map(
    Object.entries({
      ...accountMethods,
      ...airdropMethods,
      ...blockMethods,
      ...blockhashMethods,
      ...bundleMethods,
      ...clusterMethods,
      ...economicsMethods,
      ...programMethods,
      ...sendMethods,
      ...slotMethods,
      ...tokenMethods,
      ...transactionMethods,
      ...validatorMethods,
    }),
  );
}
