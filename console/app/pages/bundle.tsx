import { type ConsoleBundleStory, ProblemError } from "@sluice/sdk";
import { useEffect, useState } from "react";
import { explain } from "../explain.ts";
import { ago, exact, plural } from "../figures.ts";
import { BundleState, shortened } from "../parts/bundle-columns.tsx";
import { Copy } from "../parts/copy.tsx";
import { Figure } from "../parts/figure.tsx";
import { Lamports } from "../parts/lamports.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { Section } from "../parts/section.tsx";
import { client } from "../use-overview.ts";

/** One bundle from its submission to its end. */
export function Bundle({ id }: { id: string }) {
  const { story, error } = useStory(id);
  if (story === null && error !== null) {
    return (
      <div role="alert">
        <h1 className="text-2xl font-semibold">The bundle cannot be shown</h1>
        <p className="mt-1 text-quiet">{error}</p>
        <p className="mt-2">
          <PageLink to="/bundles">All bundles</PageLink>
        </p>
      </div>
    );
  }
  if (story === null) return <p className="text-quiet">Reading the bundle…</p>;
  return (
    <>
      <h1 className="text-2xl font-semibold">{headline(story)}</h1>
      <p className={`mt-1 ${error === null ? "text-quiet" : "text-warn"}`} aria-live="polite">
        {error === null ? meaning(story) : `This is the last that is known: ${error}`}
      </p>
      <p className="mt-1">
        <Copy text={story.id} />
      </p>
      <Figures story={story} />
      <Section title="What happened">
        <Steps story={story} />
      </Section>
      <Section title="Transactions" aside={<span className="text-xs text-quiet">in their order</span>}>
        {story.signatures.length === 0 ? (
          <p className="mt-3 text-quiet">It is sealed: what is in it is known at its tick.</p>
        ) : (
          <ol className="mt-2 list-inside list-decimal text-sm">
            {story.signatures.map((signature) => (
              <li key={signature} className="border-t border-hairline py-1.5 first:border-t-0">
                <Copy text={signature} />
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}

const isOver = ({ status, finalized }: ConsoleBundleStory): boolean =>
  finalized || status === "dropped" || status === "expired";

const everyMs = 1_000;

interface Shown {
  readonly story: ConsoleBundleStory | null;
  readonly error: string | null;
}

/** The story, asked for each second until it has ended. */
function useStory(id: string): Shown {
  const [shown, setShown] = useState<Shown>({ story: null, error: null });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopped = false;
    const again = (): void => {
      if (!stopped) timer = setTimeout(ask, everyMs);
    };
    const ask = (): void => {
      client.bundle(id).then(
        (story) => {
          if (stopped) return;
          setShown({ story, error: null });
          if (!isOver(story)) again();
        },
        (error: unknown) => {
          if (stopped) return;
          setShown((before) => ({ ...before, error: explain(error) }));
          if (!(error instanceof ProblemError)) again();
        },
      );
    };
    ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [id]);
  return shown;
}

function Figures({ story }: { story: ConsoleBundleStory }) {
  const { tip, tipSeen, computeUnits, targetSlot, forwarded } = story;
  return (
    <dl className="mt-6 grid grid-cols-2 gap-y-4 sm:grid-cols-3 lg:grid-cols-5">
      <Lamports name="Tip claimed" text={tip} />
      {tipSeen === null ? <Figure name="Tip paid" value="unknown" /> : <Lamports name="Tip paid" text={tipSeen} />}
      <Figure name="Compute units" value={computeUnits === null ? "unknown" : exact(computeUnits)} />
      <Figure name="For slot" value={targetSlot === null ? "any" : exact(targetSlot)} />
      <Figure name="Handed over" value={exact(forwarded)} unit={forwarded === 1 ? "time" : "times"} />
    </dl>
  );
}

function Steps({ story }: { story: ConsoleBundleStory }) {
  const { door, mevType, acceptedSlot, handedOver, forwarded, slot, blockhash } = story;
  const now = Date.parse(story.observedAt);
  const kind = mevType === "unknown" ? "" : `, as ${mevType}`;
  return (
    <ol className="mt-2 text-sm">
      <Step at={story.receivedAt} now={now}>
        Received by {door}
        {kind}, accepted at slot {exact(acceptedSlot)}
      </Step>
      {handedOver !== null && (
        <Step>
          Handed over {plural(forwarded, "time")}, last for slot {exact(handedOver.slot)} to{" "}
          <Copy text={handedOver.leader}>{shortened(handedOver.leader)}</Copy>
        </Step>
      )}
      {slot !== null && blockhash !== null && (
        <Step>
          In the block of slot {exact(slot)} <Copy text={blockhash}>{shortened(blockhash)}</Copy>
        </Step>
      )}
      {story.status === "accepted" ? (
        <Step>Competes {until(story)}</Step>
      ) : (
        <Step at={story.changedAt} now={now}>
          <BundleState bundle={story} />
        </Step>
      )}
    </ol>
  );
}

function Step({ at, now = 0, children }: { at?: string; now?: number; children: React.ReactNode }) {
  return (
    <li className="flex items-baseline justify-between gap-4 border-t border-hairline py-1.5 first:border-t-0">
      <span className="min-w-0">{children}</span>
      {at !== undefined && (
        <time dateTime={at} title={at} className="shrink-0 whitespace-nowrap text-quiet">
          {ago(now - Date.parse(at))}
        </time>
      )}
    </li>
  );
}

function until({ targetSlot, lastValidBlockHeight, expiresAt }: ConsoleBundleStory): string {
  if (targetSlot !== null) return `for slot ${exact(targetSlot)} alone`;
  const height = lastValidBlockHeight === null ? "" : `block height ${exact(lastValidBlockHeight)} or `;
  return `until ${height}${new Date(expiresAt).toLocaleTimeString()}`;
}

function headline({ status, slot, sealed }: ConsoleBundleStory): string {
  if (status === "included") return slot === null ? "Landed" : `Landed in slot ${exact(slot)}`;
  if (status === "accepted") return sealed ? "In the auction, sealed" : "In the auction";
  return status === "dropped" ? "Dropped" : "Expired";
}

function meaning(story: ConsoleBundleStory): string {
  const { status, finalized, reason, detail, forwarded } = story;
  if (finalized) return "Its block is finalized and can be undone no more.";
  if (status === "included") return "Its block is confirmed; a fork could still undo it.";
  if (status === "accepted") return forwarded === 0 ? "No leader has it yet." : "A leader has it.";
  return detail ?? reason ?? "";
}
