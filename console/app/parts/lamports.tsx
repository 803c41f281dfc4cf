import { compact, exact } from "../figures.ts";
import { Figure } from "./figure.tsx";

/** An amount that came as text, since it may be larger than a number holds. */
export function Lamports({ name, text, stale = false }: { name: string; text: string; stale?: boolean }) {
  const value = compact(Number(text));
  return <Figure name={name} value={value} unit="lamports" exact={`${exact(BigInt(text))} lamports`} stale={stale} />;
}
