import { DEV_RELOAD_PATH } from "@/lib/pages/page_paths.ts";

/** ms until a stream is requested again that the browser no longer retries. */
const RETRY_MS = 100;

let process: string | null = null;
listen();

function listen(): void {
  const events = new EventSource(DEV_RELOAD_PATH);
  events.onmessage = ({ data }) => {
    if (process !== null && process !== data) location.reload();
    process = data;
  };
  // A server that is still starting returns 503, after which an EventSource never tries again by itself.
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_MS);
  };
}
