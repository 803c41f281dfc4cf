import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import { serviceCredits } from "../credits.ts";
import { enhancedLifetimeSeconds } from "../enhanced.ts";
import { type ErrorCode, errorTable } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import { networks } from "../tiers.ts";

/** The enhanced API, on the gateway's port. */

export type Problems = (...codes: ErrorCode[]) => Record<string, ZodOpenApiResponseObject>;

/** The header of every answer. */
export const requestIdHeader = {
  "X-Request-Id": { description: "Names this request", schema: { type: "string" as const } },
};
/** The three ways to send a key. */
export const security = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];
/** What every request may say of the network. */
export const parameters: NonNullable<ZodOpenApiOperationObject["parameters"]> = [
  { name: "X-Network", in: "header", schema: { type: "string", enum: [...networks] } },
];

/** The codes of every request of this API. */
export const admission: readonly ErrorCode[] = [
  "INVALID_API_KEY",
  "KEY_INACTIVE",
  "NETWORK_NOT_ALLOWED",
  "DOMAIN_NOT_ALLOWED",
  "IP_NOT_ALLOWED",
  "PERMISSION_DENIED",
  "ENHANCED_API_DISABLED",
  "RATE_LIMIT_EXCEEDED",
  "INSUFFICIENT_CREDITS",
  "NETWORK_UNAVAILABLE",
  "UPSTREAM_TIMEOUT",
  "OVERLOADED",
  "STORE_UNAVAILABLE",
  "INTERNAL_ERROR",
];
/** The codes of bodies that cannot be read. */
export const body: readonly ErrorCode[] = ["BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];

/** Failures in the envelope of this API, by their status. */
export function failures(codes: readonly ErrorCode[]): Record<string, ZodOpenApiResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      `${status}`,
      {
        description: list.map((code) => `${code}: ${errorTable[code].text}`).join(". "),
        headers: requestIdHeader,
        content: { "application/json": { schema: schemas.enhancedFailure } },
      },
    ]),
  );
}

const { parseOneTransaction, parseBatchTransaction } = serviceCredits;
const parsed = `${parseOneTransaction} credits for one, ${parseBatchTransaction} for each of several; kept for ${enhancedLifetimeSeconds.transactions} seconds.`;
const request = { required: true, content: { "application/json": { schema: schemas.enhancedTransactionsBody } } };

type Records =
  | typeof schemas.enhancedTransactionsAnswer
  | typeof schemas.enhancedTransactions
  | typeof schemas.enhancedAddressAnswer;

/** Where a list goes on whose body is a list alone. */
const nextSignature = {
  "X-Next-Signature": {
    description:
      "There while more may follow, also on a page with few records or none: the transaction to go on from, as before-signature, with sort-order=asc as after-signature",
    schema: { type: "string" as const },
  },
};

const records = (schema: Records, description = "One record for each signature, in their order") => ({
  description,
  headers: requestIdHeader,
  content: { "application/json": { schema } },
});

const page = (schema: Records) => ({
  ...records(schema, "Records in the order that is asked for, of the first 1,000 transactions that are looked at"),
  headers: { ...requestIdHeader, ...nextSignature },
});

const parse = (operationId: string, summary: string): ZodOpenApiOperationObject => ({
  operationId,
  tags: ["Enhanced"],
  summary,
  description: parsed,
  security,
  parameters,
  requestParams: { query: schemas.enhancedTransactionsQuery },
  requestBody: request,
  responses: {},
});

const token: ZodOpenApiOperationObject = {
  operationId: "readToken",
  tags: ["Enhanced"],
  summary: "A token, by its mint",
  description: `${serviceCredits.tokenMetadata} credits; kept for ${enhancedLifetimeSeconds.token} seconds.`,
  security,
  parameters,
  requestParams: { query: schemas.enhancedTokenQuery },
  responses: {
    "200": {
      description: "What its mint and its metadata say",
      headers: requestIdHeader,
      content: { "application/json": { schema: schemas.tokenMetadataAnswer } },
    },
    ...failures(["INVALID_REQUEST", "TOKEN_NOT_FOUND", ...admission]),
  },
};

const nft: ZodOpenApiOperationObject = {
  operationId: "readNft",
  tags: ["Enhanced"],
  summary: "An NFT, by its mint, its account or the id of its leaf",
  description: `${serviceCredits.nftMetadata} credits; kept for ${enhancedLifetimeSeconds.nft} seconds.`,
  security,
  parameters,
  requestParams: { query: schemas.enhancedNftQuery },
  responses: {
    "200": {
      description: "Its collection, creators, royalties, edition and owner",
      headers: requestIdHeader,
      content: { "application/json": { schema: schemas.nftMetadataAnswer } },
    },
    ...failures(["INVALID_REQUEST", "NFT_NOT_FOUND", ...admission]),
  },
};

const ofAddress = (operationId: string, summary: string): ZodOpenApiOperationObject => ({
  operationId,
  tags: ["Enhanced"],
  summary,
  description: `${serviceCredits.walletHistory} credits.`,
  security,
  parameters,
  requestParams: { query: schemas.enhancedAddressQuery },
  responses: {},
});

/** The paths in the envelope, and the two that helius-sdk calls, which answer without it. */
export function enhancedPaths(problems: Problems): ZodOpenApiPathsObject {
  const root = "/api/v1/v0";
  const codes = [...body, "PARSING_FAILED", ...admission] as const;
  return {
    [`${root}/transactions`]: {
      post: {
        ...parse("parseTransactions", "What transactions were, by their signatures"),
        responses: { "200": records(schemas.enhancedTransactionsAnswer), ...failures(["INVALID_REQUEST", ...codes]) },
      },
    },
    [`${root}/token/{mint}`]: { get: token },
    [`${root}/nft/{mint}`]: { get: nft },
    "/v0/transactions": {
      post: {
        ...parse("parseTransactionsBare", "The same without the envelope, where helius-sdk calls it"),
        responses: { "200": records(schemas.enhancedTransactions), ...problems("INVALID_INPUT", ...codes) },
      },
    },
    [`${root}/addresses/{address}/transactions`]: {
      get: {
        ...ofAddress("parseTransactionsOfAddressEnveloped", "What transactions of an address were"),
        responses: {
          "200": page(schemas.enhancedAddressAnswer),
          ...failures(["INVALID_REQUEST", "TIER_REQUIRED", ...admission]),
        },
      },
    },
    "/v0/addresses/{address}/transactions": {
      get: {
        ...ofAddress("parseTransactionsOfAddress", "The same without the envelope, where helius-sdk calls it"),
        responses: {
          "200": page(schemas.enhancedTransactions),
          ...problems("INVALID_INPUT", "TIER_REQUIRED", ...admission),
        },
      },
    },
  };
}
