/** A thread that sends one request again and again, and tells how long each answer took. */
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { ownPort } from "@/embedded/threads.ts";
import type { Repeated } from "./load.ts";

/** Messages to the thread: the request to repeat, then stop; it answers stop with all durations in ms. */
export type ToRequestLoop = { origin: string; request: Repeated } | { stop: true };

/** Between two requests, ms: what waits is to be found, and no load made. */
const PAUSE_MS = 1;

const port = await ownPort();
let stopped = false;

port.onmessage = async ({ data }: MessageEvent<ToRequestLoop>) => {
  if ("stop" in data) {
    stopped = true;
    return;
  }
  const { origin, request: { method, target, headers } } = data;
  const connection = new HttpConnection(origin);
  const durations: number[] = [];
  while (!stopped) {
    const start = performance.now();
    await connection.request(method, target, headers);
    durations.push(performance.now() - start);
    await new Promise((resume) => setTimeout(resume, PAUSE_MS));
  }
  connection.close();
  port.postMessage(durations);
};
