import { useState } from "react";
import { Bundle } from "./pages/bundle.tsx";
import { Bundles } from "./pages/bundles.tsx";
import { Errors } from "./pages/errors.tsx";
import { Explorer } from "./pages/explorer.tsx";
import { Live } from "./pages/live.tsx";
import { Names } from "./pages/names.tsx";
import { Overview } from "./pages/overview.tsx";
import { Prices } from "./pages/prices.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { Sql } from "./pages/sql.tsx";
import { StakePool } from "./pages/stake-pool.tsx";
import { WebhookPage } from "./pages/webhook.tsx";
import { WebhooksPage } from "./pages/webhooks.tsx";
import { Frame } from "./parts/frame.tsx";
import { QuietButton } from "./parts/section.tsx";
import { usePath } from "./route.ts";
import { type Session, useOverview } from "./use-overview.ts";

export function App() {
  const path = usePath();
  const { session, retry } = useOverview();
  const [usesKey, setUsesKey] = useState(false);
  const open = session.state === "open" ? session.overview : null;
  const signedIn = (): void => {
    setUsesKey(false);
    retry();
  };
  return (
    <Frame
      endpoints={open?.doors ?? []}
      account={open === null ? null : { name: open.account.name, signedIn: open.signedIn }}
      onSignedOut={retry}
      onUseKey={() => setUsesKey(true)}
    >
      {usesKey ? <SignIn onSignedIn={signedIn} /> : pageOf(path, session, retry)}
    </Frame>
  );
}

function pageOf(path: string, session: Session, retry: () => void) {
  if (path === "/docs/errors") return <Errors />;
  if (path === "/bundles") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <Bundles />;
  if (path.startsWith("/bundles/")) {
    const id = path.slice("/bundles/".length);
    return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <Bundle key={id} id={id} />;
  }
  if (path === "/webhooks") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <WebhooksPage />;
  if (path.startsWith("/webhooks/")) {
    const id = path.slice("/webhooks/".length);
    return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <WebhookPage key={id} id={id} />;
  }
  if (path === "/stake-pool") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <StakePool />;
  if (path === "/prices") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <Prices />;
  if (path === "/names") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <Names />;
  if (path === "/explorer") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <Explorer />;
  if (path === "/sql") return session.state === "signed-out" ? <SignIn onSignedIn={retry} /> : <Sql />;
  if (path === "/live") {
    if (session.state === "signed-out") return <SignIn onSignedIn={retry} />;
    return session.state === "open" ? (
      <Live network={session.overview.network} />
    ) : (
      <Home session={session} retry={retry} />
    );
  }
  return path === "/" ? <Home session={session} retry={retry} /> : <Lost />;
}

function Home({ session, retry }: { session: Session; retry: () => void }) {
  if (session.state === "open") return <Overview {...session} />;
  if (session.state === "signed-out") return <SignIn onSignedIn={retry} />;
  if (session.state === "loading") return <p className="text-quiet">Reading the server's state…</p>;
  return (
    <div role="alert">
      <h1 className="text-2xl font-semibold">The server's state cannot be read</h1>
      <p className="mt-1 text-quiet">{session.error.message}</p>
      <p className="mt-2">
        <QuietButton onClick={retry}>Try again</QuietButton>
      </p>
    </div>
  );
}

function Lost() {
  return (
    <>
      <h1 className="text-2xl font-semibold">There is no such page</h1>
      <p className="mt-1 text-quiet">Ctrl-K finds those that there are.</p>
    </>
  );
}
