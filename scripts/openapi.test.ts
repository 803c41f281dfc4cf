import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { createOpenApi } from "@sluice/contract/openapi";
import { type OpenApiName, openApiLocation, openApiNames } from "@sluice/contract/openapi-names";
import { renderApiPage } from "@sluice/contract/openapi-page";
import { oraclePaths } from "@sluice/contract/oracle";
import { testEventName, webhookEventNames } from "@sluice/contract/webhooks";
import { administrationMethods } from "../server/src/admin/index.ts";
import { analyticsRoutes } from "../server/src/analytics/index.ts";
import { enhancedRoutes } from "../server/src/enhanced/index.ts";
import { historyMethods } from "../server/src/history/index.ts";
import { fieldsOf } from "../server/src/webhooks/delivery/exchange.ts";
import { webhookRoutes } from "../server/src/webhooks/index.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
}
interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly tags?: readonly string[];
}
interface Found extends Operation {
  readonly name: OpenApiName;
  readonly method: string;
  readonly path: string;
  /** Of the path and of the operation together. */
  readonly all: readonly Parameter[];
}

const methods = ["get", "post", "put", "patch", "delete"];
const documents = openApiNames.map((name) => ({ name, document: JSON.parse(JSON.stringify(createOpenApi(name))) }));

/** Every operation of a description. */
function operationsOf(name: OpenApiName, document: { paths: Record<string, Record<string, unknown>> }): Found[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined) return [];
      const shared = (item["parameters"] ?? []) as readonly Parameter[];
      return [{ ...operation, name, method, path, all: [...shared, ...(operation.parameters ?? [])] }];
    }),
  );
}
const operations = documents.flatMap(({ name, document }) => operationsOf(name, document));
const routesOf = (name: OpenApiName): string[] =>
  operations.filter((each) => each.name === name).map(({ method, path }) => `${method.toUpperCase()} ${path}`);

/** What a linter of OpenAPI reports beyond the schema of the format. */
function faultsOf(
  found: readonly Found[],
  document: { readonly components?: object; readonly tags?: object[] },
): string[] {
  const { securitySchemes = {} } = (document.components ?? {}) as { securitySchemes?: object };
  const tags = (document.tags ?? []) as { name: string }[];
  return found.flatMap(({ path, method, all, operationId, summary, responses, security, tags: own = [] }) => {
    const at = `${method} ${path}`;
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
    const described = all.filter((each) => each.in === "path");
    const statuses = Object.keys(responses);
    return [
      ...inPath
        .filter((name) => !described.some((each) => each.name === name && each.required === true))
        .map((name) => `${at}: {${name}} is not described`),
      ...described.filter(({ name }) => !inPath.includes(name)).map(({ name }) => `${at}: ${name} is not in the path`),
      ...(operationId === undefined ? [`${at}: no operationId`] : []),
      ...(summary === undefined ? [`${at}: no summary`] : []),
      ...(statuses.some((status) => status.startsWith("2") || status === "101") ? [] : [`${at}: no success`]),
      ...(statuses.some((status) => status.startsWith("4")) || path === "/health" || path === "/ready"
        ? []
        : [`${at}: no refusal`]),
      ...(security === undefined ? [`${at}: no security`] : []),
      ...(security ?? [])
        .flatMap((each) => Object.keys(each))
        .filter((scheme) => !(scheme in securitySchemes))
        .map((scheme) => `${at}: unknown ${scheme}`),
      ...own.filter((tag) => !tags.some(({ name }) => name === tag)).map((tag) => `${at}: unknown tag ${tag}`),
    ];
  });
}

describe.each(documents)("the description of the $name", ({ name, document }) => {
  test("is valid OpenAPI 3.1, and each reference in it leads somewhere", async () => {
    const validator = new Validator();
    const outcome = await validator.validate(structuredClone(document));
    expect(outcome.errors ?? []).toEqual([]);
    expect(outcome.valid).toBe(true);
    expect(validator.version).toBe("3.1");
    const schemas = Object.keys(document.components?.schemas ?? {});
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    for (const [, target = ""] of references) expect(schemas).toContain(target);
    expect(JSON.stringify(document)).not.toContain("localhost");
  });

  test("has a name, a summary, path parameters, security, a success and a refusal for each operation", () => {
    const found = operations.filter((each) => each.name === name);
    expect(found.length).toBeGreaterThan(0);
    expect(faultsOf(found, document)).toEqual([]);
  });
});

test("the checks see what is missing", () => {
  const [resolve] = operationsOf("resolver", createOpenApi("resolver") as never);
  const broken = {
    ...resolve,
    all: [],
    responses: {},
    operationId: undefined,
    security: [{ nothing: [] }],
  } as unknown as Found;
  expect(faultsOf([broken], {})).toEqual([
    "get /resolve/{name}: {name} is not described",
    "get /resolve/{name}: no operationId",
    "get /resolve/{name}: no success",
    "get /resolve/{name}: no refusal",
    "get /resolve/{name}: unknown nothing",
    "get /resolve/{name}: unknown tag Names",
  ]);
});

test("operations have one name each, over all endpoints", () => {
  const names = operations.map(({ operationId }) => operationId);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("every route of administration, history, SQL, the oracle and the console is described, and none besides", () => {
  const braced = (route: string): string => route.replace(/:(\w+)/g, "{$1}");
  const ofGateway = routesOf("gateway").filter((route) => !/ \/(rpc|health|ready)/.test(route));
  const administration = ofGateway.filter((route) => !route.includes("/console/"));
  const analytics = analyticsRoutes.filter((route) => !route.includes("/console/"));
  const rest = [...administrationMethods, ...historyMethods, ...enhancedRoutes, ...analytics, ...webhookRoutes];
  expect(administration.toSorted()).toEqual(rest.map(braced).toSorted());
  expect(routesOf("oracle").toSorted()).toEqual(oraclePaths.map((path) => `GET ${braced(path)}`).toSorted());
  const webhooks = webhookRoutes.map((route) => braced(route).replace("/api/v1/", "/api/v1/console/"));
  expect(ofGateway.filter((route) => route.includes("/console/webhooks")).toSorted()).toEqual(webhooks.toSorted());
  const ofConsole = ofGateway.filter((route) => /\/console\/(?!sql|webhooks)/.test(route));
  expect(ofConsole.toSorted()).toEqual([
    "DELETE /api/v1/console/session",
    "GET /api/v1/console/bundles",
    "GET /api/v1/console/bundles/live",
    "GET /api/v1/console/bundles/{id}",
    "GET /api/v1/console/enhanced/nft/{mint}",
    "GET /api/v1/console/enhanced/token/{mint}",
    "GET /api/v1/console/enhanced/wallet/{address}/balances",
    "GET /api/v1/console/enhanced/wallet/{address}/history",
    "GET /api/v1/console/live",
    "GET /api/v1/console/names",
    "GET /api/v1/console/overview",
    "GET /api/v1/console/pool",
    "GET /api/v1/console/pool/explain",
    "GET /api/v1/console/prices",
    "GET /api/v1/console/prices/live",
    "POST /api/v1/console/enhanced/transactions",
    "POST /api/v1/console/session",
  ]);
  expect(routesOf("resolver")).toEqual(["GET /resolve/{name}", "GET /version", "GET /health"]);
  expect(routesOf("engine")).toHaveLength(22);
});

test("what receivers of webhooks are sent is described by event, with the fields that a delivery has", () => {
  const { webhooks } = JSON.parse(JSON.stringify(createOpenApi("gateway")));
  expect(Object.keys(webhooks)).toEqual([...webhookEventNames, testEventName]);
  const secrets = { present: "whsec_AAAA", next: ["whsec_BBBB"], untilMs: null };
  const delivery = { eventId: "event", event: "block.confirmed", deliveryId: "delivery", attempts: 0 };
  const sent = fieldsOf({ delivery: delivery as never, secrets }, "{}", 1).map(([name]) => name);
  const own = sent.filter((name) => !["Content-Type", "User-Agent"].includes(name));
  for (const [name, { post }] of Object.entries<{ post: Operation }>(webhooks)) {
    expect([name, post.parameters?.map((each) => each.name)]).toEqual([name, own]);
  }
});

test("the page shows every operation, needs no other file and no script, and links to each description", () => {
  const page = renderApiPage({ gateway: null, engine: null, oracle: null, resolver: null });
  for (const { operationId, method, path } of operations) {
    expect(page).toContain(`<details id="${operationId}"><summary><code>${method.toUpperCase()} ${path}</code>`);
  }
  for (const name of openApiNames) expect(page).toContain(`href="${openApiLocation(name)}"`);
  for (const foreign of ["<script", "<link", "http://", "https://", "url("]) expect(page).not.toContain(foreign);
  expect(page).toContain('<html lang="en">');
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
