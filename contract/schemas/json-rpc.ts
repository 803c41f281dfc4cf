import { z } from "zod";
import { limits } from "../limits.ts";

/** Echoed byte for byte in the answer. */
const jsonRpcId = z.union([z.string(), z.number()]);

export const jsonRpcRequest = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: jsonRpcId,
    method: z.string().min(1).meta({ example: "getBalance" }),
    params: z.array(z.unknown()).optional().meta({ description: "Positional parameters" }),
  })
  .meta({ id: "JsonRpcRequest", description: "A JSON-RPC 2.0 request" });

const jsonRpcError = z
  .object({
    code: z.int(),
    message: z.string(),
    data: z.unknown().optional(),
  })
  .meta({ id: "JsonRpcError", description: "The error of a JSON-RPC answer" });

export const jsonRpcResult = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: jsonRpcId,
    result: z.unknown().meta({ description: "The node's result, passed on byte for byte" }),
  })
  .meta({ id: "JsonRpcResult", description: "A JSON-RPC answer with a result" });

export const jsonRpcFailure = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: jsonRpcId.nullable(),
    error: jsonRpcError,
  })
  .meta({ id: "JsonRpcFailure", description: "A JSON-RPC answer with an error" });

export const jsonRpcResponse = z
  .union([jsonRpcFailure, jsonRpcResult])
  .meta({ id: "JsonRpcResponse", description: "A JSON-RPC answer" });

export const jsonRpcBatchRequest = z
  .array(jsonRpcRequest)
  .min(1)
  .max(limits.rpcBatchItems)
  .meta({ id: "JsonRpcBatchRequest", description: "Several requests in one body" });

export const jsonRpcBatchResponse = z
  .array(jsonRpcResponse)
  .max(limits.rpcBatchItems)
  .meta({ id: "JsonRpcBatchResponse", description: "Each item's answer, in the place of the item" });
