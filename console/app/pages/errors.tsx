import { errorDocsPath, errorGuide, errorTable } from "@sluice/sdk";
import { useEffect } from "react";
import { Copy } from "../parts/copy.tsx";

type Code = keyof typeof errorTable;
const codes = Object.keys(errorTable) as Code[];
const anchorOf = (code: Code): string => errorDocsPath(code).split("#")[1] ?? "";

/** Every code of the error table: what it means and what to do. The `type` of a problem document leads here. */
export function Errors() {
  useEffect(() => {
    const show = (): void => document.getElementById(location.hash.slice(1))?.scrollIntoView();
    show();
    addEventListener("sluice:navigate", show);
    return () => removeEventListener("sluice:navigate", show);
  }, []);
  return (
    <>
      <h1 className="text-2xl font-semibold">{codes.length} error codes, and what to do about each</h1>
      <p className="mt-1 text-quiet">
        A code comes in the header X-Error-Code, in the <code className="font-mono">code</code> of a problem document,
        or in <code className="font-mono">error.data.code</code> of a JSON-RPC answer. Solana's own codes pass through
        as the node sent them.
      </p>
      {codes.map((code) => (
        <article key={code} id={anchorOf(code)} className="mt-6 scroll-mt-6 border-t border-hairline pt-3">
          <h2 className="text-base font-semibold">
            <Copy text={code} />
          </h2>
          <p className="text-xs text-quiet tabular-nums">
            HTTP {errorTable[code].status} · JSON-RPC {errorTable[code].rpcCode} ·{" "}
            {errorTable[code].retryable ? "may succeed when tried again" : "will not succeed unchanged"}
          </p>
          <p className="mt-2">{errorGuide[code].meaning}</p>
          <p className="mt-1 text-quiet">{errorGuide[code].remedy}</p>
        </article>
      ))}
    </>
  );
}
