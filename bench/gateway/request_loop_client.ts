import { type Loop, startLoop } from "@/bench/loop_thread.ts";
import type { Repeated } from "./load.ts";
import type { ToRequestLoop } from "./request_loop.ts";

/** Repeats a request from a separate thread. */
export function startRequestLoop(origin: string, request: Repeated): Loop {
  const begin: ToRequestLoop = { origin, request };
  return startLoop(new URL("./request_loop.ts", import.meta.url), "request loop", begin);
}
