import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from "zod-openapi";
import type { ErrorCode } from "../errors.ts";
import * as schemas from "../schemas/index.ts";
import { identifier } from "../schemas/primitives.ts";
import { dataSinceHeader } from "./data-since.ts";

type Schema = typeof schemas.usageReport | typeof schemas.problemDetails;
interface Route {
  /** The name of the function that generated clients call. */
  readonly operationId: string;
  readonly summary: string;
  readonly status?: number;
  readonly query?: ZodOpenApiOperationObject["requestParams"];
  readonly body?: unknown;
  readonly answer?: unknown;
  /** Answered with server-sent events. */
  readonly stream?: true;
  /** It reads records that are deleted after a time. */
  readonly dataSince?: true;
}

type Problems = (...codes: ErrorCode[]) => Record<string, ZodOpenApiResponseObject>;

/** Makes operations of routes, with the failures that all of them share. */
function operations(problems: Problems) {
  const json = (schema: unknown) => ({ "application/json": { schema: schema as Schema } });
  const contentOf = (answer: unknown, stream: true | undefined) => {
    if (stream === true) return { content: { "text/event-stream": { schema: { type: "string" as const } } } };
    return answer === undefined ? {} : { content: json(answer) };
  };
  return ({
    operationId,
    summary,
    status = 200,
    query,
    body,
    answer,
    stream,
    dataSince,
  }: Route): ZodOpenApiOperationObject => ({
    operationId,
    tags: ["Administration"],
    summary,
    security: [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }],
    ...(query === undefined ? {} : { requestParams: query }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      [`${status}` as "200"]: {
        description: summary,
        ...contentOf(answer, stream),
        ...(dataSince === true ? dataSinceHeader : {}),
      },
      ...problems("INVALID_INPUT", "INVALID_API_KEY", "KEY_INACTIVE", "PERMISSION_DENIED", "IP_NOT_ALLOWED"),
      ...problems("NOT_FOUND", "CONFLICT", "RATE_LIMIT_EXCEEDED", "OVERLOADED", "STORE_UNAVAILABLE", "INTERNAL_ERROR"),
    },
  });
}

const { accountRecord, keyRecord, upstreamRecord, pageOf } = schemas;
const root = "/api/v1/admin";
const page = { query: schemas.pageQuery };
const ofAccount = { query: schemas.pageQuery.extend({ account_id: identifier.optional() }) };
const ofSubject = { query: schemas.pageQuery.extend({ subject: identifier.optional() }) };
const forced = { query: z.object({ force: z.enum(["true", "false"]).optional() }) };

/** Usage and administration as OpenAPI paths. */
export function administrationPaths(problems: Problems): ZodOpenApiPathsObject {
  const operation = operations(problems);
  return {
    ...usagePaths(operation),
    ...accountsAndKeys(operation),
    ...operatorsPaths(operation),
    ...engineAdministration(operation),
  };
}

type Operation = ReturnType<typeof operations>;

function usagePaths(operation: Operation): ZodOpenApiPathsObject {
  return {
    "/api/v1/usage": {
      get: operation({
        operationId: "readUsage",
        summary: "What an account used",
        dataSince: true,
        query: { query: schemas.usageQuery },
        answer: schemas.usageReport,
      }),
    },
    "/api/v1/sent-transactions": {
      get: operation({
        operationId: "listSentTransactions",
        summary: "What became of what a key sent",
        query: { query: schemas.sentTransactionsQuery },
        answer: pageOf(schemas.sentTransaction),
      }),
    },
    "/api/v1/requests": {
      get: operation({
        operationId: "listRequests",
        summary: "Requests, newest first",
        dataSince: true,
        query: { query: schemas.requestsQuery },
        answer: pageOf(schemas.requestRecord),
      }),
    },
    "/api/v1/requests/{id}": {
      get: operation({
        operationId: "readRequest",
        summary: "What is known of a request",
        answer: schemas.requestFound,
      }),
    },
  };
}

function accountsAndKeys(operation: Operation): ZodOpenApiPathsObject {
  return {
    [`${root}/accounts`]: {
      get: operation({
        operationId: "listAccounts",
        summary: "Owner accounts",
        query: page,
        answer: pageOf(accountRecord),
      }),
      post: operation({
        operationId: "createAccount",
        summary: "A new account",
        status: 201,
        body: schemas.adminAccountCreate,
        answer: accountRecord,
      }),
    },
    [`${root}/accounts/{id}`]: {
      get: operation({ operationId: "readAccount", summary: "An account", answer: accountRecord }),
      patch: operation({
        operationId: "changeAccount",
        summary: "The changed account",
        body: schemas.accountChange,
        answer: accountRecord,
      }),
    },
    [`${root}/keys`]: {
      get: operation({ operationId: "listKeys", summary: "Keys", query: ofAccount, answer: pageOf(keyRecord) }),
      post: operation({
        operationId: "createKey",
        summary: "A new key, shown once",
        status: 201,
        body: schemas.adminKeyCreate,
        answer: schemas.keyCreated,
      }),
    },
    [`${root}/keys/{id}`]: {
      get: operation({ operationId: "readKey", summary: "A key", answer: keyRecord }),
      patch: operation({
        operationId: "changeKey",
        summary: "The changed key",
        body: schemas.keyChange,
        answer: keyRecord,
      }),
      delete: operation({ operationId: "deleteKey", summary: "The key is deleted", status: 204 }),
    },
    [`${root}/keys/{id}/rotate`]: {
      post: operation({
        operationId: "rotateKey",
        summary: "The new key, shown once",
        status: 201,
        body: schemas.keyRotate,
        answer: schemas.keyRotated,
      }),
    },
  };
}

function operatorsPaths(operation: Operation): ZodOpenApiPathsObject {
  const order = (operationId: string, summary: string) => ({
    post: operation({ operationId, summary, answer: upstreamRecord }),
  });
  const node = `${root}/upstreams/{network}/{label}`;
  return {
    [`${root}/audit`]: {
      get: operation({
        operationId: "listAudit",
        summary: "The trail of changes, newest first",
        query: ofSubject,
        answer: pageOf(schemas.auditEntry),
      }),
    },
    [`${root}/ledger/tables`]: {
      get: operation({
        operationId: "listLedgerTables",
        summary: "The tables of the ledger: their size, their oldest row, and how long they keep their rows",
        answer: schemas.ledgerTableList,
      }),
    },
    [`${root}/upstreams/live`]: {
      get: operation({
        operationId: "followUpstreams",
        summary: "Nodes and how they are, about once a second as server-sent events",
        stream: true,
      }),
    },
    [`${root}/upstreams`]: {
      get: operation({ operationId: "listUpstreams", summary: "Nodes and how they are", answer: schemas.upstreamList }),
      post: operation({
        operationId: "addUpstream",
        summary: "A node that every gateway of this state has from now on",
        status: 201,
        body: schemas.upstreamCreate,
        answer: upstreamRecord,
      }),
    },
    [node]: {
      delete: operation({
        operationId: "removeUpstream",
        summary: "The node is removed: everywhere when it was added, else from this process and drained elsewhere",
        query: forced,
        status: 204,
      }),
    },
    [`${node}/cordon`]: order("cordonUpstream", "The node, which gets no calls"),
    [`${node}/uncordon`]: order("uncordonUpstream", "The node, which gets calls again"),
    [`${node}/drain`]: order("drainUpstream", "The node, which is on its way out"),
    [`${root}/reload`]: {
      post: operation({
        operationId: "reloadConfiguration",
        summary: "What changed in the configuration",
        answer: schemas.reloadOutcome,
      }),
    },
  };
}

function engineAdministration(operation: Operation): ZodOpenApiPathsObject {
  const { engineAdmin, searcherLink, searcherLimit } = schemas;
  const turn = (operationId: string, summary: string) => ({
    put: operation({ operationId, summary, body: schemas.engineSwitchChange, answer: engineAdmin }),
  });
  return {
    [`${root}/engine`]: {
      get: operation({
        operationId: "readEngine",
        summary: "The block engine's switches, and what it does",
        answer: engineAdmin,
      }),
    },
    [`${root}/engine/maintenance`]: turn("setEngineMaintenance", "Submissions are refused or taken again"),
    [`${root}/engine/halted`]: turn("setEngineHalted", "Bundles are handed to leaders no more, or again"),
    [`${root}/searchers`]: {
      get: operation({
        operationId: "listSearchers",
        summary: "Public keys that count for accounts",
        query: ofAccount,
        answer: pageOf(searcherLink),
      }),
      post: operation({
        operationId: "linkSearcher",
        summary: "The linked key",
        status: 201,
        body: schemas.searcherLinkCreate,
        answer: searcherLink,
      }),
    },
    [`${root}/searchers/{pubkey}`]: {
      delete: operation({ operationId: "unlinkSearcher", summary: "The key stands for itself again", status: 204 }),
    },
    [`${root}/searchers/limits`]: {
      get: operation({
        operationId: "listSearcherLimits",
        summary: "Limits in place of a tier's",
        query: page,
        answer: pageOf(searcherLimit),
      }),
    },
    [`${root}/searchers/limits/{searcher}`]: {
      put: operation({
        operationId: "setSearcherLimit",
        summary: "The limit that was set",
        body: schemas.searcherLimitChange,
        answer: searcherLimit,
      }),
      delete: operation({ operationId: "clearSearcherLimit", summary: "The tier's limit holds again", status: 204 }),
    },
  };
}
