/**
 * rpc: the JSON-RPC methods of a node, their parameters, errors and answers, and the HTTP rules around them. It is fed
 * by HTTP bodies and WebSocket messages; it reads the bank, accounts and history, and feeds the bank with transactions.
 */

export { accountForm } from "./accounts.ts";
export { airdropTransaction } from "./airdrop.ts";
export { versionJson } from "./cluster.ts";
export { invalidParams, nodeBehind, RpcError } from "./errors.ts";
export { FaucetRequests } from "./faucet-requests.ts";
export { answerHttp, defaultBodyBytesMax } from "./http.ts";
export { answerBody, type Dispatch, dispatcher } from "./json-rpc.ts";
export { type ChainView, clockOf, type Method, type MethodTable, type RpcNode } from "./method.ts";
export {
  booleanMember,
  commitmentMember,
  configAt,
  ledgerCommitment,
  listValue,
  objectValue,
  stringValue,
  u64Value,
  unknownVariant,
  variantMember,
  variantValue,
  wrongType,
} from "./params.ts";
export { accountFilters } from "./programs.ts";
export { rpcMethods } from "./table.ts";
export { maxVersion, transactionEncodings } from "./transactions.ts";
