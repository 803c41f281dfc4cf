import { useEffect, useState } from "react";
import { copyText } from "../clipboard.ts";

/** A text that one click copies; the answer is said aloud to those who do not see it. */
export function Copy({ text, children }: { text: string; children?: React.ReactNode }) {
  const [outcome, setOutcome] = useState<"copied" | "not copied" | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), 1_500);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <button
      type="button"
      title={text}
      className="group inline-flex min-h-6 max-w-full items-baseline gap-2 text-left font-mono text-[13px] hover:text-accent"
      onClick={() => void copyText(text).then((isCopied) => setOutcome(isCopied ? "copied" : "not copied"))}
    >
      <span className="truncate">{children ?? text}</span>
      <span aria-live="polite" className="min-w-12 shrink-0 font-sans text-xs text-quiet">
        {outcome ?? (
          <span className="opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 [@media(hover:none)]:opacity-100">
            copy
          </span>
        )}
      </span>
    </button>
  );
}
