import { closeCodes, closeCodeTexts } from "./close-codes.ts";
import { creditCost, isPricedByItem } from "./credits.ts";
import { bundleReasonStatus, bundleReasons, bundleReasonTexts, endingReasons, engineErrorTable } from "./engine.ts";
import {
  bundleReasonGuide,
  engineErrorCodes,
  engineErrorDocsPath,
  engineErrorGuide,
  engineOwnCodes,
} from "./engine-errors-guide.ts";
import { type ErrorCode, errorDocsPath, errorTable } from "./errors.ts";
import { errorGuide } from "./errors-guide.ts";
import { nameErrorTable, nameErrorTexts } from "./name-errors.ts";
import { type OracleErrorCode, oracleErrorCodes, oracleErrorTable } from "./oracle.ts";
import { oracleErrorDocsPath, oracleErrorGuide, oracleOwnCodes } from "./oracle-errors-guide.ts";
import { permissionOf } from "./permissions.ts";
import { type CacheClass, type ParameterKind, type RpcMethodSpec, rpcMethods } from "./rpc/index.ts";

/** The reference pages that are made from the contract's tables, as Markdown. */

const errorCodes = Object.keys(errorTable).filter((code): code is ErrorCode => code in errorTable);

/** The place of a code on the page of errors; what `errorDocsPath` points at. */
function anchorOf(code: ErrorCode): string {
  return errorDocsPath(code).split("#")[1] ?? "";
}

/** docs/reference/errors.md: one section for each code. */
export function renderErrorReference(): string {
  const lines = [
    "# Errors",
    "",
    "REST endpoints answer a failure as problem details (RFC 9457) with the member `code`; JSON-RPC endpoints answer with an error",
    "object whose `data.code` and whose header `X-Error-Code` name the code. Errors of a node, Solana's own codes -32001 to",
    "-32021 among them, are passed on unchanged.",
    "",
    "| code | HTTP status | JSON-RPC code | retry |",
    "|---|---|---|---|",
    ...errorCodes.map((code) => {
      const { status, rpcCode, retryable } = errorTable[code];
      return `| [${code}](#${anchorOf(code)}) | ${status} | ${rpcCode} | ${retryable ? "yes" : "no"} |`;
    }),
    "",
  ];
  for (const code of errorCodes) {
    const { status, rpcCode, retryable, text } = errorTable[code];
    const { meaning, remedy } = errorGuide[code];
    const retry = retryable ? "the same call may succeed later" : "the same call fails again";
    lines.push(`<a id="${anchorOf(code)}"></a>`, "", `## ${code}`, "");
    lines.push(`HTTP status ${status}, JSON-RPC code ${rpcCode}, ${retry}. Text: "${text}".`, "");
    lines.push(meaning, "", `What to do: ${remedy}`, "");
  }
  return [...lines, ...engineErrorSections(), ...oracleErrorSections(), ...otherErrorSections()].join("\n");
}

const engineAnchorOf = (code: Parameters<typeof engineErrorDocsPath>[0]): string =>
  engineErrorDocsPath(code).split("#")[1] ?? "";

/** The block engine's part of the page: its statuses, the codes that it alone has, and the reasons of bundles. */
function engineErrorSections(): string[] {
  const own = engineOwnCodes.flatMap((code) => {
    const { status, text } = engineErrorTable[code];
    const { meaning, remedy } = engineErrorGuide[code];
    const said = `HTTP status ${status}, at the block engine alone. Text: "${text}".`;
    return [
      `<a id="${engineAnchorOf(code)}"></a>`,
      "",
      `## ${code}`,
      "",
      said,
      "",
      meaning,
      "",
      `What to do: ${remedy}`,
      "",
    ];
  });
  const reasons = bundleReasons.flatMap((reason) => {
    const { meaning, remedy } = bundleReasonGuide[reason];
    const said = `HTTP status ${bundleReasonStatus(reason)}. Text: "${bundleReasonTexts[reason]}".`;
    const head = [`<a id="${engineAnchorOf(reason)}"></a>`, "", `## ${reason}`, ""];
    return [...head, said, "", meaning, "", `What to do: ${remedy}`, ""];
  });
  const ending = [...endingReasons].map((each) => `\`${each}\``).join(", ");
  return [
    "# Errors of the block engine",
    "",
    "Its REST endpoint also answers with problem details, with these statuses: an invalid key is 403 here.",
    "",
    "| code | HTTP status |",
    "|---|---|",
    ...engineErrorCodes.map((code) => `| [${code}](#${engineAnchorOf(code)}) | ${engineErrorTable[code].status} |`),
    "",
    ...own,
    "# Reasons of bundles",
    "",
    "Why a bundle was rejected, dropped, or expired: the code of a problem document, `reason` of a gRPC answer, the reason",
    `in a stream and in a bundle's status. ${ending} are reasons of bundles that were accepted,`,
    "and never answer a submission.",
    "",
    ...reasons,
  ];
}

const oracleAnchorOf = (code: OracleErrorCode): string => oracleErrorDocsPath(code).split("#")[1] ?? "";

/** The oracle's part of the page: its statuses, and the codes that it alone has. */
function oracleErrorSections(): string[] {
  const own = oracleOwnCodes.flatMap((code) => {
    const { status, text } = oracleErrorTable[code];
    const { meaning, remedy } = oracleErrorGuide[code];
    const said = `HTTP status ${status}, at the oracle alone. Text: "${text}".`;
    const head = [`<a id="${oracleAnchorOf(code)}"></a>`, "", `## ${code}`, ""];
    return [...head, said, "", meaning, "", `What to do: ${remedy}`, ""];
  });
  return [
    "# Errors of the oracle",
    "",
    "The first variant answers `{success: false, error, message, details, timestamp}` with the code in `error`, the second",
    "`{error: {code, message, details}, timestamp}`; the stream sends `{type: error, code, message}`. With these statuses:",
    "",
    "| code | HTTP status |",
    "|---|---|",
    ...oracleErrorCodes.map((code) => `| [${code}](#${oracleAnchorOf(code)}) | ${oracleErrorTable[code].status} |`),
    "",
    ...own,
  ];
}

/** What has no codes of the kind above: the resolver's texts, and the close codes of WebSockets. */
function otherErrorSections(): string[] {
  const codes = Object.entries(closeCodes) as [keyof typeof closeCodes, number][];
  return [
    "# Errors of the name resolver",
    "",
    "Bodies are `{error, input}` with one of these texts, as the interface of the resolver has them.",
    "",
    "| error | HTTP status | meaning |",
    "|---|---|---|",
    ...nameErrorTexts.map(
      (text) => `| \`${text}\` | ${nameErrorTable[text].status} | ${nameErrorTable[text].meaning} |`,
    ),
    "",
    "# Close codes of WebSockets",
    "",
    "Where a reason has a code of its own, a message with it is sent before.",
    "",
    "| close code | meaning |",
    "|---|---|",
    ...codes.map(([name, code]) => `| ${code} | ${closeCodeTexts[name]} |`),
    "",
  ];
}

const cacheMeanings: Readonly<Record<CacheClass, string>> = {
  final: "final",
  slot: "until the next slot",
  never: "never",
};

const routeMeanings: Readonly<Record<RpcMethodSpec["route"], string>> = {
  read: "any healthy node",
  archive: "a node that keeps history",
  assets: "the index of assets, and nodes",
  send: "the nodes that take transactions, once each",
  gateway: "the gateway itself",
};

function kindOf(value: ParameterKind): string {
  switch (value.kind) {
    case "integer":
      return `integer ${value.min} to ${value.max}`;
    case "choice":
      return value.values.map((choice) => `\`${choice}\``).join(", ");
    case "addresses":
    case "signatures":
    case "list":
      return `${value.kind}, at most ${value.max}`;
    case "tokenFilter":
      return "object with `mint` or `programId`";
    case "any":
      return "any value";
    default:
      return value.kind;
  }
}

function parametersOf({ parameters, config, defaults }: RpcMethodSpec): string[] {
  const rows = parameters.map(({ name, required, value }, index) => {
    return `| ${index} | ${name} | ${kindOf(value)} | ${required ? "required" : "optional"} |`;
  });
  const fields = Object.entries(config?.fields ?? {}).map(([name, value]) => {
    const preset = defaults[name] === undefined ? "optional" : `default \`${defaults[name]}\``;
    return `| ${config?.index} | \`${name}\` | ${kindOf(value)} | ${preset} |`;
  });
  if (rows.length + fields.length === 0) return ["No parameters."];
  return ["| place | name | value | |", "|---|---|---|---|", ...rows, ...fields];
}

/** docs/reference/rpc-methods.md: each method with its price, its place in the cache, and what is checked. */
export function renderRpcMethodReference(): string {
  const methods = [...rpcMethods.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const lines = [
    "# JSON-RPC methods",
    "",
    "Every method is called by POST to `/rpc`. Names in code style are members of the configuration object at that place.",
    "A parameter that is not listed is passed to the node as it is; so is a default that is not stated here. Answers of",
    "class final (of finalized history) are kept for 5 minutes; those kept until the next slot never longer than 5 seconds.",
    "",
    "| method | permission | credits | kept | answered by |",
    "|---|---|---|---|---|",
    ...methods.map(({ name, cache, route }) => {
      const price = isPricedByItem(name) ? `${creditCost(name)} each` : creditCost(name);
      const row = [`\`${permissionOf(name)}\``, price, cacheMeanings[cache], routeMeanings[route]].join(" | ");
      return `| [${name}](#${name.toLowerCase()}) | ${row} |`;
    }),
    "",
  ];
  for (const spec of methods) lines.push(`## ${spec.name}`, "", ...parametersOf(spec), "");
  return lines.join("\n");
}
