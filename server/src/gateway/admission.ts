import { limits } from "@sluice/contract/limits";
import { type HeaderReader, hasSingleHost, isJsonContentType } from "../http/index.ts";
import type { Refusal } from "./refusal.ts";

/** What the door sees of a request before anybody reads its body: host, method, type and declared length, in this order. */
export function admissionRefusal(request: { readonly method: string; readonly headers: HeaderReader }): Refusal | null {
  const { headers } = request;
  if (!hasSingleHost(headers)) {
    return { code: "INVALID_REQUEST", message: "The request must carry exactly one Host header" };
  }
  if (request.method !== "POST") return { code: "METHOD_NOT_ALLOWED", details: { allow: ["POST", "OPTIONS"] } };
  if (!isJsonContentType(headers.get("content-type"))) return { code: "UNSUPPORTED_MEDIA_TYPE" };
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > limits.rpcBodyBytes) return { code: "BODY_TOO_LARGE" };
  return null;
}
