import { type Attributes, ProxyTracerProvider, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { redactText } from "./redaction.ts";

/** What work inside a span may add to it. */
export interface SpanNotes {
  /** Adds an attribute; text is searched for secrets first. */
  note(name: string, value: string | number | boolean): void;
}

/** Spans of work, for an OpenTelemetry SDK that the operator loads into the process; nothing is kept without one. */
export interface Tracing {
  readonly enabled: boolean;
  /** Runs `work` in a span and gives back its result, a promise included. A throw ends the span as an error. */
  span<T>(name: string, attributes: Attributes, work: (span: SpanNotes) => T): T;
}

const ignored: SpanNotes = { note: () => {} };

/** Without an SDK a span is a plain call. */
const noTracing: Tracing = { enabled: false, span: (_name, _attributes, work) => work(ignored) };

/** Whether a provider was registered: the proxy's delegate is then another one than a fresh proxy's. */
function hasProvider(): boolean {
  const provider = trace.getTracerProvider();
  const delegate = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
  return delegate !== new ProxyTracerProvider().getDelegate();
}

function fail(span: Span, error: unknown): void {
  const message = redactText(error instanceof Error ? error.message : String(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Looks once whether an SDK is registered, which a preloaded module does before the server starts. */
export function createTracing(): Tracing {
  if (!hasProvider()) return noTracing;
  const tracer = trace.getTracer("sluice");
  return {
    enabled: true,
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, (span) => {
        const notes: SpanNotes = {
          note: (key, value) => span.setAttribute(key, typeof value === "string" ? redactText(value) : value),
        };
        let pending = false;
        try {
          const result = work(notes);
          if (!(result instanceof Promise)) return result;
          pending = true;
          result.catch((error: unknown) => fail(span, error)).finally(() => span.end());
          return result;
        } catch (error) {
          fail(span, error);
          throw error;
        } finally {
          if (!pending) span.end();
        }
      }),
  };
}
