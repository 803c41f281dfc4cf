import { PageLink } from "./page-link.tsx";

/** The beginning and the end of an address or a signature. */
export const shortened = (text: string): string => (text.length <= 12 ? text : `${text.slice(0, 4)}…${text.slice(-4)}`);

/** An address or a signature, which leads to what the explorer tells of it; null is what nothing tells. */
export function ChainLink({ text, children }: { text: string | null; children?: React.ReactNode }) {
  if (text === null) return <span className="text-quiet">unknown</span>;
  return (
    <span className="font-mono text-[13px]">
      <PageLink to={`/explorer?${new URLSearchParams({ input: text })}`} title={text}>
        {children ?? shortened(text)}
      </PageLink>
    </span>
  );
}
