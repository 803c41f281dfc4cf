import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import * as schemas from "../schemas/index.ts";
import { dataSinceHeader } from "./data-since.ts";
import { engineKeys, failures } from "./engine.ts";

/** The paths of the stake pool's figures, on the block engine's REST port. */

interface Reading {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly answer:
    | typeof schemas.poolRecord
    | typeof schemas.positionRecord
    | typeof schemas.validatorRecords
    | typeof schemas.overviewRecord
    | typeof schemas.apyRecord
    | typeof schemas.exchangeRateRecord
    | typeof schemas.mevBreakdown
    | typeof schemas.chartPoints
    | typeof schemas.dashboardRecord
    | typeof schemas.pnlRecord
    | typeof schemas.explanationRecord;
  readonly query?: typeof schemas.chartQuery | typeof schemas.pnlQuery | typeof schemas.explainQuery;
  /** Whether it reaches back to a time of which nothing may be known. */
  readonly isHistory?: boolean;
  /** Whether a caller's own words may be refused. */
  readonly isAsked?: boolean;
}

const reading = ({ operationId, summary, description, answer, query, isHistory, isAsked }: Reading) => ({
  get: {
    operationId,
    tags: ["Stake pool"],
    summary,
    ...(description === undefined ? {} : { description }),
    security: engineKeys,
    ...(query === undefined ? {} : { requestParams: { query } }),
    responses: {
      "200": {
        description: summary,
        ...(isHistory === true ? dataSinceHeader : {}),
        content: { "application/json": { schema: answer } },
      },
      ...failures([
        ...(isAsked === true || query !== undefined ? (["INVALID_INPUT"] as const) : []),
        "MISSING_API_KEY",
        "INVALID_API_KEY",
        "PERMISSION_DENIED",
        "METHOD_NOT_ALLOWED",
        "RATE_LIMIT_EXCEEDED",
        "INTERNAL_ERROR",
        "UNAVAILABLE",
      ]),
    },
  } satisfies ZodOpenApiOperationObject,
});

const chart = (operationId: string, summary: string) =>
  reading({ operationId, summary, answer: schemas.chartPoints, query: schemas.chartQuery, isHistory: true });

const root = "/api/v1";
const isHistory = true;

/** The paths of the stake pool's figures, and of what bundles brought. */
export function poolPaths(): ZodOpenApiPathsObject {
  return {
    ...bundlePaths(),
    [`${root}/pool`]: reading({
      operationId: "stakePool",
      summary: "The state of the stake pool",
      answer: schemas.poolRecord,
    }),
    [`${root}/position/{wallet}`]: reading({
      operationId: "stakePosition",
      summary: "A wallet's part of the stake pool",
      description:
        "A wallet without tokens of the pool has a record of zeros. What tokens cost is what their deposits cost, or " +
        "their value by the last sample when they came otherwise; where that is not known they have a value and no " +
        "rewards, and `X-Data-Since` tells from when the wallet's movements are known.",
      answer: schemas.positionRecord,
      isAsked: true,
      isHistory,
    }),
    [`${root}/validators`]: reading({
      operationId: "stakeValidators",
      summary: "The validators of the stake pool",
      answer: schemas.validatorRecords,
    }),
    [`${root}/apy`]: reading({
      operationId: "stakeApy",
      summary: "What the pool's token gains in a year",
      answer: schemas.apyRecord,
      isHistory,
    }),
    [`${root}/exchange-rate`]: reading({
      operationId: "stakeExchangeRate",
      summary: "What one token of the pool is worth, and how that changed",
      answer: schemas.exchangeRateRecord,
      isHistory,
    }),
    [`${root}/charts/tvl`]: chart("tvlChart", "All that the pool held, by day, in native tokens"),
    [`${root}/charts/apy`]: chart("apyChart", "What the pool's token gained in a year, by day, in percent"),
    [`${root}/dashboard`]: reading({
      operationId: "stakeDashboard",
      summary: "The figures of the pool and of its tips in one record",
      answer: schemas.dashboardRecord,
      isHistory,
    }),
    [`${root}/explain`]: reading({
      operationId: "explainFigures",
      summary: "What a record is computed from, and how",
      description:
        "Inputs (accounts, samples, transactions, bundles) with their values, then the arithmetic. Of bundles the " +
        "newest 1,000 are listed.",
      answer: schemas.explanationRecord,
      query: schemas.explainQuery,
      isHistory,
    }),
  };
}

const bundlePaths = (): ZodOpenApiPathsObject => ({
  [`${root}/overview/{period}`]: reading({
    operationId: "bundleOverview",
    summary: "What became of bundles in a period",
    answer: schemas.overviewRecord,
    isAsked: true,
    isHistory,
  }),
  [`${root}/mev/breakdown`]: reading({
    operationId: "mevBreakdown",
    summary: "Tips by type of bundle, since the ledger has them",
    answer: schemas.mevBreakdown,
    isHistory,
  }),
  [`${root}/pnl`]: reading({
    operationId: "bundleProfits",
    summary: "Profit and loss of bundles",
    description: "Of the key's account; of all of them with the permission `admin`.",
    answer: schemas.pnlRecord,
    query: schemas.pnlQuery,
    isHistory,
  }),
});
