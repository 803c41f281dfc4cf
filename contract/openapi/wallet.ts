import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import { serviceCredits } from "../credits.ts";
import { enhancedLifetimeSeconds } from "../enhanced.ts";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import { admission, body, failures, type Problems, parameters, requestIdHeader, security } from "./enhanced.ts";

/** Wallets: in the envelope of the enhanced API, and in the shapes of helius-sdk. */

type Schema = typeof schemas.walletIdentity;

interface Route {
  readonly operationId: string;
  readonly summary: string;
  readonly credits: number;
  readonly keptSeconds?: number;
  readonly query: unknown;
  readonly body?: unknown;
  readonly answer: unknown;
  readonly codes?: readonly ErrorCode[];
}

const answerHeaders = {
  ...requestIdHeader,
  "X-Data-Since": {
    description: "The moment from which the caller sees the history, where the range begins before it",
    schema: { type: "string" as const, format: "date-time" },
  },
};

/** Admission, and what the ledger and its reach may refuse. */
const shared: readonly ErrorCode[] = ["TIER_REQUIRED", "UPSTREAM_INVALID", ...admission];

function operation(
  { operationId, summary, credits, keptSeconds, query, body: bodySchema, answer }: Route,
  refusals: ZodOpenApiOperationObject["responses"],
): ZodOpenApiOperationObject {
  const json = (schema: unknown) => ({ "application/json": { schema: schema as Schema } });
  const kept = keptSeconds === undefined ? "" : `; kept for ${keptSeconds} seconds`;
  return {
    operationId,
    tags: ["Wallets"],
    summary,
    description: `${credits} ${credits === 1 ? "credit for each address" : "credits"}${kept}.`,
    security,
    parameters,
    requestParams: { query: query as typeof schemas.walletQuery },
    ...(bodySchema === undefined ? {} : { requestBody: { required: true, content: json(bodySchema) } }),
    responses: { "200": { description: summary, headers: answerHeaders, content: json(answer) }, ...refusals },
  };
}

const { walletAnalytics, walletBalances, walletHistory, walletIdentity, walletTransfers } = serviceCredits;
const keptSeconds = enhancedLifetimeSeconds.wallet;

const enveloped: Readonly<Record<string, Route>> = {
  "": {
    operationId: "readWallet",
    summary: "What a wallet holds, and what it did, in figures",
    ...{ credits: walletAnalytics, keptSeconds, query: schemas.walletQuery, answer: schemas.walletAnalyticsAnswer },
  },
  "/balances": {
    operationId: "readWalletBalances",
    summary: "What a wallet holds, the most valuable first",
    ...{ credits: walletBalances, query: schemas.walletBalancesQuery, answer: schemas.walletBalancesAnswer },
  },
  "/transfers": {
    operationId: "readWalletTransfers",
    summary: "What came to a wallet and left it",
    ...{ credits: walletTransfers, query: schemas.walletTransfersQuery, answer: schemas.walletTransfersAnswer },
  },
  "/history": {
    operationId: "readWalletHistory",
    summary: "What a wallet's transactions were",
    ...{ credits: walletHistory, keptSeconds, query: schemas.walletHistoryQuery, answer: schemas.walletHistoryAnswer },
  },
};

const ofSdk: Readonly<Record<string, Route>> = {
  "/identity": {
    operationId: "sdkWalletIdentity",
    summary: "What is known of an address",
    ...{ credits: walletIdentity, query: schemas.sdkWalletQuery, answer: schemas.walletIdentity },
    codes: ["IDENTITY_NOT_FOUND"],
  },
  "/balances": {
    operationId: "sdkWalletBalances",
    summary: "What a wallet holds",
    ...{ credits: walletBalances, query: schemas.sdkBalancesQuery, answer: schemas.sdkBalances },
  },
  "/balance-at": {
    operationId: "sdkWalletBalanceAt",
    summary: "What a wallet held of a token at a moment",
    ...{ credits: walletBalances, query: schemas.sdkBalanceAtQuery, answer: schemas.sdkBalanceAt },
    codes: ["BALANCE_NOT_HELD"],
  },
  "/history": {
    operationId: "sdkWalletHistory",
    summary: "A wallet's transactions with what they changed of it",
    ...{ credits: walletHistory, query: schemas.sdkHistoryQuery, answer: schemas.sdkHistory },
  },
  "/transfers": {
    operationId: "sdkWalletTransfers",
    summary: "What came to a wallet and left it, the newest first",
    ...{ credits: walletTransfers, query: schemas.sdkTransfersQuery, answer: schemas.sdkTransfers },
  },
  "/funded-by": {
    operationId: "sdkWalletFunding",
    summary: "Where a wallet's first lamports came from",
    ...{ credits: walletHistory, query: schemas.sdkWalletQuery, answer: schemas.sdkFunding },
    codes: ["FUNDING_NOT_FOUND"],
  },
};

const batchIdentity: Route = {
  operationId: "sdkWalletIdentities",
  summary: "What is known of addresses; those of which nothing is are left out",
  ...{ credits: walletIdentity, query: schemas.sdkWalletQuery, answer: schemas.sdkIdentities },
  body: schemas.sdkIdentitiesBody,
};

/** The paths of wallets. */
export function walletPaths(problems: Problems): ZodOpenApiPathsObject {
  const inEnvelope = Object.entries(enveloped).map(([path, route]) => [
    `/api/v1/v0/wallet/{address}${path}`,
    { get: operation(route, failures(["INVALID_REQUEST", ...(route.codes ?? []), ...shared])) },
  ]);
  const bare = Object.entries(ofSdk).map(([path, route]) => [
    `/v1/wallet/{address}${path}`,
    { get: operation(route, problems("INVALID_INPUT", ...(route.codes ?? []), ...shared)) },
  ]);
  const many = operation(batchIdentity, problems("INVALID_INPUT", "PARSE_ERROR", ...body, ...shared));
  return Object.fromEntries([...inEnvelope, ["/v1/wallet/batch-identity", { post: many }], ...bare]);
}
