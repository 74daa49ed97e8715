/** ms after which a browser connects again when the stream ended: soon, since a start takes well under a second. */
const RETRY_MS = 100;

/** An event stream that names the process; a page that receives another name than before loads itself again. */
export function devReload(): () => Response {
  const process = crypto.randomUUID();
  return function devReload() {
    const hello = new TextEncoder().encode(`retry: ${RETRY_MS}\ndata: ${process}\n\n`);
    const stream = new ReadableStream({ start: (controller) => controller.enqueue(hello) });
    return new Response(stream, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
  };
}
