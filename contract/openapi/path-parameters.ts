import type { ZodOpenApiPathsObject } from "zod-openapi";
import { oraclePair, oracleSymbols } from "../oracle.ts";
import { figurePeriods } from "../pool.ts";
import { networks, oracleTiers } from "../tiers.ts";

const id = (description: string) => ({ description, schema: { type: "string" as const, minLength: 1, maxLength: 64 } });
const anyCase = "in any letter case";

interface TextSchema {
  readonly type: "string";
  readonly enum?: string[];
}

/** What each parameter in a path is, by the segment before it and its name. */
const descriptions: Readonly<Record<string, { readonly description: string; readonly schema: TextSchema }>> = {
  "rpc/{network}": { description: "The chain that is meant", schema: { type: "string", enum: [...networks] } },
  "accounts/{id}": id("The account's id"),
  "keys/{id}": id("The key's id"),
  "queries/{id}": id("The saved query's id"),
  "webhooks/{webhook_id}": id("The webhook's id"),
  "deliveries/{delivery_id}": id("The delivery's id"),
  "requests/{id}": id("As X-Request-Id carried it"),
  "bundles/{id}": { description: "The id of the bundle: 64 hexadecimal digits", schema: { type: "string" } },
  "transactions/{signature}": {
    description: "The signature of the transaction, in base58",
    schema: { type: "string" },
  },
  "token/{mint}": { description: "The token's mint, in base58", schema: { type: "string" } },
  "nft/{mint}": {
    description: "The mint of the NFT, its account of MPL Core, or the id of its leaf, in base58",
    schema: { type: "string" },
  },
  "addresses/{address}": { description: "An address in base58", schema: { type: "string" } },
  "wallet/{address}": { description: "The address of the wallet, in base58", schema: { type: "string" } },
  "blocks/{slot}": { description: "The slot of the block", schema: { type: "string" } },
  "position/{wallet}": { description: "The address of the wallet, in base58", schema: { type: "string" } },
  "overview/{period}": { description: "The period", schema: { type: "string", enum: Object.keys(figurePeriods) } },
  "upstreams/{network}": {
    description: "The node's network",
    schema: { type: "string", enum: [...networks] },
  },
  "{network}/{label}": id("The node's label"),
  "searchers/{pubkey}": { description: "A public key in base58", schema: { type: "string" } },
  "limits/{searcher}": id("An account's id, or `pubkey:` and a public key that no account has linked"),
  "price/{symbol}": {
    description: `A symbol, ${anyCase}`,
    schema: { type: "string", enum: [...oracleSymbols] },
  },
  "prices/{symbol}": {
    description: `A pair, ${anyCase}`,
    schema: { type: "string", enum: oracleSymbols.map(oraclePair) },
  },
  "tiers/{tier}": { description: `A tier, ${anyCase}`, schema: { type: "string", enum: [...oracleTiers] } },
  "resolve/{name}": {
    description: "`@` and a handle, or a domain with its suffix, as one URL-encoded segment",
    schema: { type: "string" },
  },
};

/**
 * The paths with a description of each parameter that stands in them.
 * @throws {Error} for a parameter that the table has not
 */
export function withPathParameters(paths: ZodOpenApiPathsObject): ZodOpenApiPathsObject {
  const described = Object.entries(paths).map(([path, item]) => {
    const parameters = parametersOf(path);
    return [path, parameters.length === 0 ? item : { parameters, ...item }];
  });
  return Object.fromEntries(described);
}

function parametersOf(path: string) {
  const segments = path.split("/");
  return segments.flatMap((segment, index) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    const about = descriptions[`${segments[index - 1]}/${segment}`];
    if (about === undefined) throw new Error(`${path} has the parameter ${name}, which is not described`);
    return [{ name, in: "path" as const, required: true, ...about }];
  });
}
