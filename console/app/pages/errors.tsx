import {
  bundleReasonGuide,
  bundleReasonStatus,
  bundleReasons,
  engineErrorDocsPath,
  engineErrorGuide,
  engineErrorTable,
  engineOwnCodes,
  errorDocsPath,
  errorGuide,
  errorTable,
  oracleErrorDocsPath,
  oracleErrorGuide,
  oracleErrorTable,
  oracleOwnCodes,
} from "@sluice/sdk";
import { useEffect } from "react";
import { Copy } from "../parts/copy.tsx";

type Code = keyof typeof errorTable;
const codes = Object.keys(errorTable) as Code[];

interface Explained {
  readonly code: string;
  readonly path: string;
  readonly facts: string;
  readonly meaning: string;
  readonly remedy: string;
}

const explained: readonly Explained[] = [
  ...codes.map((code) => {
    const { status, rpcCode, retryable } = errorTable[code];
    const retry = retryable ? "may succeed when tried again" : "will not succeed unchanged";
    return {
      code,
      path: errorDocsPath(code),
      facts: `HTTP ${status} · JSON-RPC ${rpcCode} · ${retry}`,
      ...errorGuide[code],
    };
  }),
  ...engineOwnCodes.map((code) => ({
    code,
    path: engineErrorDocsPath(code),
    facts: `HTTP ${engineErrorTable[code].status} · block engine`,
    ...engineErrorGuide[code],
  })),
  ...oracleOwnCodes.map((code) => ({
    code,
    path: oracleErrorDocsPath(code),
    facts: `HTTP ${oracleErrorTable[code].status} · oracle`,
    ...oracleErrorGuide[code],
  })),
  ...bundleReasons.map((reason) => ({
    code: reason,
    path: engineErrorDocsPath(reason),
    facts: `HTTP ${bundleReasonStatus(reason)} · reason of a bundle`,
    ...bundleReasonGuide[reason],
  })),
];

/**
 * Every code and every reason of a bundle: what it means and what to do. The `type` of a problem document leads here.
 */
export function Errors() {
  useEffect(() => {
    const show = (): void => document.getElementById(location.hash.slice(1))?.scrollIntoView();
    show();
    addEventListener("sluice:navigate", show);
    return () => removeEventListener("sluice:navigate", show);
  }, []);
  return (
    <>
      <h1 className="text-2xl font-semibold">{explained.length} error codes, and what to do about each</h1>
      <p className="mt-1 text-quiet">
        A code comes in the header X-Error-Code, in the <code className="font-mono">code</code> of a problem document,
        or in <code className="font-mono">error.data.code</code> of a JSON-RPC answer. Solana's own codes pass through
        as the node sent them.
      </p>
      {explained.map(({ code, path, facts, meaning, remedy }) => (
        <article key={code} id={path.split("#")[1]} className="mt-6 scroll-mt-6 border-t border-hairline pt-3">
          <h2 className="text-base font-semibold">
            <Copy text={code} />
          </h2>
          <p className="text-xs text-quiet tabular-nums">{facts}</p>
          <p className="mt-2">{meaning}</p>
          <p className="mt-1 text-quiet">{remedy}</p>
        </article>
      ))}
    </>
  );
}
