import { useEffect, useState } from "react";

/** A text that one click copies; the answer is said aloud to those who do not see it. */
export function Copy({ text, children }: { text: string; children?: React.ReactNode }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      title={text}
      className="group inline-flex min-h-6 max-w-full items-baseline gap-2 text-left font-mono text-[13px] hover:text-accent"
      onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <span className="truncate">{children ?? text}</span>
      <span aria-live="polite" className="w-12 shrink-0 font-sans text-xs text-quiet">
        {copied ? (
          "copied"
        ) : (
          <span className="opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100">copy</span>
        )}
      </span>
    </button>
  );
}
